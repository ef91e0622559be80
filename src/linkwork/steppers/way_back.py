"""Steps of chosen length that end where equality constraints hold, by explicit methods on accelerations.

Accelerations keep what errors have made of g and g_dot. Near a singular position, where a row of G answers sigma, an error e of
the rate needs a velocity e / sigma: a mechanism that passes through is thrown off its branch, at any tolerance. So every trial
step ends with a Gauss-Newton step of the coordinates and one of the velocities (`post_stabilised`),

    dq = -M^-1 G^T (G M^-1 G^T)^+ g,        dv = -M^-1 G^T (G M^-1 G^T)^+ g_dot,

and both count as its errors: a step that ends where they are large, next to a singular position, is taken back, and a shorter
one ends elsewhere. Rows that only push or have a largest force are left alone (`modes`).
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..constraints.targets import any_of
from ..elements.collection import Shape, collection
from ..kernel.loops import Lane, loops, where
from ..kernel.sweep import SCALAR, Algorithm, Field, Routine, Step, each, inward, outward
from ..model import Model, State
from ..model.arrays import Interface
from ..model.rules import joint_of
from ..reduced.program import correct
from ..reduced.projection import (
    arrange,
    change_velocities,
    factor,
    hold_positions,
    hold_rates,
    projection_fields,
    watch_equalities,
)
from ..rows.asked import refined, row_law_at
from ..rows.solved import row_fields, solved_rows
from ..spatial.scalar import array, zeros
from .post_stabilised import give_forces, hold_forces

SOFT = 1e-7  # of the largest diagonal of G M^-1 G^T: rows that answer less are left alone, as rounding would be the larger part
FIRST_STEPS = 8  # Gauss-Newton steps at the start of a run, where constraints may be open by more than an error


def has_equalities(model: Model) -> bool:
    """Whether constraints hold positions or velocities by equations."""
    c = constraint_set(model)
    return bool((~c.unilateral & ~c.of("bounded")).any())


def watch_equal_rates(n: Any, *ports: Any) -> None:
    """Equations on positions and on velocities take part."""
    law, at = row_law_at(n, ports)
    n.foot = refined(law, at, n.t, n.unknown)
    n.on = array([0.0 if law.bounded or law.unilateral else 1.0] * law.size)
    n.awake, n.error = any_of(n.on), zeros(law.size)


def hold_soft_positions(n: Any, *around: Any) -> None:
    """G dq = -g, but for what answers less than SOFT."""
    hold_positions(n, *around)
    n.soft = array([SOFT] * n.law.size)


def hold_soft_rates(n: Any, *around: Any) -> None:
    """G dv = -g_dot, but for what answers less than SOFT."""
    hold_rates(n, *around)
    n.soft = array([SOFT] * n.law.size)


def move_back(n: Any) -> None:
    """Coordinates after their step, which is kept."""
    n.back_q = n.free_v
    n.q = joint_of(n).integrate(n.q, n.free_v)


def slow_back(n: Any) -> None:
    """Velocities after their step, which is kept."""
    n.back_v = n.free_v
    change_velocities(n)


@loops
def count_way_back(width: int, faults: int, h: Lane, back_q: Lane, back_v: Lane, fault: Lane) -> None:
    """Add the way back to the errors of a step, which are by h."""
    by_h = where(h[0] > 0.0, 1.0 / where(h[0] > 0.0, h[0], 1.0), 0.0)
    for e in range(faults):
        at = e * 2 * width
        for i in range(width):
            q = abs(back_q[i]) * by_h
            v = abs(back_v[i]) * by_h
            fault[at + i] += where(fault[at + i] < 0.0, -q, q)
            fault[at + width + i] += where(fault[at + width + i] < 0.0, -v, v)


def way_back(shape: Shape) -> list[Step]:
    """The sweeps at the end of a trial step, on the names of a state; forces of rows stay those of its last stage."""
    located: list[Step] = [outward(arrange), inward(factor)]
    positions = solved_rows(shape[1], (watch_equalities, hold_soft_positions), correct, soft=True)
    rates = solved_rows(shape[1], (watch_equal_rates, hold_soft_rates), correct, soft=True)
    return [
        each(hold_forces, on="constraint"),
        *located,
        *positions,
        each(move_back),
        *located,
        *rates,
        each(slow_back),
        each(give_forces, on="constraint"),
        *([outward(arrange)] if shape[3] else []),  # events are looked at where it ends
    ]


COUNT = Routine(count_way_back, ("width", "faults", "h", "back_q", "back_v", "fault"))


def way_back_fields() -> dict[str, Field]:
    """What `way_back` needs besides the fields of a step."""
    back = {name: Field("work", "v") for name in ("back_q", "back_v")}
    return projection_fields() | {"error": Field("work", "rows", of="constraint")} | back


def begin_where_given(n: Any) -> None:
    """The state that is given."""
    n.q, n.v = n.given_q, n.given_v


@functools.cache
def way_back_program(shape: Shape) -> Algorithm:
    """The way back from any state, for what is driven from Python."""
    found = {
        **row_fields(),
        **way_back_fields(),
        "given_q": Field("input", "q"),
        "given_v": Field("input", "v"),
        "t": Field("input", "global", SCALAR),
        **{name: Field("output", name) for name in ("q", "v")},
        **{name: Field("output", "v") for name in ("back_q", "back_v")},
        "foot": Field("output", "unknown", of="constraint"),
    }
    steps = [each(begin_where_given), *way_back(shape)]
    return Algorithm(f"way_back_{'_'.join(map(str, map(int, shape)))}", found, {"run": steps})


class WayBack:
    """The way back to the equality constraints of a model, from one state at a time."""

    def __init__(self, model: Model) -> None:
        laws, unknowns = collection(model), (sum(c.unknowns for c in collection(model).rows),)
        sizes = {"x": (laws.row_count,), "told": (laws.told_count,), "unknown": unknowns, "foot": unknowns}
        self.laws, self._call = laws, Interface(model, way_back_program(laws.shape), laws.plan, sizes)

    def __call__(self, state: State, unknown: np.ndarray | None = None) -> tuple[State, np.ndarray]:
        """The state nearby, and the steps of its coordinates and velocities (2 nv,).

        unknown   of constraints, where they are looked for; None: where the model says
        """
        foot = self.laws.first_unknowns(state.q[None])[0] if unknown is None else unknown
        given = {"given_q": state.q, "given_v": state.v, "t": np.array([state.t]), "told": self.laws.told_at(state.t)}
        found = self._call(given | {"unknown": foot}, 1, ("q", "v", "back_q", "back_v", "foot"))
        back = np.concatenate([found["back_q"], found["back_v"]])
        return replace(state, q=found["q"].copy(), v=found["v"].copy()), back


def way_back_of(model: Model) -> WayBack | None:
    """The way back to the equality constraints of a model, kept with it; None if there are none."""
    return model.keep_as(WayBack, lambda: WayBack(model)) if has_equalities(model) else None


def closed_start(model: Model, state: State) -> State:
    """The state near the start of a run at which equality constraints hold, as far as a few Gauss-Newton steps come."""
    back = way_back_of(model)
    if back is not None:
        for _ in range(FIRST_STEPS):
            state = back(state)[0]
    return state
