"""Joints of surfaces pass over poles of spheres and ellipsoids: coordinates change to those of a second chart, motions do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.parting import relative_curvatures
from linkwork.steppers.tangent import recharted

BALL, EGG, RING = lw.Sphere(0.2, mass=1.0), lw.Ellipsoid((0.15, 0.2, 0.3), mass=1.0), lw.Torus(0.5, 0.1, mass=1.0)
BOWL = lw.Sphere(1.5)
HOOP = lw.Curve(lambda u: (0.5 * np.cos(u), 0.5 * np.sin(u), 0.0), (-np.pi, np.pi))
PAIRS: dict[str, tuple[Any, Any, str]] = {
    "ellipsoid on sphere": (BALL, EGG, "outside"),
    "ellipsoid on ellipsoid": (lw.Ellipsoid((0.3, 0.2, 0.25)), EGG, "outside"),
    "sphere on sphere": (lw.Sphere(0.3), BALL, "outside"),
    "ellipsoid on plane": (lw.Plane(), EGG, "outside"),
    "ellipsoid in sphere": (BOWL, EGG, "inside"),
    "torus on sphere": (BALL, RING, "outside"),
}
JOINTS = {
    "both": lw.SurfaceSurface(BALL, EGG, "spin", 0.3),
    "first": lw.SurfaceSurface(EGG, RING, "spin"),
    "inside": lw.SurfaceSurface(BOWL, EGG, "spin", -0.4, "inside"),
    "point": lw.SurfacePoint(EGG, (0.1, 0.2, 0.3), "spin"),
    "spun point": lw.SurfacePoint((0.1, 0.2, 0.3), EGG, "spin", 0.2),
    "turning point": lw.SurfacePoint(EGG, (0.1, 0.2, 0.3), "free"),
    "point that turns": lw.SurfacePoint((0.1, 0.2, 0.3), EGG, "free", 0.7),
    "hoop on egg": lw.SurfaceCurve(EGG, HOOP, "free"),
    "egg on hoop": lw.SurfaceCurve(HOOP, EGG, "free", 0.4),
}


def rolling(name: str, **options: Any) -> lw.Model:
    a, b, side = PAIRS[name]
    joint = lw.SurfaceSurface(a, b, "spin", side=side, **options)
    return lw.ModelBuilder().body("b", joint=joint, shapes=[b]).build()


def starts(model: lw.Model, count: int) -> lw.State:
    rng = np.random.default_rng(0)
    q = np.array([model.random_configuration(rng) for _ in range(count)])
    return lw.State(q, rng.normal(size=(count, model.nv)))


@pytest.mark.parametrize("name", JOINTS)
def test_pose_and_twist_stay_where_charts_change(name: str) -> None:
    joint = JOINTS[name]
    model = lw.ModelBuilder().body("b", joint=joint, inertia=lw.Inertia.sphere(1.0, 0.1)).build()
    rng = np.random.default_rng(1)
    q, changes = np.array([joint.random(rng) for _ in range(64)]), 0
    for _ in range(20):
        v = rng.normal(size=(64, joint.nv))
        q = model.integrate(q, 0.3 * v)
        q_new, v_new = recharted(model, q, v)
        changed = np.any(q_new != q, axis=1)
        changes += changed.sum()
        before, after = lw.kinematics(model, q, v), lw.kinematics(model, q_new, v_new)
        assert np.abs(before.poses - after.poses).max() < 1e-13
        assert np.abs(before.twists - after.twists).max() < 1e-13
        for i in np.flatnonzero(changed)[:1]:
            (q_one, v_one), (p, u) = joint.rechart_together((q[i], v[i]), (joint.integrate(q[i], -0.01 * v[i]), v[i]))
            assert np.abs(np.concatenate([q_one - q_new[i], v_one - v_new[i]]).astype(float)).max() < 1e-12
            then = joint.motion(joint.integrate(q[i], -0.01 * v[i]), v[i])
            there = joint.motion(p, u)
            assert np.abs(np.asarray(there.matrix - then.matrix, float)).max() < 1e-13
            assert np.abs(np.asarray(there.tangent.phi - then.tangent.phi, float)).max() < 1e-12
        subspaces = [np.asarray(joint.motion(x, v[0]).tangent.S, float) for x in q_new[:8]]
        assert min(np.linalg.svd(S / np.linalg.norm(S, axis=0))[1][-1] for S in subspaces) > 1e-3
        q = q_new
    assert changes > 30


@pytest.mark.parametrize(
    ("name", "stepper"),
    [*((x, s) for x in PAIRS for s in ("symplectic_euler", "rk4", "dop853")), ("ellipsoid on sphere", "variational4")],
)
def test_random_starts_pass_over_poles(name: str, stepper: str) -> None:
    """24 starts each go on to the end; one chart breaks 3 to 12 of them."""
    model = rolling(name)
    run = lw.simulate(model, starts(model, 24), 3.0, 1e-3, stepper=stepper, every=100)
    drift = run.health.energy_drift
    assert drift is not None
    assert drift < {"symplectic_euler": 0.15, "rk4": 2e-6, "dop853": 5e-7, "variational4": 1e-4}[stepper]


@pytest.mark.parametrize("method", ["maximal", "redmax", "maximal-implicit"])
def test_other_formulations_pass_over_poles(method: str) -> None:
    model = rolling("ellipsoid on sphere")
    start = starts(model, 4)
    run = lw.simulate(model, start, 1.0, 1e-3, method, every=100)
    truth = lw.simulate(model, start, 1.0, 1e-3, stepper="dop853", every=100)
    assert np.abs(run.poses - truth.poses).max() < 0.1
    assert (run.health.joint_gap or 0.0) < 2e-3  # there is none where joints are the coordinates


def test_lanes_have_charts_of_their_own() -> None:
    model = rolling("ellipsoid on sphere")
    start = starts(model, 9)
    run = lw.simulate(model, start, 1.0, 1e-3, every=50)
    assert len({tuple(x > 2 * np.pi) for x in run.q[:, -1, [1, 4]]}) > 2
    for k in range(9):
        alone = lw.simulate(model, lw.State(start.q[k], start.v[k]), 1.0, 1e-3, every=50)
        assert np.array_equal(alone.q, run.q[k])


def test_step_derivatives_where_a_chart_changes() -> None:
    model, h = rolling("ellipsoid on sphere"), 1e-3
    start = starts(model, 1)
    run = lw.simulate(model, lw.State(start.q[0], start.v[0]), 3.0, h)
    before = np.flatnonzero(np.abs(np.diff(run.q[:, [1, 4]], axis=0)).max(axis=1) > 3.0)
    assert len(before)
    state = lw.State(run.q[before[-1]], run.v[before[-1]])
    found = lw.step_derivatives(model, state, h)

    def end(x: np.ndarray) -> np.ndarray:
        after = lw.simulate(model, lw.State(x[:5], x[5:]), h, h)
        return np.concatenate([after.q[-1], after.v[-1]])

    x, w = np.concatenate([state.q, state.v]), np.random.default_rng(3).normal(size=10)
    columns = [(end(x + 1e-6 * e) - end(x - 1e-6 * e)) / 2e-6 for e in np.eye(10)]
    assert np.abs(np.stack(columns, axis=1) - found.A).max() < 1e-7 * np.abs(found.A).max()
    back = lw.step_gradient(model, state, h, w[:5], w[5:])
    assert np.abs(np.concatenate([back.q, back.v]) - w @ found.A).max() < 1e-12 * np.abs(found.A).max()


def test_one_chart_is_what_it_was() -> None:
    """charts=False keeps longitude and latitude; away from poles both are the same motion."""
    a, b = rolling("ellipsoid on sphere"), rolling("ellipsoid on sphere", charts=False)
    start = lw.State(np.array([0.2, 0.3, 0.1, -0.4, 0.2]), np.array([0.1, -0.2, 0.3, 0.1, 0.2]))
    runs = [lw.simulate(m, start, 0.1, 1e-3) for m in (a, b)]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-13
    assert not b.bodies[0].joint.charted


LAWS = {
    "spring": lambda: lw.JointSpring("b", 1.0),
    "limit": lambda: lw.Limit("b", -1.0, 1.0),
    "dry friction": lambda: lw.DryFriction("b", 0.1),
    "custom": lambda: lw.joint_force("b", force=lambda q, v: -q),
    "coupling": lambda: lw.PrescribedJoint("b", lambda t: (np.zeros(5), np.zeros(5), np.zeros(5))),
}


@pytest.mark.parametrize("law", LAWS)
def test_laws_on_coordinates_keep_one_chart(law: str) -> None:
    """They mean the longitudes and latitudes that were given, as with charts=False; the model says so."""
    model = rolling("ellipsoid on sphere")
    made, single = model.add(LAWS[law]()), rolling("ellipsoid on sphere", charts=False).add(LAWS[law]())
    assert model.bodies[0].joint.charted
    assert not made.bodies[0].joint.charted
    assert "its coordinates keep one chart, because" in made.notes[0]
    start = lw.State(np.array([0.2, 0.3, 0.1, -0.4, 0.2]), np.zeros(5))
    if law != "coupling":
        runs = [lw.simulate(m, start, 0.1, 1e-3) for m in (made, single)]
        assert np.array_equal(runs[0].q, runs[1].q)


def test_declared_limits_keep_one_chart() -> None:
    b = lw.ModelBuilder().body("b", joint=JOINTS["both"], shapes=[EGG], limits=(-1.0, 1.0))
    model = b.build()
    assert "because limits= acts on them" in model.notes[0]
    run = lw.simulate(model, lw.State(np.zeros(5) + 0.1, np.ones(5)), 2.0, 1e-3)
    assert run.q.max() < 1.001


def test_damping_leaves_charts() -> None:
    model = rolling("ellipsoid on sphere").add(lw.JointDamping("b", 0.1))
    assert model.bodies[0].joint.charted


# --- lost contact --------------------------------------------------------------------------------------------------------------
def tori() -> lw.Model:
    ring = lw.Torus(0.5, 0.1, mass=1.0)
    return lw.ModelBuilder().body("b", joint=lw.SurfaceSurface(ring, ring, "spin"), shapes=[ring]).build()


@pytest.mark.parametrize("stepper", ["symplectic_euler", "rk4", "dop853", "variational", "sdirk2"])
def test_lost_contact_is_named(stepper: str) -> None:
    """Tori whose holes face each other touch until their curvatures agree: a run ends there, and says why."""
    model, reasons = tori(), list[str]()
    start = starts(model, 12)
    for k in range(12):
        try:
            run = lw.simulate(model, lw.State(start.q[k], start.v[k]), 2.0, 1e-3, stepper=stepper)
        except lw.SolverError as error:
            reasons.append(str(error))
            continue
        curvature = relative_curvatures(model, run.q)
        assert (curvature[0] * curvature > 0.0).all()
    assert len(reasons) > 4
    assert all("joint 'b' (SurfaceSurface(Torus, Torus)) loses its contact: the curvatures of" in x for x in reasons)


def test_relative_curvature() -> None:
    """Of known surfaces: det K / (|K|^2 / 2) from principal curvatures and the angle between their axes."""

    def expected(a: tuple[float, float], b: tuple[float, float], angle: float) -> float:
        c, s = np.cos(angle), np.sin(angle)
        R = np.array([[c, -s], [s, c]])
        K = np.diag(a) + R @ np.diag(b) @ R.T
        return float(2.0 * np.linalg.det(K) / (K**2).sum())

    ring, egg = lw.Torus(0.5, 0.1), lw.Ellipsoid((0.15, 0.2, 0.3))
    inner = (-1.0 / 0.4, 1.0 / 0.1)  # along longitude, along the tube, where the hole is
    for angle in (0.2, 1.1):
        q = np.array([0.3, np.pi, angle, 0.7, np.pi])
        joint = lw.SurfaceSurface(ring, ring, "spin")
        assert abs(float(joint.relative_curvature(q)) - expected(inner, inner, angle)) < 1e-12
        ends = (0.15 / 0.2**2, 0.15 / 0.3**2)  # of the egg where its normal is x, along y and z
        joint = lw.SurfaceSurface(ring, egg, "spin")
        q = np.array([0.3, np.pi, angle, 0.0, 0.0])
        assert abs(float(joint.relative_curvature(q)) - expected(inner, ends, angle)) < 1e-12
        assert joint.may_part
        assert not lw.SurfaceSurface(egg, lw.Sphere(0.1), "spin").may_part


def test_a_batch_and_a_simulator_name_lost_contact() -> None:
    model = tori()
    start = starts(model, 12)
    with pytest.raises(lw.SolverError, match="loses its contact"):
        lw.simulate(model, start, 2.0, 1e-3)
    sim = lw.Simulator(model, start, 1e-3)

    def go_on() -> None:
        for _ in range(2000):
            sim.step()

    with pytest.raises(lw.SolverError, match="loses its contact"):
        go_on()
