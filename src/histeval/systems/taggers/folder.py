"""A model is one folder: `settings.json` and the files it names, each with size and SHA-256. Nothing is unpickled."""

from __future__ import annotations

import hashlib
import io
import json
import secrets
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from histeval.datasets.files import check_writable, read_bytes, read_json
from histeval.entities.grammar import Grammar
from histeval.errors import ModelError, OutputError, UsageError
from histeval.tasks.description import EntityType

FORMAT = 2
"""Version of the folder, of the features and of how scores are read; a model of another one is refused, since it would
tag wrongly. 2: the feature CRF is trained with dropped features and read with scaled scores."""
SETTINGS = "settings.json"
TEXTS = "texts.bin"
"""The marks of the texts that were trained on, sorted, one after another."""
_MARK = 8
SIZE_LIMIT = 8 << 30
"""Largest file of a model, in bytes."""
_AGAIN = "Train it again"


def check_free(out: Path) -> None:
    """Raise UsageError where something stands at `out` already, OutputError where nothing can be written there, so that
    a long fit is not lost at its end."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists already; choose another --out or remove it")
    check_writable(out.parent)


def write_model(out: Path, settings: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
    """Write a model folder, whole or not at all. Raises OutputError where the disk does not allow it."""
    check_free(out)
    record = dict(settings) | {
        "format": FORMAT,
        "files": {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()
        },
    }
    record["checksum"] = checksum(record)
    place = out.parent / f".{out.name}-{secrets.token_hex(4)}"
    try:
        place.mkdir(parents=True)
        for name, data in files.items():
            (place / name).write_bytes(data)
        text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
        (place / SETTINGS).write_text(text, encoding="utf-8")
        if out.exists():
            out.rmdir()
        place.rename(out)
    except OSError as fault:
        raise OutputError(f"the model could not be written to {out}: {fault.strerror or fault}") from None
    finally:
        if place.exists():
            shutil.rmtree(place, ignore_errors=True)


def checksum(record: Mapping[str, Any]) -> str:
    """SHA-256 (hexadecimal) of settings without their checksum."""
    plain = {key: value for key, value in record.items() if key != "checksum"}
    text = json.dumps(plain, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def read_settings(folder: Path | str) -> dict[str, Any]:
    """The settings of a model folder, checked; raises ModelError with one sentence for anything wrong."""
    path = Path(folder) / SETTINGS
    if not path.parent.is_dir():
        raise ModelError("is no model folder", file=folder, remedy="`histeval train` makes one")
    if not path.is_file():
        raise ModelError(f"holds no {SETTINGS}, so it is no model", file=folder, remedy="`histeval train` makes one")
    value, _ = read_json(path, error=ModelError)
    if not isinstance(value, dict) or "format" not in value:
        raise ModelError("is not the settings of a model", file=path, remedy=_AGAIN)
    if value["format"] != FORMAT:
        made = value.get("versions", {}).get("histeval") if isinstance(value.get("versions"), dict) else None
        by = f"histeval {made}" if isinstance(made, str) and len(made) < 40 else "another version of histeval"
        shown = str(value["format"])[:20]
        raise ModelError(
            f"was made by {by} (model format {shown}, here {FORMAT})", file=folder, remedy=f"{_AGAIN} with this version"
        )
    if value.get("checksum") != checksum(value):
        raise ModelError("was edited after training", file=path, remedy=_AGAIN)
    return value


def read_files(folder: Path | str, settings: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of a model, each checked against its recorded size and hash."""
    files = take(settings, "files", dict, folder)
    found = {}
    for name, facts in files.items():
        known = isinstance(facts, dict) and isinstance(facts.get("bytes"), int)
        if not known or not name or name != Path(name).name or name in (".", "..", SETTINGS):
            raise ModelError("names a file that no model has", file=Path(folder) / SETTINGS, remedy=_AGAIN)
        path = Path(folder) / name
        if not path.is_file():
            raise ModelError(f"lacks its file {name}", file=folder, remedy="Copy the whole folder, or train it again")
        data = read_bytes(path, error=ModelError, limit=SIZE_LIMIT)
        if len(data) != facts["bytes"]:
            what = f"has {len(data)} bytes, not {facts['bytes']}: the copy is incomplete or it was edited"
            raise ModelError(what, file=path, remedy="Copy the whole folder, or train it again")
        if hashlib.sha256(data).hexdigest() != facts.get("sha256"):
            raise ModelError("was edited after training", file=path, remedy=_AGAIN)
        found[name] = data
    return found


