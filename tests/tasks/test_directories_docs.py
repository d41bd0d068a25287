"""The examples in docs/directories.md run and give what the page shows."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "directories.md"


def test_examples_of_the_page_run() -> None:
    failed, run = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert run >= 7
    assert failed == 0
