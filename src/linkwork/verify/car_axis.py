"""The car axis problem of the Bari test set [Mazzia & Magherini, Test Set for IVP Solvers, 2008; Schneider 1994].

An axle whose left wheel rolls on a flat road and whose right one on a bumpy one; stiff springs carry two point masses. The left
one moves across the axle, and the masses keep their distance: two conditions, one of which depends on the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import Inertia, Model, ModelBuilder, State, Translational, math
from ..constraints import constraint
from ..forces.custom import force
from .states import state

MASS = 10.0 * 0.01**2 / 2  # M eps^2 / 2: forces of the problem are of order 1
LENGTH, SPRING, BUMP, RATE = 1.0, 0.5, 0.1, 10.0  # m, m, m, rad/s
END = 3.0  # s

# Published at t = 3 s: x and y of the left and of the right mass, and their rates.
PLACES = np.array([0.4934557842755629e-01, 0.4969894602303324, 0.1041742524885400e01, 0.3739110272652214])
RATES = np.array([-0.7705836840321485e-01, 0.7446866596327776e-02, 0.1755681574942899e-01, 0.7703410437794031])


def right_wheel(t: Any) -> tuple[Any, Any]:
    """Where the right end of the axle is."""
    y = BUMP * np.sin(RATE * t)
    return np.sqrt(LENGTH**2 - y * y), y


def spring(x: Any, z: Any) -> Any:
    """The energy of a spring of stiffness 1 and length SPRING along (x, z)."""
    return 0.5 * (np.sqrt(x * x + z * z) - SPRING) ** 2


def from_wheel(E: Any, t: Any) -> Any:
    x, z = right_wheel(t)
    return spring(E[0].p[0] - x, E[0].p[2] - z)


def across(E: Any, t: Any) -> Any:
    x, z = right_wheel(t)
    return E[0].p[0] * x + E[0].p[2] * z


def car_axis() -> tuple[Model, State]:
    """Two masses in the plane x, z of space; y is held."""
    b = ModelBuilder(gravity=(0, 0, -1.0))
    for name in ("left", "right"):
        b.body(name, joint=Translational(), inertia=Inertia(MASS))
        b.add(constraint(name, lambda E: E[0].p[1], name=f"plane of {name}"))
    b.add(force("left", energy=lambda E: spring(E[0].p[0], E[0].p[2]), name="left spring"))
    b.add(force("right", energy=from_wheel, name="right spring"))
    b.add(constraint("left", across, name="across the axle"))
    b.add(constraint(["left", "right"], lambda E: math.dot(E[0].p - E[1].p, E[0].p - E[1].p) - LENGTH**2, name="distance"))
    return b.build(), state([0, 0, 0.5, 1, 0, 0.5], [-0.5, 0, 0, -0.5, 0, 0])
