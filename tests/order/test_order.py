"""The order of every stepper, in every formulation that it steps, by a log-log slope: on a body, a chain and a closed loop."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes.loop import closed, four_bar
from linkwork.steppers import ALL_STEPPERS, AdaptiveStepper

TIGHT = {"stepper": "dop853", "rtol": 1e-13, "atol": 1e-14}
RATES_ONLY = ("bdf1", "bdf2", "sdirk2")  # need joints whose velocities are rates of coordinates
RUNS = [(name, method) for name, cls in ALL_STEPPERS.items() for method in cls().methods]
STEPS = {1: (40, 80), 2: (30, 60), 4: (16, 32), 5: (30, 60)}  # by order
FEW = {"body": (5, 7, 10), "chain": (8, 10, 12), "loop": (6, 7, 8)}  # order 8 reaches rounding soon


def body(joint: lw.Joint) -> tuple[lw.Model, lw.State, float]:
    """A tumbling body, asymmetric, whose centre is not its origin."""
    inertia = lw.Inertia(1.0, (0.1, 0.2, -0.1), np.diag([1.0, 2.0, 2.8]))
    model = lw.ModelBuilder().body("top", joint=joint, inertia=inertia).build()
    return model, lw.State(model.neutral(), np.array([1.0, 2.0, -1.5, 0.3, -0.5, 0.7])), 0.6


def chain() -> tuple[lw.Model, lw.State, float]:
    """Three kinds of joints."""
    b, heavy = lw.ModelBuilder(), lw.Inertia(1.0, (0.2, 0.05, -0.1), np.diag([0.3, 0.4, 0.5]))
    b.body("a", joint=lw.Universal(), inertia=heavy)
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=heavy)
    b.body("c", parent="b", joint=lw.Prismatic((0.6, 0, 0.8)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=heavy)
    return b.build(), lw.State(np.linspace(-0.3, 0.4, 4), np.linspace(-1.0, 1.5, 4)), 0.6


def loop() -> tuple[lw.Model, lw.State, float]:
    """A four-bar linkage that already turns."""
    model = four_bar()[0].replace(gravity=(0, 0, -3.0))
    return model, lw.project(model, lw.State(closed(2.6), [2.0, -2.0, 2.0])), 0.3


def moved() -> tuple[lw.Model, lw.State, float]:
    """Three hinges: the first is driven, the second follows it, the third is free."""
    b, parent, heavy = lw.ModelBuilder(), "world", lw.Inertia(1.0, (0.2, 0.05, -0.1), np.diag([0.3, 0.4, 0.5]))
    for name in ("a", "b", "c"):
        b.body(name, parent=parent, joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=heavy)
        parent = name
    b.add(lw.PrescribedJoint("a", lambda t: (np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t))))
    b.add(lw.Coupling("b", "a", ratio=-2.0, offset=0.3))
    return b.build(), lw.State([0.0, 0.3, 0.0], [3.0, -6.0, 0.0]), 0.24


CASES = {
    "free": lambda: body(lw.Free()),
    "free_exp": lambda: body(lw.FreeExp("TR")),
    "chain": chain,
    "loop": loop,
    "moved": moved,
}


@cache
def case(name: str) -> tuple[lw.Model, lw.State, float, np.ndarray]:
    """A model, its start, the duration, and where it ends."""
    model, state, duration = CASES[name]()
    return model, state, duration, bodies(lw.simulate(model, state, duration, duration, **TIGHT))


def bodies(run: lw.Trajectory) -> np.ndarray:
    """All entries of poses and twists at the end."""
    k = run.final if run.kind == "maximal" else lw.kinematics(run.model, run.final.q, run.final.v)
    return np.concatenate([k.poses.ravel(), k.twists.ravel()])


def equal_steps(stepper: str, duration: float, n: int) -> dict[str, object]:
    """Options for n steps: those that choose their own get a tolerance that allows all, and a longest step."""
    if not issubclass(ALL_STEPPERS[stepper], AdaptiveStepper):
        return {"dt": duration / n, "every": n}
    first = {"first_step": duration / n} if stepper == "dop853" else {}  # the first one of ode45 is the longest anyway
    return {"dt": duration, "rtol": 1e6, "atol": 1e6, "max_step": duration / n, **first}


@pytest.mark.parametrize("stepper", ["rosenbrock", "variational", "variational4"])
def test_order_with_constraints_that_move(stepper: str) -> None:
    model, state, duration, truth = case("moved")
    runs = [lw.simulate(model, state, duration, duration / n, stepper=stepper) for n in (12, 24)]
    errors = [np.linalg.norm(bodies(run) - truth) for run in runs]
    assert abs(np.log2(errors[0] / errors[1]) - ALL_STEPPERS[stepper].order) < 0.1, errors
    assert runs[1].health.constraint_residual < 1e-12


@pytest.mark.parametrize("kind", ["body", "chain", "loop"])
@pytest.mark.parametrize(("stepper", "method"), RUNS)
def test_order(stepper: str, method: str, kind: str) -> None:
    name = kind if kind != "body" else "free_exp" if stepper in RATES_ONLY else "free"
    model, state, duration, truth = case(name)
    order = ALL_STEPPERS[stepper].order
    counts, errors = STEPS.get(order, FEW[kind]), []
    for n in counts:
        run = lw.simulate(model, state, duration, method=method, stepper=stepper, **equal_steps(stepper, duration, n))
        errors.append(np.linalg.norm(bodies(run) - truth))
    slope = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert abs(slope - order) < 0.1, errors
