"""Compiled and adaptive steppers: order on charts, tolerances, dense output, events; tops and pendulums solved on paper."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from models import CUSTOM
from scipy.integrate import quad
from scipy.special import ellipj, ellipk

import linkwork as lw
from linkwork.scenes.loop import four_bar
from linkwork.spatial import so3
from linkwork.steppers import ALL_STEPPERS
from linkwork.steppers.tangent import WEIGHTS, recharted, tangent_rate, tangent_rates

TIGHT = {"stepper": "dop853", "rtol": 1e-13, "atol": 1e-14}
METHODS = {name: cls().methods for name, cls in ALL_STEPPERS.items()}
BLOCK = lw.Inertia.cuboid(mass=1.0, size=(0.4, 0.3, 0.2), com=(0.2, 0.05, -0.1))
FIXED = [(name, method) for name in ("symplectic_euler", "rk4", "variational", "variational4") for method in METHODS[name]]
STEPS = {1: (200, 400, 800, 1600), 2: (200, 400, 800), 4: (40, 80, 160, 320)}  # by order
FINE = {"variational4": (160, 320, 640)}  # its rounds converge for short steps only


# --- order ------------------------------------------------------------------------------------------------------------
def top() -> tuple[lw.Model, lw.State]:
    """A free body, asymmetric, whose centre is not its origin; no forces."""
    body = lw.Inertia(1.0, (0.1, 0.2, -0.1), np.diag([1.0, 2.0, 2.8]))
    model = lw.ModelBuilder(gravity=(0, 0, 0)).body("top", joint=lw.Free(), inertia=body).build()
    return model, lw.State(model.neutral(), np.array([1.0, 2.0, -1.5, 0.3, -0.5, 0.7]))


def chain() -> tuple[lw.Model, lw.State]:
    """A ball joint, a hinge and a joint of the user's own."""
    b = lw.ModelBuilder()
    heavy = lw.Inertia(1.0, (0.2, 0.05, -0.1), np.diag([0.3, 0.4, 0.5]))
    b.body("a", joint=lw.Spherical(), inertia=heavy)
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=heavy)
    b.body("c", parent="b", joint=CUSTOM["helix"], placement=lw.SE3(p=(0.4, 0, 0)), inertia=heavy)
    model = b.build()
    return model, lw.State(model.integrate(model.neutral(), np.linspace(-0.3, 0.4, 5)), np.linspace(-1.0, 1.5, 5))


def exponential() -> tuple[lw.Model, lw.State]:
    """A pendulum on a ball joint in exponential coordinates, which change their chart on the way."""
    model = lw.ModelBuilder().body("bob", joint=lw.SphericalExp(), inertia=BLOCK).build()
    return model, lw.State(np.array([4.0, 1.5, -1.0]), np.array([4.0, 1.0, 2.0]))


def mixed() -> tuple[lw.Model, lw.State]:
    """A joint of which one part adds and the other composes."""
    model = lw.ModelBuilder().body("bob", joint=lw.Composite(lw.Translational(), lw.Spherical()), inertia=BLOCK).build()
    return model, lw.State(model.integrate(model.neutral(), np.linspace(0.5, -0.5, 6)), np.linspace(-2.0, 12.0, 6))


CASES = {f.__name__: f for f in (top, chain, exponential, mixed)}
CHARTS = ("exponential", "mixed")
DURATION = 0.5


@cache
def case(name: str) -> tuple[lw.Model, lw.State, np.ndarray, np.ndarray]:
    """A model, its start, and its poses and twists at the end."""
    model, state = CASES[name]()
    return model, state, *bodies(lw.simulate(model, state, DURATION, DURATION, **TIGHT))


