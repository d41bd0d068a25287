"""CoNLL columns: a token a line, any columns, one level of labels or more, an empty line between documents.

What a column holds is said by the option `columns`, by a header (`# global.columns = ...`, or a first line that
begins with `token`, `word` or `form`), or else found: a column of numbers that count up is left out, the first of the
others holds the tokens, and the last columns hold labels. Where only some of the columns behind the token look like
labels (the chunks of CoNLL-2003, beside parts of speech), the very last one is taken. Schemes: Ramshaw and Marcus 1995
(IOB1), Tjong Kim Sang and Veenstra 1999 (IOB2), Ratinov and Roth 2009 (BILOU), and IOBES.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from histeval.datasets.formats import columns as table
from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.columns import Block
from histeval.datasets.formats.entries import EntryDocument, Triple, one_word
from histeval.entities.spans import Entry
from histeval.entities.tags import SCHEMES, depths, level_tags
from histeval.entities.tokens import Token, plain_tokens, published_tokens
from histeval.errors import DatasetError, UsageError

_TOKEN_NAMES = ("token", "tokens", "word", "words", "form", "text", "surface")
_MISC_NAMES = ("misc", "space", "spaceafter")
_ID_KEYS = ("document", "id", "sent_id", "newdoc id", "doc_id", "document_id")
_SPLITS = {"train": "train", "training": "train", "dev": "dev", "valid": "dev", "validation": "dev", "test": "test"}
_DIVIDERS = re.compile(r"[ \t]+")
_LABEL_NAME = re.compile(r"(?:ner?|tag|tags|label|labels|ne|entity|level_?\d+|.*\bne\b.*|ner_tags?)", re.IGNORECASE)


@dataclass
class Layout:
    """The place of each role in a row, places from 0."""

    token: int
    levels: tuple[int, ...]
    misc: int | None = None
    left_out: tuple[str, ...] = ()


@dataclass
class _File:
    source: Source
    header: list[str] | None = None
    width: int = 0
    tabs: bool = False
    blocks: list[Block] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    """The number of the -DOCSTART- before each block."""


def sniff(source: Source) -> bool:
    """Whether a file is named as such files are, or most of its first lines have one number of columns, labels among
    them."""
    if source.suffix in (".conll", ".bio", ".iob", ".iob2"):
        return True
    rows: list[list[str]] = []
    for line in table.head_lines(source):
        if line.strip() and not line.startswith(("-DOCSTART-", "# ", "#\t", "<", "{", "[")):
            rows.append(_cells(line, "\t" in line))
    if rows and (rows[0][0].lower() in _TOKEN_NAMES or _LABEL_NAME.fullmatch(rows[0][-1])):
        rows = rows[1:]
    width, often = Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)
    if width < 2 or often * 5 < len(rows) * 4:
        return False
    columns = list(zip(*(row for row in rows if len(row) == width), strict=True))
    return any(map(table.looks_like_tags, columns[1:])) or columns[-1].count("O") * 3 > often


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[EntryDocument]:
    """The documents of some files of columns.

    Options: `columns` (roles in order: token, level1, level2 ..., misc, `_` for what is left out; or a table from role
    to number or name), `scheme`, `document` (block, docstart or file), `prefix` (before the number of a document).
    Raises DatasetError where rows differ in their number of columns or roles cannot be found.
    """
    for source in sources:
        report.count("files")
        file = _read_file(source)
        layout = _layout(file, options.get("columns"))
        for name in layout.left_out:
            report.leave_out("columns", f"{source.name}: {name}")
        yield from _documents(file, layout, options, report, many=len(sources) > 1)


def _read_file(source: Source) -> _File:
    file = _File(source)
    block, group, first = Block(), 0, True
    facts: dict[str, str] = {}

    def close() -> None:
        nonlocal block, facts
        # A document without a token has nothing but its comments.
        if block.rows or {"text", "text_json"} & facts.keys():
            file.blocks.append(Block(block.rows, facts))
            file.groups.append(group)
            block, facts = Block(), {}

    for number, line in table.text_lines(source):
        if not line.strip():
            close()
            continue
        if line.startswith("-DOCSTART-") and not _is_word(line, facts):
            close()
            group += 1
            continue
        if line.startswith("#") and (not file.width or "\t" not in line) and table.comment(line, facts):
            if "global.columns" in facts:
                file.header = facts.pop("global.columns").split()
            continue
        if not file.width:
            file.tabs = "\t" in line
        cells = _cells(line, file.tabs)
        if line.startswith("#") and (not file.width or len(cells) != file.width) and _is_remark(cells, file.tabs):
            continue
        if first and file.header is None and cells[0].lower() in _TOKEN_NAMES and _is_header(cells):
            file.header, file.width, first = [cell.lower() for cell in cells], len(cells), False
            continue
        first = False
        if not file.width:
            file.width = len(cells)
        if len(cells) != file.width:
            what = f"has {len(cells)} columns where the lines before have {file.width}"
            remedy = "Every token needs the same columns, an empty line parts documents"
            raise DatasetError(what, file=source.path, line=number, remedy=remedy)
        block.rows.append((number, cells))
    close()
    if not file.width or not any(block.rows for block in file.blocks):
        raise DatasetError(
            "holds no token", file=source.path, remedy="A token stands on a line of its own, its labels behind it"
        )
    return file


def _is_word(line: str, facts: Mapping[str, str]) -> bool:
    """Whether -DOCSTART- is a token: the text that a comment gives holds it."""
    stated = facts.get("text", "") + facts.get("text_json", "")
    return _DIVIDERS.split(line)[0] in stated


def _cells(line: str, tabs: bool) -> list[str]:
    return line.split("\t") if tabs else _DIVIDERS.split(line.strip(" \t"))


def _is_header(cells: Sequence[str]) -> bool:
    return len(cells) > 1 and not any(table.looks_like_tags([cell]) for cell in cells)


def _is_remark(cells: Sequence[str], tabs: bool) -> bool:
    """Whether a line that begins with `#` is a remark: no label ends it, as one ends that of the token `#Basel`.

    Labels without prefixes cannot be told from words; beside a tab `#Basel` is a token, `#` a remark (GermEval).
    """
    if len(cells) < 2 or table.looks_like_tags([cells[-1]]):
        return len(cells) < 2
    return cells[0] == "#" or not tabs


def _layout(file: _File, asked: Any) -> Layout:
    """The roles of the columns: as asked, by the header, or found."""
    if asked:
        return _asked_layout(file, asked)
    values = [[cells[place] for block in file.blocks for _, cells in block.rows] for place in range(file.width)]
    if file.header is not None and len(file.header) == file.width:
        names = [name.lower() for name in file.header]
        token = next((names.index(name) for name in _TOKEN_NAMES if name in names), 0)
        misc = next((names.index(name) for name in _MISC_NAMES if name in names), None)
        levels = [place for place, name in enumerate(names) if _LABEL_NAME.fullmatch(name) and place != token]
        levels = levels or [p for p in range(file.width) if p not in (token, misc) and table.looks_like_tags(values[p])]
        names = file.header
    else:
        names = [f"column {place + 1}" for place in range(file.width)]
        token = 1 if file.width > 2 and _counts_up(file, 0) else 0
        misc = None
        levels = [place for place in range(token + 1, file.width) if table.looks_like_tags(values[place])]
        if levels and len(levels) < file.width - token - 1:
            levels = _at_the_end(levels, file.width)
        odd = "O" in values[-1] or any(table.looks_like_tags([value]) for value in values[-1])
        if not levels and file.width > token + 1 and odd:
            levels = [file.width - 1]  # labels, all or some of them without a prefix
    if not levels:
        remedy = "Say what the columns are: --option columns='token _ level1'"
        raise DatasetError("has no column of labels", file=file.source.path, line=file.blocks[0].line, remedy=remedy)
    used = {token, misc, *levels}
    return Layout(token, tuple(levels), misc, tuple(name for place, name in enumerate(names) if place not in used))


def _at_the_end(levels: list[int], width: int) -> list[int]:
    """Beside columns of something else (parts of speech, lemmas) only the last column of labels is of entities."""
    return levels[-1:] if levels[-1] == width - 1 else levels


def _counts_up(file: _File, place: int) -> bool:
    rows = next(block.rows for block in file.blocks if block.rows)
    cells = [cells[place] for _, cells in rows]
    return any(cells == [str(number + first) for number in range(len(cells))] for first in (0, 1))


def _asked_layout(file: _File, asked: Any) -> Layout:
    header = [name.lower() for name in file.header or ()]
    roles: dict[str, int] = {}
    if isinstance(asked, str):
        asked = asked.replace(",", " ").split()
    if isinstance(asked, list):
        roles = {str(role).lower(): place for place, role in enumerate(asked) if str(role) not in ("_", "-")}
        if len(asked) > file.width:
            what = f"has {file.width} columns, and the option columns names {len(asked)}"
            raise DatasetError(
                what,
                file=file.source.path,
                line=file.blocks[0].line,
                remedy="Name as many as there are, _ for one that is not read",
            )
    elif isinstance(asked, dict):
        for role, place in asked.items():
            if isinstance(place, str) and place.lower() in header:
                roles[str(role).lower()] = header.index(place.lower())
            elif re.fullmatch(r"\d{1,9}", str(place)) and 1 <= int(place) <= file.width:
                roles[str(role).lower()] = int(place) - 1
            else:
                raise DatasetError(
                    f"has no column {str(place)[:80]!r}",
                    file=file.source.path,
                    item=f"columns.{role}",
                    remedy=f"Name one from 1 to {file.width}, or one of its header",
                )
    else:
        raise UsageError("the option columns takes a list of roles, or a table from role to column")
    levels = {role: place for role, place in roles.items() if re.fullmatch(r"level_?[1-9]\d?", role)}
    unknown = set(roles) - {"token", "misc", *levels}
    if unknown or "token" not in roles or not levels:
        raise UsageError(
            f"the option columns takes token, level1, level2 ... and misc, and needs the first two; not {asked!r}"
        )
    ordered = sorted(levels, key=lambda role: int(role.removeprefix("level").lstrip("_")))
    used = set(roles.values())
    rest = tuple(f"column {place + 1}" for place in range(file.width) if place not in used)
    return Layout(roles["token"], tuple(levels[role] for role in ordered), roles.get("misc"), rest)


def _documents(
    file: _File, layout: Layout, options: Options, report: ImportReport, *, many: bool
) -> Iterator[EntryDocument]:
    asked, how = options.get("scheme", "auto"), options.get("document", "block")
    if asked not in table.TAG_SCHEMES:
        raise UsageError(f"the option scheme takes {', '.join(table.TAG_SCHEMES)}, not {asked!r}")
    if how not in ("block", "docstart", "file"):
        raise UsageError(f"the option document takes block, docstart or file, not {how!r}")
    levels = []
    for number, place in enumerate(layout.levels, start=1):
        tags = {cells[place] for block in file.blocks for _, cells in block.rows}
        prefixed = table.has_prefixes(tags)
        table.report_bare(f"{file.source.name}, level {number}", tags, report)
        levels.append([table.clean_tags([c[place] for _, c in block.rows], prefixed) for block in file.blocks])
    places = [f"{file.source.name}, line {block.line}" for block in file.blocks]
    for number, rows in enumerate(levels, start=1):
        table.report_scheme(f"{file.source.name}, level {number}", rows, asked, places, report)
    built = [
        _block(file, block, layout, [rows[index] for rows in levels], report) for index, block in enumerate(file.blocks)
    ]
    prefix = str(options.get("prefix", f"{file.source.stem}-" if many else ""))
    split = _SPLITS.get(re.split(r"[._-]", file.source.stem)[-1].lower()) if many else None
    if how == "block":
        groups = [[index] for index in range(len(built))]
    elif how == "file":
        groups = [list(range(len(built)))]
    else:
        by_group: dict[int, list[int]] = {}
        for index, group in enumerate(file.groups):
            by_group.setdefault(group, []).append(index)
        groups = list(by_group.values())
    divided = max(file.groups) > 0
    for number, members in enumerate(groups):
        first = file.blocks[members[0]]
        document = _merged([built[index] for index in members])
        named = next((first.facts[key] for key in _ID_KEYS if first.facts.get(key)), None)
        document.id = named or (file.source.stem if how == "file" else f"{prefix}{number}")
        document.file, document.line = file.source.path, first.line
        if how == "block" and divided:
            document.attributes["source"] = f"{file.source.stem}-{file.groups[members[0]]}"
        document.attributes.update(
            {
                key.removeprefix("attribute "): value
                for key, value in first.facts.items()
                if key.startswith("attribute ")
            }
        )
        if split:
            document.attributes.setdefault("split", split)
        yield document


def _block(
    file: _File, block: Block, layout: Layout, levels: Sequence[Sequence[str]], report: ImportReport
) -> EntryDocument:
    """One block: its text, as a comment gives it or from the tokens with a blank between, and its entities."""
    tokens = [cells[layout.token] for _, cells in block.rows]
    for (line, _), token in zip(block.rows, tokens, strict=True):
        if not token.strip():
            raise DatasetError(
                "has an empty token", file=file.source.path, line=line, remedy="Remove the line, or write the token"
            )
    text = table.stated_text(block.facts, file.source.path, block.line)
    if text is not None:
        found = table.locate(text, tokens)
        if found is None:
            remedy = "Mend the comment text, or remove it"
            raise DatasetError("has tokens that its text does not have", file=file.source.path, line=block.line,
                               remedy=remedy)  # fmt: skip
    else:
        after = [" "] * (len(tokens) - 1) + [""]
        if layout.misc is not None:
            joined = [re.search(r"SpaceAfter=No|NoSpaceAfter", cells[layout.misc]) for _, cells in block.rows]
            after = ["" if hit else gap for hit, gap in zip(joined, after, strict=True)]
        text, found = table.join(tokens, after)
    report.count("tokens", len(tokens))
    spans: list[Triple] = []
    for tags in levels:
        spans += table.triples(found, tags)
    return EntryDocument("", text, spans)


def _merged(parts: Sequence[EntryDocument]) -> EntryDocument:
    """Several blocks as one document, a line each."""
    texts: list[str] = []
    spans: list[Triple] = []
    place = 0
    for part in parts:
        spans += [(kind, start + place, end + place) for kind, start, end in part.spans]
        texts.append(part.text)
        place += len(part.text) + 1
    return EntryDocument("", "\n".join(texts), spans)


def write(documents: Iterable[EntryDocument], options: Options, report: ImportReport) -> dict[str, bytes]:
    """`entities.conll`: token, level 1, level 2 ... with tabs between.

    Options: `scheme` (default IOB2), `tokens` (published, which cuts at the edges of entities, or plain), `comments`
    (yes: ids and texts as comments, from which `read` gives back every offset; no: columns only).
    """
    scheme = str(options.get("scheme", "IOB2"))
    if scheme == "auto":
        scheme = "IOB2"
    if scheme not in SCHEMES:
        raise UsageError(f"the option scheme takes {', '.join(SCHEMES)}, not {scheme!r}")
    comments = options.get("comments", "yes") != "no"
    entries = [(document, document.nested(report)) for document in one_word(documents, report)]
    depth = max((level for _, entry in entries for level in depths(entry.spans)), default=1)
    lines = (
        [f"# global.columns = token {' '.join(f'level{level}' for level in range(1, depth + 1))}"] if comments else []
    )
    for document, entry in entries:
        tokens = tokens_for(document, entry, options, report)
        rows = level_tags(entry, tokens, scheme, depth=depth)
        report_losses(document, entry, tokens, rows, report)
        if comments:
            lines.append(f"# document = {_one_line(document, report)}")
            for key, value in document.attributes.items():
                if _plain(key, value):
                    lines.append(f"# attribute {key} = {value}")
                else:
                    report.lose("attributes of documents", f"{document.id}: {key}")
            lines.append(table.write_text(entry.text))
        else:
            report.lose("ids and attributes of documents", document.id)
            if entry.text != " ".join(token.text for token in tokens):
                report.lose("white space: the text is rebuilt with a blank between tokens", document.id)
            if any(token.text == "-DOCSTART-" for token in tokens):
                report.lose("a token -DOCSTART-, which comes back as the beginning of a group", document.id)
        if not tokens:
            report.lose("documents without a token", document.id)
        lines += ["\t".join(cells) for cells in zip((token.text for token in tokens), *rows, strict=True)]
        lines.append("")
        report.count("documents")
        report.count("tokens", len(tokens))
    return {"entities.conll": "\n".join(lines).encode() + b"\n"}


def tokens_for(document: EntryDocument, entry: Entry, options: Options, report: ImportReport) -> tuple[Token, ...]:
    """The tokens that are written, as they stand in the text."""
    chosen = options.get("tokens", "published")
    if chosen not in ("published", "plain"):
        raise UsageError(f"the option tokens takes published or plain, not {chosen!r}")
    found = published_tokens(Entry(entry.text, entry.spans)) if chosen == "published" else plain_tokens(entry.text)
    return tuple(Token(entry.text[token.start : token.end], token.start, token.end) for token in found)


def report_losses(
    document: EntryDocument, entry: Entry, tokens: Sequence[Token], rows: Sequence[Sequence[str]], report: ImportReport
) -> None:
    """Names each entity that reading the tags does not give back."""
    back: dict[Triple, int] = {}
    for tags in rows:
        for triple in table.triples(tokens, tags):
            back[triple] = back.get(triple, 0) + 1
    for span in entry.spans:
        triple = (span.type, span.start, span.end)
        if back.get(triple, 0):
            back[triple] -= 1
        else:
            what = (
                "entities that the tags cannot say (joined to a neighbour, cut by a token, or white space at an edge)"
            )
            report.lose(what, f"{document.id}: {span.type} {span.start} to {span.end}")


def _one_line(document: EntryDocument, report: ImportReport) -> str:
    name = " ".join(document.id.split())
    if name != document.id:
        report.lose("white space in ids", document.id)
    return name


def _plain(key: str, value: str) -> bool:
    return re.fullmatch(r"[\w.\-]{1,40}", key) is not None and value.isprintable() and value == value.strip() != ""
