"""Steps of every stepper in every formulation: derivatives against differences of `simulate`, gradients against derivatives."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from derivatives.step_cases import ROD, close

import linkwork as lw
from linkwork.simulate import METHODS
from linkwork.steppers import ALL_STEPPERS, AdaptiveStepper

H = 2e-3
NUMBERS = {"a": ("mass", "com"), "b": ("placement", "armature", "damping"), "hinge": ("stiffness", "rest")}


@cache
def arm(kind: str) -> lw.Model:
    """Two hinges with a spring, free, coupled, or with a stop and dry friction."""
    stop: dict[str, Any] = {"limits": (-1.0, 0.3), "friction": 0.5} if kind == "stopped" else {}
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=ROD, armature=0.02, damping=0.05, **stop)
    b.body(
        "b",
        parent="a",
        joint=lw.Revolute((0, 1, 0)),
        placement=lw.SE3(p=(0.4, 0, 0)),
        inertia=ROD,
        armature=0.02,
        damping=0.05,
        **stop,
    )
    b.add(lw.JointSpring("b", 3.0, rest=[0.2], name="hinge"))
    if kind == "coupled":
        b.add(lw.Coupling("b", "a", 2.0))
    return b.build()


STATES = {  # two of each, both of which do the same
    "free": (((0.2, 0.5), (0.3, -0.4)), ((0.5, -1.0), (0.2, 0.7))),
    "coupled": (((0.2, 0.4), (-0.3, -0.6)), ((0.5, 1.0), (0.2, 0.4))),
    "stopped": (((0.2999, 0.1), (0.2998, 0.2)), ((0.6, 1.5), (0.7, 2.0))),
}


def fixed(method: str, stepper: str) -> bool:
    found = ALL_STEPPERS[stepper]().formulated(method)
    return method in found.methods and not isinstance(found, AdaptiveStepper)


PAIRS = [(method, stepper, {}) for method in METHODS for stepper in ALL_STEPPERS if fixed(method, stepper)]
PAIRS += [("maximal-implicit", "backward_euler", {"newton": True})]
LINES = [(*pair, "free") for pair in PAIRS]
LINES += [("reduced", name, {}, "coupled") for name in ("rk4", "linearly_implicit", "rosenbrock", "bdf2", "variational")]
LINES += [("reduced", name, {}, "stopped") for name in ("linearly_implicit", "bdf2")]
LINES += [("maximal", "symplectic_euler", {}, "coupled"), ("maximal-implicit", "backward_euler", {}, "stopped")]
SEVERAL = [("reduced", "rk4"), ("reduced", "bdf2"), ("reduced", "variational"), ("maximal", "symplectic_euler")]
SEVERAL += [("maximal-implicit", "backward_euler")]


def halves(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of displacements, of velocities."""
    n = w.shape[-1] // 2
    return w[..., :n], w[..., n:]


def start(m: lw.Model, method: str, kind: str, k: Any = slice(None)) -> Any:
    q, v = (np.array(x)[k] for x in STATES[kind])
    state = lw.State(q=q, v=v)
    return lw.to_maximal(m, state) if method.startswith("maximal") else state


def moved(m: lw.Model, state: Any, e: np.ndarray, d: np.ndarray) -> Any:
    """The state after a displacement, with another velocity."""
    if isinstance(state, lw.State):
        return lw.State(q=m.integrate(state.q, e), v=state.v + d)
    poses = np.array([E @ np.array(lw.SE3.exp(x).matrix, float) for E, x in zip(state.poses, e.reshape(-1, 6), strict=True)])
    found = lw.MaximalState(poses, state.twists + d.reshape(-1, 6), state.q_fit)
    return lw.MaximalState(poses, found.twists, lw.to_reduced(m, found).q)


def between(m: lw.Model, first: Any, second: Any) -> np.ndarray:
    """The displacement from one state to another, and the other's velocities."""
    if isinstance(first, lw.State):
        return np.concatenate([m.difference(first.q, second.q), second.v])
    R = first.poses[:, :3, :3].swapaxes(-1, -2)
    pairs = zip(R, R @ second.poses[:, :3, :3], second.poses[:, :3, 3] - first.poses[:, :3, 3], strict=True)
    twists = [np.array(lw.SE3(R=turn, p=back @ way).log(), float) for back, turn, way in pairs]
    return np.concatenate([*twists, second.twists.reshape(-1)])


