"""The reference: the same rules, run as they stand on NumPy floats, node by node."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sweep import Algorithm, Field, Tree


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


class EagerRun:
    """One evaluation of an algorithm on one state."""

    def __init__(self, algorithm: Algorithm, tree: Tree, inputs: dict[str, np.ndarray]) -> None:
        self.algorithm, self.tree = algorithm, tree
        self.starts = {f.space: tree.offsets(f.space) for f in algorithm.fields.values() if f.space not in ("node", "global")}
        self.values: list[dict[str, Any]] = [{} for _ in range(len(tree))]
        self.inputs = {k: np.array(v, float).reshape(-1) for k, v in inputs.items()}
        self.results: dict[str, np.ndarray] = {}

    def run(self, phases: tuple[str, ...] | None = None) -> dict[str, np.ndarray]:
        """The outputs and states, flat."""
        for phase, sweep in self.algorithm.steps():
            if phases is not None and phase not in phases:
                continue
            order = range(len(self.tree))
            for i in reversed(order) if sweep.order == "inward" else order:
                sweep.rule(*(self._role(role, i) for role in sweep.roles))
        return self.results

    def _role(self, role: str, i: int) -> Any:
        if role == "own":
            return Node(self, i)
        j = int(self.tree.parent[i] if role == "parent" else self.tree.roles[role][i])
        return World(self, i) if j < 0 else Node(self, j)

    def _slice(self, f: Field, i: int) -> slice:
        size = f.size(self.tree.classes[i].sizes)
        if f.space == "global":
            return slice(0, size)
        start = i * size if f.space == "node" else int(self.starts[f.space][i])
        return slice(start, start + size)

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
        if f.kind in ("input", "state") and name in self.inputs:
            return f.unpack(list(self.inputs[name][self._slice(f, i)]))
        return f.unpack([0.0] * f.size(node_class.sizes))

    def write(self, i: int, name: str, value: Any) -> None:
        self.values[i][name] = value
        f = self.algorithm.fields.get(name)
        if f is not None and f.kind in ("output", "state"):
            total = len(self.tree) * f.size({}) if f.space == "node" else int(self.starts[f.space][-1])
            out = self.results.setdefault(name, np.zeros(total))
            out[self._slice(f, i)] = [float(x) for x in f.pack(value)]


def run(
    algorithm: Algorithm, tree: Tree, inputs: dict[str, np.ndarray], phases: tuple[str, ...] | None = None
) -> dict[str, np.ndarray]:
    """Evaluate an algorithm on one state without compiling anything."""
    return EagerRun(algorithm, tree, inputs).run(phases)
