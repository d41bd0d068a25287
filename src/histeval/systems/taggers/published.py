"""The published figures of the trade directories, to stand beside one's own.

Source: Tual et al. 2023 (arXiv:2302.10204; code and tables: soduco/paper-nestedner-icdar23-code): F1 in percent, the
mean of five runs on 1685 test entries, recomputed from the published tables. The columns of the published table by type
are named in another order than its values; here each value stands under its own type. `Flat` of the independent
approach is run 1 in every run there, no mean. The hierarchical loss had unit weights, so it is the joint loss.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

LEVELS = ("All", "L1", "L2", "L1+L2", "P-L1+P-L2", "Flat")
TYPES = ("PER", "ACT", "ACT_L1", "ACT_L2", "DESC", "SPAT", "LOC", "CARDINAL", "TITREH", "TITREP", "TITRE", "FT")
COLUMNS = (*LEVELS, *TYPES)
NOTE = (
    "Published per-type figures stand under corrected column names (the published table names them in another order); "
    "published Flat of the independent approach is one run, no mean."
)


@cache
def published_figures() -> dict[tuple[str, str, str, str], dict[str, float]]:
    """F1 in percent by column, for (text, approach, backbone, scheme).

    >>> published_figures()["reference", "joint", "CmBERT", "IO"]["All"]
    96.19
    """
    text = (files("histeval.systems.taggers") / "published.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        key = (row["text"], row["approach"], row["backbone"], row["scheme"])
        found[key] = {column: float(row[column]) for column in COLUMNS if row[column]}
    return found


def metric_name(column: str, approach: str) -> str:
    """The metric of the directories task that a published column is.

    >>> metric_name("ACT_L1", "joint"), metric_name("PER", "flat"), metric_name("All", "joint")
    ('f1[L1/ACT]', 'f1[Flat/PER]', 'f1[All]')
    """
    if column in LEVELS:
        return f"f1[{column}]"
    kind, _, level = column.partition("_")
    if approach == "flat":
        return f"f1[Flat/{kind}]"
    return f"f1[{level or 'All'}/{kind}]"


def columns_of(approach: str) -> tuple[str, ...]:
    """The columns that have a meaning for an approach: a flat tagger says nothing of the levels."""
    if approach == "flat":
        return ("Flat", "PER", "ACT", "LOC", "CARDINAL", "TITRE", "FT")
    return tuple(column for column in COLUMNS if column != "TITRE")
