"""The one way to call an algorithm from Python: arrays in, arrays out; for one state or a batch, in float64 or float32.

For a small model, asking arrays for shapes and addresses costs more than the kernels. So a call begins with compiled code that
looks at the arrays itself (`python`); what is not as it should be (a list, a slice, numbers of another kind, a batch of one, one
value for all states of a batch) is made so, and takes the same way. What one width needs is compiled when it is first called for.

Calls do not meet, neither those of several threads nor a call and one that a signal handler makes in the midst of it: one state
with one result is read, computed and copied before Python goes on (`python`); other calls take memory that no call has, and put
it back at their end. So there is as much memory as there were calls at one time, however many threads have come and gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from sys import getrefcount
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import InputError
from ..spatial.gate import reals, shown
from . import python, soundness
from .lanes import Lanes
from .plan import Plan
from .sweep import Algorithm
from .workers import thread_count
from .workspace import Workspace

if TYPE_CHECKING:
    from .plans import Plans

Tail = tuple[int, ...]  # the shape of one state's value
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
FLOATS = (FLOAT64, FLOAT32)
SIZES = 64  # of batches that are found at once
SPARE = 4 << 20  # bytes: larger arrays get huge pages from the system, which are cheap


class Gate(Protocol):
    """What is looked at in every call, and who says what is wrong."""

    def quaternions(self, name: str) -> Sequence[int]:
        """Where unit quaternions lie in an input."""
        ...

    def said(self, algorithm: str, name: str) -> str:
        """What messages call an input of an algorithm."""
        ...

    def check(self, algorithm: str, inputs: Mapping[str, np.ndarray]) -> None:
        """Raise if something is wrong with inputs (n,) or (batch, n)."""
        ...

    def explain(self, algorithm: str, inputs: Mapping[str, np.ndarray]) -> None:
        """Raise: inputs that are sound gave a result that is not finite."""
        ...


class Function:
    """An algorithm on a tree as a function of some of its inputs, in this order, that returns some of its outputs.

    inputs, outputs   shapes of one state's values by name; arguments have an optional batch axis before them, of any size or 1
    absent            inputs that are zero, and outputs that nobody wants
    constants         inputs that are the same in all calls
    gate              looks at numbers that come in and go out; None: nobody does
    """

    def __init__(
        self,
        plans: Plans,
        algorithm: Algorithm,
        inputs: Mapping[str, Tail],
        outputs: Mapping[str, Tail],
        phases: tuple[str, ...] = ("run",),
        absent: tuple[str, ...] = (),
        constants: Mapping[str, np.ndarray] | None = None,
        gate: Gate | None = None,
    ) -> None:
        self.algorithm, self._plans, self._phases, self._absent = algorithm, plans, phases, absent
        self._inputs, self._outputs, self.constants = dict(inputs), dict(outputs), dict(constants or {})
        self._sizes = [_size(tail) for tail in outputs.values()]
        self._wanted = list(zip(outputs, self._sizes, strict=True))
        self._flat, self._flat_inputs = (all(len(tail) == 1 for tail in x.values()) for x in (outputs, inputs))
        self._idle: list[_Memory] = []  # of no call at present; taking one and putting it back cannot be interrupted
        self._lone = len(self._outputs) == 1
        self._at_once: dict[np.dtype, Callable[..., Any]] = {}  # the first output of one state, a copy
        self._usual: Callable[..., Any] = _nothing  # that of float64
        self._gate = gate
        self._looks: dict[Any, Callable[..., Any]] = {}

    def __call__(self, *arrays: Any, threads: int | None = 1) -> list[np.ndarray]:
        """The outputs, with the batch axis first if any argument had one; they belong to the caller."""
        if type(threads) is int and threads == 1:
            flat = arrays if self._flat_inputs else self._flattened(arrays)
            if self._lone:
                found = self._usual(*flat)
                if found is not None:
                    return [found]
            elif (several := self._several(flat)) is not None:
                return several
        return self._general(arrays, threads)

    def _several(self, arrays: Sequence[Any]) -> list[np.ndarray] | None:
        """The outputs of one state in float64 vectors; None for all else, and where an argument or an output is not sound."""
        try:
            memory = self._idle.pop()
        except IndexError:
            return None
        try:
            return None if memory.usual(*arrays) is None else [x.copy() for x in memory.states[FLOAT64][1]]
        finally:
            self._idle.append(memory)

    def first(self, threads: int | None, *arrays: Any) -> np.ndarray:
        """The first output, of inputs that are vectors."""
        if type(threads) is int and threads == 1:
            found = self._usual(*arrays)
            if found is not None:
                return found
        return self._general(arrays, threads)[0]

    def shortest(self) -> Callable[..., Any] | None:
        """What to call for one state in float64 vectors, once there was such a call: it returns a first output of the caller's
        own, or None for arguments of another kind."""
        return None if self._usual is _nothing else self._usual

    def plan(self, lanes: Lanes) -> Plan:
        """The compiled algorithm for a value type."""
        return self._plans(self.algorithm, lanes, self._phases, self._absent)

    def prepared(self) -> Callable[..., np.ndarray]:
        """A function of one state in float64 arrays that are in one piece; it returns the first output, always the same array."""
        if not self._in_place:
            return lambda *arrays: self(*arrays)[0]
        sizes = ", ".join(f"{name} ({int(np.prod(tail))},)" for name, tail in self._inputs.items())
        message = f"a prepared {self.algorithm.name} takes contiguous float64 arrays {sizes}"
        name, tail = next(iter(self._outputs.items()))
        return self._workspace(Lanes(1)).of_state(tuple(self._inputs), name, tail, (InputError, message))[0]

    def _workspace(self, lanes: Lanes) -> Workspace:
        work = self.plan(lanes).workspace()
        for name, x in self.constants.items():
            work.fill(name, x)
        return work

    @cached_property
    def _in_place(self) -> bool:
        """Whether one state can be read where it is: nothing is written there, and at most one result is packed in the lanes."""
        fields = self.algorithm.fields
        plain = all(f.kind != "state" and f.alias not in self._inputs for f in fields.values())
        packed = any(fields[name].space in self._plans.tree.packings for name in self._outputs)
        whole = bool(self._inputs) and bool(self._outputs) and (len(self._outputs) == 1 or not packed)
        return plain and whole and python.available()

    def _flattened(self, arrays: tuple[Any, ...]) -> list[Any]:
        """Arrays of one state as vectors, and whatever is something else as it is."""
        pairs = zip(arrays, self._inputs.values(), strict=True)
        return [a.reshape(-1) if type(a) is np.ndarray and a.shape == tail else a for a, tail in pairs]

    def _general(self, arrays: tuple[Any, ...], threads: int | None) -> list[np.ndarray]:
        count = 1 if type(threads) is int and threads == 1 else thread_count(threads)
        try:
            memory = self._idle.pop()
        except IndexError:
            memory = _Memory()
        try:
            return self._batch(memory, arrays, count) or self._unusual(memory, arrays, count)
        finally:
            self._idle.append(memory)

    def _batch(self, memory: _Memory, arrays: tuple[Any, ...], threads: int) -> list[np.ndarray] | None:
        """The outputs for equal batches of arrays that are as they should be; None for all else."""
        first = arrays[0] if arrays else None
        if type(first) is not np.ndarray or first.ndim != 2 or len(first) < 2:
            return None
        batch, dtype = len(first), first.dtype
        key = (batch, dtype.char, threads)
        run = memory.batches.get(key)
        if run is None:
            if not any(dtype is kind for kind in FLOATS):  # arrays from pickles have others that are equal
                return None
            if any(getattr(a, "ndim", 0) != 2 for a in arrays) or len(arrays) != len(self._inputs):
                return None
            run = self._wide(memory, batch, dtype, threads, tuple(self._inputs))[0]
            if run is None:
                return None
            if len(memory.batches) > SIZES:
                memory.batches.clear()
            memory.batches[key] = run
        out = self._fresh(memory, batch, dtype)
        done = run(*arrays, *out)
        if done is None or done is False:
            return None
        return out if self._flat else [a.reshape(batch, *tail) for a, tail in zip(out, self._outputs.values(), strict=True)]

    def _unusual(self, memory: _Memory, arrays: tuple[Any, ...], threads: int) -> list[np.ndarray]:
        """The outputs for whatever can be made arrays of such shapes; raises where it cannot."""
        dtype = FLOAT32 if any(getattr(x, "dtype", None) == FLOAT32 for x in arrays) else FLOAT64
        batch, rows = None, {}
        for (name, tail), x in zip(self._inputs.items(), arrays, strict=True):
            rows[name], count = self._rows(name, tail, x, dtype)
            if count is not None and count != batch:
                if batch not in (None, 1) and count != 1:
                    raise InputError(f"{self._said(name)} has batch size {count}, another argument {batch}")
                batch = count if batch in (None, 1) else batch
        if self._gate is not None and not self._sound(dtype, self._units, rows.values()):
            self._gate.check(self.algorithm.name, rows)
        count = 1 if batch is None else batch
        out = self._one(memory, rows, dtype) if count == 1 else self._many(memory, rows, count, dtype, threads)
        known = self._gate is None or self._sound(dtype, [], [a.reshape(1, -1) for a in out])
        if self._gate is not None and not known and not all(np.isfinite(a).all() for a in out):
            self._gate.explain(self.algorithm.name, rows)
        lead = () if batch is None else (count,)
        return [a.reshape(lead + tail) for a, tail in zip(out, self._outputs.values(), strict=True)]

    def _one(self, memory: _Memory, rows: dict[str, np.ndarray], dtype: np.dtype) -> list[np.ndarray]:
        """Of one state, (size,) each."""
        if not self._in_place:
            return self._by_plan(memory, rows, 1, dtype, 1)
        if dtype not in memory.states:
            self._prepare_one(memory, dtype)
        run, results = memory.states[dtype]
        found = run(*(a.reshape(-1) for a in rows.values()))
        return [found] if self._lone else [x.copy() for x in results]

    def _prepare_one(self, memory: _Memory, dtype: np.dtype) -> None:
        (name, tail), *others = self._outputs.items()
        at_once = self._at_once.get(dtype)
        if at_once is None:
            at_once = self._at_once[dtype] = self._of_state(dtype, name, tail, True)[0]
        if others:
            run, out, work = self._of_state(dtype, name, tail, False)
            further = [work.views[other].reshape(shape) for other, shape in others]
            memory.states[dtype] = run, [out, *further]
            if dtype == FLOAT64:
                memory.usual = self._guarded(run, dtype, further)
        else:
            memory.states[dtype] = at_once, []
        if dtype == FLOAT64:
            self._usual = self._guarded(at_once, dtype)

    # --- the gate -------------------------------------------------------------------------------------------------------
    @cached_property
    def _units(self) -> list[tuple[int, int]]:
        """Of every unit quaternion which argument holds it, and where."""
        gate = self._gate
        return [] if gate is None else [(k, at) for k, name in enumerate(self._inputs) for at in gate.quaternions(name)]

    def _sound(self, dtype: np.dtype, units: list[tuple[int, int]], arrays: Collection[np.ndarray]) -> bool:
        """Whether arrays of a call are finite, and their quaternions unit; False where that is not known."""
        key = (dtype, len(units), len(arrays))
        look = self._looks.get(key)
        if look is None:
            look = self._looks[key] = soundness.sound(dtype, units, range(len(arrays))) if python.available() else _nothing
        return look(*arrays) is True

    def _said(self, name: str) -> str:
        """What messages call an input."""
        return f"{self.algorithm.name}: {name}" if self._gate is None else self._gate.said(self.algorithm.name, name)

    def _guarded(self, run: Callable[..., Any], dtype: np.dtype, further: Sequence[np.ndarray] = ()) -> Callable[..., Any]:
        """The same function of one state, which has nothing to say where an argument or a result is not sound.

        further   where it writes results besides the one that it returns
        """
        if self._gate is None:
            return run
        return soundness.guarded(run, dtype, self._units, len(self._inputs), self._sizes[0], further)

    def _of_state(self, dtype: np.dtype, name: str, tail: Tail, copies: bool) -> tuple[Callable[..., Any], np.ndarray, Workspace]:
        work = self._workspace(Lanes(1, dtype == FLOAT32))
        return *work.of_state(tuple(self._inputs), name, tail, None, copies), work

    def _many(self, memory: _Memory, rows: dict[str, np.ndarray], batch: int, dtype: np.dtype, threads: int) -> list[np.ndarray]:
        """Of a batch, (batch, size) each."""
        own = tuple(name for name, a in rows.items() if a.ndim == 2 and len(a) == batch)
        out = self._fresh(memory, batch, dtype)
        if not batch:
            return out
        run, *works = self._wide(memory, batch, dtype, threads, own)
        if run is None:
            return self._by_plan(memory, rows, batch, dtype, threads)
        for name, a in rows.items():
            if name not in own:
                for work in works:
                    work.fill(name, a.reshape(-1))
        done = run(*(rows[name] for name in own), *out)
        return self._by_plan(memory, rows, batch, dtype, threads) if done is None else out

    def _wide(self, memory: _Memory, batch: int, dtype: np.dtype, threads: int, own: tuple[str, ...]) -> tuple[Any, ...]:
        """A function of arrays of a batch, of those inputs that every state has its own of, and the memory that it uses."""
        lanes = self._plans.lanes(self.algorithm, batch, dtype)
        found = memory.wide.get((lanes, threads, own))
        if found is None:
            if not python.available() or not self._sizes or not own:
                return (None,)
            works = [self._workspace(lanes) for _ in range(threads)]
            names = tuple(self._inputs)
            units = [(names[k], at) for k, at in self._units if names[k] in own]
            run = works[0].of_batch(own, tuple(self._outputs), works[1:], None if self._gate is None else units)
            found = memory.wide[lanes, threads, own] = (run, *works)
        return found

    def _by_plan(
        self, memory: _Memory, rows: dict[str, np.ndarray], batch: int, dtype: np.dtype, threads: int
    ) -> list[np.ndarray]:
        """The same without compiled code that knows Python's arrays, or where states are updated."""
        plan, out = self.plan(self._plans.lanes(self.algorithm, batch, dtype)), self._fresh(memory, batch, dtype)
        given = {name: a[0] if a.ndim == 2 and len(a) == 1 else a for name, a in rows.items()}
        fixed = {name: np.asarray(x, dtype) for name, x in self.constants.items()}
        plan.run(given | fixed, dict(zip(self._outputs, out, strict=True)), batch, threads=threads)
        return out

    def _fresh(self, memory: _Memory, batch: int, dtype: np.dtype) -> list[np.ndarray]:
        return [fresh(memory.spares, name, (batch, n), dtype) for name, n in self._wanted]

    def _rows(self, name: str, tail: Tail, x: Any, dtype: np.dtype) -> tuple[np.ndarray, int | None]:
        """The argument as one row (n,) or rows (batch, n), and how many rows it has."""
        full = ", ".join(map(str, tail))
        try:
            a = np.ascontiguousarray(x if type(x) is np.ndarray and x.dtype in FLOATS else reals(x), dtype)
        except ValueError as error:
            raise InputError(
                f"{self._said(name)} must be an array of numbers, not {shown(x)} ({error}); expected ({full}) or (batch, {full})"
            ) from None
        shape = a.shape if np.ndim(x) else ()
        if shape == tail or (not np.ndim(x) and tail == (1,)):
            return a.reshape(-1), None
        if shape[1:] == tail and shape:
            return (a if len(shape) == 2 else a.reshape(shape[0], _size(tail))), shape[0]
        raise InputError(f"{self._said(name)} has shape {shape}; expected ({full}) or (batch, {full})")


