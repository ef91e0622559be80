"""What elements of a model share that state a law: run-time data by name, and what identifies their machine code."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np

from ..spatial.functions import Functions
from .model import WORLD, Model


class Law:
    """Base of elements that are compiled: a law of numbers that are run-time data.

    parameter_names   attributes that are numbers or arrays: run-time data, shared kernels
    """

    parameter_names: ClassVar[tuple[str, ...]] = ()

    @property
    def variant(self) -> tuple[Any, ...]:
        """What of the element is structure, not number: part of what identifies its machine code."""
        return ()

    @property
    def built_in(self) -> bool:
        """Whether the sources of the package say all that the element computes."""
        return type(self).__module__.startswith("linkwork.")

    @property
    def same(self) -> tuple[Any, ...]:
        """Elements of which this is equal compute the same, from other numbers; found without looking at what they compute."""
        return (type(self), self.variant) if self.built_in else (id(self),)

    def parameters(self) -> dict[str, np.ndarray]:
        """The run-time data by name."""
        return {name: np.asarray(getattr(self, name), float) for name in self.parameter_names}

    def bound(self, values: dict[str, Any]) -> Any:
        """The same element with other parameters."""
        other = copy.copy(self)
        other.__dict__.update(values)
        return other

    def at_node(self, n: Any) -> Any:
        """The same element with the parameters of a node, in a rule."""
        return self.bound({name: getattr(n, f"own_{name}") for name in self.parameters()})


class FunctionLaw(Law):
    """A law that users state by functions; mixed into the classes of `force`, `constraint` and their like."""

    _given: Functions

    @property
    def built_in(self) -> bool:
        return False

    @property
    def same(self) -> tuple[Any, ...]:
        return (type(self), self._given.same)

    def parameters(self) -> dict[str, np.ndarray]:
        return self._given.parameters()

    def bound(self, values: dict[str, Any]) -> Any:
        return super().bound({"_given": self._given.bound(values)})


def known_bodies(model: Model) -> set[str]:
    """The names by which laws may mean a body, the world's among them."""
    return model.keep_as(known_bodies, lambda: {b.name for b in model.bodies} | {WORLD})
