"""What forces on bodies and forces on joints share: a name, run-time data, inputs, and what identifies their machine code."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..spatial.scalar import Vector
from .checks import word


class Law:
    """Base of `Force` and `JointForce`.

    name              its own, for inputs and messages; need not be given
    parameter_names   attributes that are numbers or arrays: run-time data, shared kernels
    inputs            what drives the force from outside at run time (activation, a target pose): as many numbers, 0 by default
    """

    name: str = ""
    parameter_names: ClassVar[tuple[str, ...]] = ()
    inputs: int = 0

    def initial_inputs(self) -> np.ndarray:
        """The inputs where nothing else is said."""
        return np.zeros(self.inputs)

    @property
    def variant(self) -> tuple[Any, ...]:
        """What of the force is structure, not number: part of what identifies its machine code."""
        return ()

    @property
    def built_in(self) -> bool:
        """Whether the sources of the package say all that the force computes."""
        return type(self).__module__.startswith("linkwork.")

    @property
    def same(self) -> tuple[Any, ...]:
        """Forces of which this is equal compute the same, from other numbers; found without looking at what they compute."""
        return (type(self), self.variant, self.inputs) if self.built_in else (id(self),)

    def parameters(self) -> dict[str, np.ndarray]:
        """The run-time data by name."""
        return {name: np.asarray(getattr(self, name), float) for name in self.parameter_names}

    def bound(self, values: dict[str, Any]) -> Any:
        """The same force with other parameters."""
        other = copy.copy(self)
        other.__dict__.update(values)
        return other

    def at_node(self, n: Any) -> Any:
        """The same force with the parameters of a node, in a rule."""
        return self.bound({name: getattr(n, f"own_{name}") for name in self.parameters()})

    def called(self, name: Any) -> str:
        """Take a name; what messages about the rest begin with."""
        owner = type(self).__name__
        self.name = word(owner, "name", name, empty=True)
        return f"{owner} {name!r}" if name else owner


def shaped(given: dict[str, np.ndarray], values: Sequence[Vector]) -> dict[str, Any]:
    """Flat values in the shapes of the parameters given."""
    pairs = zip(given.items(), values, strict=True)
    return {name: x.reshape(p.shape) if p.ndim else x[0] for (name, p), x in pairs}
