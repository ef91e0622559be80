"""Events: moments at which a function of the motion changes its sign, found on the dense output of a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..model import State
from ..spatial.gate import reals, shown

EventFunction = Callable[[float, State], float]
Path = Callable[[float], State]  # a stretch of the motion, as a function of time
ROOT = 4 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class Event:
    """Event function `index` changed its sign at time t, in this state.

    >>> stop = lambda t, state: state.q[0]
    >>> run = lw.simulate(model, state, 0.5, 0.1, stepper="dop853", events=[stop])
    >>> all(isinstance(e, lw.Event) for e in run.events)
    True
    """

    index: int
    t: float
    state: State


class Watch:
    """The event functions of a run and their values at the end of the last step.

    A function `g(t, state) -> float` may have the attributes of SciPy's: `direction` (positive: only rising crossings count,
    negative: only falling ones) and `terminal` (True or a number n: the run ends at the first or n-th crossing). A crossing is a
    step from one sign to zero or the other sign: two within one step of the integrator cancel (bound it with max_step), a run
    that starts on a zero does not report it, and a jump (of a coordinate whose chart changes) counts.
    """

    def __init__(self, functions: Sequence[EventFunction], state: State, values: list[float] | None = None) -> None:
        """values   those at the state, where they are known"""
        self.functions = functions
        self.values = [self._value(k, state.t, state) for k in range(len(functions))] if values is None else values
        self.found: list[Event] = []

    def _value(self, k: int, t: float, state: State) -> float:
        found = self.functions[k](t, state)
        try:
            numbers = reals(found).reshape(-1)
        except ValueError:
            numbers = np.zeros(0)
        value = float(numbers[0]) if len(numbers) == 1 else float("nan")
        if not np.isfinite(value):
            raise InputError(f"event function {k} returned {shown(found)} at t = {t:.9g}; it must return a finite number")
        return value

    def step(self, t_old: float, t_new: float, path: Path) -> Event | None:
        """Look for crossings in a step; the terminal one that ends the run, if any. Later ones are then forgotten."""
        new = [self._value(k, t_new, path(t_new)) for k in range(len(self.functions))]
        crossed = [k for k, (a, b) in enumerate(zip(self.values, new, strict=True)) if _crosses(a, b, self.functions[k])]
        self.values = new
        for event in sorted((self._located(k, t_old, t_new, path) for k in crossed), key=lambda e: e.t):
            self.found.append(event)
            most = int(getattr(self.functions[event.index], "terminal", None) or 0)
            if most and sum(e.index == event.index for e in self.found) >= most:
                return event
        return None

    def _located(self, k: int, t_old: float, t_new: float, path: Path) -> Event:
        from scipy.optimize import brentq  # slow to import, and few runs have events

        def g(t: float) -> float:
            return self._value(k, t, path(t))

        before, after = g(t_old), self.values[k]
        if before * after < 0.0:
            t = float(brentq(g, t_old, t_new, xtol=ROOT, rtol=ROOT))  # pyright: ignore[reportArgumentType]
        else:  # it ends on zero, or jumped between the steps
            t = t_new if after == 0.0 else t_old
        return Event(k, t, path(t))


def _crosses(a: float, b: float, function: Any) -> bool:
    direction = getattr(function, "direction", 0) or 0
    return (direction >= 0 and a < 0.0 <= b) or (direction <= 0 and a > 0.0 >= b)
