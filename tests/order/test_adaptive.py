"""Methods that choose their steps, as programs: the same steps as from Python, batches with steps of their own, run eagerly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from models import with_elements
from order.test_runge_kutta import LAWS, PUSHES, case

import linkwork as lw
from linkwork.kernel import eager
from linkwork.steppers.adaptive import AdaptiveRun, Found, adaptive_plans

OPTIONS: dict[str, dict[str, Any]] = {"dop853": {"rtol": 1e-8, "atol": 1e-10}, "ode45": {"rtol": 1e-5}}
SMOOTH = [name for name in LAWS if name not in PUSHES]


def exponential() -> tuple[lw.Model, lw.State]:
    """A pendulum on a ball joint in exponential coordinates, which change their chart on the way."""
    block = lw.Inertia.cuboid(mass=1.0, size=(0.4, 0.3, 0.2), com=(0.2, 0.05, -0.1))
    model = lw.ModelBuilder().body("bob", joint=lw.SphericalExp(), inertia=block).build()
    return model, lw.State(np.array([4.0, 1.5, -1.0]), np.array([4.0, 1.0, 2.0]))


@pytest.mark.parametrize("stepper", OPTIONS)
@pytest.mark.parametrize("laws", [*SMOOTH, "charts"])
def test_steps_are_those_that_python_takes(laws: str, stepper: str) -> None:
    """With a control that does nothing, Python takes the steps."""
    model, state = exponential() if laws == "charts" else case(laws)
    options = {"stepper": stepper, **OPTIONS[stepper]}
    program = lw.simulate(model, state, 1.0, 0.04, **options)
    python = lw.simulate(model, state, 1.0, 0.04, control=lambda t, s: np.zeros(model.nv), **options)
    np.testing.assert_allclose(program.q, python.q, atol=1e-10)
    np.testing.assert_allclose(program.v, python.v, atol=1e-10)
    if program.forces is not None:
        np.testing.assert_allclose(program.forces, python.forces, atol=1e-8)


@pytest.mark.parametrize("stepper", OPTIONS)
@pytest.mark.parametrize("laws", SMOOTH)
def test_a_batch_is_its_runs(laws: str, stepper: str) -> None:
    model, state = case(laws)
    v = state.v + np.linspace(0, 2.0, 11)[:, None] * (1.0 if laws in ("bare", "springs") else 0.0)
    tau = np.linspace(-1.0, 1.0, 11 * model.nv).reshape(11, -1)
    options = {"stepper": stepper, **OPTIONS[stepper]}
    batch = lw.simulate(model, lw.State(state.q, v), 0.5, 0.05, tau=tau, threads=2, **options)
    assert batch.arrays["q"].shape == (11, 11, model.nq)
    for k in (0, 7):
        alone = lw.simulate(model, lw.State(state.q, v[k]), 0.5, 0.05, tau=tau[k], **options)
        for name in ("q", "v"):
            np.testing.assert_array_equal(batch.arrays[name][k], alone.arrays[name])
        np.testing.assert_array_equal(batch.tau[k], alone.tau)
        assert alone.forces is None or np.array_equal(batch.forces[k], alone.forces)


@pytest.mark.parametrize("stepper", OPTIONS)
def test_a_batch_under_control_and_wrenches(stepper: str) -> None:
    model, state = case("springs")
    q, wrenches = np.array([state.q, state.q]), np.zeros((2, model.nb, 6))
    wrenches[1, 0, 5] = 3.0
    batch = lw.simulate(model, lw.State(q, state.v), 0.3, 0.1, stepper=stepper, control=lambda t, s: -s.v + t, external=wrenches)
    for k in range(2):
        alone = lw.simulate(model, state, 0.3, 0.1, stepper=stepper, control=lambda t, s: -s.v + t, external=wrenches[k])
        np.testing.assert_array_equal(batch.arrays["q"][k], alone.q)
    pushed = lw.simulate(model, lw.State(q, state.v), 0.3, 0.1, stepper=stepper, external=wrenches)
    np.testing.assert_array_equal(pushed.arrays["q"][0], lw.simulate(model, state, 0.3, 0.1, stepper=stepper).q)


@pytest.mark.parametrize("stepper", OPTIONS)
@pytest.mark.parametrize("laws", ["coupling", *PUSHES])
def test_the_program_run_eagerly(laws: str, stepper: str) -> None:
    model, state = case(laws)
    found: list[dict[str, np.ndarray]] = []
    compiled = lw.simulate(model, state, 0.08, 0.08, stepper=stepper, **OPTIONS[stepper])

    def instead(self: AdaptiveRun, start: dict[str, np.ndarray], *rest: Any) -> Any:
        tree = adaptive_plans(model, self.method).tree
        found.append(eager.run(self.program, tree, start))
        modes = found[0]["mode_then"][None, None] if "mode_then" in found[0] else None
        return Found(found[0]["q_then"][None, None], found[0]["v_then"][None, None], modes, None, False, {})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AdaptiveRun, "__call__", instead)
        run = lw.simulate(model, state, 0.08, 0.08, stepper=stepper, **OPTIONS[stepper])
    assert len(found) == 1
    np.testing.assert_allclose(run.q, compiled.q, atol=1e-11)
    np.testing.assert_allclose(run.v, compiled.v, atol=1e-11)


@pytest.mark.parametrize("stepper", OPTIONS)
def test_a_motion_that_ends_is_named(stepper: str) -> None:
    """v_dot = v^2: v = 1 / (0.5 - t)."""
    block = lw.Inertia(1.0, (0, 0, 0), np.eye(3))
    model = lw.ModelBuilder(gravity=(0, 0, 0)).body("cart", joint=lw.Prismatic((1, 0, 0)), inertia=block).build()
    model = with_elements(model, lw.joint_force("cart", force=lambda q, v: v * v))
    with pytest.raises(lw.SolverError, match=rf"{stepper} stopped at t = (0\.4|0\.5)"):
        lw.simulate(model, lw.State([0.0], [2.0]), 1.0, 0.1, stepper=stepper)
    with pytest.raises(lw.SolverError, match=r"in state 1 of the batch"):
        lw.simulate(model, lw.State([[0.0], [0.0]], [[0.1], [2.0]]), 1.0, 0.1, stepper=stepper)
