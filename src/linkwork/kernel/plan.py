"""A plan: an algorithm bound to a tree, ready to run on one state, on a batch, for one pass or for many steps.

Kernels know classes, not models: everything about the model (order, offsets, parameters) is in tables made here with
array operations, so that a chain of 100000 links is ready at once and a new tree of known classes compiles nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..errors import CompileError
from ..spatial.table import Table, TableShape
from .backend import Backend
from .bounds import check_packing, check_reach, check_sizes
from .bounds import starts as starts_of
from .host import HOST
from .lanes import Lanes
from .records import SEGMENT
from .shape import Shape, tree_items, tree_packing
from .stubs import Maker, Stubs
from .sweep import Algorithm, Field, Repeat, Routine, Step, Sweep, Tree
from .trace import Position, own_array, record_layout
from .unit import CompiledUnit, Variant, arrays, unit
from .workspace import CHUNKS, Workspace

BEYOND = 16  # numbers after all tables: kernels load their entries in whole registers


class Plan:
    """An algorithm compiled for a tree and one variant, with its tables; workspaces are made per thread."""

    def __init__(
        self, algorithm: Algorithm, tree: Tree, variant: Variant, shape: Shape | None = None, backend: Backend = HOST
    ) -> None:
        self.algorithm, self.tree, self.backend = algorithm, tree, backend
        shared = {own_array(name, of) for of in algorithm.sets for name in (variant.uniform & {"parameters"}) | {"tables"}}
        self.variant = replace(variant, uniform=variant.uniform | shared)
        self.shapes = {of: Shape(tree.of(of)) if of or shape is None else shape for of in algorithm.sets}
        self.lanes = variant.lanes
        self.arrays = arrays(algorithm)
        self.driver = backend.driver(self.lanes)
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
            node_class, idle = s.classes[c >> 3], self._idle_steps(of, u)
            units.append(unit(self.algorithm, node_class, position, self.variant, self.backend, of, idle))
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
            sizes = np.zeros(n, np.int64)
            for i, tables in self._tables(of).items():
                sizes[i] = sum(t.data.size for t in tables)
            self._cumulate(own_array("tables", of), sizes)
            self.sizes[own_array("tables", of)] += BEYOND
            for phase in self.algorithm.phases:
                private = np.array([u.private[phase] for u in self.units_of[of]], np.int64)[self.unit_of[of]]
                self._cumulate(own_array(f"private:{phase}", of), private)
        for name, f in self.algorithm.fields.items():
            if f.kind not in ("shared", "gathered"):
                self._lay_out_field(name, f)
        self._rooms = {name: self.stored.get(name, size) for name, size in self.sizes.items()}
        check_sizes(self.algorithm, self._rooms)

    def _lay_out_field(self, name: str, f: Field) -> None:
        tree = self.tree.of(f.of)
        n = len(tree)
        if f.space in tree.packings:
            packing = tree_packing(tree, f.space)
            self.offsets[name], self.sizes[name] = np.arange(packing.count), len(packing.index)
            check_packing(f.space, packing)
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
        self.entries: list[np.ndarray] = []  # what the segments point into
        self.flops = 0  # of rules, per state and pass; what is repeated counts as often as it may run
        phases = (steps for phase, steps in self.algorithm.phases.items() if phase in self.variant.phases)
        self.stubs = Stubs()
        self.segments = self._segments([step for steps in phases for step in steps], itertools.count(), 1)
        self.stubs.tables.append(self.segments)

    def _segments(self, steps: Sequence[Step], number: Iterator[int], times: int) -> np.ndarray:
        """The segments of some steps; `number` counts sweeps and routines, `times` is how often they run."""
        found = [np.empty((0, len(SEGMENT)), np.int64)]
        for (_, field), group in itertools.groupby(enumerate(steps), lambda numbered: _group_of(*numbered)):
            step, *more = (step for _, step in group)
            if field:
                sweeps = [s for s in (step, *more) if isinstance(s, Sweep)]
                found.append(self._grouped(field, [self._sweep_segments(next(number), s, times) for s in sweeps]))
            elif isinstance(step, Repeat):
                inner = self._segments(step.steps, number, times * step.most)
                flag = -1 if step.until is None else self._number_of(step.until)
                entries = np.array([inner.ctypes.data, len(inner), step.most, flag], np.int64)
                self.entries += [inner, entries]
                self.stubs.tables.append(inner)
                guard = -1 if step.when is None else self._number_of(step.when)
                found.append(np.array([[self.driver.repeat_at, entries.ctypes.data, 1, guard, 0]], np.int64))
            elif isinstance(step, Sweep):
                found.append(self._sweep_segments(next(number), step, times)[0])
            else:
                next(number)
                found.append(self._routine_segment(step))
        return np.ascontiguousarray(np.concatenate(found), dtype=np.int64)

    def _sweep_segments(self, k: int, sweep: Sweep, times: int) -> tuple[np.ndarray, np.ndarray]:
        """The segments of a sweep that is number k of those that run, and where the guard is that each stands under.

        Each is of nodes of one unit, one after the other, with the same guards. Units whose rule does nothing have none.
        """
        tree = self.tree.of(sweep.on)
        if sweep.items is None:
            order = np.arange(len(tree))[:: -1 if sweep.order == "inward" else 1]
            roles = {"own": np.arange(len(tree)), "parent": np.maximum(tree.parent, 0), **tree.roles}
            index = {role: target[order] for role, target in roles.items()}
        else:
            items = tree_items(tree, sweep.items)
            order, index = items.nodes, {"own": items.nodes, **items.roles}
        if not len(order):
            return np.empty((0, len(SEGMENT)), np.int64), np.empty(0, np.int64)
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
                table[:, column] = starts_of(self.algorithm.name, role, self.offsets[array], index[role][mine])
            self._check_reaches(table, pairs, compiled.reaches[k])
            self.entries.append(table)
            base[u], width[u] = table.ctypes.data, table.shape[1]
        guard, guard_at = self._guards(sweep.when, index, len(order))
        _, group_at = self._guards(sweep.under, index, len(order))
        starts = np.flatnonzero(np.diff(units, prepend=-1) | np.diff(guard_at, prepend=-1) | np.diff(group_at, prepend=-1))
        counts = np.diff(np.append(starts, len(order)))
        guarded = sweep.when is not None or sweep.under is not None
        kernels = np.array([self._kernel(partial(c.address, k), c.is_loaded(k), guarded) for c in all_units])
        u = units[starts]
        places = base[u] + rank[starts] * width[u] * 4
        segments = np.stack([kernels[u], places, counts, np.full(len(u), guard), guard_at[starts]], axis=1)
        acts = np.array([bool(c.operands[k]) for c in all_units])[u]
        return segments[acts], group_at[starts][acts]

    def _check_reaches(self, table: np.ndarray, pairs: Sequence[tuple[str, str]], reaches: Sequence[int]) -> None:
        """All that a kernel touches at some nodes lies within its arrays."""
        if len(table):
            for (array, role), last, reach in zip(pairs, table.max(axis=0).tolist(), reaches, strict=False):
                check_reach(self.algorithm.name, f"{role}.{array}", last, reach, self._rooms[array])

    def _grouped(self, field: str, parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """The segments of sweeps under one field: those under the same number of it run together, where it is not zero."""
        guard_at = np.concatenate([at for _, at in parts])
        order = np.argsort(guard_at, kind="stable")
        segments, guard_at = np.ascontiguousarray(np.concatenate([part for part, _ in parts])[order]), guard_at[order]
        starts = np.flatnonzero(np.diff(guard_at, prepend=-1))
        counts, one = np.diff(np.append(starts, len(segments))), np.ones(len(starts), np.int64)
        entries = np.stack([segments.ctypes.data + starts * segments.strides[0], counts, one, -one], axis=1)
        self.entries += [segments, entries]
        self.stubs.tables.append(segments)
        places = entries.ctypes.data + np.arange(len(starts)) * entries.strides[0]
        return np.stack([one * self.driver.repeat_at, places, one, one * self._number_of(field), guard_at[starts]], axis=1)

    def _guards(self, when: tuple[str, str] | None, index: dict[str, np.ndarray], count: int) -> tuple[int, np.ndarray]:
        """The array that guards a sweep, or -1, and the place in it of every node, in bytes."""
        if when is None:
            return -1, np.zeros(count, np.int64)
        role, name = when
        places = np.zeros(count, np.int64)
        if role != "global":
            places = starts_of(self.algorithm.name, role, self.offsets[name], index[role])
        check_reach(self.algorithm.name, f"{role}.{name}", int(places.max()), 1, self._rooms[name])
        return self._number_of(name), places * self.lanes.width * self.lanes.bytes

    def _number_of(self, name: str) -> int:
        """The place of an array among all."""
        try:
            return self.arrays.index(name)
        except ValueError:
            raise CompileError(f"{self.algorithm.name!r} has no array {name!r}") from None

    def _routine_segment(self, routine: Routine) -> np.ndarray:
        """The one segment of a routine: its entries are the arguments."""
        values: list[Any] = []
        for (_, kind), name in zip(routine.function.parameters, routine.arguments, strict=True):
            if kind == "Table":
                table = np.ascontiguousarray(self.tree.tables[name], np.int32)
                self.entries.append(table)
                values.append(table.ctypes.data)
            else:
                values.append(self.tree.numbers[name] if kind in ("int", "float") else (self._number_of(name), 0))
        entries = routine.function.entries(*values)
        self.entries.append(entries)
        guard = -1 if routine.when is None else self._number_of(routine.when)
        function = routine.function
        make = partial(self.backend.routine, function, self.lanes)
        kernel = self._kernel(make, function.is_loaded(self.lanes), routine.when is not None)
        return np.array([[kernel, entries.ctypes.data, 1, guard, 0]], np.int64)

    def _kernel(self, make: Maker, loaded: bool, guarded: bool) -> int:
        """The address of a kernel, or of a stub until a guard lets it run."""
        return self.stubs.add(make) if guarded and not loaded and self.backend.waits else make()

    def _tables(self, of: str) -> dict[int, list[Table]]:
        """The tables of the nodes of a set that have some, each in the order of its parameters."""
        shape, tree = self.shapes[of], self.tree.of(of)
        have = [k for k, c in enumerate(shape.classes) if any(isinstance(s, TableShape) for s, _ in c.patterns.values())]
        nodes = np.flatnonzero(np.isin(shape.class_of, have)).tolist() if have else []
        return {i: [x for x in tree.parameters[i].values() if isinstance(x, Table)] for i in nodes}

    def tables(self, of: str) -> np.ndarray:
        """The data of all tables of a set, node by node."""
        data = [t.data for tables in self._tables(of).values() for t in tables]
        return np.concatenate([*data, np.zeros(BEYOND)]).astype(self.lanes.dtype)

    def _header(self, node: dict[str, Any], name: str) -> np.ndarray:
        """Of a table the header, where the data of the node's earlier tables comes before; of a parameter its entries."""
        x = node[name]
        if not isinstance(x, Table):
            return np.reshape(x, -1)
        earlier = itertools.takewhile(lambda other: other != name, node)
        return x.header(sum(node[other].data.size for other in earlier if isinstance(node[other], Table)))

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
                    values = np.array([self._header(shape.tree.parameters[i], name) for i in nodes]).reshape(len(nodes), -1)
                    for j, s in places:
                        out[at + s] = values[:, j]
        return out.astype(self.lanes.dtype)

    @cached_property
    def all_parameters(self) -> dict[str, np.ndarray]:
        """Those of every set, and the data of its tables, by the name of their array."""
        found = {own_array("parameters", of): self.parameters(of) for of in self.shapes}
        return found | {own_array("tables", of): self.tables(of) for of in self.shapes}

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

    def complete(self) -> None:
        """Compile all kernels: none waits for its first use any more."""
        self.stubs.complete()

    def batch(self, job_at: int) -> None:
        """Run the job of a workspace."""
        self.driver.batch(job_at)
        self.stubs.check()

    def run(
        self,
        inputs: Mapping[str, np.ndarray],
        outputs: Mapping[str, np.ndarray],
        batch: int,
        records: int = 1,
        every: int = 1,
        threads: int = 1,
        order: np.ndarray | None = None,
    ) -> None:
        """One pass, or `records` times `every` passes, over a batch of states.

        inputs    name -> (batch, size) array, or (size,) for one value shared by all states; or (batch, records, size) for
                  inputs that change with every record
        outputs   name -> (batch, size) or, with records, (batch, records, size); written in place
        order     see `Workspace.job`
        """
        width = self.lanes.width
        blocks = -(-batch // width)
        threads = max(1, min(threads, blocks))
        if threads == 1:
            space = self.borrow()  # other threads of the caller borrow others
            space.job(inputs, outputs, batch, records, every, order=order)
            self.batch(space.job_at)
            self.give_back(space)
            return
        self.complete()  # nobody asks how other threads fared
        chunk = width * max(1, blocks // (CHUNKS * threads))
        spaces = [self.borrow() for _ in range(threads)]
        for w in spaces:
            w.job(inputs, outputs, batch, records, every, chunk, spaces[0].next_at, order)
        self.driver.shared([w.job_at for w in spaces])
        self._idle.extend(spaces)


def _group_of(number: int, step: Step) -> tuple[int, str]:
    """What steps that follow one another have in common if they run together: the field that they are under."""
    return (0, step.under[1]) if isinstance(step, Sweep) and step.under is not None else (number, "")


def variant(lanes: Lanes, phases: Sequence[str], absent: Sequence[str] = (), uniform: Sequence[str] = ()) -> Variant:
    """A variant whose parameters are uniform."""
    return Variant(lanes, tuple(phases), frozenset({"parameters", *uniform}), frozenset(absent))
