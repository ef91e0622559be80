"""A plan: an algorithm bound to a tree, ready to run on one state, on a batch, for one pass or for many steps.

Kernels know classes, not models: everything about the model (order, offsets, parameters) is in tables made here with
array operations, so that a chain of 100000 links is ready at once and a new tree of known classes compiles nothing.
"""

from __future__ import annotations

import ctypes
import itertools
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import CompileError, InputError
from . import python
from .driver import driver
from .lanes import Lanes
from .records import JOB, SEGMENT, TRANSFER
from .sweep import Algorithm, Field, Items, Packing, Repeat, Routine, Step, Sweep, Tree
from .trace import Position, own_array, record_layout
from .unit import CompiledUnit, Variant, arrays, unit
from .workers import AVAILABLE, workers

ALIGN = 64
ALL = 1 << 60  # states at a time: no other thread shares them
CHUNKS = 16  # a thread takes its part in so many pieces, so that one which is late or slow gets less


class Shape:
    """What a tree looks like to the sweeps: positions, classes, slots of gathered values."""

    def __init__(self, tree: Tree) -> None:
        n = len(tree)
        self.tree = tree
        parent = tree.parent
        self.root = parent < 0
        self.leaf = np.ones(n, bool)
        self.leaf[parent[~self.root]] = False
        # An inward sweep runs from the last node to the first: the child with the highest index comes first.
        highest = np.full(n, -1)
        np.maximum.at(highest, parent[~self.root], np.flatnonzero(~self.root))
        self.first = np.zeros(n, bool)
        self.first[highest[highest >= 0]] = True
        self.slot, self.slots = self._slots(highest)
        index: dict[int, int] = {}
        self.class_of = np.array([index.setdefault(id(c), len(index)) for c in tree.classes], dtype=np.int64)
        self.classes = list({id(c): c for c in tree.classes}.values())

    def _slots(self, highest: np.ndarray) -> tuple[np.ndarray, int]:
        """A slot for every inner node, reused as soon as the inward sweep has passed it."""
        n = len(self.tree)
        slot = np.zeros(n, np.int64)
        free: list[int] = []
        used = 0
        opens = dict(zip(highest[highest >= 0].tolist(), np.flatnonzero(highest >= 0).tolist(), strict=True))
        for i in range(n - 1, -1, -1):
            p = opens.get(i)
            if p is not None:
                if free:
                    slot[p] = free.pop()
                else:
                    slot[p], used = used, used + 1
            if highest[i] >= 0:
                free.append(int(slot[i]))
        return slot, max(used, 1)


