"""Hyper-reduced coordinates q = f(r) against constraints that say the same, and their derivatives against finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw

LINKS = 5
ROD = lw.Inertia.cuboid(mass=1.0, size=(0.5, 0.05, 0.05), com=(0.25, 0, 0))
TAU = np.linspace(-0.4, 0.5, LINKS)


def builder() -> lw.ModelBuilder:
    """A chain of links that hangs out of the plane a little, with a spring to the world and damped joints."""
    b = lw.ModelBuilder()
    for k in range(LINKS):
        parent, place = (f"link{k - 1}", (0.5, 0.1, 0)) if k else ("world", (0, 0.1, 0))
        b.body(f"link{k}", parent=parent, joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=place), inertia=ROD, damping=0.2)
    return b.add(lw.SpringDamper(f"link{LINKS - 1}", point_b=(0.3, 0, -1), stiffness=40.0, damping=0.5, rest_length=0.7))


def one_angle() -> tuple[lw.HyperReduced, lw.Model]:
    """The chain whose joints share one angle, by a map and by couplings."""
    coupled = builder()
    for k in range(1, LINKS):
        coupled.add(lw.Coupling(f"link{k}", "link0"))
    return lw.HyperReduced(builder().build(), lambda r: [r[0]] * LINKS, nr=1), coupled.build()


HYPER, COUPLED = one_angle()


def curved(r: Any) -> list[Any]:
    """A map that bends: five angles from two numbers."""
    return [r[0], np.sin(r[1]), r[0] * r[1], 0.5 * r[0] ** 2, r[1] - np.cos(r[0])]


CURVED = lw.HyperReduced(HYPER.model, curved, nr=2)
R, R_DOT = np.array([0.3, 0.8]), np.array([1.1, -0.6])


# --- the chain of one angle -----------------------------------------------------------------------------------------------
def test_accelerations_are_those_of_the_coupled_chain_along_a_motion() -> None:
    run = lw.simulate(HYPER, lw.State([0.2], [0.5]), 1.0, 0.02, tau=TAU)
    for k in range(0, len(run), 10):
        s = run[k]
        a = HYPER.forward_dynamics(s.q[:1], s.v[:1], TAU)
        constrained = lw.forward_dynamics(COUPLED, s.q, s.v, TAU)
        assert np.abs(constrained - a).max() < 1e-9 * max(1.0, np.abs(a).max())
    assert np.ptp(run.q[:, 0]) > 0.3


@pytest.mark.parametrize(("method", "stepper"), [("reduced", "symplectic_euler"), ("redmax", "linearly_implicit")])
def test_steps_are_those_of_the_coupled_chain(method: str, stepper: str) -> None:
    def control(t: float, state: lw.State) -> np.ndarray:
        return TAU - 0.1 * state.v

    options: dict[str, Any] = {"method": method, "stepper": stepper, "control": control}
    options["evaluations"] = 0  # at the middle of a step, rows of couplings are known from the step before
    run = lw.simulate(HYPER, lw.State([0.2], [0.5], 0.1), 1.0, 0.01, **options)
    constrained = lw.simulate(COUPLED, HYPER.full(lw.State([0.2], [0.5], 0.1)), 1.0, 0.01, **options)
    assert np.abs(run.q - constrained.q).max() < 1e-9
    assert np.abs(run.v - constrained.v).max() < 1e-9
    assert np.array_equal(run.t, constrained.t)


@pytest.mark.parametrize("stepper", ["bdf1", "bdf2", "sdirk2"])
def test_implicit_stages_are_those_of_the_coupled_chain(stepper: str) -> None:
    run = lw.simulate(HYPER, lw.State([0.2], [0.5]), 0.3, 0.02, "redmax", stepper=stepper, tau=TAU)
    constrained = lw.simulate(COUPLED, HYPER.full(lw.State([0.2], [0.5])), 0.3, 0.02, "redmax", stepper=stepper, tau=TAU)
    assert np.abs(run.q - constrained.q).max() < 1e-9
    assert np.abs(run.v - constrained.v).max() < 1e-8


def test_constraints_that_the_map_fulfils_change_nothing() -> None:
    both = lw.HyperReduced(COUPLED, lambda r: [r[0]] * LINKS, nr=1)
    assert both.forward_dynamics([0.4], [1.2], TAU) == pytest.approx(HYPER.forward_dynamics([0.4], [1.2], TAU), rel=1e-9)


def test_constraints_act_on_what_the_map_leaves_free() -> None:
    """Two angles, coupled by a constraint to one: the chain of one angle again."""
    coupled = HYPER.model.replace(elements=[*HYPER.model.elements, lw.Coupling("link1", "link0")])
    two = lw.HyperReduced(coupled, lambda r: [r[0], r[1], r[0], r[1], r[0]], nr=2)
    a = two.forward_dynamics([0.4, 0.4], [1.2, 1.2], TAU)
    assert a == pytest.approx(np.repeat(HYPER.forward_dynamics([0.4], [1.2], TAU), 2), rel=1e-9)
    run = lw.simulate(two, lw.State([0.4, 0.4], [1.2, 1.2]), 0.2, 0.01, "redmax", evaluations=0)
    one = lw.simulate(HYPER, lw.State([0.4], [1.2]), 0.2, 0.01, "redmax", evaluations=0)
    assert np.abs(run.q - one.q).max() < 1e-9
    assert run.forces is not None
    m, applied = two.map(np.full(2, 0.4), np.full(2, 1.2), two.forward_dynamics([0.4, 0.4], [1.2, 1.2])), np.zeros(LINKS)
    applied[[0, 1]] = run.forces[0, 0] * np.array([-1.0, 1.0])  # on the leader and the follower
    left = two.dynamics(lw.State(np.full(2, 0.4), np.full(2, 1.2))).full.f + applied - lw.mass_matrix(coupled, m.q) @ m.a
    assert m.J.T @ left == pytest.approx(np.zeros(2), abs=1e-9)


# --- a map that bends -----------------------------------------------------------------------------------------------------
def test_jacobian_and_its_rate_are_those_of_finite_differences() -> None:
    m, e = CURVED.moved(lw.State(R, R_DOT)), 1e-4

    def f(r: np.ndarray) -> np.ndarray:
        return np.array(curved(r))

    slopes = [(f(R + e * d) - f(R - e * d)) / (2 * e) for d in np.eye(2)]
    bend = (f(R + e * R_DOT) - 2 * f(R) + f(R - e * R_DOT)) / e**2
    assert np.array_equal(m.q, f(R))
    assert np.abs(m.J - np.transpose(slopes)).max() < 1e-7
    assert np.abs(m.v - m.J @ R_DOT).max() < 1e-14
    assert np.abs(m.a - bend).max() < 1e-6


def test_motion_is_that_of_the_lagrangian() -> None:
    """d/dt dT/dr_dot - dT/dr + dV/dr = J^T (tau - damping v), with differences of the energy alone."""

    def energy(r: np.ndarray, r_dot: np.ndarray) -> float:
        e = lw.energy(FREE, CURVED.full(lw.State(r, r_dot)))
        return float(e.kinetic - e.potential)

    FREE = CURVED.model.replace(elements=[])
    free = lw.HyperReduced(FREE, curved, nr=2)
    h, unit = 1e-3, np.eye(2)
    a = free.forward_dynamics(R, R_DOT, TAU)

    def momentum(t: float) -> np.ndarray:
        r, r_dot = R + t * R_DOT + 0.5 * t * t * a, R_DOT + t * a
        return np.array([(energy(r, r_dot + h * d) - energy(r, r_dot - h * d)) / (2 * h) for d in unit])

    rate = (8 * (momentum(h) - momentum(-h)) - momentum(2 * h) + momentum(-2 * h)) / (12 * h)
    slope = [
        (8 * (energy(R + h * d, R_DOT) - energy(R - h * d, R_DOT)) - energy(R + 2 * h * d, R_DOT) + energy(R - 2 * h * d, R_DOT))
        / (12 * h)
        for d in unit
    ]
    m = free.moved(lw.State(R, R_DOT))
    assert rate - slope == pytest.approx(m.J.T @ (TAU - FREE.damping * m.v), abs=1e-6)


@pytest.mark.parametrize(("stepper", "order"), [("rk4", 4), ("bdf1", 1), ("bdf2", 2), ("sdirk2", 2)])
def test_steps_converge_to_one_motion(stepper: str, order: int) -> None:
    method = "reduced" if stepper == "rk4" else "redmax"
    state = lw.State(R, R_DOT)
    exact = lw.simulate(CURVED, state, 0.2, 0.0025, stepper="rk4").q[-1]
    h = 0.05 if stepper == "rk4" else 0.02
    coarse, fine = (lw.simulate(CURVED, state, 0.2, h / n, method, stepper=stepper).q[-1] for n in (1, 2))
    assert np.log2(np.abs(coarse - exact).max() / np.abs(fine - exact).max()) == pytest.approx(order, abs=0.3)


def test_a_four_bar_is_its_crank() -> None:
    """The angles of a closed linkage as functions of one: accelerations and motion of the linkage with its loop."""
    crank, coupler, rocker, base = 0.4, 1.2, 0.9, 1.0
    b = lw.ModelBuilder()
    parent, place = "world", (0.0, 0, 0)
    for name, length in (("crank", crank), ("coupler", coupler), ("rocker", rocker)):
        bar = lw.Inertia.cuboid(mass=2.0 * length, size=(length, 0.06, 0.06), com=(length / 2, 0, 0))
        b.body(name, parent=parent, joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=place), inertia=bar)
        parent, place = name, (length, 0, 0)
    tree = b.build()
    b.add(lw.Loop("rocker", "world", point_a=(rocker, 0, 0), point_b=(base, 0, 0)))
    loop = b.build()

    def closed(r: Any) -> list[Any]:
        x, z = base - crank * np.cos(r[0]), -crank * np.sin(r[0])
        span = np.sqrt(x * x + z * z)
        angle = lw.math.atan2(z, x) + np.arccos((coupler**2 + span * span - rocker**2) / (2 * coupler * span))
        end = coupler * np.cos(angle) - x, coupler * np.sin(angle) - z
        last = lw.math.atan2(-end[1], -end[0])
        return [-r[0], r[0] - angle, angle - last]

    hyper, state = lw.HyperReduced(tree, closed, nr=1), lw.State([2.6], [0.8])
    run = lw.simulate(hyper, state, 0.2, 0.005, stepper="rk4")
    for k in range(0, len(run), 10):
        r = hyper.fit(run[k], guess=-run.q[k, :1])
        m = hyper.map(r.q, r.v, hyper.forward_dynamics(r.q, r.v))
        assert lw.forward_dynamics(loop, run.q[k], run.v[k]) == pytest.approx(m.a, abs=1e-9)
    constrained = lw.simulate(loop, hyper.full(state), 0.2, 0.2, stepper="dop853", rtol=1e-9, atol=1e-10)
    assert run.q[-1] == pytest.approx(constrained.q[-1], abs=1e-7)
    assert run.health.energy_drift is not None
    assert run.health.energy_drift < 1e-7


# --- quaternions ----------------------------------------------------------------------------------------------------------
def spin(r: Any) -> list[Any]:
    """A free body that screws along z, tilted as it goes, and a ball joint on it that swings about x."""
    z, tilt = [np.cos(r[0] / 2), 0.0, 0.0, np.sin(r[0] / 2)], [np.cos(0.3 * r[1]), np.sin(0.3 * r[1]), 0.0, 0.0]
    turn = [z[0] * tilt[0], z[0] * tilt[1], z[3] * tilt[1], z[3] * tilt[0]]
    return [0.1 * r[0] * r[1], 0.0, 0.2 * r[0], *turn, np.cos(r[1]), np.sin(r[1]), 0.0, 0.0]


def flyer(ball: lw.Joint) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("top", joint=lw.Free(), inertia=lw.Inertia(1.0, (0, 0, 0.1), np.diag([0.1, 0.2, 0.25])))
    b.body("arm", parent="top", joint=ball, placement=lw.SE3(p=(0.2, 0, 0)), inertia=ROD)
    return b.build()


def test_quaternions_move_by_their_tangents() -> None:
    model = flyer(lw.Spherical())
    hyper = lw.HyperReduced(model, spin, nr=2)
    m, h = hyper.moved(lw.State(R, R_DOT)), 1e-4
    after, before = (np.array(spin(R + x * R_DOT), float) for x in (h, -h))
    assert model.difference(before, after) / (2 * h) == pytest.approx(m.v, abs=1e-7)
    a = hyper.forward_dynamics(R, R_DOT)
    later, earlier = (hyper.moved(lw.State(R + x * R_DOT + 0.5 * x * x * a, R_DOT + x * a)).v for x in (h, -h))
    v_dot = (later - earlier) / (2 * h)
    assert v_dot == pytest.approx(hyper.map(R, R_DOT, a).a, abs=1e-6)
    left = lw.inverse_dynamics(model, m.q, m.v, hyper.map(R, R_DOT, a).a)
    assert m.J.T @ left == pytest.approx(np.zeros(2), abs=1e-12)
    assert hyper.fit(hyper.full(lw.State(R, R_DOT)), R + 0.1).v == pytest.approx(R_DOT, abs=1e-9)
    run = lw.simulate(hyper, lw.State(R, R_DOT), 0.2, 0.01, "redmax", stepper="sdirk2")
    exact = lw.simulate(hyper, lw.State(R, R_DOT), 0.2, 0.005, stepper="rk4")
    assert np.abs(run.q[-1] - exact.q[-1]).max() < 1e-4
