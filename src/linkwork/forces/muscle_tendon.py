"""Muscles with elastic tendons: fibres in equilibrium with the tendon, or with a length of their own that is integrated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ModelError
from ..spatial.dual import Dual, held
from ..spatial.gate import positive
from ..spatial.scalar import Scalar, Vector, absolute, maximum, where
from ..spatial.se3 import SE3
from .muscle import Muscle
from .muscle_curves import TENDON, MuscleCurve, as_curve

STEPS = 6  # of Newton's method from a good start; 5 are enough for the curves of this package
SAFE_STEPS = 24  # from any start
ZERO = 1e-15
STEEP = 1e-9  # slopes below are taken for zero
TOO_LONG = 3.0  # for a tendon, over its length
TOE = 2.0 / 3.0  # of the maximal force: where the toe of a tendon is taken to end


class TendonMuscle(Muscle):
    """Base of muscles with an elastic tendon, of force f_max f_T(l_T / tendon_length).

    tendon_length   the length at which the tendon begins to pull, m
    tendon          the curve f_T: zero up to 1, then rising without end
    """

    curve_names: tuple[str, ...] = (*Muscle.curve_names, "tendon")
    scalar_names: tuple[str, ...] = (*Muscle.scalar_names, "toe_strain", "toe_slope")

    def __init__(
        self, path: Any, max_force: float, optimal_length: float, tendon_length: float, *, tendon: Any = TENDON, **rest: Any
    ) -> None:
        super().__init__(path, max_force, optimal_length, tendon_length, **rest)
        owner = self.called(self.name)
        positive(owner, "tendon_length", tendon_length)
        self.tendon = as_curve(owner, "tendon", tendon)
        self.toe_strain, self.toe_slope = _toe(owner, self.tendon)

    def tendon_pull(self, length: Scalar, along: Scalar) -> Scalar:
        """The tendon's force over f_max, where the fibres take `along` of the length."""
        return self.tendon((length - along) / self.tendon_length)

    def elastic_energy(self, length: Scalar, along: Scalar) -> Scalar:
        """What stretching the tendon and the passive fibres took."""
        tendon = self.tendon_length * self.tendon.integral((length - along) / self.tendon_length)
        fibres = self.optimal_length * self.passive.integral(self.fibre_length(along) / self.optimal_length)
        return self.max_force * (tendon + fibres)

    def settled(self, length: Scalar, rate: Scalar, a: Scalar) -> Scalar:
        """The length of the fibres along the tendon at which both pull alike, for a given rate of the fibres along the tendon.

        The search starts where the tendon, taken for a parabola that ends in a line, has the force that fibres on a rigid tendon
        would have.
        """

        def excess(along: Scalar, length: Scalar, rate: Scalar, a: Scalar) -> Scalar:
            return self.tendon_pull(length, along) - self.pull(along, rate, a)

        low = self.shortest()
        high = maximum(held(length) - self.tendon_length, low)
        force = self.pull(high, held(rate), held(a))
        weak = force < TOE
        toe = self.toe_strain * np.sqrt(where(weak, force, TOE) / TOE)
        strain = where(weak, toe, self.toe_strain + (force - TOE) / self.toe_slope)
        start = maximum(high - strain * self.tendon_length, 0.5 * (low + high))
        return implicit_root(excess, (length, rate, a), low, high, start, STEPS)


