"""Bad inputs, and what each gets: one clear sentence, exit status 2 where a file cannot be read or the use is wrong;
a named failure and status 0 where only one answer is bad; what is merely unusual is scored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from histeval.cli.app import INTERNAL, run
from samples import PERSONS, RIGHT, write_answers, write_letters


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place with a dataset of letters and right answers to it."""
    write_letters(tmp_path / "letters")
    write_answers(tmp_path / "answers.jsonl")
    return tmp_path


def bad_answers(content: str | bytes) -> Callable[[Path], list[str]]:
    """A command that scores a file of answers with this content."""

    def prepare(folder: Path) -> list[str]:
        file = folder / "bad.jsonl"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return ["score", "letters", str(folder / "letters"), str(file)]

    return prepare


def bad_truth(change: Callable[[Path], Any]) -> Callable[[Path], list[str]]:
    """A command that scores against a dataset that `change` has spoilt."""

    def prepare(folder: Path) -> list[str]:
        change(folder / "letters" / "ground_truths")
        return ["score", "letters", str(folder / "letters"), str(folder / "answers.jsonl")]

    return prepare


def words(*arguments: str) -> Callable[[Path], list[str]]:
    """A command line; {here} is the folder."""
    return lambda folder: [argument.format(here=folder) for argument in arguments]


SCORE = ("score", "letters", "{here}/letters", "{here}/answers.jsonl")
LINE = '{"document": "letter01", "record": {}}\n'


def columns(folder: Path) -> list[str]:
    """A command that scores token columns as letters."""
    (folder / "a.conll").write_text("x O\n", encoding="utf-8")
    return ["score", "letters", str(folder / "letters"), str(folder / "a.conll")]


def remove(name: str) -> Callable[[Path], None]:
    return lambda truth: (truth / name).unlink()


def replace(name: str, content: bytes) -> Callable[[Path], Any]:
    return lambda truth: (truth / name).write_bytes(content)


