"""Gradients of steps: products from the left against the Jacobians of `step_derivatives`, and against differences of runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from derivatives.step_cases import CONTACTS, NUMBERS, STOPS, H, after, arm, close, coupled, on_ground, pendulum, resting
from identities.loaded_kinds import Q, model, moving

import linkwork as lw


def weighted(m: lw.Model, q: Any, v: Any, **options: Any) -> None:
    """Weights times the Jacobians, and the gradient."""
    q, v = m.integrate(np.array(q, float), np.zeros(m.nv)), np.array(v, float)
    state, rng = lw.State(q=q, v=v), np.random.default_rng(m.nv)
    tau, dq, dv = rng.normal(size=(3, m.nv)) * [[0.1], [1.0], [1.0]]
    A, B = lw.step_derivatives(m, state, H, tau, **options)
    found = lw.step_gradient(m, state, H, dq, dv, tau, **options)
    w = np.concatenate([dq, dv])
    assert close(np.concatenate([found.q, found.v]), A.T @ w, 1e-11)
    assert close(found.tau, B.T @ w, 1e-11)


@pytest.mark.parametrize("kind", ["joint springs", "spring dampers", "drag", "all"])
def test_every_law(kind: str) -> None:
    weighted(model(kind), Q, moving(kind))


@pytest.mark.parametrize("case", STOPS)
def test_limits_and_dry_friction(case: str) -> None:
    weighted(arm(), *STOPS[case])


@pytest.mark.parametrize("case", CONTACTS)
def test_contacts(case: str) -> None:
    kind, v, contact = CONTACTS[case]
    weighted(on_ground(kind), resting(kind), v, contact=contact)


ASIDE = np.array([0.3, 0.1, 1.0]) / np.linalg.norm([0.3, 0.1, 1.0])
ACROSS = lw.SE3.rot_x(-np.pi / 2 - np.arctan(0.1))
MEETING = {"ball": lambda: lw.Sphere(0.1, mass=1.0), "capsule": lambda: lw.Capsule(0.1, 0.3, ACROSS, mass=1.0)}


def meeting(below: str, friction: float, gap: float) -> tuple[lw.Model, np.ndarray, np.ndarray]:
    """A ball that comes down upon another body, so far away."""
    b = lw.ModelBuilder(gravity=(1.0, 0.3, -9.81))
    b.body("below", joint=lw.Free(), shapes=[MEETING[below]()])
    b.body("above", joint=lw.Free(), shapes=[lw.Sphere(0.1, mass=2.0, friction=friction)])
    q = np.concatenate([[0, 0, 0, 1, 0, 0, 0], (0.2 + gap) * ASIDE, [1, 0, 0, 0]])
    v = 0.3 * np.random.default_rng(3).normal(size=12)
    v[11] -= 0.7
    return b.build(), q, v


@pytest.mark.parametrize("friction", [0.0, 0.4])
@pytest.mark.parametrize("below", MEETING)
def test_shapes_that_meet_within_a_step(below: str, friction: float) -> None:
    """Where they meet is looked for several times, until that does not change any more."""
    m, q, v = meeting(below, friction, 1e-4)
    forces = lw.simulate(m, lw.State(q, v), H, H).forces
    assert forces is not None
    assert forces[1].max() > 10.0
    for method in ("reduced", "redmax"):
        weighted(m, q, v, method=method)


def test_shapes_that_meet_in_few_of_many_steps() -> None:
    """Rules that ran in some steps are passed over in others, of this run and of those beside it."""
    m, q, v = meeting("capsule", 0.4, 1e-3)
    q, v = np.stack([q, q]), np.stack([v, 0.5 * v])
    steps, dq, dv = 12, np.ones((2, 12)), np.full((2, 12), 0.5)
    many = lw.step_gradient(m, lw.State(q=q, v=v), H, dq, dv, steps=steps)
    for k in range(2):
        assert np.array_equal(lw.step_gradient(m, lw.State(q=q[k], v=v[k]), H, dq[k], dv[k], steps=steps).q, many.q[k])
        A, _ = lw.step_derivatives(m, lw.State(q=q[k], v=v[k]), H, steps=steps)
        assert close(np.concatenate([many.q[k], many.v[k]]), A.T @ np.concatenate([dq[k], dv[k]]), 1e-9)
    forces = lw.simulate(m, lw.State(q[0], v[0]), steps * H, H).forces
    assert forces is not None
    assert 0 < np.count_nonzero(np.abs(forces).max(axis=tuple(range(1, forces.ndim)))) < steps


def test_runs_do_not_remember() -> None:
    """The same numbers, to the bit, whatever ran before in the same memory: rows that were awake, depths that were pushed out."""
    m = arm()

    def gradient(case: str) -> np.ndarray:
        q, v = STOPS[case]
        found = lw.step_gradient(m, lw.State(q=np.array(q), v=np.array(v)), H, [1.0, 2.0], [3.0, -1.0])
        return np.concatenate([found.q, found.v, found.tau])

    first = {case: gradient(case) for case in STOPS}
    assert all(np.array_equal(gradient(case), first[case]) for case in reversed(STOPS))


def test_checkpoints_and_batches() -> None:
    """However many states are kept, one state or several: the same to the bit; and the Jacobian of all steps."""
    m = model("spring dampers")
    rng = np.random.default_rng(0)
    q = np.array([m.integrate(Q, 0.01 * rng.normal(size=m.nv)) for _ in range(3)])
    v, tau, dq, dv = rng.normal(size=(4, 3, m.nv))
    found = lw.step_gradient(m, lw.State(q=q, v=v), H, dq, dv, tau, steps=7)
    for checkpoints in (1, 3, 7, 50):
        one = lw.step_gradient(m, lw.State(q=q[1], v=v[1]), H, dq[1], dv[1], tau[1], steps=7, checkpoints=checkpoints)
        assert np.array_equal(one.q, found.q[1])
        assert np.array_equal(one.v, found.v[1])
        assert np.array_equal(one.tau, found.tau[1])
    A, B = lw.step_derivatives(m, lw.State(q=q, v=v), H, tau, steps=7)
    w = np.concatenate([dq, dv], axis=1)
    assert close(np.concatenate([found.q, found.v], axis=1), np.einsum("bij,bi->bj", A, w), 1e-11)
    assert close(found.tau, np.einsum("bij,bi->bj", B, w), 1e-11)


def test_a_function_of_a_run() -> None:
    """Of all states that a run passes, under joint forces of every step: against differences."""
    m, steps, rng = pendulum(), 30, np.random.default_rng(1)
    q, v, tau = np.array([0.2, -0.3, 0.5]), np.array([0.5, 1.0, -0.4]), 0.3 * rng.normal(size=(steps, 3))

    def run(tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        start, duration = lw.State(q=q, v=v), steps * H
        found = lw.simulate(m, start, duration=duration, dt=H, control=lambda t, _: tau[min(round(t / H), steps - 1)])
        return found.q[1:], found.v[1:]

    def cost(tau: np.ndarray) -> float:
        qs, vs = run(tau)
        return float((qs**2).sum() + 0.1 * (vs**2).sum())

    qs, vs = run(tau)
    found = lw.rollout_gradient(m, lw.State(q=q, v=v), H, 2 * qs, 0.2 * vs, tau, checkpoints=4)
    assert found.tau.shape == (steps, 3)
    for k, j in ((0, 0), (7, 2), (29, 1)):
        e = np.zeros_like(tau)
        e[k, j] = 1e-5
        assert abs(found.tau[k, j] - (cost(tau + e) - cost(tau - e)) / 2e-5) < 1e-7


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("steps", [1, 20])
def test_parameters(steps: int, held: bool) -> None:
    """Of bodies and laws, with and without a coupling: weights times their Jacobian."""
    m = coupled() if held else pendulum()
    q, v = np.array([0.2, -0.3, 0.5, 1.0])[: m.nv], np.array([0.5, 1.0, -0.4, -0.8])[: m.nv]
    state, (dq, dv) = lw.State(q=q, v=v), np.random.default_rng(2).normal(size=(2, m.nv))
    found = lw.step_gradient(m, state, H, dq, dv, parameters=NUMBERS, steps=steps)
    J = lw.step_parameter_derivatives(m, state, H, NUMBERS, steps=steps)
    assert found.parameters is not None
    assert close(found.parameters, J.T @ np.concatenate([dq, dv]), 1e-10)


def test_inputs_of_forces() -> None:
    """Of a muscle and a drive, against differences of runs."""
    path = [("base", (0.1, 0, 0.1)), ("a", (0.2, 0, 0.1)), ("b", (0.2, 0, 0.1))]
    m = model("drive").add(lw.Muscle(path, max_force=300.0, optimal_length=0.3, tendon_length=0.2))
    state, v = lw.State(q=Q, v=moving("drive")), moving("drive")
    u, (dq, dv) = np.array([0.4, 0.1, 0.0]), np.ones((2, m.nv))
    found = lw.step_gradient(m, state, H, dq, dv, inputs=u)
    q1, _ = after(m, Q, v, inputs=u)

    def end(d: np.ndarray) -> float:
        q2, v2 = after(m, Q, v, inputs=u + d)
        return float(dq @ m.difference(q1, q2) + dv @ v2)

    slopes = [(end(1e-5 * e) - end(-1e-5 * e)) / 2e-5 for e in np.eye(len(u))]
    assert found.inputs is not None
    assert np.abs(slopes).max() > 1e-5
    assert close(found.inputs, np.array(slopes), 1e-7)


def test_what_is_not_there() -> None:
    m = pendulum()
    state = lw.State(q=np.zeros(3), v=np.zeros(3))
    with pytest.raises(lw.LinkworkError, match="give dq or dv"):
        lw.step_gradient(m, state, H)
    with pytest.raises(lw.LinkworkError, match="give dq or dv"):
        lw.rollout_gradient(m, state, H)
    with pytest.raises(lw.LinkworkError, match="checkpoints"):
        lw.step_gradient(m, state, H, np.ones(3), checkpoints=0)
    with pytest.raises(lw.LinkworkError, match="one for all steps"):
        lw.rollout_gradient(m, state, H, np.ones((4, 3)), tau=np.ones((3, 3)))
    with pytest.raises(lw.LinkworkError, match="2 numbers, not 3"):
        lw.step_gradient(m, state, H, np.ones(3), tau=np.ones(2))
    for bad, what in (
        (np.ones(2), "expected"),
        ([np.nan, 0, 0], "dq must be finite"),
        ("x", "dq must be an array of numbers"),
    ):
        with pytest.raises(lw.LinkworkError, match=what):
            lw.step_gradient(m, state, H, bad)
    with pytest.raises(lw.LinkworkError, match="weights have the shape"):
        lw.rollout_gradient(m, state, H, np.ones(3))
    with pytest.raises(lw.LinkworkError, match="dv has the shape"):
        lw.rollout_gradient(m, state, H, np.ones((2, 3)), np.ones((4, 3)))
    with pytest.raises(lw.LinkworkError, match="no derivative"):
        lw.step_gradient(m, state, H, np.ones(3), stepper="dop853")


def test_friction_coefficient() -> None:
    """Of a ball that slides: its weight is that of the Jacobian."""
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(1.0, 0.1))
    m = b.add(lw.Contact("ball", lw.Sphere(0.1), "world", lw.Plane((0, 0, 0), (0, 0, 1)), friction=0.3, name="floor")).build()
    state = lw.State(q=np.array([0, 0, 0.0997, 1.0, 0, 0, 0]), v=np.array([0, 0, 0, 1.0, 0.5, -0.1]))
    w = np.random.default_rng(3).normal(size=12)
    found = lw.step_gradient(m, state, H, w[:6], w[6:], parameters={"floor": ["friction"]})
    J = lw.step_parameter_derivatives(m, state, H, {"floor": ["friction"]})
    assert found.parameters is not None
    assert close(found.parameters, J.T @ w, 1e-11)
    assert np.abs(J).max() > 0.01


@pytest.mark.parametrize("held", [False, True])
def test_gradients_of_accelerations(held: bool) -> None:
    """With forces, and with a coupling besides, of one state and of several: weights times the Jacobians."""
    m = coupled() if held else pendulum()
    q, v = np.array([0.2, -0.3, 0.5, 1.0])[: m.nv], np.array([0.5, 1.0, -0.4, -0.8])[: m.nv]
    w = np.random.default_rng(4).normal(size=(2, m.nv))
    q, v = np.array([q, 0.5 * q]), np.array([v, -v])
    found = lw.forward_dynamics_gradient(m, q, v, w, 0.1 * v, parameters=NUMBERS)
    _, dq, dv, dtau = lw.linearised_dynamics(m, q, v, 0.1 * v)
    dp = lw.parameter_derivatives(m, q, v, NUMBERS, 0.1 * v)
    for x, J in zip(found, (dq, dv, dtau, dp), strict=True):
        assert x is not None
        assert close(x, np.einsum("bij,bi->bj", J, w), 1e-10)
    several, one = (lw.forward_dynamics_gradient(m, q[k], v[k], w[k], 0.1 * v[k]) for k in (slice(None), 1))
    assert all(np.array_equal(x, y[1]) for x, y in zip(one[:3], several[:3], strict=True))
    tree = m.replace(elements=())
    bare, ours = (
        lw.forward_dynamics_gradient(tree, q[0], v[0], w[0]),
        lw.tree_linearised_dynamics(tree, q[0], v[0], np.zeros(m.nv)),
    )
    assert close(bare.q, ours.da_dq.T @ w[0], 1e-11)
    with pytest.raises(lw.LinkworkError, match="its last axis has"):
        lw.forward_dynamics_gradient(m, q[0], v[0], w[0][:1])
