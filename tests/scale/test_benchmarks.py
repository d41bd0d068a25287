"""Nothing is slower than half of the ratio that was recorded for it, measured beside its peer in this run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.bench
def test_small_copy_of_the_benchmarks() -> None:
    words = [sys.executable, "-m", "benchmarks", "--small", "--check"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
