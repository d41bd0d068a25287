from __future__ import annotations

import subprocess
import sys


def test_importing_the_room_loads_no_heavy_library() -> None:
    code = "import sys, histeval.text; print([m for m in ('numpy', 'regex', 'rapidfuzz') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
