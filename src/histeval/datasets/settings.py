"""dataset.toml: what a dataset says of itself, and where its truth is. Every mistake is found at once."""

from __future__ import annotations

import datetime
import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from histeval.datasets.base import Fault
from histeval.datasets.files import inside, read_text
from histeval.datasets.identity import composed, dataset_name, is_dataset_name
from histeval.datasets.published import AUTHORITIES, published_fields
from histeval.errors import DatasetError, printable
from histeval.tasks.description import KINDS, Description, EntityType, Field

FILE = "dataset.toml"
_DAY = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")

_TEXTS = ("title", "text", "period", "unit", "licence", "citation", "source", "profile", "prompt")
_TOP = (
    *("task", "name", *_TEXTS, "languages", "published", "prompt_file", "images", "attributes", "attributes_file"),
    *("fields", "types", "authorities", "truth", "split", "import", "extra"),
)
_FIELD = ("name", "kind", "authority", "headline", "title", "column")
_TYPE = ("name", "children", "root", "flat", "flat_in", "title")
_TRUTH = ("file", "id", "prefix", "separator", "signed", "markup", "texts")
_AUTHORITY = ("file", "separator")


@dataclass(frozen=True)
class TruthSettings:
    """Where the truth is and how its table is laid out; empty means: look for the usual names."""

    file: str = ""
    id: str = ""
    prefix: str = ""
    separator: str = "|"
    signed: str = "has_signatures"
    markup: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Files of other readings of the same entries by name (`ocr`)."""


@dataclass(frozen=True)
class AuthoritySettings:
    """An authority list: its file, and what separates alternate names in a CSV cell."""

    file: str
    separator: str = ","


@dataclass(frozen=True)
class Settings:
    """A dataset.toml as read."""

    description: Description
    truth: TruthSettings = field(default_factory=TruthSettings)
    columns: Mapping[str, str] = field(default_factory=dict)
    """Column of the table by field, where it bears another name."""
    authorities: Mapping[str, AuthoritySettings] = field(default_factory=dict)
    attributes: tuple[str, ...] = ()
    attributes_file: str = ""
    images: str = "images"
    split: str = ""
    imports: Mapping[str, Any] = field(default_factory=dict)
    """Options of formats that are imported into this dataset (`histeval.datasets.formats`), as they stand."""
    own_fields: bool = False
    """Whether it names the fields itself; else the published ones are read, and the optional ones that occur."""


def read_settings(folder: Path) -> Settings | None:
    """The settings of a dataset folder, None where it has no dataset.toml; raises DatasetError at the first mistake."""
    if not (folder / FILE).is_file():
        return None
    settings, faults = examine_settings(folder)
    for fault in faults:
        if fault.error:
            raise DatasetError(
                fault.what, file=folder / FILE, line=fault.line, item=fault.item, remedy=fault.remedy
            ) from None
    return settings


def examine_settings(folder: Path) -> tuple[Settings, list[Fault]]:
    """The settings of a folder that has a dataset.toml as far as they can be read, and every fault in them.

    Raises DatasetError where the file is no UTF-8 text or no TOML.
    """
    path = folder / FILE
    text = read_text(path, limit=1 << 20)
    try:
        table = tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError) as fault:  # ValueError: not TOML, or a number of more than 4300 digits
        words = "it is nested too deep" if isinstance(fault, RecursionError) else str(fault)
        raise DatasetError(f"is not TOML: {words}", file=path, remedy="docs/datasets.md has an example") from None
    reader = _Reader(folder, text, table)
    return reader.settings(), reader.faults


class _Reader:
    """Reads one table, collecting faults instead of stopping at the first."""

    def __init__(self, folder: Path, text: str, table: dict[str, Any]) -> None:
        self.folder, self.table, self.faults = folder, table, list[Fault]()
        self.lines = text.splitlines()

    def fault(self, key: str, what: str, remedy: str = "", value: str = "") -> None:
        self.faults.append(
            Fault(FILE, self.line_of(key, value), printable(what), printable(remedy), printable(key, 300))
        )

    def line_of(self, key: str, value: str = "") -> int | None:
        """The line of a setting: `fields.2.kind` is the kind in the second [[fields]]. `value` stands on the line."""
        parts = key.split(".")
        first, last = 0, len(self.lines)
        if len(parts) > 1:
            wanted = int(parts[1]) if parts[1].isdecimal() else 1
            headers = [n for n, line in enumerate(self.lines) if re.match(rf"\s*\[+\s*{re.escape(parts[0])}\b", line)]
            if len(headers) >= wanted:
                first = headers[wanted - 1]
                if parts[1].isdecimal():
                    last = next((n for n in range(first + 1, last) if self.lines[n].lstrip().startswith("[")), last)
        word = re.escape(parts[-1])
        named = re.compile(rf"""(^|[\s\[{{,."']){word}["']?\s*(=|\])""")
        quoted = re.compile(rf"""=\s*["']{word}["']""")
        for pattern in (named, quoted):
            for number in range(first, last):
                if pattern.search(self.lines[number]) and value in self.lines[number]:
                    return number + 1
        return first + 1 if first else None

    def settings(self) -> Settings:
        self.unknown(self.table, _TOP, "")
        task = self.text(self.table, "task", "")
        if not task:
            self.fault("task", "says nowhere which task it is for", 'Write a line task = "letters"')
        words = {key: self.text(self.table, key, "") for key in _TEXTS}
        name = self.text(self.table, "name", "")
        if name and not is_dataset_name(name):
            what = "has other signs than letters, digits, . - and _, or does not begin with a letter or digit"
            if len(name) > 80:
                what = "is longer than 80 signs"
            elif is_dataset_name(composed(name)):
                what = "has accents stored as two signs"
            usable = dataset_name(name, "dataset")
            self.fault("name", f"the name {name[:80]!r} {what}", f'Write name = "{usable}"')
        name = name or dataset_name(self.folder.resolve().name, "dataset")
        fields, columns = self.fields()
        types = self.types()
        authorities = self.authorities()
        for item in fields:
            usual = item.authority in AUTHORITIES and not authorities
            if item.authority is not None and item.authority not in authorities and not usual:
                remedy = f'Write {item.authority} = "FILE.csv" under [authorities]'
                self.fault(f"fields.{item.name}", f"there is no authority list {item.authority!r}", remedy, item.name)
        description = Description(
            task=task,
            name=name,
            title=words["title"],
            text=words["text"],
            languages=self.names(self.table, "languages"),
            period=words["period"],
            unit=words["unit"] or ("page" if task == "manuscripts" else "document"),
            licence=words["licence"],
            citation=words["citation"],
            published=self.day(),
            source=words["source"],
            fields=fields or (published_fields() if task == "letters" else ()),
            types=types,
            profile=words["profile"],
            prompt=words["prompt"] or self.prompt(),
            extra=self.sub(self.table, "extra"),
        )
        truth = self.sub(self.table, "truth")
        self.unknown(truth, _TRUTH, "truth")
        plain = {key: self.text(truth, key, "", "truth") for key in ("file", "id", "prefix", "signed", "markup")}
        texts = self.sub(truth, "texts", "truth")
        split = self.sub(self.table, "split")
        self.unknown(split, ("file",), "split")
        return Settings(
            description,
            TruthSettings(
                file=self.path(plain["file"], "truth.file"),
                id=plain["id"],
                prefix=plain["prefix"],
                separator=self.text(truth, "separator", "|", "truth") or "|",
                signed=plain["signed"] or "has_signatures",
                markup=plain["markup"],
                texts={key: self.path(self.text(texts, key, "", "truth.texts"), f"truth.texts.{key}") for key in texts},
            ),
            columns,
            authorities,
            self.names(self.table, "attributes"),
            self.path(self.text(self.table, "attributes_file", ""), "attributes_file"),
            self.path(self.text(self.table, "images", ""), "images") or "images",
            self.path(self.text(split, "file", "", "split"), "split.file"),
            self.sub(self.table, "import"),
            bool(fields),
        )

    def fields(self) -> tuple[tuple[Field, ...], dict[str, str]]:
        fields: list[Field] = []
        columns: dict[str, str] = {}
        for number, table in enumerate(self.tables("fields"), start=1):
            where = f"fields.{number}"
            self.unknown(table, _FIELD, where)
            name = self.text(table, "name", "", where)
            if not name or not re.fullmatch(r"[^\W\d]\w*", name):
                self.fault(
                    f"{where}.name", f"the name {name[:80]!r} is no field name", "Use letters, digits and _", name
                )
                continue
            if name in (item.name for item in fields):
                self.fault(f"{where}.name", f"the field {name} stands twice", "Remove one", name)
                continue
            kind = self.text(table, "kind", "text", where)
            if kind not in KINDS:
                self.fault(f"{where}.kind", f"there is no kind {kind[:80]!r}", f"Use one of {', '.join(KINDS)}", kind)
            authority = self.text(table, "authority", "", where) or None
            title = self.text(table, "title", "", where)
            fields.append(Field(name, kind, authority, self.switch(table, "headline", False, where), title))
            if self.text(table, "column", "", where):
                columns[name] = table["column"]
        if fields and not any(item.headline for item in fields):
            # No field is marked: the published ones lead where the dataset has them, else all do.
            usual = {item.name for item in published_fields() if item.headline} & {item.name for item in fields}
            leading = usual or {item.name for item in fields}
            fields = [Field(f.name, f.kind, f.authority, f.name in leading, f.title) for f in fields]
        return tuple(fields), columns

    def types(self) -> tuple[EntityType, ...]:
        types: list[EntityType] = []
        for number, table in enumerate(self.tables("types"), start=1):
            where = f"types.{number}"
            self.unknown(table, _TYPE, where)
            name = self.text(table, "name", "", where)
            if not re.fullmatch(r"[^\W\d][\w.-]*", name):
                self.fault(
                    f"{where}.name", f"the name {name[:80]!r} is no type name", "Use letters, digits and -", name
                )
                continue
            if name in (item.name for item in types):
                self.fault(f"{where}.name", f"the type {name} stands twice", "Remove one", name)
                continue
            flat = self.text(table, "flat", name, where)
            inner = self.sub(table, "flat_in", where)
            flat_in = {key: self.text(inner, key, "", f"{where}.flat_in") or None for key in inner}
            children = self.names(table, "children", where)
            root = self.switch(table, "root", True, where)
            types.append(EntityType(name, children, root, flat or None, flat_in, self.text(table, "title", "", where)))
        known = {item.name for item in types}
        for item in types:
            for other in (*item.children, *item.flat_in):
                if other not in known:
                    remedy = f"Add a [[types]] table named {other}"
                    self.fault(
                        f"types.{item.name}", f"{item.name} names the type {other!r}, which there is not", remedy
                    )
        if types and not any(item.root for item in types):
            self.fault("types", "no type may stand at the root", "Leave root = false away for the outer types")
        return tuple(types)

    def authorities(self) -> dict[str, AuthoritySettings]:
        found = {}
        for name, value in self.sub(self.table, "authorities").items():
            where = f"authorities.{name}"
            table = {"file": value} if isinstance(value, str) else value
            if not isinstance(table, dict):
                self.fault(where, "is not a file name", f'Write {name} = "FILE.csv"')
                continue
            self.unknown(table, _AUTHORITY, where)
            file = self.path(self.text(table, "file", "", where), where)
            if not table.get("file"):
                self.fault(where, "names no file", f'Write {name} = "FILE.csv"')
            if not file:
                continue
            found[name] = AuthoritySettings(file, self.text(table, "separator", ",", where) or ",")
        return found

    def prompt(self) -> str:
        name = self.path(self.text(self.table, "prompt_file", ""), "prompt_file")
        if not name:
            return ""
        try:
            return read_text(self.folder / name, limit=1 << 20)
        except DatasetError as fault:
            self.fault("prompt_file", f"{name} {fault.what}", fault.remedy)
            return ""

    def day(self) -> str:
        value = self.table.get("published", "")
        if isinstance(value, datetime.date):
            return value.isoformat()[:10]
        if not isinstance(value, str) or (value and not _DAY.fullmatch(value)):
            self.fault("published", f"{str(value)[:80]!r} is no day", "Write it as 2026-01-31")
            return ""
        return value

    def unknown(self, table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
        for key in table:
            if key not in known:
                close = difflib.get_close_matches(key, known, 1)
                remedy = f"Did you mean {close[0]}?" if close else f"There are {', '.join(known)}"
                self.fault(f"{where}.{key}" if where else key, f"there is no setting {key[:80]!r} here", remedy)

    def text(self, table: Mapping[str, Any], key: str, default: str, where: str = "") -> str:
        value = table.get(key, default)
        if isinstance(value, str):
            return value
        self.fault(f"{where}.{key}" if where else key, "is not a text", "Put it in quotes")
        return default

    def switch(self, table: Mapping[str, Any], key: str, default: bool, where: str) -> bool:
        value = table.get(key, default)
        if isinstance(value, bool):
            return value
        self.fault(f"{where}.{key}", "is neither true nor false", "Write true or false, without quotes")
        return default

    def names(self, table: Mapping[str, Any], key: str, where: str = "") -> tuple[str, ...]:
        value = table.get(key, [])
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        self.fault(f"{where}.{key}" if where else key, "is not a list of texts", f'Write {key} = ["...", "..."]')
        return ()

    def sub(self, table: Mapping[str, Any], key: str, where: str = "") -> dict[str, Any]:
        value = table.get(key, {})
        if isinstance(value, dict):
            return value
        self.fault(f"{where}.{key}" if where else key, "is not a table", f"Write [{key}] and its settings below")
        return {}

    def tables(self, key: str) -> list[dict[str, Any]]:
        value = self.table.get(key, [])
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            return value
        self.fault(key, "is not a list of tables", f"Write [[{key}]] once for each")
        return []

    def path(self, name: str, key: str) -> str:
        if not name:
            return ""
        try:
            inside(self.folder, name)
        except DatasetError as fault:
            self.fault(key, fault.what, "Keep every file inside the folder of the dataset")
            return ""
        return name
