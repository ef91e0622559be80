"""An assembly made ready: its forest, and all sets of nodes that its programs run on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..kernel.plans import Plans
from ..kernel.sweep import Items, NodeClass, Tree
from ..solvers.gram_text import WIDE
from .condition import Condition
from .extent import Extent
from .forest import Link, Node, Trial, spanning_forest
from .node_classes import Made, NodeClasses, roles_to, tree_of
from .part import Part
from .ranks import steady
from .ways import Ways

OnParts = Sequence[tuple[Any, tuple[int, ...]]]  # laws, each with the indices of its parts


class Layout:
    """Parts, conditions and interactions in order, the primary conditions on a forest.

    places           of every condition the indices of its parts
    nodes            of the forest; `dims`: unknowns of each
    auxiliary        conditions that are not on the forest; `auxiliary_rows`: their rows among those of all conditions
    primary          rows of the others; `primary_at`: where they are among the unknowns
    """

    def __init__(
        self, parts: Sequence[Part], x: Sequence[np.ndarray], conditions: OnParts, forced: set[int], interactions: OnParts
    ) -> None:
        self.parts, self._interactions = list(parts), list(interactions)
        self._classes = NodeClasses(self.parts)
        self.conditions: list[Condition] = [c for c, _ in conditions]
        self.places = [at for _, at in conditions]
        self._x = x
        eligible = [not (c.unilateral or c.directed or k in forced) for k, c in enumerate(self.conditions)]
        links = [Link(at, c.size, ok) for (c, at), ok in zip(conditions, eligible, strict=True)]
        self.nodes, self.auxiliary = spanning_forest(len(parts), links, self._judge)
        self.dims = np.array([self._dim(n) for n in self.nodes])
        self._index()

    def _judge(self, trials: list[Trial]) -> list[bool]:
        """Whether rows are independent wherever the parts are; more rows than velocities never are."""
        rows = [sum(self.conditions[k].size for k in trial.conditions) for trial in trials]
        few = [k for k, trial in enumerate(trials) if rows[k] <= self.parts[trial.part].nv]
        found = [False] * len(trials)
        if not few:
            return found
        made, x = [], []
        for k in few:
            trial = trials[k]
            at = list(dict.fromkeys([trial.part, *(i for c in trial.conditions for i in self.places[c])]))
            spans = tuple(tuple(at.index(i) for i in self.places[c]) for c in trial.conditions)
            count = sum(self.parts[i].nv for i in at)
            sizes = {"x": sum(self.parts[i].nx for i in at), "w": count, "rows": rows[k], "J": rows[k] * count}
            made.append(self._classes.of([self.conditions[c] for c in trial.conditions], tuple(at), {"spans": spans}, sizes))
            x += [self._x[i] for i in at]
        for k, fits in zip(few, steady(tree_of([-1] * len(few), made, {}), np.concatenate(x)), strict=True):
            found[k] = fits
        return found

    def _dim(self, node: Node) -> int:
        if not node.is_part:
            return self.conditions[node.index].size
        return self.parts[node.index].nv + sum(self.conditions[k].size for k in node.own)

    def _index(self) -> None:
        starts = np.concatenate([[0], np.cumsum(self.dims)])
        self.q_starts = np.concatenate([[0], np.cumsum([p.nx for p in self.parts])])
        self.v_starts = np.concatenate([[0], np.cumsum([p.nv for p in self.parts])])
        self.row_starts = np.concatenate([[0], np.cumsum([c.size for c in self.conditions], dtype=int)])
        found: dict[int, int] = {}  # where the rows of a primary condition begin among the unknowns
        for start, node in zip(starts.tolist(), self.nodes, strict=False):
            at = start + self.parts[node.index].nv if node.is_part else start
            for k in node.own if node.is_part else (node.index,):
                found[k] = at
                at += self.conditions[k].size
        self.node_of_part = {n.index: k for k, n in enumerate(self.nodes) if n.is_part}
        first = sorted(found)
        self.primary = ranges(self.row_starts, first)
        self.primary_at = np.concatenate([np.zeros(0, int), *(found[k] + np.arange(self.conditions[k].size) for k in first)])
        self.auxiliary_rows = ranges(self.row_starts, self.auxiliary)
        unilateral = [[c.unilateral] * c.size for c in self.conditions]
        self.unilateral = np.array([x for rows in unilateral for x in rows], dtype=bool)
        self.one_sided = bool(self.unilateral.any())
        self.directed = any(self.conditions[k].directed for k in self.auxiliary)

    def owner(self, unknown: int) -> Part | Condition:
        """The part, or the condition, of an unknown."""
        k = int(np.searchsorted(np.cumsum(self.dims), unknown, side="right"))
        node, left = self.nodes[k], unknown - int(self.dims[:k].sum())
        if not node.is_part:
            return self.conditions[node.index]
        left -= self.parts[node.index].nv
        for c in (self.conditions[k] for k in node.own):
            if 0 <= left < c.size:
                return c
            left -= c.size
        return self.parts[node.index]

    def condition_of(self, row: int) -> Condition:
        """The condition of a row."""
        return self.conditions[int(np.searchsorted(self.row_starts, row, side="right")) - 1]

    # --- sets of nodes --------------------------------------------------------------------------------------------------------
    @cached_property
    def extent(self) -> Extent:
        links = [n for n in self.nodes if not n.is_part]
        sizes = [p.nv for p in self.parts] + [self.conditions[n.index].size for n in links]
        widths = [self.conditions[n.index].size * self._width(n.index) for n in links]
        return Extent(
            largest=max(sizes),
            widest=max(widths, default=1),
            links=max((len(self.places[n.index]) for n in links), default=0),
            rows=max((len(self.places[k]) for k in self.auxiliary), default=0),
            pulls=max((len(at) for _, at in self._interactions), default=0),
            one_sided=self.one_sided,
            directed=self.directed,
        )

    def _width(self, condition: int) -> int:
        """Velocities of all parts of a condition."""
        return sum(self.parts[i].nv for i in self.places[condition])

    @cached_property
    def tree(self) -> Tree:
        """The forest with the sets "part", "interaction", "auxiliary", "place" and "clock"."""
        e, parents = self.extent, [n.parent for n in self.nodes]
        at = [(n.index,) if n.is_part else self.places[n.index] for n in self.nodes]
        sets = {"part": self.part_tree, "clock": Tree(np.array([-1]), [NodeClass(("clock",))], [{}])}
        if e.pulls:
            sets["interaction"] = self._interaction_tree
        links = np.array([k for k, n in enumerate(self.nodes) if not n.is_part], np.int64)
        link_roles = roles_to([at[k] for k in links], e.links)
        items = {"links": lambda: Items(links, link_roles)}
        counts, tables, numbers = {}, {}, {}
        if e.rows:
            R, ways = len(self.auxiliary_rows), self.ways
            sets |= {"auxiliary": self._auxiliary_tree(ways), "place": ways.tree()}
            items |= {"climbs": ways.climbs}
            counts = {"row": R, "list": R + 1, "pair": R * R if e.directed else R * (R + 1) // 2, "tableau": R * (2 * R + 4)}
            counts["column"] = WIDE * int(np.sum(self.dims))
            tables, numbers = ways.tables(), {"rows": R}
        roles = {"p0": np.array([places[0] for places in at])}
        classes = [self._node_class(n) for n in self.nodes]
        return tree_of(parents, classes, roles, sets=sets, items=items, counts=counts, tables=tables, numbers=numbers)

    @cached_property
    def ways(self) -> Ways:
        """The ways of auxiliary rows to the roots."""
        entries = [[self.node_of_part[i] for i in self.places[k]] for k in self.auxiliary]
        return Ways([n.parent for n in self.nodes], self.dims, entries, [self.conditions[k].size for k in self.auxiliary])

    @cached_property
    def part_tree(self) -> Tree:
        """The parts, in their order."""
        made = (self._classes.of([], (i,), sizes={"q": p.nx, "v": p.nv}) for i, p in enumerate(self.parts))
        return tree_of([-1] * len(self.parts), made, {})

    @cached_property
    def measured(self) -> Tree:
        """The parts, and the sets "condition" and "interaction" of all of these in their order."""
        made = [
            self._classes.of([c], at, sizes={"rows": c.size, "J": c.size * self._width(k)})
            for k, (c, at) in enumerate(zip(self.conditions, self.places, strict=True))
        ]
        conditions = tree_of([-1] * len(made), made, roles_to(self.places, self.arity))
        tree = self.part_tree
        sets = ({"condition": conditions} if made else {}) | (
            {"interaction": self._interaction_tree} if self._interactions else {}
        )
        return Tree(tree.parent, tree.classes, tree.parameters, sets=sets)

    @cached_property
    def _interaction_tree(self) -> Tree:
        made = (self._classes.of([law], at) for law, at in self._interactions)
        roles = roles_to([at for _, at in self._interactions], self.extent.pulls)
        return tree_of([-1] * len(self._interactions), made, roles)

    @cached_property
    def arity(self) -> int:
        """Parts of a condition, at most."""
        return max(map(len, self.places), default=0)

    @cached_property
    def measured_places(self) -> np.ndarray:
        """Where the rows of all conditions, as they are measured, are in a matrix (rows, velocities), row by row."""
        places, n = [np.zeros(0, int)], int(self.v_starts[-1])
        for k, at in enumerate(self.places):
            rows = np.arange(self.row_starts[k], self.row_starts[k + 1])
            places.append((rows[:, None] * n + ranges(self.v_starts, at)).reshape(-1))
        return np.concatenate(places)

    @cached_property
    def plans(self) -> Plans:
        """Programs of the forest, kept."""
        return Plans(self.tree)

    @cached_property
    def measuring(self) -> Plans:
        """Those that look at conditions one by one."""
        return Plans(self.measured)

    def _node_class(self, node: Node) -> Made:
        above = self.nodes[node.parent] if node.parent >= 0 else None
        if node.is_part:
            nv = self.parts[node.index].nv
            structure = {"dim": self._dim(node), "nv": nv, "parent_dim": 0, "width": 0, "column": 0}
            if above is not None:
                structure |= {"parent_dim": self.conditions[above.index].size, **self._block(above.index, node.index)}
            return self._forest_class([self.conditions[k] for k in node.own], (node.index,), True, structure)
        c = self.conditions[node.index]
        assert above is not None
        structure = {"dim": c.size, "parent_dim": self.parts[above.index].nv, **self._block(node.index, above.index)}
        return self._forest_class([c], self.places[node.index], False, structure)

    def _block(self, condition: int, part: int) -> dict[str, int]:
        """Where the rows of a condition concern a part."""
        at = self.places[condition]
        return {"width": self._width(condition), "column": sum(self.parts[i].nv for i in at[: at.index(part)])}

    def _forest_class(self, laws: list[Condition], at: tuple[int, ...], is_part: bool, structure: dict[str, int]) -> Made:
        climbing = {"place": {"x": structure["dim"]}, "up": {"x": structure["parent_dim"]}}
        e = self.extent
        attributes = {"is_part": is_part, "directed": e.directed, "pulled": e.pulls > 0, **structure}
        return self._classes.of(laws, at, attributes, {"x": structure["dim"]}, climbing)

    def _auxiliary_tree(self, ways: Ways) -> Tree:
        made, most = [], self.extent.rows
        index = np.zeros((len(self.auxiliary), most), np.int64)
        for row, k in enumerate(self.auxiliary):
            c, at = self.conditions[k], self.places[k]
            nodes = [self.node_of_part[i] for i in at]
            dims = tuple(int(self.dims[i]) for i in nodes)
            index[row, : len(at)] = [ways.firsts[row][i] for i in nodes]
            attributes = {"directed": self.extent.directed, "place_dims": dims}
            sizes = {f"s{i}": {"x": c.size * dim} for i, dim in enumerate(dims)}
            made.append(self._classes.of([c], at, attributes, {"rows": c.size}, sizes))
        roles = roles_to([self.places[k] for k in self.auxiliary], most) | {f"s{i}": index[:, i] for i in range(most)}
        return tree_of([-1] * len(made), made, roles)


def ranges(starts: np.ndarray, items: Sequence[int]) -> np.ndarray:
    """The indices start, ..., next start - 1 of all items, one after the other."""
    return np.concatenate([np.zeros(0, int), *(np.arange(starts[i], starts[i + 1]) for i in items)])
