"""The command line: `main` is the command `histeval`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Runs the command line and ends the process with its exit status.

    0 done; 1 a run left failures or a check found faults; 2 wrong use or unreadable input, said in one sentence.
    """
    # Products of resamples with counts are narrow: a second BLAS thread waits more than it works, fourfold so where
    # the machine is busy. Read once, when numpy is imported; a value that is set wins.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from histeval.cli.app import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules are still being read
        status = 130
    sys.exit(status)
