"""What messages advise: the function to call instead, the name that was meant, the step and the stepper that hold."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw


class Screwy(lw.Joint):
    """A joint of a user that calls math.sin."""

    nq = nv = 1

    def transform(self, q: Any) -> lw.SE3:
        return lw.SE3(p=(math.sin(q[0]), 0.0, 0.0))


def hinge(joint: lw.Joint | None = None, *, mass: float = 1.0, radius: float = 0.1, com: float = -0.5) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("a", joint=joint or lw.Revolute((0, 1, 0)), inertia=lw.Inertia.sphere(mass, radius, (0, 0, com)))
    return b.build()


def simulated(model: lw.Model, **options: Any) -> lw.Trajectory:
    return lw.simulate(model, lw.State([0.1], [0.0]), **({"duration": 0.01} | options))


SPUN = np.array([[2.0, 1.0], [0.0, 3.0]])
TOLD: dict[str, tuple[Callable[[], Any], str]] = {
    "a misspelt class": (lambda: lw.Revolut, "did you mean 'Revolute'?"),
    "a misspelt function": (lambda: lw.simulat, "did you mean 'simulate'?"),
    "a misspelt keyword of load": (
        lambda: lw.load("robot.urdf", float=True),
        "load has no argument 'float'; did you mean 'floating'?",
    ),
    "a keyword far from all": (
        lambda: lw.joint(lambda q: lw.SE3(), 1, zzz=1),
        "joint has no argument 'zzz'; it takes transform, nv",
    ),
    "an option of another stepper": (lambda: simulated(hinge(), newton=True), "it is an option of 'backward_euler'"),
    "an argument of simulate alone": (
        lambda: lw.Simulator(hinge(), lw.State([0.1], [0.0]), threads=2),
        "it is an argument of lw.simulate",
    ),
    "a duration between two steps": (
        lambda: simulated(hinge(), duration=2.51, dt=0.02),
        "take 2.5 (125 steps) or 2.52 (126), or another dt",
    ),
    "a run indexed by a name": (lambda: simulated(hinge())["q"], "not by 'q'; its arrays are attributes: run.q"),
    "a run indexed by a slice": (lambda: simulated(hinge())[1:2], "a run is indexed by the number of a record"),
    "math.sin in a class of joints": (lambda: simulated(hinge(Screwy())), "joint Screwy: transform: math.sin does not take"),
    "np.linalg.solve in a joint": (
        lambda: lw.joint(lambda q: lw.SE3(p=(np.linalg.solve(np.array([[2.0, q[0]], [0.0, 1.0]]), np.ones(2))[0], 0, 0)), 1),
        "use lw.math.solve",
    ),
    "np.linalg.inv in a joint": (
        lambda: lw.joint(lambda q: lw.SE3(p=(np.linalg.inv(np.array([[2.0, q[0]], [0.0, 1.0]]))[0, 1], 0, 0)), 1),
        "use lw.math.inv",
    ),
    "solve_spd of what is not symmetric": (
        lambda: lw.math.solve_spd(SPUN, np.array([1.0, 2.0])),
        "lw.math.solve_spd: the matrix must be symmetric, but A[0, 1] = 1, A[1, 0] = 0; use lw.math.solve",
    ),
    "inv_spd of what is not symmetric": (lambda: lw.math.inv_spd(SPUN), "use lw.math.inv"),
}


@pytest.mark.parametrize("case", TOLD)
def test_a_mistake_is_answered_with_what_to_write(case: str) -> None:
    call, told = TOLD[case]
    with pytest.raises((lw.LinkworkError, AttributeError), match=re.escape(told)):
        call()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_solve_and_inv_take_any_regular_matrix(n: int) -> None:
    rng = np.random.default_rng(n)
    for A in (rng.normal(size=(n, n)), np.roll(np.eye(n), 1, axis=0) + 1e-3 * rng.normal(size=(n, n))):
        b, B = rng.normal(size=n), rng.normal(size=(n, 2))
        assert np.allclose(np.asarray(lw.math.solve(A, b), float), np.linalg.solve(A, b), atol=1e-9)
        assert np.allclose(np.asarray(lw.math.solve(A, B), float), np.linalg.solve(A, B), atol=1e-9)
        assert np.allclose(np.asarray(lw.math.inv(A), float), np.linalg.inv(A), atol=1e-9)


def test_solve_runs_in_compiled_joints_with_its_derivatives() -> None:
    def place(q: Any) -> lw.SE3:
        x = lw.math.solve(np.array([[0.0, 2.0 + q[0]], [3.0, q[0]]]), np.array([q[0], 1.0]))  # needs its rows exchanged
        return lw.SE3(p=(x[0], 0.0, x[1]))

    joint, h = lw.joint(place, nv=1), 1e-6
    at = lambda q: np.asarray(place(np.array([q])).p, float)  # noqa: E731
    S = np.asarray(joint.motion(np.array([0.3]), np.ones(1)).tangent.S, float)[3:, 0]
    assert np.allclose(S, (at(0.3 + h) - at(0.3 - h)) / (2 * h), atol=1e-8)
    run = simulated(hinge(joint), duration=0.2, stepper="rk4")
    assert np.ptp(run.energy.total) < 1e-6


def advised_step(message: str) -> float:
    found = re.search(r"take dt = ([0-9.e+-]+) or less", message)
    assert found, message
    return float(found.group(1))


@pytest.mark.parametrize(
    ("law", "dt"),
    [(lw.JointDamping("a", 3.0), 5e-3), (lw.JointSpring("a", 1e9), 5e-3), (lw.JointSpring("a", 1e5, damping=1e3), 1e-2)],
)
def test_a_lost_motion_names_a_step_and_a_stepper_that_hold(law: Any, dt: float) -> None:
    model = hinge(mass=0.05, radius=0.02, com=0.01).add(law)
    with pytest.raises(lw.SolverError, match="or stepper='linearly_implicit'") as caught:
        simulated(model, duration=20.0, dt=dt)
    step = advised_step(str(caught.value))
    assert step < dt
    assert np.abs(simulated(model, duration=1000 * step, dt=step).q).max() < 1.0
    assert np.abs(simulated(model, duration=20.0, dt=dt, stepper="linearly_implicit").q).max() < 1.0
    with pytest.raises(lw.SolverError, match="reset, and its forces change at up to"):
        lw.Simulator(model, lw.State([0.1], [0.0]), dt=dt).step(4000)
