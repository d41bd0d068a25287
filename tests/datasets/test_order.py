"""Reading orders beside a slow twin, and circles."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.datasets.formats import ImportReport
from histeval.datasets.formats.order import Node, reading_order
from histeval.errors import DatasetError
from support import examples

REGIONS = ("a", "b", "c", "d")


def flat(node: Node) -> list[str]:
    """The twin: every reference to a region, parents first, written down without regard to repetition."""
    own = [node.ref] if node.ref in REGIONS else []
    return own + [name for member in node.members for name in flat(member)]


LEAVES = st.builds(Node, ref=st.sampled_from((*REGIONS, "gone")))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda ref, members: Node(ref, "", tuple(members)),
        st.sampled_from(("", "", *REGIONS)),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)


def order(node: Node) -> tuple[list[str], ImportReport]:
    report = ImportReport("manuscripts", "page")
    return reading_order(node, set(REGIONS), Path("x.xml"), report, lambda item: item), report


@settings(max_examples=examples(200), deadline=None)
@given(TREES)
def test_each_region_once_in_the_order_of_the_tree(tree: Node) -> None:
    found, report = order(Node(members=(tree,)))
    assert found == list(dict.fromkeys(flat(tree)))
    gone = "a reference of the reading order to a region that there is not"
    assert (gone in report.left_out) == ("gone" in str(tree))


def test_a_reference_to_a_group_leads_to_its_members() -> None:
    group = Node(id="g", members=(Node("b"), Node("a")))
    found, report = order(Node(members=(Node("c"), Node("g"), group)))
    assert found == ["c", "b", "a"]
    assert not report.left_out


@pytest.mark.parametrize(
    "tree",
    [
        Node(id="g", members=(Node("g"),)),
        Node(id="g", members=(Node("a"), Node(id="h", members=(Node("b"), Node("g"))))),
        Node(members=(Node(id="g", members=(Node("h"),)), Node(id="h", members=(Node("g"),)))),
    ],
)
def test_circles_are_named(tree: Node) -> None:
    with pytest.raises(DatasetError, match=r"x\.xml: has a reading order that is cyclic"):
        order(tree)


def test_groups_within_groups_without_end() -> None:
    """Each group names the next one twice: read as they are, a reader would never end."""
    groups = [Node(id=f"g{n}", members=(Node(f"g{n + 1}"), Node(f"g{n + 1}"))) for n in range(40)]
    found, _ = order(Node(members=(*groups, Node(id="g40", members=(Node("a"),)))))
    assert found == ["a"]
