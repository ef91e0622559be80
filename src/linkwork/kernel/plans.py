"""The plans of one tree, and its algorithms as functions of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .function import Function
from .lanes import Lanes
from .plan import Plan, variant
from .shape import Shape
from .sweep import Algorithm, Field, Tree
from .widths import SCALAR64, Extent, extent, lanes_for


class Plans:
    """The plans of one tree, made when they are first asked for and kept; they share the tree's shape."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.made: dict[Any, Plan] = {}
        self._functions: dict[Any, Function] = {}
        self._asked: dict[Any, Plan] = {}
        self._sizes: dict[tuple[str, str], int] = {}
        self._extents: dict[str, Extent] = {}

    @cached_property
    def _shape(self) -> Shape:
        return Shape(self.tree)

    def __call__(
        self,
        algorithm: Algorithm,
        lanes: Lanes,
        phases: tuple[str, ...] = ("run",),
        absent: tuple[str, ...] = (),
        uniform: tuple[str, ...] = (),
    ) -> Plan:
        """The algorithm bound to the tree, compiled for a value type and a choice of arrays."""
        key = (algorithm.name, lanes, phases, absent, uniform)
        found = self.made.get(key)
        if found is None:
            found = self.made[key] = Plan(algorithm, self.tree, variant(lanes, phases, absent, uniform), self._shape)
        return found

    def asked(self, algorithm: Algorithm, batch: int, given: tuple[str, ...], wanted: tuple[str, ...]) -> Plan:
        """The plan for a batch of so many states, of which these inputs are given and these outputs wanted."""
        lanes = self.lanes(algorithm, batch)
        key = (algorithm.name, lanes, given, wanted)
        found = self._asked.get(key)
        if found is None:
            absent = [name for name in algorithm.of_kind("input") if name not in given]
            absent += [name for name in algorithm.of_kind("output") if name not in wanted]
            found = self._asked[key] = self(algorithm, lanes, ("run",), tuple(absent))
        return found

    def lanes(self, algorithm: Algorithm, batch: int, dtype: Any = np.float64) -> Lanes:
        """The value type for a batch of so many states."""
        if algorithm.alone:
            return SCALAR64
        found = self._extents.get(algorithm.name)
        if found is None:
            found = self._extents[algorithm.name] = extent(algorithm, self.tree)
        return lanes_for(batch, dtype, found)

    def run(
        self, algorithm: Algorithm, inputs: Mapping[str, np.ndarray], names: Sequence[str], lead: tuple[int, ...]
    ) -> dict[str, np.ndarray]:
        """Some outputs (..., size) of an algorithm, with these leading axes.

        inputs   (size,), one value for all states; or as many rows of it as there are states
        """
        key = (algorithm.name, tuple(inputs), tuple(names))
        found = self._functions.get(key)
        if found is None:
            sizes = {name: (self.size(algorithm, name),) for name in (*inputs, *names)}
            found = Function(self, algorithm, {n: sizes[n] for n in inputs}, {n: sizes[n] for n in names})
            self._functions[key] = found
        batch = int(np.prod(lead))
        out = found(*(x if x.ndim == 1 else x.reshape(-1) if batch == 1 else x.reshape(batch, -1) for x in inputs.values()))
        spread = [x if x.ndim > 1 or batch == 1 else np.repeat(x[None], batch, axis=0) for x in out]
        return {name: x.reshape(*lead, x.shape[-1]) for name, x in zip(names, spread, strict=True)}

    def size(self, algorithm: Algorithm, name: str) -> int:
        """How many numbers a field has for one state."""
        key = (algorithm.name, name)
        if key not in self._sizes:
            self._sizes[key] = self._size(algorithm.fields[name])
        return self._sizes[key]

    def _size(self, f: Field) -> int:
        tree = self.tree.of(f.of)
        if f.space == "global":
            return f.size({})
        if f.space == "node" or f.space in tree.counts:
            return tree.counts.get(f.space, len(tree)) * f.size({})
        return int(tree.offsets(f.space)[-1])