def bodies(run: lw.Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Poses and twists at the end: they do not depend on charts."""
    if run.kind == "maximal":
        return run.final.poses, run.final.twists
    k = lw.kinematics(run.model, run.final.q, run.final.v)
    return k.poses, k.twists


def slope(counts: tuple[int, ...], errors: list[float]) -> float:
    return -np.polyfit(np.log(counts), np.log(errors), 1)[0]


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize(("stepper", "method"), FIXED)
def test_order_on_charts(stepper: str, method: str, name: str) -> None:
    model, state, poses, twists = case(name)
    if stepper.startswith("variational") and name == "exponential":
        with pytest.raises(lw.InputError, match="cannot change charts, which joint 'bob'"):
            lw.simulate(model, state, 0.1, 0.01, stepper=stepper)
        return
    order = ALL_STEPPERS[stepper].order
    counts, errors = FINE.get(stepper, STEPS[order]), []
    for n in counts:
        found = bodies(lw.simulate(model, state, DURATION, DURATION / n, method, stepper=stepper, every=n))
        errors.append(max(np.abs(found[0] - poses).max(), np.abs(found[1] - twists).max()))
    assert abs(slope(counts, errors) - order) < 0.1, errors


def test_a_loop_of_rk4_drifts_like_its_error() -> None:
    model, state = four_bar()
    end, run = lw.simulate(model, state, 0.3, 0.3, **TIGHT), lw.simulate(model, state, 0.3, 0.01, stepper="rk4")
    assert end.health.constraint_residual < 1e-12
    assert run.health.constraint_residual < 1e-6
    at_rest = lw.simulate(model, state, 0.01, 0.01).forces[0]
    assert np.allclose([run.forces[0], end.forces[0]], at_rest, rtol=1e-10, atol=1e-10)
    assert np.allclose(run.forces[-1], end.forces[-1], rtol=0.2)


def test_a_batch_of_rk4_is_its_runs() -> None:
    model, state = chain()
    v = state.v + np.linspace(0, 1, 11)[:, None]
    batch = lw.simulate(model, lw.State(state.q, v), 0.1, 0.01, stepper="rk4", threads=2)
    alone = lw.simulate(model, lw.State(state.q, v[7]), 0.1, 0.01, stepper="rk4")
    assert batch.arrays["q"].shape == (11, 11, model.nq)
    assert np.abs(batch.arrays["q"][7] - alone.arrays["q"]).max() < 1e-14


# --- the tangent space --------------------------------------------------------------------------------------------------
def test_tangent_rates_are_those_of_the_exponential() -> None:
    assert WEIGHTS[:7] == (1.0, -0.5, 1 / 12, 0.0, -1 / 720, 0.0, 1 / 30240)
    rng = np.random.default_rng(0)
    for turn in (1e-8, 0.1, 1.0):
        u, v = rng.normal(size=3), rng.normal(size=3)
        u *= turn / np.linalg.norm(u)
        assert np.abs(tangent_rate(lw.Spherical(), u, v) - so3.right_jacobian_inverse(u) @ v).max() < 1e-15
    model, state = top()
    u, h = rng.normal(size=6), 1e-5
    q = model.integrate(state.q, u)
    u_dot = tangent_rates(model, u, state.v)
    ahead, behind = (model.integrate(state.q, u + s * h * u_dot) for s in (1, -1))
    assert np.abs((model.difference(q, ahead) - model.difference(q, behind)) / (2 * h) - state.v).max() < 1e-9


# --- dop853 -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", CASES)
def test_dop853_reaches_its_tolerance(name: str) -> None:
    model, state, poses, twists = case(name)
    errors = []
    for rtol in (1e-5, 1e-8, 1e-11):
        found = bodies(lw.simulate(model, state, DURATION, DURATION, stepper="dop853", rtol=rtol, atol=rtol))
        errors.append(max(np.abs(found[0] - poses).max(), np.abs(found[1] - twists).max()))
        assert errors[-1] < 100 * rtol
    assert errors[0] > 20 * errors[1] > 400 * errors[2]


def test_dense_output_agrees_with_runs_that_end_there() -> None:
    model, state = chain()
    options = {"stepper": "dop853", "rtol": 1e-11, "atol": 1e-12}
    fine = lw.simulate(model, state, 0.4, 0.01, **options)
    for k in (1, 7, 23, 40):
        end = lw.simulate(model, state, fine.t[k], fine.t[k], **options).final
        assert np.abs(fine[k].q - end.q).max() < 1e-9
        assert np.abs(fine[k].v - end.v).max() < 1e-9
    assert np.array_equal(lw.simulate(model, state, 0.4, 0.01, every=4, **options).arrays["q"], fine.arrays["q"][::4])


def test_tolerances_hold_for_a_fast_steady_spin() -> None:
    """Along a fixed axis u_dot is constant and steps are long; a small wobble must not be lost in them."""
    body = lw.Inertia(1.0, (0, 0, 0), np.diag([1.0, 2.0, 2.5]))
    model = lw.ModelBuilder(gravity=(0, 0, 0)).body("top", joint=lw.Free(), inertia=body).build()
    for wobble in (0.0, 1e-9, 1e-3):
        state = lw.State(model.neutral(), np.array([wobble, wobble, 10.0, 0.1, 0.2, 0.3]))
        end, rough = (bodies(lw.simulate(model, state, 5.0, 5.0, stepper="dop853", rtol=r, atol=r))[0] for r in (1e-12, 1e-7))
        assert np.abs(end - rough).max() < 1e-5


def test_control_is_part_of_the_equation() -> None:
    """A spring as a control: harmonic motion; the recorded forces do its work."""
    model = lw.ModelBuilder(gravity=(0, 0, 0)).body("cart", joint=lw.Prismatic((1, 0, 0)), inertia=BLOCK).build()
    start = lw.State(np.array([1.0]), np.array([0.0]))
    run = lw.simulate(model, start, 2.0, 1e-3, stepper="dop853", rtol=1e-12, atol=1e-12, control=lambda t, s: -9.0 * s.q)
    assert np.abs(run.q[:, 0] - np.cos(3.0 * run.t)).max() < 1e-10
    assert np.array_equal(run.tau, -9.0 * run.q)
    assert run.health.energy_drift < 1e-5


def test_dop853_names_the_time_of_a_blow_up() -> None:
    model = lw.ModelBuilder(gravity=(0, 0, 0)).body("cart", joint=lw.Prismatic((1, 0, 0)), inertia=BLOCK).build()
    with pytest.raises(lw.SolverError, match=r"dop853 stopped at t = (0\.4999|0\.5)"):  # v_dot = v^2, v = 1 / (0.5 - t)
        lw.simulate(model, lw.State([0.0], [2.0]), 1.0, 0.1, stepper="dop853", control=lambda t, s: s.v**2)
    with pytest.raises(lw.SolverError, match="not finite at t = 0"):
        lw.simulate(model, lw.State([0.0], [2.0]), 1.0, 0.1, stepper="dop853", control=lambda t, s: [np.nan])


# --- on paper -----------------------------------------------------------------------------------------------------------
AMPLITUDE, RATE = 2.0, np.sqrt(9.81 / 1.1)  # a bob of 1 kg and 0.1 kg m^2, 1 m below its hinge
QUARTER = ellipk(np.sin(AMPLITUDE / 2) ** 2) / RATE


def pendulum() -> lw.Model:
    bob = lw.Inertia(1.0, (0, 0, -1.0), 0.1 * np.eye(3))
    return lw.ModelBuilder().body("bob", joint=lw.Revolute((0, 1, 0)), inertia=bob).build()


@pytest.mark.parametrize(("options", "error"), [({"stepper": "rk4"}, 1e-9), ({**TIGHT, "rtol": 1e-12}, 1e-11)])
def test_period_of_a_pendulum(options: dict, error: float) -> None:
    """K(k) of the elliptic integral, k = sin(amplitude / 2)."""
    end = lw.simulate(pendulum(), lw.State([AMPLITUDE], [0.0]), 4 * QUARTER, 4 * QUARTER / 2000, **options).final
    assert abs(end.q[0] - AMPLITUDE) < error
    assert abs(end.v[0]) < error


def test_crossings_of_a_pendulum() -> None:
    """Odd quarters of the period, to 1e-9; the angle and speed there are exact too."""

    def vertical(t: float, state: lw.State) -> float:
        return float(state.q[0])

    options = {"stepper": "dop853", "rtol": 1e-12, "atol": 1e-13}
    run = lw.simulate(pendulum(), lw.State([AMPLITUDE], [0.0]), 10.0, 0.1, events=[vertical], **options)
    assert len(run.events) == 7
    for k, event in enumerate(run.events):
        assert event.index == 0
        assert abs(event.t - (2 * k + 1) * QUARTER) < 1e-9
        assert abs(event.state.q[0]) < 1e-12
        assert abs(abs(event.state.v[0]) - 2 * RATE * np.sin(AMPLITUDE / 2)) < 1e-9


def test_directions_and_ends() -> None:
    def falling(t: float, state: lw.State) -> float:
        return float(state.q[0])

    def rising(t: float, state: lw.State) -> float:
        return float(state.q[0])

    def late(t: float, state: lw.State) -> float:
        return t - 2.0

    falling.direction, rising.direction, rising.terminal = -1, 1, 2
    start = lw.State([AMPLITUDE], [0.0])
    run = lw.simulate(pendulum(), start, 10.0, 0.1, stepper="dop853", events=[falling, rising, late])
    assert [e.index for e in run.events] == [0, 2, 1, 0, 1]
    assert run.t[-1] == run.final.t == run.events[-1].t
    assert abs(run.t[-1] - 7 * QUARTER) < 1e-6
    assert abs(run.events[1].t - 2.0) < 1e-15
    assert np.allclose(run.t[:-1], 0.1 * np.arange(len(run) - 1))
    quiet = lw.simulate(pendulum(), lw.State([0.0], [1.0]), 0.1, 0.1, stepper="dop853", events=rising)
    assert quiet.events == ()  # it starts on the zero
    with pytest.raises(lw.InputError, match="event function 0 returned nan"):
        lw.simulate(pendulum(), start, 1.0, 0.1, stepper="dop853", events=[lambda t, s: np.nan])


def top_on_paper(I: np.ndarray, energy: float, momentum: float, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Angular velocity (body axes) and rotation of a torque-free top whose momentum lies along z.

    Jacobi's solution [Landau & Lifshitz, Mechanics, section 37] for I1 < I2 < I3 and L^2 > 2 E I2, with Euler angles z-x-z.
    """
    a, b = 2 * energy * I[2] - momentum**2, momentum**2 - 2 * energy * I[0]
    speed = np.sqrt((I[2] - I[1]) * b / I.prod())
    modulus = (I[1] - I[0]) * a / ((I[2] - I[1]) * b)
    size = np.sqrt([a / (I[0] * (I[2] - I[0])), a / (I[1] * (I[2] - I[1])), b / (I[2] * (I[2] - I[0]))])

    def omega(t: float) -> np.ndarray:
        sn, cn, dn, _ = ellipj(speed * t, modulus)
        return size * np.array([cn, sn, dn])

    def precession(t: float) -> float:
        x, y = (I * omega(t))[:2] ** 2
        return momentum * (x / I[0] + y / I[1]) / (x + y)

    L = I * omega(t)
    phi = quad(precession, 0, t, epsabs=1e-13, epsrel=1e-13, limit=500)[0]
    turns = lw.SE3.rot_z(phi) @ lw.SE3.rot_x(np.arccos(L[2] / momentum)) @ lw.SE3.rot_z(np.arctan2(L[0], L[1]))
    return omega(t), np.asarray(turns.R, float)


@pytest.mark.parametrize("joint", [lw.Free, lw.Spherical, lw.SphericalExp])
def test_asymmetric_top_against_elliptic_functions(joint: type) -> None:
    I = np.array([1.0, 2.0, 2.8])
    w, R = top_on_paper(I, 4.0, 4.3, 0.0)
    assert np.isclose(I @ w**2, 8.0)
    model = lw.ModelBuilder(gravity=(0, 0, 0)).body("top", joint=joint(), inertia=lw.Inertia(1.0, (0, 0, 0), np.diag(I))).build()
    q, v = model.neutral(), np.zeros(model.nv)
    if model.nq > model.nv:
        q[-4:], v[:3] = lw.Spherical().integrate(lw.Spherical().neutral(), so3.log(R)), w
    else:
        q = so3.log(R)
        v = so3.right_jacobian_inverse(q) @ w
    run = lw.simulate(model, lw.State(q, v), 5.0, 0.25, **TIGHT)
    k = lw.kinematics(model, run.q, run.v)
    for j, t in enumerate(run.t):
        w, R = top_on_paper(I, 4.0, 4.3, float(t))
        assert np.abs(k.twists[j, 0, :3] - w).max() < 1e-10
        assert np.abs(k.poses[j, 0, :3, :3] - R).max() < 1e-10


# --- charts -------------------------------------------------------------------------------------------------------------
CHARTED = (
    lw.SphericalExp(),
    lw.SphericalEuler("xyz", "xzx"),
    lw.SphericalEuler("zyx", "zyz"),
    lw.SphericalEuler("yzy", "yxz"),
    lw.FreeExp("TR"),
    lw.FreeExp("RT"),
    lw.Composite(lw.Prismatic((0, 0.6, 0.8)), lw.SphericalEuler("xzy", "yxy")),
)


@pytest.mark.parametrize("joint", CHARTED, ids=repr)
def test_a_hundred_changes_of_chart(joint: lw.Joint) -> None:
    """Many random walks at once: poses and twists do not jump."""
    model = lw.ModelBuilder().body("bob", joint=joint, inertia=BLOCK).build()
    rng = np.random.default_rng(1)
    q, v = np.tile(joint.neutral(), (64, 1)), rng.normal(size=(64, joint.nv))
    changes = 0
    for _ in range(200):
        v = 0.95 * v + 0.3 * rng.normal(size=v.shape)
        q = model.integrate(q, 0.2 * v)
        q_new, v_new = recharted(model, q, v)
        changed = np.any(q_new != q, axis=1)
        changes += changed.sum()
        before, after = lw.kinematics(model, q, v), lw.kinematics(model, q_new, v_new)
        assert np.abs(before.poses - after.poses).max() < 1e-13
        assert np.abs(before.twists - after.twists).max() < 1e-13
        for i in np.flatnonzero(changed)[:1]:  # the rule as it stands
            assert np.abs(np.concatenate(joint.rechart(q[i], v[i])) - np.concatenate([q_new[i], v_new[i]])).max() < 1e-12
        q, v = q_new, np.clip(v_new, -3.0, 3.0)
    assert changes > 100


@pytest.mark.parametrize("stepper", ["symplectic_euler", "rk4", "dop853"])
@pytest.mark.parametrize("joint", [lw.SphericalExp(), lw.SphericalEuler("xyz", "xzx")], ids=repr)
def test_steppers_change_charts(joint: lw.Joint, stepper: str) -> None:
    """A spinning body on charts goes where the one on quaternions goes."""
    body = lw.Inertia(1.0, (0, 0, 0), np.diag([1.0, 3.0, 2.0]))
    models = [lw.ModelBuilder(gravity=(0, 0, 0)).body("top", joint=j, inertia=body).build() for j in (joint, lw.Spherical())]
    spin = np.array([0.5, 8.0, 0.4])
    run, truth = (lw.simulate(m, lw.State(m.neutral(), spin), 2.0, 1e-3, stepper=stepper, every=10) for m in models)
    jumps = np.abs(np.diff(run.q[:, :3], axis=0)).max(axis=1) > 1.0
    assert jumps.sum() >= 2
    assert np.abs(run.poses - truth.poses).max() < {1: 1e-11, 4: 1e-7, 8: 1e-7}[ALL_STEPPERS[stepper].order]


# --- maximal coordinates --------------------------------------------------------------------------------------------------
def test_joints_of_maximal_coordinates_stay_closed() -> None:
    """Three links, 5 s of 1 ms: without stabilisation the gap is 5 cm."""
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(mass=1.0, size=(1, 0.1, 0.1), com=(0.5, 0, 0))
    for k in range(3):
        parent, placement = ("world", lw.SE3()) if k == 0 else (f"link{k - 1}", lw.SE3(p=(1, 0, 0)))
        b.body(f"link{k}", parent=parent, joint=lw.Revolute((0, 1, 0)), placement=placement, inertia=rod)
    model, state = b.build(), lw.State([0.0, 0.3, 0.2], np.zeros(3))
    health = lw.simulate(model, state, 5.0, 1e-3, "maximal").health
    assert health.joint_gap < 5e-6
    assert health.energy_drift < 2e-3
    assert lw.simulate(model, state, 50.0, 1e-3, "maximal", every=10).health.energy_drift < 1e-2


def test_loops_of_maximal_coordinates_stay_closed() -> None:
    model, state = four_bar()
    health = lw.simulate(model, state, 0.5, 2e-3, "maximal").health
    assert health.joint_gap < 1e-5
    assert health.constraint_residual < 1e-4
    assert health.energy_drift < 1e-2