class Plan:
    """An algorithm compiled for a tree and one variant, with its tables; workspaces are made per thread."""

    def __init__(self, algorithm: Algorithm, tree: Tree, variant: Variant, shape: Shape | None = None) -> None:
        self.algorithm, self.tree = algorithm, tree
        shared = {own_array(name, of) for of in algorithm.sets for name in variant.uniform & {"parameters"}}
        self.variant = replace(variant, uniform=variant.uniform | shared)
        self.shapes = {of: Shape(tree.of(of)) if of or shape is None else shape for of in algorithm.sets}
        self.lanes = variant.lanes
        self.arrays = arrays(algorithm)
        self.driver = driver(self.lanes)
        self.units_of: dict[str, list[CompiledUnit]] = {}
        self.unit_of: dict[str, np.ndarray] = {}
        for of in algorithm.sets:
            self._choose_units(of)
        self._lay_out()
        self._make_tables()

    # --- tables -------------------------------------------------------------------------------------------------------
    def _choose_units(self, of: str) -> None:
        s = self.shapes[of]
        code = ((s.class_of * 2 + s.root) * 2 + s.leaf) * 2 + s.first
        codes, self.unit_of[of] = np.unique(code, return_inverse=True)
        units, inner = [], []
        for u, c in enumerate(codes.tolist()):
            position = Position(bool(c >> 2 & 1), bool(c >> 1 & 1), bool(c & 1))
            units.append(unit(self.algorithm, s.classes[c >> 3], position, self.variant, of, self._idle_steps(of, u)))
            if not position.root:
                inner.append(units[-1])
        self.units_of[of] = units
        self._check_gathered(inner)

    def _idle_steps(self, of: str, u: int) -> frozenset[int]:
        """The numbers of the steps over lists in which no node of a unit stands."""
        tree, mine = self.tree.of(of), self.unit_of[of]
        sweeps = [(k, step) for k, (_, step) in enumerate(self.algorithm.steps()) if isinstance(step, Sweep) and step.on == of]
        return frozenset(k for k, s in sweeps if s.items is not None and u not in mine[tree_items(tree, s.items).nodes])

    def _check_gathered(self, inner: Sequence[CompiledUnit]) -> None:
        """The first child that is met begins a sum, so every child must take part in it."""
        for k in range(len(inner[0].gathers) if inner else 0):
            if any(u.gathers[k] != inner[0].gathers[k] for u in inner):
                names = sorted({name for u in inner for name in u.gathers[k]})
                raise CompileError(
                    f"a rule of {self.algorithm.name!r} adds to {', '.join('parent.' + n for n in names)} at some nodes only; "
                    "all nodes must assign it, if only parent.x = parent.x"
                )

    def _lay_out(self) -> None:
        """Offsets of every node's record in every array, and the size of each array, in scalars."""
        self.offsets: dict[str, np.ndarray] = {}
        self.sizes: dict[str, int] = {}
        self.stored: dict[str, int] = {}  # numbers in the lanes, of arrays that have another number outside
        self.maps: dict[str, np.ndarray] = {}  # and the place of each
        widths: dict[str, int] = {}
        for name, (array, at) in record_layout(self.algorithm).items():
            widths[array] = max(widths.get(array, 0), at + self.algorithm.fields[name].size({}))
        for of, shape in self.shapes.items():
            n = len(shape.tree)
            for kind, places, count in (("shared", np.arange(n), n), ("gathered", shape.slot, shape.slots)):
                array = own_array(kind, of)
                self.offsets[array], self.sizes[array] = places * widths.get(array, 0), count * widths.get(array, 0)
            counts = np.array([c.parameter_count for c in shape.classes], np.int64)[shape.class_of]
            self._cumulate(own_array("parameters", of), counts)
            for phase in self.algorithm.phases:
                private = np.array([u.private[phase] for u in self.units_of[of]], np.int64)[self.unit_of[of]]
                self._cumulate(own_array(f"private:{phase}", of), private)
        for name, f in self.algorithm.fields.items():
            if f.kind not in ("shared", "gathered"):
                self._lay_out_field(name, f)

    def _lay_out_field(self, name: str, f: Field) -> None:
        tree = self.tree.of(f.of)
        n = len(tree)
        if f.space in tree.packings:
            packing = tree_packing(tree, f.space)
            self.offsets[name], self.sizes[name] = np.arange(packing.count), len(packing.index)
            self.stored[name], self.maps[name] = packing.count, np.ascontiguousarray(packing.index, np.int32)
        elif f.space == "global":
            longest = max(map(len, (self.tree, *self.tree.sets.values())))
            self.offsets[name], self.sizes[name] = np.zeros(longest, np.int64), f.size({})
        elif f.space == "node" or f.space in tree.counts:
            count = tree.counts.get(f.space, n)
            self.offsets[name], self.sizes[name] = np.arange(count) * f.size({}), count * f.size({})
        else:
            starts = tree.offsets(f.space)
            self.offsets[name], self.sizes[name] = starts[:-1], int(starts[-1])

    def _cumulate(self, name: str, counts: np.ndarray) -> None:
        ends = np.cumsum(counts)
        self.offsets[name], self.sizes[name] = ends - counts, int(ends[-1]) if len(ends) else 0

    def _make_tables(self) -> None:
        self._entries: list[np.ndarray] = []  # kept alive: the segments point into them
        self.flops = 0  # of rules, per state and pass; what is repeated counts as often as it may run
        phases = (steps for phase, steps in self.algorithm.phases.items() if phase in self.variant.phases)
        self.segments = self._segments([step for steps in phases for step in steps], itertools.count(), 1)

    def _segments(self, steps: Sequence[Step], number: Iterator[int], times: int) -> np.ndarray:
        """The segments of some steps; `number` counts sweeps and routines, `times` is how often they run."""
        found = [np.empty((0, len(SEGMENT)), np.int64)]
        for step in steps:
            if isinstance(step, Repeat):
                inner = self._segments(step.steps, number, times * step.most)
                flag = -1 if step.until is None else self.arrays.index(step.until)
                entries = np.array([inner.ctypes.data, len(inner), step.most, flag], np.int64)
                self._entries += [inner, entries]
                found.append(np.array([[self.driver.repeat_at, entries.ctypes.data, 1, -1, 0]], np.int64))
            elif isinstance(step, Sweep):
                found.append(self._sweep_segments(next(number), step, times))
            else:
                next(number)
                found.append(self._routine_segment(step))
        return np.ascontiguousarray(np.concatenate(found), dtype=np.int64)

    def _sweep_segments(self, k: int, sweep: Sweep, times: int) -> np.ndarray:
        """The segments of a sweep that is number k of those that run: nodes of one unit after the other, under one guard."""
        tree = self.tree.of(sweep.on)
        if sweep.items is None:
            order = np.arange(len(tree))[:: -1 if sweep.order == "inward" else 1]
            roles = {"own": np.arange(len(tree)), "parent": np.maximum(tree.parent, 0), **tree.roles}
            index = {role: target[order] for role, target in roles.items()}
        else:
            items = tree_items(tree, sweep.items)
            order, index = items.nodes, {"own": items.nodes, **items.roles}
        if not len(order):
            return np.empty((0, len(SEGMENT)), np.int64)
        for role in sweep.roles:
            if index[role].min() < 0:
                raise CompileError(f"role {role!r} of {self.algorithm.name!r} points at index {index[role].min()}")
        all_units, units = self.units_of[sweep.on], self.unit_of[sweep.on][order]
        self.flops += times * int(np.array([u.flops[k] for u in all_units])[units].sum())
        rank = np.zeros(len(order), np.int64)
        base = np.zeros(len(all_units), np.int64)
        width = np.ones(len(all_units), np.int64)
        for u, compiled in enumerate(all_units):
            mine = np.flatnonzero(units == u)
            rank[mine] = np.arange(len(mine))
            pairs = compiled.operands[k]
            table = np.empty((len(mine), max(1, len(pairs))), np.int32)
            for column, (array, role) in enumerate(pairs):
                table[:, column] = self.offsets[array][index[role][mine]]
            self._entries.append(table)
            base[u], width[u] = table.ctypes.data, table.shape[1]
        guard, guard_at = self._guards(sweep.when, index, len(order))
        starts = np.flatnonzero(np.diff(units, prepend=-1) | np.diff(guard_at, prepend=-1))
        counts = np.diff(np.append(starts, len(order)))
        kernels = np.array([c.addresses[k] for c in all_units])
        u = units[starts]
        places = base[u] + rank[starts] * width[u] * 4
        return np.stack([kernels[u], places, counts, np.full(len(u), guard), guard_at[starts]], axis=1)

    def _guards(self, when: tuple[str, str] | None, index: dict[str, np.ndarray], count: int) -> tuple[int, np.ndarray]:
        """The array that guards a sweep, or -1, and the place in it of every node, in bytes."""
        if when is None:
            return -1, np.zeros(count, np.int64)
        role, name = when
        places = np.zeros(count, np.int64) if role == "global" else self.offsets[name][index[role]]
        return self.arrays.index(name), places * self.lanes.width * self.lanes.bytes

    def _routine_segment(self, routine: Routine) -> np.ndarray:
        """The one segment of a routine: its entries are the arguments."""
        values: list[Any] = []
        for (_, kind), name in zip(routine.function.parameters, routine.arguments, strict=True):
            if kind == "Table":
                table = np.ascontiguousarray(self.tree.tables[name], np.int32)
                self._entries.append(table)
                values.append(table.ctypes.data)
            else:
                values.append(self.tree.numbers[name] if kind in ("int", "float") else (self.arrays.index(name), 0))
        entries = routine.function.entries(*values)
        self._entries.append(entries)
        guard = -1 if routine.when is None else self.arrays.index(routine.when)
        return np.array([[routine.function.address(self.lanes), entries.ctypes.data, 1, guard, 0]], np.int64)

    def parameters(self, of: str) -> np.ndarray:
        """The run-time parameters of all nodes of a set, one scalar each."""
        shape, starts = self.shapes[of], self.offsets[own_array("parameters", of)]
        out = np.empty(self.sizes[own_array("parameters", of)])
        by_class: dict[int, list[int]] = {}
        for i, c in enumerate(shape.class_of.tolist()):
            by_class.setdefault(c, []).append(i)
        for c, nodes in by_class.items():
            node_class, at = shape.classes[c], starts[nodes]
            for name in node_class.patterns:
                places = [(j, s) for j, s in enumerate(node_class.parameter_slots(name)) if isinstance(s, int)]
                if places:
                    values = np.array([np.reshape(shape.tree.parameters[i][name], -1) for i in nodes]).reshape(len(nodes), -1)
                    for j, s in places:
                        out[at + s] = values[:, j]
        return out.astype(self.lanes.dtype)

    @cached_property
    def all_parameters(self) -> dict[str, np.ndarray]:
        """Those of every set, by the name of their array."""
        return {own_array("parameters", of): self.parameters(of) for of in self.shapes}

    @property
    def units(self) -> list[CompiledUnit]:
        """Those of all sets."""
        return [u for units in self.units_of.values() for u in units]

    # --- running ------------------------------------------------------------------------------------------------------
    def workspace(self) -> Workspace:
        """Fresh memory for one thread."""
        return Workspace(self)

    @cached_property
    def _idle(self) -> list[Workspace]:
        return []

    def borrow(self) -> Workspace:
        """Memory of a call that has ended, or fresh memory; `give_back` when done."""
        try:
            return self._idle.pop()
        except IndexError:
            return Workspace(self)

    def give_back(self, space: Workspace) -> None:
        """Let later calls use this memory."""
        self._idle.append(space)

    def run(
        self,
        inputs: Mapping[str, np.ndarray],
        outputs: Mapping[str, np.ndarray],
        batch: int,
        records: int = 1,
        every: int = 1,
        threads: int = 1,
    ) -> None:
        """One pass, or `records` times `every` passes, over a batch of states.

        inputs    name -> (batch, size) array, or (size,) for one value shared by all states; or (batch, records, size) for
                  inputs that change with every record
        outputs   name -> (batch, size) or, with records, (batch, records, size); written in place
        """
        width = self.lanes.width
        blocks = -(-batch // width)
        threads = max(1, min(threads, blocks))
        if threads == 1:
            space = self.borrow()  # other threads of the caller borrow others
            space.job(inputs, outputs, batch, records, every)
            self.driver.batch(space.job_at)
            self.give_back(space)
            return
        chunk = width * max(1, blocks // (CHUNKS * threads))
        spaces = [self.borrow() for _ in range(threads)]
        for w in spaces:
            w.job(inputs, outputs, batch, records, every, chunk, spaces[0].next_at)
        self.driver.shared([w.job_at for w in spaces])
        self._idle.extend(spaces)


def tree_items(tree: Tree, name: str) -> Items:
    """A list of the tree, made once."""
    made = tree.__dict__.setdefault("_made_items", {})
    if name not in made:
        made[name] = tree.items[name]()
    return made[name]


def tree_packing(tree: Tree, space: str) -> Packing:
    """A packing of the tree, made once."""
    made = tree.__dict__.setdefault("_made_packings", {})
    if space not in made:
        made[space] = tree.packings[space]()
    return made[space]


class Workspace:
    """The memory of one thread: every array in lanes, and the tables that the driver reads."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        t = plan.lanes
        uniform = plan.variant.uniform
        starts: dict[str, int] = {}
        at = 0
        alias = {name: f.alias for name, f in plan.algorithm.fields.items() if f.alias}
        for name in plan.arrays:
            if name in alias:
                continue
            starts[name] = at
            size = plan.stored.get(name, plan.sizes.get(name, 0)) * (1 if name in uniform else t.width)
            at += -(-max(size, 1) * t.bytes // ALIGN) * ALIGN
        starts |= {name: starts[other] for name, other in alias.items()}
        raw = np.zeros(at + ALIGN, np.uint8)
        skip = -raw.ctypes.data % ALIGN
        self._memory = raw
        self.views = {}
        for name in plan.arrays:
            size = plan.stored.get(name, plan.sizes.get(name, 0)) * (1 if name in uniform else t.width)
            begin = skip + starts[name]
            self.views[name] = raw[begin : begin + size * t.bytes].view(t.dtype)
        for name, values in plan.all_parameters.items():
            self.views[name][:] = np.repeat(values, 1 if name in uniform else t.width)
        self.bases = np.array([raw.ctypes.data + skip + starts[name] for name in plan.arrays], np.int64)
        self.address = {name: int(self.bases[i]) for i, name in enumerate(plan.arrays)}
        s = plan.segments
        self._dtype = np.dtype(t.dtype)
        self._globals = {name for name, f in plan.algorithm.fields.items() if f.space == "global"}
        self._constant: dict[str, np.ndarray | None] = {}
        self.fixed = (s.ctypes.data, len(s), self.bases.ctypes.data)
        self.buffer = bytearray(8 * (1 + len(JOB) + 2 * len(TRANSFER) * len(plan.arrays)))  # states go both ways
        self.next_at = ctypes.addressof(ctypes.c_char.from_buffer(self.buffer))
        self.job_at = self.next_at + 8
        self.transfers_at = self.job_at + 8 * len(JOB)

    def of_state(
        self, names: Sequence[str], result: str, shape: tuple[int, ...], error: tuple[type, str] | None = None
    ) -> tuple[Callable[..., Any], np.ndarray]:
        """A function of arrays of one state that stand for these, see `python.of_state`, and the array that it returns."""
        plan = self.plan
        inputs = [(plan.arrays.index(n), plan.sizes[n]) for n in names]
        packed = result in plan.maps
        out = np.zeros(shape, self._dtype) if packed else self.views[result].reshape(shape)
        unpack = (self.address[result], plan.sizes[result], self._map_of(result)) if packed else (0, 0, 0)
        return python.of_state(plan.driver.python_state, self.fixed, self._dtype, inputs, out, unpack, error, self), out

    def of_step(self, name: str, most: np.ndarray, moving: str) -> Callable[..., Any]:
        """A function of an array that stands for this input and takes one state a step further, see `python.of_step`.

        most     how large its numbers may be
        moving   the part of the state that must stay finite
        """
        plan = self.plan
        given, looked = (plan.arrays.index(name), most), (plan.arrays.index(moving), plan.sizes[moving])
        return python.of_step(plan.driver.python_step, self.fixed, given, looked, self)

    def of_batch(self, names: Sequence[str], result: str, others: Sequence[Workspace] = ()) -> Callable[..., Any]:
        """A function of arrays of a batch that stand for these, and an array for the result, see `python.of_batch`.

        others   memory for threads that share the batch
        """
        driver, count = self.plan.driver, len(names) + 1
        jobs = [w._describe(names, result, self.next_at) for w in (self, *others)]
        alone = python.of_batch(driver.python_batch, self.job_at, self._dtype, count, self)
        if not others or not AVAILABLE:
            return alone
        team, pieces = workers(), CHUNKS * len(jobs)
        mails = team.mails(len(others))
        places = (team.share_at, ctypes.addressof(mails))
        owners = (self, *others, mails)
        run = python.of_shared_batch(driver.python_shared, jobs, self._dtype, count, places, pieces, owners)

        return lambda *arrays: team.work(driver.batch_at, jobs, lambda: run(*arrays), lambda: alone(*arrays))

    def _describe(self, names: Sequence[str], result: str, next_at: int) -> int:
        """Describe a call of compiled code that knows the arrays: the address of the job."""
        at, size, count = self.transfers_at, self.plan.lanes.bytes, len(names)
        moves: list[int] = []
        for n in (*names, result):
            moves += (self.address[n], 0, self.plan.sizes[n], size * self.plan.sizes[n], 0, self._map_of(n))
        head = (*self.fixed, count, at, 1, at + 8 * len(TRANSFER) * count, next_at, 0, ALL, 1, 1)
        struct.pack_into(f"{1 + len(JOB) + len(moves)}q", self.buffer, 0, 0, *head, *moves)
        return self.job_at

    def point(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Let these arrays, in lanes and in one piece, stand for our own, under all their names."""
        for i, name in enumerate(self.plan.arrays):
            f = self.plan.algorithm.fields.get(name)
            a = arrays.get(name if f is None or f.alias is None else f.alias)
            if a is not None:
                self.bases[i] = address_of(a)

    def adopt(self, other: Workspace, names: Sequence[str]) -> None:
        """Read these arrays from another workspace (of another variant) instead of our own."""
        for name in names:
            i = self.plan.arrays.index(name)
            self.bases[i] = other.bases[i]

    def disown(self, names: Sequence[str]) -> None:
        """Read these arrays from our own memory again."""
        for name in names:
            self.bases[self.plan.arrays.index(name)] = self.address[name]

    def job(
        self,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        batch: int,
        records: int = 1,
        every: int = 1,
        chunk: int = ALL,
        next_at: int | None = None,
    ) -> int:
        """Describe a call to the driver: the address for `driver.batch`, valid until the next call is described.

        chunk     states that a thread takes at a time, from the number at `next_at` that all threads share
        """
        moves: list[int] = []
        for name, a in inputs.items():
            if name in self.plan.variant.uniform:
                self.views[name][:] = np.asarray(a).reshape(-1)
            elif self._constant.get(name) is not a:  # a constant of the model is already in the lanes
                move = self._transfer(name, a)
                if name in self._globals and a.ndim == 1 and not a.flags.writeable:
                    self.views[name].reshape(-1, self.plan.lanes.width)[:] = a[:, None]  # here: a thread may find no work left
                    self._constant[name] = a
                else:
                    moves += move
                    self._constant[name] = None
        split = len(moves)
        for name, a in outputs.items():
            moves += self._transfer(name, a)
        at = self.transfers_at
        states = (next_at or self.next_at, batch, chunk, records, every)
        head = (*self.fixed, split // len(TRANSFER), at, len(outputs), at + 8 * split, *states)
        struct.pack_into(f"{1 + len(JOB) + len(moves)}q", self.buffer, 0, 0, *head, *moves)
        return self.job_at

    def _map_of(self, name: str) -> int:
        found = self.plan.maps.get(name)
        return 0 if found is None else found.ctypes.data

    def _transfer(self, name: str, a: np.ndarray) -> tuple[int, int, int, int, int, int]:
        if a.dtype is not self._dtype and a.dtype != self._dtype:
            raise InputError(f"{name} holds {a.dtype}, the plan computes with {self._dtype}")
        strides = a.strides
        n = len(strides)
        if n and strides[-1] != self._dtype.itemsize and a.size and a.shape[-1] > 1:
            raise InputError(f"{name} must lie row by row in memory; pass np.ascontiguousarray of it")
        row, record = strides[0] if n > 1 else 0, strides[1] if n > 2 else 0
        places = self.plan.maps and self._map_of(name)
        return self.address[name], address_of(a), self.plan.sizes[name], row, record, places or 0


def address_of(a: np.ndarray) -> int:
    """Where an array's data begins; four times faster than `a.ctypes.data` for writable arrays."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(a))  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):  # read-only or empty
        return a.__array_interface__["data"][0]


def variant(lanes: Lanes, phases: Sequence[str], absent: Sequence[str] = (), uniform: Sequence[str] = ()) -> Variant:
    """A variant whose parameters are uniform."""
    return Variant(lanes, tuple(phases), frozenset({"parameters", *uniform}), frozenset(absent))
