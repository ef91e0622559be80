"""Simple shapes: what they keep and what they refuse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from linkwork.errors import ModelError
from linkwork.geometry import Plane, Shape, Sphere

NAN, INF = float("nan"), float("inf")
REFUSED: list[tuple[Callable[[], Shape], str]] = [
    (lambda: Sphere(0.0), "Sphere: the radius 0.0 must be positive"),
    (lambda: Sphere(-1.0), "Sphere: the radius -1.0 must be positive"),
    (lambda: Sphere(NAN), "Sphere: the radius nan must be positive"),
    (lambda: Sphere(INF), "Sphere: the radius inf must be positive"),
    (lambda: Sphere(1.0, (0, 0)), "Sphere center must be three finite numbers"),
    (lambda: Sphere(1.0, (0, 0, NAN)), "Sphere center must be three finite numbers"),
    (lambda: Plane(point=(0, INF, 0)), "Plane point must be three finite numbers"),
    (lambda: Plane(normal=(0, 0, 0, 1)), "Plane normal must be three finite numbers"),
    (lambda: Plane(normal=(0, 0, 0)), "Plane: the normal .* has length 0; give a unit vector"),
    (lambda: Plane(normal=(0, 0, 2)), "Plane: the normal .* has length 2; give a unit vector"),
    (lambda: Plane(normal=(0, NAN, 1)), "Plane normal must be three finite numbers"),
]


@pytest.mark.parametrize(("make", "rule"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_bad_input_names_the_rule(make: Callable[[], Shape], rule: str) -> None:
    with pytest.raises(ModelError, match=rule):
        make()


def test_defaults() -> None:
    ball, ground = Sphere(0.5), Plane()
    assert (ball.radius, ball.center.tolist()) == (0.5, [0, 0, 0])
    assert (ground.point.tolist(), ground.normal.tolist()) == ([0, 0, 0], [0, 0, 1])


def test_nearly_unit_normals_become_unit() -> None:
    rough = np.array([0.6, 0.0, 0.8]) * (1 + 5e-7)
    assert np.linalg.norm(Plane(normal=rough).normal) == pytest.approx(1.0, abs=1e-15)
