"""Tracing: the rules of an algorithm, run on symbols for one class of nodes, become load-compute-store kernels.

A private value costs memory only for what varies in it: numbers stay numbers, parameters are read again, a scalar that
occurs twice (or with the other sign) is stored once. Slots that no later rule reads are never written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from ..errors import CompileError
from ..spatial.scalar import array, is_number
from ..spatial.table import Table, TableShape
from .slots import is_private, renumbered
from .sweep import Algorithm, Field, NodeClass, Sweep
from .symbol import Symbol, ordered, variable

Place = tuple[str, str, int]  # array, role, index


@dataclass(frozen=True)
class Position:
    """Where a node stands: what the rules may leave out there."""

    root: bool
    leaf: bool
    first: bool  # the first of its parent's children that an inward sweep meets


@dataclass(frozen=True)
class Kernel:
    """One traced rule: symbols with the places they are loaded from, values with the places they are stored to."""

    loads: list[tuple[Symbol, Place]]
    stores: list[tuple[Any, Place]]

    def moved(self, places: Mapping[Place, Place]) -> Kernel:
        """The same with some places elsewhere."""
        return Kernel([(s, places.get(p, p)) for s, p in self.loads], [(v, places.get(p, p)) for v, p in self.stores])


@dataclass(frozen=True)
class Unit:
    """All kernels of an algorithm for one class and position (none for steps that do not run there), the private scalars per
    node and phase, and the gathered fields that each kernel writes."""

    kernels: list[Kernel | None]
    private: dict[str, int]
    gathers: list[list[str]]


@dataclass(frozen=True)
class Ref:
    """A stored scalar: its place, and whether its negative is meant."""

    place: Place
    negative: bool = False


def mapped(value: Any, fn: Any) -> Any:
    """The same structure with `fn` applied to its scalars; integers, strings and None are structure."""
    if value is None or (isinstance(value, (str, bool, int)) and not isinstance(value, float)):
        return value
    if isinstance(value, np.ndarray):
        flat = np.empty(value.size, dtype=object)
        flat[:] = [fn(x) if is_number(x) else mapped(x, fn) for x in value.flat]
        return array(flat).reshape(value.shape) if value.size else value
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(x, fn) for x in value)
    if is_dataclass(value) and not isinstance(value, (type, Ref)):
        copy = object.__new__(type(value))
        for f in fields(value):
            object.__setattr__(copy, f.name, mapped(getattr(value, f.name), fn))
        return copy
    return fn(value)


def own_array(kind: str, of: str) -> str:
    """The name of an array that every set of nodes has for itself: "parameters", "shared", "private:run", ..."""
    return f"{kind}@{of}" if of else kind


def record_layout(algorithm: Algorithm) -> dict[str, tuple[str, int]]:
    """Shared fields of a set lie side by side in one record per node, gathered ones in another: name -> (array, start)."""
    layout, ends = {}, {}
    for name, f in algorithm.fields.items():
        if f.kind in ("shared", "gathered"):
            array = own_array(f.kind, f.of)
            layout[name] = (array, ends.get(array, 0))
            ends[array] = layout[name][1] + f.size({})
    return layout


class Tracer:
    """Runs the sweeps of an algorithm for one class of nodes of a set, at one position.

    idle   numbers of the steps that no node of this class and position takes part in
    """

    def __init__(
        self,
        algorithm: Algorithm,
        node_class: NodeClass,
        position: Position,
        absent: frozenset[str],
        on: str = "",
        idle: frozenset[int] = frozenset(),
    ) -> None:
        self.algorithm, self.node_class, self.position, self.absent = algorithm, node_class, position, absent
        self.on, self.idle = on, idle
        self.memory: dict[str, Any] = {}  # private and own shared values, as structures of numbers and Refs
        self.slots: dict[int, Place] = {}  # element hash of a stored scalar -> its place
        self.alive: list[Symbol] = []  # keeps hashes valid
        self.count = dict.fromkeys(algorithm.phases, 0)
        self.phase = ""
        self.records = record_layout(algorithm)
        self.loads: dict[Place, Symbol] = {}
        self.pending: dict[Place, Any] = {}
        self.written: dict[tuple[str, str], Any] = {}

    def run(self) -> Unit:
        """Trace every sweep, then keep only the stores that somebody reads."""
        kernels: list[Kernel | None] = []
        gathers: list[list[str]] = []
        for k, (phase, sweep) in enumerate(self.algorithm.steps()):
            if not isinstance(sweep, Sweep) or sweep.on != self.on or k in self.idle:
                kernels.append(None)
                gathers.append([])
                continue
            self.phase = phase
            self.loads, self.pending, self.written = {}, {}, {}
            roles = [Namespace(self, self.node_class.role(role)) for role in sweep.roles]
            sweep.rule(*roles)
            self._commit()
            gathers.append(sorted(name for role, name in self.written if role == "parent"))
            kernels.append(Kernel([(s, p) for p, s in self.loads.items()], [(v, p) for p, v in self.pending.items()]))
        kernels, private = self._compacted(kernels)
        return Unit(kernels, private, gathers)

    # --- reading -----------------------------------------------------------------------------------------------------
    def read(self, role: str, name: str) -> Any:
        if (role, name) in self.written:
            return self.written[role, name]
        f = self.algorithm.fields.get(name)
        if role == "parent" and self.position.root:
            return self._world(name, f)
        if role == "own" and name == "is_root":
            return self.position.root
        if role == "own" and name in self.node_class.attributes:
            return self.node_class.attributes[name]
        if role == "own" and name in self.node_class.patterns:
            return self._parameter(name)
        if role == "own" and name in self.memory:
            return mapped(self.memory[name], self._fetch)
        if f is None:
            raise CompileError(f"{self._where()} reads {role}.{name}, which nothing has set")
        if f.kind == "gathered":
            if role not in ("own", "parent"):
                raise CompileError(
                    f"{self._where()} reads {role}.{name}: gathered fields live only between a node and its parent"
                )
            empty = self.position.leaf if role == "own" else self.position.first
            if empty:
                return f.unpack([0.0] * self._size(f, role))
            return self._load(f, name, role)
        if f.kind == "input" and name in self.absent:
            return f.unpack([0.0] * self._size(f, role))
        return self._load(f, name, role)

    def _size(self, f: Field, role: str) -> int:
        return f.size(self.node_class.sizes_of(role))

    def _world(self, name: str, f: Field | None) -> Any:
        if f is None or f.kind == "output":
            raise CompileError(f"{self._where()} reads parent.{name}, which is neither given nor shared")
        if f.world is None:
            return f.unpack([0.0] * self._size(f, "parent"))
        return f.world(Namespace(self, "own"))

    def _parameter(self, name: str) -> Any:
        shape, _ = self.node_class.patterns[name]
        slots = self.node_class.parameter_slots(name)
        source = own_array("parameters", self.on)
        flat = [self.load((source, "own", s)) if isinstance(s, int) else s for s in slots]
        if isinstance(shape, TableShape):
            return Table.of_shape(shape, [self.load((own_array("tables", self.on), "own", 0)), *flat])
        return array(flat).reshape(shape) if shape else flat[0]

    def _load(self, f: Field, name: str, role: str) -> Any:
        return f.unpack([self.load(self._place(name, role, k)) for k in range(self._size(f, role))])

    def _place(self, name: str, role: str, k: int) -> Place:
        array_name, base = self.records.get(name, (name, 0))
        return array_name, role, base + k

    def load(self, place: Place) -> Symbol:
        symbol = self.loads.get(place)
        if symbol is None:
            symbol = self.loads[place] = variable(f"{place[0]}_{place[1]}_{place[2]}")
            self.alive.append(symbol)
            if self._is_constant(place):
                self.slots[hash(symbol)] = place  # a value that is just this needs no second home
        return symbol

    def _is_constant(self, place: Place) -> bool:
        """Whether nothing else is ever stored there: parameters, inputs, private values."""
        array, role, _ = place
        return array.startswith(("parameters", "private:")) or (role == "own" and self._is_input(array))

    def _is_input(self, name: str) -> bool:
        f = self.algorithm.fields.get(name)
        return f is not None and f.kind == "input" and len(self.algorithm.phases) == 1  # later calls bring other inputs

    def _fetch(self, scalar: Any) -> Any:
        if not isinstance(scalar, Ref):
            return scalar
        kept = self.pending.get(scalar.place)  # by the same rule
        symbol = self.load(scalar.place) if kept is None else kept
        return -symbol if scalar.negative else symbol

    # --- writing -----------------------------------------------------------------------------------------------------
    def write(self, role: str, name: str, value: Any) -> None:
        self.algorithm.check_write(self.node_class, role, name)
        if role != "parent" or not self.position.root:
            self.written[role, name] = value

    def _commit(self) -> None:
        """Turn what a rule assigned into stores; private structures remember only what varies."""
        for (role, name), value in self.written.items():
            f = self.algorithm.fields.get(name)
            if f is None:
                self.memory[name] = mapped(value, self._keep)
                continue
            scalars = f.packed(value, name, self._size(f, role))
            for k, scalar in enumerate(scalars):
                place = self._place(name, role, k)
                if self.loads.get(place) is not scalar:  # else it is there
                    self.pending[place] = scalar
            if f.kind == "shared" and role == "own":
                dense = [x if is_number(x) else Ref(self._place(name, role, k)) for k, x in enumerate(scalars)]
                self.memory[name] = f.unpack(dense)

    def _keep(self, scalar: Any) -> Any:
        if is_number(scalar):
            return float(scalar)
        if not isinstance(scalar, Symbol):
            raise CompileError(f"{self._where()} assigns a {type(scalar).__name__}; rules hold numbers, arrays and transforms")
        known = self.slots.get(hash(scalar))
        if known is not None:
            return Ref(known)
        if scalar.op == "neg":
            kept = self._keep(scalar.args[0])
            return Ref(kept.place, not kept.negative)
        place = (own_array(f"private:{self.phase}", self.on), "own", self.count[self.phase])
        self.count[self.phase] += 1
        self.alive.append(scalar)
        self.slots[hash(scalar)] = place
        self.pending[place] = scalar
        return Ref(place)

    # --- what is left --------------------------------------------------------------------------------------------------
    def _compacted(self, kernels: list[Kernel | None]) -> tuple[list[Kernel | None], dict[str, int]]:
        """Only what somebody needs is stored, only what that needs is loaded, and private values lie in few places."""
        loaded = {place for kernel in kernels if kernel is not None for _, place in kernel.loads}
        read = {(self._memory_of(a), k) for a, role, k in loaded if role != "parent"}
        asked: set[Place] = set()  # private values that later kernels load
        kept: list[Kernel | None] = []
        for kernel in reversed(kernels):
            if kernel is not None:
                stores = [(v, p) for v, p in kernel.stores if (p in asked if is_private(p) else self._needed(p, read))]
                used = set(map(id, ordered([s for s, _ in kernel.loads], [v for v, _ in stores])))
                kernel = Kernel([(s, p) for s, p in kernel.loads if id(s) in used], stores)
                asked.update(p for _, p in kernel.loads if is_private(p))
            kept.insert(0, kernel)
        moved, private = renumbered(self.algorithm, kept)
        return [kernel if kernel is None else kernel.moved(moved) for kernel in kept], private

    def _memory_of(self, array: str) -> str:
        """The array whose memory it is: another one if this is an alias."""
        f = self.algorithm.fields.get(array)
        return array if f is None or f.alias is None else f.alias

    def _needed(self, place: Place, read: set[tuple[str, int]]) -> bool:
        if place[0] in self.absent:  # an output that nobody asked for, but a later rule may read it, of any node
            return (self._memory_of(place[0]), place[2]) in read
        if place[0].partition("@")[0] != "shared" or not self.position.leaf:
            return True
        return self.algorithm.looks_around or (place[0], place[2]) in read

    def _where(self) -> str:
        return f"a rule of {self.algorithm.name!r} (phase {self.phase!r})"


class Namespace:
    """What a rule sees of a node: reading loads, assigning stores."""

    __slots__ = ("_role", "_tracer")

    def __init__(self, tracer: Tracer, role: str) -> None:
        object.__setattr__(self, "_tracer", tracer)
        object.__setattr__(self, "_role", role)

    def __getattr__(self, name: str) -> Any:
        return self._tracer.read(self._role, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._tracer.write(self._role, name, value)