def differences(m: lw.Model, state: Any, tau: np.ndarray, steps: int, eps: float, **options: Any) -> np.ndarray:
    n = m.nv if isinstance(state, lw.State) else 6 * m.nb

    def end(x: np.ndarray) -> Any:
        begin = moved(m, state, x[:n], x[n : 2 * n])
        return lw.simulate(m, begin, duration=steps * H, dt=H, tau=tau + x[2 * n :], open_loops="allow", **options).final

    first = end(np.zeros(2 * n + m.nv))
    units = eps * np.eye(2 * n + m.nv)
    return np.array([(between(m, first, end(x)) - between(m, first, end(-x))) / (2 * eps) for x in units]).T


@pytest.mark.parametrize(("method", "stepper", "own", "kind"), LINES)
def test_derivatives_and_gradients(method: str, stepper: str, own: dict[str, Any], kind: str) -> None:
    m, tau = arm(kind), np.array([0.1, -0.2])
    options: dict[str, Any] = {"method": method, "stepper": stepper, **own}
    state = start(m, method, kind, 0)
    A, B = lw.step_derivatives(m, state, H, tau, **options)
    assert close(np.concatenate([A, B], axis=1), differences(m, state, tau, 1, 1e-6, **options))
    w = np.random.default_rng(1).normal(size=len(A))
    found = lw.step_gradient(m, state, H, *halves(w), tau, parameters=NUMBERS, **options)
    assert found.parameters is not None
    assert close(np.concatenate([found.q, found.v]), A.T @ w, 1e-10)
    assert close(found.tau, B.T @ w, 1e-10)
    J = lw.step_parameter_derivatives(m, state, H, NUMBERS, tau, **options)
    assert close(found.parameters, J.T @ w, 1e-10)


@pytest.mark.parametrize(("method", "stepper"), SEVERAL)
def test_several_steps_and_states(method: str, stepper: str) -> None:
    """What steps hand on is differentiated, too; states of a batch as alone, to the bit."""
    m, tau = arm("free"), np.array([0.1, -0.2])
    options: dict[str, Any] = {"method": method, "stepper": stepper, "steps": 3}
    both, one = start(m, method, "free"), start(m, method, "free", 1)
    found, alone = (lw.step_derivatives(m, s, H, tau, **options) for s in (both, one))
    assert all(np.array_equal(x[1], y) for x, y in zip(found, alone, strict=True))
    if method != "maximal-implicit":  # off its joints a body is pulled back so hard that differences say little
        J = np.concatenate(alone, axis=1)
        assert close(J, differences(m, one, tau, **{"eps": 1e-6, **options}))
    w = np.random.default_rng(2).normal(size=(2, len(alone.A)))
    several = lw.step_gradient(m, both, H, *halves(w), tau, **options)
    single = lw.step_gradient(m, one, H, *halves(w[1]), tau, checkpoints=1, **options)
    for x, y in zip(several[:3], single[:3], strict=True):
        assert np.array_equal(x[1], y)
    assert close(np.concatenate([single.q, single.v]), alone.A.T @ w[1], 1e-10)
    assert close(single.tau, alone.B.T @ w[1], 1e-10)
    dq, dv = lw.step_product(m, one, H, *halves(w[0]), tau=tau, **options)
    assert close(np.concatenate([dq, dv]), alone.A @ w[0], 1e-12)


@pytest.mark.parametrize("stepper", ["rk4", "bdf2"])
def test_parameters_by_differences(stepper: str) -> None:
    """Of a few steps backwards, and by columns."""
    m, state, w = arm("free"), start(arm("free"), "reduced", "free", 0), np.random.default_rng(3).normal(size=4)
    found = lw.step_gradient(m, state, H, w[:2], w[2:], parameters={"hinge": ["stiffness"]}, stepper=stepper, steps=5)

    def weighted(stiffness: float) -> float:
        varied = m.with_parameters({"hinge": {"stiffness": stiffness}})
        run = lw.simulate(varied, state, duration=5 * H, dt=H, stepper=stepper)
        return float(w[:2] @ run.q[-1] + w[2:] @ run.v[-1])

    assert found.parameters is not None
    assert abs(found.parameters[0] - (weighted(3.0 + 1e-4) - weighted(3.0 - 1e-4)) / 2e-4) < 1e-8


