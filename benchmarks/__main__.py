"""`python -m benchmarks`: every comparison in one run, printed and written to benchmarks/results.md.

`--small` measures small copies; their ratios are written to benchmarks/small.json, or with `--check` compared with
those written there: status 1 where one is less than half of what was recorded, twice. `--only NAME` measures one
module. Each module runs in a process of its own, so that its peak memory can be told.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.md"
SMALL = HERE / "small.json"
MODULES = ("entities", "text", "intervals", "scoring", "scale", "overview")
# processor time, which a busy machine hardly changes: what works in several threads is not faster for it there
IN_SMALL: dict[str, dict[str, Any]] = {"entities": {"number": 2000, "busy": True}, "text": {}, "intervals": {}}
PACKAGES = (
    *("histeval", "numpy", "rapidfuzz", "regex", "seqeval", "nervaluate", "jiwer", "dinglehopper", "scipy", "ray"),
    "polars",
)

Row = dict[str, Any]


def measured(module: str, small: bool) -> list[Row]:
    """The rows of one module, measured in a process of its own."""
    words = [sys.executable, "-m", "benchmarks", "--module", module, *(["--small"] if small else [])]
    done = subprocess.run(words, cwd=HERE.parent, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"the benchmark {module} failed")
    found: list[Row] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure_here(module: str, small: bool) -> list[Row]:
    """The rows of one module, each with the peak memory of this process where it does not bring its own."""
    import resource

    rows: list[Row] = import_module(f"benchmarks.{module}").measure(**(IN_SMALL.get(module, {}) if small else {}))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [{"module": module, "peak_mb": peak, **row} for row in rows]


def line(row: Row) -> str:
    """A row for the terminal."""
    if row["ratio"] is None:
        return f"{row['what']:66} not measured beside {row['peer']}"
    mark = "" if row["ratio"] >= row["wanted"] else "  BELOW what is wanted"
    return f"{row['what']:66} {row['ratio']:8.2f} times {row['peer']}, wanted {row['wanted']:.3g}{mark}"


def table(rows: list[Row]) -> str:
    """benchmarks/results.md."""
    lines = [
        "# Measured beside peers",
        "",
        "Written by `make bench` (`python -m benchmarks`): medians of at least five, ours and the peer's in turn, in",
        "one run. Ratios say how many times faster Histeval is; seconds are of this machine at that hour. A limit",
        "in seconds stands where there is no peer. Text, on which both work in one thread, is measured in processor",
        "time, which a busy machine hardly changes. Peak memory is of the process that measured, the peer's included;",
        "for whole commands, of the command (with `ray`, of all its processes together).",
        "",
        "| what | beside | ours, s | theirs, s | ratio | wanted | holds | peak, MB |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- | ---: |",
    ]
    for row in rows:
        cells = [row["what"], row["peer"]]
        cells += [f"{row[key]:.4g}" if row[key] else "-" for key in ("ours_seconds", "peer_seconds")]
        cells += [f"{row['ratio']:.3g}" if row["ratio"] else "-", f"{row['wanted']:.3g}"]
        cells += ["-" if row["ratio"] is None else "yes" if row["ratio"] >= row["wanted"] else "NO"]
        lines.append("| " + " | ".join([*cells, f"{row['peak_mb']:.0f}"]) + " |")
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    lines += [
        "",
        f"{time.strftime('%Y-%m-%d')}, Python {platform.python_version()}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, load {load:.1f} at the end (ratios survive a busy machine better than seconds do).",
        "",
        "Versions: " + ", ".join(f"{name} {known(name)}" for name in PACKAGES) + ".",
        "",
    ]
    return "\n".join(lines)


def known(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"


def check(modules: tuple[str, ...]) -> int:
    """Compares the small copies with their recorded ratios; what fell short is measured a second time. Of what has a
    recorded ratio and was not measured it says so: its peer is not installed, or, which is a fault, it has no row."""
    recorded: dict[str, float] = json.loads(SMALL.read_text())
    short: dict[str, str] = {}
    unknown = set(recorded)
    for module in modules:
        for attempt in range(2):
            slow = {}
            for row in measured(module, small=True):
                wanted = recorded.get(row["what"])
                unknown.discard(row["what"])
                if wanted is not None and row["ratio"] is None and not attempt:
                    print(f"not measured: {row['what']}: {row['peer']}")
                if wanted is not None and row["ratio"] is not None and row["ratio"] < wanted / 2:
                    slow[row["what"]] = f"{row['ratio']:.1f} times {row['peer']}, recorded {wanted:.1f}"
            if not slow:
                break
            if attempt:
                short |= slow
    for what, words in short.items():
        print(f"slower than half of what was recorded: {what}: {words}")
    if modules == tuple(IN_SMALL):
        short |= dict.fromkeys(unknown, "")
        for what in sorted(unknown):
            print(f"no longer measured: {what}")
    return 1 if short else 0


def main() -> int:
    """Measure, print, write or check."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", choices=MODULES, action="append")
    parser.add_argument("--module", choices=MODULES, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.module:
        print(json.dumps(measure_here(asked.module, asked.small)))
        return 0
    modules = tuple(asked.only or (IN_SMALL if asked.small or asked.check else MODULES))
    if asked.check:
        return check(modules)
    rows: list[Row] = []
    for module in modules:
        for row in measured(module, asked.small):
            rows.append(row)
            print(line(row), flush=True)
    if asked.small:
        # a limit in seconds says nothing on another machine, or on this one while it is busy
        ratios = {
            row["what"]: round(row["ratio"], 2) for row in rows if row["ratio"] and not row["peer"].startswith("limit")
        }
        recorded = json.loads(SMALL.read_text()) if asked.only and SMALL.exists() else {}
        SMALL.write_text(json.dumps(recorded | ratios, indent=1) + "\n")
    elif not asked.only:
        RESULTS.write_text(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
