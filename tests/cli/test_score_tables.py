"""Tables for people: no number is lost in a narrow terminal, failures have reasons, pipes may close early."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from histeval.cli.app import run
from histeval.datasets.bundled import bundled
from samples import RIGHT, write_answers, write_letters
from terminals import in_terminal


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
@pytest.mark.parametrize("task", ["letters", "directories"])
def test_no_number_is_lost_at_any_width(task: str, columns: int) -> None:
    answers = [str(bundled(f"{task}/{kind}")) for kind in ("careful", "hasty")]
    printed = in_terminal(columns, "score", task, str(bundled(task)), *answers)
    wide = in_terminal(250, "score", task, str(bundled(task)), *answers)
    numbers = re.findall(r"\d\.\d{3}(?!\d)", wide)
    assert len(numbers) >= 12
    assert sorted(re.findall(r"\d\.\d{3}(?!\d)", printed)) == sorted(numbers)
    assert "…" not in printed


def test_comparisons_fit_a_narrow_terminal() -> None:
    answers = [str(bundled(f"letters/{kind}")) for kind in ("careful", "hasty")]
    printed = in_terminal(60, "compare", "letters", str(bundled("letters")), *answers)
    assert "minus" in printed
    assert "told apart" in " ".join(printed.split())
    assert "…" not in printed


def test_failures_are_named_with_their_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = write_letters(tmp_path / "letters")
    answers = write_answers(tmp_path / "a.jsonl", {name: RIGHT[name] for name in ("letter01", "letter02")})
    assert run(["score", "letters", str(data), str(answers)]) == 0
    assert f"failed {answers}: 1 missing" in capsys.readouterr().out


def test_the_signature_comes_last_and_runs_are_not_numbered(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score", "letters", str(bundled("letters")), str(bundled("letters/careful"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("letters|documented|demo_letters@")
    assert lines[1].lstrip().startswith("/") or lines[1].startswith(str(bundled("letters/careful"))[:10])


def test_a_reader_that_has_enough_is_no_fault(tmp_path: Path) -> None:
    command = f"{sys.executable} -m histeval tasks | head -1; echo status ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert "status 0" in done.stdout
    assert done.stderr == ""


def notes_of(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith(("note ", "failed ", "UNUSABLE "))]


def test_what_is_said_of_a_group_names_the_group(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = write_letters(tmp_path / "letters")
    files = [
        write_answers(tmp_path / "a.jsonl", {name: RIGHT[name] for name in ("letter01", "letter03")}),
        write_answers(tmp_path / "b.jsonl"),
    ]
    assert run(["score", "letters", str(data), *map(str, files), "--by", "signed"]) == 0
    lines = notes_of(capsys.readouterr().out)
    # signed letters have both answers; the one that is not signed has none in a.jsonl
    assert f"failed {files[0]}, signed false: 1 missing" in lines
    few = [line for line in lines if "sampling unit" in line]
    assert [re.sub(r"^.*\((?=/)", "", line) for line in few] == [
        f"{files[0]}, signed true, {files[1]}, signed true)",
        f"{files[0]}, signed false, {files[1]}, signed false)",
    ]
    assert run(["score", "letters", str(data), *map(str, files), "--by", "document"]) == 0
    every = [line for line in notes_of(capsys.readouterr().out) if "sampling unit" in line]
    assert every == ["note only one sampling unit (document): from one alone there is neither an interval nor a test"]


@pytest.mark.parametrize(("unit", "title"), [("page", "pages"), ("book", "units (book)"), ("year", "units (year)")])
def test_the_column_of_units_is_a_word(unit: str, title: str, capsys: pytest.CaptureFixture[str]) -> None:
    task = "letters" if unit == "year" else "directories"
    assert run(["score", task, str(bundled(task)), str(bundled(f"{task}/careful")), "--unit", unit]) == 0
    assert f" {title} " in capsys.readouterr().out


def test_an_example_of_a_failure_is_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = write_letters(tmp_path / "letters")
    file = tmp_path / "a.jsonl"
    lines = ['{"document": "letter01", "error": "429: too many requests"}', '{"document": "letter02", "text": "no"}']
    file.write_text("\n".join([*lines, '{"document": "letter03", "error": "429: too many requests"}']))
    assert run(["score", "letters", str(data), str(file)]) == 0
    lines = notes_of(capsys.readouterr().out)
    assert f"failed {file}, letter01: provider_error: 429: too many requests" in lines
    # a reason that its name says already is not told again
    file.write_text("\n".join(f'{{"document": "letter0{number}", "error": "refused"}}' for number in (1, 2, 3)))
    assert run(["score", "letters", str(data), str(file)]) == 0
    assert not [line for line in notes_of(capsys.readouterr().out) if ", letter0" in line]


def test_a_plain_transcription_is_told_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"document": "image_1", "text": "Vnd ein pferit die mir"}\n')
    assert run(["score", "manuscripts", str(bundled("manuscripts")), str(file)]) == 0
    assert "`histeval import transcription FILE --answers ANSWERS.jsonl`" in capsys.readouterr().out
