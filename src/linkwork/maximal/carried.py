"""What joints carry: their wrenches on their bodies, and the multipliers of their own rows, once the motion is known.

Newton and Euler for every body, leaves to root: w_j = M_j a_j + gyroscopic wrench - loads - forces of rows + sum of move(w_k)
over the children, and lam_j = T^T w_j. Joint forces are part of w_j.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..elements.collection import Shape
from ..elements.derive import derive
from ..elements.nodes import STILL, law_at
from ..elements.ports import At, starts
from ..joints import Joint
from ..joints.complement import complement
from ..kernel.sweep import Field, Step, each, inward, vector
from ..model.rules import inertia_of
from ..rows.asked import made_rows
from ..rows.solved import VELOCITY
from ..spatial.scalar import Vector
from .program import gyroscopic, linear


def bear_impulses(n: Any, *ports: Any) -> None:
    """The wrenches that the rows of a constraint exert during a step, also those that are made where shapes meet ahead."""
    law, at = law_at(n, ports)
    law = law.with_inputs(n.told)
    G = made_rows(n, law, at) if law.curved else derive(law, at, n.t if law.holonomic else n.t + n.h, n.foot).G
    _bear(n, ports, at, G.T @ (n.x / n.h))


def bear_forces(n: Any, *ports: Any) -> None:
    """The wrenches that the rows of a constraint exert."""
    law, at = law_at(n, ports)
    _bear(n, ports, at, derive(law.with_inputs(n.told), at, n.t, n.foot).G.T @ n.x)


def _bear(n: Any, ports: Sequence[Any], at: Sequence[At], force: Vector) -> None:
    first = starts(at)
    for i, (kind, port) in enumerate(zip(n.kinds, ports, strict=False)):
        if kind != STILL and not isinstance(kind, Joint):
            port.load = port.load + force[first[i] : first[i + 1]]


def carry_impulses(n: Any, parent: Any) -> None:
    """The mean wrench of every joint on its body during a step, and its multipliers."""
    _carry(n, parent, (n.free - n.twists) / n.h)


def carry_forces(n: Any, parent: Any) -> None:
    """The wrench of every joint on its body, and its multipliers."""
    _carry(n, parent, n.free + linear(n.turning))


def _carry(n: Any, parent: Any, a: Vector) -> None:
    own = inertia_of(n)
    falling = a - linear(n.poses.unrotate(n.gravity))
    wrench = own @ falling + gyroscopic(n, own.J) - n.load + n.carried
    n.wrench, n.lam = wrench, complement(n.S).T @ wrench
    parent.carried = parent.carried + n.E.move_wrench(wrench)


def carried_fields() -> dict[str, Field]:
    """Those of `carried`: the wrench of every joint on its body, in body axes, and T^T of it."""
    return {
        "carried": Field("gathered", codec=vector(6)),
        "wrench": Field("output", "node", vector(6)),
        "lam": Field("output", "rows"),
    }


def carried(shape: Shape, level: str) -> list[Step]:
    """The sweeps that follow `dynamics` where the joints' own multipliers are asked for."""
    bear, carry = (bear_impulses, carry_impulses) if level == VELOCITY else (bear_forces, carry_forces)
    rows = [each(bear, *(f"p{i}" for i in range(shape[1])), on="constraint")] if shape[1] >= 0 else []
    return [*rows, inward(carry)]
