"""Asking under faults: every document ends answered or failed with a reason, nothing is lost, nothing paid twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from histeval.datasets.base import Dataset
from histeval.errors import UsageError
from histeval.runs.folder import read_answers, read_lines, read_run
from histeval.systems import pace
from histeval.systems.progress import Progress, RunResult
from histeval.systems.run import run_systems
from histeval.tasks import get_task
from histeval.tasks.base import FAILURES, Answer
from systems.letters_for_tests import page_files, right_answers, small_letters
from systems.servers import Fault, ModelServer, Script

KEY = "k3y-that-must-never-be-written"
TASK = get_task("letters")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "WAITS", (0.02, 0.1, 2.0))


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small_letters(tmp_path_factory.mktemp("letters") / "images", 200)


def part(dataset: Dataset, number: int) -> Dataset:
    documents = dict(list(dataset.documents.items())[:number])
    return Dataset(
        dataset.task,
        dataset.name,
        dataset.path,
        dataset.description,
        documents,
        dataset.authorities,
        dataset.fingerprint,
    )


@pytest.fixture
def serve(letters: Dataset, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    servers: list[ModelServer] = []

    def start(script: Script | None = None, **options: Any) -> ModelServer:
        server = ModelServer(right_answers(letters), page_files(letters), script=script, key=KEY, **options)
        servers.append(server)
        server.__enter__()
        monkeypatch.setenv("LOCAL_API_KEY", KEY)
        monkeypatch.setenv("LOCAL_BASE_URL", server.url + "/v1")
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        return server

    yield start
    for server in servers:
        server.__exit__()
        assert server.problems == []


def ask(dataset: Dataset, out: Path, system: str = "openai-api/local/m", **options: Any) -> RunResult:
    (result,) = run_systems(TASK, dataset, systems=[system], out=out, **options)
    return result


def written(out: Path) -> str:
    return "".join(file.read_text(encoding="utf-8") for file in out.rglob("*") if file.is_file())


FAULTS = [
    Fault("status", 429, {"retry-after": "0.05"}, "slow down"),
    Fault("status", 429, {}, "Rate limit reached for requests per minute"),
    Fault("status", 500),
    Fault("status", 503, {"retry-after": "0"}),
    Fault("status", 529, {}, "overloaded_error"),
    Fault("drop"),
    Fault("half"),
    Fault("broken"),
]
RESULTS = {
    "prose": "not_json",
    "refusal": "refused",
    "wrong_shape": "wrong_shape",
    "empty": "empty",
    "cut": "cut_off",
    "content_filter": "refused",
}


@pytest.mark.parametrize(("system", "number"), [("openai-api/local/m", 200), ("anthropic/claude-none", 60)])
def test_many_documents_with_a_fifth_of_faults(
    letters: Dataset, serve: Any, tmp_path: Path, system: str, number: int
) -> None:
    """Bursts of every passing fault, answers of every wrong kind, and some documents that fail for good."""
    dataset = part(letters, number)
    kinds: dict[str, Fault] = {}
    for place, name in enumerate(list(dataset.documents)[::5]):
        ten, one = divmod(place, 10)
        if one < 6:
            kinds[name] = FAULTS[place % len(FAULTS)]
        elif one < 9:
            kinds[name] = Fault(list(RESULTS)[(3 * ten + one - 6) % len(RESULTS)])
        else:
            kinds[name] = Fault("status", 413, {}, "request too large")
    assert len(kinds) == number // 5

    def script(document: str, attempt: int, number: int) -> Fault | None:
        fault = kinds.get(document)
        if fault is None:
            return None
        passing = fault in FAULTS
        return fault if not passing or attempt <= 2 else None

    server = serve(script)
    result = ask(dataset, tmp_path / "run", system, max_connections=12, settings={"structured": False})
    answers = {answer.document: answer for answer in read_answers(tmp_path / "run")}
    assert set(answers) == set(dataset.documents)
    assert result.fault is None
    assert result.unanswered == 0
    scorer = TASK.scorer(letters.context, TASK.protocol())
    for name, answer in answers.items():
        failure = scorer.read(answer).failure
        fault = kinds.get(name)
        if fault is None or fault in FAULTS:
            assert failure is None, (name, failure)
        elif fault.kind == "status":
            assert failure == "provider_error"
            assert "request too large" in (answer.error or "")
        else:
            assert failure == RESULTS[fault.kind], name
        assert failure is None or failure in FAILURES
    assert max(server.served.values()) == 1
    lasting = [fault for fault in kinds.values() if fault not in FAULTS]
    assert result.failures == Counter(RESULTS.get(fault.kind, "provider_error") for fault in lasting)
    assert server.most_active <= 12
    # the same command again asks nothing: failures that last are results
    before = Counter(server.asked)
    again = ask(dataset, tmp_path / "run", system, settings={"structured": False})
    assert server.asked == before
    assert again.asked == 0
    assert again.failures == result.failures
    assert KEY not in written(tmp_path)


def test_a_slow_drip_is_given_up_and_asked_again(letters: Dataset, serve: Any, tmp_path: Path) -> None:
    server = serve(lambda document, attempt, number: Fault("drip", seconds=0.2) if attempt == 1 else None)
    start = time.monotonic()
    result = ask(part(letters, 5), tmp_path / "run", timeout=0.7, max_connections=5)
    assert result.answered == 5
    assert time.monotonic() - start < 10
    assert set(server.asked.values()) == {2}


def test_what_fails_for_a_passing_reason_is_asked_again_by_the_same_command(
    letters: Dataset, serve: Any, tmp_path: Path
) -> None:
    down = {"now": True}
    server = serve(
        lambda document, attempt, number: Fault("status", 503) if down["now"] and document[-1] in "37" else None
    )
    small = part(letters, 20)
    first = ask(small, tmp_path / "run", retries=2)
    assert (first.answered, first.unanswered, first.failures) == (16, 4, {"provider_error": 4})
    assert not first.complete
    down["now"] = False
    second = ask(small, tmp_path / "run", retries=2)
    assert (second.answered, second.asked, second.unanswered, second.failures) == (20, 4, 0, {})
    assert second.complete
    assert set(server.served.values()) == {1}
    assert len(list(read_answers(tmp_path / "run"))) == 20


def test_retries_are_bounded_and_wait_as_asked(letters: Dataset, serve: Any, tmp_path: Path) -> None:
    server = serve(lambda document, attempt, number: Fault("status", 429, {"retry-after": "0.3"}))
    seen: list[Progress] = []
    start = time.monotonic()
    result = ask(part(letters, 1), tmp_path / "run", retries=3, progress=seen.append)
    assert sum(server.asked.values()) == 4
    assert time.monotonic() - start >= 0.9
    assert result.failures == {"provider_error": 1}
    assert result.unanswered == 1
    assert any("rate limit, retry 2" in moment.waiting for moment in seen)
    (line,) = read_lines(tmp_path / "run")
    assert line["state"] == "again"
    assert "rate limit" in line["detail"]


def test_a_rate_limit_slows_all_down(letters: Dataset, serve: Any, tmp_path: Path) -> None:
    """A server that takes two requests at once and turns others away: in the end all are answered."""
    server = serve(latency=0.03)
    server.script = lambda document, attempt, number: Fault("status", 429) if server.active > 2 else None
    result = ask(part(letters, 40), tmp_path / "run", max_connections=20, retries=10)
    assert result.complete
    assert set(server.served.values()) == {1}
    assert sum(server.asked.values()) < 200


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("status", 401, {}, f"Incorrect API key provided: {KEY}"), "does not accept the key"),
        (Fault("status", 402, {}, "Payment required"), "no credit"),
        (
            Fault("status", 429, {}, "You exceeded your current quota, check your billing", "insufficient_quota"),
            "no credit",
        ),
        (Fault("status", 400, {}, "Your credit balance is too low to access the API"), "no credit"),
        (Fault("status", 404, {}, "The model `m` does not exist"), "does not know this model"),
        (Fault("status", 403, {}, "You are not allowed to use this model"), "does not allow"),
    ],
)
@pytest.mark.parametrize("system", ["openai-api/local/m", "anthropic/claude-none"])
def test_what_no_document_survives_stops_the_run_at_once(
    letters: Dataset, serve: Any, tmp_path: Path, fault: Fault, words: str, system: str
) -> None:
    """In the middle of a run: twelve answered, then the key is withdrawn."""
    server = serve(lambda document, attempt, number: fault if number > 12 else None)
    result = ask(part(letters, 40), tmp_path / "run", system, max_connections=4)
    assert result.fault is not None
    assert words in result.fault
    assert "\n" not in result.fault
    assert KEY not in result.fault
    assert sum(server.asked.values()) <= 12 + 4 + 4  # those on their way, nothing more
    assert len(list(read_answers(tmp_path / "run"))) >= sum(server.served.values()) - 4 >= 8
    assert KEY not in written(tmp_path)
    # with a good key the same command asks the rest
    server.script = None
    result = ask(part(letters, 40), tmp_path / "run", system, max_connections=4)
    assert result.complete
    assert sum(server.served.values()) <= 44


def test_a_missing_key_and_an_unknown_provider_are_one_sentence(
    letters: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOCAL_API_KEY", raising=False)
    monkeypatch.setenv("LOCAL_BASE_URL", "http://127.0.0.1:9")
    for system, word in (("openai-api/local/m", "LOCAL_API_KEY"), ("nobody/model", "nobody")):
        result = ask(part(letters, 2), tmp_path / "run", system)
        assert result.fault is not None
        assert word in result.fault
        assert "\n" not in result.fault
        assert "[" not in result.fault.replace("[key removed]", "")
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("connections", [1, 12])
@pytest.mark.parametrize("words", ["response_format of type json_schema is not supported", "I do not like this"])
def test_a_refused_setting_is_left_out_and_the_run_says_so(
    letters: Dataset, serve: Any, tmp_path: Path, connections: int, words: str
) -> None:
    server = serve(latency=0.05)
    refuse = {"temperature": "Unsupported value: 'temperature' does not support 0", "response_format": words}
    server.refuse = refuse
    settings = {"temperature": 0.0, "seed": 7}
    result = ask(part(letters, 24), tmp_path / "run", settings=settings, max_connections=connections)
    assert result.complete
    assert len(result.notes) == 2
    assert "without the setting temperature" in result.notes[0]
    assert "without the answer schema" in result.notes[1]
    assert words in result.notes[1]
    assert set(server.served.values()) == {1}
    assert sum(server.asked.values()) <= 24 + 2 * connections + 1
    run = read_run(tmp_path / "run")
    assert run["refused_settings"] == ["response_schema", "temperature"]
    assert run["settings"] == {"temperature": 0.0, "seed": 7}
    assert run["structured"] is False


def test_no_setting_is_sent_unless_set(letters: Dataset, serve: Any, tmp_path: Path) -> None:
    server = serve()
    server.keep_bodies = True
    ask(part(letters, 1), tmp_path / "run")
    (body,) = server.bodies
    assert set(body) == {"model", "messages", "response_format"}
    ask(part(letters, 1), tmp_path / "other", settings={"temperature": 0.5, "max_tokens": 300, "structured": False})
    assert server.bodies[-1]["temperature"] == 0.5
    assert "response_format" not in server.bodies[-1]


def test_another_dataset_or_setting_does_not_enter_a_run(letters: Dataset, serve: Any, tmp_path: Path) -> None:
    serve()
    small = part(letters, 3)
    ask(small, tmp_path / "run")
    with pytest.raises(UsageError, match="temperature"):
        ask(small, tmp_path / "run", settings={"temperature": 1.0})
    other = replace(small, fingerprint="e" * 64)
    with pytest.raises(UsageError, match="fingerprint"):
        ask(other, tmp_path / "run")
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("version: 7\nRead this. $example")
    with pytest.raises(UsageError, match="prompt"):
        ask(small, tmp_path / "run", prompt=prompt)


def test_prompt_and_role_from_files(letters: Dataset, serve: Any, tmp_path: Path) -> None:
    server = serve()
    server.keep_bodies = True
    (tmp_path / "prompt.txt").write_text("version: 7\nRead this for $5. $example")
    (tmp_path / "role.txt").write_text("You are a postman.")
    ask(part(letters, 1), tmp_path / "run", prompt=tmp_path / "prompt.txt", role=tmp_path / "role.txt")
    system, user = server.bodies[0]["messages"]
    assert system["content"] == "You are a postman."
    assert user["content"][0]["text"].startswith('Read this for $5. {"metadata"')
    assert read_run(tmp_path / "run")["prompt"]["version"] == "7"


def test_limit_documents_and_repeats(letters: Dataset, serve: Any, tmp_path: Path) -> None:
    server = serve()
    ask(letters, tmp_path / "run", limit=4)
    assert sum(server.served.values()) == 4
    assert len(read_run(tmp_path / "run")["documents"]) == 4
    result = ask(letters, tmp_path / "run", documents=["letter0003", "letter0050"], repeat=3)
    assert server.served["letter0003"] == 3
    assert server.served["letter0050"] == 3
    assert sum(server.served.values()) == 9
    assert result.total == 6
    assert len(read_run(tmp_path / "run")["documents"]) == 5
    with pytest.raises(UsageError, match="letter9999"):
        ask(letters, tmp_path / "other", documents=["letter9999"])


PRICES = '[[price]]\nmodel = "replayed-model"\ninput = 100\noutput = 0\n[[price]]\nmodel = "openai-api/local/m"\n'


def test_max_cost_stops_before_it_is_passed(letters: Dataset, serve: Any, tmp_path: Path) -> None:
    serve(usage=dict.fromkeys(letters.documents, (1000, 50)))
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES + "input = 100.0\noutput = 0.0\n")  # ten cents an answer
    result = ask(letters, tmp_path / "run", max_cost=2.05, prices=prices, max_connections=7)
    assert result.stopped is not None
    assert result.stopped.startswith("max_cost: $")
    assert result.cost is not None
    assert 1.0 <= result.cost <= 2.05
    assert result.answered == pytest.approx(result.cost / 0.1)
    assert result.unanswered == 200 - result.answered
    again = ask(letters, tmp_path / "run", max_cost=2.05, prices=prices)
    assert again.asked <= 2  # what was paid before counts
    with pytest.raises(UsageError, match="price of openai-api/local/unpriced is unknown"):
        ask(letters, tmp_path / "other", "openai-api/local/unpriced", max_cost=1.0)


def test_an_unknown_price_is_unknown(letters: Dataset, serve: Any, tmp_path: Path) -> None:
    serve()
    result = ask(part(letters, 3), tmp_path / "run")
    assert result.cost is None
    assert all(line["cost"] is None for line in read_lines(tmp_path / "run"))


def test_a_dry_run_sends_nothing(letters: Dataset, serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    monkeypatch.delenv("LOCAL_API_KEY")
    result = ask(letters, tmp_path / "run", "openai-api/local/gpt-4.1-mini", dry_run=True, repeat=2)
    assert result.plan is not None
    assert (result.plan.documents, result.plan.images) == (400, 400)
    assert result.plan.input_tokens is not None
    assert result.plan.cost is not None
    assert 0.1 < result.plan.cost < 5
    assert ask(letters, tmp_path / "run", dry_run=True).plan.cost is None  # type: ignore[union-attr]
    assert not server.asked
    assert not (tmp_path / "run").exists()


def test_a_table_of_models_is_one_command(letters: Dataset, serve: Any, tmp_path: Path) -> None:
    server = serve()
    server.keep_bodies = True
    table = tmp_path / "models.toml"
    table.write_text(
        '[defaults]\ntemperature = 0.25\n[[system]]\nname = "openai-api/local/one"\n'
        '[[system]]\nname = "openai-api/local/two"\ntemperature = 0.75\nmax_connections = 1\n'
        '[[system]]\nname = "openai-api/local/two"\nlabel = "two, greedy"\ntemperature = 0\n'
        '[[system]]\nname = "nobody/none"\n'
    )
    results = run_systems(TASK, part(letters, 3), config=table, out=tmp_path / "runs")
    assert [result.complete for result in results] == [True, True, True, False]
    assert sorted(folder.name for folder in (tmp_path / "runs").iterdir()) == [
        "openai-api_local_one",
        "openai-api_local_two",
        "two_greedy",
    ]
    assert [body["temperature"] for body in server.bodies[::3]] == [0.25, 0.75, 0]


def test_a_wrong_setting_is_said_before_anything_is_asked(letters: Dataset, serve: Any, tmp_path: Path) -> None:
    server = serve()
    with pytest.raises(UsageError, match="did you mean temperature"):
        ask(letters, tmp_path / "run", settings={"temprature": 1})
    with pytest.raises(UsageError, match="max_tokens"):
        ask(letters, tmp_path / "run", settings={"max_tokens": "many"})
    assert not server.asked


def test_a_damaged_image_fails_its_document_only(letters: Dataset, serve: Any, tmp_path: Path) -> None:
    server = serve()
    small = small_letters(tmp_path / "images", 5)
    (tmp_path / "images" / "letter0002_p1.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    result = ask(small, tmp_path / "run")
    assert (result.answered, result.failures, result.unanswered) == (4, {"missing": 1}, 1)
    lines = {line["document"]: line for line in read_lines(tmp_path / "run")}
    assert "letter0002_p1.png" in lines["letter0002"]["detail"]
    assert sum(server.asked.values()) == 4


def test_documents_without_images_are_named_before_anything_is_asked(
    letters: Dataset, serve: Any, tmp_path: Path
) -> None:
    server = serve()
    bare = small_letters(tmp_path / "images", 3)
    documents = {
        name: document if name != "letter0001" else type(document)(name, document.truth, name)
        for name, document in bare.documents.items()
    }
    bare = replace(bare, documents=documents)
    with pytest.raises(UsageError, match="letter0001 has no images"):
        ask(bare, tmp_path / "run")
    assert not server.asked


def test_keys_in_settings_stay_out_of_the_folder(letters: Dataset, serve: Any, tmp_path: Path, caplog: Any) -> None:
    server = serve()
    server.key = "another-key-from-a-table"
    settings = {"api_key": "another-key-from-a-table", "base_url": server.url + "/v1"}
    result = ask(part(letters, 3), tmp_path / "run", settings=settings)
    assert result.complete
    server.key = "revoked"
    failed = ask(part(letters, 6), tmp_path / "run", settings=settings)
    assert failed.fault is not None
    for text in (written(tmp_path), repr(result), repr(failed), caplog.text):
        assert "another-key-from-a-table" not in text
        assert KEY not in text
    assert read_run(tmp_path / "run")["settings"] == {"base_url": server.url + "/v1"}


def test_keys_deep_in_settings_stay_out_too(letters: Dataset, serve: Any, tmp_path: Path) -> None:
    serve()
    settings = {"extra_headers": {"X-Team": "palaeography", "X-Api-Key": "deep-secret-value"}}
    result = ask(part(letters, 2), tmp_path / "run", settings=settings)
    assert result.complete
    assert read_run(tmp_path / "run")["settings"] == {"extra_headers": {"X-Team": "palaeography"}}
    assert "deep-secret-value" not in written(tmp_path)


class Outside:
    """A system as somebody else would write it; it fails on one document and knows nothing of another."""

    name = "outside/one"

    def answer(self, document: Any, repeat: int = 0) -> Answer:
        if document.id == "letter0001":
            raise KeyError("surprise")
        if document.id == "letter0002":
            return Answer(document.id, error="could not say")
        return Answer(document.id, record={"metadata": {"send_date": list(document.truth.fields["send_date"])}})


class OutsideMany(Outside):
    def answer_many(self, documents: Any) -> Any:
        for document in reversed(documents):
            if document.id != "letter0001":
                yield Outside.answer(self, document)


@pytest.mark.parametrize("kind", [Outside, OutsideMany])
def test_systems_of_others(letters: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    monkeypatch.setattr("histeval.systems.job.open_system", lambda name, request: kind())
    result = ask(part(letters, 5), tmp_path / "run", "outside/one")
    assert result.answered == 3
    lines = {line["document"]: line for line in read_lines(tmp_path / "run")}
    assert lines["letter0002"]["detail"] == "could not say"
    assert lines["letter0001"]["error"] in ("provider_error", "missing")
    assert result.failures == {"provider_error": 1, lines["letter0001"]["error"]: 1} or result.failures == {
        "provider_error": 2
    }
    assert read_run(tmp_path / "run").get("reads_images") == ("local" if kind is OutsideMany else None)
    # the record of an answer is kept as a record
    assert lines["letter0000"]["record"]["metadata"]["send_date"] == ["1910-01-01"]


ZYGOTE = """
import os, sys
from pathlib import Path
from histeval.systems.run import run_systems
from histeval.tasks import get_task
from systems.letters_for_tests import small_letters
dataset = small_letters(Path(sys.argv[1]), 100)
task = get_task("letters")
run_systems(task, dataset, systems=["openai-api/local/m"], out=sys.argv[2], limit=1)
print("warm", flush=True)
for line in sys.stdin:
    process = os.fork()
    if process == 0:
        options = dict(systems=["openai-api/local/m"], out=line.strip(), max_connections=4)
        (result,) = run_systems(task, dataset, **options)
        os._exit(0 if result.complete else 3)
    print(process, flush=True)
    print(os.waitpid(process, 0)[1], flush=True)
