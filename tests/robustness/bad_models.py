"""Models that cannot be: inertias, joints, frames, names, trees, properties, shapes."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from cases import INF, MIRRORED, NAN, ROD, STRETCHED, arm, at_rest, bad, two

import linkwork as lw

FLAT = np.diag([1.0, 1.0, 3.0])
SKEW = np.eye(3) + 0.1 * np.eye(3, k=1)
SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]


def point_mass(com: tuple[float, float, float], joint: lw.Joint) -> lw.Model:
    return lw.ModelBuilder().body("bob", joint=joint, inertia=lw.Inertia(1.0, com), joint_name="pin").build()


def formula(transform: Any, nv: int = 1) -> lw.Model:
    joint = lw.joint(transform, nv=nv, name="cam")
    return lw.ModelBuilder().body("follower", joint=joint, inertia=ROD, joint_name="cam").build()


def accelerate(model: lw.Model, q: Any) -> Any:
    return lw.forward_dynamics(model, q, np.zeros(model.nv), np.zeros(model.nv))


def moody() -> Any:
    """A transform that is not the same function from its fourth call on."""
    calls = [0]

    def transform(q: Any) -> lw.SE3:
        calls[0] += 1
        return lw.SE3.rot_y(q[0] + 0.1 * calls[0])

    return transform


def rigid_up_to(q: Any) -> lw.SE3:
    """A turn about y that stretches beyond 3.5 rad, where no joint is probed."""
    c, s, size = np.cos(q[0]), np.sin(q[0]), 1.0 + lw.math.maximum(q[0] - 3.5, 0.0)
    return lw.SE3(R=[[size * c, 0.0, size * s], [0.0, size, 0.0], [-size * s, 0.0, size * c]])


def rejointed() -> lw.Model:
    """A body with the properties of a hinge on a ball joint."""
    body = two().bodies[0]
    return lw.Model((dataclasses.replace(body, joint=lw.Spherical()),), np.zeros(3))


MODELS = {
    # --- properties
    "properties of another joint": bad(rejointed, "joint", "shape (1,)", "(4,)"),
    # --- inertia
    "mass zero": bad(lambda: lw.Inertia(0.0), "mass", "0", "positive"),
    "mass negative": bad(lambda: lw.Inertia(-2.0), "mass", "-2", "positive"),
    "mass nan": bad(lambda: lw.Inertia(NAN), "mass", "nan", "finite"),
    "mass inf": bad(lambda: lw.Inertia(INF), "mass", "inf", "finite"),
    "mass text": bad(lambda: lw.Inertia("1 kg"), "mass", "1 kg", "number"),  # type: ignore[arg-type]
    "mass text of a number": bad(lambda: lw.Inertia("1.5"), "mass", "1.5", "number"),  # type: ignore[arg-type]
    "mass bool": bad(lambda: lw.Inertia(True), "mass", "True", "number"),
    "mass none": bad(lambda: lw.Inertia(None), "mass", "None", "number"),  # type: ignore[arg-type]
    "mass complex": bad(lambda: lw.Inertia(1 + 0j), "mass", "1+0j", "number"),  # type: ignore[arg-type]
    "mass list": bad(lambda: lw.Inertia([1.0]), "mass", "shape"),  # type: ignore[arg-type]
    "com nan": bad(lambda: lw.Inertia(1.0, (0, NAN, 0)), "com", "nan", "finite"),
    "com of two": bad(lambda: lw.Inertia(1.0, (0, 0)), "com", "(2,)", "(3,)"),
    "com complex": bad(lambda: lw.Inertia(1.0, np.array([1j, 0, 0])), "com", "number"),
    "com dates": bad(lambda: lw.Inertia(1.0, np.array(["2020-01-01"] * 3, "M8[D]")), "com", "number"),
    "com durations": bad(lambda: lw.Inertia(1.0, np.array([1, 2, 3], "m8[s]")), "com", "number"),
    "com ragged": bad(lambda: lw.Inertia(1.0, [[1], [2, 3], 4]), "com", "number"),
    "com dictionary": bad(lambda: lw.Inertia(1.0, {"x": 1}), "com", "number"),
    "com of texts": bad(lambda: lw.Inertia(1.0, ("0", "1", "0")), "com", "number"),
    "tensor triangle": bad(lambda: lw.Inertia(1.0, tensor=FLAT), "1, 1, 3", "triangle inequality"),
    "tensor skewed": bad(lambda: lw.Inertia(1.0, tensor=SKEW), "tensor", "not symmetric"),
    "tensor negative": bad(lambda: lw.Inertia(1.0, tensor=-np.eye(3)), "negative principal moment", "-1"),
    "tensor diagonal only": bad(lambda: lw.Inertia(1.0, tensor=(1, 1, 1)), "tensor", "(3,)", "(3, 3)"),
    "tensor inf": bad(lambda: lw.Inertia(1.0, tensor=np.diag([INF, 1, 1])), "tensor", "inf", "finite"),
    "cuboid flat": bad(lambda: lw.Inertia.cuboid(1.0, (1, 0, 1)), "cuboid size", "0", "positive"),
    "sphere of negative radius": bad(lambda: lw.Inertia.sphere(1.0, -0.1), "sphere radius", "-0.1", "positive"),
    "principal axes mirrored": bad(lambda: lw.Inertia.from_moments(1, (0, 0, 0), (1, 1, 1), MIRRORED.R), "left-handed"),
    "combined of nothing": bad(lambda: lw.Inertia.combined([]), "combined", "no mass"),
    "point mass on its axis": bad(
        lambda: accelerate(point_mass((0, 0, 0.5), lw.Revolute((0, 0, 1))), [0.3]), "bob", "pin", "q = [0.0]", "armature"
    ),
    "point mass nearly on its axis": bad(
        lambda: accelerate(point_mass((1e-13, 0, 0.5), lw.Revolute((0, 0, 1))), [0.3]), "bob", "pin", "armature"
    ),
    "point mass on its axis, simulated": bad(
        lambda: lw.simulate(m := point_mass((0, 0, 0.5), lw.Revolute((0, 0, 1))), at_rest(m), 0.01, 1e-3),
        "bob",
        "pin",
        "armature",
    ),
    "point mass on its axis, maximal": bad(
        lambda: lw.simulate(m := point_mass((0, 0, 0.5), lw.Revolute((0, 0, 1))), at_rest(m), 0.01, 1e-3, "maximal"), "bob"
    ),
    "point mass on its axis, redmax": bad(
        lambda: lw.simulate(m := point_mass((0, 0, 0.5), lw.Revolute((0, 0, 1))), at_rest(m), 0.01, 1e-3, "redmax"), "bob", "pin"
    ),
    "point mass on a ball joint": bad(
        lambda: accelerate(point_mass((0, 0, 0.5), lw.Spherical()), [1, 0, 0, 0]), "bob", "pin", "armature"
    ),
    "rod on a free joint": bad(
        lambda: accelerate(
            lw.ModelBuilder()
            .body("needle", joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=np.diag([1.0, 1.0, 0.0])), joint_name="air")
            .build(),
            [0, 0, 0, 1, 0, 0, 0],
        ),
        "needle",
        "air",
    ),
    # --- joints
    "axis zero": bad(lambda: lw.Revolute((0, 0, 0)), "Revolute", "axis", "0", "unit vector"),
    "axis long": bad(lambda: lw.Prismatic((0, 1, 1)), "Prismatic", "axis", "1.41421", "unit vector"),
    "axis nan": bad(lambda: lw.Revolute((0, NAN, 1)), "Revolute", "axis", "nan", "finite"),
    "axis text": bad(lambda: lw.Revolute("z"), "Revolute", "axis", "'z'", "number"),
    "axis of texts": bad(lambda: lw.Revolute(("0", "0", "1")), "Revolute", "axis", "number"),
    "axis of four": bad(lambda: lw.Cylindrical((0, 0, 1, 0)), "Cylindrical", "axis", "3", "(4,)"),
    "axis complex": bad(lambda: lw.Revolute(np.array([0, 0, 1j])), "Revolute", "axis", "number"),
    "axis bool": bad(lambda: lw.Revolute((False, False, True)), "Revolute", "axis", "number"),
    "pitch inf": bad(lambda: lw.Helical((0, 0, 1), INF), "Helical", "pitch", "inf", "finite"),
    "pitch text": bad(lambda: lw.Helical((0, 0, 1), "fine"), "Helical", "pitch", "'fine'", "number"),  # type: ignore[arg-type]
    "euler sequence": bad(lambda: lw.SphericalEuler("xyy"), "SphericalEuler", "xyy"),
    "euler sequence letters": bad(lambda: lw.SphericalEuler("abc"), "SphericalEuler", "abc"),
    "free order": bad(lambda: lw.FreeExp("XY"), "FreeExp", "XY", "TR"),
    "composite of a text": bad(lambda: lw.Composite(lw.Revolute(), "z"), "Composite", "'z'", "joint"),  # type: ignore[arg-type]
    "composite of one axis": bad(lambda: lw.Composite(lw.Revolute(), lw.Revolute()), "Composite", "not independent"),
    "composite of seven": bad(lambda: lw.Composite(lw.Free(), lw.Revolute()), "Composite", "7", "six"),
    "composite between": bad(lambda: lw.Composite(lw.Revolute(), lw.Prismatic(), np.eye(4)), "Composite", "SE3"),  # type: ignore[arg-type]
    "composite between stretched": bad(lambda: lw.Composite(lw.Revolute(), lw.Prismatic(), STRETCHED), "Composite", "rotation"),
    "formula of nothing": bad(lambda: lw.joint(lambda q: lw.SE3(), nv=1, name="cam"), "cam", "independent"),
    "formula nv": bad(lambda: lw.joint(lambda q: lw.SE3(), nv=7, name="cam"), "cam", "nv", "7"),
    "formula nv text": bad(lambda: lw.joint(lambda q: lw.SE3(), nv="1", name="cam"), "cam", "nv", "'1'"),  # type: ignore[arg-type]
    "formula of a matrix": bad(lambda: lw.joint(lambda q: np.eye(4), nv=1, name="cam"), "cam", "SE3", "ndarray"),  # type: ignore[arg-type]
    "formula stretched": bad(
        lambda: lw.joint(lambda q: lw.SE3(R=np.eye(3) * (1.0 + q[0])), nv=1, name="cam"), "cam", "[0.1]", "not a rotation"
    ),
    "formula rigid at the probed points only": bad(lambda: accelerate(formula(rigid_up_to), [4.0]), "cam", "4", "rotation"),
    "formula that changes": bad(lambda: lw.joint(moody(), nv=1, name="cam"), "cam", "call to call"),
    "formula random": bad(
        lambda: lw.joint(lambda q: lw.SE3.rot_y(q[0] + np.random.default_rng().random()), nv=1, name="cam"), "cam", "call to call"
    ),
    "formula fails": bad(lambda: lw.joint(lambda q: lw.SE3.rot_y(q[2]), nv=1, name="cam"), "cam", "[0.1]", "failed"),
    "formula of math.sin": bad(lambda: lw.joint(lambda q: lw.SE3.rot_y(math.sin(q[0])), nv=1, name="cam"), "cam", "np.sin"),
    "formula with if": bad(
        lambda: accelerate(formula(lambda q: lw.SE3.rot_y(q[0] if q[0] > 0 else 2 * q[0])), [0.3]), "lw.math.where"
    ),
    "rank lost at 0": bad(lambda: accelerate(formula(lambda q: lw.SE3.rot_y(q[0] ** 2)), [0.0]), "follower", "cam", "0", "rank"),
    "rank lost at 0, simulated": bad(
        lambda: lw.simulate(m := formula(lambda q: lw.SE3.rot_y(q[0] ** 2)), at_rest(m), 0.01, 1e-3), "cam", "0", "rank"
    ),
    "gimbal lock": bad(
        lambda: accelerate(
            lw.ModelBuilder().body("top", joint=lw.SphericalEuler("xyz"), inertia=ROD, joint_name="gimbal").build(),
            [0.2, np.pi / 2, 0.1],
        ),
        "top",
        "gimbal",
        "rank",
    ),
    "four-bar that cannot close": bad(lambda: lw.FourBar(((0, 0, 0), (0, 0, 0)), ((0, 0, 0), (1, 0, 0))), "FourBar"),
    "spline of one frame": bad(lambda: lw.SplineCurve([lw.SE3()]), "SplineCurve"),
    "spline of numbers": bad(lambda: lw.SplineCurve([1, 2, 3, 4]), "SplineCurve"),
    "spline basis": bad(lambda: lw.SplineCurve([lw.SE3()] * 5, basis="bsplin"), "bsplin", "bspline"),
    "domain upside down": bad(lambda: lw.joint(lambda q: lw.SE3.rot_y(q[0]), nv=1, name="cam", domain=(1, -1)), "cam", "domain"),
    "period negative": bad(lambda: lw.joint(lambda q: lw.SE3.rot_y(q[0]), nv=1, name="cam", periodic=-1), "cam", "period"),
    # --- frames
    "placement stretched": bad(lambda: arm(placement=STRETCHED), "arm", "rotation", "3"),
    "placement mirrored": bad(lambda: arm(placement=MIRRORED), "arm", "rotation"),
    "placement nan": bad(lambda: arm(placement=lw.SE3(p=(0, NAN, 0))), "nan", "finite"),
    "placement tuple": bad(lambda: arm(placement=(0, 0, 1)), "arm", "placement", "SE3"),
    "frame on no body": bad(lambda: arm().frame("tip", body="arn").build(), "tip", "'arn'", "did you mean 'arm'"),
    "frame twice": bad(lambda: arm().frame("tip", body="arm").frame("tip", body="arm"), "tip"),
    "frame stretched": bad(lambda: arm().frame("tip", body="arm", placement=STRETCHED), "tip", "rotation"),
    "SE3 of texts": bad(lambda: lw.SE3(p=("a", "b", "c")), "position", "number"),
    "SE3 complex": bad(lambda: lw.SE3(p=np.array([1j, 0, 0])), "position", "number"),
    "SE3 of two": bad(lambda: lw.SE3(p=(1, 2)), "position", "3"),
    "SE3 rotation shape": bad(lambda: lw.SE3(R=np.eye(2)), "rotation", "3"),
    "SE3 ragged": bad(lambda: lw.SE3(R=[[1, 0, 0], [0, 1], [0, 0, 1]]), "rotation"),
    "SE3 dates": bad(lambda: lw.SE3(p=np.array(["2020-01-01"] * 3, "M8[D]")), "position", "number"),
    "SE3 dictionary": bad(lambda: lw.SE3(p={"x": 1}), "position", "number"),
    "quaternion of norm 2": bad(lambda: arm(placement=lw.SE3.rot_quat((1, 1, 1, 1))), "rotation"),
    "rotation about a long axis": bad(lambda: arm(placement=lw.SE3.rot_axis((0, 3, 4), 0.3)), "rotation"),
    # --- names and trees
    "name empty": bad(lambda: lw.ModelBuilder().body("", joint=lw.Fixed(), inertia=ROD), "name", "''"),
    "name world": bad(lambda: lw.ModelBuilder().body("world", joint=lw.Fixed(), inertia=ROD), "name", "'world'"),
    "name number": bad(lambda: lw.ModelBuilder().body(3, joint=lw.Fixed(), inertia=ROD), "name", "3"),  # type: ignore[arg-type]
    "name twice": bad(lambda: arm().body("arm", joint=lw.Fixed(), inertia=ROD), "'arm'", "twice"),
    "joint name twice": bad(
        lambda: arm(joint_name="pin").body("b", joint=lw.Fixed(), inertia=ROD, joint_name="pin"), "'pin'", "twice"
    ),
    "own parent": bad(lambda: lw.ModelBuilder().body("a", parent="a", joint=lw.Fixed(), inertia=ROD).build(), "'a'", "cycle"),
    "cycle of parents": bad(
        lambda: (
            lw.ModelBuilder()
            .body("a", parent="b", joint=lw.Fixed(), inertia=ROD)
            .body("b", parent="a", joint=lw.Fixed(), inertia=ROD)
            .build()
        ),
        "'a'",
        "'b'",
        "cycle",
    ),
    "parent misspelt": bad(
        lambda: arm().body("hand", parent="amr", joint=lw.Fixed(), inertia=ROD).build(), "hand", "'amr'", "did you mean 'arm'"
    ),
    "parent number": bad(
        lambda: arm().body("hand", parent=0, joint=lw.Fixed(), inertia=ROD).build(),  # type: ignore[arg-type]
        "hand",
        "parent",
        "0",
    ),
    "parent list": bad(
        lambda: arm().body("hand", parent=["arm"], joint=lw.Fixed(), inertia=ROD).build(),  # type: ignore[arg-type]
        "hand",
        "parent",
    ),
    "no bodies": bad(lambda: lw.ModelBuilder().build(), "no bodies"),
    "joint class": bad(lambda: arm(joint=lw.Revolute), "arm", "joint", "type"),
    "joint missing": bad(lambda: lw.ModelBuilder().body("a", joint=None, inertia=ROD), "'a'", "joint", "NoneType"),  # type: ignore[arg-type]
    "inertia number": bad(lambda: arm(inertia=1.0), "arm", "inertia", "float"),
    "inertia missing": bad(lambda: arm(inertia=None), "arm", "inertia"),
    "gravity number": bad(lambda: lw.ModelBuilder(gravity=-9.81), "gravity", "-9.81", "three"),
    "gravity nan": bad(lambda: lw.ModelBuilder(gravity=(0, 0, NAN)), "gravity", "nan", "finite"),
    "gravity text": bad(lambda: lw.ModelBuilder(gravity="down"), "gravity", "'down'", "three"),
    "gravity of texts": bad(lambda: lw.ModelBuilder(gravity=("0", "0", "-9.81")), "gravity", "three"),
    "gravity complex": bad(lambda: lw.ModelBuilder(gravity=(0, 0, 1j)), "gravity", "three"),
    "gravity bool": bad(lambda: lw.ModelBuilder(gravity=(False, False, True)), "gravity", "three"),
    "gravity replaced by nan": bad(lambda: two().replace(gravity=(0, 0, NAN)), "gravity", "nan"),
    "gravity of a model by hand": bad(lambda: lw.Model(two().bodies, np.array([0, 0, NAN])), "gravity", "nan"),
    "gravity of a model by hand, shape": bad(lambda: lw.Model(two().bodies, np.zeros(2)), "gravity", "three"),
    "bodies out of order": bad(lambda: lw.Model(two().bodies[::-1], np.zeros(3)), "lower", "parent"),
    "exclude misspelt": bad(lambda: arm().exclude("arm", "hnd").build(), "'hnd'"),
    "exclude number": bad(lambda: arm().exclude("arm", 3).build(), "3", "name"),  # type: ignore[arg-type]
    "add a text": bad(lambda: arm().add("spring"), "str"),
    "add a class": bad(lambda: arm().add(lw.SpringDamper).build(), "SpringDamper"),
    "keyframe of another model": bad(lambda: arm().keyframe("home", lw.State(np.zeros(3), np.zeros(3))).build(), "home", "(3,)"),
    "keyframe nan": bad(lambda: arm().keyframe("home", lw.State([NAN], [0])).build(), "nan"),
    # --- properties
    "property misspelt": bad(lambda: arm(dampng=1.0), "arm", "'dampng'", "did you mean 'damping'"),
    "limits upside down": bad(lambda: arm(limits=(1, -1)), "arm", "1", "-1", "above"),
    "limits nan": bad(lambda: arm(limits=(NAN, 1)), "arm", "limits", "nan"),
    "limits of one": bad(lambda: arm(limits=(1,)), "arm", "limits", "(lower, upper)"),
    "limits text": bad(lambda: arm(limits=("a", "b")), "arm", "limits", "'a'", "number"),
    "limits of texts of numbers": bad(lambda: arm(limits=("-1", "1")), "arm", "limits", "number"),
    "limits of a fixed joint": bad(lambda: arm(joint=lw.Fixed(), limits=([1], [2])), "arm", "limits"),
    "damping negative": bad(lambda: arm(damping=-0.1), "arm", "damping", "-0.1", "negative"),
    "damping inf": bad(lambda: arm(damping=INF), "arm", "damping", "inf", "finite"),
    "damping bool": bad(lambda: arm(damping=True), "arm", "damping", "True", "number"),
    "armature negative": bad(lambda: arm(armature=-1), "arm", "armature", "-1", "negative"),
    "friction negative": bad(lambda: arm(friction=-1), "arm", "friction", "-1", "negative"),
    "friction nan": bad(lambda: arm(friction=NAN), "arm", "friction", "nan"),
    "effort negative": bad(lambda: arm(effort=-1), "arm", "effort", "-1", "negative"),
    "speed negative": bad(lambda: arm(speed=-1), "arm", "speed", "-1", "negative"),
    "effort of two": bad(lambda: arm(effort=(1, 2)), "arm", "effort", "(1, 2)", "1 number"),
    "damping complex": bad(lambda: arm(damping=1j), "arm", "damping", "number"),
    # --- shapes
    "sphere of no size": bad(lambda: lw.Sphere(0.0), "Sphere", "radius", "0", "positive"),
    "sphere negative": bad(lambda: lw.Sphere(-1.0), "Sphere", "radius", "-1", "positive"),
    "sphere nan": bad(lambda: lw.Sphere(NAN), "Sphere", "radius", "nan"),
    "sphere in nanometres": bad(lambda: lw.Sphere(1e-12), "Sphere", "radius", "1e-12", "metres"),
    "sphere of text": bad(lambda: lw.Sphere("0.1"), "Sphere", "radius", "0.1"),  # type: ignore[arg-type]
    "box flat": bad(lambda: lw.Box((1, 0, 1)), "Box", "size", "0", "positive"),
    "box of two": bad(lambda: lw.Box((1, 1)), "Box", "size", "three"),
    "capsule negative": bad(lambda: lw.Capsule(0.1, -1.0), "Capsule", "length", "-1"),
    "cylinder nan": bad(lambda: lw.Cylinder(NAN, 1.0), "Cylinder", "radius", "nan"),
    "plane normal zero": bad(lambda: lw.Plane(normal=(0, 0, 0)), "Plane", "normal", "0"),
    "plane normal nan": bad(lambda: lw.Plane(normal=(0, 0, NAN)), "Plane", "normal", "nan"),
    "ellipsoid of two": bad(lambda: lw.Ellipsoid((1, 1)), "Ellipsoid", "radii", "three"),
    "shape friction negative": bad(lambda: lw.Sphere(1.0, friction=-0.1), "Sphere", "friction", "-0.1"),
    "shape friction nan": bad(lambda: lw.Sphere(1.0, friction=NAN), "Sphere", "friction", "nan"),
    "shape restitution large": bad(lambda: lw.Sphere(1.0, restitution=1.5), "Sphere", "restitution", "1.5", "1"),
    "shape restitution negative": bad(lambda: lw.Sphere(1.0, restitution=-0.5), "Sphere", "restitution", "-0.5"),
    "shape density negative": bad(lambda: lw.Sphere(1.0, density=-1.0), "Sphere", "density", "-1"),
    "shape density and mass": bad(lambda: lw.Sphere(1.0, density=1.0, mass=1.0), "Sphere", "density", "mass"),
    "shape pose stretched": bad(lambda: lw.Box((1, 1, 1), STRETCHED), "Box", "rotation"),
    "shape option misspelt": bad(lambda: lw.Sphere(1.0, fricton=0.5), "Sphere", "'fricton'", "did you mean 'friction'"),  # type: ignore[call-arg]
    "shape color": bad(lambda: lw.Sphere(1.0, color="redd"), "Sphere", "color", "redd"),
    "shape group negative": bad(lambda: lw.Sphere(1.0, group=-1), "Sphere", "group", "-1"),
    "mesh empty": bad(lambda: lw.Mesh(np.zeros((0, 3)), np.zeros((0, 3), int)), "Mesh", "no triangles"),
    "mesh faces beyond": bad(lambda: lw.Mesh(SQUARE, [[0, 1, 9]]), "Mesh", "9"),
    "mesh faces float": bad(lambda: lw.Mesh(SQUARE, [[0.0, 1.5, 2.0]]), "Mesh", "face"),
    "mesh nan": bad(lambda: lw.Mesh([[0, 0, NAN], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), "Mesh", "number 0", "finite"),
    "mesh as a body": bad(
        lambda: lw.ModelBuilder().body("a", joint=lw.Free(), shapes=[lw.Mesh(SQUARE, [[0, 1, 2]], density=1.0)]), "'a'"
    ),
    "convex of a plane": bad(lambda: lw.Convex(SQUARE), "Convex"),
    "convex of one point": bad(lambda: lw.Convex([[0, 0, 0]]), "Convex"),
    "height field of one row": bad(lambda: lw.HeightField([[0.0]], (1, 1)), "HeightField"),
    "height field nan": bad(lambda: lw.HeightField([[0.0, NAN], [0, 0]], (1, 1)), "HeightField", "finite"),
    "shapes not a list": bad(lambda: arm(shapes=lw.Sphere(1.0)), "arm", "shapes", "list"),
    "shapes of texts": bad(lambda: arm(shapes=["ball"]), "arm", "shapes", "'ball'"),
    # --- variants
    "parameters of no body": bad(lambda: two().with_parameters({"uper": {"mass": 1.0}}), "'uper'", "did you mean 'upper'"),
    "parameters unknown": bad(lambda: two().with_parameters({"upper": {"mas": 1.0}}), "upper", "'mas'", "did you mean 'mass'"),
    "parameters nan": bad(lambda: two().with_parameters({"upper": {"mass": NAN}}), "upper", "mass", "nan"),
    "parameters negative": bad(lambda: two().with_parameters({"upper": {"mass": -1.0}}), "upper", "mass", "-1"),
    "replaced joint": bad(lambda: two().replace(bodies={"upper": {"joint": "hinge"}}), "upper", "joint"),
    "body index misspelt": bad(lambda: two().q_index("elbw"), "'elbw'", "did you mean 'elbow'"),
    "body index number": bad(lambda: two().q_index(1), "1"),  # type: ignore[arg-type]
    "body index list": bad(lambda: two().q_index(["elbow"]), "elbow"),  # type: ignore[arg-type]
    "prepared function": bad(lambda: two().function("forward_dynamic"), "'forward_dynamic'", "did you mean 'forward_dynamics'"),
    "compile method": bad(lambda: two().compile("whol"), "'whol'", "did you mean 'whole'"),
}
