"""A variational integrator on Lie groups: the midpoint rule applied to the action, not to the equations of motion. Order 2.

Over a step the joints move with constant velocities v along their `paths`; `discrete_lagrangian` says which momenta p0 and p1
that means before and after, under all forces at the midpoint, and `rattle` what constraints add,

    M(q) v_start = p,     p + G(q)^T x = p0(q, v),     q' = integrate(q, h v),     M(q') v' = p1(q, v) + G(q')^T x'.

The step is symplectic and keeps momenta: the energy of an undamped system stays near its start for exponentially long times.
v and x are found by Newton's method with M(q) for its matrix, factored once, in O(n) a round, whose rounds gain a factor of order
h each (`newton_rounds`). The last change of v is added to p1 as M(q) dv: p1 is then as good as v, to rounding.

Rows that only push act where they touch when the step begins, and velocities are made admissible after the step, with
restitution (`settle`): order 1 while a row acts.

"variational4" composes each step of three, of lengths c h, (1 - 2c) h, c h with c = 1 / (2 - 2^(1/3)): order 4 [Yoshida 1990].
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..elements.collection import Shape, collection
from ..errors import InputError
from ..kernel.loops import Ints, Lane, loops, maximum, minimum, where
from ..kernel.plans import Plans
from ..kernel.sweep import SCALAR, Algorithm, Field, Repeat, Routine, Step, Tree, each, inward, outward, vector
from ..model import Model
from ..model.rules import inertia_of, joint_of, placement_of
from ..reduced.program import act, begin_loads, correct, fields
from ..reduced.rules import factor_joint
from ..spatial.scalar import Vector, absolute, array, dot, zeros
from ..spatial.scalar import where as chosen
from .discrete_lagrangian import SUMS, end_momenta, midpoint
from .newton_rounds import LOOSE, ROUNDS, either, largest, newton, newton_fields
from .paths import along, own, path_of, turn_of
from .rattle import ASK, END_ROWS, KEEP, MIDDLE, SOLVE, missed_gaps, missed_rates, posed_rows, rattle_fields, tell_part
from .settle import noted, settle, settle_fields, take_joints
from .stages import renamed
from .stepper import Program, Stepper

SLOW = 0.2  # of the change before: changes that shrink less are mixed with the last step
MOST_MIXED = 10.0  # of the last step, and of the difference of the last two changes


# --- where a part of the step begins -----------------------------------------------------------------------------------------
def stand(n: Any, parent: Any) -> None:
    """Transform and S of the joint, and S of its path."""
    joint = joint_of(n)
    still = joint.motion(n.q, zeros(joint.nv))
    n.E, n.S, n.turn = placement_of(n) @ still.with_tangent(None), still.tangent.S, turn_of(n)


def stand_moving(n: Any, parent: Any) -> None:
    """The same, and the twist of the body."""
    stand(n, parent)
    n.twist = n.E.pull_twist(parent.twist) + n.S @ n.v


def put(n: Any, parent: Any) -> None:
    """Pose of the body."""
    n.pose = (parent.pose @ n.E).collapsed()


def begin_momenta(n: Any, parent: Any) -> None:
    """p = M v, and how joints answer to impulses; the velocities of the path begin at those of the joint."""
    H = inertia_of(n) @ n.twist + n.H
    n.momentum = n.S.T @ H + n.armature * n.v
    parent.H = parent.H + n.E.move_wrench(H)
    n.path_v = n.p1 = along(n, n.turn, n.v)
    _factor(n, parent)


def _factor(n: Any, parent: Any) -> None:
    f = factor_joint(inertia_of(n) + n.IA, n.S, n.armature)
    n.K, n.factor = f.K, f
    parent.IA = parent.IA + n.E.move_inertia(f.Ia)


# --- one round of Newton's method --------------------------------------------------------------------------------------------
def put_midway(n: Any, parent: Any) -> None:
    """Pose of the body in the middle of the step."""
    n.pose = (parent.pose @ n.E_mid).collapsed()


def imbalance(n: Any, parent: Any) -> None:
    """What is missing of the momentum at the start, and what the joint answers."""
    _balance(n, parent, n.external, n.tau)


def loaded_imbalance(n: Any, parent: Any) -> None:
    """The same under all forces."""
    _balance(n, parent, n.load, n.push)


def _balance(n: Any, parent: Any, load: Vector, push: Vector) -> None:
    p0, p1 = end_momenta(n, parent, load, push)
    n.p1 = either(n.go, p1, n.p1)
    _answer(n, parent, n.momentum - own(n, n.turn, p0))


def _answer(n: Any, parent: Any, r: Vector) -> None:
    """y = D^-1 u of the joint forces r."""
    u = r - n.S.T @ n.pA
    n.y = n.factor.solve(u)
    parent.pA = parent.pA + n.E.move_wrench(n.pA + n.K.T @ u)


def reach(n: Any) -> None:
    """Coordinates where the step ends."""
    n.end_q = path_of(n).integrate(n.q, n.step * n.path_v)


def put_at_end(n: Any, parent: Any) -> None:
    """Pose of the body there."""
    joint = joint_of(n)
    E = placement_of(n) @ joint.motion(n.end_q, zeros(joint.nv)).with_tangent(None)
    n.pose = (parent.pose @ E).collapsed()


def change_velocities(n: Any, parent: Any) -> None:
    """Better velocities, and how far they are from the last."""
    _change(n, parent, n.y)


def change_held_velocities(n: Any, parent: Any) -> None:
    """The same with the impulses of rows."""
    _change(n, parent, n.y + n.dy)
    n.dy = zeros(len(n.dy))


def _change(n: Any, parent: Any, y: Vector) -> None:
    a = n.E.pull_twist(parent.jump)
    change = y - n.K @ a
    n.jump, n.delta = either(n.go, a + n.S @ change, n.jump), either(n.go, change, n.delta)


def update(n: Any) -> None:
    """Velocities of the path in lanes that go."""
    n.path_v = either(n.go, n.path_v + along(n, n.turn, n.delta), n.path_v)
    n.change, n.size = largest(n.delta, n.change), largest(n.path_v, n.size)


def compare_changes(n: Any) -> None:
    """How this change of velocities differs from the last: sums of products with d = change - last change."""
    d = n.delta - n.last_delta
    n.change, n.returns, n.differs = largest(n.delta, n.change), n.returns + dot(n.delta, d), n.differs + dot(d, d)


def update_mixed(n: Any) -> None:
    """Velocities of the path in lanes that go, with a part of the last step taken back where changes shrink slowly."""
    mixed = n.delta - n.mix * (n.last_step + n.delta - n.last_delta)  # no number before there is a last step
    step = either(absolute(n.mix), mixed, n.delta)
    n.path_v = either(n.go, n.path_v + along(n, n.turn, step), n.path_v)
    n.last_step, n.last_delta, n.size = step, n.delta, largest(n.path_v, n.size)


@loops
def begin_mixing(mixes: Lane, returns: Lane, differs: Lane) -> None:
    """No change is known yet."""
    mixes[0] = 0.0
    returns[0] = 0.0
    differs[0] = 0.0


@loops
def choose_mix(change: Lane, last: Lane, mixes: Lane, returns: Lane, differs: Lane, mix: Lane) -> None:
    """The part of the last step that is taken back [Anderson 1965, of depth 1]; none where changes shrink fast or are small.

    Where a step passes a singular position, the rows at its two ends differ most, and Newton's method with those at its start
    alone swings about what it looks for.
    """
    slow = (mixes[0] > 0.0) & (change[0] > SLOW * last[0]) & (change[0] > LOOSE) & (differs[0] > 0.0)
    part = returns[0] / where(differs[0] > 0.0, differs[0], 1.0)
    mix[0] = where(slow, minimum(maximum(part, -MOST_MIXED), MOST_MIXED), 0.0)
    mixes[0] = 1.0
    returns[0] = 0.0
    differs[0] = 0.0


def newton_round(shape: Shape) -> list[Step]:
    """One round."""
    forces, rows, on_bodies, _ = shape
    loaded, held = forces >= 0, rows >= 0
    steps: list[Step] = [outward(midpoint), *([outward(put_midway)] if on_bodies else [])]
    if loaded:
        acting = each(act, *(f"p{i}" for i in range(forces)), on="force")
        steps += [each(begin_loads), renamed(acting, MIDDLE)]
    steps.append(inward(loaded_imbalance if loaded else imbalance))
    if held:
        steps += [missed_rates(rows), each(reach), *([outward(put_at_end)] if on_bodies else [])]
        steps += [missed_gaps(rows), ASK, *SOLVE, KEEP]
    if not held:
        return [*steps, outward(change_velocities), each(update)]
    mixing = Routine(choose_mix, ("change", "last", "mixes", "returns", "differs", "mix"))
    return [*steps, outward(change_held_velocities), each(compare_changes), mixing, each(update_mixed)]


# --- where it ends -----------------------------------------------------------------------------------------------------------
def add_last_change(n: Any, parent: Any) -> None:
    """The momenta at the end are those before the last change of velocities; M(q) times that change is added."""
    H = inertia_of(n) @ n.jump + n.H
    n.p1 = n.p1 + along(n, n.turn, n.S.T @ H + n.armature * n.delta)
    parent.H = parent.H + n.E.move_wrench(H)


def move(n: Any) -> None:
    """Coordinates after this part of the step."""
    n.q = path_of(n).integrate(n.q, n.step * n.path_v)


def change_charts(n: Any) -> None:
    """Coordinates away from poles after the step, and the velocities as they are seen there."""
    n.q, n.v = joint_of(n).rechart(n.q, n.v)


def lose(n: Any) -> None:
    """The motion of a lane whose velocities were not found is no number."""
    n.v = array([chosen(n.stuck > 0.0, np.nan, x) for x in n.v])


def end_answer(n: Any, parent: Any) -> None:
    """What joints answer to the momenta at the end."""
    _factor(n, parent)
    _answer(n, parent, own(n, n.turn, n.p1))


def end_velocities(n: Any, parent: Any) -> None:
    """Velocities at the end without rows, of joints and bodies."""
    a = n.E.pull_twist(parent.twist)
    n.v = n.free_v = n.y - n.K @ a
    n.twist = a + n.S @ n.v


@loops
def begin_step(part: Ints, t: Lane, end_t: Lane, rounds: Lane) -> None:
    """The first part is next."""
    part[0] = 0
    end_t[0] = t[0]
    rounds[0] = 0.0


@loops
def begin_rows(rows: int, x: Lane, left: Lane) -> None:
    """No impulse yet."""
    left[0] = 0.0
    for r in range(rows):
        x[r] = 0.0


@loops
def begin_part(part: Ints, lengths: Lane, h: Lane, step: Lane, start_t: Lane, mid_t: Lane, end_t: Lane) -> None:
    """Length and times of this part of the step."""
    step[0] = lengths[part[0]] * h[0]
    start_t[0] = end_t[0]
    mid_t[0] = start_t[0] + 0.5 * step[0]
    end_t[0] = start_t[0] + step[0]
    part[0] = part[0] + 1


@loops
def end_step(t: Lane, h: Lane) -> None:
    """The time after a step."""
    t[0] += h[0]


# --- the program -------------------------------------------------------------------------------------------------------------
def step_fields(shape: Shape, parts: int, bounces: bool) -> dict[str, Field]:
    """The fields of a step."""
    numbers = ("step", "start_t", "mid_t", "end_t", "part")
    found = fields(shape) | {
        **SUMS,
        **newton_fields(),
        "q": Field("state", "q"),
        "v": Field("state", "v"),
        "t": Field("state", "global", SCALAR),
        "h": Field("input", "global", SCALAR),
        "lengths": Field("input", "global", vector(parts)),
        "jump": Field("shared", codec=vector(6)),
        **{name: Field("work", "q") for name in ("mid_q", "end_q")},
        **{name: Field("work", "v") for name in ("path_v", "mid_v", "p1", "y", "delta")},
        **{name: Field("work", "global", SCALAR) for name in numbers},
    }
    if shape[1] < 0:
        return found
    mixing = {name: Field("work", "global", SCALAR) for name in ("mixes", "returns", "differs", "mix")}
    mixing |= {name: Field("work", "v") for name in ("last_step", "last_delta")}
    return found | mixing | rattle_fields() | settle_fields(bounces)


@functools.cache
def variational_step(shape: Shape, parts: int, bounces: bool, charted: bool = False) -> Algorithm:
    """A step of so many parts of models with such laws.

    bounces   whether contacts have restitution
    charted   whether joints may change their charts after the step
    """
    _, rows, on_bodies, _ = shape
    held = rows >= 0
    bodies: list[Step] = [outward(put)] if held and on_bodies else []
    part: list[Step] = [
        *([Routine(tell_part, ("part", "told_count", "told", "told_start", "told_mid", "told_end"))] if held else []),
        Routine(begin_part, ("part", "lengths", "h", "step", "start_t", "mid_t", "end_t")),
        outward(stand_moving),
        *bodies,
        inward(begin_momenta),
        *(posed_rows(rows, again=False) if held else []),
        *([Routine(begin_mixing, ("mixes", "returns", "differs"))] if held else []),
        *newton(newton_round(shape)),
        inward(add_last_change),
        each(move),
        outward(stand),
        *bodies,
        inward(end_answer),
        outward(end_velocities),
    ]
    if held:
        part += [
            *posed_rows(rows, again=True),
            *SOLVE,
            outward(correct, when="busy"),
            each(take_joints, when=("global", "busy")),
            END_ROWS,
        ]
    steps: list[Step] = [
        *(renamed(step, {"told": "told_end"}) for step in noted(shape, "reduced", bounces)),
        Routine(begin_step, ("part", "t", "end_t", "rounds")),
        *([Routine(begin_rows, ("rows", "x", "left"))] if held else []),
        Repeat(tuple(part), parts),
        each(lose),
        Routine(end_step, ("t", "h")),
        *(renamed(step, {"told": "told_end"}) for step in settle(shape, "reduced", bounces)),
        *([each(change_charts)] if charted else []),
    ]
    name = f"variational_{'bouncing_' * bounces}{'charted_' * charted}{parts}_{'_'.join(map(str, map(int, shape)))}"
    return Algorithm(name, step_fields(shape, parts, bounces), {"run": steps})


def told_tree(model: Model, parts: int) -> Tree:
    """The loaded tree with room for what constraints are told at the start, in the middle and at the end of all parts."""
    tree, told = collection(model).tree, collection(model).told_count
    return replace(tree, counts=tree.counts | {"tellings": 3 * parts * told}, numbers=tree.numbers | {"told_count": told})


def told_plans(model: Model, parts: int) -> Plans:
    """Programs bound to that tree, kept with the model."""
    return model.keep_as((told_plans, parts), lambda: Plans(told_tree(model, parts)))


def leave(model: Model, kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The parts of the states."""
    return {name: kept[name] for name in ("q", "v")}


