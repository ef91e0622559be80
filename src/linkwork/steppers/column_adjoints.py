"""Gradients of steps whose programs are not run backwards: a direction of every state and input, on dual numbers, side by side.

Weights after a step times its Jacobian, whose columns are found one by one in lanes: the same numbers as `steppers.adjoints`, in
O(n^2) instead of O(n). It serves steps that find rows several times, and those that are taken in parts.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..elements.collection import collection
from ..errors import InputError
from ..kernel.adjoint_names import bar, end
from ..kernel.directional import TableChanges, companion, slopes_of
from ..kernel.running import Arrays, run_plan
from ..model import Model
from .derivatives import step_tangent
from .stepper import Stepper

NUMBERS = "bar_numbers"  # weights of the numbers that are asked for
LANES = 1 << 12  # directions of all states that are found in one call


class StepColumns:
    """As `StepAdjoint`: the step of a model by a stepper, forwards and backwards."""

    def __init__(self, model: Model, stepper: Stepper, parameters: bool, method: str, tables: TableChanges | None = None) -> None:
        self.tangent = step_tangent(model, stepper, parameters, method, tables)
        self.model, self.program, self.plans = model, self.tangent.program, self.tangent.plans
        self.algorithm = own = self.program.algorithm
        if collection(model).told_count or self.program.passes != 1:
            raise InputError(f"gradients of steps: {stepper.name} on this model is not one pass of compiled code")
        self.states = tuple(name for name, f in own.fields.items() if f.kind == "state")
        self.moving = tuple(name for name in self.states if own.fields[name].space != "global")

    def forwards(self, kept: Arrays, given: Arrays, steps: int, every: int) -> Arrays:
        """The states (batch, records, size) after every so many steps, from `kept` (batch, size)."""
        batch = len(next(iter(kept.values())))
        return run_plan(self.plans, self.algorithm, kept | given, self.states, batch, steps // every, every)

    def first_bars(self, batch: int, slopes: Mapping[str, np.ndarray] | None = None) -> Arrays:
        """No weights yet."""
        found = {bar(name): np.zeros((batch, self.plans.size(self.algorithm, name))) for name in self.moving}
        return found if slopes is None else found | {NUMBERS: np.zeros((batch, len(next(iter(slopes.values())))))}

    def numbers(self, bars: Arrays, slopes: Mapping[str, np.ndarray]) -> np.ndarray:
        """Weights (batch, numbers) of the numbers that change so."""
        return bars[NUMBERS]

    def backwards(
        self,
        bars: Arrays,
        starts: Arrays,
        given: Arrays,
        ends: Arrays,
        wanted: tuple[str, ...],
        slopes: Mapping[str, np.ndarray] | None = None,
    ) -> Arrays:
        """See `StepAdjoint.backwards`."""
        batch, steps = next(iter(starts.values())).shape[:2]
        found = {name: np.empty((batch, steps, self.plans.size(self.algorithm, name))) for name in wanted}
        for k in reversed(range(steps)):
            for name in self.moving:
                if end(name) in ends:
                    bars[bar(name)] = bars[bar(name)] + ends[end(name)][:, k]
            start = {name: x[:, k] for name, x in starts.items()}
            now = {name: x[:, k] if x.ndim == 3 else x for name, x in given.items()}
            weights = self._one(bars, start, now, wanted, slopes or {})
            for name in self.moving:
                bars[bar(name)] = weights[name]
            for name in wanted:
                found[name][:, k] = weights[name]
            if slopes:
                bars[NUMBERS] = bars.get(NUMBERS, 0.0) + weights[NUMBERS]
        return found

    def _one(
        self, bars: Arrays, start: Arrays, given: Arrays, wanted: tuple[str, ...], slopes: Mapping[str, np.ndarray]
    ) -> Arrays:
        """The weights before one step, given those after it."""
        batch, sizes = len(next(iter(start.values()))), {n: self.plans.size(self.algorithm, n) for n in (*self.moving, *wanted)}
        more = len(next(iter(slopes.values()))) if slopes else 0
        count = sum(sizes.values()) + more
        changes, first = {}, 0
        for name, size in sizes.items():
            changes[companion(name)] = np.eye(count, size, -first)
            first += size
        for of, x in slopes.items():
            if slopes_of(of) in self.tangent.algorithm.fields:
                changes[slopes_of(of)] = np.concatenate([np.zeros((count - more, x.shape[1])), x])
        out = np.empty((batch, count))
        together = max(1, LANES // count)
        for a in range(0, batch, together):
            out[a : a + together] = self._weighted(bars, start, given, changes, slice(a, min(a + together, batch)), count)
        parts = np.split(out, np.cumsum(list(sizes.values())), axis=1)
        return dict(zip((*sizes, NUMBERS), parts, strict=True))

    def _weighted(self, bars: Arrays, start: Arrays, given: Arrays, changes: Arrays, some: slice, count: int) -> np.ndarray:
        """The weights along all directions, of some states."""
        lanes = (some.stop - some.start) * count
        inputs = {name: np.repeat(x[some], count, axis=0) for name, x in start.items()}
        inputs |= {name: np.repeat(x[some], count, axis=0) if x.ndim == 2 else x for name, x in given.items()}
        inputs |= {name: np.tile(x, (lanes // count, 1)) for name, x in changes.items()}
        still = {companion(name): np.zeros(1) for name in self.states if name not in self.moving}
        named = tuple(companion(name) for name in self.states)
        done = run_plan(self.tangent.plans, self.tangent.algorithm, inputs | still, (), lanes, 1, 1, (*self.states, *named))
        total = np.zeros((some.stop - some.start, count))
        for name in self.moving:
            columns = done[companion(name)].reshape(len(total), count, -1) if done[companion(name)].size else np.zeros((1, 1, 0))
            total += np.einsum("bcs,bs->bc", columns, bars[bar(name)][some])
        return total
