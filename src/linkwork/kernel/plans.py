"""The plans of one tree, and the short way through them for one state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import get_ident
from typing import Any

import numpy as np

from . import python
from .lanes import Lanes
from .plan import Plan, variant
from .shape import Shape
from .sweep import Algorithm, Tree
from .widths import Extent, extent, lanes_for


class Plans:
    """The plans of one tree, made when they are first asked for and kept; they share the tree's shape."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.made: dict[Any, Plan] = {}
        self._states: dict[Any, StateCall | None] = {}
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

    def lanes(self, algorithm: Algorithm, batch: int, dtype: Any = np.float64) -> Lanes:
        """The value type for a batch of so many states."""
        found = self._extents.get(algorithm.name)
        if found is None:
            found = self._extents[algorithm.name] = extent(algorithm, self.tree)
        return lanes_for(batch, dtype, found)

    def of_state(
        self,
        algorithm: Algorithm,
        inputs: Mapping[str, np.ndarray],
        outputs: tuple[str, ...],
        phases: tuple[str, ...] = ("run",),
        absent: tuple[str, ...] = (),
    ) -> list[np.ndarray] | None:
        """Some outputs (size,) at one state, or None if these arrays, or this algorithm, need the long way: `Plan.run`.

        inputs   arrays (size,) of float64, in one piece
        """
        key = (get_ident(), algorithm.name, tuple(inputs), outputs, phases, absent)  # a call has memory of its own
        if key not in self._states:
            plan = self(algorithm, Lanes(1), phases, absent)
            self._states[key] = StateCall(plan, tuple(inputs), outputs) if StateCall.fits(plan, inputs, outputs) else None
        call = self._states[key]
        return None if call is None else call(*inputs.values())


class StateCall:
    """A plan in scalar code for one state after the other: inputs are read where they are, outputs are new arrays."""

    def __init__(self, plan: Plan, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        work = plan.workspace()
        self._run, _ = work.of_state(inputs, outputs[0], (plan.sizes[outputs[0]],))
        self._views = [work.views[name] for name in outputs]

    def __call__(self, *inputs: np.ndarray) -> list[np.ndarray] | None:
        """The outputs, or None if an array is not as it should be."""
        return None if self._run(*inputs) is None else [view.copy() for view in self._views]

    @staticmethod
    def fits(plan: Plan, inputs: Mapping[str, np.ndarray], outputs: Sequence[str]) -> bool:
        """Whether nothing is written where inputs are, and nothing stands in another order in the lanes."""
        fields = plan.algorithm.fields.values()
        plain = all(f.kind != "state" and f.alias not in inputs for f in fields) and not set(outputs) & set(plan.maps)
        return plain and bool(inputs) and bool(outputs) and python.available()
