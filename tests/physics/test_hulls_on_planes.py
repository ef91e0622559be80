"""Hulls of many corners, and meshes, on planes: they come to rest on a face, and slide as boxes do."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw

METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")
G, MU, SLOPE = 9.81, 0.3, 0.5
RING = np.array([[np.cos(x), np.sin(x)] for x in np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)])
DRUM = np.array([[*(0.2 * p), z] for z in (-0.05, 0.05) for p in RING])  # 24 corners, more faces than hulls on hulls may have


def table() -> lw.Mesh:
    """A slab on which a smaller one stands upright: not convex; the plane touches the corners of its hull."""
    slab, stem = (lw.Convex([[x, y, z] for x in (-w, w) for y in (-w, w) for z in (low, high)]) for w, low, high in PARTS)
    faces = np.concatenate([slab.faces, stem.faces + len(slab.vertices)])
    return lw.Mesh(np.concatenate([slab.vertices, stem.vertices]), faces, mass=2.0)


PARTS = ((0.2, -0.05, 0.0), (0.05, 0.0, 0.1))
SHAPES = {"drum": lambda: lw.Convex(DRUM, mass=1.0), "mesh": table}


def start(kind: str, slope: float) -> tuple[lw.Model, lw.State]:
    b = lw.ModelBuilder(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    b.ground(friction=MU)
    b.body("stone", joint=lw.Free(), shapes=[SHAPES[kind]()])
    return b.build(), lw.State([0, 0, 0.05, 1, 0, 0, 0], np.zeros(6))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", SHAPES)
def test_they_stick_and_slide(kind: str, method: str) -> None:
    rest = lw.simulate(*start(kind, np.arctan(MU) - np.radians(0.1)), 1.0, 5e-3, method)
    assert np.abs(rest.poses[-1] - rest.poses[0]).max() < 1e-12
    slide = lw.simulate(*start(kind, SLOPE), 0.5, 5e-3, method)
    speed = (slide.poses[-1, 0, 0, 3] - slide.poses[-2, 0, 0, 3]) / 5e-3
    assert speed == pytest.approx(0.5 * G * (np.sin(SLOPE) - MU * np.cos(SLOPE)), rel=1e-4)
    assert slide.health.complementarity is not None
    assert slide.health.complementarity < 1e-12
