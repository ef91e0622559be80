"""Rows of shapes that touch: against differences of the gaps, for every pair whose gaps are smooth."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.constraints.targets import rebound
from linkwork.elements.derive import derive
from linkwork.elements.ports import BodyAt
from linkwork.elements.touch import LOOKED, LOOKS, frame_of, meeting
from linkwork.spatial.se3 import SE3

POSE = SE3(
    R=lw.SE3.rot_quat(np.array([0.9, 0.1, -0.3, 0.2]) / np.linalg.norm([0.9, 0.1, -0.3, 0.2])).R, p=np.array([0.01, 0.02, -0.03])
)
SHAPES = {
    "sphere-plane": (lw.Sphere(0.2, (0.1, 0.0, 0.05)), lw.Plane((0.0, 0.1, 0.0), (0.0, 0.6, 0.8))),
    "box-plane": (lw.Box((0.3, 0.2, 0.1), POSE), lw.Plane((0.0, 0.1, 0.0), (0.0, 0.6, 0.8))),
    "capsule-plane": (lw.Capsule(0.1, 0.4, POSE), lw.Plane()),
    "ellipsoid-plane": (lw.Ellipsoid((0.3, 0.2, 0.1), POSE), lw.Plane()),
    "sphere-sphere": (lw.Sphere(0.2, (0.1, 0.0, 0.05)), lw.Sphere(0.3)),
    "sphere-capsule": (lw.Sphere(0.2), lw.Capsule(0.1, 0.4, POSE)),
    "sphere-box": (lw.Sphere(0.2), lw.Box((0.5, 0.4, 0.3), POSE)),
}
SMALL = 1e-5


def poses(rng: np.random.Generator) -> list[SE3]:
    found = []
    for k in range(2):
        quat = rng.normal(size=4)
        found.append(SE3(R=SE3.rot_quat(quat / np.linalg.norm(quat)).R, p=rng.normal(size=3) + 2.0 * (k == 0)))
    return found


def displaced(E: SE3, xi: np.ndarray) -> SE3:
    return SE3(R=E.R, p=E.p) @ SE3.exp(xi)


@pytest.mark.parametrize("pair", list(SHAPES))
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_normals_are_gradients_of_gaps(pair: str, friction: float) -> None:
    a, b = SHAPES[pair]
    law = lw.Contact("a", a, "b", b, friction=friction)
    rng = np.random.default_rng(4)
    each = 3 if friction else 1
    for _ in range(5):
        x, v = poses(rng), rng.normal(size=(2, 6))
        found = derive(law, [BodyAt(E, phi) for E, phi in zip(x, v, strict=True)], 0.0, np.zeros(0))

        def gap(s: float, x: list[SE3] = x, v: np.ndarray = v) -> np.ndarray:
            return np.asarray(law.residual(*(displaced(E, s * phi) for E, phi in zip(x, v, strict=True))), float)[::each]

        rate = (gap(SMALL) - gap(-SMALL)) / (2 * SMALL)
        assert np.asarray(found.G[::each] @ v.reshape(-1), float) == pytest.approx(rate, abs=1e-8)
        assert np.asarray(found.rate[::each], float) == pytest.approx(rate, abs=1e-8)
        bend = (gap(1e-3) - 2 * gap(0.0) + gap(-1e-3)) / 1e-6
        assert np.asarray(found.bias[::each], float) == pytest.approx(bend, rel=1e-3, abs=1e-3)


def test_tangents_complete_the_normal() -> None:
    for normal in (*np.eye(3), *-np.eye(3), np.array([0.6, 0.0, 0.8]), np.ones(3) / np.sqrt(3)):
        frame = np.array(frame_of(normal), float)
        assert frame @ frame.T == pytest.approx(np.eye(3), abs=1e-15)
        assert np.linalg.det(frame) == pytest.approx(1.0)


@pytest.mark.parametrize(("offset", "misses"), [(0.0, 0.0), (0.2, 0.0), (0.31, 1.0)])
def test_when_balls_meet(offset: float, misses: float) -> None:
    law = lw.Contact("a", lw.Sphere(0.1), "b", lw.Sphere(0.2))
    at = [BodyAt(SE3(p=np.array([-2.0, offset, 0.0])), np.zeros(6)), BodyAt(SE3(), np.zeros(6))]
    s, missed, last = 0.0, 0.0, -1.0
    for _ in range(1 + LOOKS):
        if s > last + LOOKED:
            last = s
            s, missed = meeting(law, at, [np.array([0, 0, 0, 100.0, 0, 0]), np.zeros(6)], 0.05, s)
    assert missed == misses
    if not misses:
        assert s * 5.0 == pytest.approx(2.0 - np.sqrt(0.3**2 - offset**2), rel=1e-6)


@pytest.mark.parametrize("e", [1.0, 0.7, 0.2])
def test_a_rebound_takes_its_part_of_the_energy(e: float) -> None:
    """v^2/2 + a g - h a v/2, which free steps keep, falls to e^2 of what it was."""
    h, a, v, g = 1e-2, 9.81, -2.0, 0.013 if e > 0.5 else 0.001
    after = float(rebound(g, v, v - h * a, e, h))
    end = g + h * after
    kept = [0.5 * v**2 + a * g - 0.5 * h * a * v, 0.5 * after**2 + a * end - 0.5 * h * a * after]
    assert kept[1] == pytest.approx(e**2 * kept[0])
    assert float(rebound(0.015, v, v - h * a, 0.1, h)) == pytest.approx(0.2)  # it would not fly as high as it is
    assert float(rebound(0.03, v, v - h * a, e, h)) == 0.0  # they do not meet in this step
    assert float(rebound(0.0, -0.05, -0.05 - h * a, e, h)) == 0.0  # slower than a step makes it
