"""Derivatives of time steps against differences of `simulate`: every kind of law, limits, contacts with friction, parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from derivatives.step_cases import (
    CONTACTS,
    NUMBERS,
    STOPS,
    H,
    after,
    arm,
    close,
    coupled,
    differences,
    on_ground,
    pendulum,
    resting,
)
from identities.loaded_kinds import Q, model, moving

import linkwork as lw


def agrees(m: lw.Model, q: Any, v: Any, **options: Any) -> bool:
    q, v = m.integrate(np.array(q, float), np.zeros(m.nv)), np.array(v, float)
    found = lw.step_derivatives(m, lw.State(q=q, v=v), H, **options)
    return close(np.concatenate([found.A, found.B], axis=1), differences(m, q, v, **options), 1e-7)


@pytest.mark.parametrize("stepper", ["symplectic_euler", "rk4"])
@pytest.mark.parametrize("kind", ["joint springs", "spring dampers", "drag", "all"])
def test_every_law(kind: str, stepper: str) -> None:
    m = model(kind)
    assert agrees(m, Q, moving(kind), stepper=stepper)


@pytest.mark.parametrize("case", STOPS)
def test_limits_and_dry_friction(case: str) -> None:
    assert agrees(arm(), *STOPS[case])


@pytest.mark.parametrize("case", CONTACTS)
def test_contacts(case: str) -> None:
    """Away from edges."""
    kind, v, contact = CONTACTS[case]
    assert agrees(on_ground(kind), resting(kind), v, contact=contact)


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


def test_edges_are_flagged() -> None:
    """A box pushed with just the force that friction bears, one that touches without weight, a joint that friction just holds:
    the derivative is that of the mode in force, one of the two sides, and the rows are named."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.body("slider", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia.sphere(1.0, 0.1), friction=2.0)
    m, state = b.build(), lw.State(q=np.zeros(1), v=np.zeros(1))
    at = {push: lw.step_derivatives(m, state, H, np.array([push])) for push in (1.0, 2.0, 3.0)}
    assert [bool(x.edges.any()) for x in at.values() if x.edges is not None] == [False, True, False]
    sides = [at[1.0].B, at[3.0].B]
    assert any(np.allclose(at[2.0].B, side, rtol=0, atol=1e-12) for side in sides)
    assert not np.allclose(*sides, rtol=0, atol=1e-6)
    ground, q = on_ground("ball"), np.array([0, 0, 0.1, 1.0, 0, 0, 0])
    for lift, expected in ((0.0, False), (9.81, True), (12.0, False)):
        found = lw.step_derivatives(ground, lw.State(q=q, v=np.zeros(6)), H, np.array([0, 0, 0, 0, 0, lift]))
        assert found.edges is not None
        assert bool(found.edges[0]) == expected
    batch = lw.step_derivatives(m, lw.State(q=np.zeros((2, 1)), v=np.zeros((2, 1))), H, np.array([[1.0], [2.0]]))
    assert batch.edges is not None
    assert batch.edges[:, 0].tolist() == [False, True]
    assert lw.step_derivatives(m, state, H, steps=2).edges is None


def test_calls_that_know_their_setting() -> None:
    """A second call with equal arguments goes a shorter way: the same numbers, the caller's own; what is wrong is still said."""
    m, (q, v) = arm(), next(iter(STOPS.values()))
    state = lw.State(q=np.array(q, float), v=np.array(v, float))
    first, second = lw.step_derivatives(m, state, H), lw.step_derivatives(m, state, H)
    assert np.array_equal(first.A, second.A)
    assert np.array_equal(first.B, second.B)
    assert first.edges is not None
    assert second.edges is not None
    assert np.array_equal(first.edges, second.edges)
    kept = second.A.copy()
    other = lw.step_derivatives(m, lw.State(q=state.q, v=state.v + 0.1), H)
    assert not np.array_equal(other.A, kept)
    assert np.array_equal(second.A, kept)
    given = lw.step_derivatives(m, state, H, np.ones(m.nv))
    again = lw.step_derivatives(m, state, H)
    assert np.array_equal(again.A, kept)
    assert given.A.shape == kept.shape
    later = lw.State(q=state.q, v=state.v, t=0.5)
    assert np.array_equal(lw.step_derivatives(m, later, H).A, kept)
    with pytest.raises(lw.InputError, match="finite"):
        lw.step_derivatives(m, lw.State(q=np.nan * state.q, v=state.v), H)
    with pytest.raises(lw.InputError, match="shape"):
        lw.step_derivatives(m, lw.State(q=state.q[:1], v=state.v), H)
