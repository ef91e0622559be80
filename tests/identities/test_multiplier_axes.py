"""What one unit of each multiplier does: the table of docs/constraints/multipliers.md, constraint by constraint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from models import rotation, unit

import linkwork as lw
from linkwork.constraints.rows import constraint_set
from linkwork.steppers.rows_at import rows_at

RNG = np.random.default_rng(5)
AT = RNG.normal(size=3)  # where things meet, in the world
POSES = {name: lw.SE3(R=rotation(unit(RNG), 1.0 + k), p=RNG.normal(size=3)) for k, name in enumerate("abc")}
Wrench = tuple[Any, Any]  # force and moment about AT, in world axes


def wrenches(c: Any) -> list[dict[str, np.ndarray]]:
    """Of every row the wrench (moment about AT, force) of its unit force on each free body, in world axes."""
    b = lw.ModelBuilder()
    for name in POSES:
        b.body(name, joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    model = b.add(c).build()
    state = lw.MaximalState(np.array([E.matrix for E in POSES.values()]), np.zeros((3, 6)), np.tile([0, 0, 0, 1.0, 0, 0, 0], 3))
    rows = rows_at(model, state, 0.0)
    assert np.abs(rows.residual).max() < 1e-9
    out = []
    for weights in np.eye(constraint_set(model).count):
        body, joints = rows.rows.transposed(weights, 3, model.nv)
        assert not joints.any()
        moved = {}
        for (name, E), w in zip(POSES.items(), body, strict=True):
            force = E.R @ w[3:]
            moved[name] = np.concatenate([E.R @ w[:3] + np.cross(E.p - AT, force), force])
        out.append(moved)
    return out


def local(name: str, x: Any = AT) -> np.ndarray:
    return np.asarray(POSES[name].inverse() @ np.asarray(x), float)


def frame(name: str, F: lw.SE3) -> lw.SE3:
    """A frame of the world, in a body."""
    return POSES[name].inverse() @ F


def check(c: Any, name: str, other: str, expected: list[Wrench]) -> None:
    found = wrenches(c)
    assert len(found) == len(expected)
    for row, (force, moment) in zip(found, expected, strict=True):
        want = np.concatenate([moment, force])
        np.testing.assert_allclose(row[name], want, rtol=0, atol=1e-8)
        np.testing.assert_allclose(row[other], -want, rtol=0, atol=1e-8)


O = np.zeros(3)


def test_loop() -> None:
    check(lw.Loop("a", "b", local("a"), local("b")), "a", "b", [(e, O) for e in np.eye(3)])


AXIS = np.array([0.6, 0.0, 0.8])
F = lw.SE3(R=rotation(unit(RNG), 0.7), p=AT)
U = np.cross([0.0, 1.0, 0.0], AXIS)  # as x, y, z where the axis is z
U, V, W = (np.asarray(F.R @ x) for x in (U, np.cross(AXIS, U), AXIS))
X, Y, Z = F.R.T
POINT, TURNS = [(X, O), (Y, O), (Z, O)], [(O, X), (O, Y), (O, Z)]
LINE, PARALLEL = [(U, O), (V, O)], [(O, U), (O, V)]
CLOSURES: list[tuple[Any, list[Wrench]]] = [
    (lw.Fixed(), [*POINT, *TURNS]),
    (lw.Revolute(AXIS), [*POINT, *PARALLEL]),
    (lw.Prismatic(AXIS), [*LINE, *PARALLEL, (O, W)]),
    (lw.Cylindrical(AXIS), [*LINE, *PARALLEL]),
    (lw.Spherical(), POINT),
    (lw.SphericalExp(), POINT),
    (lw.Universal(), [*POINT, (O, np.cross(X, Y))]),
    (lw.Planar(), [POINT[2], *TURNS]),
    (lw.Free2D(), [POINT[2], *TURNS[:2]]),
    (lw.Translational(), TURNS),
]


@pytest.mark.parametrize(("joint", "expected"), CLOSURES, ids=[type(j).__name__ for j, _ in CLOSURES])
def test_closure(joint: Any, expected: list[Wrench]) -> None:
    check(lw.Closure(joint, "a", "b", frame("a", F), frame("b", F)), "b", "a", expected)


def test_closures_by_other_joints_have_unit_wrenches_that_do_not_work_along_the_joint() -> None:
    """(moment, force) in frame a, about its origin."""
    joint = lw.Helical(AXIS, pitch=0.2)
    found = wrenches(lw.Closure(joint, "a", "b", frame("a", F), frame("b", F)))
    T = np.array([[*(F.R.T @ row["b"][:3]), *(F.R.T @ row["b"][3:])] for row in found])
    np.testing.assert_allclose(T @ T.T, np.eye(5), atol=1e-9)
    np.testing.assert_allclose(T @ [*AXIS, *(0.2 * AXIS)], 0.0, atol=1e-9)


def test_points_on_curves_and_surfaces() -> None:
    at, direction = local("b"), unit(RNG)
    line = lw.Curve(lambda u, x, d: [x[k] + u * d[k] for k in range(3)], domain=(-1, 1), parameters={"x": at, "d": direction})
    first = np.cross(direction, line.aside)
    second = np.cross(direction, first)
    normals = [POSES["b"].R @ (n / np.linalg.norm(n)) for n in (first, second)]
    check(lw.PointOnCurve("a", local("a"), line, "b"), "a", "b", [(n, O) for n in normals])
    outward = POSES["b"].R @ direction
    check(lw.PointOnSurface("a", local("a"), lw.Plane(at, direction), "b"), "a", "b", [(outward, O)])


def test_touching() -> None:
    normal = unit(RNG)
    plane = lw.Plane(local("b"), POSES["b"].R.T @ normal)
    ball = lw.Sphere(0.3, center=local("a", AT + 0.3 * normal))
    check(lw.Contact("a", ball, "b", plane), "a", "b", [(normal, O)])
    check(lw.TangentSurfaces("a", ball, plane, "b"), "b", "a", [(-normal, O)])  # of surface_a, outward: into the plane


def test_touching_curves() -> None:
    normal = unit(RNG)
    aside = np.cross(normal, unit(RNG))
    along = aside / np.linalg.norm(aside)
    given = {"c": local("a", AT + 0.3 * normal), "n": POSES["a"].R.T @ normal, "d": POSES["a"].R.T @ along}

    def circle(u: Any, c: Any, n: Any, d: Any) -> list[Any]:
        return [c[k] + 0.3 * (n[k] * np.cos(u) + d[k] * np.sin(u)) for k in range(3)]

    at, way = local("b"), POSES["b"].R.T @ along
    line = lw.Curve(lambda u, x, d: [x[k] + u * d[k] for k in range(3)], domain=(-1, 1), parameters={"x": at, "d": way})
    law = lw.TangentCurves("a", lw.Curve(circle, (0.0, 2 * np.pi), given), line, "b")
    check(law, "b", "a", [(-normal, O)])  # outward of curve_a: into the line


def test_gear_and_twist() -> None:
    axis_a, axis_b, ratio = unit(RNG), unit(RNG), -2.5
    (row,) = wrenches(lw.Gear("a", "b", ratio, carrier="c", axis_a=axis_a, axis_b=axis_b))
    on_a, on_b = -ratio * POSES["a"].R @ axis_a, POSES["b"].R @ axis_b
    for name, moment in (("a", on_a), ("b", on_b), ("c", -on_a - on_b)):
        np.testing.assert_allclose(row[name], [*moment, 0, 0, 0], rtol=0, atol=1e-12)
    order = [1, 5, 3]
    found = wrenches(lw.PrescribedTwist("a", lambda t: (O, O, O, O), rows=order, frame=frame("a", F)))
    expected = [[*Y, *O], [*O, *Z], [*O, *X]]
    for row, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(row["a"], want, rtol=0, atol=1e-12)
        assert not row["b"].any()


def test_joint_forces() -> None:
    b = lw.ModelBuilder()
    for name in ("x", "y"):
        b.body(name, joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia(1.0))
    b.add(lw.Limit("x", -1.0, 1.0)).add(lw.PrescribedJoint("y", lambda t: (0.0, 0.0, 0.0))).add(lw.Coupling("x", "y", 3.0))
    model = b.build()
    rows = rows_at(model, lw.State(np.zeros(2), np.zeros(2)), 0.0).rows
    forces = rows.transposed(np.eye(4), 2, 2)[1]
    np.testing.assert_array_equal(forces, [[1, 0], [-1, 0], [0, 1], [1, -3]])  # in the order in which they were added
