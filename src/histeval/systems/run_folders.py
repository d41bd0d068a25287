"""Where runs lie: one folder for each system, named after it, so that no two systems get the same one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from histeval.errors import HistevalError
from histeval.runs.folder import is_run_folder, read_run
from histeval.systems.table import Asked

LONGEST = 120
"""Bytes of a folder's name; file systems hold 255, and files within need room in the path."""


def run_folders(asked: Sequence[Asked], out: Path, default: bool = False) -> list[Path]:
    """One folder for each system: `out` itself for a single one (unless it is the default place).

    Names that would fold into one (`a/b` and `a_b`), and a name whose folder holds the run of another system, get a
    digest of the whole name at their end, whatever the order of the systems. The same system under the same label a
    second time gets `-2`.
    """
    if len(asked) == 1 and not default:
        return [out]
    names = [_name(one, out) for one in asked]
    whose: dict[str, set[tuple[str, str]]] = {}
    for name, one in zip(names, asked, strict=True):
        whose.setdefault(name.casefold(), set()).add((one.label, one.name))
    folders: list[Path] = []
    taken: set[str] = set()
    for name, one in zip(names, asked, strict=True):
        if len(whose[name.casefold()]) > 1 and not _holds(out / name, one):
            name = _with_digest(name, one)
        unique, number = name, 2
        while unique.casefold() in taken:
            unique, number = f"{name}-{number}", number + 1
        taken.add(unique.casefold())
        folders.append(out / unique)
    return folders


def folder_name(name: str) -> str:
    """A name as a folder: letters and digits of any script and a few signs, never a path.

    >>> folder_name("openai/gpt-4.1"), folder_name("../../etc"), folder_name("openai-api/local/模型")
    ('openai_gpt-4.1', 'etc', 'openai-api_local_模型')
    """
    whole = re.sub(r"[^\w.+=-]+", "_", unicodedata.normalize("NFC", name)).strip("._-") or "run"
    if len(whole.encode()) <= LONGEST:
        return whole
    return f"{whole.encode()[: LONGEST - 9].decode(errors='ignore')}-{_digest(name)}"


def _name(one: Asked, out: Path) -> str:
    name = folder_name(one.label or one.name)
    marked = _with_digest(name, one)
    if (out / marked).is_dir() or (is_run_folder(out / name) and not _holds(out / name, one)):
        return marked
    return name


def _holds(folder: Path, one: Asked) -> bool:
    """Whether a folder holds the run of this system."""
    try:
        return is_run_folder(folder) and read_run(folder).get("system") == one.name
    except HistevalError:
        return False


def _with_digest(name: str, one: Asked) -> str:
    return f"{name}-{_digest(one.label + chr(0) + one.name)}"


def _digest(text: str) -> str:
    return sha256(text.encode(errors="backslashreplace")).hexdigest()[:8]