class _Memory:
    """What one call at a time uses: functions by kind of number or width, made when first called for.

    usual   where there are several outputs: the function of one state in float64 vectors that computes all of them
    """

    def __init__(self) -> None:
        self.usual: Callable[..., Any] = _nothing
        self.states: dict[np.dtype, tuple[Callable[..., Any], list[np.ndarray]]] = {}
        self.wide: dict[Any, tuple[Any, ...]] = {}
        self.batches: dict[tuple[int, str, int], Callable[..., Any]] = {}
        self.spares: dict[str, np.ndarray] = {}


def _nothing(*_: Any) -> None:
    """No call was made that says what is usual."""


def _size(tail: Tail) -> int:
    return int(np.prod(tail))


def _references() -> int:
    """What `getrefcount` says of an array that only a local variable holds."""
    kept = {"a": np.empty(0)}
    a = kept.pop("a")
    return getrefcount(a)


_ALONE = _references()


def fresh(spares: dict[str, np.ndarray], name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array for a result. The last one of this name is used again if the caller has dropped it and all views of it:
    new memory costs a page fault every 4096 bytes, up to half the time of a batch. Compiled code knows NumPy's own descriptions
    of numbers; those of arrays that came out of a pickle are others."""
    if dtype is not FLOAT64:
        dtype = FLOAT32 if dtype == FLOAT32 else FLOAT64
    a = spares.pop(name, None)
    if a is None or a.shape != shape or a.dtype is not dtype or getrefcount(a) != _ALONE or not a.flags.writeable:
        a = np.empty(shape, dtype)
    if a.nbytes <= SPARE:
        spares[name] = a
    return a
