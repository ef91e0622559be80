"""Random models and states: trees and forests of every kind of joint, placed in every way that the compiler treats apart.

Kernels belong to classes of nodes: the joint, and which entries of its placement and axis are exactly 0, 1 or -1. To keep
the number of classes small, each kind of joint has one or two kinds of placement; together they cover all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import linkwork as lw

Rng = np.random.Generator


def unit(rng: Rng, size: int = 3) -> np.ndarray:
    """A random direction."""
    x = rng.normal(size=size)
    return x / np.linalg.norm(x)


def rotation(axis: Any, angle: float) -> np.ndarray:
    """The matrix of a turn about a unit axis (Rodrigues)."""
    x, y, z = np.asarray(axis, float)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def turn(k: int, angle: float) -> np.ndarray:
    """The matrix of a turn about coordinate axis k, with exact zeros and one."""
    i, j = (k + 1) % 3, (k + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i] = np.sin(angle)
    R[i, j] = -R[j, i]
    return R


# --- joints -----------------------------------------------------------------------------------------------------------
def raw_matrix(q: Any) -> lw.SE3:
    """Rz(q0) Rx(2 q1) written out as nine entries, with a position that depends on both."""
    c, s, u, w = np.cos(q[0]), np.sin(q[0]), np.cos(2.0 * q[1]), np.sin(2.0 * q[1])
    R = [[c, -s * u, s * w], [s, c * u, -c * w], [0.0, w, u]]
    return lw.SE3(R=R, p=(0.2 * s, 0.1 * q[0] * q[1], 0.3 * u))


CUSTOM: dict[str, lw.Joint] = {
    "helix": lw.joint(lambda q: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0.3 * np.cos(2 * q[0]), 0, 0.02 * q[0])), nv=1, name="helix"),
    "screw": lw.joint(lambda q: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0, 0, 0.02 * q[0])), nv=1, name="screw"),
    "raw": lw.joint(raw_matrix, nv=2, name="raw"),
    "rot_exp": lw.joint(lambda q: lw.SE3.rot_exp(q), nv=3, name="rot_exp"),
    "exp": lw.joint(lambda q: lw.SE3.exp(q), nv=6, name="exp"),
}


# --- higher pairs -----------------------------------------------------------------------------------------------------
TORUS = lw.Torus(0.4, 0.15, lw.SE3.rot_x(0.3) @ lw.SE3(p=(0.1, 0.0, -0.1)))
EGG = lw.Ellipsoid((0.25, 0.3, 0.35))
BALL = lw.Sphere(0.17, (0.05, 0.0, 0.1))
PIPE = lw.Cylinder(0.2, 2.0)
TABLE = lw.Plane((0, 0, 0.1), (0, 0.6, 0.8))
HELIX = lw.Curve(lambda u: (0.5 * np.cos(u), 0.5 * np.sin(u), 0.1 * u), (-np.pi, np.pi))
HOOP = lw.Curve(lambda u, radius: (radius * np.cos(u), radius * np.sin(u), 0.0), (-np.pi, np.pi), {"radius": 0.4})
RAIL = lw.bezier_curve([(-2, 0, 1), (-1, 0.2, 0.1), (0, 0, 0), (1, -0.2, 0.3), (2, 0, 1.2)], (-4.0, 4.0))
HILL = lw.bezier_surface(
    [[(x, y, 0.2 * np.cos(2.0 * x + 1.0 * y)) for y in np.linspace(-1, 1, 4)] for x in np.linspace(-1, 1, 3)], ((-4, 4), (-4, 4))
)
SADDLE = lw.ParametricSurface(lambda u: (u[0], u[1], 0.1 * u[0] * u[1]), ((-2, 2), (-2, 2)))
PAIRS: dict[str, lw.Joint] = {
    "torus on torus": lw.SurfaceSurface(TORUS, lw.Torus(0.3, 0.1)),
    "ellipsoid on torus": lw.SurfaceSurface(TORUS, EGG, "spin", angle=0.3),
    "sphere on ellipsoid": lw.SurfaceSurface(EGG, BALL),
    "sphere in cylinder": lw.SurfaceSurface(PIPE, lw.Sphere(0.1), "spin", side="inside"),
    "cylinder on plane": lw.SurfaceSurface(TABLE, PIPE, "spin"),
    "cylinder across cylinder": lw.SurfaceSurface(PIPE, PIPE, angle=np.pi / 2),
    "plane on sphere": lw.SurfaceSurface(BALL, TABLE),
    "sphere on own surface": lw.SurfaceSurface(SADDLE, BALL),
    "tangent to a Bezier surface": lw.SurfacePoint(HILL, turning="spin"),
    "point on torus": lw.SurfacePoint(TORUS, (0.1, 0.0, 0.2), "free"),
    "torus on point": lw.SurfacePoint((0.1, 0.0, 0.2), TORUS),
    "hoop on ellipsoid": lw.SurfaceCurve(EGG, HOOP, "free"),
    "torus on rail": lw.SurfaceCurve(HELIX, TORUS, "spin"),
    "curve on curve": lw.CurveCurve(HELIX, HOOP, "roll"),
    "curves cross": lw.CurveCurve(HELIX, HOOP, "free"),
    "along a Bezier curve": lw.CurvePoint(RAIL),
    "bead": lw.CurvePoint(HELIX, lw.SE3(p=(0.0, 0.1, 0.0)), "free"),
    "ring on bead": lw.CurvePoint((0, 0, 0.1), HOOP, "roll", angle=0.2),
    "four-bar": lw.FourBar(((-0.1, 0.3), (0.02, 0.38)), ((0.08, -0.08), (-0.25, 0.32))),
}


def torus(q: Any, R: Any, r: Any) -> lw.SE3:
    """A frame on a torus, along its circles."""
    return lw.SE3.rot_z(q[0]) @ lw.SE3(p=(R, 0, 0)) @ lw.SE3.rot_y(q[1]) @ lw.SE3(p=(r, 0, 0))


def rail(q: Any, shape: Any) -> lw.SE3:
    """A slider on a parabola that is bent sideways."""
    return lw.SE3(p=(q[0], shape[0] * q[0] ** 2, shape[1] * np.sin(q[0]))) @ lw.SE3.rot_x(shape[2] * q[0])


CUSTOM |= {
    "torus": lw.joint(torus, nv=2, name="torus", parameters={"R": 0.7, "r": 0.2}, periodic=True),
    "rail": lw.joint(rail, nv=1, name="rail", parameters={"shape": (0.3, 0.2, 0.5)}, domain=(-4.0, 5.0)),
}


def control_frames(seed: int, n: int, size: float = 0.6) -> list[lw.SE3]:
    """Poses along a smooth way, to put a spline through."""
    phases = np.random.default_rng([seed, n]).uniform(0.0, 2 * np.pi, 6)
    return [lw.SE3.exp(size * np.sin(0.5 * k + phases)) for k in range(n)]


def control_values(seed: int, *shape: int) -> np.ndarray:
    """Six smooth functions on a grid."""
    phases = np.random.default_rng([seed, *shape]).uniform(0.0, 2 * np.pi, (6, 1 + len(shape)))
    grid = np.moveaxis(np.indices(shape), 0, -1)
    return np.array([0.6 * np.sin(grid @ (0.5 * np.cos(p[1:])) + p[0]) for p in phases])


SPLINES: dict[str, lw.Joint] = {
    "spline": lw.SplineCurve(control_frames(0, 12)),
    "spline of four frames": lw.SplineCurve(control_frames(1, 4)),
    "closed spline": lw.SplineCurve(control_frames(2, 9), cyclic=True),
    "spline through frames": lw.SplineCurve(control_frames(3, 8), basis="catmull-rom"),
    "bezier spline": lw.SplineCurve(control_frames(4, 10, 0.2), basis="bezier"),
    "surface of one": lw.SplineSurface(control_values(0, 9)),
    "surface of two": lw.SplineSurface(control_values(1, 7, 8)),
    "surface of three": lw.SplineSurface(control_values(2, 5, 6, 4)),
    "closed surface": lw.SplineSurface(control_values(3, 8, 7), cyclic=True),
}


def _oblique(rng: Rng) -> lw.Joint:
    return lw.Revolute(unit(rng))


def _in_plane(rng: Rng) -> lw.Joint:
    angle = rng.uniform(0.1, 1.4) + np.pi / 2 * rng.integers(4)
    return lw.Revolute((0.0, np.cos(angle), np.sin(angle)))


JOINTS: dict[str, Callable[[Rng], lw.Joint]] = {
    "x": lambda rng: lw.Revolute((1, 0, 0)),
    "y": lambda rng: lw.Revolute((0, 1, 0)),
    "z": lambda rng: lw.Revolute((0, 0, 1)),
    "-x": lambda rng: lw.Revolute((-1, 0, 0)),
    "-z": lambda rng: lw.Revolute((0, 0, -1)),
    "oblique": _oblique,
    "in_plane": _in_plane,
    "spherical": lambda rng: lw.Spherical(),
    "free": lambda rng: lw.Free(),
    **{name: (lambda rng, joint=joint: joint) for name, joint in (CUSTOM | SPLINES).items()},
}
REVOLUTES = ("x", "y", "z", "-x", "-z", "oblique", "in_plane")
KINDS = (*REVOLUTES, "spherical", "free", "helix", "screw")
ALL_KINDS = tuple(JOINTS)

# --- placements -------------------------------------------------------------------------------------------------------
PERMUTATION = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
PLACEMENTS: dict[str, Callable[[Rng], lw.SE3]] = {
    "general": lambda rng: lw.SE3(R=rotation(unit(rng), rng.uniform(0.3, 2.8)), p=rng.uniform(-0.5, 0.5, 3)),
    "identity": lambda rng: lw.SE3(),
    "shift": lambda rng: lw.SE3(p=rng.uniform(-0.5, 0.5, 3)),
    "along_x": lambda rng: lw.SE3(p=(rng.uniform(0.2, 0.5), 0.0, 0.0)),
    "permutation": lambda rng: lw.SE3(R=PERMUTATION, p=rng.uniform(-0.5, 0.5, 3)),
    "turn_x": lambda rng: lw.SE3(R=turn(0, rng.uniform(0.3, 2.8)), p=rng.uniform(-0.5, 0.5, 3)),
    "turn_y": lambda rng: lw.SE3(R=turn(1, rng.uniform(0.3, 2.8))),
    "turn_z": lambda rng: lw.SE3(R=turn(2, rng.uniform(0.3, 2.8)), p=(0.0, rng.uniform(0.2, 0.5), 0.0)),
    "rotation": lambda rng: lw.SE3(R=rotation(unit(rng), rng.uniform(0.3, 2.8))),
}
PLACED: dict[str, tuple[str, ...]] = {
    "x": ("general",),
    "y": ("turn_x",),
    "z": ("along_x",),
    "-x": ("turn_z",),
    "-z": ("permutation",),
    "oblique": ("shift", "general"),
    "in_plane": ("rotation",),
    "spherical": ("turn_z",),
    "free": ("shift",),
    "helix": ("turn_y", "general"),
    "screw": ("identity",),
    "raw": ("general",),
    "rot_exp": ("shift",),
    "exp": ("turn_z",),
    "torus": ("general",),
    "rail": ("shift",),
    **dict.fromkeys(SPLINES, ("general",)),
}

# Kinds whose joints have a drive with inertia, damping, or both.
DRIVEN: dict[str, tuple[str, ...]] = {
    "y": ("armature",),
    "oblique": ("armature", "damping"),
    "spherical": ("armature", "damping"),
    "helix": ("damping",),
    "raw": ("armature", "damping"),
}


# --- models -----------------------------------------------------------------------------------------------------------
def random_inertia(rng: Rng) -> lw.Inertia:
    """Of a random cloud of mass: the tensor is that of positive second moments along random axes."""
    mass = rng.uniform(0.5, 2.0)
    R = rotation(unit(rng), rng.uniform(0, 3))
    second = R @ np.diag(rng.uniform(0.1, 0.3, 3) ** 2) @ R.T * mass
    return lw.Inertia(mass, rng.uniform(-0.2, 0.2, 3), np.trace(second) * np.eye(3) - second)


def random_parents(rng: Rng, n: int) -> list[int]:
    """A random forest: mostly chains, with branches and a few roots (-1)."""
    parents = [-1]
    for i in range(1, n):
        x = rng.uniform()
        parents.append(i - 1 if x < 0.55 else -1 if x > 0.92 else int(rng.integers(i)))
    return parents


def positions(parents: Sequence[int], order: Sequence[int]) -> list[int]:
    """For every body where it is in its tree, 0 to 5: on the world or not, a leaf or not, the last of its siblings or not.

    Kernels are compiled for each of these.
    """
    rank = {int(body): k for k, body in enumerate(order)}
    last = {p: max((i for i, q in enumerate(parents) if q == p), key=lambda i: rank[i]) for p in parents if p >= 0}
    return [int(i in parents) + (0 if p < 0 else 2 + 2 * (last[p] == i)) for i, p in enumerate(parents)]


def some_kinds(kinds: Sequence[str], position: int) -> list[str]:
    """A third of many kinds of joints: every kind has two positions, by its name, and kernels are compiled for these alone."""
    here = [k for k in kinds if (sum(k.encode()) + position) % 3 == 2]
    return here if here and len(kinds) >= 6 else list(kinds)


def random_tree(
    seed: int, n: int, kinds: Sequence[str] | None = None, elements: Sequence[Any] = (), parents: Sequence[int] | None = None
) -> lw.Model:
    """n bodies "b0", "b1", ... on random joints of the kinds named (keys of `JOINTS`), with oblique gravity.

    The model puts its bodies in depth-first order: "b3" need not be the fourth.
    """
    rng = np.random.default_rng([seed, n])
    builder = lw.ModelBuilder(gravity=rng.normal(size=3) * 5.0)
    parents = random_parents(rng, n) if parents is None else parents
    places = positions(parents, range(len(parents)))
    for i, p in enumerate(parents):
        names = some_kinds(kinds or KINDS, places[i])
        kind = names[rng.integers(len(names))]
        placement = PLACED[kind][rng.integers(len(PLACED[kind]))]
        joint = JOINTS[kind](rng)
        builder.body(
            f"b{i}",
            parent="world" if p < 0 else f"b{p}",
            joint=joint,
            placement=PLACEMENTS[placement](rng),
            inertia=random_inertia(rng),
            **{name: rng.uniform(0.05, 0.3, joint.nv) for name in DRIVEN.get(kind, ())},
        )
    for element in elements:
        builder.add(element)
    return builder.build()


ROD = lw.Inertia.cuboid(mass=1.0, size=(0.5, 0.05, 0.05), com=(0.25, 0, 0))


def two_links(*elements: Any) -> lw.Model:
    """Rods "upper" and "lower" of half a metre, hinged about y, with forces and constraints."""
    b = lw.ModelBuilder()
    b.body("upper", joint=lw.Revolute((0, 1, 0)), inertia=ROD)
    b.body("lower", parent="upper", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.5, 0, 0)), inertia=ROD)
    for element in elements:
        b.add(element)
    return b.build()


def with_elements(model: lw.Model, *elements: Any) -> lw.Model:
    """The same bodies with constraints and contacts added."""
    return lw.Model(model.bodies, model.gravity, elements)


def random_state(model: lw.Model, seed: int) -> lw.State:
    """A random configuration with velocities of order one."""
    rng = np.random.default_rng([seed, 1])
    return lw.State(model.random_configuration(rng), rng.normal(size=model.nv))


def random_forces(model: lw.Model, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random joint forces (nv,) and wrenches on the bodies (bodies, 6)."""
    rng = np.random.default_rng([seed, 2])
    return 3.0 * rng.normal(size=model.nv), 3.0 * rng.normal(size=(model.nb, 6))


def relative(x: Any, y: Any) -> float:
    """The largest difference of two arrays, relative to the largest entry of the second."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    assert x.shape == y.shape, (x.shape, y.shape)
    if not x.size:
        return 0.0
    assert np.all(np.isfinite(x))
    assert np.all(np.isfinite(y))
    return float(np.abs(x - y).max() / max(np.abs(y).max(), 1e-300))
