"""Bad input of contacts, in one table: every error names the element, the value and the rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw

NAN, INF = float("nan"), float("inf")
POSITIVE, ABSURD = "must be positive", "is absurd; lengths are metres, from"
CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
FACES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
                  [1, 5, 7], [1, 7, 3]])  # fmt: skip
CYLINDER = lw.Cylinder(0.1, 1.0)
BALL = np.random.default_rng(0).normal(size=(40, 3))
BALL /= np.linalg.norm(BALL, axis=1, keepdims=True)
MANY = np.random.default_rng(1).normal(size=(90, 3))
MANY /= np.linalg.norm(MANY, axis=1, keepdims=True)
FLAT = CORNERS * (1.0, 1.0, 0.0)


def wheel() -> lw.Model:
    b = lw.ModelBuilder().body("wheel", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.sphere(mass=2.0, radius=0.1))
    return b.build()


def body(*shapes: Any, **given: Any) -> lw.Model:
    b = lw.ModelBuilder()
    b.ground(friction=0.5)
    b.body("brick", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=1.0, radius=0.1), shapes=list(shapes), **given)
    return b.build()


def sim(q: Any = None, v: Any = None, **options: Any) -> lw.Trajectory:
    start = np.array([0, 0, 0.5, 1, 0, 0, 0]) if q is None else np.array(q, float)
    return lw.simulate(body(lw.Sphere(0.1)), lw.State(start, np.zeros(6) if v is None else np.array(v, float)), 0.01, **options)


def crowd(count: int, **options: Any) -> lw.Trajectory:
    """Boxes that may all touch one another."""
    b = lw.ModelBuilder()
    for k in range(count):
        b.body(f"box{k}", joint=lw.Free(), shapes=[lw.Box((0.1, 0.1, 0.1), mass=1.0, friction=0.5)])
    model = b.build()
    return lw.simulate(model, lw.State(model.neutral(), np.zeros(model.nv)), 0.01, **options)


def lumps() -> lw.Trajectory:
    """Two hulls with more corners than compiled pairs have slots for."""
    b = lw.ModelBuilder()
    for name in ("one", "two"):
        b.body(name, joint=lw.Free(), shapes=[lw.Convex(BALL, mass=1.0)])
    model = b.build()
    return lw.simulate(model, lw.State(model.neutral(), np.zeros(model.nv)), 0.01, contact="compliant")


def excluded() -> lw.Model:
    b = lw.ModelBuilder().exclude("stone", "brick")
    b.body("brick", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=1.0, radius=0.1))
    return b.build()


def turned(*shape: Any) -> Any:
    return lw.Box((1, 1, 1), lw.SE3(R=np.array(shape, float), p=np.zeros(3)))


TABLE: dict[str, tuple[Callable[[], Any], str]] = {
    # poses
    "pose with NaN": (lambda: lw.Box((1, 1, 1), lw.SE3(p=np.array([0, NAN, 0])), name="lid"), "lid: its pose is not finite"),
    "rotation with NaN": (lambda: turned([1, 0, 0], [0, NAN, 0], [0, 0, 1]), "Box: its pose is not finite"),
    "pose that is no rotation": (
        lambda: turned([2, 0, 0], [0, 1, 0], [0, 0, 1]),
        "Box: the rotation of its pose is not a rotation",
    ),
    "pose that mirrors": (lambda: turned([-1, 0, 0], [0, 1, 0], [0, 0, 1]), "Box: the rotation of its pose is not a rotation"),
    "pose that is none": (lambda: lw.Capsule(0.1, 1.0, (0, 0, 0)), "Capsule: pose must be an SE3, not tuple"),  # type: ignore
    "centre with NaN": (lambda: lw.Sphere(1.0, (0, 0, NAN)), r"Sphere.*center must be three finite numbers, not \(0, 0, nan\)"),
    "plane without normal": (lambda: lw.Plane((0, 0, 0), (0, 0, 0)), "Plane.*normal"),
    "plane with NaN": (lambda: lw.Plane((0, 0, 0), (0, 0, NAN)), "Plane.*normal must be three finite numbers"),
    "start with NaN": (lambda: sim([0, NAN, 0.5, 1, 0, 0, 0]), "state.q is not finite|not finite"),
    "speed with NaN": (lambda: sim(v=[0, 0, 0, 0, NAN, 0]), "state.v is not finite|not finite"),
    # sizes
    **{
        f"{name} of size {value}": (make, f"{name}.*{rule}")
        for value, rule in ((0.0, POSITIVE), (-1.0, POSITIVE), (NAN, POSITIVE), (INF, POSITIVE), (1e12, ABSURD), (1e-12, ABSURD))
        for name, make in (
            ("Sphere", lambda value=value: lw.Sphere(value)),
            ("Box", lambda value=value: lw.Box((1.0, value, 1.0))),
            ("Capsule", lambda value=value: lw.Capsule(value, 1.0)),
            ("Cylinder", lambda value=value: lw.Cylinder(0.1, value)),
            ("Ellipsoid", lambda value=value: lw.Ellipsoid((0.1, 0.1, value))),
        )
    },
    "box of two edges": (lambda: lw.Box((1.0, 1.0)), "Box: the size must be three lengths"),
    "field of one row": (lambda: lw.HeightField(np.zeros((1, 5)), (1.0, 1.0)), "HeightField: heights must be finite .* 2 x 2"),
    "field with NaN": (
        lambda: lw.HeightField(np.full((3, 3), NAN), (1.0, 1.0)),
        "HeightField: 9 of its 9 heights are not finite",
    ),
    # meshes and hulls
    "hull of points in a plane": (lambda: lw.Convex(FLAT), "Convex: its 8 points lie in a plane"),
    "hull of three points": (lambda: lw.Convex(CORNERS[:3]), r"Convex: points must have shape .* not \(3, 3\)"),
    "hull with NaN": (lambda: lw.Convex(np.where(CORNERS > 0, CORNERS, NAN)), "Convex: 7 of its 8 points are not finite"),
    "open mesh": (lambda: body(lw.Mesh(CORNERS, FACES[1:], name="crate")), "crate.*not closed: 3 open edges"),
    "mesh inside out": (lambda: body(lw.Mesh(CORNERS, FACES[:, ::-1], name="crate")), "crate.*face inward"),
    "mesh with one triangle turned": (
        lambda: body(lw.Mesh(CORNERS, np.vstack([FACES[:1, ::-1], FACES[1:]]), name="crate")),
        "crate: triangles disagree about the outside at 3 edges",
    ),
    "flat mesh": (lambda: body(lw.Mesh(FLAT, FACES, name="crate")), "crate.*encloses no volume"),
    "mesh of absurd size": (lambda: body(lw.Mesh(1e-12 * CORNERS, FACES, name="crate")), "crate.*is absurd"),
    "mesh with NaN": (lambda: body(lw.Mesh(np.where(CORNERS > 0, CORNERS, NAN), FACES, name="crate")), "crate.*finite"),
    "mesh with a face that points nowhere": (lambda: body(lw.Mesh(CORNERS, FACES + 5, name="crate")), "crate"),
    # coefficients
    **{
        f"{owner} with {what} {value}": (
            lambda make=make, what=what, value=value: make(**{what: value}),
            f"{owner}.*{what} must be",
        )
        for what, values in (("friction", (-0.1, NAN, INF, "rough")), ("restitution", (-0.1, 1.1, NAN, INF, "hard")))
        for value in values
        for owner, make in (
            ("Sphere", lambda **given: lw.Sphere(0.1, **given)),
            ("tyre", lambda **given: lw.Cylinder(0.1, 0.1, name="tyre", **given)),
            ("Contact", lambda **given: lw.Contact("a", lw.Sphere(0.1), **given)),
            ("PointOnSurface", lambda **given: lw.PointOnSurface("a", (0, 0, 0), lw.Plane(), unilateral=True, **given)),
            ("TangentSurfaces", lambda **given: lw.TangentSurfaces("a", lw.Sphere(0.1), lw.Plane(), unilateral=True, **given)),
        )
    },
    **{
        f"compliant {what} {value}": (
            lambda what=what, value=value: lw.CompliantContact("a", lw.Sphere(0.1), **({"stiffness": 1e4} | {what: value})),
            f"CompliantContact: {what} must be",
        )
        for what, values in (
            ("stiffness", (0.0, -1.0, NAN)),
            ("damping", (-1.0, NAN, INF)),
            ("friction", (-0.1, NAN)),
            ("slip_speed", (0.0, NAN)),
        )
        for value in values
    },
    # contacts
    "no shape": (lambda: lw.Contact("a", "box"), "Contact.*'box' is no shape"),  # type: ignore[arg-type]
    "no shape in a list": (lambda: body("box"), "brick.*'box'|brick.*str"),
    "compliant without shape": (lambda: lw.CompliantContact("a", 3, stiffness=1.0), "CompliantContact: 3 is no shape"),  # type: ignore
    "no such body": (lambda: body().add(lw.Contact("stone", lw.Sphere(0.1))), "Contact.*there is no body 'stone'"),
    "no such body, compliant": (
        lambda: body().add(lw.CompliantContact("stone", lw.Sphere(0.1), stiffness=1.0)),
        "CompliantContact.*there is no body 'stone'",
    ),
    "contact with itself": (lambda: body().add(lw.Contact("brick", lw.Sphere(0.1), "brick", lw.Sphere(0.1))), "Contact.*itself"),
    "pair without function": (
        lambda: lw.Contact("a", CYLINDER, "b", CYLINDER),
        "cylinder and cylinder is not compiled",
    ),
    "hull of too many corners": (
        lambda: lw.Contact("a", lw.Convex(BALL), "b", lw.Convex(BALL)),
        "convex is not compiled: hulls have",
    ),
    "hull of too many corners on a plane": (lambda: lw.Contact("a", lw.Convex(MANY)), "have at most 64 vertices there; give"),
    "more corners than slots in a run": (lambda: lumps(), "convex and convex is found by Coal, which contact='compliant'"),
    "exclusion of nobody": (lambda: excluded(), "'stone'"),
    # runs
    "more rows than fit": (
        lambda: crowd(150),
        "11175 pairs of shapes may touch, in 402300 rows; at most 400000 fit: exclude pairs",
    ),
    "a crowd of an implicit method": (lambda: crowd(14, method="redmax"), "with stepper='symplectic_euler' alone"),
    "a crowd put back": (lambda: crowd(14, stabilise="project"), "with stepper='symplectic_euler' alone"),
    "unknown model of contact": (lambda: sim(contact="sticky"), "contact must be one of 'exact', .*'off', not 'sticky'"),
    "stiffness of hard contacts": (lambda: sim(contact_stiffness=1e4), "contact='compliant'; it is 'exact'"),
    "negative stiffness": (
        lambda: sim(contact="compliant", contact_stiffness=-1.0),
        "CompliantContact: stiffness must be above 0",
    ),
    "friction at accelerations": (
        lambda: lw.contact_forces(wheel().add(lw.JointFriction("wheel", 0.2, radius=0.01)), np.zeros(1), np.zeros(1)),
        r"JointFriction\('wheel'\): its rows are bounded by what joints carry, which accelerations do not know",
    ),
    "stops that accelerations do not know": (
        lambda: lw.constrained_dynamics(body(), np.eye(7)[3], np.zeros(6), limit_model="spring"),
        "limit_model must be one of 'hard', 'off', not 'spring'",
    ),
    "stepper without friction": (lambda: sim(stepper="rk4"), "the stepper 'rk4' does not know friction of contacts; these do"),
}


@pytest.mark.parametrize("case", TABLE)
def test_an_error_names_element_value_and_rule(case: str) -> None:
    call, message = TABLE[case]
    with pytest.raises((lw.ModelError, lw.InputError), match=message):
        call()