def test_steps_in_parts() -> None:
    """Where few rounds are allowed a long step is halved: so is what is differentiated."""
    m, state, w = arm("free"), start(arm("free"), "reduced", "free", 0), np.random.default_rng(3).normal(size=4)
    options: dict[str, Any] = {"stepper": "bdf1", "iterations": 8, "steps": 2}
    long, numbers = 0.05, {"hinge": ["stiffness"]}
    whole, halved = (lw.simulate(m, state, duration=2 * long, dt=long, stepper="bdf1", iterations=k).q[-1] for k in (50, 8))
    assert np.abs(whole - halved).max() > 1e-4  # it is
    A, B = lw.step_derivatives(m, state, long, **options)
    found = lw.step_gradient(m, state, long, w[:2], w[2:], parameters=numbers, **options)
    assert close(np.concatenate([found.q, found.v]), A.T @ w, 1e-10)
    assert close(found.tau, B.T @ w, 1e-10)
    assert found.parameters is not None
    assert close(found.parameters, lw.step_parameter_derivatives(m, state, long, numbers, **options).T @ w, 1e-10)


@pytest.mark.parametrize("stepper", ["rk4", "sdirk2"])
def test_rollouts(stepper: str) -> None:
    """Joint forces of every step, slopes at every state: against differences."""
    m, steps, rng = arm("free"), 6, np.random.default_rng(4)
    state, tau = start(m, "reduced", "free", 0), 0.3 * rng.normal(size=(6, 2))
    slopes = rng.normal(size=(2, steps, 2))
    found = lw.rollout_gradient(m, state, H, slopes[0], slopes[1], tau, stepper=stepper, checkpoints=2)

    def cost(tau: np.ndarray) -> float:
        run = lw.simulate(m, state, duration=steps * H, dt=H, stepper=stepper, control=lambda t, _: tau[round(t / H)])
        return float((slopes[0] * run.q[1:]).sum() + (slopes[1] * run.v[1:]).sum())

    for k, j in ((0, 0), (3, 1), (5, 0)):
        e = np.zeros_like(tau)
        e[k, j] = 1e-4
        assert abs(found.tau[k, j] - (cost(tau + e) - cost(tau - e)) / 2e-4) < 1e-8


def test_forces_between_distant_bodies() -> None:
    """Their implicit steps are dense systems."""
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=ROD)
    for name, parent in (("b", "a"), ("c", "b")):
        b.body(name, parent=parent, joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD)
    b.add(lw.SpringDamper("a", "c", (0.1, 0, 0.1), (0.2, 0, 0.1), stiffness=300.0, rest_length=0.2, damping=1.0, name="tie"))
    m = b.build()
    state, tau = lw.State(q=[0.2, 0.4, -0.3], v=[1.0, -0.5, 0.7]), np.zeros(3)
    A, B = lw.step_derivatives(m, state, H, tau, stepper="linearly_implicit", route="dense")
    expected = differences(m, state, tau, 1, 1e-6, stepper="linearly_implicit", route="dense")
    assert close(np.concatenate([A, B], axis=1), expected, 1e-8)
    found = lw.step_gradient(m, state, H, np.ones(3), stepper="linearly_implicit", route="dense")
    assert close(found.q, A[:3, :3].T @ np.ones(3), 1e-10)


@pytest.mark.parametrize("stepper", ["dop853", "ode45"])
def test_steps_that_are_chosen(stepper: str) -> None:
    state = start(arm("free"), "reduced", "free", 0)
    for function in (lw.step_derivatives, lambda m, s, h, **o: lw.step_gradient(m, s, h, np.ones(2), **o)):
        with pytest.raises(lw.LinkworkError, match="chooses its steps"):
            function(arm("free"), state, H, stepper=stepper)
