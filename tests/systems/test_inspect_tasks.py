"""`inspect eval histeval/...` gives the counts and metrics of `histeval run` and `histeval score`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from histeval.datasets import load_dataset
from histeval.runs import score_paths
from histeval.systems.run import run_systems
from histeval.tasks import get_task
from support import DATA, needs_data
from systems.servers import ModelServer

pytestmark = [pytest.mark.data, needs_data]
KEY = "k3y-that-must-never-be-written"


def answers_of(folder: str) -> dict[str, str]:
    files = (DATA / "rise" / "results" / folder).glob("request_*.json")
    return {file.stem.split("_", 2)[2]: json.loads(file.read_text(encoding="utf-8"))["text"] for file in files}


def compare(task: str, dataset: Any, run: Path, log: dict[str, Any], protocol: str) -> dict[str, float]:
    """The log holds the counts and metrics of the run; gives the metrics."""
    assert log["status"] == "success"
    found = log["results"]["scores"][0]["metrics"].values()
    metrics = {metric["name"].rpartition("/")[2]: metric["value"] for metric in found}
    (scored,) = score_paths(get_task(task), dataset, [run], protocol=protocol)
    for name, value in scored.values.items():
        if value is not None:
            assert metrics[name] == value, name
    rows = {sample["id"]: sample["scores"]["counts"]["value"] for sample in log["samples"]}
    assert set(rows) == set(scored.rows[0])
    for name, row in scored.rows[0].items():
        assert rows[name] == dict(zip(scored.scorer.columns, row.counts.tolist(), strict=True))
    return metrics


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Starts a server of published answers for some documents, and sets its address and key."""
    servers = []

    def start(answers: str, dataset: Any, documents: list[str]) -> ModelServer:
        pages = {name: dataset.documents[name].images for name in documents}
        server = ModelServer(answers_of(answers), pages, key=KEY)
        servers.append(server)
        server.__enter__()
        monkeypatch.setenv("LOCAL_API_KEY", KEY)
        monkeypatch.setenv("LOCAL_BASE_URL", server.url + "/v1")
        return server

    yield start
    for server in servers:
        server.__exit__()
        assert server.problems == []


def test_manuscripts_by_the_command(tmp_path: Path, replay: Any) -> None:
    place = DATA / "rise" / "benchmarks" / "medieval_manuscripts"
    dataset = load_dataset("manuscripts", place)
    server = replay("2026-01-26/T0277", dataset, list(dataset.documents))
    program = Path(sys.executable).with_name("inspect")
    done = subprocess.run(
        [
            str(program), "eval", "histeval/manuscripts", "--model", "openai-api/local/replayed",
            "-T", f"dataset={place}", "-T", "protocol=published",
            "--log-dir", str(tmp_path / "logs"), "--log-format", "json", "--display", "none", "--no-log-images",
        ],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(server.served.values()) == 12
    run_systems(get_task("manuscripts"), dataset, systems=["openai-api/local/replayed"], out=tmp_path / "run")
    (file,) = (tmp_path / "logs").glob("*.json")
    text = file.read_text(encoding="utf-8")
    metrics = compare("manuscripts", dataset, tmp_path / "run", json.loads(text), "published")
    assert (metrics["fuzzy"], metrics["cer"]) == (0.791, 0.228)
    assert KEY not in text


def test_letters_in_this_process(tmp_path: Path, replay: Any) -> None:
    from inspect_ai import eval as inspect_eval

    from histeval.systems.inspect_tasks import letters

    place = DATA / "rise" / "benchmarks" / "business_letters"
    dataset = load_dataset("letters", place)
    documents = [f"letter{number:02}" for number in range(1, 11)]
    server = replay("2025-11-25/T0416", dataset, documents)
    (log,) = inspect_eval(
        letters(str(place), documents=documents), model="openai-api/local/replayed",
        log_dir=str(tmp_path / "logs"), display="none", log_images=False,
    )  # fmt: skip
    assert sum(server.served.values()) == 10
    run_systems(
        get_task("letters"), dataset, systems=["openai-api/local/replayed"], out=tmp_path / "run", documents=documents
    )
    compare("letters", dataset, tmp_path / "run", log.model_dump(mode="json"), "documented")
