"""A linearly implicit method of order 2 for stiff joints, in O(n): Verwer's ROS2 as a W-method. L-stable.

[Verwer, Spee, Blom & Hundsdorfer 1999.] For y = (q, v) and any matrix A near the Jacobian of y' = F(y), with g = 1 - 1/sqrt(2),

    (1 - g h A) k1 = F(y),   (1 - g h A) k2 = F(y + h k1) - 2 k1,   y' = y + h (3 k1 + k2) / 2.

Here A holds the stiffness K and damping D of all forces at the start of the step, the part that makes systems stiff; order 2
needs no more. In the velocities each stage is a solve with M + g h D + g^2 h^2 K (`redmax.program`), linear in the number of
bodies where no force couples distant ones. The second stage adds to the plain acceleration a at y + h k1 the x of

    (M + g h D + g^2 h^2 K) x = -g h K r_q - (g h D + g^2 h^2 K) r_v,     r = F(y + h k1) - 2 k1.

What A leaves out must not be stiff: very large forces that turn with the bodies need an implicit method with the whole Jacobian
(`bdf2`). Equality constraints act on F, G k1 and G a being what they ask of accelerations, and G x = 0: A is the Jacobian
across them, so that order 2 stays. `stabilise` says what holds their positions: "project" puts the state back after every step,
as in `post_stabilised`; with "none" they drift like the error of the method.

Rows that only push act on F where they touch, and velocities are made admissible after the step, with restitution (`settle`):
order 1 while a row acts. Dry friction pulls the velocity of a joint to zero within a step as far as its force goes. G x = 0 of
the rows that hold in the second stage; a force at its bound stays there.

A step is a program, for one state or a batch.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..constraints.targets import any_of, holding
from ..elements.collection import Shape, collection
from ..elements.derive import derive, load_slopes
from ..elements.nodes import STILL, law_at
from ..elements.ports import joined, starts
from ..joints import Joint
from ..kernel.loops import Lane, loops
from ..kernel.sweep import POSE, SCALAR, Algorithm, Field, Routine, Step, each, inward, outward, vector
from ..model import Model
from ..model.rules import joint_of, world_pose
from ..redmax.laws import RECURSIVE, Softness, stiff_laws
from ..redmax.program import dynamics, fields, held, solved_again, symmetrised
from ..reduced import program as plain
from ..rows.asked import free_motion, keep_unknowns, pose_rows, row_law_at, watch_accelerations
from ..rows.solved import ACCELERATION
from ..spatial.scalar import Vector, array, cross, zeros
from .implicit_round import change_bodies, change_joints, dense_changes
from .loaded_program import loaded_program
from .post_stabilised import check_choice, put_back, put_back_fields
from .runge_kutta import hold_in_step
from .settle import noted, settle, settle_fields
from .stages import renamed
from .stepper import Program, Stepper
from .symplectic_euler import advance_time
from .tangent import tangent_rate

GAMMA = float(1.0 - np.sqrt(0.5))
FIRST = {"h": "gh", "force_t": "t", "x": "x_first", "told": "told_first"}
SECOND = {"q": "q2", "v": "v2", "t": "t2", "E": "E2", "S": "S2", "K": "K2", "factor": "factor2", "y": "y2", "zeta": "zeta2"}
SECOND |= {"pose": "pose2", "twist": "twist2", "free": "free2", "free_v": "rate2", "x": "x_second", "foot": "foot2"}
SECOND |= {"told": "told_second"}
THIRD = {"x": "x_third", "h": "gh", "told": "told_first"}


# --- the first stage -----------------------------------------------------------------------------------------------------------
@loops
def begin_step(t: Lane, h: Lane, gh: Lane, t2: Lane) -> None:
    """What stands for h in the matrix, and the time of the second stage."""
    gh[0] = GAMMA * h[0]
    t2[0] = t[0] + h[0]


@loops
def split_told(count: int, told: Lane, told_first: Lane, told_second: Lane) -> None:
    """What constraints are told at the start of the step, and at its end."""
    for i in range(count):
        told_first[i] = told[i]
        told_second[i] = told[count + i]


def hold(n: Any, *around: Any) -> None:
    """G w = G (v - h J_dot v) - h bias: what the constraints ask of accelerations, during h = GAMMA steps; rows with a largest
    force pull their rate to zero within a step."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found, moved = derive(law, at, n.t, n.foot), []
    for kind, port, here, free in zip(n.kinds, ports, at, free_motion(n, ports, at), strict=False):
        change = free - here.velocity
        moved.append(change if kind == STILL or isinstance(kind, Joint) else change + n.h * still_rate(port))
    wanted = -n.h * found.bias - GAMMA * found.rate if law.bounded else -n.h * found.bias
    pose_rows(n, law, found.G, moved, wanted, places, n.h)