def take(settings: Mapping[str, Any], key: str, kind: type, folder: Path | str) -> Any:
    """A setting of a given type; raises ModelError where it is missing or of another type."""
    value = settings.get(key)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ModelError(f"its settings lack {key}", file=Path(folder) / SETTINGS, remedy=_AGAIN)
    return value


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays as the bytes of an .npz file."""
    buffer = io.BytesIO()
    contiguous: dict[str, Any] = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    np.savez(buffer, **contiguous)
    return buffer.getvalue()


def unpack_arrays(data: bytes) -> dict[str, NDArray[np.float32]]:
    """Arrays from the bytes of an .npz file; objects, which would have to be unpickled, are refused."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            return {name: np.asarray(archive[name], dtype=np.float32) for name in archive.files}
    except (ValueError, OSError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as fault:
        raise ModelError(f"its network cannot be read: {fault}", remedy=_AGAIN) from None


def text_mark(text: str) -> bytes:
    """The first bytes of the SHA-256 of a text, by which a model knows the texts it was trained on."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_MARK]


def pack_texts(texts: Iterable[str]) -> bytes:
    """The marks of texts as the bytes of a file."""
    return b"".join(sorted({text_mark(text) for text in texts}))


def unpack_texts(data: bytes) -> frozenset[bytes]:
    """The marks of a file of `pack_texts`."""
    return frozenset(data[start : start + _MARK] for start in range(0, len(data), _MARK))


def pack_grammar(types: Sequence[EntityType]) -> list[dict[str, Any]]:
    """The types of a dataset as they stand in settings."""
    return [
        {"name": t.name, "children": list(t.children), "root": t.root, "flat": t.flat, "flat_in": dict(t.flat_in)}
        for t in types
    ]


def unpack_grammar(value: Sequence[Any], folder: Path | str) -> tuple[EntityType, ...]:
    """The types that a model knows; raises ModelError where the settings are none."""
    try:
        types = tuple(
            EntityType(item["name"], tuple(item["children"]), bool(item["root"]), item["flat"], dict(item["flat_in"]))
            for item in value
        )
        Grammar.of(types)
    except (KeyError, TypeError, ValueError, AttributeError, UsageError):
        raise ModelError("its settings hold no grammar", file=Path(folder) / SETTINGS, remedy=_AGAIN) from None
    return types


def check_grammar(model: Sequence[EntityType], dataset: Sequence[EntityType], folder: Path | str) -> None:
    """Raise ModelError where a model was trained for other types, or another nesting, than a dataset has."""

    def nesting(types: Sequence[EntityType]) -> dict[str, tuple[bool, frozenset[str]]]:
        return {item.name: (item.root, frozenset(item.children)) for item in types}

    ours, theirs = nesting(model), nesting(dataset)
    if ours == theirs:
        return
    only_model, only_dataset = sorted(set(ours) - set(theirs)), sorted(set(theirs) - set(ours))
    parts = []
    if only_model:
        parts.append(f"it knows {', '.join(only_model)}, which the dataset lacks")
    if only_dataset:
        parts.append(f"it lacks {', '.join(only_dataset)}")
    what = " and ".join(parts) or "the same types nest differently there"
    raise ModelError(f"was trained for another grammar: {what}", file=folder, remedy="Train a model on this dataset")
