"""The bundled demo data: complete, small, consistent, and what its tool writes."""

from __future__ import annotations

import csv
import importlib
import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image, features
from PIL import __version__ as pillow_version

from histeval.datasets.bundled import ANSWERS, DATASETS, bundled
from histeval.datasets.importing import import_letters
from histeval.datasets.registry import check, load_dataset
from histeval.errors import UsageError
from histeval.tasks.base import Answer
from histeval.tasks.registry import get_task

HERE = bundled("letters").parent
TOOLS = Path(__file__).resolve().parents[2] / "tools"
LINE = re.compile(r'"(.*)", "([^"]*)"')
MEGABYTES = 2


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def read_table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in bundled(name).read_text(encoding="utf-8").splitlines()]


def test_the_package_stays_small() -> None:
    size = sum(path.stat().st_size for path in HERE.rglob("*") if path.is_file())
    assert size < MEGABYTES * 1_000_000


def test_names() -> None:
    for dataset in DATASETS:
        assert (bundled(dataset) / "dataset.toml").is_file()
        for kind in ANSWERS:
            assert bundled(f"{dataset}/{kind}").is_file()
    for name in ("", "letter", "letters/", "letters/other", "../bundled", "letters/../letters", "answers"):
        with pytest.raises(UsageError, match="there are letters, manuscripts"):
            bundled(name)


@pytest.mark.parametrize("folder", ["letters", "manuscripts"])
def test_images_are_what_they_say(folder: str) -> None:
    paths = sorted((bundled(folder) / "images").iterdir())
    assert len(paths) == {"letters": 12, "manuscripts": 4}[folder]
    for path in paths:
        with Image.open(path) as image:
            image.load()
            assert (path.suffix, image.format, image.mode) == (".jpg", "JPEG", "RGB")
            assert min(image.size) > 900
            # Neither blank nor black: a page of paper with ink on it.
            grey = np.asarray(image.convert("L"))
            assert 150 < grey.mean() < 240
            assert 0.005 < (grey[50:-50, 100:-100] < 110).mean() < 0.2


# letters


def test_letters_csv_and_json_are_the_same() -> None:
    truth = bundled("letters") / "ground_truths"
    rows = read_table(truth / "letters.csv")
    assert [row["document_number"] for row in rows] == [f"{number:02}" for number in range(1, 9)]
    for row in rows:
        record = read_json(truth / f"letter{row['document_number']}.json")
        for key in ("letter_title", "send_date", "sender_persons", "receiver_persons"):
            assert record[key] == [value.strip() for value in row[key].split("|")]
        assert record["has_signatures"] == row["has_signatures"]


def test_import_of_the_tables_gives_the_same_json(tmp_path: Path) -> None:
    truth = bundled("letters") / "ground_truths"
    import_letters(truth / "letters.csv", truth / "persons.csv", tmp_path / "out")
    written = {path.name: read_json(path) for path in (tmp_path / "out").rglob("*.json")}
    assert written == {path.name: read_json(path) for path in truth.glob("*.json")}


def test_persons_csv_and_json_are_the_same() -> None:
    truth = bundled("letters") / "ground_truths"
    persons = {person["name"]: person for person in read_json(truth / "persons.json")}
    rows = read_table(truth / "persons.csv")
    assert {row["name"] for row in rows} == set(persons)
    for row in rows:
        person = persons[row["name"]]
        assert person["identifier"][0]["value"] == row["identifier_value"]
        assert person["alternateName"] == [form.strip() for form in row["alternateName"].split(",") if form.strip()]
        assert row["job_name"] in [job["name"] or "" for job in person["hasOccupation"]]
    assert sum(len(person["hasOccupation"]) for person in persons.values()) == len(rows)
    forms = Counter(form for person in persons.values() for form in {person["name"], *person["alternateName"]})
    assert max(forms.values()) == 1, "one form of a name for two persons"


def test_letters_use_every_marker() -> None:
    truth = bundled("letters") / "ground_truths"
    names = {person["name"] for person in read_json(truth / "persons.json")}
    records = [read_json(path) for path in sorted(truth.glob("letter0*.json"))]
    assert {record["has_signatures"] for record in records} == {"TRUE", "FALSE"}
    marks: Counter[tuple[str, str]] = Counter()
    for record in records:
        for role in ("sender_persons", "receiver_persons"):
            for value in record[role]:
                mark = "<<" if value.startswith("<<") else "<" if value.startswith("<") else ""
                plain = value.strip("<>")
                marks[role, "None" if plain == "None" else mark] += 1
                assert plain == "None" or plain in names
    assert marks == {
        ("sender_persons", ""): 7,
        ("sender_persons", "<"): 1,
        ("sender_persons", "None"): 1,
        ("receiver_persons", ""): 4,
        ("receiver_persons", "<"): 2,
        ("receiver_persons", "<<"): 2,
        ("receiver_persons", "None"): 2,
    }


