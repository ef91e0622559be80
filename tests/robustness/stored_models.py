"""Small models that have every kind of joint, force, constraint and shape that a file may contain."""

from __future__ import annotations

from typing import Any

import models
import numpy as np

import linkwork as lw

BALL = lw.Inertia.sphere(1.0, 0.1, com=(0.02, 0.0, 0.01))
PLAIN_JOINTS = {
    "revolute": lw.Revolute((0, 1, 0)),
    "prismatic": lw.Prismatic((0, 0.6, 0.8)),
    "helical": lw.Helical((0, 0, 1), 0.1),
    "cylindrical": lw.Cylindrical(),
    "planar": lw.Planar(),
    "free2d": lw.Free2D(),
    "translational": lw.Translational(),
    "universal": lw.Universal(),
    "spherical": lw.Spherical(),
    "exponential": lw.SphericalExp(),
    "euler": lw.SphericalEuler("zyx"),
    "euler pair": lw.SphericalEuler("xyz", "xzx"),
    "free": lw.Free(),
    "free exp": lw.FreeExp("RT"),
    "fixed": lw.Fixed(),
    "composite": lw.Composite(lw.Revolute((1, 0, 0)), lw.Revolute((0, 1, 0)), lw.SE3(p=(0.1, 0, 0))),
    "surface pair": lw.SurfacePair(lw.Torus(0.5, 0.1), lw.Torus(0.5, 0.1)),
}


def of_joints(joints: dict[str, lw.Joint]) -> lw.Model:
    """A body on each of these joints, side by side."""
    b = lw.ModelBuilder()
    for k, (name, joint) in enumerate(joints.items()):
        b.body(name, joint=joint, inertia=BALL, placement=lw.SE3(p=(2.0 * k, 0, 0)))
    return b.build()


def chain() -> lw.ModelBuilder:
    """Three hinged links with drives, a ball joint and a body that is free."""
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=models.ROD, limits=(-2.0, 2.5), armature=0.1, effort=40.0, speed=9.0)
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.5, 0, 0)), inertia=models.ROD, damping=0.2)
    b.body("c", parent="b", joint=lw.Revolute((0, 0, 1)), placement=lw.SE3(p=(0.5, 0, 0)) @ lw.SE3.rot_x(0.3), inertia=models.ROD)
    b.body("d", joint=lw.Spherical(), placement=lw.SE3(p=(0, 1, 1)), inertia=BALL, friction=0.01)
    b.body("e", joint=lw.Free(), placement=lw.SE3(p=(0, 2, 1)), inertia=BALL)
    b.frame("tip", body="c", placement=lw.SE3(p=(0.5, 0, 0)))
    return b


def of_forces() -> lw.Model:
    """Every force."""
    b, stretch = chain(), 4.0 * np.eye(6)
    b.add(lw.PointSpring("a", "e", (0.1, 0, 0), (0, 0, 0.1), stiffness=3.0, name="pull"))
    b.add(lw.SpringDamper("b", "e", (0.1, 0, 0), (0, 0, 0.1), stiffness=3.0, rest_length=0.3, damping=0.1))
    b.add(lw.Cable([("world", (0, 0, 1)), ("a", (0.2, 0, 0)), ("e", (0, 0, 0))], 20.0, 1.0))
    b.add(lw.PointForce("c", (0.1, 0, 0), (0.0, 0.1, 0.2)), lw.PointForce("e", (0, 0, 0), lambda t: (np.sin(t), 0.0, 0.1)))
    b.add(lw.BodyDamping("e", 0.1), lw.Drag("e", 0.1, 0.2, flow=(1, 0, 0)))
    b.add(lw.Bushing("c", "e", lw.SE3(p=(0.1, 0, 0)), stiffness=stretch, damping=0.1 * stretch))
    b.add(lw.Grip("e"), lw.Handle("e", target=(0, 2, 1), stiffness=2.0), lw.PoseHandle("d", target=lw.SE3(), stiffness=stretch))
    b.add(lw.JointSpring("a", 2.0, 0.1, 0.2), lw.JointDamping("b", 0.1), lw.TorqueCurve("c", lambda q: -np.tanh(q)))
    b.add(lw.LimitSpring("a", 50.0, 1.0), lw.SwingTwistLimit("d", 10.0, swing=0.5, twist=(-0.3, 0.4)))
    b.add(lw.PDController("a", 5.0, 0.5, target=[0.1], effort=9.0), lw.Actuator("b", 2.0, control=0.1))
    b.add(lw.force(["c", "e"], energy=lambda E, k: 0.5 * k * lw.math.norm(E[0].p - E[1].p) ** 2, parameters={"k": 2.0}))
    curve = lw.samples([-1.0, 0.0, 1.0], [1.0, 0.0, -2.0], "pchip")
    b.add(lw.joint_force("c", force=lambda q, v, t, c: [lw.interp(q[0], c) - 0.1 * v[0] * np.cos(t)], parameters={"c": curve}))
    return b.build()


def of_muscles() -> lw.Model:
    """Muscles of all kinds, along points and around obstacles."""
    b = lw.ModelBuilder()
    b.body("upper", joint=lw.Revolute((0, 1, 0)), inertia=models.ROD)
    b.body("lower", parent="upper", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.5, 0, 0)), inertia=models.ROD)
    over = lw.WrapCylinder("upper", (0.5, 0, 0), axis=(0, 1, 0), radius=0.03, turn=1)
    path = (("upper", (0.2, 0, 0.05)), over, ("lower", (0.2, 0, 0.05)))
    b.add(lw.Muscle(lw.MusclePath(*path), 100.0, 0.1, 0.25, pennation=0.1, activation=lw.Schedule([0.0, 1.0], [0.1, 0.6])))
    b.add(lw.ElasticMuscle([("world", (0, 0, 0.3)), ("upper", (0.3, 0, 0.02))], 80.0, 0.15, 0.2, name="elastic"))
    ball = lw.WrapSphere("upper", (0.1, 0, 0), radius=0.02)
    b.add(lw.FibreMuscle(lw.MusclePath(("world", (0, 0.1, 0.3)), ball, ("upper", (0.3, 0.1, 0.02))), 80.0, 0.15, 0.2))
    return b.build()


