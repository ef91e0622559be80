"""Mechanisms with more rows than hold: a beam on many parallel cranks moves with one freedom, in every method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.constraints.singular import locks

HINGE = lw.Revolute((0, 1, 0))
CRANK, BEAM, GRAVITY = 0.8, 2.0, 9.81  # m, kg, m/s^2; cranks weigh 1 kg
WAYS: dict[str, tuple[dict[str, Any], float]] = {
    "symplectic_euler": ({}, 3e-3),
    "rk4": ({"stepper": "rk4"}, 1e-9),
    "dop853": ({"stepper": "dop853"}, 1e-7),
    "ode45": ({"stepper": "ode45", "rtol": 1e-7}, 1e-6),
    "ode45, redmax": ({"stepper": "ode45", "method": "redmax", "rtol": 1e-7}, 1e-6),
    "rosenbrock": ({"stepper": "rosenbrock"}, 1e-4),
    "variational": ({"stepper": "variational"}, 1e-4),
    "variational4": ({"stepper": "variational4"}, 1e-8),
    "maximal": ({"method": "maximal"}, 3e-3),
    "maximal, rk4": ({"method": "maximal", "stepper": "rk4"}, 1e-8),
    "backward_euler": ({"method": "maximal-implicit"}, 1e-2),
    "linearly_implicit": ({"method": "redmax"}, 3e-3),
    "bdf1": ({"method": "redmax", "stepper": "bdf1"}, 1e-2),
    "bdf2": ({"method": "redmax", "stepper": "bdf2"}, 1e-4),
    "sdirk2": ({"method": "redmax", "stepper": "sdirk2"}, 1e-4),
}


def bar(length: float, mass: float) -> lw.Inertia:
    return lw.Inertia.cuboid(mass=mass, size=(length, 0.05, 0.05), com=(0.5 * length, 0, 0))


def ladder(feet: np.ndarray, tilt: float = 0.0, closed_by_hinges: bool = False) -> lw.Model:
    """Parallel cranks from feet (rungs,) on a base that is tilted, and a beam on their ends."""
    b, base = lw.ModelBuilder(gravity=(0, 0, -GRAVITY)), lw.SE3.rot_y(tilt)
    b.body("c0", joint=HINGE, placement=base, inertia=bar(CRANK, 1.0))
    b.body("beam", parent="c0", joint=HINGE, placement=lw.SE3(p=(CRANK, 0, 0)), inertia=bar(1.0, BEAM))
    for i, x in enumerate(feet[1:], 1):
        b.body(f"c{i}", joint=HINGE, placement=base @ lw.SE3(p=(x, 0, 0)), inertia=bar(CRANK, 1.0))
        if closed_by_hinges:
            b.add(lw.Closure(HINGE, "beam", f"c{i}", lw.SE3(p=(x, 0, 0)), lw.SE3(p=(CRANK, 0, 0))))
        else:
            b.add(lw.Loop("beam", f"c{i}", (x, 0, 0), (CRANK, 0, 0)))
    return b.build()


def turned(model: lw.Model, x: float) -> np.ndarray:
    """Coordinates or velocities of cranks that turn alike."""
    return np.array([-x if body.name == "beam" else x for body in model.bodies])


def exact(rungs: int, angle: float, rate: float, tilt: float, duration: float) -> np.ndarray:
    """Angle and rate of the cranks: I a = (n m_c / 2 + m_b) g L cos(angle + tilt), I = n I_c + m_b L^2."""
    from scipy.integrate import solve_ivp

    inertia = rungs * ((CRANK**2 + 0.05**2) / 12 + 0.25 * CRANK**2) + BEAM * CRANK**2
    torque = (0.5 * rungs + BEAM) * GRAVITY * CRANK
    run = solve_ivp(
        lambda t, y: [y[1], torque * np.cos(y[0] + tilt) / inertia],
        (0, duration),
        [angle, rate],
        "DOP853",
        rtol=1e-12,
        atol=1e-12,
    )
    return run.y[:, -1]


@pytest.mark.parametrize("rungs", [3, 6])
@pytest.mark.parametrize("way", WAYS)
def test_a_beam_on_parallel_cranks_moves_as_one(way: str, rungs: int) -> None:
    options, most = WAYS[way]
    model, angle = ladder(0.4 * np.arange(rungs)), 0.5
    run = lw.simulate(model, lw.State(turned(model, angle), turned(model, 0.5)), 0.1, 1e-3, every=20, **options)
    q, v = exact(rungs, angle, 0.5, 0.0, 0.1)
    assert np.abs(run.q[-1] - turned(model, q)).max() < most
    assert np.abs(run.v[-1] - turned(model, v)).max() < most
    assert (run.health.constraint_residual or 0.0) < 3e-6
    assert not run.health.singular


@pytest.mark.parametrize("rungs", [2, 3, 4, 9, 20, 50])
def test_ladders_at_random_angles_are_not_locked(rungs: int) -> None:
    rng = np.random.default_rng(rungs)
    for closed_by_hinges in (False, True):
        for _ in range(4):
            feet = np.concatenate([[0.0], np.sort(rng.uniform(0.05, 3.0, rungs - 1))])
            model, angle = ladder(feet, rng.uniform(-3, 3), closed_by_hinges), rng.uniform(-np.pi, np.pi)
            assert locks(model, turned(model, angle), 0.0) == ()
            near = lw.State(turned(model, angle) + rng.normal(scale=1e-7, size=model.nv), turned(model, 0.0))
            lw.simulate(model, near, 1e-3, 1e-3)


def test_the_longest_ladder_runs_with_its_closed_form() -> None:
    rng = np.random.default_rng(7)
    model, angle, tilt = ladder(np.linspace(0.0, 3.0, 50), 0.4), rng.uniform(0.2, 1.2), 0.4
    run = lw.simulate(model, lw.State(turned(model, angle), turned(model, -1.0)), 0.2, 2e-3, every=20, stepper="rk4")
    q, v = exact(50, angle, -1.0, tilt, 0.2)
    assert np.abs(run.q[-1] - turned(model, q)).max() < 1e-8
    assert np.abs(run.v[-1] - turned(model, v)).max() < 1e-8


@pytest.mark.parametrize("lengths", [(1.0, 1.0), (1.0, 0.01), (0.002, 1.0), (1.0, 0.01, 1.0), (0.5,) * 20])
def test_bars_pinned_straight_are_locked_at_any_lengths(lengths: tuple[float, ...]) -> None:
    b = lw.ModelBuilder()
    for i, length in enumerate(lengths):
        parent, place = (f"l{i - 1}", lw.SE3(p=(lengths[i - 1], 0, 0))) if i else ("world", lw.SE3())
        b.body(f"l{i}", parent=parent, joint=HINGE, placement=place, inertia=bar(length, 1.0))
    last = f"l{len(lengths) - 1}"
    model = b.add(lw.Loop(last, "world", (lengths[-1], 0, 0), (sum(lengths), 0, 0))).build()
    assert locks(model, np.zeros(model.nv), 0.0) == (f"Loop('{last}', 'world')",)
