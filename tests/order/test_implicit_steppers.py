"""Steppers of the dense system and ode45: order, stiffness, charts, step control, published energies, what is refused."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.joints.euler_charts import EulerCharts
from linkwork.steppers import ALL_STEPPERS

TIGHT = {"stepper": "dop853", "rtol": 1e-12, "atol": 1e-13}
HEAVY = lw.Inertia(1.0, (0.2, 0.05, -0.1), np.diag([0.3, 0.4, 0.5]))
END = 0.4


# --- order with forces ------------------------------------------------------------------------------------------------------
def springs() -> tuple[lw.Model, lw.State]:
    """A branched tree of five kinds of joints with springs and dampers between its bodies and in its joints."""
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Universal(), inertia=HEAVY, damping=0.1)
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=HEAVY)
    b.body("c", parent="a", joint=lw.Prismatic((0.6, 0, 0.8)), placement=lw.SE3(p=(0, 0.4, 0)), inertia=HEAVY)
    b.body("d", parent="c", joint=lw.SphericalExp(), placement=lw.SE3(p=(0, 0, 0.3)), inertia=HEAVY)
    b.add(lw.SpringDamper("b", "d", (0.5, 0, 0), (0, 0.2, 0), stiffness=8.0, damping=1.0, rest_length=0.6))
    b.add(lw.JointSpring("b", 3.0, [0.2]))
    b.add(lw.BodyDamping("d", 0.2))
    model = b.build()
    return model, lw.State(np.linspace(-0.3, 0.4, model.nq), np.linspace(-1.0, 1.5, model.nv))


@cache
def truth() -> tuple[np.ndarray, np.ndarray]:
    model, state = springs()
    return ends(lw.simulate(model, state, END, END, **TIGHT))


def ends(run: lw.Trajectory) -> tuple[np.ndarray, np.ndarray]:
    k = lw.kinematics(run.model, run.final.q, run.final.v)
    return k.poses, k.twists


def error(run: lw.Trajectory) -> float:
    found = ends(run)
    return max(np.abs(a - b).max() for a, b in zip(found, truth(), strict=True))


@pytest.mark.parametrize("stepper", ["linearly_implicit", "bdf1", "bdf2", "sdirk2", "rosenbrock"])
def test_order_with_forces(stepper: str) -> None:
    model, state = springs()
    method, counts = "reduced" if stepper == "rosenbrock" else "redmax", (40, 80)
    errors = [error(lw.simulate(model, state, END, END / n, method, stepper=stepper, every=n)) for n in counts]
    assert abs(np.log2(errors[0] / errors[1]) - ALL_STEPPERS[stepper].order) < 0.15, errors


@pytest.mark.parametrize("method", ["reduced", "redmax"])
def test_ode45_reaches_its_tolerance(method: str) -> None:
    model, state = springs()
    errors = [error(lw.simulate(model, state, END, END, method, stepper="ode45", rtol=r, atol=r)) for r in (1e-5, 1e-8, 1e-11)]
    assert all(e < 100 * r for e, r in zip(errors, (1e-5, 1e-8, 1e-11), strict=True))
    assert errors[0] > 20 * errors[1] > 400 * errors[2]


def test_ode45_on_quaternions() -> None:
    body = lw.Inertia(1.0, (0.1, 0.2, -0.1), np.diag([1.0, 2.0, 2.8]))
    model = lw.ModelBuilder().body("top", joint=lw.Free(), inertia=body).build()
    state = lw.State(model.neutral(), [1.0, 2.0, -1.5, 0.3, -0.5, 0.7])
    run, tight = (lw.simulate(model, state, 2.0, 0.1, stepper=s, rtol=1e-9, atol=1e-11) for s in ("ode45", "dop853"))
    assert np.abs(run.poses - tight.poses).max() < 1e-7  # the records between steps too, which are interpolated
    assert np.array_equal(lw.simulate(model, state, 2.0, 0.1, every=4, stepper="ode45", rtol=1e-9, atol=1e-11).q, run.q[::4])


def test_ode45_with_a_loop_and_its_correction() -> None:
    """A loop that starts open: held at accelerations alone it stays so, with Baumgarte's terms the gap decays like
    exp(-5 t) (1 + 5 t), and steps that end where loops hold close it at once."""
    from linkwork.scenes.loop import four_bar

    model, state = four_bar()
    opened = lw.State(state.q + np.array([0.0, 0.0, 1e-3]), state.v)
    shut = lw.simulate(model, opened, 0.5, 0.1, stepper="ode45", rtol=1e-8, open_loops="allow")
    assert np.abs(gap(shut)).max() < 1e-9
    kept = lw.simulate(model, opened, 0.5, 0.1, stepper="ode45", rtol=1e-8, open_loops="allow", stabilise="none")
    assert kept.forces.shape == (6, 3)
    for method in ("reduced", "redmax"):
        pulled = {"stepper": "ode45", "rtol": 1e-8, "baumgarte": (5.0, 5.0), "open_loops": "allow"}
        closed = lw.simulate(model, opened, 0.5, 0.1, method, **pulled)
        gaps = [r.health.constraint_residual for r in (closed, kept)]
        assert gaps[0] <= gaps[1] * 1.01
        last = [abs(np.abs(gap(r)).max()) for r in (closed, kept)]
        assert abs(last[0] / last[1] - np.exp(-2.5) * 3.5) < 0.05


def gap(run: lw.Trajectory) -> np.ndarray:
    from linkwork.constraints.rows import constraint_set

    s = run.final
    k = lw.kinematics(run.model, s.q, s.v)
    return constraint_set(run.model).at(k.poses, k.twists, s.q, s.v).residual


# --- what implicit methods are for ------------------------------------------------------------------------------------
@pytest.mark.parametrize("stepper", ["linearly_implicit", "bdf1", "bdf2", "sdirk2"])
def test_stiff_springs_are_stable(stepper: str) -> None:
    """A frequency of 1e4 rad/s and steps of 10 ms: the spring settles where it carries the weight."""
    b = lw.ModelBuilder()
    b.body("bob", joint=lw.Translational(), inertia=lw.Inertia(1.0))
    b.add(lw.SpringDamper("bob", "world", (0, 0, 0), (0, 0, 1.0), stiffness=1e8, damping=10.0, rest_length=1.0))
    run = lw.simulate(b.build(), lw.State([0.0, 0.0, -1e-3], np.zeros(3)), 2.0, 0.01, "redmax", stepper=stepper)
    assert np.abs(run.final.q - [0, 0, -9.81e-8]).max() < 1e-7
    assert np.abs(run.q).max() < 1.01e-3


def test_sequential_steps_hold_their_control() -> None:
    model = lw.ModelBuilder(gravity=(0, 0, 0)).body("cart", joint=lw.Prismatic((1, 0, 0)), inertia=HEAVY).build()
    asked = []

    def control(t: float, state: lw.State) -> list[float]:
        asked.append(t)
        return [1.0 + t]

    run = lw.simulate(model, lw.State([0.0], [0.0]), 0.4, 0.1, "redmax", control=control, every=2)
    assert np.allclose(asked, [0.0, 0.1, 0.2, 0.3])
    assert np.allclose(run.tau[:-1, 0], [1.0, 1.2])
    assert np.allclose(run.v[:, 0], [0.0, 0.21, 0.46])
    steady = lw.simulate(model, lw.State([0.0], [0.0]), 0.4, 0.1, "redmax", tau=[1.0], external=[[0, 0, 0, 2.0, 0, 0]])
    assert np.allclose(steady.v[-1], 1.2)


@pytest.mark.parametrize(
    ("joint", "stepper"),
    [
        (lw.SphericalExp(), "linearly_implicit"),
        (lw.SphericalExp(), "bdf2"),
        (lw.SphericalExp(), "sdirk2"),
        (lw.SphericalEuler("xyz", "xzx"), "bdf1"),
        (EulerCharts("xyz"), "bdf2"),
        (lw.FreeExp("TR"), "sdirk2"),
    ],
    ids=repr,
)
def test_charts_change_between_steps(joint: lw.Joint, stepper: str) -> None:
    """A tumbling body on charts goes where the one on quaternions goes; order 2 survives the changes."""
    body = lw.Inertia(1.0, (0, 0, 0), np.diag([1.0, 3.0, 2.0]))
    spin = np.array([0.5, 8.0, 0.4])
    truth = lw.ModelBuilder(gravity=(0, 0, 0)).body("top", joint=lw.Spherical(), inertia=body).build()
    end = lw.simulate(truth, lw.State(truth.neutral(), spin), 1.2, 1.2, **TIGHT).poses[-1]
    model = lw.ModelBuilder(gravity=(0, 0, 0)).body("top", joint=joint, inertia=body).build()
    start = lw.State(model.neutral(), spin if model.nv == 3 else np.concatenate([np.zeros(3), spin]))
    runs = [lw.simulate(model, start, 1.2, h, "redmax", stepper=stepper) for h in (1.2e-2, 6e-3)]
    turned = runs[1].q[:, 3:] if model.nv == 6 else runs[1].q[:, :3]
    assert (np.abs(np.diff(turned, axis=0)).max(axis=1) > 0.5).sum() >= 1
    errors = [np.abs(r.poses[-1] - end).max() for r in runs]
    assert errors[1] < (errors[0] / 3 if stepper in ("bdf2", "sdirk2") else 0.2)


# --- published --------------------------------------------------------------------------------------------------------
def double_pendulum() -> tuple[lw.Model, lw.State]:
    """Two bars of 10 x 1 x 1 cm and 10 g on hinges along y; cgs units."""
    b = lw.ModelBuilder(gravity=(0, 0, -980))
    bar = lw.Inertia.cuboid(mass=10.0, size=(10, 1, 1), com=(5, 0, 0))
    b.body("upper", joint=lw.Revolute((0, 1, 0)), inertia=bar)
    b.body("lower", parent="upper", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(10, 0, 0)), inertia=bar)
    return b.build(), lw.State([np.pi / 2, np.pi / 4], [0.0, 0.0])


def cart_pole() -> tuple[lw.Model, lw.State]:
    """A bar of 20 g that slides along x, with one of 10 g on a hinge at its end, let go from horizontal; cgs units."""
    b = lw.ModelBuilder(gravity=(0, 0, -980))
    b.body("cart", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia.cuboid(mass=20.0, size=(20, 1, 1)))
    pole = lw.Inertia.cuboid(mass=10.0, size=(1, 1, 10), com=(0, 0, -5))
    b.body("pole", parent="cart", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(-10, 0, 0)), inertia=pole)
    return b.build(), lw.State([0.0, np.pi / 2], [0.0, 0.0])


@pytest.mark.parametrize(
    ("case", "duration", "h", "method", "options", "energy"),
    [
        (double_pendulum, 2.0, 0.01, "redmax", {"evaluations": 0}, -3697.4545694454455),
        (double_pendulum, 2.0, 2.0, "redmax", {"stepper": "ode45"}, -5.653102676595154),
        (double_pendulum, 2.0, 2.0, "reduced", {"stepper": "ode45"}, -5.653102671702072),
        (cart_pole, 1.0, 0.01, "redmax", {"stepper": "bdf1"}, -37579.40239956981),
        (cart_pole, 1.0, 0.01, "redmax", {"stepper": "bdf2"}, -611.328760826007),
    ],
)
def test_published_energies(case: object, duration: float, h: float, method: str, options: dict, energy: float) -> None:
    """What the methods lose, as printed by github.com/sueda/redmax (commit 40f89b2, MIT, (c) 2019 Shinjiro Sueda): scene -1 of
    matlab/testRedMaxScenes.m and scene 3 of matlab-diff/scenesRedMax.m. Of ode45 this checks every step that it chooses."""
    model, state = case()  # pyright: ignore[reportCallIssue]
    end = lw.simulate(model, state, duration, h, method, **options).final
    found = lw.energy(model, end).total - lw.energy(model, state).potential
    assert abs(found - energy) < 1e-5
    exact = lw.simulate(model, state, duration, duration, **TIGHT).final
    assert abs(lw.energy(model, exact).total - lw.energy(model, state).total) < 1e-4


# --- refused ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "maximal", "stepper": "bdf1"}, "does not work with method 'maximal'; it works with reduced, redmax"),
        ({"method": "redmax", "stepper": "rk4"}, "does not work with method 'redmax'"),
        ({"method": "redmax", "baumgarte": -1.0}, "baumgarte must be a rate"),
        ({"stepper": "ode45", "rtol": 0.0}, "ode45: rtol must be positive"),
        ({"stepper": "ode45", "atol": np.inf}, "ode45: atol must be positive"),
        ({"stepper": "ode45", "max_step": 0.0}, "ode45: max_step must be positive"),
        ({"stepper": "ode45", "baumgarte": 5.0}, "ode45: baumgarte must be two rates"),
        ({"stepper": "bdf1", "tolerance": -1.0}, "bdf1: tolerance must be a number, at least 0"),
        ({"stepper": "bdf2", "iterations": 0}, "bdf2: iterations must be a whole number, at least 1"),
    ],
)
def test_refused(options: dict, message: str) -> None:
    model, state = double_pendulum()
    with pytest.raises(lw.InputError, match=message):
        lw.simulate(model, **{"state": state, "duration": 0.1, "dt": 0.1, **options})


def test_bdf_refuses_what_it_cannot_step() -> None:
    free = lw.ModelBuilder().body("ball", joint=lw.Free(), inertia=HEAVY).build()
    with pytest.raises(lw.InputError, match="velocities are the rates of their coordinates; joint 'ball'"):
        lw.simulate(free, lw.State(free.neutral(), np.zeros(6)), 0.1, 0.1, "redmax", stepper="bdf2")


def test_ode45_names_the_time_of_a_blow_up() -> None:
    model = lw.ModelBuilder(gravity=(0, 0, 0)).body("cart", joint=lw.Prismatic((1, 0, 0)), inertia=HEAVY).build()
    with pytest.raises(lw.SolverError, match=r"ode45 stopped at t = (0\.49|0\.5)"):  # v_dot = v^2, v = 1 / (0.5 - t)
        lw.simulate(model, lw.State([0.0], [2.0]), 1.0, 0.1, stepper="ode45", control=lambda t, s: s.v**2)
    with pytest.raises(lw.SolverError, match="not finite at t = 0"):
        lw.simulate(model, lw.State([0.0], [2.0]), 1.0, 0.1, stepper="ode45", control=lambda t, s: [np.nan])
