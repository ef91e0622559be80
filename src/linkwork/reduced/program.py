"""The loaded tree in one program: forward dynamics with every force and every row of a model, O(n) and along supports.

    outward    velocities (`forward`); poses and twists where laws look at them
    forces     every force adds its loads to its bodies and joints
    inward     articulated inertias; D = L diag L^T of every joint is kept
    outward    the free motion: accelerations, or velocities after a step
    rows       every constraint says its rows, which climb to the root and are solved (`rows.asked`, `rows.solved`)
    outward    M^-1 G^T x is added to the free motion

Rows are of constraints; what they ask and how they are solved is the same in other formulations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..elements.collection import Shape
from ..elements.nodes import STILL, law_at
from ..joints import Joint
from ..kernel.sweep import INERTIA, POSE, SCALAR, Field, Step, each, inward, outward, over, vector
from ..model.rules import placement_of, stepped_joint_of, world_pose
from ..rows.passed_rows import FURTHER, LATER, SecondLook, clear_shift, drive, return_shift
from ..rows.solved import ACCELERATION, VELOCITY, impact_solver, row_fields, rules_of, solved_rows
from ..spatial.scalar import Vector, cross, is_zero, zeros
from .forward import accelerations, articulate, articulated_inertia, pass_forces, velocities
from .rules import coriolis, falling_world


# --- the tree ----------------------------------------------------------------------------------------------------------------
def starting_velocities(n: Any, parent: Any) -> None:
    """Angular velocity and zeta at the start of a step."""
    _look(n, parent, n.v)


def predicted_velocities(n: Any, parent: Any) -> None:
    """The same at the middle of a step, where the acceleration of the last step leads."""
    _look(n, parent, n.v + 0.5 * n.h * n.last)


def _look(n: Any, parent: Any, v: Vector) -> None:
    """In a step accelerations are those of velocities that do not depend on charts, see `Joint.bend`."""
    joint = stepped_joint_of(n)
    E, n.bend = placement_of(n) @ joint.steady_motion(n.q, v), joint.bend(n.q, v)
    n.w, n.zeta = coriolis(E, E.tangent.phi, E.tangent.bias, parent.w)
    n.E, n.S = E.with_tangent(None), E.tangent.S


def place(n: Any, parent: Any) -> None:
    """Pose and twist of the body."""
    n.pose = (parent.pose @ n.E).collapsed()
    n.twist = n.E.pull_twist(parent.twist) + n.S @ n.v


def begin_loads(n: Any) -> None:
    """What the caller gives; forces add to it."""
    n.load, n.push = n.external, n.tau


def loaded_inertia(n: Any, parent: Any) -> None:
    """Articulated inertia and bias force of the subtree under all loads."""
    articulate(n, parent, n.load, n.push)


def middle_velocities(n: Any, parent: Any) -> None:
    """Velocity terms once more, at the middle that the first accelerations lead to."""
    _look_again(n, parent, n.a)


def held_middle_velocities(n: Any, parent: Any) -> None:
    """The same where rows pull: as they did in the last step."""
    _look_again(n, parent, n.a + n.pull)


def _look_again(n: Any, parent: Any, a: Vector) -> None:
    v = n.v + 0.5 * n.h * a
    joint = stepped_joint_of(n)
    motion, n.bend = joint.steady_motion(n.q, v), joint.bend(n.q, v)
    steady = all(is_zero(x) for x in motion.tangent.bias)
    n.w, n.zeta = coriolis(n.E, n.S @ v, zeros(6) if steady else motion.tangent.bias, parent.w)


def middle_forces(n: Any, parent: Any) -> None:
    """Bias forces once more, on the same factor."""
    pass_forces(n, parent, n.factor, n.external, n.tau)


def loaded_middle_forces(n: Any, parent: Any) -> None:
    """The same under all loads."""
    pass_forces(n, parent, n.factor, n.load, n.push)


def free_accelerations(n: Any, parent: Any) -> None:
    """Joint accelerations, with the rates of the bodies' twists for rows to look at."""
    accelerations(n, parent)
    n.free, n.free_v = twist_rate(n), n.a


def twist_rate(n: Any) -> Vector:
    """The rate of the components of a body's twist: its classical acceleration, less the fall of the world and w x v."""
    w, g = n.twist[:3], n.pose.unrotate(n.gravity)
    return np.concatenate([n.acc[:3], n.acc[3:] + g - cross(w, n.twist[3:])])


def free_velocities(n: Any, parent: Any) -> None:
    """Velocities after a step without rows, of joints and, by J v, of bodies."""
    accelerations(n, parent)
    n.free_v = n.v + n.h * n.a
    n.free = n.E.pull_twist(parent.free) + n.S @ n.free_v


def turning(n: Any) -> None:
    """Of a body that rows look at, h J_dot v, which turns J in the step."""
    n.drift = n.h * twist_rate(n) - (n.free - n.twist)


