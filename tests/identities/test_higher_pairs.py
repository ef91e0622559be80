"""Joints of surfaces, curves and points: bodies touch as they should, and move as Lagrange's equations say.

Poses are compared with the implicit view of the same shapes. Accelerations are compared with Lagrange's equations in 4x4
matrices [Uicker]: with the pseudo-inertia P of every body, sum over x x^T dm of homogeneous points, and world matrices E(q),

    M_jk = sum tr(E_j P E_k^T),      bias_j = sum tr(E_j P (d^2 E / dt^2 at constant v)^T),      V_j = -sum m g^T E_j c

where derivatives E_j come from Cauchy's integral. The matrices are built here from points, normals and tangents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from identities.dense import derivatives_along
from models import BALL, EGG, HELIX, HILL, HOOP, PIPE, RAIL, SADDLE, TABLE, TORUS, random_inertia, relative

import linkwork as lw
from linkwork.geometry.charts import as_chart
from linkwork.geometry.surfaces import ImplicitSurface, as_surface

SHAPES: dict[str, Any] = {"sphere": BALL, "ellipsoid": EGG, "torus": TORUS, "plane": TABLE, "cylinder": PIPE}
TOUCHING = [(a, b, side) for a in SHAPES for b in SHAPES for side in ("outside", "inside") if side == "outside" or a != b]


def touching(a: Any, b: Any, turning: str, side: str) -> lw.SurfaceSurface:
    crossed = isinstance(a, lw.Cylinder) and isinstance(b, lw.Cylinder)
    return lw.SurfaceSurface(a, b, turning, angle=0.7 if crossed else 0.0, side=side)


def at(surface: ImplicitSurface, x: np.ndarray) -> tuple[float, np.ndarray]:
    f, gradient = surface.value_and_gradient(x)
    gradient = np.asarray(gradient, float)
    return float(f), gradient / np.linalg.norm(gradient)


@pytest.mark.parametrize(("a", "b", "side"), TOUCHING, ids=lambda x: x)
@pytest.mark.parametrize("turning", ["aligned", "spin"])
def test_surfaces_touch(a: str, b: str, turning: str, side: str) -> None:
    """They share a point where both functions vanish and their gradients are opposite (agree, inside)."""
    joint = touching(SHAPES[a], SHAPES[b], turning, side)
    freedoms = {"plane plane": 2, "plane cylinder": 3, "cylinder plane": 3}.get(f"{a} {b}", 4)
    assert joint.nv == freedoms + (turning == "spin")
    one, other = (as_surface("", SHAPES[x]) for x in (a, b))
    assert isinstance(one, ImplicitSurface)
    assert isinstance(other, ImplicitSurface)
    rng = np.random.default_rng(1)
    for _ in range(5):
        q = joint.random(rng)
        E = joint.transform(q)
        first = joint.a.moving(q[: joint.a.size]) @ joint.a.constant
        point = np.asarray(first.p, float)
        f, normal = at(one, point)
        g, other_normal = at(other, np.asarray(E.inverse() @ point, float))
        assert abs(f) < 1e-14
        assert abs(g) < 1e-13
        sign = -1.0 if side == "outside" else 1.0
        assert np.abs(np.asarray(E.rotate(other_normal), float) - sign * normal).max() < 1e-13
        S = np.asarray(joint.motion(q, np.zeros(joint.nv)).tangent.S, float)
        assert np.linalg.matrix_rank(S, 1e-6) == joint.nv


@pytest.mark.parametrize("name", ["sphere", "ellipsoid", "torus", "plane", "cylinder"])
def test_frames_run_over_the_surface(name: str) -> None:
    """The frame's z is the normal and its x is horizontal or along the first coordinate line; both tangents are derivatives."""
    chart = as_chart("", SHAPES[name])
    rng = np.random.default_rng(2)
    for _ in range(5):
        u = np.array([rng.uniform(c.low, c.high) for c in chart.coordinates])
        F = chart.frame(u)
        h = 1e-6
        slopes = [np.asarray(chart.frame(u + h * e).p - chart.frame(u - h * e).p, float) / (2 * h) for e in np.eye(2)]
        R = np.asarray(F.R, float)
        assert np.abs(R.T @ R - np.eye(3)).max() < 1e-14
        assert np.abs(R[:, 2] @ np.stack(slopes, axis=1)).max() < 1e-9
        assert np.dot(np.cross(*slopes), R[:, 2]) > 0
        if name != "ellipsoid":
            assert np.abs(np.cross(slopes[0], R[:, 0])).max() < 1e-9


