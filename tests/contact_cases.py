"""Shapes and poses for tests of contact, and other routes to their distances: bounded least squares, Coal, MuJoCo, surfaces."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import coal
import mujoco
import numpy as np
from models import rotation, unit
from scipy.optimize import lsq_linear

import linkwork as lw
from linkwork.contact.coal_pairs import geometry
from linkwork.geometry import Shape

Rng = np.random.Generator
ROUNDED = ("sphere", "capsule", "box")  # a core with a radius around it


def random_pose(rng: Rng, spread: float = 0.6) -> lw.SE3:
    return lw.SE3(rotation(unit(rng), rng.uniform(-np.pi, np.pi)), rng.normal(size=3) * spread)


def random_shape(kind: str, rng: Rng) -> Shape:
    """A shape somewhere on its body."""
    pose = random_pose(rng, 0.1)
    size = rng.uniform(0.1, 0.6, 3)
    makers: dict[str, Callable[[], Shape]] = {
        "plane": lambda: lw.Plane(rng.normal(size=3) * 0.1, unit(rng)),
        "sphere": lambda: lw.Sphere(size[0], pose.p),
        "capsule": lambda: lw.Capsule(0.5 * size[0], 2.0 * size[1], pose),
        "box": lambda: lw.Box(2.0 * size, pose),
        "cylinder": lambda: lw.Cylinder(size[0], size[1], pose),
        "ellipsoid": lambda: lw.Ellipsoid(size, pose),
        "convex": lambda: lw.Convex(wedge(size, rng.uniform(0.3, 0.9, 2)) @ pose.R.T + pose.p),
    }
    return makers[kind]()


def wedge(half: np.ndarray, taper: np.ndarray) -> np.ndarray:
    """Corners of a stone: a box that becomes narrower upwards."""
    corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    corners[corners[:, 2] > 0, :2] *= taper
    return corners * half


def random_pair(kinds: tuple[str, str], rng: Rng, spread: float = 0.6) -> tuple[Shape, lw.SE3, Shape, lw.SE3]:
    a, b = (random_shape(kind, rng) for kind in kinds)
    return a, random_pose(rng, spread), b, random_pose(rng, spread)


def frame(shape: Any, E: lw.SE3) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and position of a shape's own frame in the world."""
    if shape.kind == "convex":
        return np.asarray(E.R, float), np.asarray(E.p, float)
    placed = shape.moved(E)
    if shape.kind == "sphere":
        return np.eye(3), np.asarray(placed.center, float)
    return np.asarray(placed.R, float), np.asarray(placed.p, float)


def core(shape: Any) -> tuple[np.ndarray, float]:
    """Half edges (3,) of the box that is the core of a shape, and the radius around it."""
    if shape.kind == "sphere":
        return np.zeros(3), shape.radius
    if shape.kind == "capsule":
        return np.array([0.0, 0.0, 0.5 * shape.length]), shape.radius
    return 0.5 * shape.size, 0.0


def core_distance(a: Any, E_a: lw.SE3, b: Any, E_b: lw.SE3) -> float:
    """The distance of shapes whose cores are apart: min |p + R s - q - Q t| over bounded s, t, less the radii."""
    (R, p), (Q, q), (h, r), (k, s) = frame(a, E_a), frame(b, E_b), core(a), core(b)
    bounds = np.concatenate([h, k])
    free = bounds > 0
    A, d = np.hstack([R, -Q])[:, free], q - p
    if not free.any():
        return float(np.linalg.norm(d)) - r - s
    found = lsq_linear(A, d, (-bounds[free], bounds[free]), method="bvls", tol=1e-14)
    return float(np.linalg.norm(A @ found.x - d)) - r - s


def coal_distance(a: Any, E_a: lw.SE3, b: Any, E_b: lw.SE3) -> float:
    """Signed, by Coal."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-10
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    poses = [coal.Transform3s(*frame(s, E)) for s, E in ((a, E_a), (b, E_b))]
    return coal.distance(geometry(a), poses[0], geometry(b), poses[1], request, result)


MUJOCO = {
    "plane": lambda s: "5 5 1",
    "sphere": lambda s: f"{s.radius!r}",
    "capsule": lambda s: f"{s.radius!r} {0.5 * s.length!r}",
    "box": lambda s: " ".join(repr(float(x)) for x in 0.5 * s.size),
    "cylinder": lambda s: f"{s.radius!r} {0.5 * s.length!r}",
    "ellipsoid": lambda s: " ".join(repr(float(x)) for x in s.radii),
}


def mujoco_distance(a: Any, E_a: lw.SE3, b: Any, E_b: lw.SE3) -> float:
    """Signed, by MuJoCo, for shapes other than planes."""
    geoms = "".join(f'<body><freejoint/><geom type="{s.kind}" size="{MUJOCO[s.kind](s)}"/></body>' for s in (a, b))
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
    model.opt.ccd_tolerance, model.opt.ccd_iterations = 1e-9, 200
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for i, (s, E) in enumerate(((a, E_a), (b, E_b))):
        R, p = frame(s, E)
        data.geom_xpos[i], data.geom_xmat[i] = p, R.reshape(-1)
    return mujoco.mj_geomDistance(model, data, 0, 1, 100.0, np.zeros(6))


def outside(shape: Any, E: lw.SE3, x: np.ndarray) -> float:
    """How far a world point lies outside a shape: zero on its surface, negative inside. Of an ellipsoid, relative to its size."""
    placed = shape.moved(E)
    if shape.kind == "plane":
        return float(np.asarray(placed.normal, float) @ (x - placed.point))
    R, p = frame(shape, E)
    y = R.T @ (x - p)
    if shape.kind == "ellipsoid":
        return float(np.linalg.norm(y / shape.radii)) - 1.0
    if shape.kind == "convex":  # how far beyond the plane of a face
        return float(np.einsum("fi,fi->f", shape.normals, y - shape.corners[:, 0]).max())
    if shape.kind == "cylinder":
        out = np.array([np.hypot(y[0], y[1]) - shape.radius, abs(y[2]) - 0.5 * shape.length])
        return float(np.linalg.norm(np.maximum(out, 0.0)) + min(out.max(), 0.0))
    h, r = core(shape)
    out = np.abs(y) - h
    return float(np.linalg.norm(np.maximum(out, 0.0)) + min(out.max(), 0.0)) - r


@cache
def directions(count: int = 4000) -> np.ndarray:
    """Unit vectors spread evenly."""
    z = np.linspace(-1, 1, count)
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    return np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], axis=1)


def support(shape: Any, E: lw.SE3, n: np.ndarray) -> np.ndarray:
    """The farthest extent of a shape along world directions (m, 3)."""
    R, p = frame(shape, E)
    d = n @ R
    if shape.kind == "ellipsoid":
        reach = np.linalg.norm(d * shape.radii, axis=1)
    elif shape.kind == "cylinder":
        reach = shape.radius * np.hypot(d[:, 0], d[:, 1]) + 0.5 * shape.length * np.abs(d[:, 2])
    elif shape.kind == "convex":
        reach = (d @ shape.vertices.T).max(axis=1)
    else:
        h, r = core(shape)
        reach = np.abs(d) @ h + r
    return n @ p + reach


def seen_distance(a: Any, E_a: lw.SE3, b: Any, E_b: lw.SE3) -> float:
    """The widest gap between the shadows of two shapes over many directions: from below, the signed distance."""
    n = directions()
    return float((-support(a, E_a, -n) - support(b, E_b, n)).max())
