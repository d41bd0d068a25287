"""The command line: `main` is the command `histeval`."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line and ends the process with its exit status.

    0 done; 1 a run left failures or a check found faults; 2 wrong use or unreadable input, said in one sentence.
    """
    from histeval.cli.app import run

    sys.exit(run(sys.argv[1:]))
