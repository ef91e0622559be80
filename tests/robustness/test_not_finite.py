"""Controls, laws and events that return what is no finite number: every stepper ends with the time and who returned it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw

HINGE = lw.Revolute((0, 1, 0))
ROD = lw.Inertia(1.0, (0.5, 0, 0), 0.1 * np.eye(3))
START = lw.State([0.9, 0.2], [1.0, 0.0], 1.8)
WAYS: dict[str, dict[str, Any]] = {
    "symplectic_euler": {},
    "rk4": {"stepper": "rk4"},
    "dop853": {"stepper": "dop853"},
    "ode45": {"stepper": "ode45"},
    "ode45, redmax": {"stepper": "ode45", "method": "redmax"},
    "rosenbrock": {"stepper": "rosenbrock"},
    "variational": {"stepper": "variational"},
    "linearly_implicit": {"method": "redmax"},
    "bdf1": {"method": "redmax", "stepper": "bdf1"},
    "maximal": {"method": "maximal"},
    "backward_euler": {"method": "maximal-implicit"},
}
ADAPTIVE = ("dop853", "ode45", "ode45, redmax")


def arm(*laws: Any) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("a", joint=HINGE, inertia=ROD)
    b.body("b", parent="a", joint=HINGE, placement=lw.SE3(p=(1, 0, 0)), inertia=ROD)
    return b.add(*laws).build() if laws else b.build()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("late", [0.0, 1.85], ids=["at once", "later"])
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_a_control_that_is_not_finite_is_named(way: str, late: float, value: float) -> None:
    calls = [0]

    def control(t: float, state: Any) -> np.ndarray:
        calls[0] += 1
        return np.array([0.1, value if t > late else 0.1])

    with pytest.raises(lw.LinkworkError, match=r"control returned a value that is not finite at t = 1\.8.*in entry 1") as ended:
        lw.simulate(arm(), START, 0.2, 0.01, control=control, **WAYS[way])
    assert calls[0] < 2000
    if way in ADAPTIVE and late:
        found: Any = ended.value
        assert "stopped at t = 1.85" in str(found)
        assert len(found.trajectory) in (5, 6)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("law", ["of the time", "of the state"])
def test_a_law_that_is_not_finite_is_named(way: str, law: str) -> None:
    forces: dict[str, Callable[..., Any]] = {
        "of the time": lambda q, v, t: [1e-3 * np.log(1.95 - t)],
        "of the state": lambda q, v: [-1e-3 * np.sqrt(0.97 - q[0])],
    }
    model = arm(lw.joint_force("a", force=forces[law], name="broken"))
    with pytest.raises(lw.SolverError, match=r"t = 1\.[89].*what CustomJointForce\('a'.* computes is not finite at t = 1\.[89]"):
        lw.simulate(model, START, 0.4, 0.01, **WAYS[way])


@pytest.mark.parametrize("told", [np.nan, None, "far", np.zeros(3), [1.0, 2.0]], ids=str)
def test_an_event_that_is_no_number_is_refused(told: Any) -> None:
    with pytest.raises(lw.InputError, match=r"event function 0 returned .* at t = 1\.8\d+; it must return a finite number"):
        lw.simulate(arm(), START, 0.2, 0.01, stepper="dop853", events=lambda t, s: told if t > 1.85 else 1.0)


@pytest.mark.parametrize("stepper", ["dop853", "ode45"])
@pytest.mark.parametrize("control", [None, lambda t, s: np.zeros(2)], ids=["program", "asked"])
def test_a_motion_too_fast_for_any_step_ends(stepper: str, control: Any) -> None:
    """Steps that do not move the time, or of which a record needs more than hours would make, are failures."""
    with pytest.raises(lw.SolverError, match=rf"{stepper} stopped at t = .*(no step is short enough|too fast)"):
        lw.simulate(arm(), lw.State([0.9, 0.2], [1e11, 0.0], t=1e6), 0.1, 0.1, stepper=stepper, control=control)
