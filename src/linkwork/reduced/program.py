"""The loaded tree in one program: forward dynamics with every force and every row of a model, O(n) and along supports.

    outward    velocities (`forward`); poses and twists where laws look at them
    forces     every force adds its loads to its bodies and joints
    inward     articulated inertias; D = L diag L^T of every joint is kept
    outward    the free motion: accelerations, or velocities after a step
    rows       every constraint says its rows G, what is missing of their targets, and puts G^T at the places of its ports
    climbs     rows go up to the root (`elements.supports`): u and y = D^-1 u at every joint
    routines   the matrix A, and the multipliers of the problem (`solvers.boxes`)
    outward    M^-1 G^T x is added to the free motion

Rows that cannot act are passed over: their law is not awake. At velocity level multipliers are impulses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..constraints.targets import (
    REACH,
    any_of,
    contact_targets,
    hit_of,
    inelastic_targets,
    push_targets,
    reached,
    slipping,
    strikes,
    touching,
    velocity_targets,
)
from ..elements.collection import CONES, CROWD, EQUALITIES, IN_TURNS, Shape
from ..elements.derive import Derived, approach, derive, nearer, reach
from ..elements.law import RowLaw
from ..elements.nodes import BODY, STILL, law_at
from ..elements.ports import At, BodyAt, joined, values
from ..elements.ports import velocities as velocities_of
from ..elements.supports import climbing
from ..elements.touch import LOOKED, LOOKS, ahead, meeting, nearing
from ..errors import InputError
from ..joints import Joint
from ..kernel.loops import Ints, Lane, loops, where
from ..kernel.sweep import INERTIA, POSE, SCALAR, Field, Routine, Step, each, inward, outward, over, vector
from ..model.rules import joint_of, world_pose
from ..solvers.boxes import PATHS, gather, gram, solve_boxes, solve_soft_boxes, spread
from ..solvers.coulomb import solve_packed_cones
from ..solvers.problem import is_bounded_by_another
from ..solvers.turns import solve_in_turns
from ..spatial.dual import held
from ..spatial.scalar import Scalar, Vector, array, cross, dot, is_zero, zeros
from ..spatial.scalar import where as chosen
from .crowds import GATHER_AWAKE, SOLVE_CROWD, crowd_fields, finding
from .forward import accelerations, articulate, articulated_inertia, pass_forces, velocities
from .poisson import solved_impacts
from .pressing import KEEP, answer, bound, in_turns
from .rules import coriolis, falling_world, velocity_step

TURN = 3.0  # of the turn of bodies in a step: so near to a singular position rows go soft
NEWTON_STEPS = 4  # for the unknowns of constraints, from where they were
FAR_STEP = 0.05  # of the unknowns, or of 1: shorter first steps of Newton's method lead where they should


# --- the tree ----------------------------------------------------------------------------------------------------------------
def predicted_velocities(n: Any, parent: Any) -> None:
    """Angular velocity and zeta at the middle of a step, where the acceleration of the last step leads."""
    n.E, n.S, n.w, n.zeta = velocity_step(n, parent.w, n.v + 0.5 * n.h * n.last)


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
    motion = joint_of(n).motion(n.q, v)
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


def climb(n: Any, place: Any, up: Any) -> None:
    """One row at one joint on its way to the root; its place is empty afterwards."""
    p = place.p
    u = place.c + n.S.T @ p
    place.u_rows, place.y_rows = u, n.factor.solve(u)
    place.p, place.c = zeros(6), zeros(len(u))
    if not n.is_root:
        up.p = up.p + n.E.move_wrench(p - n.K.T @ u)


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


def row_law_at(n: Any, ports: Sequence[Any]) -> tuple[RowLaw, list[At]]:
    """In a rule, the constraint of a node with its parameters and what it was told, and its ports where they are."""
    law, at = law_at(n, ports)
    return law.with_inputs(n.told), at


def free_motion(n: Any, ports: Sequence[Any], at: Sequence[At]) -> list[Vector]:
    """The free motion of the ports of a constraint."""
    found = []
    for kind, port, here in zip(n.kinds, ports, at, strict=False):
        found.append(zeros(6) if kind == STILL else port.free if isinstance(here, BodyAt) else port.free_v)
    return found


def refined(law: RowLaw, at: Sequence[At], t: Scalar, unknown: Vector) -> Vector:
    """The unknowns of a constraint, by Newton's method from where they were."""
    for _ in range(NEWTON_STEPS if law.unknowns else 0):
        unknown = nearer(law, values(at), t, unknown)
    return unknown


