"""A humanoid in one step: drives on all joints, hands that hold one another, eight contacts with friction: A and B; once more as
it is loaded, with the limits of its joints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..constraints import Loop
from ..contact import Contact
from ..errors import LinkworkError
from ..forces import PDController
from ..geometry.shapes import Plane, Sphere
from ..kernel.call import Call
from ..kernel.plans import Plans
from ..kernel.widths import SCALAR64
from ..model import Model, State
from ..model.kinematics import kinematics
from ..simulate import chosen_stepper, simulate
from ..step_derivatives import step_derivatives
from ..steppers.stepper import program_of
from . import backwards, models, peers
from .report import OURS
from .timing import Contender

CASE = "humanoid"
QUANTITIES = {"off": "step_derivatives", "hard": "step_derivatives_with_limits"}  # by the model of limits
STEP, DEPTH, RADIUS = 1e-3, 2e-4, 0.005  # s; m: how deep the balls under the feet stand in the floor, and how large they are
FEET, HANDS = ("leg_left_6_link", "leg_right_6_link"), ("arm_left_7_link", "arm_right_7_link")
CORNERS = [(x, y, -0.105) for x in (-0.1, 0.1) for y in (-0.06, 0.06)]
INSIDE = 0.05  # rad: so far from their ends are joints that rest there in the neutral position, where steps have a kink
BOUND = 1e-6
PUBLISHED = "published for a humanoid of 36 degrees of freedom with contacts: 95 us on another machine (arXiv 2409.07107)"
BATCH = 64
CHECKED = 7  # every so many directions are compared with differences


def humanoid(inside: float = 0.0) -> tuple[Model, State]:
    """Talos without dry friction on flat feet, and a state in which it begins to move.

    inside   how far from their ends the joints of its upper body are, at least; knees are straight, and leave their ends
    """
    bare = models.robot("talos")
    smooth = [
        replace(b, properties=replace(b.properties, friction=np.zeros(b.joint.nv))) if b.joint.nv else b for b in bare.bodies
    ]
    bare = replace(bare, bodies=tuple(smooth))
    q = bare.neutral()
    for b in (b for b in bare.bodies[1:] if not b.name.startswith("leg")):
        at, own = bare.q_index(b.name), b.properties
        q[at] = np.clip(q[at], own.lower + inside, own.upper - inside)
    poses = kinematics(bare, q).poses
    foot, left, right = (poses[bare.body_index(name)] for name in (FEET[0], *HANDS))
    q[2] += RADIUS - DEPTH - min((foot @ (*c, 1.0))[2] for c in CORNERS)
    held = np.linalg.solve(right, left[:, 3])[:3]
    floor = Plane((0, 0, 0), (0, 0, 1))
    drives = [PDController(b.name, 200.0, 5.0, target=[0.0]) for b in bare.bodies[1:]]
    contacts = [Contact(name, Sphere(RADIUS, c), "world", floor, friction=0.7) for name in FEET for c in CORNERS]
    model = bare.add(*drives, Loop(*HANDS, point_b=held), *contacts)
    return model, State(q=q, v=0.01 * np.random.default_rng(0).normal(size=model.nv))


def after(model: Model, q: np.ndarray, v: np.ndarray, limits: str = "off") -> tuple[np.ndarray, np.ndarray]:
    """The state after the step; hands may have come apart by as much as a difference asks."""
    run = simulate(model, State(q=q, v=v), duration=STEP, dt=STEP, limit_model=limits, open_loops="allow")
    return run.q[-1], run.v[-1]


def disagreement(model: Model, state: State, limits: str) -> float:
    """The largest difference from central differences of the step, relative to the largest entry."""
    A, nv, e = step_derivatives(model, state, STEP, limit_model=limits).A, model.nv, 1e-7
    q1, _ = after(model, state.q, state.v, limits)
    errors, sizes = [0.0], [1.0]
    for k in range(0, 2 * nv, CHECKED):
        ends = []
        for sign in (1.0, -1.0):
            d = np.zeros(2 * nv)
            d[k] = sign * e
            q, v = after(model, model.integrate(state.q, d[:nv]), state.v + d[nv:], limits)
            ends.append(np.concatenate([model.difference(q1, q), v]))
        slope = (ends[0] - ends[1]) / (2 * e)
        errors.append(float(np.abs(A[:, k] - slope).max()))
        sizes.append(float(np.abs(slope).max()))
    return max(errors) / max(sizes)


def forward_step(model: Model, state: State) -> Call:
    """The program of the step alone, on arrays that are kept: what derivatives are asked for without."""
    stepper = chosen_stepper(model, "reduced", None, {})
    program = program_of(stepper, model, "reduced")
    plans: Plans = program.bind(model) if program.bind else model.plan
    told = program.given(model, STEP) | program.entered(model, {"q": state.q[None], "v": state.v[None]}, 0.0)
    fields = program.algorithm.fields
    inputs = {name: np.array(x, float).reshape(1, -1) for name, x in told.items() if name in fields and np.size(x)}
    inputs |= {name: np.zeros((1, plans.size(program.algorithm, name))) for name in ("t",) if name not in inputs}
    absent = tuple(name for name, f in fields.items() if f.kind in ("input", "output") and name not in inputs)
    return Call(plans(program.algorithm, SCALAR64, ("run",), absent), inputs, {}, 1)


def contenders(peer_of: Any) -> tuple[list[Contender], list[str]]:
    """Our derivatives of the step, without limits and with them, the step itself (a call of `simulate`, and its program alone),
    and Pinocchio's derivatives of the bare tree; a line on how well ours agree."""
    cases = {"off": humanoid(), "hard": humanoid(INSIDE)}
    errors = {limits: disagreement(*case, limits) for limits, case in cases.items()}
    for limits, error in errors.items():
        if not error <= BOUND:
            raise LinkworkError(f"{QUANTITIES[limits]} of {CASE} and differences differ by {error:.2g}, more than {BOUND:g}")
    note = (
        f"{CASE}: drives, a loop, 8 contacts with friction; A within {errors['off']:.1e} of differences, and as loaded, with the "
        f"limits of its joints, within {errors['hard']:.1e}; pinocchio: the bare tree alone; {PUBLISHED}"
    )
    found = [x for limits, case in cases.items() for x in _derivatives(*case, limits)]
    return [*found, *_timed(*cases["off"], peer_of)], [note]


def _derivatives(model: Model, state: State, limits: str) -> Iterator[Contender]:
    rng = np.random.default_rng(1)
    many = State(q=np.repeat(state.q[None], BATCH, axis=0), v=state.v + 1e-4 * rng.normal(size=(BATCH, model.nv)))
    for mode, states, count in (("single", state, 1), ("batch64", many, BATCH)):
        call = partial(step_derivatives, model, states, STEP, limit_model=limits)
        yield Contender(CASE, QUANTITIES[limits], OURS, mode, 1, call, count)


def _timed(model: Model, state: State, peer_of: Any) -> Iterator[Contender]:
    yield Contender(CASE, "step_program", OURS, "single", 1, forward_step(model, state), 1)
    yield Contender(CASE, "step", OURS, "single", 1, lambda: after(model, state.q, state.v), 1)
    yield from backwards.contenders(CASE, model, state)
    if peers.module("pinocchio") is not None:
        yield peer_of(models.robot("talos"))
