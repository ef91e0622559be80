"""What joints carry in a linearly implicit step, for friction inside them: `rows.pressing` where forces are linearised.

With b = J a of the bodies, a = (v' - v) / h, and what is there at a = 0 (`still`), the forces of a step are load - P b, so that

    f_j = I_j (still_j + b_j) + gyroscopic wrench - load_j + (P b)_j - rows + sum of move(f_k) over the children k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernel.loops import Ints, Lane, loops
from ..kernel.sweep import Routine, Step, each, outward
from ..model.rules import inertia_of
from ..reduced.rules import gyroscopic
from ..rows.pressing import transmit
from ..spatial.scalar import Scalar, Vector
from .dense_program import couple, product_twists


def carry_joints(n: Any, parent: Any) -> None:
    """Where only joints are soft."""
    transmit(n, parent, _wrench(n, _made(n, n.h)))


def carry_bodies(n: Any, parent: Any) -> None:
    """The same where bodies are soft, too."""
    b = _made(n, n.h)
    transmit(n, parent, _wrench(n, b) + n.soft @ b)


def carry_pairs(n: Any, parent: Any) -> None:
    """The same with blocks between neighbours."""
    b = _made(n, n.h)
    transmit(n, parent, _wrench(n, b) + n.soft @ b + n.cross @ _made(parent, n.h))
    parent.held_up = parent.held_up + n.cross.T @ b


def carry_coupled(n: Any, parent: Any) -> None:
    """The same with P of all forces, which is known on the motion."""
    transmit(n, parent, _wrench(n, n.twisted) + n.bent)


CARRY: dict[tuple[bool, bool], Callable[..., None]] = {
    (False, False): carry_joints,
    (True, False): carry_bodies,
    (True, True): carry_pairs,
}  # by what is near


def _made(n: Any, h: Scalar) -> Vector:
    """J a with rows."""
    return n.made + n.jump / h


def _wrench(n: Any, b: Vector) -> Vector:
    own = inertia_of(n)
    return own @ (n.still + b) + gyroscopic(n.w, n.first_moment, own.J) - n.load - n.row_load / n.h + n.held_up


@loops
def accelerate(active: Ints, nv: int, h: Lane, v: Lane, free_v: Lane, Y: Lane, x: Lane, unit: Lane) -> None:
    """a of the motion with rows."""
    for k in range(nv):
        change = free_v[k] - v[k]
        for i in range(active[0]):
            change += Y[i * nv + k] * x[active[i + 1]]
        unit[k] = change / h[0]


def coupled_motion(forces: int) -> list[Step]:
    """From the multipliers to J a and P J a."""
    found: list[Step] = [Routine(accelerate, ("active", "nv", "h", "v", "free_v", "Y", "x", "unit")), outward(product_twists)]
    return found + ([each(couple, *(f"p{i}" for i in range(forces)), on="force")] if forces >= 0 else [])