def astray(law: RowLaw, at: Sequence[At], t: Scalar, unknown: Vector) -> Scalar:
    """1 where Newton's method begins too far away to end at the unknowns for sure: its first step is long, and the second not
    half as long [Deuflhard, Newton Methods for Nonlinear Problems, 2.1]; else 0."""
    if not law.unknowns:
        return 0.0
    better = nearer(law, values(at), t, unknown)
    first, second = better - unknown, nearer(law, values(at), t, better) - better
    long = dot(first, first) > FAR_STEP * FAR_STEP * (1.0 + dot(unknown, unknown))
    return chosen(long, chosen(4.0 * dot(second, second) < dot(first, first), 0.0, 1.0), 0.0)


def measure(n: Any) -> None:
    """|v| and |w| of a body in its free motion. They decide what takes part, and have no derivatives."""
    w, v = held(n.free[:3]), held(n.free[3:])
    n.speeds = array([np.sqrt(dot(v, v)), np.sqrt(dot(w, w))])


def notice(n: Any, *ports: Any) -> None:
    """Whether a constraint is worth watching in a step: shapes that are far from one another are not."""
    law, at = row_law_at(n, ports)
    speeds = [port.speeds if kind == BODY else zeros(2) for kind, port in zip(n.kinds, ports, strict=False)]
    n.noticed = law.near(values(at), speeds, REACH * n.h)
    n.on, n.awake, n.nears, n.looks = zeros(law.size), 0.0, 0.0, 0.0


def watch_velocities(n: Any, *ports: Any) -> None:
    """Which rows take part in a step; where `notice` says no, none."""
    law, at = row_law_at(n, ports)
    n.foot = unknown = refined(law, at, n.t, n.unknown)
    if law.unilateral and law.holonomic:
        n.on = n.noticed * law.per_row(reached(*reach(law, at, n.t, unknown, free_motion(n, ports, at), n.h), n.h))
    else:
        n.on = array([1.0] * law.size)
    n.awake = any_of(n.on)
    if law.curved:
        n.meets, n.misses, n.nears = 0.0, 0.0, n.awake * nearing(law, at, free_motion(n, ports, at))
        n.looks = n.nears


def foresee(n: Any, *ports: Any) -> None:
    """Of shapes whose normals turn, and which come nearer from apart, when in the step they meet, and whether they miss: looked
    at once more, while that changes."""
    law, at = row_law_at(n, ports)
    if not law.curved:
        return
    looks = n.looks > 0.0
    s, misses = meeting(law, at, free_motion(n, ports, at), n.h, n.meets)
    n.looks = chosen(looks & (s > n.meets + LOOKED), 1.0, 0.0)
    n.meets, n.misses = chosen(looks, s, n.meets), chosen(looks, misses, n.misses)


def pass_by(n: Any) -> None:
    """Shapes that miss one another have no rows."""
    if n.law.curved:
        n.on = n.on * (1.0 - n.misses)
        n.awake = n.awake * any_of(n.on)


def watch_accelerations(n: Any, *ports: Any) -> None:
    """Which rows act on accelerations."""
    law, at = row_law_at(n, ports)
    n.foot = unknown = refined(law, at, n.t, n.unknown)
    if law.unilateral and law.holonomic:
        n.on = law.per_row(touching(*approach(law, at, n.t, unknown, [here.velocity for here in at])))
    else:
        n.on = array([1.0] * law.size)
    n.awake = any_of(n.on)


@loops
def note_impacts(active: Ints, lower: Lane, x: Lane, strikes: Lane, struck: Lane) -> None:
    """1 where a row that only pushes does so in an impact, else 0."""
    struck[0] = 0.0
    for i in range(active[0]):
        r = active[i + 1]
        struck[0] = where((lower[r] >= 0.0) & (x[r] > 0.0) & (strikes[r] > 0.0), 1.0, struck[0])


def keep_unknowns(n: Any) -> None:
    """Where Newton's method begins in the next step."""
    n.unknown = n.foot


def hold_velocities(n: Any, *around: Any) -> None:
    """The rows of one constraint at velocity level; around it are its ports, and the places of its rows there."""
    hold_by(ask, n, around)


def hold_impacts(n: Any, *around: Any) -> None:
    """The same with impacts by Poisson's law (see `poisson`)."""
    hold_by(ask_twice, n, around)


