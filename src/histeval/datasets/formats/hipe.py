"""HIPE TSV (shared tasks HIPE-2020 and HIPE-2022): a token a line, columns of coarse, fine and nested entities.

Source of the columns and flags: Ehrmann et al., HIPE 2022 Participation Guidelines (doi:10.5281/zenodo.6045662).
Coarse and fine labels name the same entities, components stand inside a fine entity, and NE-NESTED holds entities
inside others. A line that begins with `#` and has no tab is a comment, a `#` with columns behind it is a token. MISC
says with NoSpaceAfter and EndOfLine what stands behind a token, so that the text can be rebuilt.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from histeval.datasets.formats import columns as table
from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.columns import Block
from histeval.datasets.formats.conll import report_losses, tokens_for
from histeval.datasets.formats.entries import EntryDocument, Triple, one_word
from histeval.entities.nesting import nest
from histeval.entities.spans import Entry
from histeval.entities.tags import level_tags, runs
from histeval.entities.tokens import Token
from histeval.errors import DatasetError, UsageError

LAYERS = {
    "coarse": "NE-COARSE-LIT",
    "fine": "NE-FINE-LIT",
    "nested": "NE-NESTED",
    "components": "NE-FINE-COMP",
    "coarse_metonymic": "NE-COARSE-METO",
    "fine_metonymic": "NE-FINE-METO",
}
"""The layers of entities and their columns, from the outermost to the innermost."""
_HEADER = (
    *("TOKEN", "NE-COARSE-LIT", "NE-COARSE-METO", "NE-FINE-LIT", "NE-FINE-METO", "NE-FINE-COMP", "NE-NESTED"),
    *("NEL-LIT", "NEL-METO", "MISC"),
)
_LINKS = ("NEL-LIT", "NEL-METO")
DESCRIBED = ("date", "language", "newspaper", "dataset", "document_type")
"""Comments that describe a document and become its attributes."""
_READ = ("document_id", "document", "text", "text_json", "applicable_columns")
_SPACING = ("", "_", "-", "NoSpaceAfter", "EndOfLine")
_KEY = re.compile(r"(?:hipe2022:)?(\w+)")


def sniff(source: Source) -> bool:
    """Whether the first line that is no comment names the columns of HIPE."""
    for line in table.head_lines(source):
        if line.strip() and not (line.startswith("#") and "\t" not in line):
            return line.split("\t")[0].strip() == "TOKEN" and "\tNE-" in line
    return False


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[EntryDocument]:
    """The documents of some files.

    Options: `layers` (coarse, fine, nested, components, coarse_metonymic, fine_metonymic, joined by `+`; default: fine,
    or coarse where there is none, with nested and components) and `lines` (break or space: what an EndOfLine becomes).
    """
    for source in sources:
        report.count("files")
        header, blocks = _blocks(source)
        layers = _layers(header, blocks, options.get("layers", ""), source)
        _report_unread(header, blocks, layers, source, report)
        rows = {layer: _tags(header[LAYERS[layer]], blocks) for layer in layers}
        places = [f"{source.name}, line {block.line}" for block in blocks]
        for layer in layers:
            written = {cells[header[LAYERS[layer]]] for block in blocks for _, cells in block.rows}
            table.report_bare(f"{source.name}, {LAYERS[layer]}", written, report)
            table.report_scheme(f"{source.name}, {LAYERS[layer]}", rows[layer], "IOB2", places, report)
        for number, block in enumerate(blocks):
            tags = {layer: rows[layer][number] for layer in layers}
            yield _document(source, number, block, header, tags, options, report)


def _blocks(source: Source) -> tuple[dict[str, int], list[Block]]:
    """The place of each column by name, and the documents: what an empty line or a new document_id parts."""
    header: dict[str, int] = {}
    blocks: list[Block] = []
    block = Block()
    for number, line in table.text_lines(source):
        if not line.strip():
            # Where comments name the documents, an empty line parts nothing.
            if block.rows and "document_id" not in block.facts:
                blocks.append(block)
                block = Block()
            continue
        if line.startswith("#") and "\t" not in line:
            facts: dict[str, str] = {}
            if table.comment(line, facts):
                named = {key.removeprefix("hipe2022:"): value for key, value in facts.items()}
                if "document_id" in named and block.rows:
                    blocks.append(block)
                    block = Block()
                block.facts.update(named)
            continue
        cells = line.split("\t")
        if not header or (cells[0] == "TOKEN" and cells[1:2] == ["NE-COARSE-LIT"]):
            header = {name.strip(): place for place, name in enumerate(cells)}
            if "TOKEN" not in header or not any(column in header for column in LAYERS.values()):
                remedy = "The first line names the columns: TOKEN, NE-COARSE-LIT ..."
                raise DatasetError("has no columns of HIPE", file=source.path, line=number, remedy=remedy)
            continue
        if len(cells) != len(header):
            what = f"has {len(cells)} columns where the first line names {len(header)}"
            raise DatasetError(what, file=source.path, line=number, remedy="Part the columns by tabs")
        block.rows.append((number, cells))
    if block.rows:
        blocks.append(block)
    if not blocks:
        raise DatasetError(
            "holds no token", file=source.path, remedy="A token stands on a line of its own, its labels behind it"
        )
    return header, blocks


def _layers(header: Mapping[str, int], blocks: Sequence[Block], asked: object, source: Source) -> tuple[str, ...]:
    if asked:
        names = asked if isinstance(asked, list) else re.split(r"[+,\s]+", str(asked))
        for name in names:
            if name not in LAYERS:
                raise UsageError(f"the option layers takes {', '.join(LAYERS)} joined by +, not {name!r}")
            if LAYERS[name] not in header:
                raise DatasetError(
                    f"has no column {LAYERS[name]}",
                    file=source.path,
                    line=1,
                    remedy=f"Its layers are {', '.join(layer for layer in LAYERS if LAYERS[layer] in header)}",
                )
        return tuple(layer for layer in LAYERS if layer in names)
    filled = [layer for layer in LAYERS if _number(header.get(LAYERS[layer]), blocks)]
    outer = "fine" if "fine" in filled else "coarse"
    chosen = [layer for layer in filled if layer in (outer, "nested", "components")]
    return tuple(chosen) or tuple(layer for layer in LAYERS if LAYERS[layer] in header)[:1]


def _number(place: int | None, blocks: Sequence[Block]) -> int:
    """How many entities a column holds."""
    if place is None:
        return 0
    return sum(len(runs(table.clean_tags([c[place] for _, c in block.rows], True))) for block in blocks)


def _tags(place: int, blocks: Sequence[Block]) -> list[list[str]]:
    prefixed = table.has_prefixes({cells[place] for block in blocks for _, cells in block.rows})
    return [table.clean_tags([cells[place] for _, cells in block.rows], prefixed) for block in blocks]


def _report_unread(
    header: Mapping[str, int], blocks: Sequence[Block], layers: Sequence[str], source: Source, report: ImportReport
) -> None:
    known = {column: layer for layer, column in LAYERS.items()}
    for column, place in header.items():
        if column in known and known[column] not in layers:
            number = _number(place, blocks)
            if number:
                report.leave_out(f"entities of the layer {known[column]}", f"{source.name}: {number}")
        elif column in _LINKS and any(cells[place] not in ("_", "-", "O", "") for b in blocks for _, cells in b.rows):
            report.leave_out("links to knowledge bases", f"{source.name}: {column}")
        elif column == "MISC":
            cells_of = (cells[place] for block in blocks for _, cells in block.rows)
            flags = (flag.split(":")[0] for cell in cells_of for flag in cell.split("|"))
            others = Counter(_flag_name(flag) for flag in flags if flag not in _SPACING)
            for flag, number in others.items():
                report.leave_out(f"flags {flag} of MISC", f"{source.name}: {number}")
        elif column not in known and column not in (*_LINKS, "TOKEN"):
            report.leave_out("columns", f"{source.name}: {column}")


def _flag_name(flag: str) -> str:
    """A flag without its value: `LED0.20` is LED, `Partial-0:1` Partial."""
    return re.match(r"[^\W\d_]*", flag)[0] or flag[:20]  # type: ignore[index]


def _document(
    source: Source,
    number: int,
    block: Block,
    header: Mapping[str, int],
    tags: Mapping[str, Sequence[str]],
    options: Options,
    report: ImportReport,
) -> EntryDocument:
    how = options.get("lines", "break")
    if how not in ("break", "space"):
        raise UsageError(f"the option lines takes break or space, not {how!r}")
    words = [cells[header["TOKEN"]] for _, cells in block.rows]
    for (line, _), word in zip(block.rows, words, strict=True):
        if not word.strip():
            raise DatasetError(
                "has an empty token", file=source.path, line=line, remedy="Remove the line, or write the token"
            )
    text = table.stated_text(block.facts, source.path, block.line)
    if text is None:
        flags = [set(cells[header["MISC"]].split("|")) if "MISC" in header else set() for _, cells in block.rows]
        after = [_after(flag, how) for flag in flags]
        after[-1] = ""
        text, tokens = table.join(words, after)
    else:
        found = table.locate(text, words)
        if found is None:
            what = "has tokens that its text does not have"
            raise DatasetError(what, file=source.path, line=block.line, remedy="Mend the comment text, or remove it")
        tokens = found
    report.count("tokens", len(tokens))
    identifier = block.facts.get("document_id") or block.facts.get("document") or str(number)
    described = {key: value for key in DESCRIBED if (value := block.facts.get(key))}
    for key in sorted(block.facts.keys() - {*DESCRIBED, *_READ}):
        if block.facts[key] not in ("", "_"):
            report.leave_out(f"comments {key}", identifier)
    document = EntryDocument(identifier, text, [], described, source.path, block.line)
    document.spans = nested([table.triples(tokens, tags[layer]) for layer in LAYERS if layer in tags])
    return document


def nested(layers: Sequence[Sequence[Triple]]) -> list[Triple]:
    """The entities of all layers, outer layers first, so that of two with one extent the outer layer's is outside."""
    return [triple for layer in layers for triple in layer]


