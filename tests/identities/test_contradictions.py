"""Equality rows that no acceleration meets are an error which names them; those that only say the same twice share as before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes.loop import four_bar

BAR = lw.Inertia.cuboid(mass=1.0, size=(1.0, 0.1, 0.1), com=(0.5, 0, 0))
STILL = np.zeros(2)
BOTH = "PrescribedJoint('a') (one) row 0, PrescribedJoint('a') (two) row 0"


def told(name: str, joint: str, a: float) -> lw.PrescribedJoint:
    """A joint that starts from rest."""
    return lw.PrescribedJoint(joint, lambda t: (0.5 * a * t * t, a * t, a), name=name)


def two_bars(*laws: Any) -> lw.Model:
    """Hinged to one another, with such laws."""
    b = lw.ModelBuilder().body("a", joint=lw.Revolute(), inertia=BAR)
    b.body("b", parent="a", joint=lw.Revolute(), placement=lw.SE3(p=(1, 0, 0)), inertia=BAR)
    for law in laws:
        b.add(law)
    return b.build()


def three_cranks() -> tuple[lw.Model, np.ndarray, np.ndarray]:
    """Equal ones under one bar: a loop more than needed, whose rows go together on the way alone; and a state on it."""
    b = lw.ModelBuilder()
    for i in range(3):
        b.body(f"crank {i}", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(i, 0, 0)), inertia=lw.Inertia(1.0, (0, 0, 1)))
    b.body("bar", parent="crank 0", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0, 0, 1)), inertia=BAR)
    for i in (1, 2):
        b.add(lw.Loop("bar", f"crank {i}", (i, 0, 0), (0, 0, 1)))
    model = b.build()
    v = np.ones(4)
    v[model.v_index("bar")] = -1.0
    return model, 0.3 * v, v


CALLS: list[Callable[[lw.Model], Any]] = [
    lambda m: lw.forward_dynamics(m, STILL, STILL),
    lambda m: lw.forward_dynamics(m, STILL.astype(np.float32), STILL.astype(np.float32)),
    lambda m: lw.constrained_dynamics(m, STILL, STILL),
    lambda m: lw.linearised_dynamics(m, STILL, STILL),
    lambda m: lw.hybrid_dynamics(m, STILL, STILL, STILL, STILL, prescribed="b"),
    lambda m: lw.maximal_dynamics(m, lw.to_maximal(m, lw.State(STILL, STILL))),
    lambda m: m.function("forward_dynamics")(STILL, STILL, STILL),
]
NAMES = ["forward", "float32", "constrained", "linearised", "hybrid", "maximal", "function"]


@pytest.mark.parametrize("call", CALLS, ids=NAMES)
def test_two_motions_of_one_joint(call: Callable[[lw.Model], Any]) -> None:
    with pytest.raises(lw.SolverError) as error:
        call(two_bars(told("one", "a", 1.0), told("two", "a", 2.0)))
    assert f"{BOTH} together: 0.5 of what they ask for stays" in str(error.value)
    call(two_bars(told("one", "a", 1.0), told("two", "a", 1.0)))


def test_rows_of_one_thing_in_other_units() -> None:
    """A row a million times as long asks for the same; what is left is said in its units."""
    long = lw.joint_constraint("a", lambda q, t: 1e6 * (q[0] - t * t), name="long")
    with pytest.raises(lw.SolverError, match=r"long.* row 0, PrescribedJoint\('a'\) \(one\) row 0 together"):
        lw.forward_dynamics(two_bars(long, told("one", "a", 1.0)), STILL, STILL)
    assert lw.forward_dynamics(two_bars(long, told("one", "a", 2.0)), STILL, STILL)[0] == pytest.approx(2.0)


def test_a_chain_of_reasons_is_named_and_nothing_else() -> None:
    others = [lw.Coupling("b", "a"), told("one", "a", 1.0), told("two", "b", 2.0)]
    with pytest.raises(lw.SolverError, match=r"Coupling\('b', 'a'.*one.*two.* together: 0.5 of.* Leave out one of them"):
        lw.forward_dynamics(two_bars(*others), STILL, STILL)
    model, state = four_bar()
    model = model.add(told("one", "crank", 1.0)).add(told("two", "rocker", 1.0))
    with pytest.raises(lw.SolverError) as error:
        lw.forward_dynamics(model, state.q, state.v)
    assert "row 0, Loop('rocker', 'world') row 2, Pre" in str(error.value)
    assert "Loop('rocker', 'world') row 1" not in str(error.value)  # across the plane, where nothing is asked


def test_the_first_state_of_a_batch_is_named() -> None:
    """Accelerations 6 t and 6 t^2 are the same at t = 0 and 1 alone."""
    straight = lw.PrescribedJoint("a", lambda t: (t**3, 3 * t * t, 6 * t), name="one")
    bent = lw.PrescribedJoint("a", lambda t: (0.5 * t**4, 2 * t**3, 6 * t * t), name="two")
    model, times = two_bars(straight, bent), np.array([0.0, 1.0, 0.5, 0.25])
    q, v = np.zeros((4, 2)), np.zeros((4, 2))
    v[:, 0] = 3 * times**2
    for call in (lw.forward_dynamics, lw.constrained_dynamics, lw.linearised_dynamics):
        with pytest.raises(lw.SolverError) as error:
            call(model, q, v, t=times)
        assert f"no acceleration of state 2 meets {BOTH} together: 0.75 of what they ask for stays. Leave" in str(error.value)
    good = lw.forward_dynamics(model, q[:2], v[:2], t=times[:2])
    assert np.allclose(good[:, 0], 6 * times[:2])


def test_told_joints_of_a_loop_in_a_batch() -> None:
    model, state = four_bar()
    a = lw.forward_dynamics(model, state.q, state.v)
    asked = np.array([a, a + np.array([0, 0, 1.0]), a])
    with pytest.raises(lw.SolverError, match=r"that are told of state 1: Loop\('rocker', 'world'\) row 0, .* tell fewer joints"):
        lw.hybrid_dynamics(model, np.tile(state.q, (3, 1)), state.v, state.v, asked, ["crank", "rocker"])
    found, _ = lw.hybrid_dynamics(model, np.tile(state.q, (3, 1)), state.v, state.v, a, ["crank", "rocker"])
    assert np.allclose(found, a)


def test_velocities_that_leave_the_way_are_the_reason() -> None:
    model, q, v = three_cranks()
    assert np.allclose(np.abs(lw.forward_dynamics(model, q, v)), abs(lw.forward_dynamics(model, q, v)[0]))
    with pytest.raises(lw.SolverError, match=r"Velocities do not obey the constraints: lw.assemble"):
        lw.forward_dynamics(model, q, [1.0, 2.0, 3.0, 4.0])
    state = lw.assemble(model, lw.State(q, [1.0, 2.0, 3.0, 4.0]))
    assert np.isfinite(lw.forward_dynamics(model, state.q, state.v)).all()


@pytest.mark.parametrize("off", [0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4])
def test_singular_positions_contradict_nothing(off: float) -> None:
    """A parallelogram that is flat, or all but flat."""
    model, q, v = three_cranks()
    a = lw.forward_dynamics(model, q / 0.3 * (np.pi / 2 + off), v)
    assert np.allclose(np.abs(a), 9.81 if off > 1e-7 else 9.8, rtol=1e-2 if off > 1e-7 else 0.03)


def test_a_motion_into_a_stop() -> None:
    """Rows that only push contradict, too, where they act."""
    stop = lw.Limit("a", upper=0.0)
    with pytest.raises(lw.SolverError, match=r"constrained_dynamics: no acceleration meets .*Limit.* together"):
        lw.constrained_dynamics(two_bars(told("one", "a", 1.0), stop), STILL, STILL)
    away, _ = lw.constrained_dynamics(two_bars(told("one", "a", -1.0), stop), STILL, STILL)
    assert away[0] == pytest.approx(-1.0)
    assert lw.forward_dynamics(two_bars(told("one", "a", 1.0), stop), STILL, STILL)[0] == pytest.approx(1.0)


def test_friction_gives_way() -> None:
    dry = lw.DryFriction("a", 1.0)
    assert lw.constrained_dynamics(two_bars(told("one", "a", 1.0), dry), STILL, STILL).accelerations[0] == pytest.approx(1.0)