def hold_by(ask: Callable[..., None], n: Any, around: Sequence[Any]) -> None:
    """The same, with what says what rows ask for."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    share = 0.5 if law.holonomic else 1.0
    found = derive(law, at, n.t if law.holonomic else n.t + n.h, n.foot)
    asked = zeros(law.size)
    if law.timed:
        later = law.gap_of(values(at), n.t + n.h, n.foot) if law.holonomic else None
        asked = found.given if later is None else (found.residual - array(list(later))) / n.h
    n.soft = array([0.0 if law.bounded else softness(at, n.h)] * law.size)
    motion = free_motion(n, ports, at)
    turned = [
        free if kind == STILL or isinstance(kind, Joint) else free + share * port.drift
        for kind, port, free in zip(n.kinds, ports, motion, strict=False)
    ]
    bend = share * n.h * found.bias
    found, bend = (found, bend) if not law.curved else foreseen(n, law, at, motion, found, bend)
    ask(n, law, found, motion, turned, bend, asked)
    place_rows(n, law, found.G, places, n.h)


def hold_under_bounds(n: Any, *around: Any) -> None:
    """The same within the bounds found so far, where these follow from what joints carry (see `pressing`)."""
    hold_velocities(n, *around)
    bound(n)


def foreseen(
    n: Any, law: RowLaw, at: Sequence[At], motion: Sequence[Vector], found: Derived, bend: Vector
) -> tuple[Derived, Vector]:
    """Rows and gaps where shapes meet in the step; of the way from there on, rows bend."""
    G, residual = ahead(law, at, motion, n.h, n.meets)
    return replace(found, G=G, residual=residual, rate=G @ joined(velocities_of(at))), bend * (1.0 - n.meets) * (1.0 - n.meets)


def ask_twice(
    n: Any, law: RowLaw, found: Derived, motion: Sequence[Vector], turned: Sequence[Vector], bend: Vector, asked: Vector
) -> None:
    """b as without restitution, and what an impact by Poisson's law needs to know of the rows (see `poisson`)."""
    ask(n, law, found, motion, turned, bend, asked, inelastic_targets)
    n.hit, n.giving, n.b_hit = zeros(law.size), zeros(law.size), found.rate if law.bounded else zeros(law.size)
    if law.unilateral and law.holonomic:
        free, before = seen_by(n, found.G, turned) + bend, found.rate - bend
        normal = [not (law.cones and is_bounded_by_another(kind)) for kind in law.row_kinds]
        rows = zip(found.residual, before, free, found.rate, normal, strict=True)
        hits = [hit_of(g, r, f, law.grip()[1], n.h) if own else (0.0, 0.0, slip) for g, r, f, slip, own in rows]
        n.hit, n.giving, n.b_hit = (array(list(part)) for part in zip(*hits, strict=True))


def ask(
    n: Any,
    law: RowLaw,
    found: Derived,
    motion: Sequence[Vector],
    turned: Sequence[Vector],
    bend: Vector,
    asked: Vector,
    targets: Callable[..., Vector] = contact_targets,
) -> None:
    """b: what rows see of the free motion of the ports, less what they want; and the room that is left where no more is done.

    turned   the motion at the time for which rows are meant, as J turns until then
    bend     what the rows change by until then
    targets  of normals with restitution

    Tangents of contacts look at points of the bodies where they are at the start: these have no place to keep, and what many of
    them see of one body is a rigid motion, so that all of them may stick.
    """
    free, before = seen_by(n, found.G, turned) + bend, found.rate - bend
    if not (law.unilateral and law.holonomic):
        residual = zeros(law.size) if "residual" in law.unseen else found.residual
        n.b = free - velocity_targets(residual, asked, n.h, n.correction)
        return
    _, restitution = law.grip()
    if is_zero(restitution):
        wanted = push_targets(found.residual, asked, n.h)
    else:
        wanted = targets(found.residual, before, free, n.h, restitution)
    if law.cones:
        normal = [not is_bounded_by_another(kind) for kind in law.row_kinds]
        wanted = array([x if own else 0.0 for x, own in zip(wanted, normal, strict=True)])
        slips = seen_by(n, found.G, motion)
        free = array([x if own else slip for x, slip, own in zip(free, slips, normal, strict=True)])
        n.mu = law.row_friction()
    n.b = free - wanted
    n.strikes = strikes(before, free)
    n.room = found.residual + n.h * (wanted - asked)


