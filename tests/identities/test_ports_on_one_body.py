"""Laws with several ports on one body or joint do what the same law on one port does, in every formulation: loads add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.elements.collection import collection
from linkwork.elements.law import ForceLaw, Law, RowLaw
from linkwork.elements.ports import BodyPort, JointPort
from linkwork.kernel import eager
from linkwork.reduced.loaded import loaded_dynamics

ROD = lw.Inertia.cuboid(mass=1.0, size=(0.4, 0.06, 0.05), com=(0.2, 0.01, 0.0))
Q, V = np.array([0.4, 0.6, -0.5]), np.array([0.3, -1.0, 2.0])
METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")
X, Y, ANCHOR = np.array([0.4, 0.0, 0.1]), np.array([0.1, 0.1, 0.0]), np.array([0.6, 0.3, 0.5])


def arm(*laws: Any) -> lw.Model:
    """Three links, hinges about y, y and z."""
    b, parent, place = lw.ModelBuilder(), "world", lw.SE3(p=(0, 0, 1))
    for name, axis in zip("abc", ((0, 1, 0), (0, 1, 0), (0, 0, 1)), strict=True):
        b.body(name, parent=parent, joint=lw.Revolute(axis), placement=place, inertia=ROD)
        parent, place = name, lw.SE3(p=(0.4, 0, 0))
    return b.build().add(*laws) if laws else b.build()


class OnPorts(Law):
    """A law on given ports."""

    def __init__(self, *ports: Any) -> None:
        self._ports = ports

    @property
    def ports(self) -> Any:
        return self._ports

    def code(self, joints: Sequence[lw.Joint]) -> tuple[Any, ...]:
        return (type(self).__name__, len(self._ports))

    def check(self, model: Any) -> None:
        """Nothing to check."""


class Drive(OnPorts, ForceLaw):
    """A spring, a damper and a steady push on a joint: each through a port of its own, or all through one."""

    def loads(self, at: Sequence[Any], t: Any, u: Any) -> Sequence[Any]:
        q, v = (at[0].value, at[-1].velocity)
        parts = [-30.0 * (q - 0.1), -2.0 * v, 0.0 * v + 3.0]
        return parts if len(at) == 3 else [parts[0] + parts[1] + parts[2]]


class Within(lw.SpringDamper):
    """A spring between two points of one body, which users' springs refuse."""

    pairs = False


class Height(OnPorts, RowLaw):
    """A sum of the heights of two points stays: of one body, through one port or two."""

    size = 1

    def gap_of(self, x: Sequence[Any], t: Any, unknown: Any) -> Any:
        return [(x[0] @ X)[2] + (x[-1] @ Y)[2] - HEIGHT]


class Gearing(OnPorts, RowLaw):
    """q_c - 0.5 q_b + 0.2 q_c stays: joint c through one port or two."""

    size = 1

    def gap_of(self, x: Sequence[Any], t: Any, unknown: Any) -> Any:
        return [x[0][0] - 0.5 * x[1][0] + 0.2 * x[-1 if len(x) == 3 else 0][0] - GEARING]


POSE = lw.kinematics(arm(), Q).poses[2]
HEIGHT = float((POSE[:3, :3] @ (X + Y) + 2 * POSE[:3, 3])[2])
GEARING = float(Q[2] - 0.5 * Q[1] + 0.2 * Q[2])


def pull(poses: Any) -> Any:
    """Two springs from an anchor to points of a body."""
    d, e = poses[0] @ X - ANCHOR, poses[-1] @ Y - ANCHOR
    return 20.0 * d @ d + 35.0 * e @ e


b, c, jb, jc = BodyPort("b"), BodyPort("c"), JointPort("b"), JointPort("c")
CASES: dict[str, tuple[Any, Any]] = {
    "springs": (lw.force(("c", "c"), energy=pull), lw.force("c", energy=pull)),
    "drive": (Drive(jb, jb, jb), Drive(jb)),
    "rows on a body": (Height(c, c), Height(c)),
    "rows on a joint": (Gearing(jc, jb, jc), Gearing(jc, jb)),
    "within": (Within("b", "b", (0.4, 0, 0.1), (0, 0.1, 0), stiffness=80.0, damping=3.0, rest_length=0.1), None),
}


def run(method: str, *laws: Any) -> np.ndarray:
    traj = lw.simulate(arm(*laws), lw.State(Q, 0.0 * V), duration=0.1, dt=1e-3, method=method)
    return np.concatenate([traj.q[-1], traj.v[-1]])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", METHODS)
def test_ports_on_one_body_add_up(method: str, case: str) -> None:
    several, one = CASES[case]
    expected = run(method, *([] if one is None else [one]))
    assert np.abs(run(method, several) - expected).max() < 1e-9
    assert np.abs(expected - run(method)).max() > 1e-3 or one is None


@pytest.mark.parametrize("case", CASES)
def test_accelerations_single_batched_and_eager(case: str) -> None:
    several, one = CASES[case]
    model, plain = arm(several), arm(*([] if one is None else [one]))
    a, x = lw.constrained_dynamics(model, Q, V)
    expected, x_expected = lw.constrained_dynamics(plain, Q, V)
    np.testing.assert_allclose(a, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    np.testing.assert_allclose(x, x_expected, atol=1e-10)
    batch, _ = lw.constrained_dynamics(model, np.tile(Q, (5, 1)), np.tile(V, (5, 1)))
    assert np.array_equal(batch, np.tile(a, (5, 1)))
    given = {"q": Q, "v": V, "gravity": model.gravity}
    found = eager.run(loaded_dynamics(collection(model).shape), collection(model).tree, given)["accelerations"]
    np.testing.assert_allclose(found, a, rtol=0, atol=1e-11 * np.abs(a).max())
