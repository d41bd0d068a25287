"""Several systems in one command: mistakes are said before anything is paid, no two share a folder or a note."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from histeval.cli.asking import report
from histeval.datasets.base import Dataset
from histeval.errors import UsageError
from histeval.runs.folder import RunFolder, read_lines, read_run
from histeval.systems import pace
from histeval.systems.progress import RunResult
from histeval.systems.run import run_systems
from histeval.systems.run_folders import LONGEST, run_folders
from histeval.systems.table import Asked
from histeval.tasks import get_task
from systems.letters_for_tests import page_files, right_answers, small_letters
from systems.servers import Fault, ModelServer

KEY = "k3y-that-must-never-be-written"
LETTERS = get_task("letters")


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small_letters(tmp_path_factory.mktemp("letters") / "images", 14)


@pytest.fixture
def server(letters: Dataset, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setattr(pace, "WAITS", (0.02, 0.1, 2.0))
    with ModelServer(right_answers(letters), page_files(letters), key=KEY) as running:
        for name, address in (("LOCAL", running.url + "/v1"), ("ANTHROPIC", running.url)):
            monkeypatch.setenv(f"{name}_API_KEY", KEY)
            monkeypatch.setenv(f"{name}_BASE_URL", address)
        yield running


def table(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "models.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('name = "openai-api/local/b"\ntemprature = 0.1', "did you mean temperature"),
        ('name = "openai-api/local/b"\ntemperature = "hot"', "temperature is wrong"),
        ('name = "openai-api/local/b"\nbase_url = 5', "base_url is an address"),
        ('name = "openai-api/local/b"\nmax_image_side = "big"', "max_image_side is a whole number"),
        ('name = "openai-api/local/b"\nstructured = "no"', "structured is true or false"),
        ('name = "recorded/none.jsonl"', "there is no such file"),
        ('name = "gpt"', "names no system"),
    ],
)
def test_a_mistake_in_a_later_row_is_said_before_the_first_is_asked(
    letters: Dataset, server: ModelServer, tmp_path: Path, row: str, words: str
) -> None:
    config = table(
        tmp_path, f'[[system]]\nname = "openai-api/local/a"\n[[system]]\n{row}\n[[system]]\nname = "plain"\n'
    )
    with pytest.raises(UsageError) as caught:
        run_systems(LETTERS, letters, config=config, out=tmp_path / "runs")
    sentence = str(caught.value)
    assert f"{config}, system 2" in sentence
    assert words in sentence
    assert f"{config}, system 3 (plain)" in sentence  # all mistakes at once
    assert not server.asked
    assert not (tmp_path / "runs").exists()


def test_a_folder_that_is_taken_does_not_keep_the_other_systems_from_being_asked(
    letters: Dataset, server: ModelServer, tmp_path: Path
) -> None:
    config = table(tmp_path, '[[system]]\nname = "openai-api/local/a"\n[[system]]\nname = "openai-api/local/b"\n')
    run_systems(LETTERS, letters, config=config, out=tmp_path / "runs")
    config.write_text(config.read_text().replace('local/a"', 'local/a"\ntemperature = 0.5'))
    first, second = run_systems(LETTERS, letters, config=config, out=tmp_path / "runs")
    assert first.fault is not None
    assert "holds another run" in first.fault
    assert second.complete


def test_each_run_notes_what_inspect_left_out(letters: Dataset, server: ModelServer, tmp_path: Path) -> None:
    """Inspect AI says once in a process that it sends no temperature to Anthropic."""
    server.keep_bodies = True
    names = [f"anthropic/claude-none-{number}" for number in range(3)]
    results = run_systems(LETTERS, letters, systems=names, out=tmp_path, settings={"temperature": 0.0}, limit=2)
    notes = [read_run(str(result.folder))["notes"] for result in results]
    assert server.bodies
    assert not any("temperature" in body for body in server.bodies)
    assert all("temperature" in " ".join(found) for found in notes), notes


def test_where_all_is_turned_down_the_run_stops_and_asks_again_later(
    letters: Dataset, server: ModelServer, tmp_path: Path
) -> None:
    """A model without eyes turns every document down in the same words: the request is at fault, and can be mended."""
    server.script = lambda document, attempt, number: Fault("status", 400, {}, "image_url is not supported")
    (first,) = run_systems(LETTERS, letters, systems=["openai-api/local/a"], out=tmp_path / "a", max_connections=2)
    assert first.fault is not None
    assert "the first 10 documents were turned down in the same words" in first.fault
    assert "image_url is not supported" in first.fault
    assert sum(server.asked.values()) <= 13  # 10 documents, the one that was asked without the schema, 2 on their way
    assert first.unanswered == 14
    server.script = None
    (second,) = run_systems(LETTERS, letters, systems=["openai-api/local/a"], out=tmp_path / "a")
    assert (second.complete, second.asked) == (True, 14)


def test_one_document_that_is_turned_down_has_failed(letters: Dataset, server: ModelServer, tmp_path: Path) -> None:
    small = Fault("status", 400, {}, "the image is too small")
    server.script = lambda document, attempt, number: small if document == "letter0007" else None
    for _ in range(2):
        (result,) = run_systems(LETTERS, letters, systems=["openai-api/local/a"], out=tmp_path / "a", max_connections=1)
        assert (result.answered, result.unanswered, dict(result.failures)) == (13, 0, {"provider_error": 1})
    assert server.asked["letter0007"] == 2  # with the schema and without


def test_an_answer_that_never_began_is_asked_again(
    letters: Dataset, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body without choices, as of a stream that ended early, is not an empty answer of the model."""
    from systems import servers

    whole = servers.reply

    def without_choices(*arguments: Any, **options: Any) -> dict[str, Any]:
        return {**whole(*arguments, **options), "choices": []}

    monkeypatch.setattr(servers, "reply", without_choices)
    prices = tmp_path / "prices.toml"
    prices.write_text('[[price]]\nmodel = "a"\ninput = 1.0\noutput = 1.0\n')
    options = {"systems": ["openai-api/local/a"], "out": tmp_path / "a", "limit": 2, "prices": prices}
    (first,) = run_systems(LETTERS, letters, **options)
    assert (first.unanswered, dict(first.failures)) == (2, {"provider_error": 2})
    assert first.cost == pytest.approx(2 * 1050 / 1e6)  # it was paid
    monkeypatch.setattr(servers, "reply", whole)
    (second,) = run_systems(LETTERS, letters, **options)
    assert second.complete
    assert second.cost == pytest.approx(4 * 1050 / 1e6)
    assert len(list(read_lines(tmp_path / "a"))) == 2


