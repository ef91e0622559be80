"""How laws change with what they see at their ports: their rules once more, on dual numbers.

A law sees the displacement of every port, its velocity, its free motion and the rate r of its velocity, which makes the drift
h r - (free - velocity) of a step (`program.turning`), and nothing else: four vectors of one size, the variables. What it
says is differentiated along these few, whatever the size of the model; how they change with the state, `port_columns` says.
Results of rules are kept apart: nothing of the step changes. Rows are those of bodies where they are: laws whose rows are made
where bodies meet in the step are not among them.

    forces    K = df/dx, D = df/dv of the loads
    rows      slopes of w = b + G y, y the motion that the multipliers x cause at the ports;
              of the forces G^T x along displacements;
              of G y' + room, y' the displacement at the ports: with h w it is the gap after the step that is pushed out
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..constraints.targets import RECOVERY
from ..elements.derive import derive, exact_load_slopes, nearer
from ..elements.nodes import law_at
from ..elements.ports import JointAt, starts, values
from ..joints import Joint
from ..rows.asked import hold_velocities, row_law_at
from ..spatial.dual import Dual, displaced, split, variables
from ..spatial.scalar import Vector, array, stack, where, zeros
from .port_space import moving, width

POSITION, VELOCITY, FREE, RATE = range(4)
SEEN = 4


class SeenLaw:
    """A node whose rules run without a trace: what they assign is kept here."""

    foot: Any

    def __init__(self, node: Any) -> None:
        self._node: Any = node

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)


class SeenPort:
    """A port, as functions of its first variables, so many of the four; each has `total` numbers, ours begin at `first`."""

    def __init__(self, node: Any, joint: Joint | None, first: int, total: int, parts: int) -> None:
        self._node, self._joint, self._first, self._total, self._count = node, joint, first, total, parts * total

    def _variable(self, value: Vector, which: int) -> Vector:
        return variables(value, self._count, which * self._total + self._first)

    @property
    def pose(self) -> Any:
        return displaced(self._node.pose, self._count, self._first)

    @property
    def q(self) -> Vector:
        assert self._joint is not None
        return JointAt(self._joint, self._node.q, self._node.v).displaced(self._count, self._first, Dual)

    @property
    def twist(self) -> Vector:
        return self._variable(self._node.twist, VELOCITY)

    @property
    def v(self) -> Vector:
        return self._variable(self._node.v, VELOCITY)

    @property
    def free(self) -> Vector:
        return self._variable(self._node.free, FREE)

    @property
    def free_v(self) -> Vector:
        return self._variable(self._node.unheld_v, FREE)

    @property
    def drift(self) -> Vector:
        none = zeros(6)
        ahead = self._node.h * self._variable(none, RATE) - self._variable(none, FREE) + self._variable(none, VELOCITY)
        return self._node.drift + ahead


def seen_ports(n: Any, ports: Sequence[Any], parts: int) -> list[Any]:
    """The ports of a law as functions of the first of their variables; the world does not change."""
    found, total = list(ports), width(n.kinds)
    for i, first, _ in moving(n.kinds):
        kind = n.kinds[i]
        joint = kind.bound({x: getattr(n, f"p{i}_{x}") for x in kind.parameter_names}) if isinstance(kind, Joint) else None
        found[i] = SeenPort(ports[i], joint, first, total, parts)
    return found


# --- forces ------------------------------------------------------------------------------------------------------------------
def force_slopes(n: Any, *ports: Any) -> None:
    """K and D of one force."""
    law, at = law_at(n, ports)
    df_dx, df_dv = exact_load_slopes(law, at, n.t, n.u)
    first = starts(at)
    keep = np.array([first[i] + k for i, _, size in moving(n.kinds) for k in range(size)], int)
    n.K_slopes, n.D_slopes = (flat(A[np.ix_(keep, keep)]) for A in (df_dx, df_dv))


def flat(A: np.ndarray) -> Vector:
    """All entries, row by row."""
    return stack(*np.asarray(A, dtype=object).reshape(-1)) if A.size else zeros(0)


# --- rows --------------------------------------------------------------------------------------------------------------------
def rows_seen(n: Any, ports: Sequence[Any]) -> tuple[Any, np.ndarray]:
    """The rows of a law as functions of the variables: what its rules say, and G on the ports that move."""
    own, seen = SeenLaw(n), seen_ports(n, ports, SEEN)
    own.foot = followed(own, seen)
    hold_velocities(own, *seen, *(SimpleNamespace(p=0.0, c=0.0) for _ in ports))
    return own, moving_columns(n, own.G_rows)


def followed(own: Any, seen: Sequence[Any]) -> Vector:
    """The unknowns of a constraint as functions of the variables: where they solve their conditions, a step of Newton's method
    makes their first derivatives right."""
    law, at = row_law_at(own, seen)
    return nearer(law, values(at), own.t, own.foot) if law.unknowns else own.foot


def accelerating_row_slopes(n: Any, *ports: Any) -> None:
    """At acceleration level: slopes of w = G r + bias, r the rates of the ports' velocities, and of the forces G^T x, which are
    added to the loads."""
    own, seen, size = SeenLaw(n), seen_ports(n, ports, 2), width(n.kinds)
    law, at = row_law_at(own, seen)
    found = derive(law, at, n.t, followed(own, seen))
    G = moving_columns(n, found.G)
    kinds = [(i, isinstance(n.kinds[i], Joint)) for i, _, _ in moving(n.kinds)]
    rates = stack(*(x for i, joint in kinds for x in (ports[i].free_v if joint else ports[i].free + ports[i].jump)))
    force, slopes = split(G.T @ n.x, 2 * size)
    values_of_G, w_slopes = split(G, 2 * size)[0], split(found.bias + G @ rates, 2 * size)[1]
    n.G_seen, n.f_slopes = flat(values_of_G), flat(slopes[:, :size])
    n.w_slopes = flat(np.concatenate([w_slopes, zeros(*values_of_G.shape), values_of_G], axis=1))
    press(n, ports, force, "load")
    for i, first, width_of in moving(n.kinds):
        if isinstance(n.kinds[i], Joint):
            ports[i].push = ports[i].push + force[first : first + width_of]


def moving_columns(n: Any, G: np.ndarray) -> np.ndarray:
    """G on the ports that move."""
    begin = np.cumsum([0, *(kind.nv if isinstance(kind, Joint) else 6 for kind in n.kinds)])
    return G[:, np.array([begin[i] + k for i, _, size in moving(n.kinds) for k in range(size)], int)]


def motion_at(n: Any, ports: Sequence[Any], of_bodies: str, of_joints: str) -> Vector:
    """A motion at the ports that move."""
    parts = [getattr(ports[i], of_joints if isinstance(n.kinds[i], Joint) else of_bodies) for i, _, _ in moving(n.kinds)]
    return stack(*(x for part in parts for x in part))


def press(n: Any, ports: Sequence[Any], force: Vector, onto: str) -> None:
    """Add a force on the ports to what bodies carry; joints know it already."""
    for i, first, size in moving(n.kinds):
        if not isinstance(n.kinds[i], Joint):
            setattr(ports[i], onto, getattr(ports[i], onto) + force[first : first + size])


def row_slopes(n: Any, *ports: Any) -> None:
    """The slopes of the rows of one constraint that has been solved for, and what they press on."""
    _row_slopes(n, ports)


def _row_slopes(n: Any, ports: Sequence[Any]) -> tuple[Any, np.ndarray, Vector]:
    own, G = rows_seen(n, ports)
    size = width(n.kinds)
    count = SEEN * size
    w = own.b + G @ motion_at(n, ports, "held_jump", "held_change")
    force, slopes = split(G.T @ n.x, count)
    n.G_seen, n.w_slopes, n.f_slopes = flat(split(G, count)[0]), flat(split(w, count)[1]), flat(slopes[:, :size])
    press(n, ports, force, "pressed")
    return own, G, w


def pushed_row_slopes(n: Any, *ports: Any) -> None:
    """The same in steps that push out; `slow` is 1 where a row does so no faster than it may."""
    own, G, w = _row_slopes(n, ports)
    size = width(n.kinds)
    count = SEEN * size
    after = list(G @ motion_at(n, ports, "jump", "shift"))
    force, slopes = split(G.T @ n.pushed_x, count)
    press(n, ports, force, "pressed_out")
    slow: list[Any] = [0.0] * n.law.size
    for r in pushing(n.law):
        gap = own.room[r] + n.h * w[r]
        slow[r] = where(split(stack(gap), count)[0][0] > -RECOVERY * n.h, 1.0, 0.0)
        after[r] = after[r] + where(slow[r] > 0.5, own.room[r], 0.0)
    kept = stack(*(after[r] for r in displaced_rows(n.law)))
    n.slow, n.out_slopes, n.out_f_slopes = array(slow), flat(split(kept, count)[1]), flat(slopes[:, :size])
    n.turns = flat(split(G, count)[1][pushing(n.law), :, :size])


def pushing(law: Any) -> list[int]:
    """The rows of a law that only push."""
    least, most = law.bounds()
    return [r for r in range(law.size) if law.unilateral and least[r] == 0.0 and np.isinf(most[r])]


def displaced_rows(law: Any) -> list[int]:
    """The rows that the displacement obeys which pushes out: those that only push, and equalities."""
    if law.unilateral:
        return pushing(law)
    least, most = law.bounds()
    return [r for r in range(law.size) if not law.bounded and np.isinf(least[r]) and np.isinf(most[r])]
