"""CasADi: the same numbers and derivatives, and two problems of optimal control that IPOPT solves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from identities.loaded_kinds import BARE, TAU, A, Q, V, tree

import linkwork as lw

ca = pytest.importorskip("casadi")


def numbers(x: Any) -> np.ndarray:
    return x.full().ravel()


def test_the_same_numbers() -> None:
    spring = lw.SpringDamper("c", "slide", (0.3, 0, 0), stiffness=60.0, rest_length=0.4, damping=3.0)
    for m in (BARE, tree(spring, lw.BodyDamping("c", 0.3))):
        assert np.allclose(numbers(m.casadi("forward_dynamics")(Q, V, TAU)), lw.forward_dynamics(m, Q, V, TAU), atol=1e-11)
        assert np.allclose(numbers(m.casadi("inverse_dynamics")(Q, V, A)), lw.inverse_dynamics(m, Q, V, A), atol=1e-11)
    assert np.allclose(numbers(BARE.casadi("integrate")(Q, V)), BARE.integrate(Q, V), atol=1e-14)
    assert np.allclose(numbers(BARE.casadi("difference")(Q, BARE.integrate(Q, 0.3 * V))), 0.3 * V, atol=1e-12)
    poses = BARE.casadi("poses")(Q, V).full().reshape(-1, 4, 4)
    assert np.allclose(poses, lw.kinematics(BARE, Q).poses, atol=1e-14)


def test_the_same_derivatives() -> None:
    """CasADi's own of its expression, with respect to v and tau; q has a quaternion there."""
    found = BARE.casadi("forward_dynamics").jacobian()(Q, V, TAU, 0)
    ours = lw.linearised_dynamics(BARE, Q, V, TAU)
    assert np.allclose(found[1].full(), ours.da_dv, atol=1e-11)
    assert np.allclose(found[2].full(), ours.da_dtau, atol=1e-11)


def test_what_is_not_there() -> None:
    with pytest.raises(lw.LinkworkError, match="there is no 'colour'"):
        BARE.casadi("colour")
    with pytest.raises(lw.LinkworkError, match="constraints are for its solvers"):
        tree(lw.Coupling("b", "a", 2.0)).casadi("forward_dynamics")


