"""Fixtures that write the small datasets of `dataset_samples`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dataset_samples import LETTER, PERSONS, WHOLE, Files

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes a dataset of `WHOLE` (or files of one's own) with some files replaced; None removes one."""

    def write(base: str | Files, changes: Files | None = None, name: str = "folder") -> Path:
        folder = tmp_path / name
        folder.mkdir()
        files = WHOLE[base] if isinstance(base, str) else base
        for path, content in {**files, **(changes or {})}.items():
            if content is None:
                continue
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                target.write_bytes(content)
            elif isinstance(content, str):
                target.write_bytes(content.encode())
            else:
                target.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        return folder

    return write


@pytest.fixture
def letter() -> dict[str, Any]:
    """A letter's truth, to change."""
    return json.loads(json.dumps(LETTER))


@pytest.fixture
def persons() -> list[dict[str, Any]]:
    """A list of persons, to change."""
    return json.loads(json.dumps(PERSONS))
