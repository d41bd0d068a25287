"""Signs of abbreviation and letter variants of medieval and early modern hands, and what they stand for."""

from __future__ import annotations

LONG_S = {"ſ": "s", "\u1e9b": "ṡ", "\ufb05": "st"}
"""Long s, long s with dot above, the ligature of long s and t."""

ABBREVIATIONS = {
    "⁊": "et",
    "ꝑ": "per",
    "ꝓ": "pro",
    "ꝯ": "con",
    "ꝰ": "us",
    "ꝝ": "rum",
    "ꝛ": "r",
}
