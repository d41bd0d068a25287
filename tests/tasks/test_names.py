"""Names and the authority list they are looked up in."""

from __future__ import annotations

import pytest

from histeval.tasks.description import AuthorityEntry
from histeval.tasks.names import NameMatcher


@pytest.mark.parametrize("said", ["", " ", "-", "...", "\u00a0"])
def test_an_empty_form_in_the_list_makes_nobody_found(said: str) -> None:
    matcher = NameMatcher([AuthorityEntry("Ritter, Oskar", ("", "-", "O. Ritter"))], profile=True)
    wanted = matcher.identities(["Ritter, Oskar"])
    assert not matcher.match(said, wanted, {}).hit
    assert matcher.match("O. Ritter", wanted, {}).hit
