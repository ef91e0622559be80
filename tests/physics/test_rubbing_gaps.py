"""Friction and restitution of gaps beside shapes: points on surfaces, surfaces that touch, gaps of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.constraints.rows import constraint_set
from linkwork.model.kinematics import kinematics

EVERY_METHOD = pytest.mark.parametrize("method", ["reduced", "maximal", "maximal-implicit", "redmax"])
G, H, RADIUS = 9.81, 2e-3, 0.1
MU = 0.4


def floor_gap(E: Sequence[Any], r: float) -> Any:
    return E[0].p[2] - r


def floor_point(E: Sequence[Any], r: float) -> Any:
    return lw.math.stack(E[0].p[0], E[0].p[1], 0.0)


def on_floor(kind: str, friction: float, restitution: float = 0.0) -> Any:
    """A ball of the body "ball" on the floor, by different laws."""
    grip: dict[str, Any] = {"friction": friction, "restitution": restitution}
    if kind == "contact":
        return lw.Contact("ball", lw.Sphere(RADIUS), "world", lw.Plane(), **grip)
    if kind == "surfaces":
        return lw.TangentSurfaces("ball", lw.Sphere(RADIUS), lw.Plane(), unilateral=True, **grip)
    own = {"parameters": {"r": RADIUS}, "point": floor_point}
    return lw.constraint(["ball", "world"], floor_gap, unilateral=True, **own, **grip)


def ball(*laws: Any, angle: float = 0.0) -> lw.Model:
    b = lw.ModelBuilder(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=2.0, radius=RADIUS))
    for law in laws:
        b.add(law)
    return b.build()


START = lw.State(np.array([0, 0, RADIUS, 1, 0, 0, 0]), np.array([1.0, -8.0, 2.0, 0.7, 0.3, 0]))


@EVERY_METHOD
@pytest.mark.parametrize("kind", ["surfaces", "own"])
@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_a_ball_slips_and_rolls_as_on_a_contact(kind: str, angle: float, method: str) -> None:
    known, run = (lw.simulate(ball(on_floor(k, MU), angle=angle), START, 0.4, H, method) for k in ("contact", kind))
    assert np.abs(run.v - known.v).max() < 1e-9
    assert np.abs(run.poses - known.poses).max() < 1e-9
    assert run.health.complementarity is not None
    assert run.health.complementarity < 1e-12


@pytest.mark.parametrize("kind", ["surfaces", "own"])
def test_restitution_alone_and_with_friction(kind: str) -> None:
    high = lw.State(START.q + np.array([0, 0, 0.3, 0, 0, 0, 0]), START.v)
    for friction in (0.0, MU):
        known, run = (lw.simulate(ball(on_floor(k, friction, 0.6)), high, 0.8, H) for k in ("contact", kind))
        assert np.abs(run.q - known.q).max() < 1e-9


@EVERY_METHOD
def test_a_point_sticks_and_slides_on_a_slope(method: str) -> None:
    def world(x: Any) -> Any:
        return x[2]

    for angle in (np.arctan(MU) - 0.002, np.arctan(MU) + 0.1):
        b = lw.ModelBuilder(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
        b.body("bead", joint=lw.Translational(), inertia=lw.Inertia.sphere(mass=0.3, radius=0.01))
        b.add(lw.PointOnSurface("bead", (0, 0, 0), lw.ImplicitSurface(world), unilateral=True, friction=MU))
        run = lw.simulate(b.build(), lw.State(np.zeros(3), np.zeros(3)), 0.5, H, method)
        expected = max(0.5 * G * (np.sin(angle) - MU * np.cos(angle)), 0.0)
        assert np.isclose(run.v[-1, 0], expected, rtol=1e-10, atol=1e-12)


def test_a_bead_comes_to_rest_in_a_bowl() -> None:
    """On a sphere seen from inside, at most at the friction angle from the bottom, and it stays there."""
    bowl = lw.ImplicitSurface(lambda x, r: r * r - x @ x, parameters={"r": 1.0})
    b = lw.ModelBuilder()
    b.body("bead", joint=lw.Translational(), inertia=lw.Inertia.sphere(mass=0.3, radius=0.01))
    b.add(lw.PointOnSurface("bead", (0, 0, 0), bowl, unilateral=True, friction=0.3))
    start = np.array([np.sin(1.0), 0, -np.cos(1.0)])
    run = lw.simulate(b.build(), lw.State(start, np.array([0.0, 0.5, 0.0])), 4.0, H)
    assert np.abs(run.v[-1]).max() < 1e-12
    assert np.arccos(-run.q[-1, 2] / np.linalg.norm(run.q[-1])) <= np.arctan(0.3) + 1e-6
    assert np.abs(np.linalg.norm(run.q, axis=1) - 1.0).max() < 1e-3
    assert np.abs(run.q[-1] - run.q[-100]).max() < 1e-12


def test_rows_and_biases_are_derivatives() -> None:
    """G v is the slip of the touching points, bias its rate along the motion, by finite differences; on curved surfaces."""
    b = lw.ModelBuilder()
    for name in ("a", "b"):
        b.body(name, joint=lw.Free(), inertia=lw.Inertia.sphere(mass=1.0, radius=0.2))
    law = lw.TangentSurfaces(
        "a", lw.ellipsoid((0.3, 0.2, 0.25)), lw.ellipsoid((0.2, 0.4, 0.3)), "b", unilateral=True, friction=0.5
    )
    model = b.build().add(law)
    rng = np.random.default_rng(3)
    q = np.array([*(0.1 * rng.normal(size=3)), 1, 0.1, 0.2, 0, *(0.6, 0.1, 0.2), 1, 0, -0.1, 0.3])
    q = model.integrate(q, np.zeros(12))
    v = rng.normal(size=12)

    def seen(s: float) -> Any:
        k = kinematics(model, model.integrate(q, s * v)[None], v[None])
        rows = constraint_set(model).look(k.poses[0], k.twists[0], model.integrate(q, s * v), v)
        return rows.residual, rows.rate, rows.bias

    e = 1e-5
    (_, r0, b0), (g1, r1, _), (g2, r2, _) = seen(0.0), seen(e), seen(-e)
    assert np.isclose((g1[0] - g2[0]) / (2 * e), r0[0], rtol=1e-6)
    assert np.allclose((r1 - r2) / (2 * e), b0, rtol=1e-5, atol=1e-6)


def test_what_is_wrong_is_said() -> None:
    gap: dict[str, Any] = {"residual": floor_gap, "parameters": {"r": 0.1}}
    with pytest.raises(lw.ModelError, match=r"friction needs one gap that only pushes, unilateral=True"):
        lw.constraint(["a", "b"], **gap, friction=0.5, point=floor_point)
    with pytest.raises(lw.ModelError, match=r"friction needs point\(poses, ...\)"):
        lw.constraint(["a", "b"], **gap, unilateral=True, friction=0.5)
    with pytest.raises(lw.ModelError, match="between two bodies"):
        lw.constraint("a", **gap, unilateral=True, friction=0.5, point=floor_point)
    with pytest.raises(lw.ModelError, match="three numbers, not 1"):
        lw.constraint(["a", "b"], **gap, unilateral=True, friction=0.5, point=floor_gap)
    for law in (
        lambda **grip: lw.TangentSurfaces("a", lw.Sphere(0.1), lw.Plane(), unilateral=True, **grip),
        lambda **grip: lw.PointOnSurface("a", (0, 0, 0), lw.Plane(), unilateral=True, **grip),
        lambda **grip: lw.constraint(["a", "b"], **gap, unilateral=True, point=floor_point, **grip),
    ):
        for what, value in (("friction", -0.1), ("friction", np.nan), ("restitution", 1.5), ("restitution", np.nan)):
            with pytest.raises(lw.ModelError, match=f"{what} must be"):
                law(**{what: value})
    with pytest.raises(lw.ModelError, match="only pushes"):
        lw.PointOnSurface("a", (0, 0, 0), lw.Plane(), friction=0.5)
