"""Constraints in rounds of Newton's method: they are closed where the step ends.

    G y = -g / h,   >= for rows that only push,      G y = -g_dot for those on velocities,

at the guess of the end and its time. The impulses `x_total` so far are among the forces of a round (`push_rows`), and what is
solved for is the change of them, within bounds that are counted from there: so the answer of the rows to it may be taken as
symmetric, and what is left of that is found by the next round.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..constraints.targets import any_of, reached
from ..elements.derive import approach, derive
from ..elements.nodes import STILL
from ..elements.ports import starts
from ..joints import Joint
from ..rows.asked import free_motion, pose_rows, refined, row_law_at
from ..spatial.scalar import absolute, array, where, zeros
from ..spatial.scalar import maximum as larger
from .implicit_laws import Looked
from .implicit_rules import either


def begin_rows(n: Any) -> None:
    """No impulses yet."""
    n.x_total, n.foot = zeros(len(n.x_total)), n.unknown


def begin_step_rows(n: Any) -> None:
    """No impulses yet in any part of a step."""
    n.x_step = zeros(len(n.x_step))


def push_rows(n: Any, *ports: Any) -> None:
    """The impulses of a constraint so far."""
    law, at = row_law_at(n, [Looked(port) for port in ports])
    n.foot = either(n.going > 0.5, refined(law, at, n.t + n.h, n.foot), n.foot)
    G, first = derive(law, at, n.t + n.h, n.foot).G, starts(at)
    for i, (kind, port) in enumerate(zip(n.kinds, ports, strict=False)):
        push = G[:, first[i] : first[i + 1]].T @ n.x_total
        if isinstance(kind, Joint):
            port.push = port.push + push
        elif kind != STILL:
            port.load = port.load + push


def watch(n: Any, *ports: Any) -> None:
    """Which rows take part: those that only push where they do, or would be reached."""
    law, at = row_law_at(n, [Looked(port) for port in ports])
    n.on = array([1.0] * law.size)
    if law.unilateral and law.holonomic:
        near = reached(*approach(law, at, n.t + n.h, n.foot, free_motion(n, ports, at)), n.h)
        n.on = array([larger(a, where(absolute(x) > 0.0, 1.0, 0.0)) for a, x in zip(near, n.x_total, strict=True)])
    n.awake = any_of(n.on)


def hold(n: Any, *around: Any) -> None:
    """The rows of one constraint, for the change of its impulses."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, [Looked(port) for port in ports])
    found = derive(law, at, n.t + n.h, n.foot)
    wanted = -found.residual / n.h if law.holonomic else -found.rate
    pose_rows(n, law, found.G, free_motion(n, ports, at), wanted, places, n.h)
    n.lower, n.upper = n.lower - n.x_total, n.upper - n.x_total


def add_impulses(n: Any) -> None:
    """The impulses after a round."""
    n.x_total = n.x_total + either(n.going > 0.5, n.x, np.zeros(len(n.x)))


def add_parts(n: Any) -> None:
    """The impulses of all parts of a step that are solved, and the unknowns there."""
    solved = n.solved > 0.5
    n.x_step = n.x_step + either(solved, n.x_total, np.zeros(len(n.x_total)))
    n.unknown = either(solved, n.foot, n.unknown)


def give_rows(n: Any) -> None:
    """The impulses of the whole step."""
    n.x = either(n.handed > 0.5, n.x_step, n.x)
