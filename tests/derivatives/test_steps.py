"""Derivatives of time steps against differences of `simulate`: every kind of law, limits, contacts with friction, parameters."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from identities.loaded_kinds import Q, model, moving

import linkwork as lw

H, EPS = 1e-3, 1e-6
ROD = lw.Inertia.cuboid(mass=1.0, size=(0.4, 0.05, 0.05), com=(0.2, 0, 0))


def after(m: lw.Model, q: np.ndarray, v: np.ndarray, steps: int = 1, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    run = lw.simulate(m, lw.State(q=q, v=v), duration=steps * H, dt=H, **options)
    return run.q[-1], run.v[-1]


def differences(m: lw.Model, q: np.ndarray, v: np.ndarray, tau0: Any = 0.0, **options: Any) -> np.ndarray:
    """d(q', v')/d(q, v, tau) by central differences."""
    q1, _ = after(m, q, v, tau=tau0 + np.zeros(m.nv), **options)

    def end(d: np.ndarray) -> np.ndarray:
        dq, dv, tau = np.split(d, 3)
        q2, v2 = after(m, m.integrate(q, dq), v + dv, tau=tau0 + tau, **options)
        return np.concatenate([m.difference(q1, q2), v2])

    return np.array([(end(EPS * e) - end(-EPS * e)) / (2 * EPS) for e in np.eye(3 * m.nv)]).T


def close(x: np.ndarray, y: np.ndarray, tolerance: float = 1e-6) -> bool:
    return bool(np.abs(x - y).max() <= tolerance * (1.0 + np.abs(y).max()))


def agrees(m: lw.Model, q: Any, v: Any, **options: Any) -> bool:
    q, v = m.integrate(np.array(q, float), np.zeros(m.nv)), np.array(v, float)
    found = lw.step_derivatives(m, lw.State(q=q, v=v), H, **options)
    return close(np.concatenate([found.A, found.B], axis=1), differences(m, q, v, **options), 1e-7)


@pytest.mark.parametrize("stepper", ["symplectic_euler", "rk4"])
@pytest.mark.parametrize("kind", ["joint springs", "spring dampers", "drag", "all"])
def test_every_law(kind: str, stepper: str) -> None:
    m = model(kind)
    assert agrees(m, Q, moving(kind), stepper=stepper)


@cache
def arm() -> lw.Model:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=ROD, limits=(-1.0, 0.3))
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD, friction=0.5)
    return b.build()


@pytest.mark.parametrize(
    ("q", "v"),
    [((0.2999, 0.2), (0.5, 0.3)), ((0.3004, 0.2), (0.5, 0.3)), ((0.1, 1.3), (0.0, 0.0)), ((0.1, 0.2), (0.4, 1.0))],
    ids=["reaches a stop", "pushed out of it", "sticks", "slips"],
)
def test_limits_and_dry_friction(q: Any, v: Any) -> None:
    assert agrees(arm(), q, v)


@cache
def on_ground(kind: str) -> lw.Model:
    b = lw.ModelBuilder()
    b.ground(friction=0.4)
    shape = lw.Sphere(0.1, mass=1.0) if kind == "ball" else lw.Box((0.2, 0.3, 0.1), mass=1.0)
    b.body(kind, joint=lw.Free(), shapes=[shape])
    return b.build()


@pytest.mark.parametrize(
    ("kind", "v", "contact"),
    [
        ("ball", (0.3, 0.2, 0.1, 1.0, 0.5, -0.1), "exact"),
        ("ball", (0.0, 1.0, 0.0, 0.1, 0.0, -0.05), "exact"),
        ("ball", (0.0, 1.0, 0.0, 0.1, 0.0, -0.05), "frictionless"),
        ("box", (0, 0, 0, 0, 0, -0.01), "exact"),
        ("box", (0, 0, 0.1, 1.0, 0.3, -0.01), "exact"),
        ("box", (0, 0, 0, 0, 0, 3.0), "exact"),
    ],
    ids=["ball slides", "ball rolls", "no friction", "box sticks", "box slides", "flies"],
)
def test_contacts(kind: str, v: Any, contact: str) -> None:
    """Away from edges: a little below the surface, where all corners touch."""
    height, turn = (0.0997, (1.0, 0, 0, 0)) if kind == "ball" else (0.0498, (0.999999, 0.0005, -0.001, 0.0003))
    q = np.array([0, 0, height, *turn])
    q[3:] /= np.linalg.norm(q[3:])
    assert agrees(on_ground(kind), q, v, contact=contact)


def test_many_steps_batches_and_products() -> None:
    m = model("spring dampers")
    rng = np.random.default_rng(0)
    q = np.array([m.integrate(Q, 0.01 * rng.normal(size=m.nv)) for _ in range(3)])
    v, tau = rng.normal(size=(2, 3, m.nv))
    found = lw.step_derivatives(m, lw.State(q=q, v=v), H, tau, steps=4)
    one = lw.step_derivatives(m, lw.State(q=q[1], v=v[1]), H, tau[1], steps=4)
    assert all(np.array_equal(x[1], y) for x, y in zip(found, one, strict=True))
    assert close(one.A, differences(m, q[1], v[1], tau[1], steps=4)[:, : 2 * m.nv], 1e-7)
    dq, dv, dtau = rng.normal(size=(3, m.nv))
    end = lw.step_product(m, lw.State(q=q[1], v=v[1]), H, dq, dv, dtau, tau[1], steps=4)
    assert close(np.concatenate(end), one.A @ np.concatenate([dq, dv]) + one.B @ dtau, 1e-12)


def pendulum() -> lw.Model:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Universal(), inertia=ROD, armature=0.02)
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD, damping=0.1)
    b.add(
        lw.SpringDamper("b", "world", (0.4, 0, 0), (1.0, 0.2, 0.1), stiffness=30.0, rest_length=0.3, damping=0.4, name="spring")
    )
    b.add(lw.JointSpring("b", 3.0, rest=[0.2], name="hinge"))
    return b.build()


def coupled() -> lw.Model:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Universal(), inertia=ROD, armature=0.02)
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD, damping=0.1)
    b.body("c", parent="b", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD)
    b.add(lw.Coupling("c", "b", 2.0))
    b.add(
        lw.SpringDamper("b", "world", (0.4, 0, 0), (1.0, 0.2, 0.1), stiffness=30.0, rest_length=0.3, damping=0.4, name="spring")
    )
    b.add(lw.JointSpring("b", 3.0, rest=[0.2], name="hinge"))
    return b.build()


NUMBERS = {
    "a": ("mass", "com", "tensor", "placement", "armature"),
    "b": ("mass", "com", "placement", "damping"),
    "spring": ("stiffness", "rest_length", "damping"),
    "hinge": ("stiffness", "rest"),
}


@pytest.mark.parametrize("steps", [1, 100])
def test_parameters(steps: int) -> None:
    """Of bodies and laws, by numbers that users know, after one step and a hundred."""
    from linkwork.reduced.parameters import entries, varied

    m = pendulum()
    q, v = np.array([0.2, -0.3, 0.5]), np.array([0.5, 1.0, -0.4])
    found = lw.step_parameter_derivatives(m, lw.State(q=q, v=v), H, NUMBERS, steps=steps)
    expected = []
    for name, what, value, k in entries(m, NUMBERS):
        ends = [after(m.with_parameters({name: {what: varied(value, k, s * 1e-5)}}), q, v, steps) for s in (1, -1)]
        expected.append((np.concatenate(ends[0]) - np.concatenate(ends[1])) / 2e-5)
    assert close(found, np.array(expected).T)


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("batch", [False, True])
def test_parameters_of_accelerations(batch: bool, held: bool) -> None:
    """With forces, and with a coupling besides, of one state or several."""
    from linkwork.reduced.parameters import entries, varied

    m = coupled() if held else pendulum()
    q, v = np.array([0.2, -0.3, 0.5, 1.0])[: m.nv], np.array([0.5, 1.0, -0.4, -0.8])[: m.nv]
    if batch:
        q, v = np.array([q, 0.5 * q, -q]), np.array([v, -v, v])
    found = lw.parameter_derivatives(m, q, v, NUMBERS, 0.1 * v)
    expected = []
    for name, what, value, k in entries(m, NUMBERS):
        ends = [
            lw.forward_dynamics(m.with_parameters({name: {what: varied(value, k, s * 1e-5)}}), q, v, 0.1 * v) for s in (1, -1)
        ]
        expected.append((ends[0] - ends[1]) / 2e-5)
    assert close(found, np.moveaxis(np.array(expected), 0, -1))


def test_friction_coefficient() -> None:
    """Of a ball that slides on a surface of its own."""
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(1.0, 0.1))
    pair = lw.Contact("ball", lw.Sphere(0.1), "world", lw.Plane((0, 0, 0), (0, 0, 1)), friction=0.3, name="floor")
    m = b.add(pair).build()
    q, v = np.array([0, 0, 0.0997, 1.0, 0, 0, 0]), np.array([0, 0, 0, 1.0, 0.5, -0.1])
    found = lw.step_parameter_derivatives(m, lw.State(q=q, v=v), H, {"floor": ["friction"]})
    ends = [after(m.with_parameters({"floor": {"friction": 0.3 + s * 1e-5}}), q, v) for s in (1, -1)]
    assert np.abs(found[6:, 0]).max() > 0.01
    assert close(found[6:, 0], (ends[0][1] - ends[1][1]) / 2e-5)


def test_what_is_not_there() -> None:
    m = pendulum()
    state = lw.State(q=np.zeros(3), v=np.zeros(3))
    with pytest.raises(lw.LinkworkError, match="has no number"):
        lw.step_parameter_derivatives(m, state, H, {"a": ["colour"]})
    with pytest.raises(lw.LinkworkError, match="dq, dv or dtau"):
        lw.step_product(m, state, H)
    with pytest.raises(lw.LinkworkError, match="has no derivative"):
        lw.step_derivatives(m, state, H, stepper="dop853")
