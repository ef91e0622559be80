"""Steps of symplectic Euler and linearly implicit ones do not depend on charts: joints by rotation vectors and Euler angles that
change theirs on the way, move as quaternions do, but for rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.joints.euler_charts import EulerCharts

ROD = lw.Inertia.cuboid(mass=1.0, size=(0.3, 0.06, 0.04), com=(0.15, 0, 0))
BLOCK = lw.Inertia(1.0, (0.1, -0.05, 0.2), np.diag([0.5, 0.8, 0.6]))
BALLS = [lw.SphericalExp(), lw.SphericalEuler("xyz", "xzx"), EulerCharts()]
CHARTED = [
    *BALLS,
    lw.SphericalExp(6.0),
    lw.SphericalEuler("yxy", "xzy"),
    lw.FreeExp("TR"),
    lw.FreeExp("RT"),
    lw.Composite(lw.Prismatic((0, 0.6, 0.8)), lw.SphericalExp()),
]
WAYS: dict[str, dict[str, Any]] = {
    "reduced": {"method": "reduced"},
    "redmax": {"method": "redmax"},
    "dense": {"method": "redmax", "stepper": "linearly_implicit", "route": "dense"},
    "one evaluation": {"method": "reduced", "evaluations": 1},
    "at the start": {"method": "reduced", "evaluations": 0},
}


def numeric(*arrays: Any) -> list[np.ndarray]:
    return [np.asarray(x, float) for x in arrays]


# --- joints ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("joint", CHARTED, ids=repr)
def test_accelerations_of_steady_motions(joint: lw.Joint) -> None:
    """S v_dot + S_dot v, either way."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        q, v, a = joint.random(rng), rng.normal(size=joint.nv), rng.normal(size=joint.nv)
        plain, steady = joint.motion(q, v).tangent, joint.steady_motion(q, v).tangent
        one, other = numeric(plain.S @ a + plain.bias, steady.S @ (a + joint.bend(q, v)) + steady.bias)
        assert np.abs(one - other).max() < 1e-12


@pytest.mark.parametrize("joint", [*BALLS, lw.SphericalExp(6.0)], ids=repr)
def test_balls_advance_along_their_angular_velocity(joint: lw.Joint) -> None:
    rng, changes = np.random.default_rng(4), 0
    q = joint.random(rng)
    for _ in range(600):
        way, v = rng.normal(scale=0.3, size=3), rng.normal(size=3)
        E, was = joint.motion(q, way), joint.motion(q, v).tangent.phi
        q_new, v_new = numeric(*joint.advance(q, way, v))
        there = joint.motion(q_new, v_new)
        expected = E.R @ lw.SE3.exp(E.tangent.phi).R
        assert np.abs(np.asarray(there.R - expected, float)).max() < 1e-14
        assert np.abs(np.asarray(there.tangent.phi - was, float)).max() < 1e-13
        changes += np.abs(q_new - q - np.resize(way, q.shape))[:3].max() > 1.0
        q = q_new
    assert changes > 1


# --- steps -------------------------------------------------------------------------------------------------------------------
def rods(joint: lw.Joint, *elements: object) -> lw.Model:
    """Four rods on ball joints."""
    b, parent = lw.ModelBuilder(), "world"
    for i in range(4):
        b.body(f"b{i}", parent=parent, joint=joint, placement=lw.SE3(p=(0.3 if i else 0, 0, 0)), inertia=ROD)
        parent = f"b{i}"
    for element in elements:
        b.add(element)
    return b.build()


def same_motion(make: Callable[[lw.Joint], lw.Model], joint: lw.Joint, v: Any, duration: float, **options: Any) -> None:
    """From the neutral position, where velocities of all these joints are angular velocities."""
    run, other = (
        lw.simulate(m, lw.State(m.neutral(), v), duration, 1e-3, every=10, **options) for m in map(make, (joint, lw.Spherical()))
    )
    assert np.abs(np.diff(run.q, axis=0)).max() > 0.9  # charts have changed
    assert np.abs(run.poses - other.poses).max() < 1e-9
    twists, others = (lw.kinematics(r.model, r.q, r.v).twists for r in (run, other))
    assert np.abs(twists - others).max() < 1e-8


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("joint", BALLS, ids=repr)
def test_rods_move_as_on_quaternions(joint: lw.Joint, way: str) -> None:
    v = 5.0 * np.random.default_rng(0).normal(size=12) + np.tile([6.0, 3.0, -4.0], 4)
    same_motion(rods, joint, v, 1.5, **WAYS[way])


LAWS: dict[str, tuple[object, ...]] = {
    "a spring": (lw.SpringDamper("b1", "world", (0.3, 0, 0), (0.2, 0.3, 0.1), stiffness=40.0, damping=0.3, rest_length=0.2),),
    "stiff": (lw.SpringDamper("b3", "b0", (0.3, 0, 0), (0.1, 0, 0), stiffness=500.0, damping=5.0, rest_length=0.5),),
    "a plane": (lw.constraint("b1", lambda E, t: E[0].p[2]),),
    "ground": (lw.Contact("b3", lw.Sphere(0.1, (0.15, 0, 0)), shape_b=lw.Plane((0, 0, -0.4)), friction=0.4),),
    "rubbing": (lw.JointFriction("b2", 0.3, radius=0.02),),
}


@pytest.mark.parametrize("way", ["reduced", "redmax"])
@pytest.mark.parametrize("laws", LAWS)
@pytest.mark.parametrize("joint", [lw.SphericalExp(), lw.SphericalEuler("xyz", "xzx")], ids=repr)
def test_rods_under_laws_move_as_on_quaternions(joint: lw.Joint, laws: str, way: str) -> None:
    v = np.zeros(12)
    v[::3] = (12.0, -5.0, 8.0, -20.0)  # about their own axes
    same_motion(lambda j: rods(j, *LAWS[laws]), joint, v, 0.6, **WAYS[way])


@pytest.mark.parametrize("way", ["reduced", "redmax"])
@pytest.mark.parametrize("joint", CHARTED, ids=repr)
def test_drives_act_on_rates_of_coordinates(joint: lw.Joint, way: str) -> None:
    """Armature and damping do, whatever steps are taken in: these tend to the motion that accelerations say."""
    b = lw.ModelBuilder()
    b.body("base", joint=lw.Revolute((1, 0, 0)), inertia=BLOCK)
    b.body("arm", parent="base", joint=joint, placement=lw.SE3(p=(0.3, 0, 0.1)), inertia=BLOCK, armature=0.7, damping=0.4)
    model = b.build()
    state = lw.State(model.random_configuration(3), np.linspace(-2.0, 2.0, model.nv))
    truth = lw.simulate(model, state, 0.1, 0.1, stepper="dop853", rtol=1e-11, atol=1e-12).poses[-1]
    coarse, fine = (lw.simulate(model, state, 0.1, h, every=round(0.1 / h), **WAYS[way]).poses[-1] for h in (1e-3, 5e-4))
    assert np.abs(2 * fine - coarse - truth).max() < 2e-6
    assert np.abs(fine - truth).max() > 2e-5
