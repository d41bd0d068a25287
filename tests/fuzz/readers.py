# ruff: noqa: E501 (samples of XML are one piece)
"""Every reader of what others wrote, as a function of some files; and what is done to the files.

A reader reads, or raises an error of Histeval with one sentence; anything else is a fault. `python -m fuzz` (run in
`tests/`, or `make fuzz`) tries all of them for as long as it is told and keeps what it finds in `tests/fuzz/cases/`.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from dataset_samples import WHOLE
from format_sources import sources
from histeval.datasets import Dataset, check, load_dataset
from histeval.datasets.bundled import bundled
from histeval.datasets.formats import FORMATS, MODELS, ImportReport
from histeval.errors import HistevalError
from histeval.runs.folder import RunFolder, read_answers
from histeval.runs.opening import open_answers
from histeval.runs.parts import is_corpus, open_corpus, pieces
from histeval.runs.score import score_run
from histeval.runs.selection import Selection
from histeval.runs.sharding import merge, shard_lines, write_lines
from histeval.runs.summary import PieceScorer
from histeval.tasks import get_task
from histeval.tasks.base import Answer

Files = dict[str, bytes]
Read = Callable[[Path], None]
TASKS = ("letters", "manuscripts", "directories")
PROTOCOLS = ("documented", "published", "corrected")


@cache
def dataset(task: str) -> Dataset:
    return load_dataset(task, bundled(task))


@cache
def scorers(task: str) -> tuple[Any, ...]:
    return tuple(get_task(task).scorer(dataset(task).context, get_task(task).protocol(name)) for name in PROTOCOLS)


def answers(task: str) -> Read:
    """Whatever `histeval score` takes as ANSWERS, opened and scored."""

    def read(folder: Path) -> None:
        place = folder if (folder / "run.json").exists() or any(folder.glob("request_*")) else next(folder.iterdir())
        for run in open_answers(place, dataset(task)):
            for scorer in scorers(task):
                next(score_run(dataset(task), run, scorer, with_intervals=False)).as_json(True)

    return read


def output(task: str) -> Read:
    """A file as what a model sent for the first document: text as it stands, and decoded where it is JSON."""

    def read(folder: Path) -> None:
        data = next(folder.iterdir()).read_bytes()
        text = data.decode("utf-8", "surrogateescape")
        given = [Answer("x", text=text), Answer("x", text=text, finish="length"), Answer("x", error=text[:200])]
        try:
            given.append(Answer("x", record=json.loads(text)))
        except (ValueError, RecursionError):
            given.append(Answer("x", record=text))
        truth = next(iter(dataset(task).documents.values())).truth
        for answer in given:
            for scorer in scorers(task):
                reading = scorer.read(answer)
                assert reading.failure is None or reading.record is None
                scorer.score(truth, reading)

    return read


def whole_dataset(task: str) -> Read:
    def read(folder: Path) -> None:
        check(task, folder)
        load_dataset(task, folder, split="all")

    return read


def corpus(task: str) -> Read:
    def read(folder: Path) -> None:
        found = open_corpus(task, bundled(task))
        place = next(folder.iterdir())
        is_corpus(place)
        for piece in pieces(place, size=300, rows=2)[:40]:
            PieceScorer(found, scorers(task)[0], Selection())(piece)

    return read


def shards(folder: Path) -> None:
    for score in merge(sorted(folder.iterdir())):
        score.as_json()


def run_folder(folder: Path) -> None:
    list(read_answers(folder))
    with RunFolder(folder, {"task": "letters", "system": "x"}) as run:
        run.append({"document": "letter01", "text": "{}"})


def imported(name: str) -> Read:
    def read(folder: Path) -> None:
        given = sources({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
        format = FORMATS[name]
        for source in given:
            format.sniff(source)
        report = ImportReport(format.tasks[0], name)
        documents = list(format.read(given, {}, report))
        str(report)
        from importlib import import_module

        import_module(MODELS[format.tasks[0]]).dataset_files(documents, "x", {}, report)

    return read


def as_bytes(files: Mapping[str, Any]) -> Files:
    return {
        name: content if isinstance(content, bytes) else
        (content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)).encode()
        for name, content in files.items()
    }  # fmt: skip


def _lines(*values: Any) -> bytes:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()


LETTER = {"send_date": ["1931-05-04"], "sender_persons": ["Amsler, Rosa"], "receiver_persons": None}
PAGE = {"folios": [{"folio": "1", "text": "Item ein hus\nvnd", "addition1": "nota"}, {"folio": "", "text": ""}]}
XML = "<PER>Roux</PER>, <SPAT><LOC>r. Noire</LOC>, <CARDINAL>3</CARDINAL></SPAT>."
OUTPUTS = {
    "letters": f"Here it is:\n```json\n{json.dumps({'metadata': LETTER}, indent=1)}\n```".encode(),
    "manuscripts": json.dumps(PAGE).encode(),
    "directories": f"```xml\n{XML}\n```".encode(),
}
RECORDS: dict[str, Any] = {"letters": {"metadata": LETTER}, "manuscripts": PAGE, "directories": {"xml": XML}}
TRUTHS: dict[str, Any] = {
    "letters": {**LETTER, "has_signatures": "TRUE"},
    "manuscripts": {"[1r]": PAGE["folios"]},
    "directories": {"text": "Roux, 3", "spans": [{"type": "PER", "start": 0, "end": 4, "parent": None}]},
}
FIRST = {"letters": "letter01", "manuscripts": "image_1", "directories": "132"}
SAMPLES: dict[str, Files] = {
    "page": {"a.xml": b'<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Page imageFilename='
                      b'"a.jpg"><ReadingOrder><OrderedGroup id="g"><RegionRefIndexed index="0" regionRef="r"/></OrderedGroup>'
                      b'</ReadingOrder><TextRegion id="r" type="paragraph" custom="structure {type:marginalia;}"><TextLine '
                      b'id="l" custom="readingOrder {index:0;}"><TextEquiv index="0"><Unicode>Item ein hus</Unicode>'
                      b'</TextEquiv></TextLine></TextRegion></Page></PcGts>'},
    "alto": {"a.xml": b'<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page ID="p"><PrintSpace><TextBlock '
                      b'ID="b"><TextLine ID="l"><String CONTENT="Item" SUBS_TYPE="HypPart1" SUBS_CONTENT="Items"/><SP/>'
                      b'<String CONTENT="hus"/><HYP CONTENT="-"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>'},
    "hocr": {"a.hocr": b'<html xmlns="http://www.w3.org/1999/xhtml"><body><div class="ocr_page" title="image a.jpg; bbox 0 0'
                       b' 9 9"><p class="ocr_par"><span class="ocr_line" title="bbox 0 0 9 2"><span class="ocrx_word" '
                       b'title="bbox 0 0 4 2; x_wconf 90">Item</span> hus</span></p></div></body></html>'},
    "tei": {"a.xml": b'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc/></teiHeader><text><body><pb n="1r"/>'
                     b'<p>It<ex>em</ex> ein<lb break="no"/>s <choice><abbr>h</abbr><expan>hus</expan></choice><del>x</del><gap/>'
                     b'<note place="margin">nota</note></p><pb n="1v"/><p>vnd</p></body></text></TEI>'},
    "plain": {"a.txt": b"Item ein hus\n\x0cvnd hof\n"},
    "jsonl": {"a.jsonl": b'{"id": "1", "text": "ab", "spans": [{"type": "X", "start": 0, "end": 1}]}\n{"id": "2", "xml": "<A>b</A>"}\n'},
    "doccano": {"a.jsonl": b'{"id": 1, "text": "ab", "label": [[0, 1, "X"]], "meta": {"p": 1}}\n'},
    "label_studio": {"a.json": json.dumps([{"id": 1, "data": {"text": "ab cd"}, "annotations": [{"result": [{
        "type": "labels", "value": {"start": 0, "end": 2, "text": "ab", "labels": ["X"]}}]}]}]).encode()},
    "conll": {"a.conll": b"# id = 1\n# text = a bc\na\tB-X\tO\nbc\tI-X\tB-Y\n\n# id = 2\nd\tO\tO\n"},
    "hipe": {"a.tsv": b"TOKEN\tNE-COARSE-LIT\tNE-FINE-LIT\tMISC\n# document_id = 1\nab\tB-x\tB-x.y\tNoSpaceAfter\n"},
    "brat": {"a.ann": b"T1\tX 0 2;3 4\tab c\n#1\tNote T1\tx\nT2\tY 0 1\ta\n", "a.txt": b"ab cd"},
    "inline": {"a.txt": b"<A>a <B-C>b</B-C> &amp; c</A>\nd\n"},
    "spreadsheet": {"a.csv": "Nr;Datum;Absender\n1;3.4.1890;Sá\n".encode(), "persons.csv": b"name,gnd\nA,118540238\n"},
    "correspdesc": {"a.xml": b'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><correspDesc key="1"><correspAction '
                             b'type="sent"><persName ref="https://d-nb.info/gnd/1">S</persName><date when="1890"/>'
                             b'</correspAction></correspDesc></teiHeader></TEI>'},
}  # fmt: skip


@cache
def readers() -> dict[str, tuple[Files, Read]]:
    """Every reader by name, with whole files to begin with."""
    found: dict[str, tuple[Files, Read]] = {}
    for task in TASKS:
        first, more = FIRST[task], {"cost": 0.1, "seconds": 2, "usage": {"input_tokens": 3}}
        lines = _lines(
            {"document": first, "text": OUTPUTS[task].decode(), **more},
            {"document": "b", "record": RECORDS[task], "repeat": 0},
            {"document": "c", "error": "refused"},
        )
        found[f"answers, {task}"] = ({"answers.jsonl.txt": lines}, answers(task))
        found[f"model output, {task}"] = ({"output": OUTPUTS[task]}, output(task))
        found[f"model record, {task}"] = ({"output": json.dumps(RECORDS[task]).encode()}, output(task))
        rows = [{"document": f"{first}_{n}", "truth": TRUTHS[task], "record": RECORDS[task], **more} for n in range(3)]
        found[f"corpus in parts, {task}"] = ({"part.jsonl": _lines(*rows)}, corpus(task))
    found["recorded runs"] = (
        {"runs.jsonl": _lines({"run_id": "T1", "provider": "p", "model": "m", "date": "2025-01-01", "rules": {"a": True},
                               "answers": {"letter01": {"json": RECORDS["letters"]}, "letter02": {"error": "x"}}})},
        answers("letters"),
    )  # fmt: skip
    found["token columns"] = (
        {
            "answers.conll": b"# document = 132\nRoux\tB-PER\tO\n,\tO\tO\n3\tB-CARDINAL\tO\n\n# document = 133\nBlanc\tB-PER\tO\n"
        },
        answers("directories"),
    )
    line = {"document": "letter01", "repeat": 0, "state": "answered", "cost": None, "text": "{}"}
    description = {"format": 1, "task": "letters", "system": "x", "documents": ["letter01"], "notes": [], "repeats": 1}
    files = {"run.json": json.dumps(description).encode(), "answers.jsonl": _lines(line, {**line, "document": "b"})}
    found["run folder"] = (files, run_folder)
    found["run folder, scored"] = (files, answers("letters"))
    request = {"text": OUTPUTS["letters"].decode(), "parsed": None, "usage": {"estimated_cost_usd": 0.1}, "duration": 2,
               "timestamp": "2025-01-01", "error": None, "provider": "p", "model": "m"}  # fmt: skip
    found["RISE results folder"] = ({"request_T1_letter01.json": json.dumps(request).encode()}, answers("letters"))
    for name, whole in WHOLE.items():
        task = {"letters_csv": "letters", "trade": "directories"}.get(name, name)
        found[f"dataset, {name}"] = (as_bytes(whole), whole_dataset(task))
    found["shards"] = (_shards(), shards)
    for name, sample in SAMPLES.items():
        found[f"format {name}"] = (sample, imported(name))
    return found


def _shards() -> Files:
    runs = open_answers(bundled("manuscripts/hasty"), dataset("manuscripts"))
    files: Files = {}
    with tempfile.TemporaryDirectory() as place:
        for number in (1, 2):
            path = Path(place) / f"{number}.jsonl"
            write_lines(path, shard_lines(get_task("manuscripts"), dataset("manuscripts"), runs, (number, 2)))
            files[path.name] = path.read_bytes()
    return files


SNIPPETS = [
    *(b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\n", b"\r", b'"', b"'", b",", b"|", b"<", b">", b"</PER>"),
    *(b"<<", b"&#0;", b"&amp;", b"{", b"}", b"[", b"]", b"null", b"NaN", b"1e999", b"true", b"[[[[", b'{"a":', b"-1"),
    *(b"../", b"FALSE", b"None", b"#VALUE!", b"\\u0000", b"\\ud800", "\u202e\u2029\U0010ffff".encode(), b"= 1\n"),
    *(b"[[fields]]\n", b"9" * 50, b"9" * 5000, b"0.5", b'"\\', b"\t", b";", b"```", b"addition99999", b"<!DOCTYPE a>"),
    *(b"\xed\xb2\x80", b"[]", b"{}", b'""', b"1", b"/etc/passwd", b"B-", b"# document = ", b"&a;"),
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 10**18, 10**400, "", " ", "null", "../../x", "\ud800", "a\x00b", [], {}, [[]]),
    *([None], {"": ""}, [{}], "9" * 5000, "x" * 20_000, {"text": None}, ["a", 1, None], {"xml": []}, {"folios": {}}),
]


def mutated(files: Files, seed: int) -> Files:
    """One or two files with bytes replaced, or JSON with another value somewhere."""
    source = random.Random(seed)
    result = dict(files)
    for name in source.sample(sorted(files), min(len(files), source.randint(1, 2))):
        data = result[name]
        changed = mutated_json(data, source) if source.random() < 0.5 else None
        result[name] = changed if changed is not None else mutated_bytes(data, source)
    return result


def mutated_bytes(data: bytes, source: random.Random) -> bytes:
    for _ in range(source.randint(1, 4)):
        start = source.randint(0, len(data))
        end = min(len(data), start + source.choice((0, 0, 1, 2, 9, 40)))
        piece = source.choice(SNIPPETS) if source.random() < 0.8 else data[start:end] * 2
        data = data[:start] + piece + data[end:]
    return data


def mutated_json(data: bytes, source: random.Random) -> bytes | None:
    """A line of JSON (or the whole file) with one value replaced, removed or added; None where it is none."""
    lines = data.split(b"\n")
    number = source.randrange(len(lines))
    whole = False
    try:
        value = json.loads(lines[number])
    except (ValueError, RecursionError):
        try:
            value, whole = json.loads(data), True
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, (dict, list)) or not value:
        return None
    node = value
    while True:
        key: Any = source.choice(list(node) if isinstance(node, dict) else range(len(node)))
        if isinstance(node[key], (dict, list)) and node[key] and source.random() < 0.7:
            node = node[key]
            continue
        break
    chance = source.random()
    if chance < 0.15:
        del node[key]
    elif chance < 0.25 and isinstance(node, dict):
        node[source.choice(("document", "text", "record", "error", "folio", "x\x00", "repeat", "truth"))] = node[key]
    else:
        node[key] = source.choice(VALUES)
    text = json.dumps(value, ensure_ascii=source.random() < 0.5).encode("utf-8", "surrogatepass")
    if whole:
        return text
    lines[number] = text
    return b"\n".join(lines)


def write(files: Files, folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def attempt(name: str, files: Files) -> str | None:
    """What a reader says to some files: None where it reads them, a sentence where it refuses them; raises what is a
    fault of the reader."""
    read = readers()[name][1]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "files"
        write(files, folder)
        try:
            read(folder)
        except HistevalError as fault:
            sentence = str(fault)
            if "\n" in sentence or len(sentence) > 3000 or not sentence.isprintable():
                raise AssertionError(f"not one sentence: {sentence[:300]!r}") from fault
            return sentence
    return None
