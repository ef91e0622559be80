"""An assembly made ready: its forest, its compiled sweeps, and where everything lies in their arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ModelError
from ..kernel.lanes import Lanes
from ..kernel.plan import Plan, variant
from ..kernel.plans import Plans
from ..kernel.sweep import NodeClass, Tree
from ..solvers.block_rules import unwanted
from .passes import (
    ROLES,
    acceleration_algorithm,
    auxiliary_algorithm,
    condition_class,
    part_class,
    tree_algorithm,
)
from .condition import Condition
from .forest import Link, Node, spanning_forest
from .part import Part

Made = tuple[NodeClass, dict[str, np.ndarray]]  # the class of a node, and its parameters


class Layout:
    """Parts and conditions in order, the primary ones on a forest.

    places           of every condition the indices of its parts
    forced           conditions that must be auxiliary
    part_rows        where every velocity is among the unknowns of the primary system
    primary          which rows of all conditions are primary; `primary_at`: where they are among the unknowns
    auxiliary_rows   which rows are auxiliary; `auxiliary`: of which conditions
    """

    def __init__(
        self, parts: Sequence[Part], conditions: Sequence[Condition], places: Sequence[tuple[int, ...]], forced: set[int]
    ) -> None:
        self.parts, self.conditions, self.places = list(parts), list(conditions), places
        links = [
            Link(at, c.size, not (c.unilateral or c.directed or k in forced))
            for k, (c, at) in enumerate(zip(conditions, places, strict=True))
        ]
        self.nodes, self.auxiliary = spanning_forest(len(parts), links)
        dims = [parts[n.index].nv if n.is_part else conditions[n.index].size for n in self.nodes]
        self.dims = np.array(dims)
        self.sizes = (max(dims), max(p.nx for p in parts), max(p.nv for p in parts))
        self._index()

    def _index(self) -> None:
        starts = np.concatenate([[0], np.cumsum(self.dims)])
        of_part, of_condition = ({n.index: k for k, n in enumerate(self.nodes) if n.is_part == kind} for kind in (True, False))
        self.q_starts = np.concatenate([[0], np.cumsum([p.nx for p in self.parts])])
        self.v_starts = np.concatenate([[0], np.cumsum([p.nv for p in self.parts])])
        self.row_starts = np.concatenate([[0], np.cumsum([c.size for c in self.conditions], dtype=int)])
        self.part_rows = _ranges(starts, [of_part[i] for i in range(len(self.parts))])
        first = sorted(of_condition)
        self.primary = _ranges(self.row_starts, first)
        self.primary_at = _ranges(starts, [of_condition[k] for k in first])
        self.auxiliary_rows = _ranges(self.row_starts, self.auxiliary)
        unilateral = [[c.unilateral] * c.size for c in self.conditions]
        self.unilateral = np.array([x for rows in unilateral for x in rows], dtype=bool)
        self.one_sided = bool(self.unilateral.any())
        self.directed = any(self.conditions[k].directed for k in self.auxiliary)
        self._q_at = _padded_places(self.q_starts, self.sizes[1])
        self._v_at = _padded_places(self.v_starts, self.sizes[2])

    # --- arrays as the sweeps take them -------------------------------------------------------------------------------------
    def padded_q(self, q: np.ndarray) -> np.ndarray:
        """Coordinates with as many places for every part."""
        return self.fill_q(np.zeros(len(self.parts) * self.sizes[1]), q)

    def padded_v(self, v: np.ndarray) -> np.ndarray:
        """Velocities, or forces, with as many places for every part."""
        return self.fill_v(np.zeros(len(self.parts) * self.sizes[2]), v)

    def fill_q(self, out: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Padded coordinates, written to an array."""
        out[self._q_at] = q
        return out

    def fill_v(self, out: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Padded velocities, written to an array."""
        out[self._v_at] = v
        return out

    # --- compiled -----------------------------------------------------------------------------------------------------------
    @cached_property
    def tree(self) -> Tree:
        """The nodes of the forest."""
        at = [(n.index,) if n.is_part else self.places[n.index] for n in self.nodes]
        roles = {"a": np.array([places[0] for places in at]), "b": np.array([places[-1] for places in at])}
        return self._tree([n.parent for n in self.nodes], map(self._class, self.nodes), roles)

    def _tree(self, parents: Sequence[int], made: Iterable[Made], roles: dict[str, np.ndarray]) -> Tree:
        """Nodes of these classes, equal ones of which are one, with their parameters."""
        known: dict[Any, NodeClass] = {}
        pairs = [(known.setdefault(c.signature, c), values) for c, values in made]
        return Tree(np.array(parents), [c for c, _ in pairs], [x for _, x in pairs], roles, {"part": len(self.parts)})

    def _class(self, node: Node) -> Made:
        parent_dim = int(self.dims[node.parent]) if node.parent >= 0 else 0
        if node.is_part:
            return part_class(self.parts[node.index], parent_dim)
        at = self.places[node.index]
        below = 0 if node.parent < 0 or at[0] != self.nodes[node.parent].index else 1
        return condition_class(self.conditions[node.index], [self.parts[i] for i in at], parent_dim, below)

    @cached_property
    def idle(self) -> list[Any]:
        """Systems that nobody uses at the moment."""
        return []

    @cached_property
    def _plans(self) -> Plans:
        return Plans(self.tree)

    def plan(self, lanes: Lanes, phase: str, uniform: tuple[str, ...] = ()) -> Plan:
        """A phase of the primary system, kept; "run" is the pass that computes accelerations at once."""
        algorithm = (acceleration_algorithm if phase == "run" else tree_algorithm)(self.sizes)
        spare = unwanted(phase) + (("growth",) if phase == "run" else ())
        return self._plans(algorithm, lanes, (phase,), spare, uniform)

    @cached_property
    def auxiliary_plan(self) -> Plan:
        """The rows of all auxiliary conditions."""
        places = [self.places[k] for k in self.auxiliary]
        arity = max(map(len, places))
        if arity > len(ROLES):
            raise ModelError(f"a condition connects {arity} parts; at most {len(ROLES)} are possible")
        made = (condition_class(self.conditions[k], [self.parts[i] for i in self.places[k]], 0, 0) for k in self.auxiliary)
        roles = {role: np.array([at[min(k, len(at) - 1)] for at in places]) for k, role in enumerate(ROLES[:arity])}
        tree = self._tree([-1] * len(places), made, roles)
        return Plan(auxiliary_algorithm(self.sizes, arity), tree, variant(Lanes(1), ("run",)))

    @cached_property
    def auxiliary_places(self) -> np.ndarray:
        """Where the entries of the auxiliary J, as the plan returns them, are in a matrix (rows, unknowns), row by row."""
        places, row, unknowns = [np.zeros(0, int)], 0, int(self.dims.sum())
        for k in self.auxiliary:
            own, m = self.part_rows[_ranges(self.v_starts, list(self.places[k]))], self.conditions[k].size
            places.append((np.arange(row, row + m)[:, None] * unknowns + own).reshape(-1))
            row += m
        return np.concatenate(places)

    def primary_accelerations(self) -> Callable[..., np.ndarray]:
        """A prepared function of padded q, v, f, and gravity: all unknowns of f = m a with the primary conditions alone."""
        work = self.plan(Lanes(1), "run").workspace()
        return work.of_state(("q", "v", "f", "gravity"), "x", (int(self.dims.sum()),))[0]


def _ranges(starts: np.ndarray, items: Sequence[int]) -> np.ndarray:
    """The indices start, ..., next start - 1 of all items, one after the other."""
    return np.concatenate([np.zeros(0, int), *(np.arange(starts[i], starts[i + 1]) for i in items)])


def _padded_places(starts: np.ndarray, size: int) -> np.ndarray | slice:
    """Where every number goes if each item gets `size` places."""
    counts = np.diff(starts)
    if np.all(counts == size):
        return slice(None)
    return np.concatenate([k * size + np.arange(c) for k, c in enumerate(counts)])
