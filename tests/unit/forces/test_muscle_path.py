"""Paths of muscles: lengths, gradients, which code they share, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from models import rotation, unit

import linkwork as lw
from linkwork.elements.derive import displaced as displaced_ports
from linkwork.elements.derive import gradient_of
from linkwork.forces.force import placed
from linkwork.forces.muscle_path import locally
from linkwork.spatial.dual import Dual, displaced
from linkwork.spatial.se3 import SE3

SPHERE = lw.WrapSphere("c", (0.1, 0.0, 0.2), radius=0.6)
CYLINDER = lw.WrapCylinder("c", (0.1, 0.0, 0.2), axis=(1, 2, 3), radius=0.6, turn=-1)
PATHS = {
    "straight": [("a", (1, 0, 0)), ("b", (0, -1, 2))],
    "many points": [("world", (1, 2, 0)), ("a", (0, 1, 0)), ("a", (0, 1, 1)), ("b", (0.3, 0, 0)), ("a", (2, 0, 0))],
    "sphere": [("a", (2, 0, 0)), SPHERE, ("b", (-2, 0, 0.2))],
    "cylinder": [("a", (2, 0, 0)), CYLINDER, ("b", (-2, 0, 0.2))],
    "both": [("a", (2, 0, 0)), SPHERE, ("b", (-2, 0, 0.2)), CYLINDER, ("a", (1.5, 0.5, 0)), ("c", (0, 2, 0))],
}


def poses_for(path: lw.MusclePath, seed: int) -> list[SE3]:
    rng = np.random.default_rng(seed)
    some = {name: SE3(R=rotation(unit(rng), rng.uniform(0, 0.6)), p=0.2 * rng.normal(size=3)) for name in ("a", "b", "c")}
    return [some.get(name, SE3()) for name in path.bodies]


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("seed", range(4))
def test_slopes_are_the_gradient_of_the_length(name: str, seed: int) -> None:
    path = lw.MusclePath(*PATHS[name])
    poses = poses_for(path, seed)
    length, slopes = path.slopes(poses)
    whole = path.length(displaced_ports(placed(poses)))
    assert float(length) == pytest.approx(float(whole.x), rel=1e-14) == pytest.approx(float(path.length(poses)), rel=1e-14)
    for mine, derived in zip(slopes, gradient_of(whole, placed(poses)), strict=True):
        np.testing.assert_allclose(mine.astype(float), derived.astype(float), atol=1e-13)


@pytest.mark.parametrize("name", PATHS)
def test_no_motion_of_all_bodies_together_changes_the_length(name: str) -> None:
    path = lw.MusclePath(*PATHS[name])
    poses = poses_for(path, 1)
    _, slopes = path.slopes(poses)
    total = sum(E.move_wrench(g) for E, g in zip(poses, slopes, strict=True))
    np.testing.assert_allclose(np.asarray(total, float), 0.0, atol=1e-13)


def test_length_of_a_broken_line() -> None:
    path = lw.MusclePath(("world", (0, 0, 0)), ("a", (0, 0, 1)), ("b", (0, 1, 0)))
    poses = [SE3(), SE3(p=(3, 0, -1)), SE3(p=(3, 3, 0))]
    assert path.length(poses) == pytest.approx(3.0 + 4.0)
    np.testing.assert_allclose(path.world_points(poses), [[0, 0, 0], [3, 0, 0], [3, 4, 0]])
    _, (at_world, at_a, at_b) = path.slopes(poses)
    np.testing.assert_allclose(at_world[3:], (-1, 0, 0))
    np.testing.assert_allclose(at_a[3:], (1, -1, 0))
    np.testing.assert_allclose(at_b, (0, 0, 0, 0, 1, 0))


def test_paths_that_differ_in_numbers_share_code() -> None:
    a, b = (lw.MusclePath(("a", (0, 0, z)), lw.WrapSphere("b", radius=1 + z), ("c", (0, z, 9))) for z in (2.0, 3.0))
    assert a.signature == b.signature
    assert a.signature != lw.MusclePath(("a", (0, 0, 2)), ("c", (0, 2, 9))).signature
    poses = [SE3(p=(0, 0, 2)), SE3(), SE3(p=(0, 0, -14))]
    assert a.with_numbers(b.numbers).length(poses) == b.length(poses)


class Ring(lw.forces.muscle_wrap.Wrap):
    """An obstacle of a user."""

    def __init__(self, scale: float) -> None:
        self.body, self.scale, self.numbers = "c", scale, np.array([1.0])

    @property
    def frame(self) -> SE3:
        return SE3()

    def length(self, a: Any, b: Any) -> Any:
        return self.scale * self.radius + lw.math.norm(a - b)

    def depth(self, x: np.ndarray) -> float:
        return -1.0


def test_obstacles_of_users_are_known_by_what_they_compute() -> None:
    assert Ring(1.0).signature == Ring(1.0).signature != Ring(2.0).signature
    path = lw.MusclePath(("a", (0, 0, 0)), Ring(2.0), ("b", (0, 3, 0)))
    assert path.length([SE3(), SE3(), SE3()]) == pytest.approx(5.0)


def test_local_differentiation_is_the_chain_rule() -> None:
    E = displaced(SE3(R=rotation(np.eye(3)[0], 0.3), p=(1.0, 2.0, 3.0)), 8, 2)
    x, y = E.p[0] * 2.0, E.R[1, 2] + 1.0

    def f(x: Any, y: Any) -> list[Any]:
        return [np.sin(x) * y + x / y, x * x, 5.0]

    for a, b in zip(locally(f, x, y), f(x, y), strict=True):
        if isinstance(b, Dual):
            np.testing.assert_allclose([a.x, *a.grad], [b.x, *b.grad], atol=1e-14)
        else:
            assert a == b
    assert locally(f, 1.0, 2.0) == f(1.0, 2.0)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([("a", (0, 0, 0))], "at least two points"),
        ([("a", (0, 0, 0)), ("a", (0, 0, 1))], "lies on one body"),
        ([SPHERE, ("a", (0, 0, 0)), ("b", (0, 0, 0))], "between two points"),
        ([("a", (2, 0, 0)), SPHERE, CYLINDER, ("b", (2, 0, 0))], "one obstacle at a time"),
        ([("a", (2, 0, 0)), ("a", (2, 0, 0)), ("b", (2, 0, 0))], "twice in a row"),
        ([("a", (2, 0, 0)), SPHERE, ("c", (0.1, 0.0, 0.3))], "inside WrapSphere"),
        ([("a", (2, 0, 0)), CYLINDER, ("c", (0.1, 0.0, 0.3))], "inside WrapCylinder"),
        ([("a", (2, 0)), ("b", (0, 0, 0))], "three finite numbers"),
        ([("a", (2, 0, np.inf)), ("b", (0, 0, 0))], "three finite numbers"),
        ([("", (2, 0, 0)), ("b", (0, 0, 0))], "a body must be a name"),
        (["ab", ("b", (0, 0, 0))], "made of"),
        ([3, ("b", (0, 0, 0))], "made of"),
    ],
)
def test_bad_paths_are_refused(items: list[Any], message: str) -> None:
    with pytest.raises(lw.ModelError, match=message):
        lw.Muscle(items, 100.0, 0.1, name="m")


@pytest.mark.parametrize("path", ["ab", SPHERE, 7])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(lw.ModelError, match="path must be a list"):
        lw.Muscle(path, 100.0, 0.1)
