"""`make fuzz`, or in tests/: `python -m fuzz [SECONDS a reader] [NAME ...]`: longer than CI, with found cases kept.

Prints reader, inputs tried, refused, slowest second a megabyte, and faults; ends with status 1 where there is one.
"""

from __future__ import annotations

import base64
import json
import random
import sys
import time
import traceback
from pathlib import Path

from fuzz.readers import attempt, mutated, readers

CASES = Path(__file__).resolve().parent / "cases"


def limit_memory() -> None:
    """One gigabyte beside what is loaded: whoever asks for more gets a MemoryError, which is a fault here."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    resource.setrlimit(resource.RLIMIT_AS, (used + 4 * 2**30, resource.RLIM_INFINITY))


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    chosen = [name for name in readers() if not sys.argv[2:] or any(word in name for word in sys.argv[2:])]
    limit_memory()
    faults = 0
    start = random.SystemRandom().randrange(2**40)
    for name in chosen:
        files = readers()[name][0]
        tried = refused = found = 0
        slowest = 0.0
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            seed = start + tried
            changed = mutated(files, seed)
            begin = time.process_time()
            try:
                refused += attempt(name, changed) is not None
            except Exception as fault:
                found += 1
                if found <= 3:
                    print(f"{name}, seed {seed}: {type(fault).__name__}: {str(fault)[:200]}")
                    traceback.print_exc(limit=-4)
                    keep(name, changed, seed)
            took = time.process_time() - begin
            size = sum(map(len, changed.values()))
            slowest = max(slowest, took / max(1.0, size / 2**20))
            tried += 1
        print(
            f"{name:32} {tried:8} tried {refused:8} refused {slowest:8.3f} s a MB at most {found:5} faults", flush=True
        )
        faults += found
    return 1 if faults else 0


def keep(name: str, files: dict[str, bytes], seed: int) -> None:
    CASES.mkdir(exist_ok=True)
    packed = {file: base64.b64encode(data).decode() for file, data in files.items()}
    case = {"reader": name, "files": packed}
    (CASES / f"{name.replace(', ', '_').replace(' ', '_')}_{seed}.json").write_text(json.dumps(case, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
