"""Joints on splines in motion: energy, formulations against one another, batches, and smoothness where segments meet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from models import CUSTOM, SPLINES, control_frames, control_values, relative

import linkwork as lw

BLOCK = lw.Inertia(1.3, (0.1, 0.2, -0.1), np.diag([0.5, 0.7, 0.9]))
LINK = lw.Inertia.cuboid(mass=0.5, size=(0.4, 0.1, 0.1), com=(0.2, 0, 0))
MOVING: dict[str, lw.Joint] = {
    "closed spline": SPLINES["closed spline"],
    "closed surface": SPLINES["closed surface"],
    "torus": CUSTOM["torus"],
}


def pendulum(joint: lw.Joint) -> lw.Model:
    """A block on a joint, with a link that swings from it."""
    b = lw.ModelBuilder(gravity=(0, 0, -4.0)).body("block", joint=joint, placement=lw.SE3.rot_x(0.4), inertia=BLOCK)
    return b.body("link", parent="block", joint=lw.Revolute((0, 1, 0)), inertia=LINK).build()


def start(model: lw.Model) -> lw.State:
    rng = np.random.default_rng(3)
    return lw.State(model.random_configuration(4), 0.5 * rng.normal(size=model.nv))


@pytest.mark.parametrize("name", MOVING)
def test_energy(name: str) -> None:
    """Ten seconds, over many knots."""
    model = pendulum(MOVING[name])
    run = lw.simulate(model, start(model), 10.0, 0.02, stepper="dop853", rtol=1e-10, atol=1e-12)
    assert run.health.energy_drift is not None
    assert run.health.energy_drift < 1e-8
    assert np.ptp(run.q[:, 0]) > 1.0


@pytest.mark.parametrize("name", MOVING)
def test_reduced_and_maximal(name: str) -> None:
    """Short steps: across knots rk4 is of lower order, as third derivatives jump there."""
    model = pendulum(MOVING[name])
    runs = [lw.simulate(model, start(model), 1.0, 2.5e-4, method=m, stepper="rk4", every=400) for m in ("reduced", "maximal")]
    assert np.abs(runs[0].poses - runs[1].poses).max() < 1e-6
    assert np.abs(runs[0].poses[-1] - runs[0].poses[0]).max() > 0.1


WAYS: dict[str, dict[str, Any]] = {
    "symplectic_euler": {},
    "maximal": {"method": "maximal"},
    "maximal-implicit": {"method": "maximal-implicit"},
    "redmax": {"method": "redmax"},
    "bdf2": {"method": "redmax", "stepper": "bdf2"},
    "sdirk2": {"method": "redmax", "stepper": "sdirk2"},
    "rosenbrock": {"stepper": "rosenbrock"},
    "variational": {"stepper": "variational"},
    "ode45": {"stepper": "ode45"},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_step(way: str) -> None:
    """Each goes to the same place, and batches to the bit where single runs do."""
    model = pendulum(MOVING["closed spline"])
    s = start(model)
    best = lw.simulate(model, s, 0.2, 1e-2, stepper="dop853", rtol=1e-11, atol=1e-12).final
    run = lw.simulate(model, s, 0.2, 5e-4, every=400, **WAYS[way])
    assert np.abs(run.q[-1] - best.q).max() < 3e-3  # type: ignore[union-attr]
    if way != "ode45":
        both = lw.State(np.stack([s.q, s.q + 0.3]), np.stack([s.v, s.v]))
        batch = lw.simulate(model, both, 0.01, 5e-4, **WAYS[way])
        alone = lw.simulate(model, s, 0.01, 5e-4, **WAYS[way])
        assert np.array_equal(batch.q[0], alone.q)


@pytest.mark.parametrize("name", SPLINES)
def test_batches_are_single_states(name: str) -> None:
    """Forward dynamics in many lanes, in a few and in one; eager and compiled."""
    model = pendulum(SPLINES[name])
    rng = np.random.default_rng(1)
    q, v = np.array([model.random_configuration(k) for k in range(21)]), rng.normal(size=(21, model.nv))
    whole = lw.forward_dynamics(model, q, v)
    assert np.array_equal(whole[:3], lw.forward_dynamics(model, q[:3], v[:3]))
    assert np.array_equal(whole, [lw.forward_dynamics(model, *x) for x in zip(q, v, strict=True)])
    M = lw.mass_matrix(model, q[0])
    assert relative(M @ whole[0], -lw.inverse_dynamics(model, q[0], v[0], np.zeros(model.nv))) < 1e-10


# --- where segments meet ------------------------------------------------------------------------------------------------------
def jump(joint: lw.Joint, q: np.ndarray, k: int) -> list[float]:
    """How much pose, S and S_dot change across coordinate k at q."""
    a, b = q.copy(), q.copy()
    a[k], b[k] = np.nextafter(q[k], -99), np.nextafter(q[k], 99)
    v = np.linspace(0.5, 1.0, joint.nv)
    E, F = (joint.motion(x, v) for x in (a, b))
    found = (E.matrix - F.matrix, E.tangent.S - F.tangent.S, E.tangent.S_dot - F.tangent.S_dot)
    return [float(np.abs(np.asarray(x, float)).max()) for x in found]


@pytest.mark.parametrize("name", SPLINES)
def test_continuity(name: str) -> None:
    """Across knots: two derivatives of B-splines, one of Catmull-Rom, the value alone of Bezier segments."""
    joint = SPLINES[name]
    order = {"spline through frames": 2, "bezier spline": 1}.get(name, 3)
    rng = np.random.default_rng(0)
    for k, count in enumerate(np.atleast_1d(joint.segments)):  # type: ignore[attr-defined]
        for knot in range(1 - count if joint.cyclic[k] else 1, count):  # type: ignore[attr-defined]
            q = joint.random(rng)
            q[k] = knot
            found = jump(joint, q, k)
            assert max(found[:order]) < 1e-13
            assert order == 3 or found[order] > 1e-4


def test_a_closed_spline_closes() -> None:
    for name in ("closed spline", "closed surface"):
        joint: Any = SPLINES[name]
        q, period = joint.random(np.random.default_rng(2)), np.atleast_1d(joint.segments)
        for turns in (-3, 1, 1000):
            a, b = (np.asarray(joint.transform(x).matrix, float) for x in (q, q + turns * period))
            assert np.abs(a - b).max() < 1e-11
        assert np.abs(joint.difference(q, q + 5 * period + 0.1) - 0.1).max() < 1e-12


def test_bases() -> None:
    """Catmull-Rom passes through inner frames, Bezier through every third; equal steps give a screw of constant speed."""
    frames = control_frames(7, 7)
    through: Any = lw.SplineCurve(frames, basis="catmull-rom")
    bezier: Any = lw.SplineCurve(frames, basis="bezier")
    for k in range(5):
        assert np.abs(np.asarray(through.transform(np.array([k])).matrix, float) - frames[k + 1].matrix).max() < 1e-14
    for k in range(3):
        assert np.abs(np.asarray(bezier.transform(np.array([k])).matrix, float) - frames[3 * k].matrix).max() < 1e-14
    step = np.array([0.3, -0.2, 0.5, 0.1, 0.4, -0.2])
    even = [lw.SE3.exp(k * step) for k in range(6)]
    for basis in ("bspline", "catmull-rom"):
        motion = lw.SplineCurve(even, basis=basis).motion(np.array([1.3]), np.array([1.0]))
        assert np.abs(np.asarray(motion.tangent.S, float)[:, 0] - step).max() < 1e-14
        assert np.abs(np.asarray(motion.tangent.S_dot, float)).max() < 1e-14
        assert np.abs(np.asarray(motion.matrix, float) - lw.SE3.exp(2.3 * step).matrix).max() < 1e-14
    own = lw.SplineBasis(((1, -1), (0, 1)))  # straight from frame to frame
    lines = lw.SplineCurve(frames, basis=own)
    middle = frames[2] @ lw.SE3.exp(0.5 * (frames[2].inverse() @ frames[3]).log())
    assert np.abs(np.asarray(lines.transform(np.array([2.5])).matrix, float) - middle.matrix).max() < 1e-14


def test_frames_that_do_not_turn() -> None:
    """Steps without rotation, or with next to none, are as exact as others."""
    shifts = np.random.default_rng(0).normal(size=(6, 3))
    still = [lw.SE3(p=p) for p in shifts]
    for angle in (0.0, 1e-200, 1e-17, 1e-9):
        turned = [lw.SE3.rot_z(k * angle) @ E for k, E in enumerate(still)]
        motion = lw.SplineCurve(turned).motion(np.array([1.4]), np.array([1.0]))
        u = 0.4
        w = np.array([(1 - u) ** 3, 3 * u**3 - 6 * u**2 + 4, -3 * u**3 + 3 * u**2 + 3 * u + 1, u**3]) / 6
        assert np.abs(np.asarray(motion.p, float) - w @ shifts[1:5]).max() < 1e-15 + 10 * angle
        slope = np.array([-((1 - u) ** 2), 3 * u**2 - 4 * u, -3 * u**2 + 2 * u + 1, u**2]) / 2
        assert np.abs(np.asarray(motion.tangent.S, float)[3:, 0] - slope @ shifts[1:5]).max() < 1e-14 + 10 * angle


def test_one_kernel_for_any_number_of_frames() -> None:
    builder = lw.ModelBuilder()
    for k, n in enumerate((4, 5, 40)):
        builder.body(f"c{k}", joint=lw.SplineCurve(control_frames(k, n)), inertia=BLOCK)
        builder.body(f"s{k}", joint=lw.SplineSurface(control_values(k, n, 4 + k)), inertia=BLOCK)
    assert len({id(c) for c in builder.build().tree.classes}) == 2


def test_what_a_spline_costs() -> None:
    """Operations of forward dynamics per body in a chain, against those of universal joints."""
    from linkwork.kernel.lanes import Lanes
    from linkwork.reduced.forward import FORWARD_DYNAMICS

    def per_body(joint: lw.Joint) -> float:
        counts = []
        for n in (2, 4):
            b, parent = lw.ModelBuilder(), "world"
            for k in range(n):
                b.body(f"b{k}", parent=parent, joint=joint, placement=lw.SE3(p=(0.3, 0.1, 0.2)), inertia=BLOCK)
                parent = f"b{k}"
            phases = tuple(FORWARD_DYNAMICS.phases)
            counts.append(b.build().plan(FORWARD_DYNAMICS, Lanes(1), phases, ("external",)).flops)
        return 0.5 * (counts[1] - counts[0])

    universal = per_body(lw.Universal())
    for name in ("spline", "closed spline", "surface of one", "surface of two"):
        assert per_body(SPLINES[name]) < 3.0 * universal, name
