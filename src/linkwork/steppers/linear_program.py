"""A step of symplectic Euler with the slopes of all that it is made of: the program of the step, then the rules of its laws once
more on dual numbers (`reduced.law_slopes`), put into matrices on the space of ports (`reduced.port_space`).

What the step computes on the way stays visible: the first accelerations, the free motion, what rows add to it, and how far they
push out. `linear_step` makes the derivatives of the step of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..elements.collection import EQUALITIES, Collection
from ..elements.ports import JointAt
from ..joints import Joint
from ..kernel.loops import Lane, Table, loops, where
from ..kernel.plans import Plans
from ..kernel.sweep import SCALAR, Algorithm, Field, Items, NodeClass, Routine, Step, Sweep, Tree, each, over, vector
from ..model.rules import joint_of
from ..reduced.law_slopes import SEEN, displaced_rows, flat, force_slopes, pushed_row_slopes, pushing, row_slopes, turning
from ..reduced.port_space import PortSpace
from ..reduced.program import correct, held_middle_velocities, middle_velocities
from ..solvers.box_adjoints import keep_matrix
from ..solvers.boxes import solve_boxes, solve_soft_boxes
from ..solvers.coulomb import solve_packed_cones
from ..solvers.edges import find_edges
from ..solvers.modal import free_rows, modal_matrices
from ..spatial.dual import Dual, held, split, variables
from ..spatial.scalar import Vector, zeros
from .symplectic_euler import update_after_pushes, update_held, update_joints

UPDATES = (update_joints, update_held, update_after_pushes)
MIDDLE = (middle_velocities, held_middle_velocities)
SOLVERS = (solve_boxes, solve_soft_boxes, solve_packed_cones)
BLOCKS = tuple(f"{of}_by_{by}" for of in ("q", "v") for by in ("q", "way", "v"))


# --- rules -------------------------------------------------------------------------------------------------------------------
def keep_first(n: Any) -> None:
    """The accelerations that lead to the middle of the step."""
    n.first_a = n.a


def keep_unheld(n: Any) -> None:
    """The free motion, before rows change it."""
    n.unheld_v, n.pressed = n.free_v, zeros(6)


def keep_held(n: Any) -> None:
    """What rows add to it."""
    n.held_change, n.held_jump = n.free_v - n.unheld_v, n.jump


def no_shift(n: Any) -> None:
    """Nothing is pushed out yet."""
    n.shift, n.pressed_out = zeros(len(n.v)), zeros(6)


def update_slopes(n: Any) -> None:
    """How the displacement and velocity of a joint after the step change with its displacement before, its way and v'."""
    _update_slopes(n, n.h * n.free_v)


def pushed_update_slopes(n: Any) -> None:
    """The same where something may be pushed out."""
    _update_slopes(n, n.h * n.free_v + n.shift)


def _update_slopes(n: Any, way: Vector) -> None:
    joint = joint_of(n)
    nv, count = joint.nv, 3 * joint.nv
    q = JointAt(joint, n.q, n.v).displaced(count, 0, Dual)
    moved, v = joint.rechart(joint.integrate(q, variables(way, count, nv)), variables(n.free_v, count, 2 * nv))
    dq, dv = split(joint.difference(held(moved), moved), count)[1], split(v, count)[1]
    for of, slopes in (("q", dq), ("v", dv)):
        for k, by in enumerate(("q", "way", "v")):
            setattr(n, f"{of}_by_{by}", flat(slopes[:, k * nv : (k + 1) * nv]))


# --- matrices ------------------------------------------------------------------------------------------------------------------
@loops
def put(count: int, size: int, places: Table, part: Lane, whole: Lane) -> None:
    """The entries of all parts at their places in a matrix; equal places add up."""
    for i in range(size):
        whole[i] = 0.0
    for e in range(count):
        whole[places[e]] += part[e]