# manuscripts


def test_manuscript_pages() -> None:
    truth = bundled("manuscripts") / "ground_truths"
    letters: Counter[str] = Counter()
    additions = 0
    for number in range(1, 5):
        ((reference, entries),) = read_json(truth / f"image_{number}.json").items()
        (entry,) = entries
        match = re.fullmatch(r"\[(\d+)([rv])\]", reference)
        assert match is not None
        assert entry["folio"] == (match[1] if match[2] == "r" else "")
        assert all(key == "folio" or "\n" not in value.replace("\n ", "") for key, value in entry.items())
        assert "  " not in entry["text"]
        assert entry == {key: unicodedata.normalize("NFC", value) for key, value in entry.items()}
        letters.update("".join(entry.values()))
        additions += sum(bool(value) for key, value in entry.items() if key.startswith("addition"))
    assert additions == 5
    for sign in ("ſ", "ꝛ", "ꝰ", "ē", "ō", "ÿ", "\u0364"):
        assert letters[sign], sign


# directories


def rows_of(file: str) -> list[tuple[str, str]]:
    text = (bundled("directories") / "dataset" / file).read_text(encoding="utf-8")
    found = []
    for line in text.removesuffix("\n").split("\n"):
        match = LINE.fullmatch(line)
        assert match is not None, line
        found.append((match[1], match[2]))
    return found


REFERENCE, NOISY, ALL = "41-ner_ref_from_pero/gold.csv", "31-ner_align_pero/gold.csv", "31-ner_align_pero/all.json"
INSIDE = {
    "PER": {"TITRE-H"},
    "DESC": {"ACT", "TITRE-P"},
    "SPAT": {"LOC", "CARDINAL", "FT"},
    "ACT": set(),
    "TITRE": set(),
}


def test_both_readings_have_the_same_tags_and_follow_the_grammar() -> None:
    reference, noisy = rows_of(REFERENCE), rows_of(NOISY)
    assert len(reference) == len(noisy) == 400
    assert [book for _, book in reference] == [book for _, book in noisy]
    assert len({markup for markup, _ in reference}) == 400
    for (clean, _), (read, _) in zip(reference, noisy, strict=True):
        assert re.findall(r"<[^>]*>", clean) == re.findall(r"<[^>]*>", read)
        for markup in (clean, read):
            around: list[str] = []
            for closing, name in re.findall(r"<(/?)([A-Z-]+)>", markup):
                if closing:
                    assert around.pop() == name
                else:
                    assert name in (INSIDE[around[0]] if around else INSIDE)
                    around.append(name)
            assert not around
            assert not re.search(r"<([A-Z-]+)>\s*</\1>", markup)
    changed = sum(clean != read.replace("&apos;", "'") for (clean, _), (read, _) in zip(reference, noisy, strict=True))
    assert 200 < changed < 390


def test_hard_cases_occur() -> None:
    text = "\n".join(markup for markup, _ in rows_of(REFERENCE))
    for pattern in (r"</LOC> <LOC>", r"</SPAT> <SPAT>", r"</TITRE-P> <TITRE-P>", r"\(<TITRE-[HP]>", r"\[[A-Z][^<]*\]"):
        assert re.search(pattern, text), pattern
    counts = Counter(re.findall(r"<([A-Z-]+)>", text))
    assert set(counts) == {*INSIDE, *(child for children in INSIDE.values() for child in children)}
    assert min(counts.values()) >= 8


def test_all_json_holds_the_rows_and_the_dropped() -> None:
    entries = read_json(bundled("directories") / "dataset" / ALL)
    noisy = rows_of(NOISY)
    valid = [(entry["nested_ner_xml"], entry["book"]) for entry in entries if entry["has_valid_ner_xml"]]
    assert valid == noisy
    dropped = [entry for entry in entries if not entry["has_valid_ner_xml"]]
    assert len(dropped) == 8
    assert all(re.search(r"<([A-Z-]+)>\s*</\1>", entry["nested_ner_xml"]) for entry in dropped)
    assert len({entry["id"] for entry in entries}) == 408
    assert len({(entry["book"], entry["page"]) for entry in entries}) == 13


def test_split_leaves_a_book_out() -> None:
    split = read_json(bundled("directories") / "split_indices.json")
    books = [book for _, book in rows_of(REFERENCE)]
    assert sorted(row for part in split.values() for row in part) == list(range(400))
    assert {part: len(rows) for part, rows in split.items()} == {"train": 242, "dev": 26, "test": 132}
    test = {books[row] for row in split["test"]}
    assert len(test) == 1
    assert test.isdisjoint({books[row] for part in ("train", "dev") for row in split[part]})


# all of them as read, and their answers


