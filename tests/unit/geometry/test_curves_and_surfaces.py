"""Curves and surfaces: tangents, normals and samples against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.geometry.surfaces import Surface, as_surface
from linkwork.geometry.touching import touching

CIRCLE = lw.Curve(lambda u, r: [r * np.cos(u), r * np.sin(u), 0.0], (-np.pi, np.pi), {"r": 2.0})


def test_a_circle() -> None:
    x, tangent = (np.asarray(y, float) for y in CIRCLE.point_and_tangent(0.3))
    assert np.allclose(x, [2 * np.cos(0.3), 2 * np.sin(0.3), 0])
    assert np.allclose(tangent, [-2 * np.sin(0.3), 2 * np.cos(0.3), 0])
    assert abs(CIRCLE.nearest(np.array([0.0, 5.0, 1.0])) - np.pi / 2) < 0.02
    assert abs(CIRCLE.aside[2]) == 1.0  # it runs in every direction of its plane
    assert np.asarray(CIRCLE.bound({"r": 3.0}).point(0.0), float)[0] == 3.0


@pytest.mark.parametrize(
    "surface", [lw.ellipsoid((0.5, 0.4, 0.3), (0.1, 0.2, 0.3)), lw.torus(1.0, 0.3)], ids=["ellipsoid", "torus"]
)
def test_samples_lie_on_the_surface_and_around_it(surface: lw.ImplicitSurface) -> None:
    u, points, normals = surface.table
    assert np.array_equal(u, points)
    values, slopes = zip(*(surface.value_and_gradient(x) for x in points), strict=True)
    assert np.abs(np.array(values, float)).max() < 1e-6
    assert np.all(np.sum(np.array(slopes, float) * normals, axis=1) > 0)
    assert np.abs(np.linalg.norm(normals, axis=1) - 1).max() < 1e-12
    box = np.asarray(surface.box)
    assert np.all(np.ptp(points, axis=0) > 0.8 * np.ptp(box, axis=0) / 1.1)


def test_a_parametric_surface_and_its_implicit_twin() -> None:
    ring = lw.ParametricSurface(
        lambda u: [(1 + 0.3 * np.cos(u[1])) * np.cos(u[0]), (1 + 0.3 * np.cos(u[1])) * np.sin(u[0]), 0.3 * np.sin(u[1])],
        ((-np.pi, np.pi), (-np.pi, np.pi)),
    )
    implicit = lw.torus(1.0, 0.3)
    u = np.array([0.4, 0.9])
    one = ring.patch(u)
    two = implicit.patch(np.asarray(one.point, float))
    n, m = (np.array(p.normal, float) / np.linalg.norm(np.array(p.normal, float)) for p in (one, two))
    assert np.allclose(n, m)
    assert abs(float(two.equations[0])) < 1e-15
    for a, b in (*((t, two.normal) for t in one.tangents), *((t, one.normal) for t in two.tangents)):
        assert abs(np.dot(np.array(a, float), np.array(b, float))) < 1e-14
    outside = np.asarray(one.point, float) + 0.01 * n
    assert float(ring.height(outside, u)) == pytest.approx(0.01, abs=1e-14)
    assert float(implicit.height(outside, np.zeros(0))) == pytest.approx(0.01, abs=3e-4)  # to first order


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lw.Curve(lambda u: [u, u]), "must be three numbers"),
        (lambda: lw.Curve(lambda u: [0.0, 0.0, 1.0]), "does not move at u = 0"),
        (lambda: lw.Curve(lambda u: [u, u, u], (1, 0)), "two numbers, the first below the second"),
        (lambda: lw.ParametricSurface(lambda u: [u[0], u[1]]), "must be three numbers"),
        (lambda: lw.ParametricSurface(lambda u: [u[0], u[1], 0], ((0, 1),)), "two intervals"),
        (lambda: lw.ImplicitSurface(lambda x: x), "must be one number"),
        (lambda: lw.ImplicitSurface(lambda x: x[0], ((1, 0, 0), (0, 1, 1))), "box must be two corners"),
        (lambda: lw.ImplicitSurface(lambda x: x[0]).samples(), "give a box"),
        (lambda: lw.ImplicitSurface(lambda x: x[0] ** 2 + 1.0, ((0, 0, 0), (1, 1, 1))).samples(), "does not vanish in the box"),
        (lambda: lw.ellipsoid((1, 2)), "three positive numbers"),
        (lambda: lw.torus(0.3, 1.0), "must be thinner"),
    ],
)
def test_refused(make: Any, message: str) -> None:
    with pytest.raises(lw.ModelError, match=message):
        make()


EGG = lw.ParametricSurface(
    lambda u: [0.5 * np.cos(u[1]) * np.cos(u[0]), 0.4 * np.cos(u[1]) * np.sin(u[0]), 0.3 * np.sin(u[1])],
    ((-np.pi, np.pi), (-1.5, 1.5)),
)


@pytest.mark.parametrize("a", [lw.ellipsoid((0.5, 0.4, 0.3)), EGG], ids=["implicit", "parametric"])
@pytest.mark.parametrize(
    "b", [lw.ellipsoid((0.3, 0.3, 0.3)), EGG, as_surface("a test", lw.Plane())], ids=["ball", "egg", "plane"]
)
def test_touching_points_are_found_roughly(a: Surface, b: Surface) -> None:
    """One above the other: its lowest point meets the highest one below."""
    E = np.eye(4)
    E[:3, 3] = [0.0, 0.0, 0.7]
    u = touching(a, b, E)
    x, y = (np.asarray(p.point, float) for p in (a.patch(u[: a.coordinates]), b.patch(u[a.coordinates :])))
    assert np.abs(x - [0, 0, -0.3]).max() < 0.15
    assert np.abs(y[:2]).max() < 0.15
    back = touching(b, a, np.linalg.inv(E))
    assert np.abs(np.asarray(a.patch(back[b.coordinates :]).point, float) - [0, 0, -0.3]).max() < 0.15
