"""Activation of muscles: schedules in time, and how activation follows excitation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, ModelError
from ..spatial.frozen import Frozen
from ..spatial.gate import finite_reals, given_positive, positive, reals, shown
from ..spatial.scalar import Scalar, Vector, stack, where
from .muscle_curves import PiecewiseCurve


class Schedule(Frozen):
    """Values over time, linear between given times and held before the first and after the last.

    times    increasing (n,)
    values   (n,), or (n, m) for m of them at once

    A schedule of one value may be a muscle's activation. `schedule(t)` is its value or (m,) values; a second argument is ignored,
    so that it can serve where a function of time and state is asked for.

    >>> activation = lw.Schedule([0.0, 0.5, 1.0], [0.0, 1.0, 0.0])
    """

    def __init__(self, times: Any, values: Any) -> None:
        t, y = _numbers("times", times), _numbers("values", values)
        if t.ndim != 1 or len(t) < 2 or not np.all(np.diff(t) > 0):
            raise ModelError(f"Schedule: times must be two or more numbers that increase, not {times!r}")
        if y.ndim not in (1, 2) or len(y) != len(t):
            raise ModelError(f"Schedule: {len(t)} times need as many values, not shape {y.shape}")
        self.times, self.values = t, y
        self.curves = tuple(_lines(t, column) for column in (y[:, None] if y.ndim == 1 else y).T)

    def __call__(self, t: Scalar, state: Any = None) -> Any:
        found = [curve(t) for curve in self.curves]
        return found[0] if self.values.ndim == 1 else stack(*found)


def _lines(t: np.ndarray, y: np.ndarray) -> PiecewiseCurve:
    slopes = np.diff(y) / np.diff(t)
    return PiecewiseCurve(t, np.column_stack([y[:-1], slopes]), before=(y[0], 0.0), after=(y[-1], 0.0))


def _numbers(what: str, x: Any) -> np.ndarray:
    try:
        a = reals(x)
    except (TypeError, ValueError):
        a = np.array(np.nan)
    if not np.all(np.isfinite(a)):
        raise ModelError(f"Schedule: {what} must be finite numbers, not {x!r}")
    return a


@dataclass(frozen=True)
class ActivationDynamics:
    """Activation a follows excitation e at first order: a_dot = (e - a) / tau, tau_act where it rises, tau_deact where it falls.

    Times in seconds. All functions take numbers, symbols or arrays.

    >>> dynamics = lw.ActivationDynamics(tau_act=0.01, tau_deact=0.04)
    """

    tau_act: float = 0.015
    tau_deact: float = 0.05

    def __post_init__(self) -> None:
        for name in ("tau_act", "tau_deact"):
            positive("ActivationDynamics", name, getattr(self, name))

    def rate(self, a: Scalar, e: Scalar) -> Scalar:
        """a_dot."""
        return (e - a) / self._tau(a, e)

    def step(self, a: Scalar, e: Scalar, dt: Scalar) -> Scalar:
        """The activation after dt under a constant excitation: exact, as a does not pass e."""
        return e + (a - e) * np.exp(-dt / self._tau(a, e))

    def response(self, e: Any, dt: float, a0: Any = 0.0) -> np.ndarray:
        """Activations (n + 1, ...) from a0 on, under excitations (n, ...) that are each held for dt; all are from 0 to 1."""
        dt, given, first = given_positive("dt", dt), finite_reals("e", e), finite_reals("a0", a0)
        for name, x in (("e", given), ("a0", first)):
            if x.min(initial=0.0) < 0.0 or x.max(initial=0.0) > 1.0:
                raise InputError(f"ActivationDynamics.response: {name} must be from 0 to 1, not {shown(x)}")
        out: list[Vector] = [np.broadcast_to(first, given.shape[1:])]
        for held in given:
            out.append(self.step(out[-1], held, dt))
        return np.array(out)

    def _tau(self, a: Scalar, e: Scalar) -> Scalar:
        return where(e > a, self.tau_act, self.tau_deact)
