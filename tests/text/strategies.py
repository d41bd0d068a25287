"""Texts as historical documents hold them: long s, combining letters, MUFI, right-to-left, beyond the BMP, CR LF."""

from __future__ import annotations

from hypothesis import strategies as st

SIGNS = [
    *"abcuvijVUeo nm .,-¬\n\r",
    "ſ",
    "ß",
    "\u0304",  # combining macron
    "\u0364",  # combining letter e
    "\u0308",
    "ü",
    "⁊",
    "ꝑ",
    "\uf1ac",  # MUFI
    "א",
    "\u05b8",  # Hebrew point
    "ع",
    "\u200f",
    "𝔄",
    "\U0001f1e6",  # regional indicator
    "\U0001f468",
    "\u200d",
    "\u0915",
    "\u094d",  # virama
    "\u1100",
    "\u1161",
    "\uac00",
    "\u0600",
    "\u2029",
]
SPARE_SIGNS = ["\U000f0000", "\U000f0001", "\U0010fffd"]

texts = st.text(st.sampled_from(SIGNS), max_size=24)
any_texts = st.one_of(texts, st.text(st.sampled_from(SIGNS + SPARE_SIGNS), max_size=16), st.text(max_size=16))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """A text and a corruption of it, or two unrelated ones."""
    one = draw(any_texts)
    if draw(st.booleans()):
        return one, draw(any_texts)
    other = list(one)
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(other)))
        kind = draw(st.integers(0, 2))
        if kind and at < len(other):
            del other[at]
        if kind < 2:
            other.insert(at, draw(st.sampled_from(SIGNS)))
    return one, "".join(other)
