"""The folder that is built: files written whole or not at all, and only where something changed.

`manifest.json` keeps, for every file, its SHA-256 and a digest of what it was made from. A page whose inputs are the
same and whose file is as it was written is not made again; a file that is no longer part of the site is removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from histeval._version import version
from histeval.errors import OutputError, UsageError
from histeval.runs.folder import lock_folder

MANIFEST = "manifest.json"
JOURNAL = ".building"
"""Lists what a build has begun to write, so that the next one knows what a killed one left."""
LOCK = ".lock"
"""Held while a build writes, so that two never write into one folder at a time."""
FORMAT = 1
ROOMS = ("overview", "runs", "datasets", "tasks", "entities", "text", "stats")
"""The rooms whose code decides what a page says."""
_SAFE = re.compile(r"[a-z0-9_-][a-z0-9._-]*(/[a-z0-9_-][a-z0-9._-]*)*")


class Site:
    """A site under construction. `written`, `kept` and `removed` name files by their path in the site."""

    def __init__(self, out: Path | str) -> None:
        self.out = Path(out)
        self.written: list[str] = []
        self.kept: list[str] = []
        self.removed: list[str] = []
        self._files: dict[str, dict[str, Any]] = {}
        self._values: dict[str, dict[str, Any]] = {}
        self._before: dict[str, dict[str, Any]] = {}
        self._values_before: dict[str, dict[str, Any]] = {}
        self._folders: set[Path] = set()
        self._lock: BinaryIO | None = None
        self._open()

    def __enter__(self) -> Site:
        return self

    def __exit__(self, *_: object) -> None:
        """Lets other processes build here."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            with suppress(OSError):
                (self.out / LOCK).unlink()

    def _open(self) -> None:
        file = self.out / MANIFEST
        try:
            if self.out.exists() and not self.out.is_dir():
                raise UsageError(f"{self.out} is a file; name a folder for the overview with --out")
            if self._manifest() is None and self.out.is_dir() and any(p.name != LOCK for p in self.out.iterdir()):
                raise UsageError(f"{self.out} is not empty and no overview; name another folder with --out")
            self.out.mkdir(parents=True, exist_ok=True)
            self._lock = lock_folder(self.out, LOCK, "overview")
            found = self._manifest()  # again, since another build may have ended just now
            if found is None:
                # An interrupted build goes on where it was: from now on the folder is known as an overview.
                _write(file, json.dumps({"made_by": "histeval", "format": FORMAT}).encode("ascii"), self._folders)
                return
            self._before = _entries(found.get("files"))
            self._values_before = _entries(found.get("values"))
            self._read_journal()
        except ValueError as fault:
            raise UsageError(
                f"{file} is damaged, so that nobody knows what in {self.out} is ours; name another folder with --out, "
                f"or remove {self.out} and what is in it"
            ) from fault
        except OSError as fault:
            raise OutputError(f"{self.out}: cannot be used: {fault.strerror or fault}") from fault

    def _manifest(self) -> dict[str, Any] | None:
        """The manifest of the overview that is here; None where there is none. Raises ValueError for a damaged one."""
        file = self.out / MANIFEST
        found = json.loads(file.read_bytes()) if file.is_file() else None
        ours = isinstance(found, dict) and found.get("format") == FORMAT and found.get("made_by") == "histeval"
        return found if ours else None

    def _read_journal(self) -> None:
        with suppress(FileNotFoundError):
            for line in (self.out / JOURNAL).read_text(encoding="ascii", errors="replace").splitlines():
                self._before.setdefault(line, {})

    def _note(self, path: str) -> None:
        try:
            with (self.out / JOURNAL).open("a", encoding="ascii") as file:
                file.write(path + "\n")
        except OSError as fault:
            raise OutputError(f"{self.out / JOURNAL}: cannot be written: {fault.strerror or fault}") from fault

    def place(self, path: str) -> Path:
        """Where a file of the site lies; raises ValueError for a path that is not made of slugs."""
        if not _SAFE.fullmatch(path) or ".." in path:
            raise ValueError(f"{path!r} is no path of a site")
        return self.out / path

    def page(self, path: str, inputs: Any, make: Callable[[], str]) -> bool:
        """A file made from `inputs` (anything JSON can say); `make` is called only where they changed.

        Returns whether it was called.
        """
        digest = digest_of(inputs)
        before = self._before.get(path, {})
        if before.get("inputs") == digest and self._is_as_written(path, before):
            self._files[path] = before
            self.kept.append(path)
            return False
        self.write(path, make(), inputs=digest)
        return True

    def write(self, path: str, content: str | bytes, *, inputs: str = "") -> None:
        """A file with this content; an equal one is left alone."""
        # A lone surrogate, which UTF-8 cannot hold, becomes a question mark; pages show it as an escape before that.
        data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
        entry = {"sha256": hashlib.sha256(data).hexdigest(), **({"inputs": inputs} if inputs else {})}
        self._files[path] = entry
        if self._is_as_written(path, entry):
            self.kept.append(path)
            return
        target = self.place(path)
        self._note(path)
        _write(target, data, self._folders)
        self.written.append(path)

    def keep(self, path: str) -> None:
        """A file that something else wrote into the site (an image): it belongs to it from now on."""
        self.place(path)
        if path not in self._files:
            (self.kept if path in self._before else self.written).append(path)
            if path not in self._before:
                self._note(path)
            self._files[path] = {}

    def value(self, name: str, inputs: Any, make: Callable[[], Any]) -> Any:
        """A result that takes long (tests between all pairs), kept in the manifest as JSON."""
        digest = digest_of(inputs)
        before = self._values_before.get(name, {})
        if before.get("inputs") != digest or "value" not in before:
            before = {"inputs": digest, "value": json.loads(json.dumps(make()))}
        self._values[name] = before
        return before["value"]

    def bundle(self, name: str, inputs: Any, make: Callable[[], tuple[Any, dict[str, str | bytes]]]) -> Any:
        """Files that are made together, and a value that goes with them; made anew where inputs or files changed."""
        digest = digest_of(inputs)
        before = self._values_before.get(name, {})
        paths = before.get("files") if before.get("inputs") == digest else None
        if isinstance(paths, list) and "value" in before:
            entries = {str(path): self._before.get(str(path), {}) for path in paths}
            if all(self._is_as_written(path, entry) for path, entry in entries.items()):
                self._files |= entries
                self.kept += entries
                self._values[name] = before
                return before["value"]
        value, files = make()
        for path, content in files.items():
            self.write(path, content)
        value = json.loads(json.dumps(value))
        self._values[name] = {"inputs": digest, "files": list(files), "value": value}
        return value

    def finish(self) -> None:
        """Removes files that are no longer part of the site, and writes the manifest."""
        for path in self._before:
            if path in self._files or not _SAFE.fullmatch(path) or ".." in path:
                continue
            with suppress(FileNotFoundError):
                self.place(path).unlink()
                self.removed.append(path)
            self._leave_no_empty_folder(path)
        manifest = {
            "made_by": "histeval",
            "format": FORMAT,
            "histeval": version(),
            "files": dict(sorted(self._files.items())),
            "values": dict(sorted(self._values.items())),
        }
        text = json.dumps(manifest, indent=1, ensure_ascii=True) + "\n"
        target = self.out / MANIFEST
        with suppress(OSError):
            if target.read_text(encoding="utf-8") == text:
                text = ""
        if text:
            _write(target, text.encode("ascii"), self._folders)
        (self.out / JOURNAL).unlink(missing_ok=True)

    def _leave_no_empty_folder(self, path: str) -> None:
        """Removes the folders of a file that is gone, as far as nothing is left in them."""
        folder = self.place(path).parent
        while folder != self.out:
            try:
                folder.rmdir()
            except OSError:  # something is in it, of ours or not
                return
            self._folders.discard(folder)
            folder = folder.parent

    def _is_as_written(self, path: str, entry: dict[str, Any]) -> bool:
        if "sha256" not in entry:
            return False
        try:
            return hashlib.sha256(self.place(path).read_bytes()).hexdigest() == str(entry["sha256"])
        except OSError:
            return False


def _entries(value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict):
        return {}
    return {str(key): entry for key, entry in value.items() if isinstance(entry, dict)}


def _write(target: Path, data: bytes, folders: set[Path]) -> None:
    draft = target.with_name(f".{target.name}.part")
    try:
        if target.parent not in folders:
            target.parent.mkdir(parents=True, exist_ok=True)
            folders.add(target.parent)
        draft.write_bytes(data)
        os.replace(draft, target)
    except OSError as fault:
        with suppress(OSError):
            draft.unlink()
        raise OutputError(f"{target}: cannot be written: {fault.strerror or fault}") from fault


def digest_of(inputs: Any) -> str:
    """A digest of what a file is made from, the code that makes it included."""
    text = json.dumps([_code(), inputs], sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:24]


@lru_cache(maxsize=1)
def _code() -> str:
    """A digest of the code that decides what pages say: modules, templates and assets, and the version."""
    digest = hashlib.sha256(version().encode())
    here = Path(__file__).resolve().parent.parent
    for room in ROOMS:
        for file in sorted((here / room).rglob("*")):
            if file.suffix in (".py", ".html", ".css", ".js") and file.is_file():
                digest.update(file.relative_to(here).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
