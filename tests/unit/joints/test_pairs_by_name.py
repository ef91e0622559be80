"""Shorter names of pairs that touch: the same joints, which travel as all others do."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw

POINTS = [(0, 0, 1), (0.5, 0.3, 0), (1, -0.3, 0), (1.5, 0, 1)]
BOWL = [[(x, y, x * x + y * y) for y in (-1, 0, 1)] for x in (-1, 0, 1)]
RING = lw.Torus(0.5, 0.1)
CASES = {
    "curve": (lw.BezierCurve(POINTS), lw.CurvePoint(lw.bezier_curve(POINTS))),
    "surface": (lw.BezierSurface(BOWL), lw.SurfacePoint(lw.bezier_surface(BOWL))),
    "pair": (lw.SurfacePair(RING, RING), lw.SurfaceSurface(RING, RING)),
    "spinning pair": (lw.SurfacePair(RING, RING, spin=True), lw.SurfaceSurface(RING, RING, "spin")),
}


def on(joint: lw.Joint) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("a", joint=joint, inertia=lw.Inertia.cuboid(mass=1.0, size=(0.3, 0.2, 0.1)))
    return b.build()


@pytest.mark.parametrize("case", CASES)
def test_they_are_the_same_joints(case: str, tmp_path: Path) -> None:
    short, long = map(on, CASES[case])
    q, v = np.full(short.nq, 0.3), np.linspace(0.5, 1.0, short.nv)
    expected = lw.forward_dynamics(long, q, v)
    short.save(tmp_path / "m.lwm")
    for model in (short, pickle.loads(pickle.dumps(short)), lw.load(tmp_path / "m.lwm")):
        assert np.array_equal(lw.forward_dynamics(model, q, v), expected)
    for method in ("reduced", "maximal"):
        runs = [lw.simulate(m, lw.State(q, v), 0.05, 1e-3, method) for m in (short, long)]
        assert np.array_equal(runs[0].poses, runs[1].poses)