def of_constraints() -> lw.Model:
    """Every constraint, on bodies that move freely but for it."""
    b = lw.ModelBuilder()
    hinge, q = lw.Revolute((0, 1, 0)), 0.2
    for k, name in enumerate("abcdef"):
        b.body(name, joint=hinge, inertia=models.ROD, placement=lw.SE3(p=(0, 3.0 * k, 0)))
    for k, name in enumerate("ghijklmn"):
        b.body(name, joint=lw.Free(), inertia=BALL, placement=lw.SE3(p=(5, 3.0 * k, 0)))
    b.add(lw.Coupling("a", "b", 2.0, name="half"), lw.Limit("c", -1.0, 1.0), lw.DryFriction("d", 0.1))
    b.add(lw.PrescribedJoint("e", lambda t: (q + 0.1 * np.sin(t), 0.1 * np.cos(t), -0.1 * np.sin(t))))
    b.add(lw.JointFriction("f", 0.1, radius=0.02), lw.Loop("g", "world", (0, 0, 0), (5, 0, 0)))
    b.add(lw.Closure(lw.Spherical(), "h", "world", lw.SE3(), lw.SE3(p=(5, 3, 0))))
    b.add(lw.PointOnCurve("i", (0, 0, 0), lw.Curve(lambda u: (5.0 + u, 6.0, 0.1 * u * u), (-1, 1))))
    b.add(lw.PointOnSurface("j", (0, 0, 0), lw.ImplicitSurface(lambda x: x[2]), unilateral=True, friction=0.2))
    b.add(lw.TangentSurfaces("k", lw.Sphere(0.1), lw.Plane((0, 0, -0.1)), unilateral=True, friction=0.3))
    b.add(lw.PrescribedTwist("l", lambda t: (np.zeros(6), np.zeros(6))))
    b.add(lw.constraint("m", lambda E: [E[0].p[2] - 0.1 * E[0].p[0] ** 2 + 2.5]))
    b.add(
        lw.joint_constraint(["a", "b"], lambda q, t: [q[0] - 2.0 * q[1]]),
        lw.Gear("a", "b", 2.0, axis_a=(0, 1, 0), axis_b=(0, 1, 0)),
    )
    b.body("o", joint=lw.Planar(), inertia=BALL, placement=lw.SE3(p=(9, 0, 0)))

    def circle(u: Any, r: Any) -> Any:
        return np.array([r * np.cos(u), r * np.sin(u), 0.0])

    cam, roller = (lw.Curve(circle, (0.0, 2 * np.pi), {"r": r}) for r in (0.3, 0.1))
    b.add(lw.TangentCurves("o", roller, cam))
    b.add(lw.Contact("n", lw.Sphere(0.1), "world", lw.Plane(), friction=0.4, spinning=0.01))
    b.add(lw.CompliantContact("n", lw.Sphere(0.1), "world", lw.Plane(), stiffness=1e3, damping=2.0))
    return b.build()


def of_shapes() -> lw.Model:
    """Every shape, on bodies and in the world."""
    b, pose = lw.ModelBuilder(), lw.SE3(p=(0.1, 0, 0)) @ lw.SE3.rot_z(0.2)
    corners = [(x, y, z) for x in (0, 0.2) for y in (0, 0.3) for z in (0, 0.1)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    tetrahedron = 0.2 * np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    look: dict[str, Any] = {"color": (0.1, 0.2, 0.3), "friction": 0.4, "group": 2, "mask": 3}
    shapes = [lw.Sphere(0.1, restitution=0.2, **look), lw.Box((0.1, 0.2, 0.3), pose), lw.Capsule(0.05, 0.2, pose)]
    shapes += [lw.Cylinder(0.1, 0.3), lw.Ellipsoid((0.1, 0.2, 0.3), pose), lw.Torus(0.3, 0.1), lw.Convex(corners)]
    shapes += [lw.Mesh(tetrahedron, faces, density=100.0)]
    for k, shape in enumerate(shapes):
        b.body(
            f"s{k}", joint=lw.Free(), inertia=BALL, placement=lw.SE3(p=(3.0 * k, 0, 2)), shapes=[shape], visuals=[lw.Sphere(0.2)]
        )
    b.ground(friction=0.5)
    b.world(lw.HeightField(0.1 * np.arange(12.0).reshape(3, 4), (2.0, 2.0), lw.SE3(p=(0, 30, 0)))).scenery(lw.Box((1, 1, 1)))
    b.exclude("s0", "s1").note("made for tests")
    model = b.build()
    return b.keyframe("start", lw.State(model.neutral(), np.zeros(model.nv))).build()


def all_models() -> dict[str, lw.Model]:
    """Every kind of part that a file may contain, in a few models."""
    own = {name: joint for name, joint in {**models.CUSTOM, **models.SPLINES}.items() if isinstance(joint, lw.Joint)}
    return {
        "joints": of_joints(PLAIN_JOINTS),
        "own joints": of_joints(own),
        "pairs": of_joints(models.PAIRS),
        "forces": of_forces(),
        "muscles": of_muscles(),
        "constraints": of_constraints(),
        "shapes": of_shapes(),
    }
