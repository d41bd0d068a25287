"""Which entity types there are and how they nest, as the converters and scorers of this room need it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from histeval.errors import UsageError

Path = tuple[str, ...]
"""The types from the root down to an entity: `("SPAT", "LOC")`."""

RECURSION_DEPTH = 4
"""How deep a grammar is taken to be in which a type may hold itself, directly or not, unless a depth is given."""

NO_CLASS = "NO"
"""The flat type of a pair of labels that the grammar does not know (published name); always a false positive."""


class TypeLike(Protocol):
    """What a grammar reads of an entity type; `histeval.tasks.description.EntityType` has it."""

    @property
    def name(self) -> str: ...
    @property
    def children(self) -> tuple[str, ...]: ...
    @property
    def root(self) -> bool: ...
    @property
    def flat(self) -> str | None: ...
    @property
    def flat_in(self) -> Mapping[str, str | None]: ...


@dataclass(frozen=True)
class Grammar:
    """Entity types in their order, the types that may stand directly inside each, and those that may stand at the root.

    `depth` is the number of levels. `flat` gives for (parent or None, type) the type that remains where nesting is
    dropped; None there means that nothing remains.
    """

    types: tuple[str, ...]
    children: Mapping[str, tuple[str, ...]]
    roots: tuple[str, ...]
    depth: int
    flat: Mapping[tuple[str | None, str], str | None]
    flat_labels: dict[tuple[str, ...], str] = field(default_factory=dict, repr=False, compare=False)
    """Flat labels by the tags of a token at each level, remembered by `histeval.entities.tags.flat_tags`."""

    @classmethod
    def of(cls, types: Iterable[TypeLike], depth: int | None = None) -> Grammar:
        """The grammar of a description's types.

        Where no type says what it becomes when nesting is dropped, the innermost type remains under its own name.
        A name may hold any character but `+`, `/` and white space. Raises UsageError.

        >>> from types import SimpleNamespace as Type
        >>> loc = Type(name="LOC", children=(), root=False, flat=None, flat_in={})
        >>> spat = Type(name="SPAT", children=("LOC",), root=True, flat=None, flat_in={})
        >>> grammar = Grammar.of([spat, loc])
        >>> grammar.roots, grammar.depth, list(grammar.paths())
        (('SPAT',), 2, [('SPAT',), ('SPAT', 'LOC')])
        """
        given = list(types)
        known = {kind.name: kind for kind in given}
        if len(known) != len(given):
            raise UsageError("an entity type is described twice; give each type one entry in `types`")
        for kind in given:
            bad = not kind.name or kind.name in ("O", "other") or any(c in "+/" or c.isspace() for c in kind.name)
            if bad:
                raise UsageError(
                    f"{kind.name!r} cannot be the name of an entity type; leave out '+', '/', white space, and the "
                    "words O and other"
                )
            for child in kind.children:
                if child not in known:
                    raise UsageError(f"the type {kind.name} may hold {child}, which is not described; add it to types")
        children = {kind.name: tuple(kind.children) for kind in given}
        roots = tuple(kind.name for kind in given if kind.root)
        mapped = any(kind.flat is not None or kind.flat_in for kind in given)
        flat: dict[tuple[str | None, str], str | None] = {}
        for kind in given:
            alone = kind.flat if mapped else kind.name
            if kind.root:
                flat[None, kind.name] = alone
            for child in kind.children:
                inner = known[child]
                flat[kind.name, child] = inner.flat_in.get(kind.name, inner.flat) if mapped else child
        longest = _longest(roots, children)
        if depth is None:
            depth = longest or RECURSION_DEPTH
        return cls(tuple(known), children, roots, max(depth, 1), flat)

    def allows(self, parent: str | None, type: str) -> bool:
        """Whether `type` may stand directly inside `parent` (None: at the root)."""
        return type in (self.roots if parent is None else self.children.get(parent, ()))

    def paths(self) -> Iterator[Path]:
        """Every path from the root that the grammar allows, a parent before what it holds, down to `depth`."""
        stack: list[Path] = [(root,) for root in reversed(self.roots)]
        while stack:
            path = stack.pop()
            yield path
            if len(path) < self.depth:
                stack.extend((*path, child) for child in reversed(self.children[path[-1]]))

    def flat_type(self, path: Path, *, flat: bool = False) -> str | None:
        """What remains of `path` where nesting is dropped: a type, None for nothing, `NO` for an unknown path.

        With `flat` the path comes from a system that knows no nesting: a type that can remain stays as it is.
        """
        if not path:
            return None
        if flat and len(path) == 1 and path[0] in self.flat_types:
            return path[0]
        above: str | None = None
        for kind in path:
            if (above, kind) not in self.flat:
                return NO_CLASS
            above = kind
        return self.flat[path[-2] if len(path) > 1 else None, path[-1]]

    @cached_property
    def flat_types(self) -> tuple[str, ...]:
        """The types that remain where nesting is dropped, in the order in which paths give them."""
        found = dict.fromkeys(self.flat_type(path) for path in self.paths())
        return tuple(kind for kind in found if kind is not None)


def _longest(roots: tuple[str, ...], children: Mapping[str, tuple[str, ...]]) -> int | None:
    """Length of the longest path from a root, 0 without types; None where a type can hold itself."""
    lengths: dict[str, int] = {}
    for root in roots:
        open_types: set[str] = set()
        stack: list[tuple[str, bool]] = [(root, False)]
        while stack:
            kind, done = stack.pop()
            if done:
                open_types.discard(kind)
                lengths[kind] = 1 + max((lengths[child] for child in children[kind]), default=0)
            elif kind in open_types:
                return None
            elif kind not in lengths:
                open_types.add(kind)
                stack.append((kind, True))
                for child in children[kind]:
                    if child in open_types:
                        return None
                    if child not in lengths:
                        stack.append((child, False))
    return max((lengths[root] for root in roots), default=0)
