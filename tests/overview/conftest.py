"""Sites that several tests of the overview read, and the browser that opens them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from overview_sites import (
    ATTACK,
    CHROMIUM,
    CHROMIUM_ARGS,
    TASKS,
    MadeSite,
    demo_input,
    hostile_inputs,
    make_site,
)
from overview_watch import Watch


@pytest.fixture(scope="session")
def demo_site(tmp_path_factory: pytest.TempPathFactory) -> MadeSite:
    """The demo data of all three tasks, each with six or more invented systems. Read only."""
    folder = tmp_path_factory.mktemp("overview")
    return make_site(folder / "site", *(demo_input(task, folder / "answers") for task in TASKS))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The system's Chromium, started once."""
    if CHROMIUM is None:
        pytest.skip("the system has no Chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        yield opened
        opened.close()


@pytest.fixture
def watch(chromium: Any) -> Iterator[Watch]:
    """A window without a network; the test fails where any page in it errs, runs foreign code or asks for anything."""
    context = chromium.new_context(viewport={"width": 1300, "height": 900}, offline=True)
    watching = Watch(context)
    yield watching
    context.close()
    assert watching.faults == []


@pytest.fixture(scope="session")
def hostile_site(tmp_path_factory: pytest.TempPathFactory) -> MadeSite:
    """A site of datasets, names and answers that attack. Read only."""
    folder = tmp_path_factory.mktemp("hostile")
    return make_site(folder / "site", *hostile_inputs(folder / "answers"), title=ATTACK)
