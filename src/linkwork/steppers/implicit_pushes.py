"""Rows that only push in implicit steps: which act in a step, what they ask, and by which stages the lane takes it.

A row acts if its gap is closed when the step begins, or would be after it at twice its speed. Where all that act touch and rest
(gap and rate are none), the stages of the method hold them, in one complementarity with all that holds there. Else something may
strike: that lane takes a step of implicit Euler,

    v' = (q' - q) / h,     M (v' - v) / h = f(q', v') + G^T lam,     g(q') >= least,  lam >= 0,  one of them zero,

which needs no impact beside it: a gap that closes is closed at the end of the step, and its speed is none after the next. Rows
whose gap is found negative on the way act from there on; a step of the method's own that ends beyond a gap is taken back, and
taken so. Order 1 while something strikes, and the order of the method while things rest. `least` is zero, or what RECOVERY can
make up for in one step where a run begins beyond a stop. After such a step the next one has none before it: velocities may have
jumped.
"""

from __future__ import annotations

from typing import Any

from ..constraints.targets import RECOVERY, TOUCHING, any_of, reached
from ..elements.collection import Shape
from ..elements.derive import approach
from ..elements.law import RowLaw
from ..elements.ports import velocities
from ..kernel.loops import Lane, loops
from ..kernel.loops import maximum as maximum_lane
from ..kernel.loops import where as where_lane
from ..kernel.sweep import SCALAR, Field, Step, each, outward
from ..reduced import forward
from ..reduced.program import place
from ..rows.asked import refined, row_law_at
from ..spatial.scalar import Vector, absolute, array, maximum, minimum, where

CROSSED = 1e-9  # m, rad: deeper than this a gap is crossed


def may_part(law: RowLaw) -> bool:
    """Whether a constraint is one that only pushes, across a gap."""
    return law.unilateral and law.holonomic


def look(n: Any, *ports: Any) -> None:
    """Which rows may act in the step, and whether one of them may strike."""
    law, at = row_law_at(n, ports)
    if not may_part(law):
        return
    unknown = refined(law, at, n.t, n.unknown)
    gap, rate = approach(law, at, n.t, unknown, velocities(at))
    rests = [where((absolute(g) <= TOUCHING) & (absolute(r) <= TOUCHING), 1.0, 0.0) for g, r in zip(gap, rate, strict=True)]
    n.acts = array([maximum(a, b) for a, b in zip(reached(gap, rate, n.h), rests, strict=True)])
    n.least = array([minimum(g + RECOVERY * n.h, 0.0) for g in gap])
    n.impact = maximum(n.impact, any_of(array([a - b for a, b in zip(n.acts, rests, strict=True)])))


def acting(n: Any, law: RowLaw, gap: Vector) -> Vector:
    """In a round, which rows act where they are now; `crossing` is set where one is crossed that does not."""
    missed = [where((g < -CROSSED) & (a <= 0.0) & (n.go > 0.0), 1.0, 0.0) for g, a in zip(gap, n.acts, strict=True)]
    n.crossing = maximum(n.crossing, any_of(array(missed)))
    n.acts = array([where(n.impact > 0.0, maximum(a, m), a) for a, m in zip(n.acts, missed, strict=True)])
    return n.acts


@loops
def begin_round(go: Lane, crossing: Lane) -> None:
    """Nothing is crossed yet."""
    crossing[0] = where_lane(go[0] > 0.0, 0.0, crossing[0])


@loops
def note_crossing(live: Lane, impact: Lane, crossing: Lane, crossed: Lane) -> None:
    """Stages of the method's own that are beyond a gap must be taken back."""
    crossed[0] = where_lane((live[0] > 0.0) & (impact[0] == 0.0), maximum_lane(crossed[0], crossing[0]), crossed[0])


def push_fields(shape: Shape) -> dict[str, Field]:
    """Those besides the fields of a step."""
    if not shape[3]:
        return {}
    rows = {name: Field("work", "rows", of="constraint") for name in ("acts", "least")}
    return rows | {"crossing": Field("work", "global", SCALAR)}


def looked_ahead(shape: Shape) -> list[Step]:
    """The sweeps that look at rows where a step begins; `h` is its length, and `impact` has been zero."""
    _, most, on_bodies, pushes = shape
    if not pushes:
        return []
    return [
        outward(forward.velocities),
        *([outward(place)] if on_bodies else []),
        each(look, *(f"p{i}" for i in range(most)), on="constraint"),
    ]
