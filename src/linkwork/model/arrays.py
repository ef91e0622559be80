"""An algorithm on a model: the shapes of its fields, and functions of arrays of such shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.function import Function
from ..kernel.plans import Plans
from ..kernel.sweep import Algorithm
from .entrance import ModelGate


class Interface:
    """An algorithm as a function of arrays on one model: the shapes of its fields.

    plans   of the tree that it runs on; the model's own by default
    tails   shapes of fields that the model does not know
    """

    def __init__(
        self, model: Any, algorithm: Algorithm, plans: Plans | None = None, tails: dict[str, tuple[int, ...]] | None = None
    ) -> None:
        self.model, self.algorithm, self._plans, self._known = model, algorithm, plans or model.plan, tails or {}
        self.tails = {name: self._tail(name) for name, f in algorithm.fields.items() if f.kind in ("input", "output", "state")}
        self._functions: dict[Any, Function] = {}

    def _tail(self, name: str) -> tuple[int, ...]:
        """The shape of one state's value of a field."""
        if name in self._known:
            return self._known[name]
        f = self.algorithm.fields[name]
        if f.space not in ("node", "global"):
            return self.model.space_shape(f.space)
        inner = (4, 4) if f.size({}) == 16 else (f.size({}),)
        return inner if f.space == "global" else (self.model.nb, *inner)

    def __call__(
        self, inputs: dict[str, Any], threads: int | None = 1, wanted: tuple[str, ...] | None = None
    ) -> dict[str, np.ndarray]:
        """The outputs (all, or those wanted), with the batch axis first if any input had one.

        inputs   field name -> array whose last axes are the field's, with an optional batch axis first; None means absent:
                 zeros that the kernels fold away
        """
        names = self.algorithm.results if wanted is None else wanted
        given = {name: x for name, x in inputs.items() if x is not None}
        key = (tuple(given), tuple(inputs), names)
        call = self._functions.get(key)
        if call is None:
            absent = tuple(name for name in inputs if name not in given)
            call = self._functions[key] = self.function(tuple(given), names, absent)
        return dict(zip(names, call(*given.values(), threads=threads), strict=True))

    def function(
        self, names: tuple[str, ...], wanted: tuple[str, ...], absent: tuple[str, ...], constants: Any = None
    ) -> Function:
        """The algorithm as a function of some inputs, in this order; other inputs are `absent` or constants."""
        spare = tuple(name for name in self.algorithm.results if name not in wanted)
        inputs, outputs = ({name: self.tails[name] for name in some} for some in (names, wanted))
        gate = ModelGate(self.model, self.algorithm)
        return Function(
            self._plans, self.algorithm, inputs, outputs, tuple(self.algorithm.phases), absent + spare, constants, gate
        )


def usual_function(model: Any, algorithm: Algorithm, names: tuple[str, ...], result: str) -> Function:
    """The function of these inputs alone, under the model's gravity, that most calls want; kept with the model."""
    found = model.usual_functions.get(algorithm.name)
    if found is None:
        gravity = {"gravity": model.gravity} if "gravity" in algorithm.fields else {}
        absent = tuple(n for n, f in algorithm.fields.items() if f.kind == "input" and n not in (*names, "gravity"))
        found = Interface(model, algorithm).function(names, (result,), absent, gravity)
        model.usual_functions[algorithm.name] = found
    return found
