"""Every page of docs/starting is run as it stands: its commands, in a folder with the files it speaks of.

A block `console` holds commands after `$ ` and, below each, what it prints; a line `...` stands for any lines, `...`
inside a line for any text, and a command without lines below it may print anything. A block with a file name after its
language is a file that the reader writes.
"""

from __future__ import annotations

import re
import shlex
import shutil
import time
from pathlib import Path

import pytest

from docs_starting_files import MAKERS
from histeval.cli.app import run

PAGES = sorted((Path(__file__).resolve().parents[1] / "docs" / "starting").glob("*.md"))
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def steps(page: Path) -> list[tuple[str, str, list[str]]]:
    """The steps of a page: ("write", file, lines) and ("run", command, lines it should print)."""
    found: list[tuple[str, str, list[str]]] = []
    for language, file, body in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if file:
            found.append(("write", file, body.splitlines()))
        elif language == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, *lines = part.rstrip("\n").split("\n")
                found.append(("run", command, lines))
    return found


def pattern(lines: list[str]) -> str:
    """A regular expression for what a command should print."""
    parts = []
    for line in lines:
        inner = ".*".join(re.escape(part.rstrip()) for part in re.split(r"\.\.\.", line))
        parts.append(r"(?:.*\n)*?" if line == "..." else inner + r"[ \t]*\n")
    return "".join(parts)


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_page_runs_as_it_stands(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replaced = MAKERS[page.stem](tmp_path)
    monkeypatch.chdir(tmp_path)
    started = time.monotonic()
    taken = steps(page)
    assert sum(kind == "run" for kind, _, _ in taken) >= 4
    for kind, what, lines in taken:
        if kind == "write":
            Path(what).parent.mkdir(parents=True, exist_ok=True)
            Path(what).write_text("\n".join(lines) + "\n", encoding="utf-8")
            continue
        for old, new in replaced.items():
            what = what.replace(old, new)
        program, *words = shlex.split(what)
        capsys.readouterr()
        if program == "cat":
            printed = "".join(Path(word).read_text(encoding="utf-8") for word in words)
        elif program == "cp":
            shutil.copy(*words)
            printed = ""
        else:
            assert program == "histeval", what
            status = run(words)
            out = capsys.readouterr()
            printed = out.out
            for old, new in replaced.items():
                printed = printed.replace(new, old)
            assert status == 0, f"{what}\n{printed}{out.err}"
        if lines:
            assert re.fullmatch(pattern(lines), printed), f"$ {what}\n{printed}"
    leads_to_the_leaderboard(taken)
    assert time.monotonic() - started < 60


def leads_to_the_leaderboard(taken: list[tuple[str, str, list[str]]]) -> None:
    """The last command of a page makes the leaderboard in a folder, with every run that it names."""
    program, verb, runs, option, out = shlex.split(taken[-1][1])
    assert (program, verb, option) == ("histeval", "overview", "--out")
    page = Path(out, "index.html").read_text(encoding="utf-8")
    for run_name in runs.partition("=")[2].split(","):
        assert Path(run_name).stem in page


def test_every_page_has_files_and_every_files_have_a_page() -> None:
    assert {page.stem for page in PAGES} == set(MAKERS)
