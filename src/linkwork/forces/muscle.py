"""Hill-type muscles with rigid tendons [Sueda 1.9.4, 1.9.5; errata 004-4, 8]."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ModelError
from ..spatial.gate import number, positive
from ..spatial.scalar import Scalar, Vector, maximum
from ..spatial.se3 import SE3
from .muscle_activation import Schedule
from .muscle_curves import ACTIVE, PASSIVE, VELOCITY, as_curve
from .muscle_path import AlongPath, as_path, rate_of

OBSERVED = ("length", "rate", "tension", "activation", "fibre_length", "fibre_rate")
SHORTEST = 0.01  # of the optimal length: fibres along the tendon are never shorter


class Muscle(AlongPath):
    """A muscle along a path: tension f_max (a f_L(l) f_V(v) + f_P(l) + d v) cos(alpha), never below zero.

    l is the fibre length over the optimal length, v its rate over optimal length times max_velocity. The path's length l_MT is
    that of the tendon and of the fibres along it, l_MT = l_T + l_f cos(alpha); the fibres keep their thickness: l_f sin(alpha)
    is constant, so that l_f' = l_MT' cos(alpha).

    path             (body, point) and obstacles (`WrapSphere`, `WrapCylinder`) in order, or a `MusclePath`
    max_force        f_max, N
    optimal_length   fibre length of the greatest active force, m
    tendon_length    l_T, m
    pennation        angle alpha between fibres and tendon at the optimal length, rad
    max_velocity     optimal lengths per second at which the active force vanishes
    damping          d of the fibres
    activation       a as a `Schedule` of time; or a number, where the muscle starts: then a is its run-time input
    active, passive, velocity   the curves f_L, f_P, f_V; a curve, or any function of a scalar

    >>> path = [("world", (0, 0, 0.1)), ("upper", (0.3, 0, 0.05))]
    >>> pulled = model.add(lw.Muscle(path, 500.0, 0.15, 0.1, activation=0.2, name="biceps"))
    >>> lw.muscle_states(pulled, q).tension.shape
    (1,)
    """

    curve_names: tuple[str, ...] = ("active", "passive", "velocity")
    scalar_names: tuple[str, ...] = ("max_force", "optimal_length", "tendon_length", "thickness", "max_velocity", "damping")

    def __init__(
        self,
        path: Any,
        max_force: float,
        optimal_length: float,
        tendon_length: float = 0.0,
        *,
        pennation: float = 0.0,
        max_velocity: float = 10.0,
        damping: float = 0.0,
        activation: Any = 0.0,
        active: Any = ACTIVE,
        passive: Any = PASSIVE,
        velocity: Any = VELOCITY,
        name: str = "",
    ) -> None:
        owner = self.called(name)
        self.path = as_path(owner, path)
        self.bodies = self.path.bodies
        self.max_force = positive(owner, "max_force", max_force)
        self.optimal_length = positive(owner, "optimal_length", optimal_length)
        self.tendon_length = number(owner, "tendon_length", tendon_length, 0.0)
        self.damping = number(owner, "damping", damping, 0.0)
        self.max_velocity = positive(owner, "max_velocity", max_velocity)
        angle = number(owner, "pennation", pennation, 0.0)
        if angle >= 0.5 * np.pi:
            raise ModelError(f"{owner}: pennation must be below pi / 2, not {pennation!r}; it is in radians")
        self.thickness = self.optimal_length * np.sin(angle)
        self.active, self.passive = as_curve(owner, "active", active), as_curve(owner, "passive", passive)
        self.velocity = as_curve(owner, "velocity", velocity)
        self._activate(owner, activation)

    def plot(self) -> Any:
        """A matplotlib figure of its curves, with their slopes dashed."""
        return importlib.import_module("linkwork.view.muscle_plots").plot_muscle_curves(self)

    def _activate(self, owner: str, activation: Any) -> None:
        """Take a schedule or an initial activation."""
        if isinstance(activation, Schedule):
            if activation.values.ndim != 1:
                raise ModelError(f"{owner}: its activation has one value at a time, not {activation.values.shape[1]}")
            low, high = activation.values.min(), activation.values.max()
            self.activation, self.inputs = activation.curves[0], 0
        else:
            low = high = self.initial_activation = number(owner, "activation", activation)
            self.activation, self.inputs = None, 1
        if low < 0.0 or high > 1.0:
            raise ModelError(f"{owner}: activation must be from 0 to 1, not {low if low < 0.0 else high:g}")

    # --- run-time data -----------------------------------------------------------------------------------------------------
    def parts(self) -> dict[str, Any]:
        """The path and the curves by name: each has run-time `numbers` and a `signature`."""
        own = {name: getattr(self, name) for name in ("path", *self.curve_names)}
        return own | ({"activation": self.activation} if self.activation is not None else {})

    @property
    def parameter_names(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return *self.scalar_names, *(f"{name}_numbers" for name, part in self.parts().items() if len(part.numbers))

    def parameters(self) -> dict[str, Any]:
        scalars = {name: np.asarray(getattr(self, name), float) for name in self.scalar_names}
        return scalars | {f"{name}_numbers": part.numbers for name, part in self.parts().items() if len(part.numbers)}

    def bound(self, values: dict[str, Any]) -> Any:
        numbers = {name.removesuffix("_numbers"): x for name, x in values.items() if name.endswith("_numbers")}
        parts = {name: getattr(self, name).with_numbers(x) for name, x in numbers.items()}
        return super().bound({name: x for name, x in values.items() if not name.endswith("_numbers")} | parts)

    @property
    def variant(self) -> tuple[Any, ...]:
        return tuple((name, part.signature) for name, part in self.parts().items())

    def initial_inputs(self) -> np.ndarray:
        return np.full(self.inputs, 0.0 if self.activation is not None else self.initial_activation)

    def activation_at(self, t: Scalar, u: Vector) -> Scalar:
        """The activation at a time, under inputs."""
        return u[0] if self.activation is None else self.activation(t)

    # --- mechanics -----------------------------------------------------------------------------------------------------------
    def observed(
        self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector
    ) -> tuple[dict[str, Scalar], list[Vector]]:
        """What can be measured on the muscle, by name, and the gradient of its length for every body."""
        length, slopes = self.path.slopes(poses)
        rate = rate_of(slopes, twists)
        along, along_rate = self.fibres(length, rate, t, u)
        fibre = self.fibre_length(along)
        tension, activation = self.tension(length, rate, t, u), self.activation_at(t, u)
        values = (length, rate, tension, activation, fibre, along_rate * along / fibre)
        return dict(zip(OBSERVED, values, strict=True)), slopes

    def fibres(self, length: Scalar, rate: Scalar, t: Scalar, u: Vector) -> tuple[Scalar, Scalar]:
        """Length and rate of the fibres along the tendon."""
        return maximum(length - self.tendon_length, self.shortest()), rate

    def shortest(self) -> Scalar:
        """The least length of the fibres along the tendon: shorter ones are clamped there."""
        return SHORTEST * self.optimal_length

    def fibre_length(self, along: Scalar) -> Scalar:
        """The length of fibres that have this length along the tendon."""
        return np.sqrt(along * along + self.thickness * self.thickness)

    def pull(self, along: Scalar, rate: Scalar, a: Scalar) -> Scalar:
        """The fibres' force along the tendon, over f_max."""
        fibre = self.fibre_length(along)
        cos = along / fibre
        l = fibre / self.optimal_length
        v = rate * cos / (self.optimal_length * self.max_velocity)
        return maximum(a * self.active(l) * self.velocity(v) + self.passive(l) + self.damping * v, 0.0) * cos

    def tension(self, length: Scalar, rate: Scalar, t: Scalar, u: Vector) -> Scalar:
        along, along_rate = self.fibres(length, rate, t, u)
        return self.max_force * self.pull(along, along_rate, self.activation_at(t, u))

    def stored(self, length: Scalar) -> Scalar:
        """What stretching the passive fibres took."""
        fibre = self.fibre_length(maximum(length - self.tendon_length, self.shortest()))
        return self.max_force * self.optimal_length * self.passive.integral(fibre / self.optimal_length)
