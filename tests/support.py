"""Where the real published data lies, for the tests that read it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def data_root() -> Path | None:
    """The folder of the published data: `HISTEVAL_DATA`, else the one beside the repository, else None."""
    named = os.environ.get("HISTEVAL_DATA")
    for folder in [Path(named)] if named else [Path(__file__).resolve().parents[2] / "shared" / "data"]:
        if (folder / "sources.json").is_file():
            return folder
    return None


DATA = data_root() or Path("published-data-not-found")

needs_data = pytest.mark.skipif(
    data_root() is None,
    reason="the published data is not here: fetch it with `histeval get` and point HISTEVAL_DATA to it",
)


def examples(few: int) -> int:
    """How many generated cases a property gets: `few`, or what HISTEVAL_EXAMPLES asks for."""
    return int(os.environ.get("HISTEVAL_EXAMPLES", few))
