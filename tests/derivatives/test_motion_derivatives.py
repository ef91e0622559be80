"""Derivatives of the equation of motion and of joint forces of the dense system, against central differences."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.redmax.implicit import motion_derivatives, motion_residual
from linkwork.redmax.system import dynamics

HEAVY = lw.Inertia(1.0, (0.2, 0.05, -0.1), np.diag([0.3, 0.4, 0.5]))
H = 1e-6


def model() -> lw.Model:
    """Joints of several kinds, and forces that depend on poses, twists, coordinates and rates."""
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Universal(), inertia=HEAVY, damping=0.1)
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=HEAVY)
    b.body("c", parent="a", joint=lw.FreeExp("RT"), placement=lw.SE3(p=(0, 0.4, 0)), inertia=HEAVY)
    b.add(lw.SpringDamper("b", "c", (0.5, 0, 0), (0, 0.2, 0), stiffness=8.0, damping=1.0, rest_length=0.6))
    b.add(lw.SpringDamper("c", "world", (0.1, 0, 0), (0, 0, 2.0), stiffness=3.0, damping=0.5, rest_length=0.6))
    b.add(lw.JointSpring("b", 3.0, [0.2], 0.4))
    b.add(lw.BodyDamping("c", 0.2))
    return b.build()


MODEL = model()


def situation(seed: int) -> tuple[lw.State, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q, v, a, tau = (rng.uniform(-1, 1, MODEL.nv) for _ in range(4))
    return lw.State(q, v, 0.3), a, tau, rng.uniform(-1, 1, (MODEL.nb, 6))


@pytest.mark.parametrize("seed", range(3))
def test_derivatives_of_the_equation_of_motion(seed: int) -> None:
    state, a, tau, external = situation(seed)

    def residual(dq: np.ndarray, dv: np.ndarray, da: np.ndarray) -> np.ndarray:
        moved = lw.State(state.q + dq, state.v + dv, state.t)
        return motion_residual(dynamics(MODEL, moved, tau, external), a + da)

    none = np.zeros(MODEL.nv)
    for which, exact in enumerate(motion_derivatives(dynamics(MODEL, state, tau, external), a)):
        for k, e in enumerate(H * np.eye(MODEL.nv)):
            ahead, behind = ([s * e if i == which else none for i in range(3)] for s in (1, -1))
            assert np.abs((residual(*ahead) - residual(*behind)) / (2 * H) - exact[:, k]).max() < 2e-7


def test_the_dense_system_is_forward_dynamics() -> None:
    """Both routes to accelerations, and the residual there."""
    for seed in range(3):
        state, _, tau, external = situation(seed)
        now = dynamics(MODEL, state, tau, external)
        dense = now.accelerations(np.zeros(0))[0]
        assert np.abs(dense - lw.forward_dynamics(MODEL, state.q, state.v, tau, external, t=state.t)).max() < 1e-11
        assert np.abs(motion_residual(dynamics(MODEL, state, tau, external), dense)).max() < 1e-11


def test_stiffness_and_damping() -> None:
    """D is exact, as twists are linear in v; K is the symmetric part of what the forces change with the bodies' poses alone."""
    state, _, _, _ = situation(1)
    now = dynamics(MODEL, state)
    K, D = now.stiffness_and_damping
    for k, e in enumerate(H * np.eye(MODEL.nv)):
        ahead, behind = (dynamics(MODEL, lw.State(state.q, state.v + s * e, state.t)) for s in (1, -1))
        change = (now.J.T @ (ahead.wrenches - behind.wrenches).reshape(-1) + ahead.forces - behind.forces) / (2 * H)
        assert np.abs(MODEL.damping[k] * np.eye(MODEL.nv)[k] - change - D[:, k]).max() < 1e-8
    assert np.array_equal(K, K.T) or np.abs(K - K.T).max() < 1e-14