# --- Lagrange -------------------------------------------------------------------------------------------------------------
def columns(x: Any, y: Any, z: Any, p: Any) -> np.ndarray:
    E = np.zeros((4, 4), complex)
    E[:3, 0], E[:3, 1], E[:3, 2], E[:3, 3], E[3, 3] = x, y, z, p, 1.0
    return E


def inverse(E: np.ndarray) -> np.ndarray:
    out = np.eye(4, dtype=complex)
    out[:3, :3], out[:3, 3] = E[:3, :3].T, -E[:3, :3].T @ E[:3, 3]
    return out


def turn(axis: int, a: complex) -> np.ndarray:
    E = np.eye(4, dtype=complex)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    E[i, i] = E[j, j] = np.cos(a)
    E[j, i] = np.sin(a)
    E[i, j] = -E[j, i]
    return E


def sphere_frame(u: np.ndarray, r: float) -> np.ndarray:
    c, s, k, z = np.cos(u[0]), np.sin(u[0]), np.cos(u[1]), np.sin(u[1])
    n = np.array([k * c, k * s, z])
    return columns([-s, c, 0], [-z * c, -z * s, k], n, r * n)


def torus_frame(u: np.ndarray, ring: float, tube: float) -> np.ndarray:
    F = sphere_frame(u, tube)
    F[:2, 3] += ring * np.array([np.cos(u[0]), np.sin(u[0])])
    return F


def egg_frame(u: np.ndarray, radii: np.ndarray) -> np.ndarray:
    F = sphere_frame(u, 1.0)
    n = F[:3, 2]
    F[:3, 3] = radii**2 * n / np.sqrt(np.sum(radii**2 * n**2))
    return F


def pipe_frame(u: np.ndarray, r: float) -> np.ndarray:
    c, s = np.cos(u[0]), np.sin(u[0])
    return columns([-s, c, 0], [0, 0, 1], [c, s, 0], [r * c, r * s, u[1]])


def curve_frame(curve: lw.Curve, point: Any, slope: Any) -> np.ndarray:
    x = np.array(slope) / np.sqrt(np.sum(np.array(slope) ** 2))
    y = np.cross(curve.aside, x)
    y = y / np.sqrt(np.sum(y**2))
    return columns(x, y, np.cross(x, y), point)


def surface_frame(point: Any, a: Any, b: Any) -> np.ndarray:
    x = a / np.sqrt(np.sum(a**2))
    n = np.cross(a, b)
    n = n / np.sqrt(np.sum(n**2))
    return columns(x, np.cross(n, x), n, point)


def helix_frame(u: complex) -> np.ndarray:
    return curve_frame(HELIX, [0.5 * np.cos(u), 0.5 * np.sin(u), 0.1 * u], [-0.5 * np.sin(u), 0.5 * np.cos(u), 0.1])


def hoop_frame(u: complex) -> np.ndarray:
    return curve_frame(HOOP, [0.4 * np.cos(u), 0.4 * np.sin(u), 0], [-0.4 * np.sin(u), 0.4 * np.cos(u), 0])


def casteljau(points: np.ndarray, s: complex) -> tuple[np.ndarray, np.ndarray]:
    """The point and the slope of a Bezier curve, by halving the polygon again and again."""
    n, P = len(points) - 1, np.asarray(points, complex)
    while len(P) > 2:
        P = (1 - s) * P[:-1] + s * P[1:]
    return (1 - s) * P[0] + s * P[1], n * (P[1] - P[0])


def rail_frame(u: complex) -> np.ndarray:
    x, slope = casteljau(RAIL.given.values["points"], (u + 4.0) / 8.0)
    return curve_frame(RAIL, x, slope / 8.0)


def hill_frame(u: np.ndarray) -> np.ndarray:
    P, (s, t) = HILL.given.values["points"], (u + 4.0) / 8.0
    lines = np.array([casteljau(row, t) for row in P])
    x, a = casteljau(lines[:, 0], s)
    return surface_frame(x, a, casteljau(lines[:, 1], s)[0])


def saddle_frame(u: np.ndarray) -> np.ndarray:
    return surface_frame([u[0], u[1], 0.1 * u[0] * u[1]], np.array([1, 0, 0.1 * u[1]]), np.array([0, 1, 0.1 * u[0]]))


