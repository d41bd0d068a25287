"""Recorded answers, the replay server, tables of systems, wordings, and what faults mean."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from histeval.datasets.base import Dataset, Document
from histeval.entities.spans import Entry
from histeval.errors import AnswersError, HistevalError, InputError, UsageError
from histeval.runs.folder import read_answers, read_run
from histeval.systems.base import Request, open_system, system_prefixes
from histeval.systems.faults import NO_CREDIT, NOT_ALLOWED, UNKNOWN_MODEL, WRONG_KEY, classify
from histeval.systems.replay import ReplayServer
from histeval.systems.run import run_systems
from histeval.systems.table import read_table
from histeval.systems.wording import load_wording, placeholders
from histeval.tasks import get_task
from histeval.tasks.base import Answer
from systems.letters_for_tests import right_answers, small_letters

TASK = get_task("letters")


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small_letters(tmp_path_factory.mktemp("letters") / "images", 6)


def answers_file(file: Path, dataset: Dataset) -> Path:
    lines = [
        {"document": name, "text": text, "cost": 0.25, "usage": {"input_tokens": 7, "output_tokens": 1}}
        for name, text in right_answers(dataset).items()
    ]
    lines[1] = {"document": "letter0001", "error": "the provider slept"}
    file.write_text("\n".join(json.dumps(line) for line in lines[:5]))
    return file


def test_recorded_answers_are_said_again(letters: Dataset, tmp_path: Path) -> None:
    file = answers_file(tmp_path / "answers.jsonl", letters)
    (result,) = run_systems(TASK, letters, systems=[f"recorded/{file}"], out=tmp_path / "run")
    assert (result.answered, result.failures) == (4, {"provider_error": 1, "missing": 1})
    answers = {answer.document: answer for answer in read_answers(tmp_path / "run")}
    assert answers["letter0000"].text == right_answers(letters)["letter0000"]
    assert answers["letter0000"].cost == 0.25
    assert answers["letter0001"].error == "the provider slept"
    assert answers["letter0005"].error == "missing"
    (again,) = run_systems(TASK, letters, systems=[f"recorded/{file}"], out=tmp_path / "run")
    assert again.asked == 0
    bare = replace(letters, documents={n: replace(d, images=()) for n, d in letters.documents.items()})
    (result,) = run_systems(TASK, bare, systems=[f"recorded/{file}"], out=tmp_path / "bare")
    assert result.answered == 4


def test_one_of_many_recorded_runs_is_chosen(letters: Dataset, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    runs = [{"run_id": f"r/{n}", "model": f"m{n}", "answers": {"letter0000": {"text": str(n)}}} for n in (1, 2)]
    file.write_text("\n".join(json.dumps(run) for run in runs))
    run_systems(TASK, letters, systems=[f"recorded/{file}#r/2"], out=tmp_path / "run", limit=1)
    assert [answer.text for answer in read_answers(tmp_path / "run")] == ["2"]
    assert read_run(tmp_path / "run")["recorded"]["model"] == "m2"
    for name, word in (
        (f"recorded/{file}", "holds 2 runs"),
        (f"recorded/{file}#r/3", "no run 'r/3'"),
        ("recorded/", "path"),
    ):
        with pytest.raises(UsageError, match=word):
            run_systems(TASK, letters, systems=[name], out=tmp_path / "other")
    with pytest.raises(AnswersError):
        run_systems(TASK, letters, systems=[f"recorded/{tmp_path}/absent.jsonl"], out=tmp_path / "other")


def test_the_replay_server_and_the_real_client(letters: Dataset, tmp_path: Path) -> None:
    answers = {name: Answer(name, text=text) for name, text in right_answers(letters).items()}
    answers["letter0003"] = Answer("letter0003", record=json.loads(answers["letter0003"].text or ""))
    del answers["letter0005"]
    with ReplayServer(letters, answers, model="recorded-model") as server:
        settings = {"base_url": server.url, "api_key": "none-needed"}
        (result,) = run_systems(
            TASK, letters, systems=["openai-api/replay/any"], out=tmp_path / "run", settings=settings
        )
    assert (result.answered, result.failures, result.model) == (5, {"provider_error": 1}, "recorded-model")
    found = {answer.document: answer for answer in read_answers(tmp_path / "run")}
    assert found["letter0003"].text == json.dumps(answers["letter0003"].record, ensure_ascii=False)
    assert "no recorded answer" in (found["letter0005"].error or "")
    assert result.notes == ()  # the answer schema was not what it refused
    assert read_run(tmp_path / "run")["structured"] is True


def test_directory_entries_are_asked_by_text(tmp_path: Path) -> None:
    task = get_task("directories")
    entries = {"0": "Dufay, essayeur, r. Neuve 5", "1": "Dufay, essayeur, r. Neuve 55."}
    documents = {name: Document(name, Entry(text, ()), "page", text=text) for name, text in entries.items()}
    dataset = Dataset("directories", "tiny", tmp_path, task.default_description(), documents, {}, "a" * 64)
    answers = {name: Answer(name, text=json.dumps({"xml": f"<PER>{text}</PER>"})) for name, text in entries.items()}
    with ReplayServer(dataset, answers) as server:
        settings = {"base_url": server.url, "api_key": "none-needed"}
        (result,) = run_systems(
            task, dataset, systems=["openai-api/replay/any"], out=tmp_path / "run", settings=settings
        )
    assert result.answered == 2
    found = {answer.document: answer.text for answer in read_answers(tmp_path / "run")}
    assert found == {name: answer.text for name, answer in answers.items()}
    asked = read_run(tmp_path / "run")["asked"]["prompt"]
    for kind in dataset.description.types:
        assert f"<{kind.name}>" in asked


@pytest.mark.parametrize("task", ["letters", "manuscripts", "directories"])
def test_every_task_has_prompt_and_role(task: str) -> None:
    prompt = load_wording(get_task(task), "prompt")
    role = load_wording(get_task(task), "role")
    assert prompt.version == role.version == "1"
    context = type("C", (), {"description": get_task(task).default_description()})()
    schema = get_task(task).record_schema(context)
    filled = prompt.fill({**placeholders(context, schema), "text": "the entry"})
    assert "$" not in filled
    assert "version:" not in filled
    assert len(filled) > 300


def test_a_wording_from_a_file_or_a_dataset(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("version: 3\nRead.\n", encoding="utf-8")
    wording = load_wording(TASK, "prompt", tmp_path / "p.txt", dataset_prompt="ignored")
    assert (wording.name, wording.version, wording.text) == ("p.txt", "3", "Read.")
    assert load_wording(TASK, "prompt", dataset_prompt="From the dataset").text == "From the dataset"
    with pytest.raises(InputError, match="cannot be read"):
        load_wording(TASK, "prompt", tmp_path / "absent.txt")
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read"):
        load_wording(TASK, "prompt", tmp_path / "b.txt")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[[system", "not TOML"),
        ("", "names no system"),
        ("[[system]]\ntemperature = 1", "system 1 has no name|system 1: has no name"),
        ('[[system]]\nname = "a/b"\nmax_connections = 0', "max_connections"),
        ('[[system]]\nname = "a/b"\nbatch = "yes"', "batch"),
        ('[[system]]\nname = "a/b"\nprompt = 3', "prompt"),
        ('systems = 3\n[[system]]\nname = "a/b"', "unknown part 'systems'"),
        ("system = 3", "names no system"),
    ],
)
def test_a_wrong_table_is_one_sentence(tmp_path: Path, text: str, word: str) -> None:
    file = tmp_path / "table.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=word) as caught:
        read_table(file)
    assert "table.toml" in str(caught.value)


class Provider(Exception):
    def __init__(self, status: int | None, words: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(words)
        self.status_code = status
        self.response = type("R", (), {"headers": headers or {}, "status_code": status})()


@pytest.mark.parametrize(
    ("status", "words", "kind", "why"),
    [
        (401, "no", "stop", WRONG_KEY),
        (400, "API key not valid. Please pass a valid API key.", "stop", WRONG_KEY),
        (402, "pay", "stop", NO_CREDIT),
        (400, "Your credit balance is too low", "stop", NO_CREDIT),
        (429, "insufficient_quota", "stop", NO_CREDIT),
        (403, "no access", "stop", NOT_ALLOWED),
        (403, "flagged by moderation", "lasting", "provider error 403"),
        (404, "what?", "stop", UNKNOWN_MODEL),
        (400, "model x does not exist", "stop", UNKNOWN_MODEL),
        (400, "image too large", "lasting", "provider error 400"),
        (400, "'temperature' must be 1", "setting", "setting temperature refused"),
        (422, "budget_tokens is not allowed", "setting", "setting reasoning_tokens refused"),
        (429, "Rate limit: 3 requests per minute, see your billing page", "passing", "rate limit"),
        (
            429,
            "You exceeded your current quota, check plan and billing details. "
            + "x" * 300
            + " GenerateRequestsPerMinute",
            "passing",
            "rate limit",
        ),
        (429, "You exceeded your current quota. Please retry in 31.5s.", "passing", "rate limit"),
        (429, "You exceeded your current quota, please check your plan and billing details.", "stop", NO_CREDIT),
        (500, "oops", "passing", "provider error 500"),
        (529, "overloaded", "passing", "provider error 529"),
        (408, "slow", "passing", "provider error 408"),
    ],
)
def test_what_a_status_means(status: int, words: str, kind: str, why: str) -> None:
    found = classify(Provider(status, words), ["temperature", "reasoning_tokens"])
    assert (found.kind, found.why) == (kind, why)
    assert found.words == (words if len(words) <= 300 else words[:297] + "...")


def test_a_code_counts_as_words_do() -> None:
    fault = Provider(429, "no")
    fault.code = "insufficient_quota"  # type: ignore[attr-defined]
    assert classify(fault).why == NO_CREDIT


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, 0.0),
        ({}, None),
    ],
)
def test_how_long_the_provider_asks_to_wait(headers: dict[str, str], wait: float | None) -> None:
    assert classify(Provider(429, "slow down", headers)).wait == wait


@pytest.mark.parametrize(
    ("fault", "why", "unexpected"),
    [
        (TimeoutError(), "no answer in time", False),
        (ConnectionResetError("reset"), "connection broken", False),
        (json.JSONDecodeError("x", "y", 0), "response cut off", False),
        (TypeError("'NoneType' object is not iterable"), "unexpected response", True),
    ],
)
def test_faults_without_a_status_pass(fault: Exception, why: str, unexpected: bool) -> None:
    found = classify(fault)
    assert (found.kind, found.why, found.unexpected) == ("passing", why, unexpected)


def test_wrapped_faults_are_unpacked() -> None:
    class Attempt:
        def exception(self) -> Exception:
            return Provider(503, "inner")

    class Wrapper(Exception):
        last_attempt = Attempt()

    assert classify(Wrapper()).why == "provider error 503"
    outer = RuntimeError("outer")
    outer.__cause__ = Provider(401, "inner")
    assert classify(outer).why == WRONG_KEY


def test_systems_by_name(letters: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request(TASK, letters)
    for name in ("gpt-4", "", "openai/"):
        with pytest.raises(UsageError, match="names no system"):
            open_system(name, request)
    assert {"tesseract", "recorded", "crf", "bilstm", "crf+bilstm", "transformer"} <= set(system_prefixes())


def test_a_system_of_another_package(letters: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        name = "shout"

        def load(self) -> Any:
            def opened(name: str, request: Request) -> Any:
                class Shout:
                    def __init__(self) -> None:
                        self.name = f"shout/{name}"

                    def answer(self, document: Document, repeat: int = 0) -> Answer:
                        return Answer(document.id, record={"metadata": {"send_date": [name]}})

                return Shout()

            return opened

    class Broken(Point):
        name = "broken"

        def load(self) -> Any:
            raise ImportError("nothing there")

    monkeypatch.setattr("histeval.systems.base.entry_points", lambda group: [Point(), Broken()])
    (result,) = run_systems(TASK, letters, systems=["shout/1926-01-01"], out=tmp_path / "run")
    assert result.complete
    with pytest.raises(HistevalError, match="cannot be loaded"):
        open_system("broken/x", Request(TASK, letters))


def test_in_a_notebook_an_event_loop_is_running_already(letters: Dataset, tmp_path: Path) -> None:
    import asyncio

    file = answers_file(tmp_path / "answers.jsonl", letters)

    async def cell() -> Any:
        return run_systems(TASK, letters, systems=[f"recorded/{file}"], out=tmp_path / "run")

    (result,) = asyncio.run(cell())
    assert result.answered == 4
