"""Cables: tension along a path, slack ones, rest lengths, scene files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.io.redmax.elements import StretchedCable

POINTS = [("a", (0, 0, 0)), ("world", (1, 0, 0)), ("b", (0, 0, 0))]


def parts(*elements: Any) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia(1.0))
    b.body("b", joint=lw.Prismatic((0, 0, 1)), placement=lw.SE3(p=(1, 0, -0.5)), inertia=lw.Inertia(1.0))
    for e in elements:
        b.add(e)
    return b.build()


def wrenches(cable: Any, q: Any, v: Any = (0.0, 0.0)) -> np.ndarray:
    model = parts(cable)
    k = lw.kinematics(model, np.array(q, float), np.array(v, float))
    return lw.force_set(model).wrenches(k.poses, k.twists)


def test_it_pulls_along_all_its_segments() -> None:
    found = wrenches(lw.Cable(POINTS, 6.0, 0.9, rest_length=1.2), (-0.3, -0.1), (-0.2, 0.1))
    tension = (6.0 * (1.3 + 0.6 - 1.2) + 0.9 * 0.1) / 1.2
    np.testing.assert_allclose(found[:, 3:], [[tension, 0, 0], [0, 0, tension]], atol=1e-14)


def test_slack_and_quickly_shortened_cables_do_nothing() -> None:
    assert not wrenches(lw.Cable(POINTS, 6.0, 0.9, rest_length=1.2), (0.4, 0.1), (-9.0, 0.0)).any()
    short = (-0.1, 0.0), (9.0, 0.0)
    assert not wrenches(lw.Cable(POINTS, 6.0, 0.9, rest_length=1.2), *short).any()
    assert wrenches(StretchedCable(POINTS, 6.0, 0.9, 1.2), *short)[0, 3] == pytest.approx((6.0 * 0.4 - 0.9 * 9) / 1.2)


def test_the_rest_length_is_that_of_the_neutral_configuration() -> None:
    found, expected = (wrenches(lw.Cable(POINTS, 6.0, rest_length=L), (-0.3, -0.1)) for L in (None, 1.5))
    np.testing.assert_array_equal(found, expected)
    assert not wrenches(lw.Cable(POINTS, 6.0), (0.0, 0.0)).any()


def test_its_energy() -> None:
    model = parts(lw.Cable(POINTS, 6.0, rest_length=1.2), lw.Cable(POINTS, 6.0, rest_length=3.0))
    k = lw.kinematics(model, np.array([-0.3, -0.1]), np.zeros(2))
    np.testing.assert_allclose(lw.force_set(model).energies(k.poses, k.twists), [6.0 * 0.7**2 / 2.4, 0.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lw.Cable([("a", (0, 0, 0))], 1.0), "at least two points"),
        (lambda: lw.Cable(POINTS, -1.0), "stiffness"),
        (lambda: lw.Cable(POINTS, 1.0, rest_length=0.0), "rest_length"),
        (lambda: parts(lw.Cable([("z", (0, 0, 0)), ("a", (0, 0, 0))], 1.0)), "there is no body 'z'"),
    ],
)
def test_refused(make: Any, message: str) -> None:
    with pytest.raises(lw.ModelError, match=message):
        make()