def still_rate(body: Any) -> Vector:
    """The rate of the components of a body's twist without accelerations of the joints."""
    w, g = body.twist[:3], body.pose.unrotate(body.gravity)
    return np.concatenate([body.still[:3], body.still[3:] + g - cross(w, body.twist[3:])])


# --- the second stage ----------------------------------------------------------------------------------------------------------
def place_second(n: Any) -> None:
    """k1, and the state of the second stage."""
    n.kq, n.kv = n.free_v, (n.free_v - n.v) / n.gh
    n.move = n.h * n.kq
    n.q2, n.v2 = joint_of(n).integrate(n.q, n.move), n.v + n.h * n.kv


def begin_rest(n: Any) -> None:
    """r, and what the damping of the joints makes of it."""
    n.rq = tangent_rate(joint_of(n), n.move, n.v2, 1) - 2.0 * n.kq
    n.rv = n.rate2 - 2.0 * n.kv
    n.reach = n.rq + n.gh * n.rv
    n.load, n.push = zeros(6), -n.gh * n.damping * n.rv


def rest_twists(n: Any, parent: Any) -> None:
    """The same of bodies."""
    n.rv_twist = n.E.pull_twist(parent.rv_twist) + n.S @ n.rv
    n.reach_twist = n.E.pull_twist(parent.reach_twist) + n.S @ n.reach


def pull_back(n: Any, *ports: Any) -> None:
    """h (df_dv r_v + df_dx (r_q + h r_v)) of one force, with the derivatives of the first stage."""
    law, at = law_at(n, ports)
    df_dx, df_dv = (symmetrised(A) for A in load_slopes(law, at, n.t, n.u))
    rates, reaches = [], []
    for kind, port in zip(n.kinds, ports, strict=False):
        joint = isinstance(kind, Joint)
        rates.append(zeros(6) if kind == STILL else port.rv if joint else port.rv_twist)
        reaches.append(zeros(6) if kind == STILL else port.reach if joint else port.reach_twist)
    loads = n.gh * (df_dv @ joined(rates) + df_dx @ joined(reaches))
    for kind, port, (first, last) in zip(n.kinds, ports, pairwise(starts(at)), strict=False):
        if isinstance(kind, Joint):
            port.push = port.push + loads[first:last]
        elif kind != STILL:
            port.load = port.load + loads[first:last]


def rest_forces(n: Any, parent: Any) -> None:
    """Inward: these forces on the factor of the first stage."""
    pA = n.pA - n.load
    u = n.push - n.S.T @ pA
    n.y = n.factor.solve(u)
    parent.pA = parent.pA + n.E.move_wrench(pA + n.K.T @ u)


def rest_side(n: Any, parent: Any) -> None:
    """The same as joints feel them, for the dense system."""
    pA = n.pA - n.load
    n.side = n.push - n.S.T @ pA
    parent.pA = parent.pA + n.E.move_wrench(pA)


def watch_again(n: Any, *ports: Any) -> None:
    """Rows take part that hold in the second stage."""
    n.on = holding(n.x_second, n.lower, n.upper)
    n.awake = any_of(n.on)


