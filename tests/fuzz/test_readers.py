"""Whatever is done to a file: it is read, or refused in one sentence, in bounded time and memory."""

from __future__ import annotations

import base64
import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.readers import attempt, mutated, readers
from support import examples

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))
MEGABYTE = 1 << 20
SECONDS = 10.0
"""Processor time allowed for a megabyte."""


@pytest.mark.parametrize("name", readers())
@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_read_or_refused(name: str, seed: int) -> None:
    attempt(name, mutated(readers()[name][0], seed))


@pytest.mark.parametrize("name", readers())
def test_the_samples_are_read(name: str) -> None:
    """Else mutations of them would only try the first check."""
    assert attempt(name, readers()[name][0]) is None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_found_cases(case: Path) -> None:
    found = json.loads(case.read_text())
    attempt(found["reader"], {name: base64.b64decode(data) for name, data in found["files"].items()})


PUMPS = [
    *(b"[", b"{", b'{"a":', b'"', b"\\", b"<", b"<PER>", b"</PER>", b"<a ", b"&amp;", b"&", b"-", b" ", b"\n", b"\t"),
    *(b"9", b"1.", b"a", b"a b\n", b",", b";", b"|", b"'", b"```", b"```json\n", b"\x00", b"\xff", "\u0301".encode()),
    *(
        b"O\tO\n",
        b"# document = a\n",
        b"<!--",
        b"<![CDATA[",
        b"'\"",
        b"addition1",
        b"]",
        b"}",
        b"\r",
        b"x=",
        b"http://",
    ),
]
BIG = MEGABYTE if "HISTEVAL_EXAMPLES" in os.environ else MEGABYTE // 128
READINGS = 12
"""An output is read and scored as four answers under three protocols."""


@pytest.mark.parametrize(
    "name", [name for name in readers() if not name.startswith(("dataset", "shards", "run folder"))]
)
def test_long_repetitions_take_bounded_time(name: str) -> None:
    """One thing over and over, alone and in the midst of a whole file."""
    files = readers()[name][0]
    victim = sorted(files)[0]
    whole = files[victim]
    times = READINGS if name.startswith("model") else 3
    for pump in PUMPS:
        long = pump * (BIG // len(pump))
        for data in (long, whole[: len(whole) // 2] + long + whole[len(whole) // 2 :]):
            begin = time.process_time()
            attempt(name, {**files, victim: data})
            took = time.process_time() - begin
            assert took < 0.2 + times * SECONDS * len(data) / MEGABYTE, f"{pump!r}: {took:.2f} s for {len(data)} bytes"
