"""Gradients of time steps: the program of a stepper, backwards, all steps of a run in one call of compiled code.

A step takes the weights of the state after it to those of the state before it, of joint forces and of numbers of bodies and laws
(`kernel.adjoint`): its own sweeps once more, then their transposes, O(n) whatever is asked for. A program that cannot be run
backwards, and an implicit step that was halved, has its columns instead (`column_adjoints`). The states at which it is taken
are those of a run. Some of them are kept as checkpoints; from each the steps to the next are run anew when their turn comes, so a
run of n steps with c checkpoints needs memory for c + n / c states, and takes its steps twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..elements.collection import collection
from ..errors import CompileError, InputError
from ..kernel.adjoint import adjoint, with_reversed_items
from ..kernel.adjoint_names import bar, bars_of
from ..kernel.directional import TableChanges, with_slopes
from ..kernel.first_writes import first_writes
from ..kernel.plans import Plans
from ..kernel.rounds_backwards import WIDTH, flags
from ..kernel.running import Arrays, run_plan
from ..model import Model
from ..rows.poisson import require_derivatives
from . import step_adjoints  # noqa: F401  (the transposes of routines)
from .column_adjoints import NUMBERS, StepColumns
from .stepper import Stepper, program_of

METHOD = "reduced"


class StepAdjoint:
    """The step of a model by a stepper, forwards and backwards.

    parameters   whether numbers of bodies and laws have weights, too
    """

    def __init__(self, model: Model, stepper: Stepper, parameters: bool, method: str) -> None:
        self.model, self.program = model, program_of(stepper, model, method)
        own = self.program.algorithm
        if collection(model).told_count or self.program.passes != 1:
            raise InputError(f"gradients of steps: {stepper.name} on this model is not one pass of compiled code")
        self.sets = tuple(of for of in own.sets if of in ("", "force", "constraint")) if parameters else ()
        tree = (self.program.bind(model) if self.program.bind else model.plan).tree
        tree = replace(tree, numbers=tree.numbers | {WIDTH: model.nv})
        self.algorithm = adjoint(own, self.sets, first_writes(own, tree))
        self.plans = Plans(with_reversed_items(with_slopes(tree, self.sets) if parameters else tree))
        self.states = tuple(name for name, f in own.fields.items() if f.kind == "state")
        self.flags = flags([step for steps in own.phases.values() for step in steps])
        self._others = (stepper, parameters, method)

    def forwards(self, kept: Arrays, given: Arrays, steps: int, every: int) -> Arrays:
        """The states (batch, records, size) after every so many steps, from `kept` (batch, size).

        given   (size,), (batch, size), or (batch, records, size) with one record a step
        """
        own, batch = self.program.algorithm, len(next(iter(kept.values())))
        return run_plan(self.plans, own, kept | given, self.states, batch, steps // every, every)

    def backwards(
        self,
        bars: Arrays,
        starts: Arrays,
        given: Arrays,
        ends: Arrays,
        wanted: tuple[str, ...],
        slopes: Mapping[str, np.ndarray] | None = None,
    ) -> Arrays:
        """Weights before some steps, which begin at `starts` (batch, steps, size), given those after them.

        bars     of states, and of numbers of nodes (batch, size); changed in place
        ends     of the state after every step (batch, steps, size), added where it is
        wanted   inputs whose weights are asked for: (batch, steps, size) each
        """
        batch, steps = next(iter(starts.values())).shape[:2]
        turned = {name: x[:, ::-1] if x.ndim == 3 else x for name, x in (starts | ends | given).items()}
        outputs, own = (*map(bar, wanted), *self.flags), tuple(name for name in bars if name in self.algorithm.fields)
        found = run_plan(self.plans, self.algorithm, turned | bars, outputs, batch, steps, 1, own)
        if any(np.any(found[name] > 0.0) for name in self.flags):  # a step was taken in parts
            return step_columns(self.model, *self._others).backwards(bars, starts, given, ends, wanted, slopes)
        for name in own:
            bars[name] = found[name]
        return {name: found[bar(name)][:, ::-1] for name in wanted}

    def first_bars(self, batch: int, slopes: Mapping[str, np.ndarray] | None = None) -> Arrays:
        """No weights yet."""
        names = (*(bar(name) for name in self.states if bar(name) in self.algorithm.fields), *map(bars_of, self.sets))
        return {name: np.zeros((batch, self.plans.size(self.algorithm, name))) for name in names}

    def numbers(self, bars: Arrays, slopes: Mapping[str, np.ndarray]) -> np.ndarray:
        """Weights (batch, numbers) of numbers of bodies and laws, of which `slopes` says how those of every set change."""
        found = [bars[bars_of(of)] @ x.T for of, x in slopes.items() if bars_of(of) in bars]
        return np.sum([*found, bars[NUMBERS]] if NUMBERS in bars else found, axis=0)


def step_columns(model: Model, stepper: Stepper, parameters: bool, method: str) -> StepColumns:
    """Kept with the model."""
    return model.keep_as((StepColumns, stepper, parameters, method), lambda: StepColumns(model, stepper, parameters, method))


Backwards = StepAdjoint | StepColumns


def step_adjoint(
    model: Model, stepper: Stepper, parameters: bool = False, method: str = METHOD, tables: TableChanges | None = None
) -> Backwards:
    """Kept with the model: the program backwards, or its columns where it has no adjoint or tables change."""
    require_derivatives(collection(model), stepper)
    if tables:
        return StepColumns(model, stepper, parameters, method, tables)

    def made() -> Backwards:
        try:
            return StepAdjoint(model, stepper, parameters, method)
        except CompileError:
            return step_columns(model, stepper, parameters, method)

    return model.keep_as((StepAdjoint, stepper, parameters, method), made)