def softness(at: Sequence[At], h: Scalar) -> Scalar:
    """The square of the angle by which the bodies of a row turn in a step, and some more: within it of a singular position, what
    the row asks for means nothing (see `solve_soft_boxes`)."""
    found: Scalar = 0.0
    for here in at:
        if isinstance(here, BodyAt):
            found = found + dot(here.velocity[:3], here.velocity[:3])
    return TURN * TURN * h * h * found


def hold_accelerations(n: Any, *around: Any) -> None:
    """The rows of one constraint at acceleration level."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t, n.foot)
    pose_rows(n, law, found.G, free_motion(n, ports, at), -found.bias, places, 1.0)
    if law.bounded:
        n.lower, n.upper = slipping(n.lower, n.upper, found.rate)


def pose_rows(
    n: Any, law: RowLaw, G: np.ndarray, free: Sequence[Vector], wanted: Vector, places: Sequence[Any], h: Scalar
) -> None:
    """b = G free - wanted, the bounds of the multipliers (forces during h), and G^T at the places of the ports."""
    n.b = seen_by(n, G, free) - wanted
    place_rows(n, law, G, places, h)


def seen_by(n: Any, G: np.ndarray, motion: Sequence[Vector]) -> Vector:
    """What rows see of a motion of their ports."""
    first, seen = 0, zeros(len(G))
    for kind, part in zip(n.kinds, motion, strict=False):
        if kind != STILL:
            seen = seen + G[:, first : first + len(part)] @ part
        first += len(part)
    return seen


def place_rows(n: Any, law: RowLaw, G: np.ndarray, places: Sequence[Any], h: Scalar) -> None:
    """The bounds of the multipliers (forces during h), and G^T at the places of the ports; nothing of rows that are off."""
    if law.together < law.size:
        G = G * np.reshape(n.on, (-1, 1))
    n.G_rows, first = G, 0
    for kind, place in zip(n.kinds, places, strict=False):
        size = kind.nv if isinstance(kind, Joint) else 6
        block = G[:, first : first + size].reshape(-1)
        first += size
        if isinstance(kind, Joint):
            place.c = place.c + block
        elif kind != STILL:
            place.p = place.p + block
    n.lower, n.upper = (array([times_of(x, h) for x in side]) for side in law.bounds())


def times_of(force: Scalar, h: Scalar) -> Scalar:
    """force times h; bounds that are infinite stay numbers, which fold."""
    return force if isinstance(force, float) and np.isinf(force) else force * h


# --- the program -------------------------------------------------------------------------------------------------------------
VELOCITY, ACCELERATION = "velocity", "acceleration"
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


SCRATCH = ("d", "scale", "scaled_b", "scaled_lower", "scaled_upper", "scaled_x", "w_rows", "z", "inside", "box_rest", "box_list")


PROBLEM = ("on", "b", "lower", "upper", "x", "A", "left", "LDL", *SCRATCH)
SOLVE = Routine(solve_boxes, ("active", *PROBLEM), when="busy")
SOFT_SOLVE = Routine(solve_soft_boxes, ("active", "groups", "soft", *PROBLEM), when="busy")
CONE_PROBLEM = ("active", "cones", "mu", "on", "b", "lower", "upper", "x", "A", "left")
CONE_SCRATCH = tuple(f"cone_{name}" for name, _ in solve_packed_cones.parameters[len(CONE_PROBLEM) :])
CONE_SOLVE = [Routine(solve_packed_cones, CONE_PROBLEM + CONE_SCRATCH, when="busy")]
TURNS_SOLVE = [Routine(solve_in_turns, ("active", "cones", "mu", *PROBLEM, "last_x"), when="busy")]


CROWDED = (
    "so many shapes may touch that their contacts are no dense matrix: these run with stepper='symplectic_euler' alone, "
    "of the methods 'reduced' (the default) and 'maximal', and not put back by 'project'; exclude pairs, or give groups"
)


@loops
def recall(active: Ints, impulses: Lane, x: Lane) -> None:
    """The listed rows begin where they were in the step before."""
    for i in range(active[0]):
        x[active[i + 1]] = impulses[active[i + 1]]


@loops
def remember(rows: int, x: Lane, impulses: Lane) -> None:
    """For the next step."""
    for r in range(rows):
        impulses[r] = x[r]


IMPULSES = {"impulses": Field("state", "rows", of="constraint")}  # of the step before


def warm_started(steps: Sequence[Step]) -> list[Step]:
    """The same steps, in which rows with cones begin at the impulses of the step before."""
    found: list[Step] = []
    for step in steps:
        found.append(step)
        if isinstance(step, Routine) and step.function is gather:
            found.append(Routine(recall, ("active", "impulses", "x"), when="busy"))
    return [*found, Routine(remember, ("rows", "x", "impulses"))]


def row_solver(kinds: int, plain: Routine) -> list[Routine]:
    """What solves rows (see `Collection.shape`); `plain` those without friction of contacts."""
    if kinds == CROWD:
        raise InputError(CROWDED)
    return CONE_SOLVE if kinds == CONES else TURNS_SOLVE if kinds == IN_TURNS else [plain]


def row_fields(kinds: int = EQUALITIES) -> dict[str, Field]:
    """Those of rows and of their places, as a step with such rows needs them (see `Collection.shape`)."""
    names = ["on", "b", "lower", "upper", "soft", *(["room", "strikes"] if kinds else [])]
    dense = {
        "A": Field("work", "pair", SCALAR),
        "LDL": Field("work", "pair", SCALAR),
        "gram_columns": Field("work", "column", SCALAR),
    }
    dense |= {name: Field("work", "row", SCALAR) for name in SCRATCH} | {"box_list": Field("work", "list", SCALAR)}
    per_row = {name: Field("work", "rows", of="constraint") for name in names}
    return {
        **per_row,
        "row_on": Field("work", "row", SCALAR, alias="on"),
        "x": Field("output", "rows", of="constraint"),
        "unknown": Field("input", "unknown", of="constraint"),
        "told": Field("input", "told", of="constraint"),
        "foot": Field("work", "unknown", of="constraint"),
        "speeds": Field("work", "node", vector(2)),
        "noticed": Field("work", "node", SCALAR, of="constraint"),
        "awake": Field("work", "node", SCALAR, of="constraint"),
        "nears": Field("work", "node", SCALAR, of="constraint"),
        "meets": Field("work", "node", SCALAR, of="constraint"),
        "misses": Field("work", "node", SCALAR, of="constraint"),
        "looks": Field("work", "node", SCALAR, of="constraint"),
        "p": Field("work", "p", of="place"),
        "c": Field("work", "v", of="place"),
        "u_rows": Field("work", "v", of="place"),
        "y_rows": Field("work", "v", of="place"),
        "dy": Field("work", "v"),
        "jump": Field("shared", codec=vector(6)),
        "busy": Field("work", "global", SCALAR),
        "left": Field("output", "global", SCALAR),
        "active": Field("work", "list", SCALAR),
        **(crowd_fields() if kinds == CROWD else dense),
        **({"mu": Field("work", "rows", of="constraint")} if kinds >= CONES else {}),
        **(cone_fields() if kinds == CONES else {}),
        **({"last_x": Field("work", "row", SCALAR)} if kinds == IN_TURNS else {}),
    }


def cone_fields() -> dict[str, Field]:
    """Those of Coulomb cones that are solved exactly."""
    return {name: Field("work", "square" if name in ("cone_K", "cone_T") else "row", SCALAR) for name in CONE_SCRATCH}


def dynamics(
    shape: Shape,
    level: str,
    evaluations: int = 0,
    hold: Callable[..., None] | None = None,
    watch: Callable[..., None] | None = None,
    carried: Callable[..., None] | None = None,
) -> list[Step]:
    """The sweeps of the loaded tree, from q and v to `free_v`: velocities after a step, or accelerations.

    evaluations   0: velocity terms at v; else at the middle of the step, predicted by the acceleration `last` of the step before
                  and, with 2, evaluated there once more; where there are rows, `pull` is the part that they had in `last`
    hold, watch   see `rules_of`
    carried       see `solved_rows`
    """
    forces, rows, on_bodies, _ = shape
    loaded = forces >= 0
    steps: list[Step] = [outward(predicted_velocities if evaluations else velocities)]
    steps += [outward(place)] if on_bodies else []
    if loaded:
        steps += [each(begin_loads), each(act, *(f"p{i}" for i in range(forces)), on="force")]
    steps.append(inward(loaded_inertia if loaded else articulated_inertia))
    if evaluations > 1:
        again = loaded_middle_forces if loaded else middle_forces
        middle = held_middle_velocities if rows >= 0 else middle_velocities
        steps += [outward(accelerations), outward(middle), inward(again)]
    steps.append(outward(FREE[level, on_bodies and rows >= 0]))
    steps += [over("looked_at", turning)] if level == VELOCITY and on_bodies and rows >= 0 else []
    if rows < 0:
        return steps
    impacts = impact_solver(hold)
    return steps + solved_rows(rows, rules_of(level, hold, watch), correct, kinds=shape[3], carried=carried, impacts=impacts)


def impact_solver(hold: Callable[..., None] | None) -> Callable[[list[Step]], list[Step]] | None:
    """What `solved_rows` needs besides a rule: with `hold_impacts`, Poisson's law."""
    return solved_impacts if hold is hold_impacts else None


