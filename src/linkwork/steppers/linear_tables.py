"""Which numbers of the matrices of `linear_step` are not zero: tables for the loops that make them.

A body sees the degrees of freedom before it, a few *segments* of all; a row sees those of the ports of its law. Rows that lie
behind one another and see the same are a group, and are done at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..joints import Joint
from ..kernel.sweep import Tree
from ..model.model import Model
from ..reduced.law_slopes import SEEN
from ..reduced.port_columns import port_plans
from ..reduced.port_space import PortSpace, moving, width

Tables = dict[str, np.ndarray]
PLACE = 9  # numbers of a group of rows at one port, see `place_table`
PLACE_ROW, PLACE_ROWS, AT_PORT, SEEN_SIZE, SEEN_TOTAL, FROM_G, G_STEP, FROM_SLOPES, SLOPES_STEP = range(PLACE)


def segments(dofs: Iterable[int]) -> list[tuple[int, int]]:
    """Ascending numbers as runs (first, count)."""
    found: list[list[int]] = []
    for k in sorted(set(dofs)):
        if found and k == sum(found[-1]):
            found[-1][1] += 1
        else:
            found.append([k, 1])
    return [(first, count) for first, count in found]


def segment_tables(name: str, all_dofs: Sequence[Iterable[int]]) -> Tables:
    """Segments of many, one after the other: where those of each begin, and which they are."""
    lists = [segments(dofs) for dofs in all_dofs]
    flat = [x for found in lists for x in found]
    return {
        f"{name}_segments": np.cumsum([0, *(len(found) for found in lists)]),
        f"{name}_at": np.array([first for first, _ in flat]),
        f"{name}_size": np.array([count for _, count in flat]),
    }


class Ports:
    """The bodies that laws look at.

    supports   the degrees of freedom before each
    """

    def __init__(self, model: Model, bodies: Sequence[int]) -> None:
        self.model, self.bodies = model, list(bodies)
        self.starts = model.tree.offsets("v").tolist()
        self.supports: list[list[int]] = []
        if bodies:
            tree: Tree = port_plans(model, bodies).tree
            before = tree.tables["dof_before"].tolist()
            for k in tree.tables["port_last"].tolist():
                self.supports.append([])
                while k >= 0:
                    self.supports[-1].append(k)
                    k = before[k]

    def port(self, kind: object, body: int) -> int:
        """The number of a port: of a body among all, of a joint -1 - its first degree of freedom."""
        return -1 - self.starts[body] if isinstance(kind, Joint) else self.bodies.index(body)

    def seen(self, port: int, size: int) -> list[int]:
        """The degrees of freedom that a port sees."""
        return self.supports[port] if port >= 0 else list(range(-1 - port, size - 1 - port))

    @property
    def tables(self) -> Tables:
        return segment_tables("port", self.supports)


@dataclass(frozen=True)
class Place:
    """A row of a law at one of its ports: where its entries begin in G and in the slopes, and how many numbers its law sees."""

    row: int
    port: int
    size: int
    total: int
    G: int
    slopes: int


def row_places(ports: Ports, space: PortSpace, taken: Sequence[Sequence[int]], sizes: Sequence[int]) -> list[list[Place]]:
    """Of every law the places of some of its rows, `taken`; slopes hold these alone, G all of them, so many of each law."""
    found, row, G, slopes = [], 0, 0, 0
    for own, kinds, rows, size in zip(space.nodes.bodies, space.nodes.kinds, taken, sizes, strict=True):
        total, places = width(kinds), []
        for i, first, count in moving(kinds):
            port = ports.port(kinds[i], own[i])
            for k, r in enumerate(rows):
                at = (G + r * total + first, slopes + SEEN * k * total + first)
                places.append(Place(row + k, port, count, total, *at))
        found.append(places)
        row, G, slopes = row + len(rows), G + size * total, slopes + SEEN * len(rows) * total
    return found


def place_table(places: Sequence[Sequence[Place]]) -> np.ndarray:
    """Groups of rows at one port whose entries lie at even distances (groups, PLACE): the first row and how many there are, the
    port, what it and all of the law see, and where entries of the first row begin in G and in slopes, each with its distance."""
    groups: list[list[Place]] = []
    for place in sorted((p for law in places for p in law), key=lambda p: (p.port, p.size, p.total)):
        if not (groups and _follows(groups[-1], place)):
            groups.append([])
        groups[-1].append(place)
    found = []
    for g in groups:
        first, (G_step, slopes_step) = g[0], (g[1].G - g[0].G, g[1].slopes - g[0].slopes) if len(g) > 1 else (0, 0)
        found.append([first.row, len(g), first.port, first.size, first.total, first.G, G_step, first.slopes, slopes_step])
    return np.array(found, np.int64).reshape(-1, PLACE)


def _follows(group: Sequence[Place], place: Place) -> bool:
    last = group[-1]
    if (last.row + 1, last.port, last.size, last.total) != (place.row, place.port, place.size, place.total):
        return False
    line = [*group[-2:], place]
    return len({(b.G - a.G, b.slopes - a.slopes) for a, b in pairwise(line)}) == 1


def row_group_tables(name: str, ports: Ports, places: Sequence[Sequence[Place]], count: int) -> Tables:
    """Groups of rows that see the same degrees of freedom."""
    seen: list[set[int]] = [set() for _ in range(count)]
    for place in (p for law in places for p in law):
        seen[place.row] |= set(ports.seen(place.port, place.size))
    begins = [r for r in range(count) if r == 0 or seen[r] != seen[r - 1]]
    sizes = np.diff([*begins, count]) if begins else np.zeros(0)
    return {
        f"{name}_row": np.array(begins),
        f"{name}_rows": np.asarray(sizes),
        **segment_tables(name, [seen[r] for r in begins]),
    }


def pair_tables(name: str, ports: Ports, space: PortSpace | None) -> Tables:
    """Pairs of ports that some law knows both of: their numbers, their sizes, and where they are in matrices on the space."""
    pairs: dict[tuple[int, int, int, int], tuple[int, int]] = {}
    if space is not None:
        for own, kinds, at in zip(space.nodes.bodies, space.nodes.kinds, space.places, strict=True):
            units = [(ports.port(kinds[i], own[i]), size, int(at[first])) for i, first, size in moving(kinds) if size]
            for port, size, place in units:
                for other, other_size, other_place in units:
                    pairs[port, size, other, other_size] = (place, other_place)
    columns = {
        "a": [key[0] for key in pairs],
        "a_size": [key[1] for key in pairs],
        "b": [key[2] for key in pairs],
        "b_size": [key[3] for key in pairs],
        "a_at": [at for at, _ in pairs.values()],
        "b_at": [at for _, at in pairs.values()],
    }
    return {f"{name}_{column}": np.array(x, np.int64) for column, x in columns.items()}