REFUSED: dict[str, tuple[Callable[[Path], list[str]], str]] = {
    # files that cannot be read
    "an empty file": (bad_answers(""), "is empty"),
    "only blank lines": (bad_answers("\n\n\n"), "is empty"),
    "not UTF-8": (bad_answers(b'{"document": "letter01", "text": "\xe4"}'), "line 1: is not UTF-8"),
    "UTF-16 with mark": (bad_answers(LINE.encode("utf-16")), "is UTF-16, not UTF-8"),
    "UTF-16 without mark": (bad_answers(LINE.encode("utf-16-le")), "is UTF-16, not UTF-8"),
    "a picture": (bad_answers(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01"), "bad.jsonl"),
    "a truncated line": (bad_answers(LINE + '{"document": "letter02", "rec'), "line 2: is not JSON"),
    "a line that is a list": (bad_answers("[]\n"), "line 1: is not an object"),
    "one JSON over many lines": (bad_answers('{\n"document": "letter01"\n}'), "line 1: is not JSON"),
    "a duplicate document": (bad_answers(LINE * 2), "line 2: document 'letter01' is answered a second time"),
    "no document": (bad_answers('{"text": ""}'), 'line 1: has no "document"'),
    "a document that is null": (bad_answers('{"document": null, "text": ""}'), 'has no "document"'),
    "an answer of nothing": (bad_answers('{"document": "letter01"}'), 'neither "text" nor "record" nor "error"'),
    "a line of 100 MB": (bad_answers(b'{"text": "' + b"a" * 100_000_000 + b'"}'), "longer than"),
    "deeply nested JSON": (bad_answers('{"document": "letter01", "record": ' + "[" * 100_000), "line 1"),
    "a number of 5000 digits": (bad_answers('{"document": ' + "9" * 5000 + ', "text": ""}'), "line 1"),
    "a run without answers": (bad_answers('{"run_id": "a"}'), 'neither "answers" nor "pages"'),
    "a run twice": (bad_answers('{"run_id": "a", "answers": {}}\n' * 2), "holds the run 'a' twice"),
    "a folder without answers": (words(*SCORE[:3], "{here}/letters"), "holds no answers"),
    "no such file": (words(*SCORE[:3], "{here}/nothing.jsonl"), "no such file"),
    "a name with a NUL": (words(*SCORE[:3], "{here}/a\0b.jsonl"), "cannot be"),
    "a device": (words(*SCORE[:3], "/dev/zero"), "/dev/zero"),
    "columns for letters": (columns, "not letters"),
    # datasets that cannot be read
    "no such dataset": (words("score", "letters", "{here}/nothing", "{here}/answers.jsonl"), "nothing"),
    "a file as dataset": (words("score", "letters", "{here}/answers.jsonl", "{here}/answers.jsonl"), "answers.jsonl"),
    "no persons file": (bad_truth(remove("persons.json")), "persons"),
    "truth that is not JSON": (bad_truth(replace("letter01.json", b"{")), "letter01.json"),
    "truth that is a list": (bad_truth(replace("letter01.json", b"[]")), "letter01.json"),
    "truth in UTF-16": (bad_truth(replace("letter01.json", "{}".encode("utf-16"))), "UTF-16"),
    "persons that are text": (bad_truth(replace("persons.json", b'"x"')), "persons.json"),
    "another task's dataset": (words("score", "manuscripts", "{here}/letters", "{here}/answers.jsonl"), "letters"),
    # wrong use
    "no such command": (words("scoer"), "scoer"),
    "no such task": (words("score", "lettres", *SCORE[2:]), "there is no task 'lettres'"),
    "no such protocol": (words(*SCORE, "--protocol", "official"), "official"),
    "no such rule": (words(*SCORE, "--set", "colour=red"), "has no rule 'colour'"),
    "a rule without value": (words(*SCORE, "--set", "dates"), "NAME=VALUE"),
    "a switch that is no switch": (words(*SCORE, "--set", "skip_signatures=yes"), "true or false"),
    "rules that contradict": (
        words(*SCORE, "--set", "skip_signatures=true", "--set", "skip_non_signatures=true"),
        "skip_",
    ),
    "a name twice in a rule": (words(*SCORE, "--set", "fields=date+date"), "names 'date' twice"),
    "the task left out": (words("score", *SCORE[2:]), "The task comes first: histeval score letters|"),
    "the task left out of a comparison": (words("compare", SCORE[2], SCORE[3]), "The task comes first"),
    "no answers after the equals sign": (words("overview", f"{SCORE[2]}="), "after the equals sign"),
    "the text of no directory": (
        words("overview", f"{SCORE[2]}={SCORE[3]}", "--text", "ocr"),
        "--text belongs to the task directories",
    ),
    "a rule twice": (words(*SCORE, "--set", "dates=text", "--set", "dates=value"), "names 'dates' twice"),
    "no such attribute": (words(*SCORE, "--where", "ink=red"), "no attribute 'ink'"),
    "nothing selected": (words(*SCORE, "--where", "signed=perhaps"), "nothing to score"),
    "no such unit": (words(*SCORE, "--unit", "shelf"), "shelf"),
    "a document that is not there": (words(*SCORE, "--documents", "letter01,letter99"), "letter99"),
    "an empty list of documents": (words(*SCORE, "--documents", ","), "names no document"),
    "per document in a table": (words(*SCORE, "--per-document"), "--format json"),
    "a split for letters": (words(*SCORE, "--split", "test"), "--split belongs to the task directories"),
    "no such metric": (words(*SCORE, "--metrics", "bleu"), "no metric 'bleu'"),
    "no answers at all": (words(*SCORE[:3]), "ANSWERS"),
    "one run to compare": (words("compare", *SCORE[1:]), "at least two runs"),
    "a run compared with itself": (words("compare", *SCORE[1:], SCORE[3]), "given twice"),
    "a baseline that is not there": (
        lambda folder: ["compare", "letters", str(folder / "letters"), str(folder / "answers.jsonl"),
                        str(write_answers(folder / "b.jsonl")), "--baseline", "c"],
        "baseline",
    ),
    "a dataset to get that is not there": (words("get", "war_diaries", "--to", "{here}/x"), "war_diaries"),
    "an import of nothing": (words("import", "letters", "{here}/a.csv", "{here}/b.csv", "--out", "{here}/x"), "a.csv"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_one_sentence(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prepare, expected = REFUSED[case]
    status = run(prepare(folder))
    out, said = capsys.readouterr()
    assert (status, out) == (2, "")
    assert said.startswith("histeval: ")
    assert said.count("\n") == 1
    assert expected in said
    assert "Traceback" not in said
    assert INTERNAL not in said
    assert len(said) < 1000


FAILURES: dict[str, tuple[str, str]] = {
    "an empty text": ('{"document": "letter01", "text": ""}', "empty"),
    "prose": ('{"document": "letter01", "text": "I see a letter."}', "not_json"),
    "a number": ('{"document": "letter01", "record": 7}', "wrong_shape"),
    "a refusal": (
        '{"document": "letter01", "text": "I\'m sorry, but I cannot help with identifying people."}',
        "refused",
    ),
    "an error": ('{"document": "letter01", "error": "502 bad gateway"}', "provider_error"),
    "cut off": ('{"document": "letter01", "text": "{\\"send_date\\": [\\"1931", "finish": "length"}', "cut_off"),
    "nested too deep": ('{"document": "letter01", "text": "%s"}' % ("[" * 100_000), ""),
    "a record of the wrong kind": ('{"document": "letter01", "record": ["a", ["b"]]}', "wrong_shape"),
    "wrong keys": ('{"document": "letter01", "text": "{\\"date\\": \\"1931\\", \\"senders\\": []}"}', "wrong_shape"),
    "pasted with wrong keys": ('{"document": "letter01", "text": "{„date“: „1931“}"}', "wrong_shape"),
    "pasted and cut off": ('{"document": "letter01", "text": "> {\\n> “send_date”: “19"}', "cut_off"),
    "quotes that leave a choice": ('{"document": "letter01", "text": "{“send_date”: “5” Rohr”}"}', "not_json"),
    "a list with another key": (
        '{"document": "letter01", "text": "- **send_date:** 1931\\n- **mood:** grave\\n- **sender_persons:** K. Holm"}',
        "wrong_shape",
    ),
    "for ever": ('{"document": "letter01", "text": "%s"}' % ("Item, " * 20_000), "runaway"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_one_bad_answer_is_a_named_failure(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line, reason = FAILURES[case]
    rest = [json.dumps({"document": name, "record": RIGHT[name]}) for name in ("letter02", "letter03")]
    file = folder / "bad.jsonl"
    file.write_text("\n".join([line, *rest]), encoding="utf-8")
    status = run(["score", "letters", str(folder / "letters"), str(file), "--format", "json", "--per-document"])
    out, said = capsys.readouterr()
    assert (status, said) == (0, "")
    result = json.loads(out)
    failure = result["per_document"]["letter01"]["failure"]
    assert failure == reason if reason else failure is not None
    assert (result["documents"], result["failed"]) == (3, 1)


UNUSUAL: dict[str, dict[str, Any]] = {
    "NaN in a record": {"send_date": [float("nan")], "sender_persons": ["K. Holm"]},
    "a right-to-left name": {"sender_persons": ["שלום כהן", "K. Holm"]},
    "direction signs in a name": {"sender_persons": ["\u202eK. Holm\u202c", "K. Holm"]},
    "private-use signs": {"sender_persons": ["\ue8b3 \uf1ac", "K. Holm"]},
    "control characters": {"sender_persons": ["K.\x07 Holm\x00", "K. Holm"]},
    "a lone surrogate": {"sender_persons": ["\ud800", "K. Holm"]},
    "an emoji": {"sender_persons": ["👩‍🚀", "K. Holm"]},
    "unknown keys": {"sender_persons": ["K. Holm"], "mood": "grave"},
    "a scalar for a list": {"sender_persons": "K. Holm"},
}


@pytest.mark.parametrize("case", UNUSUAL)
def test_what_is_merely_unusual_is_scored(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_answers(folder / "odd.jsonl", {**RIGHT, "letter01": UNUSUAL[case]})
    command = ["score", "letters", str(folder / "letters"), str(file)]
    assert run([*command, "--format", "json", "--per-document"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["per_document"]["letter01"]["failure"] is None
    assert result["per_document"]["letter01"]["counts"]["sender_persons_tp"] == 1
    assert run(command) == 0
    assert "\x07" not in capsys.readouterr().out


PASTED = {
    "typographic quotes": "{„send_date“: [„1931-05-04“], „sender_persons“: [„K. Holm“]}",
    "line numbers": '1 {\n2   "send_date": "1931-05-04",\n3   "sender_persons": ["K. Holm"]\n4 }',
    "quoted lines": '> {\n> "send_date": "1931-05-04",\n> "sender_persons": ["K. Holm"]\n> }',
    "HTML entities": json.dumps({"send_date": "1931-05-04", "sender_persons": ["K. Holm"]}).replace('"', "&quot;"),
    "a list in bold": "- **send_date:** 1931-05-04\n- **sender_persons:** K. Holm",
    "a table": "| field | value |\n|---|---|\n| send_date | 1931-05-04 |\n| sender_persons | K. Holm |",
}


@pytest.mark.parametrize("case", PASTED)
def test_what_was_pasted_from_a_chat_window_is_scored(
    case: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_answers(folder / "pasted.jsonl", {"letter01": PASTED[case]}, key="text")
    command = ["score", "letters", str(folder / "letters"), str(file), "--format", "json", "--per-document"]
    assert run(command) == 0
    scored = json.loads(capsys.readouterr().out)["per_document"]["letter01"]
    assert scored["failure"] is None
    assert (scored["counts"]["send_date_tp"], scored["counts"]["sender_persons_tp"]) == (1, 1)


def test_xml_with_entities_opens_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "secret").write_text("the secret")
    from histeval.datasets.bundled import bundled

    lines = bundled("directories/careful").read_text(encoding="utf-8").split("\n")
    name = json.loads(lines[0])["document"]
    xml = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{tmp_path}/secret"><!ENTITY y "&x;&x;">]><PER>&x;&y;</PER>'
    lines[0] = json.dumps({"document": name, "text": xml})
    file = tmp_path / "entities.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert (
        run(["score", "directories", str(bundled("directories")), str(file), "--format", "json", "--per-document"]) == 0
    )
    assert "the secret" not in capsys.readouterr().out


def test_an_unreadable_file(folder: Path) -> None:
    """Permission is not a matter for root, so the test asks as another user."""
    file = folder / "answers.jsonl"
    file.chmod(0)
    command = [sys.executable, "-m", "histeval", "score", "letters", str(folder / "letters"), str(file)]
    if os.geteuid() == 0:
        for place in [folder, *folder.parents]:
            if place.owner() == "root" and place != Path(place.anchor) and not place.stat().st_mode & 0o005:
                place.chmod(place.stat().st_mode | 0o055)
        command = ["setpriv", "--reuid=65534", "--clear-groups", *command]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "HOME": str(folder)})
    assert done.returncode == 2, done.stderr
    assert "permission is missing" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here to stand for a full disk")
def test_a_full_disk_is_said(folder: Path) -> None:
    command = [sys.executable, "-m", "histeval", *(word.format(here=folder) for word in SCORE), "--format", "json"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert "the disk is full" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_import_on_a_full_disk_leaves_nothing_half_written(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    header = "transkribus_id,document_number,send_date,letter_title,sender_persons,receiver_persons,has_signatures\n"
    (folder / "letters.csv").write_text(header + '1,01,1931-05-04,None,"Holm, Karin",None,TRUE\n')
    (folder / "persons.csv").write_text(
        "identifier_propertyID,identifier_value,name,alternateName,birthDate,deathDate,description,job_name,"
        "job_startDate,job_endDate,employer_name,employer_identifier_propertyID,employer_identifier_value,"
        'citation_name,citation_url,comment\nlocal,P1,"Holm, Karin",,,,,,,,,,,,,\n'
    )

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    status = run(
        ["import", "letters", str(folder / "letters.csv"), str(folder / "persons.csv"), "--out", str(folder / "new")]
    )
    assert status == 2
    assert "the disk is full" in capsys.readouterr().err
    left = [place for place in (folder / "new").rglob("*") if place.is_file()] if (folder / "new").exists() else []
    assert left == []


def test_names_of_persons_is_what_the_dataset_needs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(PERSONS) == 3
    assert run([word.format(here=folder) for word in SCORE]) == 0
    assert "n=3" in capsys.readouterr().out
