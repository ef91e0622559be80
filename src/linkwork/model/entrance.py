"""The gate of calls on arrays: numbers must be finite and quaternions unit; complaints name the joint or body, and the value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..errors import InputError, SolverError
from ..kernel.sweep import Algorithm
from ..spatial.gate import unit_problem
from .drivable import bent_joint, check_leaves, weightless_joint

_records_of_runs: ContextVar[bool] = ContextVar("records of runs", default=False)  # may hold what is not finite
CHANGES = ("d_", "bar_", "end_")  # how names of derivatives and weights begin: these are no configurations
CONFIGURATIONS = ("q", "q_next")  # other inputs may lie in the same space: their changes
SHOWN_AS = {"u": "inputs", "q_next": "q", "tip": "point"}  # what callers call an input


@contextmanager
def lost_runs() -> Iterator[None]:
    """Within it, numbers that are not finite pass: records of a batch, some runs of which were lost, are looked at together."""
    before = _records_of_runs.set(True)
    try:
        yield
    finally:
        _records_of_runs.reset(before)


def records_of_runs() -> bool:
    """Whether records of runs are looked at, see `lost_runs`."""
    return _records_of_runs.get()


class ModelGate:
    """Looks at the arrays of an algorithm on a model; see `kernel.function.Gate`."""

    def __init__(self, model: Any, algorithm: Algorithm) -> None:
        self._model, self._fields = model, algorithm.fields
        self._makes_unit = algorithm.name.startswith("integrate")  # its results are, whatever the length of what it is given
        if "IA" in algorithm.fields:
            check_leaves(model)

    def _space(self, name: str) -> str:
        f = None if name.startswith(CHANGES) else self._fields.get(name)
        return "" if f is None else f.space

    def quaternions(self, name: str) -> Sequence[int]:
        return quaternions(self._model) if name in CONFIGURATIONS and not self._makes_unit else ()

    def said(self, algorithm: str, name: str) -> str:
        return f"{spoken(algorithm)}: {SHOWN_AS.get(name, name)}"

    def check(self, algorithm: str, inputs: Mapping[str, np.ndarray]) -> None:
        if records_of_runs():
            return
        for name, a in inputs.items():
            bad = np.argwhere(~np.isfinite(a))
            if len(bad):
                at = bad[0]
                state = f" of state {at[0]}" if len(at) > 1 else ""
                value, where = float(a[tuple(at)]), self._where(name, int(at[-1]))
                raise InputError(f"{self.said(algorithm, name)}{state} must be finite, not {value}{where}")
            if name in CONFIGURATIONS and not self._makes_unit:
                self._check_units(algorithm, a)

    def _check_units(self, algorithm: str, q: np.ndarray) -> None:
        model = self._model
        for at in quaternions(model):
            problem = unit_problem(q[..., at : at + 4].astype(float)) if q.dtype == np.float64 else None
            if problem:
                body = model.bodies[body_of(model, "q", at)]
                raise InputError(f"{spoken(algorithm)}: q at joint {body.joint_name!r}: {problem}; divide it by its norm")

    def _where(self, name: str, index: int) -> str:
        """Whose number it is."""
        model, space = self._model, self._space(name)
        if space in ("q", "v"):
            body = model.bodies[body_of(model, space, index)]
            return f", at joint {body.joint_name!r}"
        size = 0 if space != "node" else self._fields[name].size({})
        return f", at body {model.bodies[index // size].name!r}" if size else ""

    def explain(self, algorithm: str, inputs: Mapping[str, np.ndarray]) -> None:
        from .locked import locked_joint  # it calls algorithms itself

        if records_of_runs():
            return

        model, q = self._model, inputs.get("q")
        if q is None or q.shape[-1] != model.nq:
            raise SolverError(f"{spoken(algorithm)}: the result is not finite; numbers overflow")
        rows = np.asarray(q, float).reshape(-1, model.nq)
        for row in rows:
            problem = bent_joint(model, row) or locked_joint(model, row) or weightless_joint(model, row)
            if problem:
                raise SolverError(f"{spoken(algorithm)}: {problem}")
        raise SolverError(
            f"{spoken(algorithm)}: the result is not finite at q = {rows[0].tolist()}; a law or a number overflows there"
        )


def spoken(algorithm: str) -> str:
    """The name of an algorithm without the sizes that compiled variants carry."""
    return re.sub(r"(_-?\d+)+$", "", algorithm)


def quaternions(model: Any) -> tuple[int, ...]:
    """Where unit quaternions lie in q; kept with the model."""
    return model.keep_as(quaternions, lambda: _quaternions(model))


def _quaternions(model: Any) -> tuple[int, ...]:
    starts = model.tree.offsets("q")
    return tuple(int(starts[i]) + at for i, body in enumerate(model.bodies) for at in body.joint.quaternions)


def body_of(model: Any, space: str, index: int) -> int:
    """The body whose joint has a coordinate ("q") or a velocity ("v")."""
    starts = model.tree.offsets(space)
    return int(np.searchsorted(starts, index, side="right")) - 1
