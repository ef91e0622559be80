"""The reference: the same rules, run as they stand on NumPy floats, node by node."""

from __future__ import annotations

from typing import Any

import numpy as np

from .plan import tree_items
from .sweep import Algorithm, Field, Sweep, Tree


class Node:
    """What a rule sees of a node: plain values."""

    def __init__(self, run: EagerRun, index: int) -> None:
        object.__setattr__(self, "_run", run)
        object.__setattr__(self, "_index", index)

    def __getattr__(self, name: str) -> Any:
        return self._run.read(self._index, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._run.write(self._index, name, value)


class World:
    """The parent of a root: shared fields have their world value, gathered ones disappear."""

    def __init__(self, run: EagerRun, child: int) -> None:
        object.__setattr__(self, "_run", run)
        object.__setattr__(self, "_child", child)

    def __getattr__(self, name: str) -> Any:
        f = self._run.algorithm.fields[name]
        return f.unpack([0.0] * f.size({})) if f.world is None else f.world(Node(self._run, self._child))

    def __setattr__(self, name: str, value: Any) -> None:
        pass


class Thing:
    """What a rule sees through a role that is no node: the entry of arrays at an index."""

    def __init__(self, run: EagerRun, index: int) -> None:
        object.__setattr__(self, "_run", run)
        object.__setattr__(self, "_index", index)

    def __getattr__(self, name: str) -> Any:
        f = self._run.algorithm.fields[name]
        return f.unpack(list(self._run.entry(name, self._index, f.size({}))))

    def __setattr__(self, name: str, value: Any) -> None:
        self._run.fill(name, self._index, self._run.algorithm.fields[name].size({}), value)


class EagerRun:
    """One evaluation of an algorithm on one state.

    Inputs, outputs, states and work arrays lie flat in `memory`; shared, gathered and private values are kept by node.
    """

    def __init__(self, algorithm: Algorithm, tree: Tree, inputs: dict[str, np.ndarray]) -> None:
        self.algorithm, self.tree = algorithm, tree
        self.values: list[dict[str, Any]] = [{} for _ in range(len(tree))]
        self.starts: dict[str, np.ndarray] = {}
        self.memory: dict[str, np.ndarray] = {}
        self.written: set[str] = set()
        for name, f in algorithm.fields.items():
            if f.kind in ("shared", "gathered"):
                continue
            self.starts[name] = self._starts(f)
            self.memory[name] = np.zeros(int(self.starts[name][-1]))
            if name in inputs:
                self.memory[name][:] = np.array(inputs[name], float).reshape(-1)
        for name, f in algorithm.fields.items():
            if f.alias:
                self.memory[name] = self.memory[f.alias]

    def _starts(self, f: Field) -> np.ndarray:
        """Where the value of every node (or thing) begins; the last entry is the end."""
        if f.space == "global":
            return np.array([0, f.size({})])
        if f.space == "node" or f.space in self.tree.counts:
            return np.arange(self.tree.counts.get(f.space, len(self.tree)) + 1) * f.size({})
        return self.tree.offsets(f.space)

    def run(self, phases: tuple[str, ...] | None = None) -> dict[str, np.ndarray]:
        """The outputs and states, flat."""
        for phase, sweep in self.algorithm.steps():
            if phases is not None and phase not in phases:
                continue
            if sweep.order == "inward":  # sums begin anew
                for values in self.values:
                    for name in self.algorithm.of_kind("gathered"):
                        values.pop(name, None)
            self._sweep(sweep)
        return {name: self.memory[name] for name in self.algorithm.results if name in self.written}

    def _sweep(self, sweep: Sweep) -> None:
        if sweep.items is not None:
            items = tree_items(self.tree, sweep.items)
            for k, i in enumerate(items.nodes.tolist()):
                sweep.rule(Node(self, i), *(Thing(self, int(items.roles[role][k])) for role in sweep.roles[1:]))
            return
        order = range(len(self.tree))
        for i in reversed(order) if sweep.order == "inward" else order:
            sweep.rule(*(self._role(role, i) for role in sweep.roles))

    def _role(self, role: str, i: int) -> Any:
        if role == "own":
            return Node(self, i)
        if role != "parent":
            return Thing(self, int(self.tree.roles[role][i]))
        j = int(self.tree.parent[i])
        return World(self, i) if j < 0 else Node(self, j)

    def entry(self, name: str, i: int, size: int) -> np.ndarray:
        """The part of an array that belongs to node or thing i."""
        start = int(self.starts[name][0 if self.algorithm.fields[name].space == "global" else i])
        return self.memory[name][start : start + size]

    def read(self, i: int, name: str) -> Any:
        node_class, own = self.tree.classes[i], self.values[i]
        if name in own:
            return own[name]
        if name in node_class.attributes:
            return node_class.attributes[name]
        if name in node_class.patterns:
            value = np.array(self.tree.parameters[i][name], float)
            return value if value.ndim else float(value)
        f = self.algorithm.fields[name]
        size = f.size(node_class.sizes)
        return f.unpack(list(self.entry(name, i, size)) if name in self.memory else [0.0] * size)

    def write(self, i: int, name: str, value: Any) -> None:
        if name not in self.memory:
            self.values[i][name] = value
            return
        self.fill(name, i, self.algorithm.fields[name].size(self.tree.classes[i].sizes), value)

    def fill(self, name: str, i: int, size: int, value: Any) -> None:
        """Set the part of an array that belongs to node or thing i."""
        self.written.add(name)
        self.entry(name, i, size)[:] = [float(x) for x in self.algorithm.fields[name].pack(value)]


def run(
    algorithm: Algorithm, tree: Tree, inputs: dict[str, np.ndarray], phases: tuple[str, ...] | None = None
) -> dict[str, np.ndarray]:
    """Evaluate an algorithm on one state without compiling anything."""
    return EagerRun(algorithm, tree, inputs).run(phases)