SOFT_RULES = (hold_velocities, hold_under_bounds, hold_impacts)
Rules = tuple[Callable[..., None], Callable[..., None]]
ROWS: dict[str, Rules] = {
    VELOCITY: (watch_velocities, hold_velocities),
    ACCELERATION: (watch_accelerations, hold_accelerations),
}


def rules_of(level: str, hold: Callable[..., None] | None = None, watch: Callable[..., None] | None = None) -> Rules:
    """Which say what rows take part at a level (`watch`), and what they ask (`hold`); or others that do."""
    part, asked = ROWS[level]
    return watch or part, hold or asked


def watching(watch: Callable[..., None], ports: Sequence[str], crowd: bool = False) -> list[Step]:
    """What finds the rows that take part; in a crowd only shapes that are near are looked at."""
    if watch is not watch_velocities:
        return [each(watch, *ports, on="constraint")]
    return [
        each(measure),
        *([*finding(), over("others", notice, *ports, on="constraint")] if crowd else [each(notice, *ports, on="constraint")]),
        each(watch, *ports, on="constraint", under=("own", "noticed")),
        *[each(foresee, *ports, on="constraint", when=("own", "looks"), under=("own", "noticed"))] * LOOKS,
        each(pass_by, on="constraint", when=("own", "nears"), under=("own", "noticed")),
    ]


