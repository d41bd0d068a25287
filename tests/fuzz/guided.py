"""Fuzzing that is led by what code an input reaches: in tests/, `python -m fuzz.guided [SECONDS a reader] [NAME ...]`.

Needs atheris (`pip install atheris`, Python 3.11 to 3.13 on Linux), which nothing else does; `python -m fuzz` covers
every reader without it. An input is the bytes of one file of a reader; the whole sample and the found cases are where
it begins. What is found is kept in `tests/fuzz/cases/`. Each reader runs in a process of its own, since libFuzzer ends
the process.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

READERS = ("answers, letters", "dataset, trade", "model output, letters", "model output, directories")
"""The readers tried by default: lines of answers, directory entries as XML in CSV, and what models send."""
VICTIMS = {"dataset, trade": "dataset/41-ner_ref_from_pero/gold.csv"}
"""The file that is changed, where a reader has several; else the largest."""
SIZE = 4096
CASES = Path(__file__).resolve().parent / "cases"


def guided(name: str, seconds: int) -> None:
    """Never returns: libFuzzer ends the process, with status 0 where nothing was found."""
    import atheris

    with atheris.instrument_imports(include=["histeval"]):
        from fuzz.__main__ import keep
        from fuzz.readers import attempt, readers

    files = readers()[name][0]
    victim = VICTIMS.get(name) or max(files, key=lambda file: len(files[file]))
    tried = faults = 0

    def one(data: bytes) -> None:
        nonlocal tried, faults
        tried += 1
        changed = {**files, victim: data}
        try:
            attempt(name, changed)
        except Exception:
            faults += 1
            if faults <= 3:
                traceback.print_exc(limit=-4)
                keep(name, changed, tried)

    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "whole").write_bytes(files[victim])
        limits = [f"-max_total_time={seconds}", f"-max_len={max(SIZE, 2 * len(files[victim]))}"]
        limits += ["-rss_limit_mb=2048", "-timeout=20", "-print_final_stats=1", "-verbosity=0"]
        atheris.Setup([sys.argv[0], place, *limits], one)
        atheris.Fuzz()


def main() -> int:
    """Each reader in turn; status 1 where one has a fault."""
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed; `make fuzz` tries every reader without it")
        return 0
    if sys.argv[1:2] == ["--reader"]:
        guided(sys.argv[2], int(sys.argv[3]))
    seconds = sys.argv[1] if len(sys.argv) > 1 else "60"
    before = set(CASES.glob("*.json"))
    status = 0
    for name in sys.argv[2:] or READERS:
        print(name, flush=True)
        done = subprocess.run([sys.executable, "-m", "fuzz.guided", "--reader", name, seconds])
        status = status or done.returncode
    return 1 if set(CASES.glob("*.json")) - before else status


if __name__ == "__main__":
    sys.exit(main())
