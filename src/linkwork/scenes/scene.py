"""A scene: something to simulate, with a time step and a duration that suit it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..model import Model, State
from ..redmax import HyperReduced
from ..spatial.gate import meant
from .shots import SHOTS, Shot

CONTACT_METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")  # all know contact with friction


@dataclass(frozen=True)
class Scene:
    """A named model and its start.

    description   one line for lists
    maker         makes the model and its initial state; its keyword arguments are the scene's options
    duration, dt  seconds
    methods       of `simulate` that can run it; the first is the usual one
    inputs        makes, for the model, the inputs of its forces as a function of time
    """

    name: str
    description: str
    maker: Callable[..., tuple[Model | HyperReduced, State]]
    duration: float
    dt: float
    methods: tuple[str, ...] = ("reduced", "maximal")
    inputs: Callable[[Model], Callable[[float], Any]] | None = None

    @property
    def shot(self) -> Shot:
        """How it is looked at, and when its picture is taken."""
        return SHOTS.get(self.name, Shot())

    @property
    def options(self) -> tuple[str, ...]:
        """The names that `build` accepts."""
        return tuple(inspect.signature(self.maker).parameters)

    @property
    def defaults(self) -> dict[str, Any]:
        """The options with the values that they have if nothing is said."""
        return {name: p.default for name, p in inspect.signature(self.maker).parameters.items()}

    def build(self, **options: Any) -> tuple[Any, State]:
        """The model (or `HyperReduced` coordinates of one) and its initial state."""
        for name in options:
            if name not in self.options:
                known = f"its options are {', '.join(self.options)}" if self.options else "it has none"
                raise InputError(f"the scene {self.name!r} has no option {name!r}; {known}{meant(name, self.options)}")
        return self.maker(**options)
