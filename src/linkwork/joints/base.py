"""The joint contract: a joint is its transform; everything else is derived from it.

A joint gives `transform(q)`, the pose of the child frame in the joint's inboard frame. Its motion subspace S and its bias
S_dot v come from running the transform on jets; the rows that it leaves in maximal coordinates are the complement of S.
Joints whose velocity is not the derivative of q (quaternions) say how q moves in `jets` and `integrate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError, SymbolError
from ..kernel.symbol import traced_digest
from ..spatial.advice import advice
from ..spatial.frozen import Frozen
from ..spatial.functions import run_time, shaped
from ..spatial.gate import reals
from ..spatial.jet import coordinates
from ..spatial.scalar import Scalar, Vector, read_only, solve_spd
from ..spatial.se3 import SE3, Tangent
from ..store.travelling import Travelling

Pair = tuple[np.ndarray, np.ndarray]


class Joint(Travelling, Frozen):
    """Base of all joints. Subclasses set `nq`, `nv` and `transform`.

    parameter_names   attributes that are run-time data of the kernels (an axis, a pitch): joints that differ only in
                      these share machine code

    >>> isinstance(lw.Revolute((0, 1, 0)), lw.Joint)
    True
    """

    nq: int
    nv: int
    charted: bool = False  # whether `rechart` and `advance` ever change the coordinates for others
    recharts_after_steps: bool = (
        False  # whether steps that keep one chart from end to end may be taken, and the chart be changed then
    )
    is_group: bool = False  # whether its transforms form a group, so that S spans one space at every q
    may_lock: bool = False  # whether S may lose rank where nobody has said so
    may_part: bool = False  # whether `relative_curvature` may vanish
    bounded: bool = False  # whether its coordinates have a domain, see `inside`
    quaternions: tuple[int, ...] = ()  # where unit quaternions begin in its coordinates
    parameter_names: ClassVar[tuple[str, ...]] = ()
    directions: tuple[str, ...] = ()  # which of `numbers` are unit vectors
    pose_lists: tuple[str, ...] = ()  # which of `numbers` are lists of poses
    is_linear_in_numbers: bool = False  # whether its run-time data are linear in `numbers`

    def transform(self, q: Vector) -> SE3:
        """The pose of the child frame in the inboard frame."""
        raise TypeError(f"{type(self).__name__} must define transform(q)")

    @property
    def signature(self) -> tuple[Any, ...]:
        """What identifies the joint's machine code: its name, and for classes of users what its functions compute."""
        if type(self).__module__.startswith("linkwork."):
            return (type(self).__name__,)
        return (type(self).__qualname__, self.nq, self.nv, self._digest())

    def _digest(self) -> str:
        """A digest of everything that rules call, traced; parameters are symbols."""
        given = self.parameters()
        sizes = (self.nq, self.nv, *(x.size for x in given.values()))

        def everything(*inputs: Vector) -> list[Any]:
            q, v, *values = inputs
            joint = self.bound(shaped(given, values))
            E = joint.motion(q, v)
            moved, (q_new, v_new) = joint.integrate(q, v), joint.rechart(q, v)
            tangent = [*E.tangent.S.flat, *E.tangent.bias, *E.tangent.S_dot.flat]
            stepped = [*joint.steady_motion(q, v).tangent.bias, *joint.bend(q, v), *np.concatenate(joint.advance(q, v, v))]
            return [*pose_entries(E), *tangent, *moved, *joint.difference(q, moved), *q_new, *v_new, *stepped]

        return traced_digest(everything, *sizes)

    def parameters(self) -> dict[str, Any]:
        """The run-time data by name."""
        return {name: run_time(getattr(self, name)) for name in self.parameter_names}

    def bound(self, values: dict[str, Any]) -> Joint:
        """The same joint with other parameters (traced ones, say)."""
        if not values:
            return self
        return self.with_parts(**values)

    @property
    def coordinates_add(self) -> bool:
        """Whether displacements add to the coordinates, which never change charts: each is an angle or a length of its own."""
        return self.nq == self.nv and not self.charted

    # --- derived ----------------------------------------------------------------------------------------------------
    def jets(self, q: Vector, v: Vector) -> Vector:
        """The coordinates as jets moving with velocity v."""
        return coordinates(q, v)

    def motion(self, q: Vector, v: Vector) -> SE3:
        """The transform with its tangent: S, the joint twist S v and the bias S_dot v."""
        try:
            E = self.transform(self.jets(q, v))
        except SymbolError as error:
            told = advice(error)
            if not told:
                raise
            raise SymbolError(f"joint {type(self).__name__}: transform: {told}") from None
        return E if E.carried is not None else E.with_tangent(Tangent.constant(np.zeros((6, self.nv)), np.zeros(6)))

    def integrate(self, q: Vector, dv: Vector) -> Vector:
        """The coordinates reached from q by moving along dv."""
        return q + dv

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """The dv with integrate(q0, dv) = q1."""
        return q1 - q0

    def offset(self, q0: Vector, q1: Vector) -> Vector:
        """As `difference`; turns of coordinates with a period are counted."""
        return self.difference(q0, q1)

    def bracket(self, a: Vector, b: Vector) -> Vector:
        """[a, b] of two velocities: zero where `integrate` adds, the Lie bracket where it composes on a group."""
        return np.zeros(self.nv)

    def about(self, centre: Vector) -> Joint:
        """The joint as steps take it, of a body whose centre of mass is there."""
        return self

    def bend(self, q: Vector, v: Vector) -> Vector:
        """A^-1 A_dot v (nv,), where A v are velocities that do not depend on charts: v_dot + bend is their rate, seen in v."""
        return np.zeros(self.nv)

    def steady_motion(self, q: Vector, v: Vector) -> SE3:
        """`motion` where accelerations are v_dot + bend: its bias is S_dot v - S bend."""
        return self.motion(q, v)

    def advance(self, q: Vector, way: Vector, *velocities: Vector) -> tuple[Vector, ...]:
        """Where a steady motion leads along a way, in the best chart, and velocities as they are seen there: A v stays."""
        reached = self.integrate(q, way)
        return self.rechart(reached, way)[0], *(self.rechart(reached, v)[1] for v in velocities)

    def seen_from(self, q: Vector, q_new: Vector, v: Vector) -> Vector:
        """The velocities at q that `advance` to q_new, in the same chart, shows as v there."""
        return v

    @property
    def keeps_velocities(self) -> bool:
        """Whether `advance` leaves velocities as they are."""
        return not self.charted

    def rechart(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        """The same pose and twist in coordinates farther from a singularity; joints without charts return their arguments."""
        return q, v

    def rechart_together(self, now: Pair, before: Pair) -> tuple[Pair, Pair]:
        """`rechart` of (q, v), and another pair of a moment before, in the same chart."""
        return now, before

    def relative_curvature(self, q: Vector) -> Scalar:
        """How far surfaces that touch are from curvatures that agree: of one sign as long as their point of contact goes on."""
        return 1.0

    def one_chart(self) -> Joint:
        """The same joint where coordinates stay in their first chart, if it can do without others; else itself."""
        return self

    def neutral(self) -> np.ndarray:
        """The zero position."""
        return np.zeros(self.nq)

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """A random position."""
        return rng.uniform(-np.pi, np.pi, self.nq)

    def checked(self, q: np.ndarray) -> str | None:
        """What is wrong with the coordinates (batch, nq), or None."""
        return None

    @property
    def takes_any(self) -> bool:
        """Whether all coordinates will do: `checked` has nothing to look at."""
        return type(self).checked is Joint.checked

    def inside(self, q: np.ndarray) -> np.ndarray:
        """Whether coordinates (..., nq) are in the joint's domain."""
        return np.ones(np.shape(q)[:-1], bool)

    def numbers(self) -> dict[str, Any]:
        """Its numbers by name, as it was made with them: what `remade` takes. Of classes of users these are their parameters."""
        return {} if type(self).__module__.startswith("linkwork.") else {x: getattr(self, x) for x in self.parameter_names}

    def remade(self, values: Mapping[str, Any]) -> Joint:
        """The same joint with other numbers, checked as they were."""
        known = self.numbers()
        for name in values:
            if name not in known:
                raise ModelError(f"{self!r} has no number {name!r}; it has {', '.join(known) or 'none'}")
        return self._made_with(known, values)

    def _made_with(self, known: Mapping[str, Any], values: Mapping[str, Any]) -> Joint:
        """See `remade`; of a class of a user, whose constructor is not known, numbers of the same shapes."""
        return self.with_parts(**{name: _same_shape(self, name, known[name], x) for name, x in values.items()})

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={np.asarray(getattr(self, name)).tolist()}" for name in self.parameter_names)
        return f"{type(self).__name__}({inside})"


def _same_shape(joint: Joint, name: str, old: Any, given: Any) -> Any:
    try:
        x = reals(given)
    except (TypeError, ValueError):
        x = np.array(np.nan)
    if x.shape != np.shape(old) or not np.isfinite(x).all():
        raise ModelError(f"{joint!r}: {name} must be finite numbers of shape {np.shape(old)}, not {given!r}")
    return read_only(x) if x.ndim else float(x)


def pose_entries(E: SE3) -> list[Any]:
    """The twelve entries of a pose."""
    return [*E.R.flat, *E.p]


def subspace_fit(S: np.ndarray, twist: Vector) -> Vector:
    """The v that fits S v = twist best, by least squares."""
    return solve_spd(S.T @ S, S.T @ twist)