def _after(flags: set[str], how: str) -> str:
    """What stands behind a token with these flags. A word parted at the end of a line stays parted."""
    if "EndOfLine" in flags:
        return "\n" if how == "break" else "" if "NoSpaceAfter" in flags else " "
    return "" if "NoSpaceAfter" in flags else " "


def write(documents: Iterable[EntryDocument], options: Options, report: ImportReport) -> dict[str, bytes]:
    """`entities.tsv` with the ten columns of HIPE-2022.

    An entity at the root is coarse (its type up to the first full stop) and fine. One inside it is a component where
    its type begins with `comp.`, else nested. What has no column (a third level, say) is reported.
    """
    lines = ["\t".join(_HEADER)]
    for document in one_word(documents, report):
        entry = document.nested(report)
        tokens = tokens_for(document, entry, options, report)
        if not tokens:
            report.lose("documents without a token", document.id)
            continue
        report_losses(document, entry, tokens, _written(entry, tokens), report)
        columns = _columns(entry, tokens)
        lines.append(f"# hipe2022:document_id = {' '.join(document.id.split())}")
        for key, value in document.attributes.items():
            if _KEY.fullmatch(key) and value.isprintable() and key in DESCRIBED:
                lines.append(f"# hipe2022:{key} = {value}")
            else:
                report.lose("attributes of documents", f"{document.id}: {key}")
        misc, exact = _misc(entry.text, tokens)
        if not exact:
            report.note("texts with other white space than one blank or one line end stand in a comment text")
            lines.append(table.write_text(entry.text))
        for place, token in enumerate(tokens):
            coarse = _coarse(columns["fine"][place])
            cells = (token.text, coarse, "O", columns["fine"][place], "O", columns["components"][place],
                     columns["nested"][place], "_", "_", misc[place])  # fmt: skip
            lines.append("\t".join(cells))
        lines.append("")
        report.count("documents")
        report.count("tokens", len(tokens))
    return {"entities.tsv": "\n".join(lines).encode() + b"\n"}


