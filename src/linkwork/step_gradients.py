"""Gradients of time steps, exact, in O(n) whatever is asked for: vector-Jacobian products with respect to the state, joint
forces, inputs of forces, and numbers of bodies and laws.

A run is what `simulate` does from a state (see `step_derivatives`); weights say how much a result changes with the states that it
passes: displacements of the joints and velocities. Their gradient is carried back through all steps in compiled code
(`steppers.adjoints`), in memory that `checkpoints` bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from .errors import InputError
from .kernel.adjoint_names import bar, end
from .kernel.running import Arrays
from .model import MaximalState, Model, State
from .spatial.gate import given_count, given_reals
from .spatial.kinds import explained
from .step_derivatives import METHOD, Acting
from .steppers.adjoints import Backwards, step_adjoint


class StepGradient(NamedTuple):
    """How a weighted sum of the states after some steps changes.

    q, v         with the first state (..., n): displacements, velocities
    tau          with joint forces, (..., nv) that are held, or (..., steps, nv) of every step
    inputs       with inputs of forces, likewise; None where the model has none
    parameters   with numbers of bodies and laws (..., numbers); None where none are asked for

    >>> found = lw.step_gradient(model, state, 1e-3, dq=[1.0, 0.0])
    >>> found.q.shape, found.tau.shape
    ((2,), (2,))
    """

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    inputs: np.ndarray | None
    parameters: np.ndarray | None


@explained
def step_gradient(
    model: Model,
    state: State | MaximalState,
    dt: float,
    dq: Any = None,
    dv: Any = None,
    tau: Any = None,
    external: Any = None,
    *,
    parameters: Mapping[str, Sequence[str]] | None = None,
    method: str = METHOD,
    stepper: str | None = None,
    steps: int = 1,
    checkpoints: int | None = None,
    inputs: Any = None,
    limit_model: str = "hard",
    contact: str = "exact",
    **options: Any,
) -> StepGradient:
    """The product of weights (dq, dv) of the state after a step of `simulate`, or several, with the derivatives of that state.

    dq, dv        weights of displacements and velocities, (n,) or (batch, n), n = nv or, in maximal coordinates, 6 bodies
    parameters    as `step_parameter_derivatives` takes them
    checkpoints   see `rollout_gradient`

    With A and B of `step_derivatives`: A^T (dq, dv) and B^T (dq, dv), in O(n).

    >>> found = lw.step_gradient(model, state, 1e-3, dq=[1.0, 0.0], steps=10)
    >>> found.v.shape
    (2,)
    """
    given = {"tau": tau, "external": external, "u": inputs}
    here = Acting(model, state, dt, given, stepper, limit_model, contact, steps, options, method)
    ends = {}
    for name, x in (("q", dq), ("v", dv)):
        if x is not None:
            ends[name] = np.zeros((here.batch, steps, here.n))
            ends[name][:, -1] = _weights(f"d{name}", x, (here.batch, here.n))
    if not ends:
        raise InputError("step_gradient: give dq or dv")
    found = _Backwards(model, here, ends, parameters, checkpoints).gradient()
    held = {name: x if x is None else x.sum(axis=-2) for name, x in (("tau", found.tau), ("inputs", found.inputs))}
    return found._replace(**held)


@explained
def rollout_gradient(
    model: Model,
    state: State | MaximalState,
    dt: float,
    dq: Any = None,
    dv: Any = None,
    tau: Any = None,
    external: Any = None,
    *,
    parameters: Mapping[str, Sequence[str]] | None = None,
    method: str = METHOD,
    stepper: str | None = None,
    checkpoints: int | None = None,
    inputs: Any = None,
    limit_model: str = "hard",
    contact: str = "exact",
    **options: Any,
) -> StepGradient:
    """The gradient of a function of a whole run, given its slopes (dq, dv) at the state after every step.

    dq, dv        (steps, n) or (batch, steps, n): with displacements, and with velocities
    tau, inputs   held, or (..., steps, nv) of every step
    checkpoints   how many states are kept; from each the steps to the next are taken anew, all of whose states are in memory
                  then. By default the square root of the steps

    The run itself is `simulate` with the same arguments; its states after the first are those that dq and dv belong to.

    >>> found = lw.rollout_gradient(model, state, 1e-3, dq=np.ones((10, 2)), tau=np.zeros((10, 2)))
    >>> found.tau.shape
    (10, 2)
    """
    found = [given_reals(f"d{name}", x) for name, x in (("q", dq), ("v", dv)) if x is not None]
    if not found:
        raise InputError("rollout_gradient: give dq or dv")
    if found[0].ndim < 2:
        raise InputError(
            f"rollout_gradient: weights have the shape (steps, n) or (batch, steps, n), n velocities, not {found[0].shape}"
        )
    steps = found[0].shape[-2]
    given = {"tau": tau, "external": external, "u": inputs}
    here = Acting(model, state, dt, given, stepper, limit_model, contact, steps, options, method)
    shape = (here.batch, steps, here.n)
    ends = {n: _weights(f"d{n}", x, shape) for n, x in (("q", dq), ("v", dv)) if x is not None}
    return _Backwards(model, here, ends, parameters, checkpoints).gradient()


def _weights(name: str, x: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Weights of such a shape, or of one state for all."""
    found = given_reals(name, x)
    if not np.isfinite(found).all():
        raise InputError(f"{name} must be finite")
    if found.shape not in (shape, shape[1:]):
        raise InputError(f"{name} has the shape {found.shape}; expected {shape[1:]} or {shape}")
    return np.broadcast_to(found, shape)


