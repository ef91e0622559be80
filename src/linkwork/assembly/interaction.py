"""Interactions: forces between parts, each its energy, and the power it takes out of the motion where it dissipates.

    f = -dV/dv - dP/dv,        V(x, t) along the velocities,  P(x, v, t) a dissipation function (half the power that is lost).

They act with what they are at the state: explicitly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np

from ..elements.law import Law
from ..errors import ModelError
from ..spatial.dual import Dual, split
from ..spatial.jet import Jet, lift
from ..spatial.scalar import Scalar, Vector, array, stack
from .part import Part, moving
from .views import Moving, Placed


class Interaction(Law):
    """Base of all interactions.

    parts   names of the parts concerned, in the order of the arguments of `energy` and `dissipation`
    timed   whether its functions depend on the time, an argument `t`
    """

    parts: tuple[str, ...]
    timed: bool = False
    dissipates: bool = False

    def energy(self, *parts: Any, **passing: Any) -> Scalar:
        """V, a function of where the parts are (`views.Placed`)."""
        return 0.0

    def dissipation(self, *parts: Any, **passing: Any) -> Scalar:
        """P, a function of the velocities too (`views.Moving`), where it dissipates."""
        return 0.0

    @property
    def signature(self) -> tuple[Any, ...]:
        """What identifies its machine code, besides its parts and the shapes of its parameters."""
        return (type(self).__qualname__, self.timed, self.dissipates)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"


def pushes(
    law: Interaction, parts: Sequence[Part], xs: Sequence[Vector], vs: Sequence[Vector], t: Scalar = 0.0
) -> tuple[Scalar, Vector]:
    """The energy of an interaction, and its forces on all parts, one after the other."""
    count = sum(part.nv for part in parts)
    starts = np.cumsum([0, *(part.nv for part in parts)]).tolist()
    jets = [moving(part, x, v, first, count) for part, x, v, first in zip(parts, xs, vs, starts, strict=False)]
    time: dict[str, Any] = {"t": Jet(t, (0.0,) * count, 1.0, 0.0)} if law.timed else {}
    V = lift(law.energy(*(Placed(part, x) for part, x in zip(parts, jets, strict=True)), **time), count)
    f = -stack(*V.grad)
    if law.dissipates:
        views = [Moving(part, x, v, first, count) for part, x, v, first in zip(parts, jets, vs, starts, strict=False)]
        time = {"t": Dual(t, (*[0.0] * count, 1.0))} if law.timed else {}
        f = f - split(array([law.dissipation(*views, **time)]), count + 1)[1][0, :count]
    return V.x, f


class FunctionInteraction(Interaction):
    """See `interaction`."""

    def __init__(self, parts: Sequence[str], functions: dict[str, Callable[..., Any] | None], parameters: dict[str, Any]) -> None:
        self.parts = tuple(parts)
        self._functions = {name: f for name, f in functions.items() if f is not None}
        self._given = {name: np.asarray(x, float) for name, x in parameters.items()}
        self._timed = {name for name, f in self._functions.items() if "t" in signature(f).parameters and "t" not in self._given}
        self.timed, self.dissipates = bool(self._timed), "dissipation" in self._functions
        if not self.parts or not self._functions:
            raise ModelError(f"{self!r}: it needs parts, and an energy or a dissipation, functions of them")
        for name in self._given:
            if hasattr(self, name):
                raise ModelError(f"{self!r}: a parameter cannot be called {name!r}; choose another name")
        self.__dict__.update(self._given)

    @property
    def built_in(self) -> bool:
        return False

    def parameters(self) -> dict[str, np.ndarray]:
        return dict(self._given)

    def _value(self, what: str, parts: tuple[Any, ...], passing: dict[str, Any]) -> Scalar:
        if what not in self._functions:
            return 0.0
        time = passing if what in self._timed else {}
        return self._functions[what](*parts, **{name: getattr(self, name) for name in self._given}, **time)

    def energy(self, *parts: Any, **passing: Any) -> Scalar:
        return self._value("energy", parts, passing)

    def dissipation(self, *parts: Any, **passing: Any) -> Scalar:
        return self._value("dissipation", parts, passing)


def interaction(
    energy: Callable[..., Any] | None,
    parts: Sequence[str],
    *,
    dissipation: Callable[..., Any] | None = None,
    **parameters: Any,
) -> FunctionInteraction:
    """An interaction from its energy, a function of the parts (and of named parameters, and of the time t).

    >>> motor = interaction(lambda crank, torque: -torque * crank.x[2], ["crank"], torque=0.1)
    """
    return FunctionInteraction(parts, {"energy": energy, "dissipation": dissipation}, parameters)
