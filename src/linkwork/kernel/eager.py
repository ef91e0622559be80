"""The reference: the same rules, run as they stand on NumPy floats, node by node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import CompileError
from ..spatial.table import Table
from .shape import tree_items, tree_packing
from .sweep import Algorithm, Field, NodeClass, Repeat, Routine, Step, Sweep, Tree

MISSING = object()


class View:
    """What a rule sees through a role: plain values. What it assigns lands when the rule has ended."""

    __slots__ = ("_role", "_run")

    def __init__(self, run: EagerRun, role: str) -> None:
        object.__setattr__(self, "_run", run)
        object.__setattr__(self, "_role", role)

    def __getattr__(self, name: str) -> Any:
        return self._run.read(self._role, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._run.write(self._role, name, value)


class EagerRun:
    """One evaluation of an algorithm on one state, of floats, or of what `number` lets pass (symbols).

    Inputs, outputs, states and work arrays lie flat in `memory`; shared, gathered and private values are kept by set and node.
    """

    def __init__(
        self, algorithm: Algorithm, tree: Tree, inputs: dict[str, np.ndarray], number: Callable[[Any], Any] = float
    ) -> None:
        self.algorithm, self.tree, self._number = algorithm, tree, number
        kind: Any = float if number is float else object
        self.values: dict[str, list[dict[str, Any]]] = {of: [{} for _ in range(len(tree.of(of)))] for of in algorithm.sets}
        self.starts: dict[str, np.ndarray] = {}
        self.memory: dict[str, np.ndarray] = {}
        self.written: set[str] = set()
        self.on = ""  # the set of the present rule
        self.at: dict[str, int] = {}  # where the roles of the present rule point; -1: the world
        self.pending: dict[tuple[str, str], Any] = {}
        for name, f in algorithm.fields.items():
            if f.kind in ("shared", "gathered"):
                continue
            self.starts[name] = self._starts(f)
            self.memory[name] = np.full(int(self.starts[name][-1]), 0.0, kind)
            if name in inputs:
                self.memory[name][:] = np.array(inputs[name], kind).reshape(-1)
        for name, f in algorithm.fields.items():
            if f.alias:
                self.memory[name] = self.memory[f.alias]
        self.whole = {name: np.zeros(len(a), np.int64) for name, a in self.memory.items()}  # arrays of whole numbers in routines

    def _starts(self, f: Field) -> np.ndarray:
        """Where the value of every node (or thing) begins; the last entry is the end."""
        tree = self.tree.of(f.of)
        if f.space in tree.packings:
            return np.arange(tree_packing(tree, f.space).count + 1)
        if f.space == "global":
            return np.array([0, f.size({})])
        if f.space == "node" or f.space in tree.counts:
            return np.arange(tree.counts.get(f.space, len(tree)) + 1) * f.size({})
        return tree.offsets(f.space)

    def run(self, phases: tuple[str, ...] | None = None) -> dict[str, np.ndarray]:
        """The outputs and states, flat."""
        for phase, steps in self.algorithm.phases.items():
            if phases is None or phase in phases:
                self._steps(steps)
        return {name: self._outside(name) for name in self.algorithm.results if name in self.written}

    def _steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if isinstance(step, Repeat):
                for _ in range(step.most if step.when is None or self.memory[step.when][0] else 0):
                    self._steps(step.steps)
                    if step.until is not None and not self.memory[step.until][0]:
                        break
            elif isinstance(step, Routine):
                self._routine(step)
            else:
                if step.order == "inward":  # sums begin anew
                    for values in self.values[step.on]:
                        for name in self.algorithm.of_kind("gathered"):
                            values.pop(name, None)
                self._sweep(step)

    def _outside(self, name: str) -> np.ndarray:
        """An array as the caller sees it."""
        space = self.algorithm.fields[name].space
        return self.memory[name][tree_packing(self.tree, space).index] if space in self.tree.packings else self.memory[name]

    def _routine(self, routine: Routine) -> None:
        if routine.when is not None and not self.memory[routine.when][0]:
            return
        numbers = self.tree.numbers
        sources = {"Lane": self.memory, "Ints": self.whole, "Table": self.tree.tables, "int": numbers, "float": numbers}
        given = zip(routine.function.parameters, routine.arguments, strict=True)
        routine.function(*(sources[kind][name] for (_, kind), name in given))
        self.written.update(set(routine.arguments) & set(self.memory))

    def _sweep(self, sweep: Sweep) -> None:
        tree, self.on = self.tree.of(sweep.on), sweep.on
        if sweep.items is not None:
            items = tree_items(tree, sweep.items)
            nodes, roles = items.nodes, {"own": items.nodes, **items.roles}
        else:
            n = len(tree)
            nodes, roles = np.arange(n), {"own": np.arange(n), "parent": tree.parent, **tree.roles}
        order = range(len(nodes))
        for k in reversed(order) if sweep.order == "inward" else order:
            self.at, self.pending = {role: int(roles[role][k]) for role in sweep.roles}, {}
            if not all(self._awake(*guard, roles, k) for guard in (sweep.under, sweep.when) if guard is not None):
                continue
            own = tree.classes[nodes[k]]
            sweep.rule(*(View(self, own.role(role)) for role in sweep.roles))
            for (role, name), value in self.pending.items():
                self._land(role, name, value)

    def _awake(self, role: str, name: str, roles: dict[str, np.ndarray], k: int) -> bool:
        start = 0 if role == "global" else int(self.starts[name][roles[role][k]])
        return bool(self.memory[name][start])

    # --- reading ------------------------------------------------------------------------------------------------------
    def read(self, role: str, name: str) -> Any:
        if (role, name) in self.pending:
            return self.pending[role, name]
        i, f = self.at[role], self.algorithm.fields.get(name)
        if role == "parent" and i < 0 and f is not None and f.kind != "output":
            return f.unpack([0.0] * self._size(role, f)) if f.world is None else f.world(View(self, "own"))
        if role == "own" and (found := self._class_value(i, name)) is not MISSING:
            return found
        if f is None or i < 0:
            raise CompileError(f"a rule of {self.algorithm.name!r} reads {role}.{name}, which nothing has set")
        if f.kind in ("shared", "gathered"):
            return self.values[f.of][i].get(name, f.unpack([0.0] * f.size({})))
        return f.unpack(list(self.entry(role, name)))

    def _class_value(self, i: int, name: str) -> Any:
        """An attribute, parameter or private value of a node."""
        tree = self.tree.of(self.on)
        if name == "is_root":
            return bool(tree.parent[i] < 0)
        node_class = tree.classes[i]
        if name in node_class.attributes:
            return node_class.attributes[name]
        if name in node_class.patterns:
            given = tree.parameters[i][name]
            if isinstance(given, Table):
                return given
            value = np.array(given, float)
            return value if value.ndim else float(value)
        return self.values[self.on][i].get(name, MISSING)

    def entry(self, role: str, name: str) -> np.ndarray:
        """The part of an array that a role points at."""
        i, f = self.at[role], self.algorithm.fields[name]
        start = int(self.starts[name][0 if f.space == "global" else i])
        return self.memory[name][start : start + self._size(role, f)]

    def _size(self, role: str, f: Field) -> int:
        own = self.tree.of(self.on).classes[self.at["own"]]
        return f.size(own.sizes if role == "parent" and self.at[role] < 0 else self._sizes(role, own))

    def _sizes(self, role: str, own: NodeClass) -> dict[str, int]:
        return self.tree.of(self.on).classes[self.at[role]].sizes if role == "parent" else own.sizes_of(role)

    # --- writing ------------------------------------------------------------------------------------------------------
    def write(self, role: str, name: str, value: Any) -> None:
        self.algorithm.check_write(self.tree.of(self.on).classes[self.at["own"]], role, name)
        if role != "parent" or self.at[role] >= 0:
            self.pending[role, name] = value

    def _land(self, role: str, name: str, value: Any) -> None:
        i, f = self.at[role], self.algorithm.fields.get(name)
        if f is None:
            self.values[self.on][i][name] = value
            return
        scalars = [self._number(x) for x in f.packed(value, name, self._size(role, f))]
        if f.kind in ("shared", "gathered"):
            self.values[f.of][i][name] = f.unpack(scalars)
        else:
            self.written.add(f.alias or name)
            self.entry(role, name)[:] = scalars


def run(
    algorithm: Algorithm, tree: Tree, inputs: dict[str, np.ndarray], phases: tuple[str, ...] | None = None
) -> dict[str, np.ndarray]:
    """Evaluate an algorithm on one state without compiling anything."""
    return EagerRun(algorithm, tree, inputs).run(phases)
