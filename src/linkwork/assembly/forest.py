"""Which conditions are primary: a spanning forest of the parts, and the conditions that each part holds in its own pivot.

Nodes are parts and conditions between parts that close no loop. Conditions on a single part need no node: they are rows of that
part's block. In a block [[M, J^T], [J, 0]] the rows of M come first, so it needs no pivoting where the rows J are independent,
and what it hands to the condition above it is definite where these are independent of J too. That is for whoever asks to say
(`fits`): it depends on numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Link:
    """A condition as the forest sees it: its parts, its rows, and whether it may be primary at all."""

    parts: tuple[int, ...]
    size: int
    eligible: bool


@dataclass(frozen=True)
class Node:
    """A part or a condition, by its index, the index of its parent node or -1, and the conditions that a part holds itself."""

    is_part: bool
    index: int
    parent: int
    own: tuple[int, ...] = ()


Fits = Callable[[int, list[int], int | None], bool]  # a part, conditions on it alone, the condition that leads to it if any


def spanning_forest(parts: int, links: Sequence[Link], fits: Fits) -> tuple[list[Node], list[int]]:
    """The nodes, parents before children, and the conditions that are auxiliary.

    Every tree of parts has for its root the part with the largest condition of its own, which the root takes unasked.
    """
    chosen = _acyclic(parts, links)
    at: list[list[int]] = [[] for _ in range(parts)]
    for k in chosen:
        for i in links[k].parts:
            at[i].append(k)
    alone = [k for k, link in enumerate(links) if link.eligible and len(link.parts) == 1]
    alone.sort(key=lambda k: -links[k].size)
    own: list[list[int]] = [[] for _ in range(parts)]
    for k in alone:
        own[links[k].parts[0]].append(k)
    nodes: list[Node] = []
    seen = [False] * parts
    for i in [links[k].parts[0] for k in alone] + list(range(parts)):
        if not seen[i]:
            _grow(nodes, seen, at, own, links, i, fits)
    primary = chosen | {k for node in nodes for k in node.own}
    return nodes, [k for k in range(len(links)) if k not in primary]


def _acyclic(parts: int, links: Sequence[Link]) -> set[int]:
    """The conditions between parts that close no loop with those before them."""
    leader = list(range(parts))

    def find(i: int) -> int:
        while leader[i] != i:
            leader[i] = leader[leader[i]]
            i = leader[i]
        return i

    chosen = set()
    for k, link in enumerate(links):
        if link.eligible and len(link.parts) > 1:
            found = [find(i) for i in link.parts]
            if len(set(found)) == len(found):
                for i in found[1:]:
                    leader[i] = found[0]
                chosen.add(k)
    return chosen


def _grow(
    nodes: list[Node], seen: list[bool], at: list[list[int]], own: list[list[int]], links: Sequence[Link], root: int, fits: Fits
) -> None:
    """Add the tree of a part, depth first."""
    stack: list[tuple[bool, int, int]] = [(True, root, -1)]  # whether it is a part, which, its parent node
    while stack:
        is_part, k, parent = stack.pop()
        here, above = len(nodes), nodes[parent].index if parent >= 0 else None
        if is_part:
            seen[k] = True
            nodes.append(Node(True, k, parent, _held(k, own[k], above, fits)))
            stack += [(False, c, here) for c in reversed(at[k]) if c != above]
        else:
            nodes.append(Node(False, k, parent))
            stack += [(True, i, here) for i in reversed(links[k].parts) if i != above]


def _held(part: int, candidates: Sequence[int], above: int | None, fits: Fits) -> tuple[int, ...]:
    """The conditions on a part alone that its pivot takes."""
    held: list[int] = []
    for k in candidates:
        if (above is None and not held) or fits(part, [*held, k], above):
            held.append(k)
    return tuple(held)