"""
"""A process that has asked once and so has imported everything, and that forks one run for each line it reads."""


def test_killed_at_thirty_random_moments(letters: Dataset, serve: Any, tmp_path: Path) -> None:
    """SIGKILL, and the same command again, 30 times: nothing finished is lost, and little is asked again."""
    server = serve(latency=0.01)
    images = tmp_path / "images"
    names = list(small_letters(images, 100).documents)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    rng = Random(int(os.environ.get("HISTEVAL_SEED", "5")))
    run, kills, between, before = 0, 0, 0, 0
    zygote = subprocess.Popen(
        [sys.executable, "-c", ZYGOTE, str(images), str(tmp_path / "warm")],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
    )  # fmt: skip
    assert zygote.stdin is not None
    assert zygote.stdout is not None
    with zygote:
        assert zygote.stdout.readline() == "warm\n"
        while kills < 30 or before < 100:
            out = tmp_path / f"run{run}"
            served = Counter(server.served)
            zygote.stdin.write(f"{out}\n")
            process = int(zygote.stdout.readline())
            # killed when so many further answers were given; the last run is let live
            goal = sum(served.values()) + (rng.randint(1, 30) if kills < 30 else 1000)
            while sum(server.served.values()) < min(goal, sum(served.values()) + 100 - before) and alive(process):
                time.sleep(0.001)
            if kills < 30:
                os.kill(process, signal.SIGKILL)  # the zygote has not reaped it before its line is read
            status = int(zygote.stdout.readline())
            while server.active:  # it still answers whom it cannot reach any more
                time.sleep(0.001)
            killed = os.WIFSIGNALED(status)
            assert killed or status == 0
            kills += killed
            answers = list(read_answers(out)) if (out / "run.json").exists() else []
            between += killed and 1 <= len(answers) <= 99
            assert len(answers) >= before  # nothing finished is lost
            asked = server.served - served
            assert sum(asked.values()) - (len(answers) - before) <= 4  # what was on its way
            before = len(answers)
            if before == 100:
                lines = (out / "answers.jsonl").read_bytes().splitlines()
                assert Counter(json.loads(line)["document"] for line in lines) == dict.fromkeys(names, 1)
                if kills < 30:
                    run, before = run + 1, 0
        zygote.stdin.close()
    assert kills == 30
    assert between >= 25
    for folder in range(run + 1):
        assert KEY not in written(tmp_path / f"run{folder}")


def alive(process: int) -> bool:
    """Whether it runs; one that has ended but was not waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
