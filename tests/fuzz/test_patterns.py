"""No regular expression of the package backtracks without bound: all are collected from the source and pumped."""

from __future__ import annotations

import ast
import re
import time
from pathlib import Path

import pytest
import regex

import histeval

ROOT = Path(histeval.__file__).parent
CALLS = {"compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
LENGTH = 1_000
SECONDS = 0.3
"""Processor time for one pattern on one text of `LENGTH`: linear and quadratic cost pass, cubic does not."""


def patterns() -> dict[str, tuple[str | bytes, int, str]]:
    """Every pattern that stands in the source as a literal: place, pattern, flags, module."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CALLS):
                continue
            module = node.func.value
            if not (isinstance(module, ast.Name) and module.id in ("re", "regex")) or not node.args:
                continue
            try:
                text = ast.literal_eval(node.args[0])
            except ValueError:
                continue
            if not isinstance(text, (str, bytes)):
                continue
            words = ast.unparse(node)
            flags = 0
            for name in ("IGNORECASE", "DOTALL", "MULTILINE", "VERBOSE"):
                if f"re.{name}" in words or f"re.{name[0] if name != 'VERBOSE' else 'X'}," in words:
                    flags |= int(getattr(re, name))
            found[f"{path.relative_to(ROOT)}:{node.lineno}"] = text, flags, module.id
    return found


def pumps(text: str) -> list[str]:
    """What to repeat: signs that the pattern names, alone and in pairs, and the usual ones."""
    named = list(dict.fromkeys(re.sub(r"\\[A-Za-z]|[\\()\[\]{}?*+|^$]", "", text)))[:6]
    usual = ["a", "0", " ", "\n", "<", ",", "-", "a ", "0."]
    return list(dict.fromkeys([*named, *usual, *(a + b for a in named[:2] for b in named[:3] if a != b)]))


ALL = patterns()


def test_patterns_are_found() -> None:
    assert len(ALL) > 60


def test_the_test_notices_catastrophes() -> None:
    with pytest.raises(AssertionError):
        pump("nowhere", r"(a+)+$", 0, "re", length=24)


@pytest.mark.parametrize("place", ALL)
def test_no_pattern_backtracks_without_bound(place: str) -> None:
    pump(place, *ALL[place])


def pump(place: str, pattern: str | bytes, flags: int, module: str, length: int = LENGTH) -> None:
    text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    compiled = re.compile(pattern, flags) if module == "re" else regex.compile(pattern, flags)
    literal = re.match(r"[\w<{\[\"# ]*", text.replace("\\", ""))
    begin = literal[0][:10] if literal else ""
    for piece in pumps(text):
        long = piece * (length // len(piece))
        for subject in (long + "\x00", begin + long + "\x00"):
            given = subject if isinstance(pattern, str) else subject.encode("utf-8")
            start = time.process_time()
            for method in (compiled.match, compiled.search, compiled.fullmatch):
                method(given)
            took = time.process_time() - start
            assert took < SECONDS, f"{place}: {pattern!r} takes {took:.1f} s on {piece!r} repeated"
