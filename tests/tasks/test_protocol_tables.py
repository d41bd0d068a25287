"""The steps between protocols that docs/protocols.md shows are those that the script makes today."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from support import DATA, needs_data

ROOT = Path(__file__).resolve().parents[2]


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("protocol_differences", ROOT / "benchmarks/protocol_differences.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.data
@needs_data
def test_the_steps_in_the_documentation_are_current() -> None:
    made = script()
    text = (ROOT / "docs/protocols.md").read_text(encoding="utf-8")
    for name, (task, run) in made.RUNS.items():
        for protocol in ("published", "corrected"):
            shown = re.search(rf"<!-- table {name} {protocol} -->\n\n(.*?)\n\n<!-- end -->", text, re.DOTALL)
            assert shown, (name, protocol)
            assert shown[1] == "\n".join(made.step_table(DATA, task, run, protocol)), (name, protocol)