class ElasticMuscle(TendonMuscle):
    """A muscle whose fibres are always in equilibrium with its elastic tendon: their force along the tendon is the tendon's.

    The tendon stretches with the force, but its own rate is neglected in the fibres' velocity: the force-velocity curve sees the
    rate of the whole path, as with a rigid tendon. There is no state but the activation. For fibres that move by themselves
    against the tendon see `FibreMuscle`.

    >>> path = [("world", (0, 0, 0.1)), ("upper", (0.3, 0, 0.05))]
    >>> calf = lw.ElasticMuscle(path, max_force=800.0, optimal_length=0.1, tendon_length=0.2, activation=0.3)
    """

    def fibres(self, length: Scalar, rate: Scalar, t: Scalar, u: Vector) -> tuple[Scalar, Scalar]:
        return self.settled(length, rate, self.activation_at(t, u)), rate

    def tension(self, length: Scalar, rate: Scalar, t: Scalar, u: Vector) -> Scalar:
        return self.max_force * self.tendon_pull(length, self.settled(length, rate, self.activation_at(t, u)))

    def potential(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Scalar:
        """The energy stored in tendon and fibres at rest."""
        length = self.length(poses)
        return self.elastic_energy(length, self.settled(length, 0.0, self.activation_at(t, u)))


class FibreMuscle(TendonMuscle):
    """A muscle whose fibres have a length of their own, and pull on the elastic tendon.

    Its inputs are the activation (unless that is a schedule) and the fibre length l_f, in m. The tendon's force follows from l_f
    and the path; the rate of l_f is the one at which the fibres pull as the tendon does. `fibre_rate` is that rate, `fibre_step`
    a step of the backward Euler method, `resting` the fibre length at which nothing moves; `MuscleDrive` calls them.

    damping   d of the fibres, above zero: without it, passive fibres would move infinitely fast

    >>> path = [("world", (0, 0, 0.1)), ("upper", (0.3, 0, 0.05))]
    >>> biceps = lw.FibreMuscle(path, 500.0, 0.12, 0.2, activation=0.1)
    """

    fibres_move = True  # on their own

    def __init__(self, *positional: Any, damping: float = 0.1, **rest: Any) -> None:
        super().__init__(*positional, damping=damping, **rest)
        if self.damping <= 0.0:
            raise ModelError(f"{self!r}: damping must be above 0, not {damping!r}")
        self.inputs += 1

    def initial_inputs(self) -> np.ndarray:
        """The initial activation, and fibres of optimal length."""
        return np.append(super().initial_inputs()[: self.inputs - 1], self.optimal_length)

    def along(self, fibre: Scalar) -> Scalar:
        """The length along the tendon of fibres of a length."""
        square = fibre * fibre - self.thickness * self.thickness
        least = self.shortest()
        return np.sqrt(maximum(square, least * least))

    def fibres(self, length: Scalar, rate: Scalar, t: Scalar, u: Vector) -> tuple[Scalar, Scalar]:
        along = self.along(u[-1])
        return along, self._along_rate(length, along, self.activation_at(t, u))

    def tension(self, length: Scalar, rate: Scalar, t: Scalar, u: Vector) -> Scalar:
        return self.max_force * self.tendon_pull(length, self.along(u[-1]))

    def potential(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Scalar:
        """The energy stored in tendon and fibres."""
        return self.elastic_energy(self.length(poses), self.along(u[-1]))

    def _along_rate(self, length: Scalar, along: Scalar, a: Scalar) -> Scalar:
        """The rate along the tendon at which the fibres pull as the tendon does: a f_L f_V(v) + f_P + d v = f_T / cos(alpha)."""
        fibre = self.fibre_length(along)
        cos, l = along / fibre, fibre / self.optimal_length
        wanted = self.tendon_pull(length, along) / cos - self.passive(l)
        active = a * self.active(l)
        # f_V is within its values at +-1 beyond them, so that the root is not farther out than this.
        reach = 1.0 + (maximum(wanted, -wanted) + 2.0 * active) / self.damping
        v = implicit_root(lambda v, w, f: w - f * self.velocity(v) - self.damping * v, (wanted, active), -reach, reach, 0.0)
        return v * self.optimal_length * self.max_velocity / cos

    def fibre_rate(self, length: Scalar, a: Scalar, fibre: Scalar) -> Scalar:
        """The rate of the fibre length, m/s."""
        along = self.along(fibre)
        return self._along_rate(length, along, a) * along / self.fibre_length(along)

    def fibre_step(self, length: Scalar, a: Scalar, fibre: Scalar, dt: Scalar) -> Scalar:
        """The fibre length after dt by the backward Euler method; length and activation are those at the end of the step."""
        speed = dt * self.optimal_length * self.max_velocity

        def excess(along: Scalar, length: Scalar, a: Scalar, fibre: Scalar) -> Scalar:
            now = self.fibre_length(along)
            l, v = now / self.optimal_length, (now - fibre) / speed
            force = a * self.active(l) * self.velocity(v) + self.passive(l) + self.damping * v
            return self.tendon_pull(length, along) - force * along / now

        low = self.shortest()
        start = self.along(held(fibre))
        high = maximum(maximum(held(length) - self.tendon_length, start), low)
        return self.fibre_length(implicit_root(excess, (length, a, fibre), low, high, start))

    def resting(self, length: Scalar, a: Scalar) -> Scalar:
        """The fibre length at which the fibres are at rest."""
        return self.fibre_length(self.settled(length, 0.0, a))


def implicit_root(
    f: Callable[..., Scalar], given: Sequence[Scalar], low: Scalar, high: Scalar, start: Scalar, steps: int = SAFE_STEPS
) -> Scalar:
    """The x between low and high with f(x, *given) = 0, of a falling function, with the derivatives that `given` carries.

    Newton's method on the values, a fixed number of steps; one that would leave the bounds, which close in, halves them instead.
    A last step on the scalars as given brings their derivatives: dx = -df / f'; one more for derivatives of derivatives. Where f'
    vanishes x does not depend on them.
    """
    plain = [held(g) for g in given]
    x = start
    for _ in range(steps):
        y = f(Dual(x, (1.0,)), *plain)
        above = y.x > 0
        low, high = where(above, x, low), where(above, high, x)
        inverse = _inverse(y.grad[0])
        following = x - y.x * inverse
        good = (inverse < 0) & (following >= low) & (following <= high)
        x = where(good | (absolute(y.x) < ZERO), where(good, following, x), 0.5 * (low + high))
    inverse = _inverse(f(Dual(x, (1.0,)), *plain).grad[0])
    for _ in range(max(map(_depth, given), default=0) or 1):
        x = x - f(x, *given) * inverse
    return x


def _toe(owner: str, tendon: MuscleCurve) -> tuple[float, float]:
    """The strain at which a tendon pulls with two thirds of the maximal force, and the slope there."""
    if not abs(tendon(1.0)) < 1e-9 or not tendon(TOO_LONG) > TOE:
        raise ModelError(f"{owner}: the tendon's force must be 0 at the length 1 and rise above {TOE:.3g} before {TOO_LONG:g}")
    low, high = 1.0, TOO_LONG
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if tendon(middle) < TOE else (low, middle)
    return high - 1.0, positive(owner, "the slope of the tendon's curve", tendon.slope(high))


def _inverse(slope: Scalar) -> Scalar:
    """1 / slope of a slope that is below zero, else 0."""
    steep = slope < -STEEP
    return where(steep, 1.0 / where(steep, slope, -1.0), 0.0)


def _depth(x: Scalar) -> int:
    """How many duals there are inside one another."""
    return 1 + _depth(x.x) if isinstance(x, Dual) else 0
