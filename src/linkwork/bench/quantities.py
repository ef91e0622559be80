"""The quantities that are timed, each with its inputs and its result by their names in the algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..kernel.plan import Plan
from ..kernel.sweep import Algorithm
from ..kernel.widths import SCALAR64
from ..model import Model
from ..model.arrays import usual_function
from ..reduced import forward_dynamics, inverse_dynamics, mass_matrix
from ..reduced.forward import FORWARD_DYNAMICS
from ..reduced.inverse import INVERSE_DYNAMICS
from ..reduced.mass_matrix import MASS_MATRIX

States = dict[str, np.ndarray]  # q, v, tau, a and perhaps M, each with the batch axis first


@dataclass(frozen=True)
class Quantity:
    """A function of the library: `function(model, *inputs)` is `result`."""

    function: Callable[..., np.ndarray]
    algorithm: Algorithm
    inputs: tuple[str, ...]
    result: str

    @property
    def name(self) -> str:
        return self.algorithm.name

    def of(self, states: States) -> list[np.ndarray]:
        """The inputs among the states."""
        return [states[name] for name in self.inputs]

    def plan(self, model: Model) -> Plan:
        """The compiled algorithm for one state at a time, with the one result that is asked for."""
        return usual_function(model, self.algorithm, self.inputs, self.result).plan(SCALAR64)

    def native(self, model: Model, states: States) -> Callable[[], np.ndarray]:
        """One state at a time, in a compiled loop over a batch; every call overwrites the same array."""
        plan, inputs = self.plan(model), dict(zip(self.inputs, self.of(states), strict=True))
        if "gravity" in self.algorithm.fields:
            inputs["gravity"] = model.gravity
        batch = len(states["q"])
        out = np.empty((batch, plan.sizes[self.result]))

        def run() -> np.ndarray:
            plan.run(inputs, {self.result: out}, batch)
            return out

        return run


QUANTITIES = (
    Quantity(forward_dynamics, FORWARD_DYNAMICS, ("q", "v", "tau"), "a"),
    Quantity(inverse_dynamics, INVERSE_DYNAMICS, ("q", "v", "a"), "tau"),
    Quantity(mass_matrix, MASS_MATRIX, ("q",), "M"),
)
