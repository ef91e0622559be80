"""The laws of a model, as derivatives need them: room for the slopes of each, and matrices on the space of their ports, which all
of them are put into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..elements.collection import EQUALITIES, Collection
from ..joints import Joint
from ..kernel.loops import Lane, Table, any, loops, where
from ..kernel.plans import Plans
from ..kernel.products import clear
from ..kernel.sweep import SCALAR, Field, Items, NodeClass, Routine, Step, Tree
from .law_slopes import SEEN, displaced_rows, pushing
from .port_space import PortSpace


@loops
def put(count: int, size: int, places: Table, part: Lane, whole: Lane) -> None:
    """The entries of all parts at their places in a matrix; equal places add up."""
    clear(size, whole)
    for e in range(count):
        whole[places[e]] += part[e]


@loops
def put_awake(laws: int, starts: Table, size: int, places: Table, awake: Lane, part: Lane, whole: Lane) -> None:
    """The same of the laws that are awake; `starts` says where the entries of each begin."""
    clear(size, whole)
    for k in range(laws):
        if any(awake[k] > 0.0):
            for e in range(starts[k], starts[k + 1]):
                whole[places[e]] += where(awake[k] > 0.0, part[e], 0.0)


@dataclass(frozen=True, eq=False)
class Part:
    """Matrices of laws, by the name of the field that they are in, and the one of all laws that they are put into.

    shapes   of every law, (rows, columns)
    places   of every law, of its entries in the whole
    size     of the whole
    """

    name: str
    whole: str
    shapes: list[tuple[int, int]]
    places: list[np.ndarray]
    size: int

    @property
    def starts(self) -> np.ndarray:
        """Where the entries of every law begin, and where the last ones end."""
        return np.cumsum([0, *map(len, self.places)], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class LinearLaws:
    """The laws of a model, as the slopes of its steps need them."""

    laws: Collection

    @cached_property
    def forces(self) -> PortSpace | None:
        return PortSpace(self.laws.force_nodes) if self.laws.forces else None

    @cached_property
    def rows(self) -> PortSpace | None:
        return PortSpace(self.laws.row_nodes) if self.laws.rows else None

    @property
    def pushes(self) -> bool:
        """Whether steps push out."""
        return bool(self.laws.rows) and self.laws.step_shape[3] != EQUALITIES

    @property
    def modal_width(self) -> int:
        """The most rows that share a mode (`solvers.modal`): those of one law."""
        return max((law.size for law in self.laws.rows), default=0)

    @cached_property
    def row_first(self) -> np.ndarray:
        """Of every row, the first row of its law."""
        sizes = [law.size for law in self.laws.rows]
        return np.repeat(np.cumsum([0, *sizes])[:-1], sizes)

    @cached_property
    def pushing(self) -> np.ndarray:
        """The rows that only push."""
        first = np.cumsum([0, *(law.size for law in self.laws.rows)])
        return np.array([first[k] + r for k, law in enumerate(self.laws.rows) for r in pushing(law)], np.int64)

    @cached_property
    def displaced(self) -> np.ndarray:
        """The rows that what is pushed out obeys."""
        first = np.cumsum([0, *(law.size for law in self.laws.rows)])
        return np.array([first[k] + r for k, law in enumerate(self.laws.rows) for r in displaced_rows(law)], np.int64)

    @cached_property
    def force_parts(self) -> list[Part]:
        if self.forces is None:
            return []
        S, at = self.forces.size, self.forces.places
        shapes = [(len(x), len(x)) for x in at]
        return [Part(f"{x}_slopes", f"{x}_ports", shapes, [_grid(p, p, S) for p in at], S * S) for x in ("K", "D")]

    @cached_property
    def row_parts(self) -> list[Part]:
        if self.rows is None:
            return []
        S, at, laws, R = self.rows.size, self.rows.places, self.laws.rows, self.laws.row_count
        first, last = 0, []
        for law in laws:
            last.append(np.arange(first, first + law.size))
            first += law.size
        seen = [np.concatenate([k * S + p for k in range(SEEN)]) for p in at]
        of_rows = [_grid(r, c, SEEN * S) for r, c in zip(last, seen, strict=True)]
        of_forces = [_grid(p, p, S) for p in at]
        row_shapes = [(law.size, len(c)) for law, c in zip(laws, seen, strict=True)]
        force_shapes = [(len(p), len(p)) for p in at]
        found = [
            Part(
                "G_seen",
                "G_ports",
                [(law.size, len(p)) for law, p in zip(laws, at, strict=True)],
                [_grid(r, p, S) for r, p in zip(last, at, strict=True)],
                R * S,
            ),
            Part("w_slopes", "w_ports", row_shapes, of_rows, R * SEEN * S),
            Part("f_slopes", "f_ports", force_shapes, of_forces, S * S),
        ]
        if not self.pushes:
            return found
        number, turns, count, out_places, out_shapes = 0, [], 0, [], []
        for law, p, every in zip(laws, at, seen, strict=True):
            some = count + np.arange(len(displaced_rows(law)))
            count += len(some)
            out_places.append(_grid(some, every, SEEN * S))
            out_shapes.append((len(some), len(every)))
            own = number + np.arange(len(pushing(law)))
            number += len(own)
            rows = (own[:, None] * S + p).reshape(-1)
            turns.append(_grid(rows, p, S))
        shapes = [(len(pushing(law)) * len(p), len(p)) for law, p in zip(laws, at, strict=True)]
        return [
            *found,
            Part("out_slopes", "out_ports", out_shapes, out_places, count * SEEN * S),
            Part("out_f_slopes", "out_f_ports", force_shapes, of_forces, S * S),
            Part("turns", "turns_ports", shapes, turns, number * S * S),
        ]

    @cached_property
    def unusual(self) -> np.ndarray:
        """The bodies whose joints do not just add their way."""
        joints = [b.joint for b in self.laws.model.bodies]
        simple = [type(j).integrate is Joint.integrate and not j.charted for j in joints]
        return np.array([i for i, plain in enumerate(simple) if not plain], np.int64)

    @cached_property
    def tree(self) -> Tree:
        """The loaded tree with room for the slopes."""
        tree = self.laws.tree
        parts = {"force": self.force_parts, "constraint": self.row_parts}
        sets = {of: _roomy(nodes, parts[of]) if of in parts else nodes for of, nodes in tree.sets.items()}
        counts, numbers, tables = dict(tree.counts), dict(tree.numbers), dict(tree.tables)
        counts["modal"], numbers["modal_width"] = self.laws.row_count * self.modal_width, self.modal_width
        tables["row_first"] = np.ascontiguousarray(self.row_first, np.int32)
        for part in (*self.force_parts, *self.row_parts):
            counts[part.whole] = numbers[f"{part.whole}_size"] = part.size
            numbers[f"{part.whole}_count"] = sum(len(p) for p in part.places)
            tables[f"{part.whole}_places"] = np.ascontiguousarray(np.concatenate(part.places), np.int32)
            tables[f"{part.whole}_starts"] = part.starts
            numbers[f"{part.whole}_laws"] = len(part.places)
        items = tree.items | {"unusual": lambda: Items(self.unusual, {})}
        return replace(tree, sets=sets, counts=counts, numbers=numbers, tables=tables, items=items)

    @cached_property
    def plans(self) -> Plans:
        return Plans(self.tree)


def _grid(rows: np.ndarray, columns: np.ndarray, width: int) -> np.ndarray:
    """The places of all entries of some rows and columns of a matrix."""
    return (rows[:, None] * width + columns).reshape(-1)


def _roomy(nodes: Tree, parts: Sequence[Part]) -> Tree:
    """A set of laws whose classes have room for their parts."""
    made: dict[Any, NodeClass] = {}
    classes = []
    for k, own in enumerate(nodes.classes):
        if id(own) not in made:
            sizes = {part.name: part.shapes[k][0] * part.shapes[k][1] for part in parts}
            made[id(own)] = replace(own, signature=(*own.signature, "slopes"), sizes={**own.sizes, **sizes})
        classes.append(made[id(own)])
    return replace(nodes, classes=classes)


def put_together(parts: Sequence[Part], of: str, fields: dict[str, Field]) -> list[Step]:
    """The routines that put parts of the laws of a set together; their fields are added to those of a program."""
    steps: list[Step] = []
    for part in parts:
        fields |= {part.name: Field("work", part.name, of=of), part.whole: Field("output", part.whole, SCALAR)}
        size, places = f"{part.whole}_size", f"{part.whole}_places"
        if of == "constraint":
            own = (f"{part.whole}_laws", f"{part.whole}_starts")
            steps.append(Routine(put_awake, (*own, size, places, "awake", part.name, part.whole)))
        else:
            steps.append(Routine(put, (f"{part.whole}_count", size, places, part.name, part.whole)))
    return steps