def carrying_up(hold: Callable[..., None], ports: Sequence[str], up: Callable[..., None] = climb) -> list[Step]:
    """What rows of laws that are awake ask, and their way to the root.

    hold   the rule that says what they ask
    up     the rule by which a row climbs over a joint
    """
    places = [port.replace("p", "s") for port in ports]
    return [
        each(hold, *ports, *places, on="constraint", under=("own", "awake")),
        *climbing(up, under=("law", "awake")),
    ]


def solved_rows(
    most: int,
    rules: Rules,
    add: Callable[..., None],
    up: Callable[..., None] = climb,
    kinds: int = EQUALITIES,
    carried: Callable[..., None] | None = None,
    impacts: Callable[[list[Step]], list[Step]] | None = None,
) -> list[Step]:
    """Rows of constraints with so many ports at most: from the free motion to the one that they allow.

    rules   which say what rows take part, and what they ask; those of `hold_velocities` may pass through singular positions
    add     the rule that adds what their forces cause to the free motion, outward
    up      the rule by which a row climbs over a joint
    kinds   what rows are (see `Collection.shape`)
    carried where bounds of some follow from what joints carry, the rule that finds it, inward (see `pressing`)
    impacts what makes of the solver one with impacts by Poisson's law (see `poisson`)
    """
    ports = [f"p{i}" for i in range(most)]
    watch, hold = rules
    if kinds == CROWD:
        if watch is not watch_velocities or up is not climb or carried is not None:
            raise InputError(CROWDED)
        return [
            *watching(watch, ports, crowd=True),
            *carrying_up(hold, ports, up),
            GATHER_AWAKE,
            *SOLVE_CROWD,
            Routine(spread, (*PATHS, "y_rows", "x", "dy"), when="busy"),
            outward(add, when="busy"),
        ]
    solver: list[Step] = [*row_solver(kinds, SOFT_SOLVE if hold in SOFT_RULES else SOLVE)]
    spreading = Routine(spread, (*PATHS, "y_rows", "x", "dy"), when="busy")
    if carried is not None:
        solver = in_turns(solver, [spreading, outward(answer)], ports, carried)
    elif hold is hold_under_bounds:
        solver = [KEEP, *solver]
    elif impacts is not None:
        solver = impacts(solver)
    return [
        *watching(watch, ports),
        *carrying_up(hold, ports, up),
        Routine(gather, ("rows", "on", "x", "busy", "left", "active")),
        Routine(gram, (*PATHS, "u_rows", "y_rows", "gram_columns", "A"), when="busy"),
        *solver,
        spreading,
        outward(add, when="busy"),
    ]
