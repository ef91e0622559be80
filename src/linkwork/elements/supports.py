"""The supports of rows: the bodies between a row's ports and the root, and where its force passes on the way.

A row with wrench p on a body and force c on joints goes up its path; at every joint j

    u_j = c_j + S_j^T p_j,      y_j = D_j^-1 u_j,      p_parent = move(p_j - U_j y_j).

Then A_rs = G_r M^-1 G_s^T is the sum of u_rj . y_sj over the joints on both paths, and M^-1 G^T x starts from sums of y_rj x_r.
A *place* is one row at one body of its path; the places of the rows of one law at one body lie side by side. Memory stays near: a
row whose law holds a single body has one p, which changes from joint to joint. Where wrenches of several ports meet, p is empty
after a row has passed, and laws climb one after the other: so where no port is, p of all these laws has the same memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..joints import Joint
from ..kernel.sweep import Items, NodeClass, Step, Tree, over
from ..model.model import Model
from ..solvers.gram import path_tables
from ..solvers.problem import BOUNDS, FIRST, NORMAL, SECOND
from ..spatial.scalar import zeros
from .nodes import LawNodes

PYRAMID = {NORMAL: BOUNDS, FIRST: -1, SECOND: -2}  # rows of a Coulomb cone, each tangent by itself
ABREAST = (1, 2, 3)  # rows that climb side by side: what they read of a joint is read once


def climbing(rule: Callable[..., None], under: tuple[str, str] | None = None) -> list[Step]:
    """The sweeps in which all rows that are on climb by a rule(joint, place, next place), which empties the place and adds to the
    next one; `under` is a guard of laws."""
    return [make(rule, count, under) for make in (_on_one_way, _abreast) for count in ABREAST]


def _abreast(rule: Callable[..., None], count: int, under: tuple[str, str] | None) -> Step:
    places, ups = _roles(count)

    @functools.wraps(rule)
    def climb(n: Any, *around: Any) -> None:
        for place, up in zip(around[:count], around[count:], strict=True):
            rule(n, place, up)

    return over(_list(count), climb, *places, *ups, when=("row", "row_on"), under=under)


def _on_one_way(rule: Callable[..., None], count: int, under: tuple[str, str] | None) -> Step:
    """The same where a place and the next one have one p."""

    @functools.wraps(rule)
    def climb(n: Any, *places: Any) -> None:
        for place in places:
            above = _Above()
            rule(n, _Here(place), above)
            place.p = above.p

    return over(_one_way_list(count), climb, *_roles(count)[0], when=("row", "row_on"), under=under)


class _Above:
    """The next place, to which nothing else is added."""

    def __init__(self) -> None:
        self.p = zeros(6)


class _Here:
    """A place whose p is overwritten with that of the next one, and need not be emptied."""

    __slots__ = ("_place",)

    def __init__(self, place: Any) -> None:
        object.__setattr__(self, "_place", place)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._place, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "p":
            setattr(self._place, name, value)


def _list(count: int) -> str:
    return f"climbs_of_{count}"


def _one_way_list(count: int) -> str:
    return f"climbs_on_one_way_of_{count}"


def _roles(count: int) -> tuple[list[str], list[str]]:
    """The roles of the places of rows that climb side by side, and of the next ones."""
    return [f"place{k}" for k in range(count)], [f"up{k}" for k in range(count)]


def _side_by_side(start: int, count: int) -> list[range]:
    """Rows from `start` on in groups that climb side by side."""
    most = ABREAST[-1]
    return [range(start + k, start + min(k + most, count)) for k in range(0, count, most)]


@dataclass(frozen=True, eq=False)
class Supports:
    """The places of the rows of some laws.

    sizes    rows of every law
    paths    of every law the bodies on the way from its ports to the root, root first
    """

    model: Model
    nodes: LawNodes
    sizes: list[int]
    paths: list[np.ndarray]

    @staticmethod
    def of(nodes: LawNodes, sizes: list[int]) -> Supports:
        """Those of laws with so many rows."""
        parents = nodes.model.parents
        paths = []
        for at in nodes.bodies:
            found: set[int] = set()
            for i in at:
                while i >= 0 and i not in found:
                    found.add(i)
                    i = int(parents[i])
            paths.append(np.array(sorted(found), np.int64))
        return Supports(nodes.model, nodes, sizes, paths)

    @cached_property
    def firsts(self) -> list[dict[int, int]]:
        """Of every law, by body, the first of its places there."""
        out, at = [], 0
        for size, path in zip(self.sizes, self.paths, strict=True):
            out.append({int(body): at + k * size for k, body in enumerate(path)})
            at += size * len(path)
        return out

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Of every place its row and its body."""
        rows, bodies, row = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
        for size, path in zip(self.sizes, self.paths, strict=True):
            rows.append(np.tile(np.arange(row, row + size), len(path)))
            bodies.append(np.repeat(path, size))
            row += size
        return np.concatenate(rows), np.concatenate(bodies)

    @cached_property
    def _freedoms(self) -> np.ndarray:
        return np.array([b.joint.nv for b in self.model.bodies], np.int64)

    def tree(self) -> Tree:
        """The places as a set of nodes: p, c, u and y live there."""
        _, bodies = self._places
        classes = {n: NodeClass(("place", n), {}, {}, {"p": 6, "v": n}) for n in set(self._freedoms[bodies].tolist())}
        own = [classes[n] for n in self._freedoms[bodies].tolist()]
        return Tree(np.full(len(bodies), -1), own, [{}] * len(bodies), common={"p": self._wrenches()})

    def _wrenches(self) -> np.ndarray:
        """Where p of every place begins, and the end: places at ports first, then those that laws use in turn."""
        ports = sum(size * len(set(at) - {-1}) for at, size in zip(self.nodes.bodies, self.sizes, strict=True))
        starts, first, most = [], 0, 6 * ports
        for law, (at, size, path) in enumerate(zip(self.nodes.bodies, self.sizes, self.paths, strict=True)):
            free, rows = 6 * ports, 6 * np.arange(size)
            if self._has_one_way(law):
                starts += [first + rows] * len(path)
                first += 6 * size
                continue
            for body in path.tolist():
                starts.append((first if body in at else free) + rows)
                first, free = (first + 6 * size, free) if body in at else (first, free + 6 * size)
            most = max(most, free)
        return np.concatenate([np.zeros(0, np.int64), *starts, [most]]).astype(np.int64)

    def roles(self) -> tuple[dict[str, np.ndarray], list[dict[str, dict[str, int]]]]:
        """For the set of the laws: s0, s1, ... point to the places of their rows at each port, all rows at once."""
        index = np.zeros((len(self.sizes), self.nodes.most), np.int64)
        sizes: list[dict[str, dict[str, int]]] = []
        for law, (at, size) in enumerate(zip(self.nodes.bodies, self.sizes, strict=True)):
            sizes.append({})
            for i, body in enumerate(at):
                if body >= 0:
                    index[law, i] = self.firsts[law][body]
                    kind = self.nodes.kinds[law][i]
                    sizes[-1][f"s{i}"] = {"p": 6 * size, "v": size * (kind.nv if isinstance(kind, Joint) else 0)}
        return {f"s{i}": index[:, i] for i in range(self.nodes.most)}, sizes

    def _has_one_way(self, law: int) -> bool:
        """Whether a law holds a single body."""
        return len(set(self.nodes.bodies[law]) - {-1}) == 1

    def climbs(self) -> dict[str, Callable[[], Items]]:
        """Of every number of rows that climb side by side the lists of their ways, by name."""
        ways: dict[bool, list[int]] = {True: [], False: []}
        for law in range(len(self.sizes)):
            ways[self._has_one_way(law)].append(law)
        lists = {True: _one_way_list, False: _list}
        return {lists[one](count): functools.partial(self._climbs, count, ways[one]) for one in lists for count in ABREAST}

    def climbs_apart(self) -> dict[str, Callable[[], Items]]:
        """The same lists where every place has a p of its own."""
        laws = list(range(len(self.sizes)))
        none = {_one_way_list(count): functools.partial(self._climbs, count, []) for count in ABREAST}
        return none | {_list(count): functools.partial(self._climbs, count, laws) for count in ABREAST}

    def _climbs(self, count: int, laws: Sequence[int]) -> Items:
        """So many rows, which are on together, at every body of their path, leaves first: the body, their places, the next ones
        toward the root, the row that says whether they are on: the first of a law, of a cone, or the row itself; and the law."""
        places, ups = _roles(count)
        names = (*places, *ups, "row", "law")
        found: list[tuple[int, ...]] = []
        rows = np.cumsum(self.sizes) - self.sizes
        for law in laws:
            size, path, row = self.sizes[law], self.paths[law], int(rows[law])
            together, first = self.nodes.laws[law].together, self.firsts[law]
            groups = [
                group for start in range(0, size, together) for group in _side_by_side(start, together) if len(group) == count
            ]
            for body in path[::-1].tolist() if groups else ():
                parent = int(self.model.parents[body])
                for group in groups:
                    up = [first[parent] + k if parent >= 0 else 0 for k in group]
                    found.append((body, *(first[body] + k for k in group), *up, row + group[0] - group[0] % together, law))
        nodes, *roles = np.array(found, np.int64).reshape(-1, 1 + len(names)).T
        return Items(nodes, dict(zip(names, roles, strict=True)))

    def tables(self) -> dict[str, np.ndarray]:
        """What routines read: the places of every row by body, where u and y begin there, how many, and where v does."""
        rows, bodies = self._places
        order = np.lexsort((bodies, rows))
        counts = self._freedoms[bodies]
        at = np.cumsum(counts) - counts
        starts = np.searchsorted(rows[order], np.arange(sum(self.sizes) + 1))
        v_at = self.model.tree.offsets("v")[bodies]
        found = {"starts": starts, "places": at[order], "freedoms": counts[order], "v_at": v_at[order]}
        found |= path_tables(starts, found["places"], found["freedoms"], found["v_at"])
        found["joints"] = bodies[order]
        found["law_rows"] = np.concatenate([[0], np.cumsum(self.sizes)])
        found["groups"] = self._groups()
        found["cones"] = np.array([kind for law in self.nodes.laws for kind in law.row_kinds], np.int64)
        found["pyramids"] = np.array([PYRAMID.get(kind, kind) for kind in found["cones"].tolist()], np.int64)
        found["discs"] = np.array(
            [rows for law, size in zip(self.nodes.laws, self.sizes, strict=True) for rows in _discs(law, size)], np.int64
        )
        return {name: np.ascontiguousarray(x, np.int32) for name, x in found.items()}

    def _groups(self) -> np.ndarray:
        """Of every row its group: rows of a law that have the same units, and are of one size in most positions."""
        found, first = [np.zeros(0, np.int64)], 0
        for law, size in zip(self.nodes.laws, self.sizes, strict=True):
            found.append(first + np.asarray(law.groups, np.int64))
            first += size
        return np.concatenate(found)


def _discs(law: Any, size: int) -> list[int]:
    """Of every row whose bound follows from what is carried the size of the disc that begins there, 0 inside one; else -1."""
    return [rows if k == 0 else 0 for rows in law.discs for k in range(rows)] if law.by_reaction else [-1] * size