def test_the_limit_of_cost_says_what_an_answer_is_reckoned_at(
    letters: Dataset, server: ModelServer, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[[price]]\nmodel = "a"\ninput = 0.0\noutput = 100.0\n')
    (result,) = run_systems(
        LETTERS, letters, systems=["openai-api/local/a"], out=tmp_path / "a", prices=prices, max_cost=0.05
    )
    assert result.stopped == "max_cost: $0.0000 are spent, and one more answer may cost up to $0.1000"
    assert not server.asked


def test_a_system_that_cannot_be_opened_names_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    report([RunResult("nosuch/model", None, total=3, fault="cannot be asked")])
    output = capsys.readouterr()
    assert output.out.strip() == "nosuch/model: 0 of 3 answered; 0 asked now, cost unknown"
    assert output.err == "histeval: nosuch/model: cannot be asked\n"


NAMES = [
    "openai-api/local/模型一", "openai-api/local/模型二", "a/b", "a_b", "a b", "a/B", "x/" + "n" * 200 + "1",
    "x/" + "n" * 200 + "2", "x/" + "模" * 90 + "1", "x/" + "模" * 90 + "2", "é", "é",
]  # fmt: skip


def folders(names: list[str], out: Path) -> list[Path]:
    return run_folders([Asked(name) for name in names], out, default=True)


@given(st.permutations(NAMES))
def test_two_systems_never_share_a_folder_in_whatever_order(names: list[str]) -> None:
    out = Path("nowhere")
    places = folders(names, out)
    assert len({str(place).casefold() for place in places}) == len(names)
    assert dict(zip(names, places, strict=True)) == dict(zip(NAMES, folders(NAMES, out), strict=True))
    assert all(place.parent == out and len(place.name.encode()) <= LONGEST + 9 for place in places)


def test_a_folder_of_another_system_is_left_to_it(tmp_path: Path) -> None:
    def start(name: str) -> Path:
        (place,) = folders([name], tmp_path)
        with RunFolder(place, {"task": "letters", "system": name}):
            return place

    first, second = start("m/a_b"), start("m/a/b")
    assert first.name == "m_a_b"
    assert second.name.startswith("m_a_b-")
    assert (start("m/a/b"), start("m/a_b")) == (second, first)
    assert folders(["m/a/b", "m/a_b", "m/a/b"], tmp_path)[:2] == [second, first]
    assert folders(["m/c", "m/c"], tmp_path) == [tmp_path / "m_c", tmp_path / "m_c-2"]