def hold_rest(n: Any, *around: Any) -> None:
    """G x = 0."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t, n.foot)
    pose_rows(n, law, found.G, free_motion(n, ports, at), zeros(law.size), places, n.h)
    n.lower, n.upper = array([-np.inf] * law.size), array([np.inf] * law.size)


def finish(n: Any) -> None:
    """k2, and the state after the step."""
    joint, kv = joint_of(n), n.rv + n.free_v
    kq = n.rq + n.gh * kv
    v = n.v + n.h * (1.5 * n.kv + 0.5 * kv)
    n.q, n.v = joint.rechart(joint.integrate(n.q, n.h * (1.5 * n.kq + 0.5 * kq)), v)


@loops
def sum_rows(rows: int, h: Lane, gh: Lane, x_first: Lane, x_second: Lane, x: Lane) -> None:
    """Impulses of the rows."""
    for r in range(rows):
        x[r] = 0.5 * h[0] * (x_first[r] / gh[0] + x_second[r])


# --- the program ---------------------------------------------------------------------------------------------------------------
def step_fields(shape: Shape, softness: Softness, bounces: bool) -> dict[str, Field]:
    """The fields of a step."""
    found = fields(shape, softness) | {
        "q": Field("state", "q"),
        "v": Field("state", "v"),
        "t": Field("state", "global", SCALAR),
        "q2": Field("work", "q"),
        "pose2": Field("work", "node", POSE, world=world_pose),
        **{name: Field("work", "node", vector(6)) for name in ("twist2", "free2", "rv_twist", "reach_twist")},
        **{name: Field("work", "v") for name in ("v2", "rate2", "rv", "reach")},
        **{name: Field("work", "global", SCALAR) for name in ("gh", "t2")},
    }
    found.pop("correction", None)
    if shape[1] >= 0:
        found |= {name: Field("work", "rows", of="constraint") for name in ("x_first", "x_second", "x_third")}
        found |= {"unknown": Field("state", "unknown", of="constraint"), "foot2": Field("work", "unknown", of="constraint")}
        found |= {name: Field("work", "told", of="constraint") for name in ("told_first", "told_second")}
        found |= {"more": Field("work", "rows", of="constraint"), "more_left": Field("work", "global", SCALAR)}
        found["told"] = Field("input", "tellings", SCALAR)
    return found | settle_fields(bounces)


@functools.cache
def rosenbrock_step(shape: Shape, softness: Softness, bounces: bool) -> Algorithm:
    """A step of models with such laws; `bounces` says whether contacts have restitution."""
    forces, rows, on_bodies, _ = shape
    third: list[Step] = [each(begin_rest), *([outward(rest_twists)] if on_bodies else [])]
    third += [each(pull_back, *(f"p{i}" for i in range(forces)), on="force")] if forces >= 0 else []
    if softness.way == RECURSIVE:
        third += [inward(rest_forces), outward(change_bodies if on_bodies and rows >= 0 else change_joints)]
    else:
        third += [inward(rest_side), *(renamed(step, THIRD) for step in solved_again(shape, softness)), outward(dense_changes)]
    third += [renamed(step, THIRD) for step in held(shape, softness, (watch_again, hold_rest))]
    steps: list[Step] = [
        *(renamed(step, {"told": "told_second"}) for step in noted(shape, "reduced", bounces)),
        Routine(begin_step, ("t", "h", "gh", "t2")),
        *([Routine(split_told, ("told_count", "told", "told_first", "told_second"))] if rows >= 0 else []),
        *(renamed(step, FIRST) for step in dynamics(shape, softness, (watch_accelerations, hold))),
        each(place_second),
        *(renamed(step, SECOND) for step in plain.dynamics(shape, ACCELERATION, hold=hold_in_step)),
        *third,
        each(finish),
        Routine(advance_time, ("t", "h")),
    ]
    if rows >= 0:
        steps += [Routine(sum_rows, ("rows", "h", "gh", "x_first", "x_second", "x")), each(keep_unknowns, on="constraint")]
        steps += [renamed(step, {"told": "told_second"}) for step in settle(shape, "reduced", bounces)]
    name = "_".join(["rosenbrock", *(str(int(x)) for x in (*shape, *softness, bounces))])
    return Algorithm(name, step_fields(shape, softness, bounces), {"run": steps})


@functools.cache
def projected_step(shape: Shape, softness: Softness, bounces: bool) -> Algorithm:
    """The same for models with rows, put back afterwards."""
    plain = rosenbrock_step(shape, softness, bounces)
    back = [renamed(step, {"told": "told_second"}) for step in put_back(shape, "reduced")]
    steps = [*plain.phases["run"], *back]
    return Algorithm(
        plain.name.replace("rosenbrock", "rosenbrock_projected"), put_back_fields(shape, "reduced") | plain.fields, {"run": steps}
    )


@dataclass(frozen=True)
class Rosenbrock(Stepper):
    """See the module's text."""

    stabilise: str = "project"

    name = "rosenbrock"
    order = 2
    contacts = True
    bounces = True
    implicit = True

    @property
    def methods(self) -> tuple[str, ...]:
        return ("reduced",)

    def __post_init__(self) -> None:
        check_choice(self.name, self.stabilise, ("none", "project"))

    def program(self, method: str, model: Model) -> Program:
        laws, stiff = collection(model), stiff_laws(model)
        made = projected_step if self.stabilise == "project" and laws.rows else rosenbrock_step
        return loaded_program(model, made(laws.shape, stiff.softness, laws.bounces), stiff.plan, times=(0.0, 1.0))
