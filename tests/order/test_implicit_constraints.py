"""Implicit steppers: constraints hold at every step, or no state comes back."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.constraints.rows import ConstraintRows, constraint_set
from linkwork.scenes.loop import four_bar

TIGHT = {"stepper": "dop853", "rtol": 1e-13, "atol": 1e-14}
HEAVY = lw.Inertia(1.0, (0.2, 0.05, -0.1), np.diag([0.3, 0.4, 0.5]))
IMPLICIT = ("bdf1", "bdf2", "sdirk2")


def rows(model: lw.Model, state: lw.State) -> ConstraintRows:
    k = lw.kinematics(model, state.q, state.v)
    return constraint_set(model).at(k.poses, k.twists, state.q, state.v, state.t)


def driven() -> tuple[lw.Model, lw.State]:
    """Three hinges: the first is driven, the second follows it, the third is free."""
    b, parent = lw.ModelBuilder(), "world"
    for name in ("a", "b", "c"):
        b.body(name, parent=parent, joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=HEAVY)
        parent = name
    b.add(lw.PrescribedJoint("a", lambda t: (np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t))))
    b.add(lw.Coupling("b", "a", ratio=-2.0, offset=0.3))
    return b.build(), lw.State([0.0, 0.3, 0.0], [3.0, -6.0, 0.0])


@pytest.mark.parametrize("stepper", IMPLICIT)
@pytest.mark.parametrize("case", [four_bar, driven])
def test_constraints_hold_at_every_step(case: object, stepper: str) -> None:
    model, state = case()  # pyright: ignore[reportCallIssue]
    run = lw.simulate(model, state, 0.2, 0.01, "redmax", stepper=stepper)
    assert max(np.abs(rows(model, s).residual).max() for s in run) < 1e-12
    fine = lw.simulate(model, state, 0.2, 0.2, **TIGHT)
    assert np.abs(run.final.q - fine.final.q).max() < (0.1 if stepper == "bdf1" else 5e-3)
    assert np.abs(run.forces[-1] - fine.forces[-1]).max() < 0.2 * np.abs(fine.forces[-1]).max()


@pytest.mark.parametrize("stepper", IMPLICIT)
def test_prescribed_twists_hold_as_velocities(stepper: str) -> None:
    model = lw.ModelBuilder().body("a", joint=lw.Translational(), inertia=HEAVY)
    model.add(lw.PrescribedTwist("a", lambda t: (np.zeros(3), [t, 0, 0], np.zeros(3), [1.0, 0, 0]), rows=[3]))
    model = model.build()
    run = lw.simulate(model, lw.State(np.zeros(3), np.zeros(3)), 0.2, 0.01, "redmax", stepper=stepper)
    assert np.allclose(run.v[:, 0], run.t, atol=1e-12)
    assert np.allclose(run.forces[-1], 1.0)


@pytest.mark.parametrize("stepper", IMPLICIT)
def test_what_cannot_hold_is_an_error(stepper: str) -> None:
    """Two couplings that contradict one another: no state comes back."""
    b = lw.ModelBuilder().body("a", joint=lw.Revolute(), inertia=HEAVY).body("b", joint=lw.Revolute(), inertia=HEAVY)
    model = b.add(lw.Coupling("b", "a")).add(lw.Coupling("b", "a", offset=0.1)).build()
    with pytest.raises(lw.SolverError, match=f"{stepper} at t = .*though the step was halved 4 times; try a shorter step"):
        lw.simulate(model, lw.State([0.0, 0.0], [0.0, 0.0]), 0.1, 0.1, "redmax", stepper=stepper, open_loops="allow")


@pytest.mark.parametrize(
    ("stepper", "iterations", "single", "pieces"),
    [
        ("bdf1", 40, "bdf1", (0.05,) * 4),
        ("bdf2", 14, "sdirk2", (0.1, 0.05, 0.05)),
        ("sdirk2", 14, "sdirk2", (0.1, 0.05, 0.05)),
    ],
)
def test_a_step_that_fails_is_taken_in_halves(stepper: str, iterations: int, single: str, pieces: tuple[float, ...]) -> None:
    """So many rounds are enough for short steps only: one step of 0.2 s is several."""
    model, state = four_bar()
    run = lw.simulate(model, state, 0.2, 0.2, "redmax", stepper=stepper, iterations=iterations)
    for h in pieces:
        end = lw.simulate(model, state, h, h, "redmax", stepper=single).final
        state = lw.State(end.q, end.v, end.t)
    assert np.abs(run.final.q - state.q).max() < 1e-12
    assert np.abs(rows(model, run.final).residual).max() < 1e-12
