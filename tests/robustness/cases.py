"""What every table of bad input shares: a kind is something to do, and what its complaint must name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import linkwork as lw

NAN, INF = float("nan"), float("inf")
ROD = lw.Inertia.cuboid(1.0, (1.0, 0.1, 0.1), (0.5, 0.0, 0.0))
STRETCHED = lw.SE3(R=2.0 * np.eye(3))
MIRRORED = lw.SE3(R=np.diag([1.0, 1.0, -1.0]))


@dataclass(frozen=True)
class Bad:
    """A kind of bad input.

    do     runs into it; must raise a LinkworkError of one line
    said   what its message must contain: the element, the value, the rule or the remedy
    """

    do: Callable[[], Any]
    said: tuple[str, ...]


def bad(do: Callable[[], Any], *said: str) -> Bad:
    """A kind, short."""
    return Bad(do, said)


def arm(**changes: Any) -> lw.ModelBuilder:
    """One body "arm" on a hinge about y, with these changes."""
    given = {"joint": lw.Revolute((0, 1, 0)), "inertia": ROD} | changes
    return lw.ModelBuilder().body("arm", **given)


def two(*laws: Any) -> lw.Model:
    """Two links, "upper" and "lower", under these laws."""
    b = lw.ModelBuilder()
    b.body("upper", joint=lw.Revolute((0, 1, 0)), inertia=ROD, joint_name="shoulder")
    b.body("lower", parent="upper", joint=lw.Revolute((0, 1, 0)), inertia=ROD, placement=lw.SE3(p=(1, 0, 0)), joint_name="elbow")
    for law in laws:
        b.add(law)
    return b.build()


@cache
def plain() -> lw.Model:
    """Two links and nothing else."""
    return two()


@cache
def ball() -> lw.Model:
    """A link on a ball joint named "hip"."""
    return lw.ModelBuilder().body("leg", joint=lw.Spherical(), inertia=ROD, joint_name="hip").build()


@cache
def free() -> lw.Model:
    """A free body."""
    return lw.ModelBuilder().body("box", joint=lw.Free(), inertia=ROD).build()


def at_rest(model: lw.Model) -> lw.State:
    """Its neutral position."""
    return lw.State(model.neutral(), np.zeros(model.nv))


def run(model: lw.Model | None = None, **changes: Any) -> lw.Trajectory:
    """Ten steps of a model from rest, with these changes to the call."""
    model = plain() if model is None else model
    given: dict[str, Any] = {"state": at_rest(model), "duration": 0.01, "dt": 1e-3} | changes
    return lw.simulate(model, **given)