FLIP = np.diag([1.0, -1.0, -1.0, 1.0])
RING, OTHER = lw.Torus(0.4, 0.15), lw.Torus(0.3, 0.1)
PLAIN = lw.Sphere(0.2)
Pose = Callable[[np.ndarray], np.ndarray]
FAMILIES: dict[str, tuple[lw.Joint, Pose]] = {
    "torus on torus": (
        lw.SurfaceSurface(RING, OTHER),
        lambda q: torus_frame(q[:2], 0.4, 0.15) @ FLIP @ inverse(torus_frame(q[2:], 0.3, 0.1)),
    ),
    "sphere on ellipsoid": (
        lw.SurfaceSurface(EGG, PLAIN, "spin"),
        lambda q: egg_frame(q[:2], EGG.radii) @ turn(2, q[2]) @ FLIP @ inverse(sphere_frame(q[3:], 0.2)),
    ),
    "torus on ellipsoid": (
        lw.SurfaceSurface(EGG, RING, angle=0.3),
        lambda q: egg_frame(q[:2], EGG.radii) @ turn(2, 0.3) @ FLIP @ inverse(torus_frame(q[2:], 0.4, 0.15)),
    ),
    "sphere in cylinder": (
        lw.SurfaceSurface(PIPE, lw.Sphere(0.1), side="inside"),
        lambda q: pipe_frame(q[:2], 0.2) @ inverse(sphere_frame(q[2:], 0.1)),
    ),
    "sphere on own surface": (
        lw.SurfaceSurface(SADDLE, PLAIN),
        lambda q: saddle_frame(q[:2]) @ FLIP @ inverse(sphere_frame(q[2:], 0.2)),
    ),
    "tangent to a Bezier surface": (
        lw.SurfacePoint(HILL, turning="spin"),
        lambda q: hill_frame(q[:2]) @ turn(2, q[2]),
    ),
    "hoop on torus": (
        lw.SurfaceCurve(RING, HOOP, "free"),
        lambda q: torus_frame(q[:2], 0.4, 0.15) @ turn(2, q[2]) @ turn(0, q[3]) @ inverse(hoop_frame(q[4])),
    ),
    "hoop on helix": (
        lw.CurveCurve(HELIX, HOOP, "roll"),
        lambda q: helix_frame(q[0]) @ turn(0, q[1]) @ inverse(hoop_frame(q[2])),
    ),
    "along a Bezier curve": (lw.CurvePoint(RAIL), lambda q: rail_frame(q[0])),
}


def pseudo_inertia(body: lw.Inertia) -> np.ndarray:
    J = np.asarray(body.about_origin, float)
    P = np.zeros((4, 4))
    P[:3, :3] = 0.5 * np.trace(J) * np.eye(3) - J
    P[:3, 3] = P[3, :3] = body.mass * body.com
    P[3, 3] = body.mass
    return P


@pytest.mark.parametrize("name", FAMILIES)
def test_forward_dynamics_is_that_of_lagrange(name: str) -> None:
    """Two bodies on joints of the family, one on the other, with a hinge in between."""
    joint, pose = FAMILIES[name]
    rng = np.random.default_rng(3)
    inertias = [random_inertia(rng) for _ in range(3)]
    b = lw.ModelBuilder(gravity=(1.0, -2.0, -9.0))
    b.body("a", joint=joint, inertia=inertias[0])
    b.body("hinge", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.3, 0, 0)), inertia=inertias[1])
    b.body("b", parent="hinge", joint=joint, placement=lw.SE3(p=(0, 0.2, 0)), inertia=inertias[2])
    model, n = b.build(), joint.nv

    def matrices(q: np.ndarray) -> np.ndarray:
        out, arm, more = pose(q[:n]), np.eye(4), np.eye(4)
        arm[0, 3], more[1, 3] = 0.3, 0.2
        hinge = out @ arm @ turn(1, q[n])
        return np.array([out, hinge, hinge @ more @ pose(q[n + 1 :])])

    q = np.concatenate([joint.random(rng), rng.uniform(-1, 1, 1), joint.random(rng)])
    v, tau = rng.normal(size=(2, model.nv))
    P = np.array([pseudo_inertia(x) for x in inertias])
    E, _, bend = derivatives_along(matrices, q, v, 0.1)
    assert np.abs(np.asarray(lw.kinematics(model, q, v).poses, float) - E).max() < 1e-12
    slopes = np.array([derivatives_along(matrices, q, e, 0.1)[1] for e in np.eye(model.nv)])
    M = np.einsum("jnab,nbc,knac->jk", slopes, P, slopes)
    bias = np.einsum("jnab,nbc,nac->j", slopes, P, bend)
    g = np.append(model.gravity, 0.0)
    push = np.einsum("a,jnab,nb->j", g, slopes, P[:, :, 3])
    expected = np.linalg.solve(M, tau + push - bias)
    assert relative(lw.mass_matrix(model, q), M) < 1e-10
    assert relative(lw.forward_dynamics(model, q, v, tau), expected) < 1e-9
