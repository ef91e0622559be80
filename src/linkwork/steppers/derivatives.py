"""Derivatives of time steps: the program of a stepper on dual numbers, a direction in every lane.

The state of a step is (q, v), its changes are displacements of the joints and changes of v: 2 nv numbers. What is differentiated
is the step as it is taken: midpoints, constraint rows and their multipliers, limits and contacts that act, what is pushed out.
Where a row has just reached a bound, the derivative is that of the side on which it is; `solvers.edges` says where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..elements.collection import IN_TURNS, ONE_PROGRAM, collection
from ..elements.law import SINGLE_QP, STAGGERED
from ..errors import CompileError, InputError
from ..kernel.call import Call
from ..kernel.directional import (
    TableChanges,
    companion,
    directional,
    directional_at_solutions,
    known,
    showing,
    solutions,
    with_slopes,
)
from ..kernel.plans import Plans
from ..kernel.sweep import SCALAR, Algorithm, Field, Repeat, Routine, Step
from ..model import Model
from ..rows.passed_rows import FURTHER, for_all_lanes
from ..rows.poisson import require_derivatives
from ..solvers.box_adjoints import keep_matrix
from ..solvers.boxes import solve_boxes, solve_soft_boxes
from ..solvers.coulomb import solve_packed_cones
from ..solvers.edges import find_edges
from ..solvers.few_boxes import solve_few_boxes
from . import implicit_tangents, step_tangents  # noqa: F401  (what routines change by)
from .stepper import Stepper, program_of
from .tangent_spaces import SPACES

METHOD = "reduced"
UNDIFFERENTIATED = {IN_TURNS: STAGGERED, ONE_PROGRAM: SINGLE_QP}
SOLVERS = (solve_boxes, solve_few_boxes, solve_soft_boxes, solve_packed_cones)


class StepTangent:
    """The step of a model by a stepper, with the directional derivative of its end.

    parameters   whether numbers of bodies and laws change, too
    tables       how tables of theirs change, see `with_slopes`
    """

    def __init__(self, model: Model, stepper: Stepper, parameters: bool, method: str, tables: TableChanges | None = None) -> None:
        self.model, self.program, self.space = model, program_of(stepper, model, method), SPACES[method]
        laws = collection(model)
        if laws.looks:
            law = next(law for law in laws.rows if law.looks)
            raise InputError(f"derivatives of steps: {law!r} is found by Coal, whose points are not differentiated")
        if laws.told_count:
            raise InputError("derivatives of steps: motions of constraints that only Python can compute are not differentiated")
        if laws.shape[3] in UNDIFFERENTIATED:
            raise InputError(
                f"derivatives of steps: friction by contact={UNDIFFERENTIATED[laws.shape[3]]!r} has none; "
                "take 'exact' or 'pyramid'"
            )
        own = self.program.algorithm
        self.further = (FURTHER,) if FURTHER in own.fields else ()
        self.sets = tuple(of for of in own.sets if of in ("", "force", "constraint")) if parameters else ()
        tree = (self.program.bind(model) if self.program.bind else model.plan).tree
        try:
            self.algorithm = directional(own, self.sets)
        except CompileError as error:
            raise InputError(
                f"derivatives of steps: {stepper.name} on this model has none, symplectic_euler has ({error})"
            ) from error
        self.plans = Plans(with_slopes(tree, self.sets, tables) if parameters else tree)
        self.found = solutions(own) if self.program.passes == 1 else ()
        self.told, self.solving = directional_at_solutions(own, self.sets), showing(_watching(own), (*self.found, *self.further))
        self._idle: dict[Any, list[_Arrays]] = {}

    def take(self, batch: int, count: int, given: tuple[str, ...], algorithm: Algorithm) -> _Arrays:
        """Memory for so many states and directions with these inputs, which no other call has; others are zero."""
        key = (batch, count, given, algorithm.name)
        try:
            return self._idle[key].pop()
        except LookupError:
            return _Arrays(self, key, algorithm)

    def give_back(self, arrays: _Arrays) -> None:
        """Let later calls use this memory."""
        self._idle.setdefault(arrays.key, []).append(arrays)

    def handed_on(self, arrays: _Arrays, batch: int, count: int) -> _Arrays:
        """Memory with the same inputs for the program that solves by itself."""
        names = tuple(name for name in arrays.key[2] if name in self.algorithm.fields)
        other = self.take(batch, count, names, self.algorithm)
        for name, x in other.inputs.items():
            x[...] = arrays.inputs[name]
        self.give_back(arrays)
        return other

    def solve(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """What the solvers of one step find, (batch, size) each, given the inputs of the step (batch, count, size); and the
        rows that are at an edge (see `solvers.edges`)."""
        fields, batch = self.solving.fields, len(inputs[self.space.positions])
        given = {name: np.ascontiguousarray(x[:, 0]) for name, x in inputs.items() if name in fields}
        absent = tuple(name for name, f in fields.items() if f.kind == "input" and name not in given)
        plan = self.plans(self.solving, self.plans.lanes(self.solving, batch), ("run",), absent)
        edges = ("edges",) if "edges" in fields else ()
        out = {name: np.empty((batch, plan.sizes[name])) for name in (*self.found, *edges, *self.further)}
        plan.run(given, out, batch)
        return out


def _watching(algorithm: Algorithm) -> Algorithm:
    """The algorithm with the rows that are at an edge, where one solver finds multipliers `x`."""
    more: dict[str, Field] = {}
    steps = _watched(algorithm.phases["run"], more)
    return replace(algorithm, name=f"{algorithm.name}_watching", fields=algorithm.fields | more, phases={"run": steps})


def _watched(given: Sequence[Step], more: dict[str, Field]) -> list[Step]:
    steps: list[Step] = []
    for step in given:
        if isinstance(step, Repeat) and step.again:
            steps.append(replace(step, steps=tuple(_watched(for_all_lanes(step.steps), more))))
            continue
        found = (
            dict(zip((name for name, _ in step.function.parameters), step.arguments, strict=True))
            if isinstance(step, Routine)
            else {}
        )
        if isinstance(step, Routine) and step.function in SOLVERS and found["x"] == "x":
            rows = ("active", "cones", found.get("mu", "b"), "on", "b", "lower", "upper", "x", "rows")
            names = (*rows, "edge_A", "edge_w", "edges")
            keep = Routine(keep_matrix, ("active", "A", "edge_A"), step.when)
            steps += [keep, step, Routine(find_edges, names)]
            more |= {
                "edge_A": Field("work", "pair", SCALAR),
                "edge_w": Field("work", "row", SCALAR),
                "edges": Field("output", "rows", of="constraint"),
            }
        else:
            steps.append(step)
    return steps


class _Arrays:
    """Inputs and states (batch, count, size) of a tangent, and the call on them."""

    def __init__(self, tangent: StepTangent, key: tuple[int, int, tuple[str, ...], str], algorithm: Algorithm) -> None:
        self.key, (batch, count, given, _) = key, key
        fields, lanes = algorithm.fields, tangent.plans.lanes(algorithm, batch * count)
        absent = tuple(name for name, f in fields.items() if f.kind == "input" and name not in given)
        plan = tangent.plans(algorithm, lanes, ("run",), absent)
        names = [name for name, f in fields.items() if f.kind == "state" or name in given]
        self.inputs = {name: np.zeros((batch, count, plan.sizes[name])) for name in names}
        own = (tangent.space.positions, tangent.space.velocities)
        self.ends = {name: np.empty((batch, count, plan.sizes[name])) for name in (*own, *map(companion, own))}
        flat = [{k: x.reshape(batch * count, -1) for k, x in some.items()} for some in (self.inputs, self.ends)]
        self.run = Call(plan, flat[0], flat[1], batch * count)


def step_tangent(
    model: Model, stepper: Stepper, parameters: bool = False, method: str = METHOD, tables: TableChanges | None = None
) -> StepTangent:
    """Kept with the model, unless tables change."""
    require_derivatives(collection(model), stepper)
    if tables:
        return StepTangent(model, stepper, parameters, method, tables)
    key = (StepTangent, stepper, parameters, method)
    return model.keep_as(key, lambda: StepTangent(model, stepper, parameters, method))


def along(
    tangent: StepTangent,
    parts: Mapping[str, np.ndarray],
    t: float,
    dt: float,
    given: Mapping[str, Any],
    changes: Mapping[str, np.ndarray],
    steps: int,
) -> tuple[np.ndarray, np.ndarray | None]:
    """The changes (batch, count, 2 n) of the states after the steps, along `count` directions of each of a batch of states; and
    which rows are at an edge (batch, rows), where that is known: of one step, along several directions.

    parts     of the states (batch, size), at the time t
    given     tau, external, u: (...) of one state, or (batch, ...); None where there is none
    changes   of inputs and states, by their names (batch, count, size) or (count, size)
    """
    model, program, space = tangent.model, tangent.program, tangent.space
    batch = len(parts[space.positions])
    fixed = program.given(model, dt)
    own = {name: np.asarray(x, float) for name, x in given.items() if x is not None}
    kept = program.entered(model, dict(parts), t)
    count = max(x.shape[-2] for x in changes.values())
    told = bool(tangent.found) and steps == 1 and count > 1
    names = (*fixed, *own, *changes, *(map(known, tangent.found) if told else ()))
    arrays = tangent.take(batch, count, tuple(dict.fromkeys(names)), tangent.told if told else tangent.algorithm)
    inputs = arrays.inputs
    for name, x in fixed.items():
        inputs[name][...] = np.reshape(x, -1)
    for name, x in kept.items():
        inputs[name][...] = x[:, None]
    inputs["t"][...] = t
    for name, x in own.items():
        one = x.ndim == (2 if name == "external" else 1)
        inputs[name][...] = x.reshape(-1) if one else x.reshape(len(x), 1, -1)
    for name, x in changes.items():
        inputs[name][...] = x
    edges = None
    if told:
        found = tangent.solve(inputs)
        edges, further = found.pop("edges", None), found.pop(FURTHER, np.zeros(0))
        if np.any(further > 0.0):  # what the first solve would have passed was solved with the rest
            arrays = tangent.handed_on(arrays, batch, count)
        else:
            for name, x in found.items():
                inputs[known(name)][...] = x[:, None]
    arrays.run(every=steps * program.passes)
    x, d_x = (arrays.ends[name].reshape(batch * count, -1) for name in (space.positions, companion(space.positions)))
    moved = space.displacements(model, x, d_x).reshape(batch, count, -1)
    out = np.concatenate([moved, arrays.ends[companion(space.velocities)]], axis=-1)
    tangent.give_back(arrays)
    return out, None if edges is None else edges > 0.0
