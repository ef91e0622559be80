"""Constraints stated in two ways are one: functions, curves, surfaces and gears against built-in kinds and closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.constraints.rows import ConstraintRows, constraint_set

BALL = lw.Inertia(1.3, (0, 0, 0), np.diag([0.2, 0.3, 0.4]))
RADIUS, RISE = 0.6, 0.2
HELIX = lw.Curve(lambda u, r, c: [r * np.cos(u), r * np.sin(u), c * u], (-8, 8), {"r": RADIUS, "c": RISE})


def bead(*elements: Any) -> lw.Model:
    """A point mass."""
    return _built(lw.ModelBuilder().body("bead", joint=lw.Translational(), inertia=BALL), elements)


def wheels(*elements: Any) -> lw.Model:
    """Two wheels in the world, and an arm with a planet."""
    b = lw.ModelBuilder()
    b.body("sun", joint=lw.Revolute((0, 0, 1)), inertia=BALL)
    b.body("arm", joint=lw.Revolute((0, 0, 1)), inertia=BALL)
    b.body("planet", parent="arm", joint=lw.Revolute((0, 0, 1)), placement=lw.SE3(p=(0.3, 0, 0)), inertia=BALL)
    return _built(b, elements)


def _built(b: lw.ModelBuilder, elements: Any) -> lw.Model:
    for e in elements:
        b.add(e)
    return b.build()


def rows_at(model: lw.Model, q: Any, v: Any, t: float | None = 0.0) -> ConstraintRows:
    q, v = np.asarray(q, float), np.asarray(v, float)
    k = lw.kinematics(model, q, v)
    return constraint_set(model).at(k.poses, k.twists, q, v, t)


def on_helix(u: float, rate: float) -> lw.State:
    x = np.array([RADIUS * np.cos(u), RADIUS * np.sin(u), RISE * u])
    return lw.State(x, rate * np.array([-RADIUS * np.sin(u), RADIUS * np.cos(u), RISE]))


# --- curves and surfaces -----------------------------------------------------------------------------------------------------
def test_a_bead_on_a_helix() -> None:
    """With x(u) = (r cos u, r sin u, c u): u_ddot = -g c / (r^2 + c^2)."""
    model, u, rate = bead(lw.PointOnCurve("bead", (0, 0, 0), HELIX)), 1.1, 0.7
    state, slope = on_helix(u, rate), -9.81 * RISE / (RADIUS**2 + RISE**2)
    a = lw.forward_dynamics(model, state.q, state.v)
    tangent, inward = state.v / rate, -np.append(state.q[:2], 0.0)
    assert np.abs(a - slope * tangent - rate**2 * inward).max() < 1e-10


@pytest.mark.parametrize(
    ("options", "error", "path"),
    [
        ({}, 1e-3, 5e-3),
        ({"method": "maximal"}, 1e-3, 5e-3),
        ({"method": "redmax"}, 1e-3, 5e-3),
        ({"stepper": "rk4", "stabilise": "project"}, 1e-10, 1e-6),
        ({"method": "redmax", "stepper": "bdf2"}, 1e-8, 1e-3),
    ],
)
def test_it_stays_on_the_helix(options: dict[str, Any], error: float, path: float) -> None:
    model, u, rate, T = bead(lw.PointOnCurve("bead", (0, 0, 0), HELIX)), 1.1, 0.7, 0.2
    run = lw.simulate(model, on_helix(u, rate), T, 4e-3, every=10, **options)
    assert run.health.constraint_residual is not None
    assert run.health.constraint_residual < error
    end = u + rate * T - 0.5 * 9.81 * RISE / (RADIUS**2 + RISE**2) * T**2
    assert np.abs(run.poses[-1, 0, :3, 3] - on_helix(end, 0.0).q).max() < path


def test_implicit_and_parametric_surfaces_agree() -> None:
    """The same sphere twice; and a function of the distance."""
    ball = lw.ParametricSurface(
        lambda u, r: [r * np.cos(u[1]) * np.cos(u[0]), r * np.cos(u[1]) * np.sin(u[0]), r * np.sin(u[1])],
        ((-np.pi, np.pi), (-1.4, 1.4)),
        {"r": 0.8},
    )
    by_hand = lw.constraint("bead", lambda E: lw.math.norm(E[0].p) - 0.8)
    q, v = np.array([0.48, -0.6, 0.0]) * (0.8 / np.hypot(0.48, 0.6)), np.array([0.6, 0.48, 0.5])
    kinds = (lw.PointOnSurface("bead", (0, 0, 0), s) for s in (ball, lw.Sphere(0.8)))
    found = [lw.forward_dynamics(bead(e), q, v) for e in (*kinds, by_hand)]
    assert np.abs(q @ found[2] + v @ v).max() < 1e-12
    for a in found[:2]:
        assert np.abs(a - found[2]).max() < 1e-12
    outside = q * 1.1
    assert rows_at(bead(lw.PointOnSurface("bead", (0, 0, 0), ball)), outside, v).residual[0] == pytest.approx(0.08, abs=1e-12)


def test_a_sphere_on_a_plane_is_a_contact() -> None:
    """Residual, rows and bias of tangency are those of `Contact`, sign included."""
    b = lw.ModelBuilder().body("ball", joint=lw.Free(), inertia=BALL)
    sphere, plane = lw.Sphere(0.4, (0.1, 0, 0.05)), lw.Plane((0, 0, 0.2), (0.6, 0, 0.8))
    tangent = lw.TangentSurfaces("ball", lw.ellipsoid(np.full(3, 0.4), sphere.center), plane, unilateral=True)
    free = b.build()
    contact, touching = (free.replace(elements=[e]) for e in (lw.Contact("ball", sphere, "world", plane), tangent))
    for seed in range(3):
        q = contact.random_configuration(seed)
        q[:3] = [0.3, 0.2 * seed, 0.9]
        v = np.random.default_rng(seed).normal(size=6)
        one, two = rows_at(contact, q, v), rows_at(touching, q, v)
        assert np.all(two.unilateral)
        motion = lw.Motion(np.arange(6.0)[None], np.zeros(6))
        for x, y in (
            (one.residual, two.residual),
            (one.rate, two.rate),
            (one.bias, two.bias),
            (one.rows @ motion, two.rows @ motion),
        ):
            assert np.abs(x - y).max() < 1e-11


def test_a_point_may_leave_a_surface_that_only_pushes() -> None:
    model = bead(lw.PointOnSurface("bead", (0, 0, 0), lw.Plane(), unilateral=True))
    run = lw.simulate(model, lw.State(np.array([0, 0, 0.05]), np.array([1.0, 0, 0])), 0.5, 2e-3)
    assert run.health.penetration is not None
    assert run.health.penetration < 1e-6
    assert run.q[-1, 2] < 1e-6
    up = lw.simulate(model, lw.State(np.zeros(3), np.array([0, 0, 1.0])), 0.1, 2e-3)
    assert up.q[-1, 2] > 0.04


def test_lost_points_are_reported() -> None:
    model = bead(lw.PointOnCurve("bead", (0, 0, 0), lw.Curve(lambda u: [np.cos(u), np.sin(u), 0.0 * u], (-3.2, 3.2))))
    with pytest.raises(lw.SolverError, match=r"PointOnCurve\('bead', 'world'\): its nearest points were not found"):
        rows_at(model, [0, 0, 0.3], np.zeros(3))  # all points of the circle are as near


# --- gears -------------------------------------------------------------------------------------------------------------------
def test_a_gear_in_the_world_is_a_coupling() -> None:
    q, v, tau = np.array([0.2, -0.4, 0.3]), np.array([1.0, -0.5, 0.7]), np.array([0.3, 0.1, -0.2])
    gear, coupling = wheels(lw.Gear("sun", "arm", -0.5)), wheels(lw.Coupling("arm", "sun", -0.5))
    assert np.abs(lw.forward_dynamics(gear, q, v, tau) - lw.forward_dynamics(coupling, q, v, tau)).max() < 1e-12


@pytest.mark.parametrize("options", [{}, {"method": "maximal"}, {"method": "redmax", "stepper": "bdf1"}])
def test_a_planetary_gear_obeys_willis(options: dict[str, Any]) -> None:
    """Sun of 20 teeth, planet of 10 on the arm, ring of 40 that stands still: arm / sun = 20 / (20 + 40)."""
    model = wheels(lw.Gear("sun", "planet", -20 / 10, carrier="arm"), lw.Gear("planet", "world", 10 / 40, carrier="arm"))
    run = lw.simulate(model, lw.State(np.zeros(3), np.zeros(3)), 0.2, 5e-3, tau=np.array([0.5, 0, 0]), **options)
    sun, arm, planet = run.v[-1]
    assert sun > 0.1
    assert abs(arm / sun - 20 / 60) < 1e-9
    assert abs(planet + 2.0 * (sun - arm)) < 1e-9 * sun
    assert np.abs(run.q[-1] - run.q[-1, 0] * np.array([1, 1 / 3, -4 / 3])).max() < 1e-9


def test_a_clutch_that_turns_one_way() -> None:
    """The arm may overtake the sun, not fall behind."""
    model = wheels(lw.constraint(["sun", "arm"], rate=lambda E, phi: phi[1][2] - phi[0][2], unilateral=True))
    pushed = lw.simulate(model, lw.State(np.zeros(3), np.zeros(3)), 0.1, 5e-3, tau=np.array([1.0, 0, 0]))
    assert abs(pushed.v[-1, 1] - pushed.v[-1, 0]) < 1e-12
    ahead = lw.simulate(model, lw.State(np.zeros(3), np.zeros(3)), 0.1, 5e-3, tau=np.array([0, 1.0, 0]))
    assert ahead.v[-1, 0] == 0.0
    assert ahead.v[-1, 1] > 0.1


# --- functions ---------------------------------------------------------------------------------------------------------------
def sway(t: float) -> tuple[float, float, float]:
    return 0.3 * np.sin(2 * t), 0.6 * np.cos(2 * t), -1.2 * np.sin(2 * t)


def test_a_joint_that_follows_time_is_a_prescribed_joint() -> None:
    own = wheels(lw.joint_constraint("arm", lambda q, t: q[0] - 0.3 * np.sin(2 * t)))
    given = wheels(lw.PrescribedJoint("arm", sway))
    q, v = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.4, -0.6])
    one, two = rows_at(own, q, v, 0.7), rows_at(given, q, v, 0.7)
    for name in ("residual", "rate", "bias", "given"):
        assert np.abs(getattr(one, name) - getattr(two, name)).max() < 1e-15
    with pytest.raises(lw.InputError, match=r"joint_constraint\('arm'\) moves with time"):
        rows_at(own, q, v, None)


def test_rows_of_joint_constraints_are_derivatives() -> None:
    """Of a quaternion and an angle, along the velocities, while time passes."""
    b = lw.ModelBuilder().body("ball", joint=lw.Spherical(), inertia=BALL).body("cam", joint=lw.Revolute((0, 1, 0)), inertia=BALL)

    def residual(q: Any, t: Any, k: Any) -> list[Any]:
        return [q[1] * q[3] - k * np.cos(2 * q[4]), lw.SE3.rot_quat(q[:4]).R[0, 2] * np.sin(t) + q[4] ** 3]

    position = lw.joint_constraint(["ball", "cam"], residual, parameters={"k": 0.4}, size=2)
    velocity = lw.joint_constraint(["cam", "ball"], rate=lambda q, v, t: [v[0] * q[2] - v[2] * np.cos(q[0] + t) + q[1] * t])
    model = _built(b, [position, velocity])
    q, v, t = model.random_configuration(seed=4), np.array([0.4, -0.7, 0.5, 0.9]), 0.6
    rows = rows_at(model, q, v, t)

    def at(h: float, move: np.ndarray = v, later: float = 1.0) -> ConstraintRows:
        return rows_at(model, model.integrate(q, h * move), v, t + later * h)

    def slope(f: Any, h: float = 2e-3) -> np.ndarray:
        return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)

    def along(move: np.ndarray) -> np.ndarray:
        return rows.rows @ lw.Motion(np.zeros((2, 6)), move)

    assert np.abs(slope(lambda h: at(h).residual)[:2] - rows.rate[:2]).max() < 1e-9
    assert np.abs(slope(lambda h: at(h).rate) - rows.bias).max() < 1e-9
    assert np.abs(along(v) - rows.given - rows.rate).max() < 1e-13
    for e in np.eye(4):
        assert np.abs(slope(lambda h, e=e: at(h, e, 0.0).residual)[:2] - along(e)[:2]).max() < 1e-9
        assert abs((rows_at(model, q, v + e, t).rate - rows.rate - along(e))[2]) < 1e-13
    assert rows.residual[2] == 0.0
    assert constraint_set(model).holonomic.tolist() == [True, True, False]


def test_parts_that_assemble_themselves() -> None:
    """A gap that a function of time closes: the part goes where it belongs, and stays there."""

    def gap(E: list[lw.SE3], t: Any, start: Any) -> Any:
        s = lw.math.clip(t / 0.4, 0.0, 1.0)
        return E[0].p - start * (1.0 - s**3 * (10.0 - 15.0 * s + 6.0 * s * s))

    start = np.array([0.5, -0.2, 0.3])
    model = bead(lw.constraint("bead", gap, parameters={"start": start}))
    ways: list[tuple[dict[str, Any], float]] = [({}, 1e-3), ({"stepper": "rk4"}, 1e-3), ({"method": "maximal"}, 1e-3)]
    for options, error in ways:
        run = lw.simulate(model, lw.State(start, np.zeros(3)), 0.5, 5e-3, **options)
        assert np.abs(run.poses[-1, 0, :3, 3]).max() < error
        assert np.abs(run.v[-1]).max() < 100 * error


def test_the_report_names_them() -> None:
    rod = lw.constraint("bead", lambda E: lw.math.norm(E[0].p) - 1.0, name="rod")
    model = bead(rod, lw.PointOnSurface("bead", (0, 0, 0), lw.Sphere(1.0)), lw.PointOnSurface("bead", (0, 0, 0), lw.Sphere(1.1)))
    report = lw.constraint_report(model, [0.6, 0.0, 0.8])
    assert (report.rows, report.rank) == (3, 1)
    assert report.redundant == ("PointOnSurface('bead', 'world') row 0",) * 2
    assert report.inconsistent == ("constraint('bead', name='rod') row 0", *report.redundant)


def test_unknowns_whose_equations_have_no_diagonal() -> None:
    """An ellipsoid that stands level on a plane: the first equation of its point does not look at its first coordinate."""
    b = lw.ModelBuilder().body("a", joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    model = b.add(lw.TangentSurfaces("a", lw.ellipsoid((0.5, 0.4, 0.3)), lw.Plane((0, 0, 0), (0, 0, 1)))).build()
    run = lw.simulate(model, lw.State([0, 0, 0.3, 1, 0, 0, 0], [0.1, 0.2, 0, 0.3, 0, 0]), 0.5, 1e-3)
    assert run.health.constraint_residual < 1e-6
    assert run.q[-1, 2] > 0.3
