"""Signs of abbreviation and letter variants of medieval and early modern hands, and what they stand for.

Code points of the private use area are those of the Medieval Unicode Font Initiative (MUFI, Character Recommendation
4.0). Only signs with one usual reading are listed: q with a stroke (qui, que, quod) or a macron (m, n, or a whole
syllable) stay as they are.
"""

from __future__ import annotations

LONG_S = {"ſ": "s", "\u1e9b": "\u1e61", "\ufb05": "st"}
"""Long s, long s with dot above, the ligature of long s and t."""

ABBREVIATIONS = {
    "&": "et",
    "\u204a": "et",  # Tironian et
    "\u2e52": "ET",  # capital Tironian et
    "\ua750": "Per",
    "\ua751": "per",  # p with stroke through descender
    "\ua752": "Pro",
    "\ua753": "pro",  # p with flourish
    "\ua75a": "R",
    "\ua75b": "r",  # r rotunda
    "\ua75c": "RUM",
    "\ua75d": "rum",  # rum rotunda
    "\ua75e": "Ver",
    "\ua75f": "ver",  # v with diagonal stroke
    "\ua76a": "ET",
    "\ua76b": "et",  # et of que and -bus
    "\ua76c": "IS",
    "\ua76d": "is",
    "\ua76e": "Con",
    "\ua76f": "con",
    "\ua770": "us",  # raised us
    "\ua775": "rum",
    "\ua777": "tum",
    "\ua778": "um",
    # MUFI, private use
    "\ue781": "y\u0364",  # y with e above
    "\ue8a3": "autem",
    "\ue8b3": "qr",  # q ligated with r rotunda
    "\ue8b7": "ſ",  # long s with flourish
    "\ue8ba": "ver",  # v with short slash
    "\ue8bf": "que",  # q ligated with final et
    "\ueada": "ſt",
    "\ueba2": "ſi",
    "\ueba3": "ſl",
    "\ueba5": "ſp",
    "\ueba6": "ſſ",
    "\ueba7": "ſſi",
    "\ueec4": "ck",
    "\ueedc": "tz",
    "\uf158": "et",  # et with stroke
    "\uf159": "de",
    "\uf1a5": "US",  # us on the base line
    "\uf1a6": "us",
    "\uf1ac": ";",  # semicolon of q; and b;
}
"""A sign and what it is written out as."""
