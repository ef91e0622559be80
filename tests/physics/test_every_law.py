"""Every kind of law in every compiled stepper and formulation: where an accurate method goes, to the order of the stepper;
batches to the bit as single runs; the rules as they stand, to rounding; gaps and pushes as they must be."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.elements.collection import collection
from linkwork.kernel import eager
from linkwork.steppers import ALL_STEPPERS
from linkwork.steppers.symplectic_euler import SymplecticEuler

ROD = lw.Inertia.cuboid(mass=1.0, size=(0.4, 0.06, 0.05), com=(0.2, 0.01, 0.0))
START = np.array([0.4, 0.6, -0.5])
DURATION = 0.25
METHODS = ("reduced", "maximal")
TABLE = [(name, method) for name, stepper in ALL_STEPPERS.items() for method in stepper().methods]
TOLERANCES: dict[str, dict[str, Any]] = {"dop853": {"rtol": 1e-8, "atol": 1e-10}, "ode45": {"rtol": 1e-8, "atol": 1e-10}}


def arm(*laws: Any, **properties: Any) -> lw.Model:
    """Three links, hinges about y, y and z."""
    b, parent, place = lw.ModelBuilder(), "world", lw.SE3(p=(0, 0, 1))
    for name, axis in zip("abc", ((0, 1, 0), (0, 1, 0), (0, 0, 1)), strict=True):
        b.body(name, parent=parent, joint=lw.Revolute(axis), placement=place, inertia=ROD, **properties)
        parent, place = name, lw.SE3(p=(0.4, 0, 0))
    for law in laws:
        b.add(law)
    return b.build()


def tip(q: np.ndarray = START) -> np.ndarray:
    return lw.kinematics(arm(), q).poses[2] @ np.array([0.4, 0, 0, 1.0])


def distance() -> float:
    return float(np.linalg.norm(lw.kinematics(arm(), START).poses[2, :3, 3]))


def spring_dampers() -> list[Any]:
    wide = {"stiffness": 30.0, "rest_length": 0.3, "damping": 0.5}
    return [lw.SpringDamper("c", "world", (0.4, 0, 0), (0.5, 0, 0.5), **wide), lw.SpringDamper("a", "c", (0, 0, 0.1), **wide)]


def muscle() -> list[Any]:
    path = [("world", (-0.05, 0, 1.05)), ("a", (0.2, 0, 0.05)), ("b", (0.1, 0, 0.05))]
    return [lw.Muscle(path, max_force=200.0, optimal_length=0.2, tendon_length=0.2, activation=0.4)]


def turning(t: Any) -> tuple[Any, Any, Any]:
    return START[0] + 0.5 * np.sin(2 * t), np.cos(2 * t), -2 * np.sin(2 * t)


SMOOTH: dict[str, Any] = {
    "bare": lambda: [],
    "joint springs": lambda: [lw.JointSpring(x, 20.0, damping=0.3) for x in "abc"],
    "drives": lambda: [lw.PDController(x, 50.0, 2.0, target=[0.1]) for x in "abc"],
    "spring dampers": spring_dampers,
    "muscle": muscle,
    "cable": lambda: [lw.Cable([("world", (0, 0, 1.6)), ("a", (0.4, 0, 0.1)), ("c", (0.4, 0, 0))], 40.0, 0.2)],
    "limit springs": lambda: [lw.LimitSpring("b", 200.0, 1.0)],
    "coupling": lambda: [lw.Coupling("b", "a", 2.0, START[1] - 2.0 * START[0])],
    "loop": lambda: [lw.Loop("c", "world", (0.4, 0, 0), tip()[:3])],
    "prescribed": lambda: [lw.PrescribedJoint("a", turning)],
    "user's rod": lambda: [lw.constraint("c", lambda E, l: lw.math.norm(E[0].p) - l, parameters={"l": distance()})],
}
PUSHING: dict[str, Any] = {
    "limit": lambda: [lw.Limit("a", -1.0, START[0] + 0.02), lw.Limit("b", START[1] - 0.3, START[1] + 0.1)],
    "contact": lambda: [lw.Contact("c", lw.Sphere(0.05, (0.4, 0, 0)), "world", lw.Plane((0, 0, tip()[2] - 0.08), (0, 0, 1)))],
    "dry friction": lambda: [lw.DryFriction("a", 0.5), lw.DryFriction("b", 20.0)],
}
KINDS = SMOOTH | PUSHING


@cache
def model(kind: str) -> lw.Model:
    limits = {"limits": (-0.5, 0.65)} if kind == "limit springs" else {}
    return arm(*KINDS[kind](), **limits)


@cache
def start(kind: str) -> lw.State:
    v = np.zeros(3)
    v[0] = 1.0 if kind == "prescribed" else 0.0
    return lw.State(START, v)


def run(kind: str, stepper: str, method: str, dt: float) -> lw.Trajectory:
    chosen: dict[str, Any] = {"stepper": stepper, **TOLERANCES.get(stepper, {})}
    return lw.simulate(model(kind), start(kind), DURATION, dt, method, limit_model="off", **chosen)


@cache
def truth(kind: str) -> np.ndarray:
    """Where the arm is at the end."""
    tight: dict[str, Any] = {"stepper": "dop853", "rtol": 1e-11, "atol": 1e-13, "limit_model": "off"}
    return lw.simulate(model(kind), start(kind), DURATION, DURATION, **tight).q[-1]


def end(found: lw.Trajectory) -> np.ndarray:
    return lw.to_reduced(found.model, found.final).q if isinstance(found.final, lw.MaximalState) else found.q[-1]


@pytest.mark.parametrize(("stepper", "method"), TABLE)
@pytest.mark.parametrize("kind", SMOOTH)
def test_the_accurate_motion(kind: str, stepper: str, method: str) -> None:
    """Every stepper converges to it at its order, or keeps its tolerance, and stays on the constraints."""
    if stepper in TOLERANCES:
        found = run(kind, stepper, method, DURATION / 10)
        assert np.abs(end(found) - truth(kind)).max() < 1e-6
        residual = found.health.constraint_residual
        assert residual is None or residual < 1e-6
        return
    order = ALL_STEPPERS[stepper].order
    steps, bound = {1: (1000, 2e-3 if stepper == "symplectic_euler" else 4e-3), 2: (500, 2e-4), 4: (100, 1e-6)}[order]
    coarse, fine = (run(kind, stepper, method, DURATION / n) for n in (steps // 2, steps))
    errors = [np.abs(end(found) - truth(kind)).max() for found in (coarse, fine)]
    if kind == "limit springs" and order > 1:  # their damping sets in at once: where in a step decides
        assert max(errors) < DURATION / steps
    else:
        assert errors[1] < bound
        assert errors[1] < 0.75**order * errors[0] or errors[1] < 1e-9, errors
    residual = fine.health.constraint_residual
    assert residual is None or residual < 2e-6


@pytest.mark.parametrize(("stepper", "method"), TABLE)
@pytest.mark.parametrize("kind", PUSHING)
def test_pushes(kind: str, stepper: str, method: str) -> None:
    """All agree, better with smaller steps; nothing passes a stop, and only pushes act."""
    apart = [np.abs(end(run(kind, stepper, method, dt)) - end(run(kind, "rk4", "reduced", 1e-4))).max() for dt in (1e-3, 2.5e-4)]
    assert apart[1] < 2e-3
    assert apart[1] < 0.6 * apart[0] or apart[1] < 1e-4
    found = run(kind, stepper, method, 2.5e-4)
    assert found.forces is not None
    if kind == "dry friction":
        assert np.abs(found.forces[:, 0]).max() <= 0.5 + 1e-9
        assert np.abs(end(found)[1] - START[1]).max() < 1e-9  # 20 N m hold the elbow
        assert np.abs(end(found)[0] - START[0]) > 0.05
    else:
        beyond = found.health.limits if kind == "limit" else found.health.penetration
        assert beyond is not None
        assert beyond < 1e-5
        assert found.forces.min() >= 0.0
        assert found.forces.max() > 0.1


@pytest.mark.parametrize(("stepper", "method"), TABLE)
@pytest.mark.parametrize("kind", KINDS)
def test_batches_to_the_bit(kind: str, stepper: str, method: str) -> None:
    """For any neighbours and threads."""
    rng, m = np.random.default_rng(0), model(kind)
    q = np.tile(START, (19, 1))
    free = kind in ("bare", "joint springs", "drives", "spring dampers", "muscle", "cable", "limit springs", *PUSHING)
    v = start(kind).v + (rng.normal(size=(19, 3)) if free else np.zeros((19, 3)))
    chosen: dict[str, Any] = {"stepper": stepper, **TOLERANCES.get(stepper, {})}
    many = lw.simulate(m, lw.State(q, v), 0.03, 1e-3, method, threads=2, **chosen)
    for k in (0, 7, 18):
        one = lw.simulate(m, lw.State(q[k], v[k]), 0.03, 1e-3, method, **chosen)
        for name, x in one.arrays.items():
            assert np.array_equal(many.arrays[name][k], x), (kind, name)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_rules_as_they_stand(kind: str, method: str) -> None:
    """One step of the program, run as plain Python."""
    m, s, h = model(kind), start(kind), 1e-3
    state = s if method == "reduced" else lw.to_maximal(m, s)
    names = ("q", "v") if method == "reduced" else ("poses", "twists", "q_fit")
    program = SymplecticEuler().program(method, m)
    parts = {name: np.asarray(getattr(state, name), float).reshape(1, -1) for name in names}
    inputs = program.entered(m, parts, 0.0) | program.given(m, h)
    plain = eager.run(program.algorithm, collection(m).tree, {name: a.reshape(-1) for name, a in inputs.items()})
    compiled = lw.simulate(m, s, h, h, method)
    for name in names:
        found = compiled.arrays[name][-1].reshape(-1)
        assert np.abs(plain[name] - found).max() < 1e-12 * (1.0 + np.abs(found).max()), name
