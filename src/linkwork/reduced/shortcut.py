"""The short way for one to three inputs and one output: asking arrays for shapes and addresses costs more than the kernel.

Compiled code looks at the arrays itself (see `kernel.python`), for one state and for batches. Whatever is unusual (lists, mixed
types, slices, broadcasting, wrong shapes) takes the long way through `Interface`, with its messages.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel import python
from ..kernel.lanes import Lanes
from ..kernel.plan import Plan
from ..kernel.sweep import Algorithm
from ..kernel.widths import SCALAR64
from ..kernel.workspace import Workspace
from ..model.arrays import FLOAT32, FLOAT64, Interface, fresh, thread_count
from ..model.model import Model

FLOATS = (FLOAT64, FLOAT32)
Names = tuple[str, ...]


def plan_for(model: Model, algorithm: Algorithm, names: Names, result: str, lanes: Lanes) -> Plan:
    """The compiled algorithm with gravity and these inputs alone, and this one of its results."""
    given = (*names, "gravity")
    absent = [n for n, f in algorithm.fields.items() if f.kind == "input" and n not in given]
    absent += [n for n in algorithm.results if n != result]
    return model.plan(algorithm, lanes, tuple(algorithm.phases), tuple(absent))


class Shortcut:
    """An algorithm of few inputs and one output on a model; one per thread, as it has memory of its own."""

    def __init__(self, model: Model, algorithm: Algorithm, names: Names, result: str) -> None:
        self.model, self.algorithm, self.names, self.result = model, algorithm, names, result
        interface = Interface(model, algorithm)
        self._size, self._tail = interface.sizes[result], interface.tails[result]
        self._spares: dict[str, np.ndarray] = {}
        self._wide: dict[Any, Callable[..., Any]] = {}
        self._work = self._workspace(SCALAR64)
        self._state, self._out = self._work.of_state(names, result, self._tail)

    def _workspace(self, lanes: Lanes) -> Workspace:
        work = plan_for(self.model, self.algorithm, self.names, self.result, lanes).workspace()
        if "gravity" in self.algorithm.fields:
            work.views["gravity"].reshape(3, -1)[:] = self.model.gravity[:, None]
        return work

    def prepared(self) -> Callable[..., np.ndarray]:
        """A function of one state that returns its own array, always the same."""
        sizes = ", ".join(f"{n} ({self._work.plan.sizes[n]},)" for n in self.names)
        message = f"a prepared {self.algorithm.name} takes contiguous float64 arrays {sizes}"
        return self._work.of_state(self.names, self.result, self._tail, (InputError, message))[0]

    def __call__(self, threads: int, *arrays: Any) -> np.ndarray | None:
        """The result, or None if the arrays are not of one state or of equal batches."""
        if self._state(*arrays) is not None:
            return self._out.copy()
        first = arrays[0]
        if type(first) is not np.ndarray or first.ndim != 2 or len(first) < 2 or first.dtype not in FLOATS:
            return None
        lanes = self.model.plan.lanes(self.algorithm, len(first), first.dtype)
        run = self._wide.get((lanes, threads)) or self._prepare_wide(lanes, threads)
        out = run(*arrays, fresh(self._spares, self.result, (len(first), self._size), first.dtype))
        return out if out is None or len(self._tail) == 1 else out.reshape(len(first), *self._tail)

    def _prepare_wide(self, lanes: Lanes, threads: int) -> Callable[..., Any]:
        own, *others = (self._workspace(lanes) for _ in range(threads))
        run = self._wide[lanes, threads] = own.of_batch(self.names, self.result, others)
        return run


def shortcut(
    model: Model, algorithm: Algorithm, names: Names, result: str, threads: int | None, *arrays: Any
) -> np.ndarray | None:
    """The result by the short way, or None if the inputs need the long one."""
    key = (algorithm.name, get_ident())
    call = model.shortcuts.get(key)
    if call is None:
        usual = all(type(a) is np.ndarray and a.dtype in FLOATS for a in arrays)
        if not usual or not python.available():
            return None
        call = model.shortcuts[key] = Shortcut(model, algorithm, names, result)
    return call(threads if threads == 1 else thread_count(threads), *arrays)


def prepared(algorithm: Algorithm, names: Names, result: str) -> Callable[[Model], Callable[..., np.ndarray]]:
    """For `model.function`: a maker of functions with least overhead."""

    def make(model: Model) -> Callable[..., np.ndarray]:
        if python.available():
            return Shortcut(model, algorithm, names, result).prepared()
        gravity = {"gravity": model.gravity} if "gravity" in algorithm.fields else {}
        return lambda *arrays: model.call(algorithm, {**dict(zip(names, arrays, strict=True)), **gravity}, 1, (result,))[result]

    return make