class _Backwards:
    """One gradient: the run forwards from checkpoint to checkpoint, then backwards."""

    def __init__(
        self,
        model: Model,
        here: Acting,
        ends: Arrays,
        parameters: Mapping[str, Sequence[str]] | None,
        checkpoints: int | None,
    ) -> None:
        self.model, self.here, self.ends = model, here, ends
        self.slopes = None if parameters is None else here.slopes(model, parameters)
        tables = None if self.slopes is None else self.slopes.tables
        self.adjoint = step_adjoint(here.model, here.stepper, parameters is not None, here.method, tables)
        many = isqrt(here.steps) if checkpoints is None else given_count("checkpoints", checkpoints)
        self.length = -(-here.steps // min(many, here.steps))
        program = self.adjoint.program
        self.kept = program.entered(here.model, dict(here.parts), here.t)
        self.kept["t"] = np.full((here.batch, 1), here.t)
        self.fixed = {name: np.reshape(x, -1) for name, x in program.given(here.model, here.dt).items()}
        given = {"tau": np.zeros(model.nv)} | {name: x for name, x in here.given.items() if x is not None}
        self.told = {name: self._shaped(name, x) for name, x in given.items()}

    def _shaped(self, name: str, x: Any) -> np.ndarray:
        """What is given, (size,), (batch, size) or (batch, steps, size)."""
        x, batch, steps = np.asarray(x, float), self.here.batch, self.here.steps
        if name == "external":
            x = x.reshape(*x.shape[:-2], -1)
        size = self.adjoint.plans.size(self.adjoint.algorithm, name)
        if x.shape[-1:] != (size,):
            raise InputError(f"{name} has {x.shape[-1] if x.ndim else 1} numbers, not {size}")
        if not np.isfinite(x).all():
            raise InputError(f"{name} must be finite")
        if x.ndim == 1 or (x.ndim == 2 and x.shape[0] == batch and (self.here.lead or steps == 1)):
            return x
        found = x if x.ndim == 3 else x[None]
        if found.shape[1] != steps or found.shape[0] not in (1, batch):
            raise InputError(f"{name} has the shape {x.shape}: one for all steps, or one for each of {steps}")
        return np.broadcast_to(found, (batch, *found.shape[1:]))

    def _segments(self) -> Iterator[tuple[int, int]]:
        for first in range(0, self.here.steps, self.length):
            yield first, min(first + self.length, self.here.steps)

    def _given(self, first: int, last: int) -> Arrays:
        return self.fixed | {name: x[:, first:last] if x.ndim == 3 else x for name, x in self.told.items()}

    def gradient(self) -> StepGradient:
        adjoint, here, segments = self.adjoint, self.here, list(self._segments())
        marks, at = [self.kept], self.kept
        for first, last in segments[:-1]:
            at = {name: x[:, -1] for name, x in adjoint.forwards(at, self._given(first, last), last - first, 1).items()}
            marks.append(at)
        bars, parts = adjoint.first_bars(here.batch, self.slopes), []
        asked = ("tau", "u") if "u" in adjoint.algorithm.fields else ("tau",)
        for (first, last), mark in zip(reversed(segments), reversed(marks), strict=True):
            parts.insert(0, self._back(adjoint, bars, mark, first, last, asked))
        found = {name: np.concatenate([part[name] for part in parts], axis=1) for name in asked}
        weights = {name: bars[bar(name)] for name in here.parts}
        return StepGradient(
            self._own(here.space.displacement_weights(self.model, here.parts, weights)),
            self._own(weights[here.space.velocities]),
            self._own(found["tau"]),
            self._own(found.get("u")),
            self._own(None if self.slopes is None else adjoint.numbers(bars, self.slopes)),
        )

    def _own(self, x: np.ndarray | None) -> Any:
        """With the leading axes of the caller's states."""
        return None if x is None else x.reshape(*self.here.lead, *x.shape[1:])

    def _back(self, adjoint: Backwards, bars: Arrays, mark: Arrays, first: int, last: int, asked: tuple[str, ...]) -> Arrays:
        given, steps, space = self._given(first, last), last - first, self.here.space
        starts = {name: np.asarray(x, float)[:, None] for name, x in mark.items()}
        if steps > 1 or "q" in self.ends:
            after = adjoint.forwards(mark, given, steps, 1)
            starts = {name: np.concatenate([x, after[name][:, :-1]], axis=1) for name, x in starts.items()}
        ends = {}
        if "v" in self.ends:
            ends[end(space.velocities)] = self.ends["v"][:, first:last]
        if "q" in self.ends:
            positions = after[space.positions].reshape(self.here.batch * steps, -1)
            flat = np.ascontiguousarray(self.ends["q"][:, first:last]).reshape(len(positions), -1)
            ends[end(space.positions)] = space.position_weights(self.model, positions, flat).reshape(self.here.batch, steps, -1)
        return adjoint.backwards(bars, starts, given, ends, asked, self.slopes)