def solve(opti: Any) -> Any:
    opti.solver("ipopt", {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"})
    return opti.solve()


def trapezoidal(opti: Any, f: Any, q: Any, v: Any, tau: Any, h: float) -> None:
    """Constraints of collocation: q' and v' by the trapezoidal rule."""
    for k in range(q.shape[1] - 1):
        a = [f(q[:, i], v[:, i], tau[:, i]) for i in (k, k + 1)]
        opti.subject_to(q[:, k + 1] == q[:, k] + h / 2 * (v[:, k] + v[:, k + 1]))
        opti.subject_to(v[:, k + 1] == v[:, k] + h / 2 * (a[0] + a[1]))


def test_cart_pole_swings_up() -> None:
    """From hanging to standing in two seconds with the least square of the force, from a straight line of guesses."""
    b = lw.ModelBuilder()
    b.body("cart", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia.cuboid(1.0, (0.2, 0.2, 0.2)))
    rod = lw.Inertia.cuboid(0.3, (0.05, 0.05, 1.0), com=(0, 0, -0.5))
    b.body("pole", parent="cart", joint=lw.Revolute((0, 1, 0)), inertia=rod)
    model = b.build()
    f, steps, T = model.casadi("forward_dynamics"), 40, 2.0
    opti = ca.Opti()
    q, v, u = opti.variable(2, steps + 1), opti.variable(2, steps + 1), opti.variable(1, steps + 1)
    tau = ca.vertcat(u, ca.DM.zeros(1, steps + 1))
    trapezoidal(opti, f, q, v, tau, T / steps)
    opti.subject_to(opti.bounded(-20, u, 20))
    opti.subject_to(opti.bounded(-2, q[0, :], 2))
    for x, value in ((q[:, 0], (0, 0)), (v[:, 0], (0, 0)), (q[:, -1], (1.0, np.pi)), (v[:, -1], (0, 0))):
        opti.subject_to(x == ca.DM(value))
    opti.set_initial(q, np.linspace((0, 0), (1.0, np.pi), steps + 1).T)
    opti.minimize(ca.sumsqr(u) * T / steps)
    found = solve(opti)
    assert found.stats()["success"]
    force, times = np.ravel(found.value(u)), np.linspace(0, T, steps + 1)

    def control(t: float, state: lw.State) -> np.ndarray:
        return np.array([np.interp(t, times, force), 0.0])

    run = lw.simulate(model, lw.State(q=np.zeros(2), v=np.zeros(2)), duration=T, dt=1e-3, control=control, stepper="rk4")
    assert abs(run.q[-1, 1] - np.pi) < 0.35  # the trapezoidal rule of forty steps, run open loop


def reached(x: float, z: float) -> tuple[float, float]:
    """The angles of two links of half a metre whose tip is there."""
    r = np.hypot(x, z)
    bend = 2 * np.arccos(r)
    return -np.arctan2(z, x) - bend / 2, bend


def test_arm_along_a_spline() -> None:
    """The tip of two links goes along a curve with the least torques; when it is where is for the solver to say."""
    b = lw.ModelBuilder()
    link = lw.Inertia.cuboid(1.0, (0.5, 0.05, 0.05), com=(0.25, 0, 0))
    b.body("upper", joint=lw.Revolute((0, 1, 0)), inertia=link)
    b.body("lower", parent="upper", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.5, 0, 0)), inertia=link)
    model = b.build()
    f, poses, steps, T = model.casadi("inverse_dynamics"), model.casadi("poses"), 30, 1.0
    curve = [
        ca.interpolant(name, "bspline", [np.linspace(-0.25, 1.25, 7)], y)  # beyond its knots it is zero
        for name, y in (("x", [0.8, 0.8, 0.7, 0.5, 0.6, 0.4, 0.2]), ("z", [-0.3, 0.0, 0.3, 0.4, 0.6, 0.6, 0.6]))
    ]
    opti = ca.Opti()
    q, s, h = opti.variable(2, steps + 1), opti.variable(1, steps + 1), T / steps
    tips, effort = [], 0
    for k in range(steps + 1):
        E = poses(q[:, k], ca.DM.zeros(2))[4:8, :]
        tips.append(ca.vertcat(E[0, 3] + 0.5 * E[0, 0], E[2, 3] + 0.5 * E[2, 0]))
        opti.subject_to(tips[-1] == ca.vertcat(*(c(s[k]) for c in curve)))
    for k in range(1, steps):
        v, a = (q[:, k + 1] - q[:, k - 1]) / (2 * h), (q[:, k + 1] - 2 * q[:, k] + q[:, k - 1]) / h**2
        effort += ca.sumsqr(f(q[:, k], v, a)) * h
    opti.subject_to(s[0] == 0)
    opti.subject_to(s[-1] == 1)
    opti.subject_to(opti.bounded(0.2 / steps, s[1:] - s[:-1], 3 / steps))
    guess = np.linspace(0, 1, steps + 1)
    opti.set_initial(s, guess)
    opti.set_initial(q, np.array([reached(*(float(c(x)) for c in curve)) for x in guess]).T)
    opti.minimize(effort)
    before = opti.debug.value(effort, opti.initial())
    found = solve(opti)
    assert found.stats()["success"]
    assert found.value(effort) < 0.9 * before
    x, z = np.array([found.value(t) for t in tips]).T
    way = np.ravel(found.value(s))
    assert np.abs(x - np.ravel(curve[0](way).full())).max() < 1e-7
    assert np.abs(z - np.ravel(curve[1](way).full())).max() < 1e-7