@loops
def put_awake(count: int, size: int, places: Table, laws: Table, awake: Lane, part: Lane, whole: Lane) -> None:
    """The same of the laws that are awake."""
    for i in range(size):
        whole[i] = 0.0
    for e in range(count):
        whole[places[e]] += where(awake[laws[e]] > 0.0, part[e], 0.0)


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

    @cached_property
    def turning(self) -> int:
        """With how many of the vectors that laws see rows turn, at most."""
        return max((turning(law) for law in self.laws.rows), default=1)

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
    def pushes_among(self) -> np.ndarray:
        """Which of `displaced` only push."""
        return np.isin(self.displaced, self.pushing)

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
        turned = [np.concatenate([k * S + p for k in range(turning(law))]) for p, law in zip(at, laws, strict=True)]
        of_rows = [_grid(r, c, SEEN * S) for r, c in zip(last, seen, strict=True)]
        T = self.turning * S
        of_forces = [_grid(p, c, T) for p, c in zip(at, turned, strict=True)]
        row_shapes = [(law.size, len(c)) for law, c in zip(laws, seen, strict=True)]
        force_shapes = [(len(p), len(c)) for p, c in zip(at, turned, strict=True)]
        found = [
            Part(
                "G_seen",
                "G_ports",
                [(law.size, len(p)) for law, p in zip(laws, at, strict=True)],
                [_grid(r, p, S) for r, p in zip(last, at, strict=True)],
                R * S,
            ),
            Part("w_slopes", "w_ports", row_shapes, of_rows, R * SEEN * S),
            Part("f_slopes", "f_ports", force_shapes, of_forces, S * T),
        ]
        if not self.pushes:
            return found
        number, turns, count, out_places, out_shapes = 0, [], 0, [], []
        for law, p, c, every in zip(laws, at, turned, seen, strict=True):
            some = count + np.arange(len(displaced_rows(law)))
            count += len(some)
            out_places.append(_grid(some, every, SEEN * S))
            out_shapes.append((len(some), len(every)))
            own = number + np.arange(len(pushing(law)))
            number += len(own)
            rows = (own[:, None] * S + p).reshape(-1)
            turns.append(_grid(rows, c, T))
        shapes = [(len(pushing(law)) * len(p), len(c)) for law, p, c in zip(laws, at, turned, strict=True)]
        return [
            *found,
            Part("out_slopes", "out_ports", out_shapes, out_places, count * SEEN * S),
            Part("out_f_slopes", "out_f_ports", force_shapes, of_forces, S * T),
            Part("turns", "turns_ports", shapes, turns, number * S * T),
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
        counts["modal"] = self.laws.row_count**2
        for part in (*self.force_parts, *self.row_parts):
            counts[part.whole] = numbers[f"{part.whole}_size"] = part.size
            numbers[f"{part.whole}_count"] = sum(len(p) for p in part.places)
            owners = np.repeat(np.arange(len(part.places)), [len(p) for p in part.places])
            tables[f"{part.whole}_places"] = np.ascontiguousarray(np.concatenate(part.places), np.int32)
            tables[f"{part.whole}_laws"] = np.ascontiguousarray(owners, np.int32)
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


# --- the program -------------------------------------------------------------------------------------------------------------
def linear_program(algorithm: Algorithm, linear: LinearLaws) -> Algorithm:
    """The program of a step up to its update, and the slopes of its laws."""
    forces, rows, _, _ = linear.laws.step_shape
    steps: list[Step] = []
    for step in algorithm.phases["run"]:
        rule = step.rule if isinstance(step, Sweep) else None
        if rule in UPDATES:
            break
        if isinstance(step, Routine) and step.function in SOLVERS:
            steps += _solved(step)
        elif rule is correct:
            steps += [each(keep_unheld), step, each(keep_held)]
        else:
            steps += [*([each(keep_first)] if rule in MIDDLE else []), step]
    fields = {name: replace(f, kind="input") if f.kind == "state" else f for name, f in algorithm.fields.items()}
    fields |= {name: replace(fields[name], kind="output") for name in ("a", "free_v", "load") if name in fields}
    fields |= {"first_a": Field("output", "v"), **{name: Field("output", "vv") for name in BLOCKS}}
    if forces >= 0:
        steps.append(each(force_slopes, *(f"p{i}" for i in range(forces)), on="force"))
    if rows >= 0:
        rule = pushed_row_slopes if linear.pushes else row_slopes
        steps.append(each(rule, *(f"p{i}" for i in range(rows)), on="constraint", when=("own", "awake")))
        fields |= _row_fields(linear)
    if linear.pushes:
        steps.insert(0, each(no_shift))
    for part in (*linear.force_parts, *linear.row_parts):
        fields |= {part.name: Field("work", part.name, of="constraint" if part in linear.row_parts else "force")}
        fields[part.whole] = Field("output", part.whole, SCALAR)
        sizes = (f"{part.whole}_count", f"{part.whole}_size", f"{part.whole}_places")
        awake = (f"{part.whole}_laws", "awake") if part in linear.row_parts else ()
        steps.append(Routine(put_awake if awake else put, (*sizes, *awake, part.name, part.whole)))
    steps.append(over("unusual", pushed_update_slopes if linear.pushes else update_slopes))
    return Algorithm(f"{algorithm.name}_linear", fields, {"run": steps})


def _row_fields(linear: LinearLaws) -> dict[str, Field]:
    """What stays visible of rows."""
    found = {
        "unheld_v": Field("output", "v"),
        "held_change": Field("output", "v"),
        "held_jump": Field("work", "node", vector(6)),
        "jump": Field("work", "node", vector(6)),
        "pressed": Field("output", "node", vector(6)),
        "modal_A": Field("work", "pair", SCALAR),
        **{f"modal_{name}": Field("work", "row", SCALAR) for name in ("x", "w", "holds", "slides", "e", "f")},
        **{name: Field("output", "modal", SCALAR) for name in ("P_u", "P_x")},
        "edge_w": Field("work", "row", SCALAR),
        "edges": Field("output", "rows", of="constraint"),
    }
    if linear.pushes:
        found |= {
            "shift": Field("output", "v"),
            "pressed_out": Field("output", "node", vector(6)),
            "pushed_x": Field("work", "rows", of="constraint", alias="out_x"),
            "out_x": Field("output", "row", SCALAR),
            "out_free": Field("output", "row", SCALAR),
            "slow": Field("output", "rows", of="constraint"),
            "deep": Field("output", "global", SCALAR),
        }
    return found


def _solved(step: Routine) -> list[Step]:
    """A solver, and what its solution says of changes."""
    named = dict(zip((name for name, _ in step.function.parameters), step.arguments, strict=True))
    if named["x"] != "x":
        bounds = (named[x] for x in ("on", "lower", "upper", "x"))
        return [step, Routine(free_rows, ("active", "rows", *bounds, "modal_A", "deep", "out_free"))]
    problem = ("active", "rows", "cones", named.get("mu", "b"), "on", "b", "lower", "upper", "x", "modal_A")
    scratch = tuple(f"modal_{name}" for name in ("x", "w", "holds", "slides", "e", "f"))
    return [
        Routine(keep_matrix, ("active", "A", "modal_A"), step.when),
        step,
        Routine(find_edges, ("active", "rows", *problem[2:], "edge_w", "edges")),
        Routine(modal_matrices, (*problem, *scratch, "P_u", "P_x")),
    ]