OUTER = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))


@dataclass(frozen=True)
class Variational(Stepper):
    """See the module's text.

    parts   the lengths of the steps of order 2 that make one step
    """

    parts: ClassVar[tuple[float, ...]] = (1.0,)

    name = "variational"
    order = 2
    contacts = True
    bounces = True

    @property
    def methods(self) -> tuple[str, ...]:
        return ("reduced",)

    def check(self, model: Model) -> None:
        for b in model.bodies:
            if b.joint.charted and not b.joint.recharts_after_steps:
                raise InputError(
                    f"the stepper {self.name!r} cannot change charts, which joint {b.joint_name!r} ({type(b.joint).__name__}) "
                    "does; use Spherical or Free instead"
                )

    def program(self, method: str, model: Model) -> Program:
        laws, lengths = collection(model), np.array(self.parts)
        begins = np.cumsum([0.0, *self.parts])[:-1]

        def enter(model: Model, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            kept = given | {"stuck": np.zeros((len(given["t"]), 1))}
            return kept | ({"unknown": laws.first_unknowns(given["q"])} if laws.rows else {})

        def inputs(model: Model) -> dict[str, np.ndarray]:
            given = {"lengths": lengths} | ({"u": laws.initial_inputs} if laws.forces else {})
            return given | ({"told": np.zeros(3 * len(lengths) * laws.told_count)} if laws.rows else {})

        return Program(
            variational_step(laws.shape, len(lengths), laws.bounces, any(b.joint.charted for b in model.bodies)),
            ("q", "v", "t", "stuck", *(["unknown"] if laws.rows else [])),
            enter=enter,
            leave=leave,
            inputs=inputs,
            bind=lambda m: told_plans(m, len(lengths)),
            reports=lambda m: {"rounds": 1} | ({"x": laws.row_count, "left": 1} if laws.rows else {}),
            records=("q", "v"),
            failure=(
                f"the {self.name} step at t = {{t:.9g}} did not converge: its velocities still changed in the last of {ROUNDS} "
                "rounds; take a smaller dt"
            ),
            times=tuple(a + c * x for a, x in zip(begins, lengths, strict=True) for c in (0.0, 0.5, 1.0)),
        )


@dataclass(frozen=True)
class Variational4(Variational):
    """See the module's text."""

    parts = (OUTER, 1.0 - 2.0 * OUTER, OUTER)

    name = "variational4"
    order = 4
