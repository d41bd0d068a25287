"""A command in a terminal of a given width, as a person sees it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys


def in_terminal(columns: int, *words: str) -> str:
    """What a command prints in a terminal of so many columns, without its colours."""
    main, other = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "histeval", *words],
        stdout=other,
        stderr=other,
        env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm"},
    ) as process:
        os.close(other)
        printed = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:
                break
            if not part:
                break
            printed += part
    assert process.returncode == 0, printed
    return re.sub(r"\x1b\[[0-9;]*m", "", printed.decode("utf-8"))
