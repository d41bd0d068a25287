"""Batches from end to end, against a server of OpenAI's batch interface: what comes back, what not, what it costs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from histeval.datasets.base import Dataset
from histeval.errors import UsageError
from histeval.runs.folder import read_lines, read_run
from histeval.systems import pace
from histeval.systems.progress import Progress, RunResult
from histeval.systems.run import run_systems
from histeval.tasks import get_task
from systems.batch_servers import BatchServer
from systems.letters_for_tests import page_files, right_answers, small_letters

KEY = "k3y-that-must-never-be-written"
PRICES = """[[price]]
model = "replayed-model-2025"
input = 2.0
output = 10.0
batch = 0.5
[[price]]
model = "m"
input = 2.0
output = 10.0
batch = 0.5
"""
COST = (1000 * 2 + 50 * 10) / 2e6
"""US dollars of an answer, at half the price."""


@pytest.fixture
def letters(tmp_path: Path) -> Dataset:
    return small_letters(tmp_path / "images", 8)


@pytest.fixture
def server(letters: Dataset, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    from inspect_ai.model._providers.util import batch

    monkeypatch.setattr(batch, "DEFAULT_BATCH_TICK", 0.05)
    monkeypatch.setattr(batch, "DEFAULT_SEND_DELAY", 0.3)
    monkeypatch.setattr(pace, "WAITS", (0.02, 0.1, 2.0))
    with BatchServer(right_answers(letters), page_files(letters), key=KEY) as running:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", running.url + "/v1")
        yield running
    assert running.problems == []
    assert running.single == 0


def ask(letters: Dataset, folder: Path, **options: Any) -> RunResult:
    prices = folder.parent / "prices.toml"
    prices.write_text(PRICES)
    (result,) = run_systems(
        get_task("letters"), letters, systems=["openai/m"], out=folder, batch=True, prices=prices, **options
    )
    return result


def test_a_batch_is_asked_answered_and_priced_by_half(
    letters: Dataset, server: BatchServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    moments: list[Progress] = []
    result = ask(letters, tmp_path / "run", max_cost=1.0, progress=moments.append)
    assert result.complete
    assert sum(server.sizes) == 8  # how many wait for each other is a matter of time
    assert result.cost == pytest.approx(8 * COST)
    assert any(re.fullmatch(r"\d requests in \d batch(es)?", moment.waiting) for moment in moments)
    assert read_run(tmp_path / "run")["settings"] == {"batch": True}
    assert capfd.readouterr() == ("", "")  # what Inspect AI would print stays out of the results
    again = ask(letters, tmp_path / "run")
    assert (again.asked, sum(server.sizes)) == (0, 8)


def test_one_request_that_fails_does_not_take_its_batch_along(
    letters: Dataset, server: BatchServer, tmp_path: Path
) -> None:
    server.kinds = {"letter0002": "refused", "letter0004": "expired", "letter0006": "lost"}
    result = ask(letters, tmp_path / "run")
    assert (result.answered, dict(result.failures)) == (7, {"provider_error": 1})
    # What was answered is not paid twice; what was turned down is asked once more, without the schema.
    assert server.in_batches == {document: 2 if document in server.kinds else 1 for document in letters.documents}
    (line,) = [line for line in read_lines(tmp_path / "run") if line["state"] != "answered"]
    assert (line["document"], line["state"]) == ("letter0002", "failed")
    assert line["detail"] == "provider error 400: the image is too small to read"


@pytest.mark.parametrize("ending", ["expired", "cancelled"])
def test_a_batch_that_ends_without_results_is_asked_again(
    letters: Dataset, server: BatchServer, tmp_path: Path, ending: str
) -> None:
    server.endings = [ending]
    result = ask(letters, tmp_path / "run")
    assert result.complete
    assert sum(server.sizes) == 8 + server.sizes[0]


def test_a_batch_that_cannot_be_made_is_made_later(letters: Dataset, server: BatchServer, tmp_path: Path) -> None:
    server.uploads = [503, 429, 500]
    result = ask(letters, tmp_path / "run")
    assert result.complete
    assert sum(server.sizes) == 8
    assert server.served == dict.fromkeys(letters.documents, 1)


def test_a_wrong_key_stops_a_batch_at_once(letters: Dataset, server: BatchServer, tmp_path: Path) -> None:
    server.key = "another"
    result = ask(letters, tmp_path / "run")
    assert result.fault is not None
    assert "does not accept the key" in result.fault
    assert server.sizes == []


def test_no_batch_where_the_provider_has_none(
    letters: Dataset, server: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inspect AI would ask one by one, and we would reckon with half of what it costs."""
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    monkeypatch.setenv("LOCAL_BASE_URL", server.url + "/v1")
    systems = ["openai-api/local/m"]
    (result,) = run_systems(get_task("letters"), letters, systems=systems, out=tmp_path / "run", batch=True)
    assert result.fault is not None
    assert "no batch interface" in result.fault


def test_the_limit_of_cost_needs_the_price_by_batch(letters: Dataset, server: BatchServer, tmp_path: Path) -> None:
    prices = tmp_path / "plain.toml"
    prices.write_text('[[price]]\nmodel = "m"\ninput = 1.0\noutput = 1.0\n')
    with pytest.raises(UsageError, match="through a batch interface is unknown"):
        run_systems(
            get_task("letters"), letters, systems=["openai/m"], out=tmp_path / "run", batch=True, max_cost=1.0,
            prices=prices,
        )  # fmt: skip
