"""Reading orders: nested groups that refer to regions, as PAGE and ALTO write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from histeval.datasets.formats.base import ImportReport
from histeval.errors import DatasetError


@dataclass(frozen=True, slots=True)
class Node:
    """A reference to a region (`ref`), or a group with an id and its members in order; a group may refer to a region
    too, the one that its members make up."""

    ref: str = ""
    id: str = ""
    members: tuple[Node, ...] = ()


def reading_order(
    order: Node, regions: set[str], file: Path, report: ImportReport, at: Callable[[str], str]
) -> list[str]:
    """The ids of regions that an order names, each once, in order.

    A reference to a group leads to its members. A reference to nothing, and one that comes again, is reported. Raises
    DatasetError where a group leads back to itself.
    """
    groups = {group.id: group for group in _groups(order) if group.id and group.id not in regions}
    found: dict[str, None] = {}
    visited: set[str] = set()
    # A stack of its own: groups may be nested deeper than Python recurses. None marks the end of a group.
    stack: list[tuple[Node, bool]] = [(order, False)]
    open_groups: list[str] = []
    while stack:
        node, leaving = stack.pop()
        if leaving:
            open_groups.pop()
            continue
        target = groups.get(node.ref) if node.ref not in regions else None
        if target is not None:
            node = Node(id=target.id, members=target.members)
        elif node.ref in regions:
            if node.ref in found and not node.members:
                report.repair("a region that the reading order names twice, read at its first place", at(node.ref))
            found.setdefault(node.ref)
        elif node.ref:
            report.leave_out("a reference of the reading order to a region that there is not", at(node.ref))
        if node.id and node.id in open_groups:
            what = f"has a reading order that is cyclic: the group {node.id[:80]!r} leads back to itself"
            raise DatasetError(what, file=file, remedy="Remove the reference from inside the group")
        if node.id and node.id in visited and target is not None:
            report.repair("a group that the reading order names twice, read at its first place", at(node.id))
            continue
        visited.add(node.id)
        open_groups.append(node.id)
        stack.append((node, True))
        stack += [(member, False) for member in reversed(node.members)]
    return list(found)


def _groups(order: Node) -> list[Node]:
    found, waiting = [], [order]
    while waiting:
        node = waiting.pop()
        if node.members:
            found.append(node)
            waiting += node.members
    return found