def free_joint_velocities(n: Any, parent: Any) -> None:
    """Of joints alone."""
    accelerations(n, parent)
    n.free_v = n.v + n.h * n.a


def free_joint_accelerations(n: Any, parent: Any) -> None:
    """Of joints alone."""
    accelerations(n, parent)
    n.free_v = n.a


def correct(n: Any, parent: Any) -> None:
    """Add M^-1 G^T x to the free motion."""
    a = n.E.pull_twist(parent.jump)
    change = n.dy - n.K @ a
    n.jump = a + n.S @ change
    n.free_v = n.free_v + change
    n.dy = zeros(len(change))


# --- laws --------------------------------------------------------------------------------------------------------------------
def act(n: Any, *ports: Any) -> None:
    """The loads of one force."""
    law, at = law_at(n, ports)
    for kind, port, load in zip(n.kinds, ports, law.loads(at, n.t, n.u), strict=False):
        if isinstance(kind, Joint):
            port.push = port.push + load
        elif kind != STILL:
            port.load = port.load + load


# --- the program -------------------------------------------------------------------------------------------------------------
FREE = {
    (VELOCITY, True): free_velocities,
    (VELOCITY, False): free_joint_velocities,
    (ACCELERATION, True): free_accelerations,
    (ACCELERATION, False): free_joint_accelerations,
}


def fields(shape: Shape) -> dict[str, Field]:
    """The fields of the loaded tree, besides those of time discretisations: `last`, `h`, and kinds of q and v."""
    forces, rows, _, _ = shape
    found = {
        "tau": Field("input", "v"),
        "external": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),
        "t": Field("input", "global", SCALAR),
        "w": Field("shared", codec=vector(3)),
        "acc": Field("shared", codec=vector(6), world=falling_world),
        "IA": Field("gathered", codec=INERTIA),
        "pA": Field("gathered", codec=vector(6)),
        "pose": Field("work", "node", POSE, world=world_pose),
        "twist": Field("work", "node", vector(6)),
        "load": Field("work", "node", vector(6)),
        "push": Field("work", "v"),
        "a": Field("work", "v"),
        "free": Field("work", "node", vector(6)),
        "drift": Field("work", "node", vector(6)),
        "free_v": Field("work", "v"),
    }
    if forces >= 0:
        found["u"] = Field("input", "u", of="force")
    return found | (row_fields(shape[3]) if rows >= 0 else {})


def dynamics(
    shape: Shape,
    level: str,
    evaluations: int = 0,
    hold: Callable[..., None] | None = None,
    watch: Callable[..., None] | None = None,
    carried: Callable[..., None] | None = None,
    displaced: Sequence[Step] = (),
) -> list[Step]:
    """The sweeps of the loaded tree, from q and v to `free_v`: velocities after a step, or accelerations.

    evaluations   0: velocity terms at v; else at the middle of the step, predicted by the acceleration `last` of the step before
                  and, with 2, evaluated there once more; where there are rows, `pull` is the part that they had in `last`
    hold, watch   see `rules_of`
    carried       see `solved_rows`
    displaced     what makes displacements, in steps with rows that only push
    """
    forces, rows, on_bodies, _ = shape
    loaded = forces >= 0
    in_step = predicted_velocities if evaluations else starting_velocities
    steps: list[Step] = [outward(in_step if level == VELOCITY else velocities)]
    steps += [outward(place)] if on_bodies else []
    if loaded:
        steps += [each(begin_loads), each(act, *(f"p{i}" for i in range(forces)), on="force")]
    steps.append(inward(loaded_inertia if loaded else articulated_inertia))
    if evaluations > 1:
        again = loaded_middle_forces if loaded else middle_forces
        middle = held_middle_velocities if rows >= 0 else middle_velocities
        steps += [outward(accelerations), outward(middle), inward(again)]
    free = FREE[level, on_bodies and rows >= 0]
    steps.append(outward(free))
    steps += [over("looked_at", turning)] if level == VELOCITY and on_bodies and rows >= 0 else []
    if rows < 0:
        return steps
    impacts = impact_solver(hold)
    look = second_look(free, on_bodies, displaced) if level == VELOCITY else None
    rules = rules_of(level, hold, watch)
    return steps + solved_rows(rows, rules, correct, kinds=shape[3], carried=carried, impacts=impacts, look=look)


def second_look(free: Callable[..., None], on_bodies: bool, displaced: Sequence[Step]) -> SecondLook:
    """How rows are found that the motion with multipliers would pass, after a rule that makes the free motion."""
    restore = [outward(free, when=FURTHER), each(clear_shift, when=LATER)]
    driving = [outward(drive)] if on_bodies else []
    return SecondLook(restore, driving, displaced, [each(return_shift, when=LATER)])