def _columns(entry: Entry, tokens: Sequence[Token]) -> dict[str, list[str]]:
    """The tags of the fine, nested and component columns."""
    levels: list[int] = []  # of an entity among those that are no components
    chosen: dict[str, list[Triple]] = {"fine": [], "nested": [], "components": []}
    for span in entry.spans:
        component = span.type.startswith("comp.")
        levels.append((0 if span.parent is None else levels[span.parent]) + (not component))
        layer = "components" if component else {1: "fine", 2: "nested"}.get(levels[-1])
        if layer is not None:
            chosen[layer].append((span.type, span.start, span.end))
    return {
        layer: level_tags(Entry(entry.text, nest(found)[0]), tokens, "IOB2", depth=1)[0]
        for layer, found in chosen.items()
    }


def _written(entry: Entry, tokens: Sequence[Token]) -> list[list[str]]:
    return list(_columns(entry, tokens).values())


def _coarse(tag: str) -> str:
    prefix, hyphen, kind = tag.partition("-")
    return tag if not hyphen else f"{prefix}-{kind.split('.')[0]}"


def _misc(text: str, tokens: Sequence[Token]) -> tuple[list[str], bool]:
    """The column MISC, and whether the text can be rebuilt from it."""
    found: list[str] = []
    exact = not tokens or (tokens[0].start == 0 and tokens[-1].end == len(text))
    for place, token in enumerate(tokens):
        last = place + 1 == len(tokens)
        gap = "" if last else text[token.end : tokens[place + 1].start]
        found.append(
            "_" if gap == " " or last else "NoSpaceAfter" if gap == "" else "EndOfLine" if gap == "\n" else "_"
        )
        exact = exact and gap in ("", " ", "\n")
    return found, exact