@pytest.mark.parametrize("task", DATASETS)
@pytest.mark.parametrize("kind", ANSWERS)
def test_every_document_is_answered_once(task: str, kind: str) -> None:
    dataset = load_dataset(task, bundled(task))
    lines = read_lines(f"{task}/{kind}")
    assert sorted(line["document"] for line in lines) == sorted(dataset.documents)
    for line in lines:
        assert sum(key in line for key in ("text", "record", "error")) == 1
        assert line["seconds"] > 0
        assert "error" in line or (line["cost"] > 0 and line["usage"]["output_tokens"] > 0)


def test_readers_take_the_datasets_without_a_repair() -> None:
    for task, documents, units, images in (("letters", 8, 8, 12), ("manuscripts", 4, 4, 4)):
        dataset = load_dataset(task, bundled(task))
        found = dataset.documents.values()
        assert (len(found), len({document.unit for document in found})) == (documents, units)
        assert sum(len(document.images) for document in found) == images
        assert dataset.notes == ()
    for text in ("reference", "ocr"):
        dataset = load_dataset("directories", bundled("directories"), text=text, split="all")
        assert (len(dataset.documents), len({document.unit for document in dataset.documents.values()})) == (400, 13)


@pytest.mark.parametrize("task", DATASETS)
def test_check_finds_no_fault(task: str) -> None:
    assert [fault for fault in check(task, bundled(task)) if fault.error] == []


def scores(task: str, kind: str) -> tuple[float, Counter[str]]:
    """The first headline metric under `documented`, and the reasons of failures."""
    dataset = load_dataset(task, bundled(task))
    scorer = get_task(task).scorer(dataset.context, get_task(task).protocol())
    rows, failures = [], Counter[str]()
    for line in read_lines(f"{task}/{kind}"):
        answer = Answer(
            line["document"],
            text=line.get("text"),
            record=line.get("record"),
            error=line.get("error"),
            finish=line.get("finish"),
        )
        reading = scorer.read(answer)
        if reading.failure:
            failures[reading.failure] += 1
        score = scorer.score(dataset.documents[answer.document].truth, reading)
        assert score is not None
        rows.append((answer.document, score))
    value = scorer.values(rows, np.sum([score.counts for _, score in rows], axis=0))[scorer.headline[0]]
    assert value is not None
    return value, failures


@pytest.mark.parametrize("task", DATASETS)
def test_careful_is_good_and_hasty_is_not(task: str) -> None:
    assert 0.85 < scores(task, "careful")[0] < 0.97
    assert 0.5 < scores(task, "hasty")[0] < 0.75


@pytest.mark.parametrize("task", DATASETS)
def test_answers_fail_for_the_reasons_they_were_written_with(task: str) -> None:
    assert scores(task, "careful")[1] == {}
    # An answer that the provider stopped for its length is cut off, also where all tags before the cut are closed.
    written = {"cut_off": 1} if task != "directories" else {"cut_off": 3, "refused": 3, "provider_error": 3}
    assert scores(task, "hasty")[1] == written


def test_readme_says_that_the_answers_are_invented() -> None:
    text = (HERE / "answers" / "README.md").read_text(encoding="utf-8")
    assert "**They are invented.** No model" in text


# the tool


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(TOOLS))
    return importlib.import_module("make_demo_data")


def test_the_tool_writes_the_same_texts(tool: ModuleType, tmp_path: Path) -> None:
    tool.letters.write_truth(tmp_path / "letters")
    tool.manuscripts.write_truth(tmp_path / "manuscripts")
    tool.answers.write(tmp_path / "answers", tool.directories.write(tmp_path / "directories"))
    written = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    kept = {
        path.relative_to(HERE)
        for path in HERE.rglob("*")
        if path.suffix not in (".jpg", ".py", ".pyc") and path.is_file()
    }
    assert written == kept
    for path in sorted(written):
        assert (tmp_path / path).read_bytes() == (HERE / path).read_bytes(), path


def test_the_tool_draws_the_same_images(tool: ModuleType, tmp_path: Path) -> None:
    drawing = importlib.import_module("demo.drawing")
    if not all((drawing.FONTS / file).is_file() for file in drawing.FACES.values()):
        pytest.skip("the fonts are not installed: tools/make_demo_data.py names their Debian packages")
    here = {"pillow": pillow_version, "freetype2": features.version("freetype2"), "numpy": np.__version__}
    if here != drawing.MADE_WITH:
        pytest.skip(f"the images were made with {drawing.MADE_WITH}")
    tool.letters.write_images(tmp_path / "letters", tool.letters.LETTERS[2:3])
    tool.manuscripts.write_images(tmp_path / "manuscripts", tool.manuscripts.PAGES[3:])
    for name in ("letters/images/letter03_p1.jpg", "manuscripts/images/image_4.jpg"):
        assert (tmp_path / name).read_bytes() == (HERE / name).read_bytes(), name
