"""Published answers through real HTTP, with the real images: the published counts come out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from histeval.datasets import load_dataset
from histeval.datasets.base import Dataset
from histeval.runs import score_paths
from histeval.runs.folder import read_lines, read_run
from histeval.systems.run import run_systems
from histeval.tasks import get_task
from support import DATA, needs_data
from systems.servers import ModelServer

pytestmark = [pytest.mark.data, needs_data]
LETTERS = [f"letter{number:02}" for number in range(1, 11)]
COLUMNS = [
    f"{field}_{kind}" for field in ("send_date", "sender_persons", "receiver_persons") for kind in ("tp", "fp", "fn")
]


def published(folder: str) -> dict[str, dict]:
    """Published answers by document, as the files hold them."""
    found = {}
    for file in (DATA / "rise" / "results" / folder).glob("request_*.json"):
        found[file.stem.split("_", 2)[2]] = json.loads(file.read_text(encoding="utf-8"))
    return found


def server(answers: dict[str, dict], dataset: Dataset, documents: list[str]) -> ModelServer:
    tokens = {name: answers[name]["usage"] for name in documents}
    return ModelServer(
        {name: answers[name]["text"] for name in documents},
        {name: dataset.documents[name].images for name in documents},
        usage={name: (usage["input_tokens"], usage["output_tokens"]) for name, usage in tokens.items()},
        model=next(iter(answers.values()))["model"],
    )


@pytest.mark.parametrize("system", ["openai-api/local/replayed", "openai/replayed", "anthropic/replayed"])
def test_letters_01_to_10(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    dataset = load_dataset("letters", DATA / "rise" / "benchmarks" / "business_letters")
    answers = published("2025-11-25/T0416")
    with server(answers, dataset, LETTERS) as replay:
        for name in ("LOCAL", "OPENAI", "ANTHROPIC"):
            monkeypatch.setenv(f"{name}_API_KEY", "no-key-is-needed")
            monkeypatch.setenv(f"{name}_BASE_URL", replay.url + ("" if name == "ANTHROPIC" else "/v1"))
        (result,) = run_systems(
            get_task("letters"), dataset, systems=[system], out=tmp_path / "run", documents=LETTERS, max_connections=4
        )
        assert replay.problems == []
        assert dict(replay.served) == dict.fromkeys(LETTERS, 1)
    assert (result.total, result.answered, result.failures, result.unanswered) == (10, 10, {}, 0)
    (scored,) = score_paths(get_task("letters"), dataset, [tmp_path / "run"])
    assert scored.documents == 10
    counts = {
        name: dict(zip(scored.scorer.columns, row.counts.tolist(), strict=True)) for name, row in scored.rows[0].items()
    }
    for name in LETTERS:
        assert {column: counts[name][column] for column in COLUMNS} == answers[name]["score"], name
    assert scored.suspect is None
    # tokens, cost and images are on disk
    lines = {line["document"]: line for line in read_lines(tmp_path / "run")}
    assert [image["file"] for image in lines["letter02"]["images"]] == [f"letter02_p{page}.jpg" for page in range(1, 6)]
    for name in LETTERS:
        assert lines[name]["usage"]["input_tokens"] == answers[name]["usage"]["input_tokens"]
        assert lines[name]["cost"] == pytest.approx(answers[name]["usage"]["estimated_cost_usd"])
    run = read_run(tmp_path / "run")
    assert run["model"] == "gemini-3-pro-preview"
    assert run["documents"] == LETTERS
    assert run["dataset"]["fingerprint"] == dataset.fingerprint
    assert result.cost == pytest.approx(sum(answers[name]["usage"]["estimated_cost_usd"] for name in LETTERS))


def test_the_twelve_manuscript_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = load_dataset("manuscripts", DATA / "rise" / "benchmarks" / "medieval_manuscripts")
    answers = published("2026-01-26/T0277")
    with server(answers, dataset, sorted(answers)) as replay:
        monkeypatch.setenv("LOCAL_API_KEY", "no-key-is-needed")
        monkeypatch.setenv("LOCAL_BASE_URL", replay.url + "/v1")
        run_systems(get_task("manuscripts"), dataset, systems=["openai-api/local/replayed"], out=tmp_path / "run")
        assert replay.problems == []
    (scored,) = score_paths(get_task("manuscripts"), dataset, [tmp_path / "run"], protocol="published")
    assert scored.values["fuzzy"] == 0.791
    assert scored.values["cer"] == 0.228
    assert scored.suspect is None


def test_a_run_whose_images_never_arrived_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = load_dataset("manuscripts", DATA / "rise" / "benchmarks" / "medieval_manuscripts")
    answers = published("2025-11-25/T0441")
    with server(answers, dataset, sorted(answers)) as replay:
        monkeypatch.setenv("LOCAL_API_KEY", "no-key-is-needed")
        monkeypatch.setenv("LOCAL_BASE_URL", replay.url + "/v1")
        run_systems(get_task("manuscripts"), dataset, systems=["openai-api/local/replayed"], out=tmp_path / "run")
    (scored,) = score_paths(get_task("manuscripts"), dataset, [tmp_path / "run"])
    assert "images seem not to have reached the model" in (scored.suspect or "")
