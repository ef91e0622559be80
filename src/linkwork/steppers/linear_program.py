"""A step of symplectic Euler with the slopes of all that it is made of: the program of the step, then the rules of its laws once
more on dual numbers (`reduced.law_slopes`), law by law.

What the step computes on the way stays visible: the first accelerations, the free motion, what rows add to it, and how far they
push out. `linear_step` makes the derivatives of the step of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..elements.ports import JointAt
from ..kernel.sweep import SCALAR, Algorithm, Field, Repeat, Routine, Step, Sweep, each, over, vector
from ..model.rules import stepped_joint_of
from ..reduced.law_slopes import flat, force_slopes, pushed_row_slopes, row_slopes
from ..reduced.linear_laws import LinearLaws
from ..reduced.program import correct, free_joint_velocities, free_velocities, held_middle_velocities, middle_velocities
from ..rows.passed_rows import for_all_lanes
from ..solvers.box_adjoints import keep_matrix
from ..solvers.boxes import solve_boxes, solve_soft_boxes
from ..solvers.coulomb import solve_packed_cones
from ..solvers.edges import mark_edges
from ..solvers.few_boxes import solve_few_boxes
from ..solvers.modal import free_rows, modal_matrices
from ..spatial.dual import Dual, held, split, variables
from ..spatial.scalar import Vector, zeros
from .symplectic_euler import update_after_pushes, update_held, update_joints

UPDATES = (update_joints, update_held, update_after_pushes)
SOLVERS = (solve_boxes, solve_few_boxes, solve_soft_boxes, solve_packed_cones)
BLOCKS = tuple(f"{of}_by_{by}" for of in ("q", "v") for by in ("q", "way", "v"))


# --- rules -------------------------------------------------------------------------------------------------------------------
def first_middle_velocities(n: Any, parent: Any) -> None:
    """The accelerations that lead to the middle of the step are kept."""
    n.first_a = n.a
    middle_velocities(n, parent)


def first_held_middle_velocities(n: Any, parent: Any) -> None:
    """The same where there are rows."""
    n.first_a = n.a
    held_middle_velocities(n, parent)


def free_velocities_kept(n: Any, parent: Any) -> None:
    """The free motion is kept, before rows change it."""
    free_velocities(n, parent)
    _nothing_held(n)


def free_joint_velocities_kept(n: Any, parent: Any) -> None:
    """The same of joints alone."""
    free_joint_velocities(n, parent)
    _nothing_held(n)


def _nothing_held(n: Any) -> None:
    """No row has changed the motion yet, or pressed, or pushed out."""
    n.unheld_v, n.held_change, n.held_jump = n.free_v, zeros(len(n.v)), zeros(6)
    n.pressed, n.pressed_out, n.shift = zeros(6), zeros(6), zeros(len(n.v))


def correct_and_keep(n: Any, parent: Any) -> None:
    """What rows add to the free motion is kept; where none is in force, it is not looked at."""
    correct(n, parent)
    n.held_change, n.held_jump = n.free_v - n.unheld_v, n.jump


def update_slopes(n: Any) -> None:
    """How the displacement and velocity of a joint after the step change with its displacement before, its way and v'."""
    _update_slopes(n, n.h * n.free_v)


def pushed_update_slopes(n: Any) -> None:
    """The same where something may be pushed out."""
    _update_slopes(n, n.h * n.free_v + n.shift)


def _update_slopes(n: Any, way: Vector) -> None:
    joint = stepped_joint_of(n)
    nv, count = joint.nv, 3 * joint.nv
    q = JointAt(joint, n.q, n.v).displaced(count, 0, Dual)
    moved, v = joint.advance(q, variables(way, count, nv), variables(n.free_v, count, 2 * nv))
    dq, dv = split(joint.difference(held(moved), moved), count)[1], split(v, count)[1]
    for of, slopes in (("q", dq), ("v", dv)):
        for k, by in enumerate(("q", "way", "v")):
            setattr(n, f"{of}_by_{by}", flat(slopes[:, k * nv : (k + 1) * nv]))


FIRST = {middle_velocities: first_middle_velocities, held_middle_velocities: first_held_middle_velocities}
HELD = {
    free_velocities: free_velocities_kept,
    free_joint_velocities: free_joint_velocities_kept,
    correct: correct_and_keep,
}


# --- the program -------------------------------------------------------------------------------------------------------------
def linear_program(algorithm: Algorithm, linear: LinearLaws) -> Algorithm:
    """The program of a step up to its update, and the slopes of its laws."""
    forces, rows, _, _ = linear.laws.step_shape
    kept = FIRST | (HELD if rows >= 0 else {})
    steps = _up_to_update(algorithm.phases["run"], kept)
    fields = {name: replace(f, kind="input") if f.kind == "state" else f for name, f in algorithm.fields.items()}
    fields |= {name: replace(fields[name], kind="output") for name in ("a", "free_v", "load") if name in fields}
    fields |= {"first_a": Field("output", "v"), **{name: Field("output", "vv") for name in BLOCKS}}
    if forces >= 0:
        steps.append(each(force_slopes, *(f"p{i}" for i in range(forces)), on="force"))
    if rows >= 0:
        rule = pushed_row_slopes if linear.pushes else row_slopes
        steps.append(each(rule, *(f"p{i}" for i in range(rows)), on="constraint", when=("own", "awake")))
        fields |= _row_fields(linear)
    for of, parts in (("force", linear.force_parts), ("constraint", linear.row_parts)):
        fields |= {part.name: Field("output", part.name, of=of) for part in parts}
    fields |= {"awake": replace(fields["awake"], kind="output")} if rows >= 0 else {}
    steps.append(over("unusual", pushed_update_slopes if linear.pushes else update_slopes))
    return Algorithm(f"{algorithm.name}_linear", fields, {"run": steps})


def _up_to_update(given: Sequence[Step], kept: Mapping[Any, Any]) -> list[Step]:
    """The steps up to the update, with rules that keep what they see in place of others, and what solutions say of changes."""
    steps: list[Step] = []
    for step in given:
        rule = step.rule if isinstance(step, Sweep) else None
        if rule in UPDATES:
            break
        if isinstance(step, Routine) and step.function in SOLVERS:
            steps += _solved(step)
        elif isinstance(step, Sweep):
            steps.append(replace(step, rule=kept.get(step.rule, step.rule)))
        elif isinstance(step, Repeat):
            steps.append(replace(step, steps=tuple(_up_to_update(for_all_lanes(step.steps), kept))))
        else:
            steps.append(step)
    return steps


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
    problem = ("active", "cones", named.get("mu", "b"), "on", "b", "lower", "upper", "x", "rows", "modal_A")
    scratch = tuple(f"modal_{name}" for name in ("x", "w", "holds", "slides", "e", "f"))
    return [
        Routine(keep_matrix, ("active", "A", "modal_A"), step.when),
        step,
        Routine(modal_matrices, (*problem[:-1], "modal_width", "row_first", "modal_A", *scratch, "P_u", "P_x")),
        Routine(mark_edges, (*problem[:-1], "modal_w", "edges")),
    ]
