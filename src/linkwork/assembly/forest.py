"""Which conditions are primary: a spanning forest of the parts, rooted so that block elimination is right.

Nodes are parts and primary conditions. Every tree of parts has for its root the largest condition that holds one of its parts
alone, or else a part: a condition that were a leaf would be eliminated before the part that makes its block definite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Link:
    """A condition as the forest sees it: its parts, its rows, and whether it may be primary at all."""

    parts: tuple[int, ...]
    size: int
    eligible: bool


@dataclass(frozen=True)
class Node:
    """A part or a condition, by its index, and the index of its parent node or -1."""

    is_part: bool
    index: int
    parent: int


def spanning_forest(parts: int, links: Sequence[Link]) -> tuple[list[Node], list[int]]:
    """The nodes, parents before children, and the conditions that are auxiliary."""
    chosen = _acyclic(parts, links)
    at: list[list[int]] = [[] for _ in range(parts)]
    for k in chosen:
        for i in links[k].parts:
            at[i].append(k)
    singles = [k for k, link in enumerate(links) if link.eligible and len(link.parts) == 1]
    singles.sort(key=lambda k: -links[k].size)
    nodes: list[Node] = []
    seen = [False] * parts
    rooted: set[int] = set()
    for k, i in [(k, links[k].parts[0]) for k in singles] + [(None, i) for i in range(parts)]:
        if not seen[i]:
            if k is not None:
                rooted.add(k)
                nodes.append(Node(False, k, -1))
            _grow(nodes, seen, at, links, i, len(nodes) - 1 if k is not None else -1)
    return nodes, [k for k in range(len(links)) if k not in chosen and k not in rooted]


def _acyclic(parts: int, links: Sequence[Link]) -> set[int]:
    """The conditions between two parts that close no loop with those before them."""
    leader = list(range(parts))

    def find(i: int) -> int:
        while leader[i] != i:
            leader[i] = leader[leader[i]]
            i = leader[i]
        return i

    chosen = set()
    for k, link in enumerate(links):
        if link.eligible and len(link.parts) == 2:
            a, b = map(find, link.parts)
            if a != b:
                leader[a] = b
                chosen.add(k)
    return chosen


def _grow(nodes: list[Node], seen: list[bool], at: list[list[int]], links: Sequence[Link], root: int, parent: int) -> None:
    """Add the tree of a part, depth first."""
    stack: list[tuple[int, int, int | None]] = [(root, parent, None)]  # part, parent node, condition that leads there
    while stack:
        i, above, through = stack.pop()
        if through is not None:
            nodes.append(Node(False, through, above))
            above = len(nodes) - 1
        seen[i] = True
        nodes.append(Node(True, i, above))
        here = len(nodes) - 1
        for k in reversed(at[i]):
            a, b = links[k].parts
            other = b if a == i else a
            if k != through:
                stack.append((other, here, k))
