"""Paths around spheres and cylinders against geodesics found by optimisation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import linkwork as lw
from linkwork.forces.muscle_path import gradients
from linkwork.forces.muscle_wrap import Wrap, frame_along

R = 0.5
SPHERE = lw.WrapSphere("a", radius=R)
CYLINDERS = {turn: lw.WrapCylinder("a", axis=(0, 0, 1), radius=R, turn=turn) for turn in (-1, 0, 1)}
SEEDS = pytest.mark.parametrize("seed", range(8))


def ends(seed: int, across: bool) -> tuple[np.ndarray, np.ndarray]:
    """Two points outside, whose line passes through the obstacle if `across`, or else passes by."""
    rng = np.random.default_rng([seed, across])
    while True:
        a, b = rng.uniform(-1.5, 1.5, (2, 3))
        d = (b - a)[:2]
        s = np.clip(-a[:2] @ d / (d @ d), 0, 1)
        near = np.hypot(*(a[:2] + s * d))
        clear = min(np.hypot(*a[:2]), np.hypot(*b[:2])) > 1.1 * R
        if clear and (near < 0.8 * R if across else near > 1.1 * R):
            return a, b


def in_frame(wrap: Wrap, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    back = wrap.frame.inverse()
    return np.asarray(back @ a, float), np.asarray(back @ b, float)


def seen(x: np.ndarray, p: np.ndarray, radial: int) -> float:
    """Not below zero where the segment from x to a point p of the surface stays outside."""
    return float(p[:radial] @ x[:radial] - R * R)


def least(length: Any, visible: Any, starts: Any) -> float:
    """The least length over some starts, with both tangents outside."""
    rule = {"type": "ineq", "fun": visible}
    options = {"ftol": 1e-15, "maxiter": 300}
    found = (minimize(length, x, constraints=rule, method="SLSQP", options=options) for x in starts)
    return min(f.fun for f in found if np.min(visible(f.x)) > -1e-9)


def over_sphere(a: np.ndarray, b: np.ndarray) -> float:
    """Shortest tangents and great arc over all points where the path may meet the sphere and leave it."""

    def touch(x: np.ndarray) -> list[np.ndarray]:
        return [R * e / np.linalg.norm(e) for e in (x[:3], x[3:])]

    def length(x: np.ndarray) -> float:
        p, q = touch(x)
        arc = R * np.arctan2(np.linalg.norm(np.cross(p, q)), p @ q)
        return float(np.linalg.norm(a - p) + arc + np.linalg.norm(q - b))

    def visible(x: np.ndarray) -> np.ndarray:
        p, q = touch(x)
        return np.array([seen(a, p, 3), seen(b, q, 3)])

    rng = np.random.default_rng(0)
    return least(length, visible, [np.r_[a, b] + 0.1 * rng.normal(size=6) for _ in range(6)])


def over_cylinder(a: np.ndarray, b: np.ndarray, turn: int) -> float:
    """Shortest tangents and helix over all points where the path may meet the cylinder and leave it, around one side."""
    start = np.arctan2(a[1], a[0])
    angle = turn * ((turn * (np.arctan2(b[1], b[0]) - start)) % (2 * np.pi))

    def touch(x: np.ndarray) -> list[np.ndarray]:
        return [np.array([R * np.cos(f), R * np.sin(f), z]) for f, z in (x[:2], x[2:])]

    def length(x: np.ndarray) -> float:
        p, q = touch(x)
        return float(np.linalg.norm(a - p) + np.hypot(R * (x[2] - x[0]), x[3] - x[1]) + np.linalg.norm(q - b))

    def visible(x: np.ndarray) -> np.ndarray:
        p, q = touch(x)
        return np.array([seen(a, p, 2), seen(b, q, 2)])

    shares = [(0.02, 0.02), (0.1, 0.1), (0.2, 0.05), (0.05, 0.2)]
    return least(length, visible, [(start + s * angle, a[2], start + (1 - u) * angle, b[2]) for s, u in shares])


def polyline(a: np.ndarray, b: np.ndarray, radial: int, nodes: int) -> float:
    """Brute force: the shortest chain of equal links whose nodes stay outside; `radial` coordinates count for the distance."""
    s = np.linspace(0, 1, nodes + 2)[1:-1, None]
    first = (1 - s) * a + s * b
    short = np.linalg.norm(first[:, :radial], axis=1, keepdims=True)
    first[:, :radial] *= np.maximum(1.0, R / short)

    def stretch(x: np.ndarray) -> tuple[float, np.ndarray]:
        d = np.diff(np.vstack([a, x.reshape(-1, 3), b]), axis=0)
        return float((d * d).sum()) * (nodes + 1), 2 * (nodes + 1) * (d[:-1] - d[1:]).reshape(-1)

    def outside(x: np.ndarray) -> np.ndarray:
        y = x.reshape(-1, 3)[:, :radial]
        return (y * y).sum(axis=1) - R * R

    def outside_slope(x: np.ndarray) -> np.ndarray:
        y, J = x.reshape(-1, 3), np.zeros((nodes, nodes, 3))
        for k in range(nodes):
            J[k, k, :radial] = 2 * y[k, :radial]
        return J.reshape(nodes, -1)

    rule = {"type": "ineq", "fun": outside, "jac": outside_slope}
    options = {"maxiter": 500, "ftol": 1e-12}
    found = minimize(stretch, first.reshape(-1), jac=True, constraints=rule, method="SLSQP", options=options)
    assert found.success
    return float(np.linalg.norm(np.diff(np.vstack([a, found.x.reshape(-1, 3), b]), axis=0), axis=1).sum())


@SEEDS
def test_sphere_is_the_shortest_way(seed: int) -> None:
    a, b = ends(seed, across=True)
    b[2] = a[2] = 0.1 * seed / 8  # the line passes the sphere, too
    assert SPHERE.length(a, b) == pytest.approx(over_sphere(a, b), abs=1e-9)
    assert SPHERE.length(a, b) > np.linalg.norm(a - b)


@pytest.mark.parametrize("turn", [-1, 1])
@SEEDS
def test_cylinder_is_the_shortest_way_around_its_side(seed: int, turn: int) -> None:
    a, b = ends(seed, across=True)
    x, y = in_frame(CYLINDERS[turn], a, b)
    assert CYLINDERS[turn].length(x, y) == pytest.approx(over_cylinder(a, b, turn), abs=1e-8)


@SEEDS
def test_cylinder_without_a_side_takes_the_shorter(seed: int) -> None:
    a, b = ends(seed, across=True)
    both = [CYLINDERS[turn].length(*in_frame(CYLINDERS[turn], a, b)) for turn in (-1, 1)]
    assert CYLINDERS[0].length(*in_frame(CYLINDERS[0], a, b)) == pytest.approx(min(both), abs=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_no_chain_of_points_outside_is_shorter(seed: int) -> None:
    """Links cut the surface, so that the chain is too short by about the square of their length."""
    a, b = ends(seed, across=True)
    found = CYLINDERS[0].length(*in_frame(CYLINDERS[0], a, b))
    assert 0.998 * found < polyline(a, b, 2, 24) < found
    b[2] = a[2] = 0.05
    found = SPHERE.length(a, b)
    assert 0.998 * found < polyline(a, b, 3, 24) < found


@SEEDS
def test_what_passes_by_stays_straight(seed: int) -> None:
    a, b = ends(seed, across=False)
    for wrap in (SPHERE, CYLINDERS[0]):
        assert wrap.length(*in_frame(wrap, a, b)) == pytest.approx(np.linalg.norm(a - b), abs=1e-14)


@pytest.mark.parametrize("wrap", [SPHERE, CYLINDERS[0], CYLINDERS[1]], ids=["sphere", "cylinder", "sided"])
def test_length_and_gradient_are_continuous_where_the_line_touches(wrap: Wrap) -> None:
    def at(height: float) -> tuple[float, np.ndarray]:
        a, b = in_frame(wrap, np.array([1.0, height, 0.0]), np.array([-1.3, height, 0.0]))
        length, *slopes = gradients(wrap.length, a, b)
        return float(length), np.concatenate(slopes).astype(float)

    for step in (1e-4, 1e-6, 1e-8):
        (inside, g), (outside, h) = at(R - step), at(R + step)
        assert abs(inside - outside) < 10 * step**2 + 1e-14
        assert np.abs(g - h).max() < 20 * step


def test_a_side_holds_from_a_quarter_turn_back_to_three_quarters_along() -> None:
    """The length grows steadily with the angle, while the shorter way would turn back at half a turn."""
    wrap = CYLINDERS[1]
    angles = np.linspace(-0.49 * np.pi, 1.49 * np.pi, 400)
    lengths = [float(wrap.length(np.array([1.0, 0, 0]), np.array([np.cos(x), np.sin(x), 0.2]))) for x in angles]
    assert np.abs(np.diff(lengths)).max() < 1.1 * (angles[1] - angles[0])
    assert np.diff(np.array(lengths)[angles > 0]).min() > 0
    assert lengths[-1] > 2.0 + R


def test_a_point_on_the_surface_has_finite_slopes() -> None:
    for wrap in (SPHERE, CYLINDERS[1]):
        length, *slopes = gradients(wrap.length, np.array([R, 0.0, 0.0]), np.array([-1.0, 0.3, 0.1]))
        assert np.isfinite(float(length))
        assert np.all(np.isfinite(np.concatenate(slopes).astype(float)))


def test_inside_counts_as_on_the_surface() -> None:
    far = np.array([-1.0, 0.1, 0.0])
    assert SPHERE.length(np.array([0.9 * R, 0, 0]), far) == pytest.approx(SPHERE.length(np.array([R, 0, 0]), far), rel=1e-12)


def test_frame_along_any_axis() -> None:
    rng = np.random.default_rng(0)
    for axis in (*rng.normal(size=(5, 3)), *np.eye(3), -np.eye(3)[1]):
        F = frame_along(axis)
        np.testing.assert_allclose(F @ F.T, np.eye(3), atol=1e-15)
        np.testing.assert_allclose(F[:, 2], axis / np.linalg.norm(axis), atol=1e-15)
        assert np.linalg.det(F) > 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lw.WrapSphere("a", radius=0.0), "radius must be above 0"),
        (lambda: lw.WrapSphere("a", radius=np.nan), "radius"),
        (lambda: lw.WrapSphere("a", (0, 0), radius=1.0), "center must be three"),
        (lambda: lw.WrapSphere("", radius=1.0), "body must be a name"),
        (lambda: lw.WrapCylinder("a", axis=(0, 0, 0), radius=1.0), "axis must not be zero"),
        (lambda: lw.WrapCylinder("a", axis=(0, 0, 1), radius=-1.0), "radius"),
        (lambda: lw.WrapCylinder("a", axis=(0, 0, 1), radius=1.0, turn=2), "turn must be 1, -1 or 0"),
    ],
)
def test_bad_obstacles_are_refused(make: Any, message: str) -> None:
    with pytest.raises(lw.ModelError, match=message):
        make()
