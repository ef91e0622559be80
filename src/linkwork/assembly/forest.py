"""Which conditions are primary: a spanning forest of the parts, and the conditions that each part holds in its own pivot.

Nodes are parts and conditions between parts that close no loop. Conditions on a single part need no node: they are rows of that
part's block. In a block [[M, J^T], [J, 0]] the rows of M come first, so it needs no pivoting where the rows J are independent,
and what it hands to the condition above it is definite where these are independent of J too. Whether they are depends on
numbers, so that somebody else has to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace


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


@dataclass(frozen=True)
class Trial:
    """A question: are the rows of these conditions, in the velocities of this part, independent wherever the parts are?"""

    part: int
    conditions: tuple[int, ...]


Judge = Callable[[list[Trial]], list[bool]]


def spanning_forest(parts: int, links: Sequence[Link], judge: Judge) -> tuple[list[Node], list[int]]:
    """The nodes, parents before children, and the conditions that are auxiliary.

    Every tree of parts has for its root the part with the largest condition of its own, which the root takes unasked. A condition
    on three parts or more is on the forest if it is independent in each of them.
    """
    wide = [Trial(i, (k,)) for k, link in enumerate(links) if link.eligible and len(link.parts) > 2 for i in link.parts]
    unfit = {trial.conditions[0] for trial, fits in zip(wide, judge(wide), strict=True) if not fits}
    links = [replace(link, eligible=link.eligible and k not in unfit) for k, link in enumerate(links)]
    chosen = _acyclic(parts, links)
    at: list[list[int]] = [[] for _ in range(parts)]
    for k in chosen:
        for i in links[k].parts:
            at[i].append(k)
    alone = [k for k, link in enumerate(links) if link.eligible and len(link.parts) == 1]
    alone.sort(key=lambda k: -links[k].size)
    nodes: list[Node] = []
    seen = [False] * parts
    for i in [links[k].parts[0] for k in alone] + list(range(parts)):
        if not seen[i]:
            _grow(nodes, seen, at, links, i)
    own = _held(nodes, [(links[k].parts[0], k) for k in alone], judge)
    nodes = [replace(node, own=tuple(own.get(node.index, ()))) if node.is_part else node for node in nodes]
    primary = chosen | {k for held in own.values() for k in held}
    return nodes, [k for k in range(len(links)) if k not in primary]


def _held(nodes: list[Node], alone: Sequence[tuple[int, int]], judge: Judge) -> dict[int, list[int]]:
    """Of every part the conditions on it alone that its pivot takes: one more at a time, at all parts at once."""
    above = {n.index: () if n.parent < 0 else (nodes[n.parent].index,) for n in nodes if n.is_part}
    waiting: dict[int, list[int]] = {}
    for part, k in alone:
        waiting.setdefault(part, []).append(k)
    held: dict[int, list[int]] = {part: [candidates.pop(0)] if not above[part] else [] for part, candidates in waiting.items()}
    while any(waiting.values()):
        turns = [(part, candidates.pop(0)) for part, candidates in waiting.items() if candidates]
        trials = [Trial(part, (*held[part], k, *above[part])) for part, k in turns]
        for (part, k), fits in zip(turns, judge(trials), strict=True):
            held[part] += [k] if fits else []
    return held


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


def _grow(nodes: list[Node], seen: list[bool], at: list[list[int]], links: Sequence[Link], root: int) -> None:
    """Add the tree of a part, depth first."""
    stack: list[tuple[bool, int, int]] = [(True, root, -1)]  # whether it is a part, which, its parent node
    while stack:
        is_part, k, parent = stack.pop()
        here, above = len(nodes), nodes[parent].index if parent >= 0 else None
        nodes.append(Node(is_part, k, parent))
        if is_part:
            seen[k] = True
            stack += [(False, c, here) for c in reversed(at[k]) if c != above]
        else:
            stack += [(True, i, here) for i in reversed(links[k].parts) if i != above]
