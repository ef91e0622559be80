"""Higher pairs: two bodies that touch at a point, with a point, a curve or a surface each [Si & Guenter, §5].

With frames F_a(u) that run over what the inboard body carries and F_b(w) over what the body carries (`geometry/charts.py`),

    Q(q) = F_a(u) T X F_b(w)^-1,       q = (u, coordinates of T, w):

the frames share their origin and are aligned, but for a joint T that turns about it and a constant turn X. With the moving
part F' and the constant part C of each frame F = F' C, constants are collected into one pose, or one on each side of T.

If T turns about the normal of a surface, its frame may turn as well: coordinates of spheres and ellipsoids then change to those
of a chart whose poles are elsewhere, F_a(u) = F_a(u') Rot_z(turn), and T takes up the turn. If T does not, the frames are the
joint, and only one chart has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..geometry.charts import NEAR_POLE, Chart, as_chart, is_near_pole, is_same_chart, other_chart
from ..spatial import quaternion
from ..spatial.scalar import Scalar, Vector, array, cross, dot, stack
from ..spatial.se3 import SE3
from .axis import number
from .base import Joint, Pair
from .composite import Composite
from .fit import coordinates_at, misfit
from .fixed import Fixed
from .revolute import Revolute
from .running import Carrying, Running
from .spherical import Spherical
from .spherical_euler import nearest_turn, picked

WORDS = ("point", "curve", "surface")
QUATERNION = -1  # see `_spin_of`
ROUNDING = 1e-15
TOUCHING = 1e-7  # m, rad


class HigherPair(Composite):
    """Two charts, aligned but for the joint and the constant turn between them. Its families say which.

    charts   whether surfaces with poles have a second chart, if `turning` can take up the turns of their frames
    """

    def __init__(self, a: Chart, b: Chart, turning: Joint | None, constant: np.ndarray, charts: bool = True) -> None:
        spin = _spin_of(turning)
        self.spin = QUATERNION if spin is None else spin  # which coordinate of T takes up turns, if some chart changes
        if not isinstance(charts, bool):
            raise ModelError(f"{type(self).__name__}: charts must be True or False, not {charts!r}")
        if charts and spin is not None:
            a, b = a.covered(), b.covered()
        self.a, self.b = a, b
        self.away = -1.0 if constant[2, 2] > 0.0 else 1.0  # how T takes up turns of the frame of b
        X, back = SE3(R=constant), b.constant.inverse()
        first = Running(a) if a.size else Fixed()
        between = X @ back
        if turning is None:
            between = a.constant @ between
        else:
            first = Composite(first, turning, _pose(a.constant))
        second = Carrying(b) if b.size else Fixed()
        try:
            super().__init__(first, second, _pose(between))
        except ModelError as error:
            raise ModelError(f"{self!r}: its {first.nv + b.size} coordinates do not move it independently") from error
        self.charted = self.recharts_after_steps = a.is_covered or b.is_covered

    is_record: ClassVar[bool] = True

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> HigherPair:
        """The joint that a file says: its parts as a `Composite`, made anew, and charts that are those of its parts."""
        a, b, first, second = (state[name] for name in ("a", "b", "first", "second"))
        whole = vars(Composite(first, second, state.get("between")))
        covered = [x.chart.is_covered for x in (_running(first, a), _running(second, b)) if x is not None]
        spin = _spin_of(first.second) if isinstance(first, Composite) else None
        own = {"a": a, "b": b, "spin": QUATERNION if spin is None else spin, "charted": any(covered)}
        own |= {"recharts_after_steps": any(covered)}
        known = whole | own | {name: state[name] for name in ("may_part", "away") if name in state}
        if set(state) != set(known) or state["away"] not in (-1.0, 1.0) or type(state.get("may_part", True)) is not bool:
            raise ModelError(f"{cls.__name__}: it has other attributes than a pair of {first!r} and {second!r}")
        if any(covered) and spin is None:
            raise ModelError(f"{cls.__name__}: {first!r} does not turn about the normal, and its surfaces change their charts")
        for name in ("spin", "charted", "recharts_after_steps", "nq", "nv", "may_lock", "bounded", "quaternions"):
            if state[name] != known[name] or type(state[name]) is not type(known[name]):
                raise ModelError(f"{cls.__name__}: {name} = {state[name]!r}, but its parts make it {known[name]!r}")
        pair = object.__new__(cls)
        vars(pair).update({name: known[name] for name in state})
        return pair

    @property
    def signature(self) -> tuple[Any, ...]:
        found = super().signature
        return (type(self).__name__, self.away, *found) if self.charted else found

    def numbers(self) -> dict[str, Any]:
        """None: what its charts make of the shapes (radii among constants, poses collected into one) is not undone."""
        return {}

    # --- charts ---------------------------------------------------------------------------------------------------------
    def rechart(self, q: Vector, v: Vector) -> Pair:
        if not self.charted:
            return q, v
        q, (v,) = self._switched(q, v)
        return q, v

    def rechart_together(self, now: Pair, before: Pair) -> tuple[Pair, Pair]:
        (q, v), (p, u) = now, before
        for at, sign in self._covered():
            far = is_near_pole(q[at : at + 2])
            (q, (v,)), (p, (u,)) = self._changed(at, sign, far, q, v), self._changed(at, sign, far, p, u, near=q)
        return (q, v), (p, u)

    def advance(self, q: Vector, way: Vector, *velocities: Vector) -> tuple[Vector, ...]:
        if not self.charted:
            return super().advance(q, way, *velocities)
        q_new, moved = self._switched(self.integrate(q, way), *velocities)
        return q_new, *moved

    @property
    def keeps_velocities(self) -> bool:
        return not self.charted

    # --- contact --------------------------------------------------------------------------------------------------------
    def relative_curvature(self, q: Vector) -> Scalar:
        """det K / (|K|^2 / 2), in [-1, 1], of two surfaces that spin: K is the difference of their curvatures.

        A rate x of u_a moves the point by T_a x across the normal and turns the normal by W_a x, a rate y of u_b likewise;
        K = W_a T_a^-1 - W_b T_b^-1. Where det K = 0 some rates x, y move the point of contact, and not the body: contact is lost.
        """
        S = self.motion(q, np.zeros(self.nv)).tangent.S
        assert isinstance(self.second, Running)
        b = self.second.chart.frame(q[self.nq - 2 :])
        columns = (S[:, 0], S[:, 1], S[:, self.nv - 2], S[:, self.nv - 1])
        turns, moves = zip(*((b.R.T @ s[:3], b.R.T @ (s[3:] + cross(s[:3], b.p))) for s in columns), strict=True)

        def curvature(k: int) -> np.ndarray:
            (p, r), (s, t) = ([moves[k][i], moves[k + 1][i]] for i in range(2))
            adjoint = array([[t, -r], [-s, p]])
            W = array([[turns[k][i], turns[k + 1][i]] for i in range(2)])
            return (W @ adjoint) * (1.0 / (p * t - r * s))

        K = curvature(0) - curvature(2)
        return 2.0 * (K[0, 0] * K[1, 1] - K[0, 1] * K[1, 0]) / dot(K.reshape(-1), K.reshape(-1))

    def one_chart(self) -> HigherPair:
        if not self.charted:
            return self
        first, second = self.first.one_chart(), self.second.one_chart()
        a, b = (x if x.single is None else x.single for x in (self.a, self.b))
        return self.with_parts(first=first, second=second, a=a, b=b, charted=False, recharts_after_steps=False)

    def _covered(self) -> list[tuple[int, float]]:
        """Where longitudes of surfaces with two charts are among coordinates (and velocities: those of b count from the end), and
        the sign with which T takes up turns of their frames."""
        return [*([(0, 1.0)] if self.a.is_covered else []), *([(self.nq - 2, self.away)] if self.b.is_covered else [])]

    def _switched(self, q: Vector, *velocities: Vector) -> tuple[Vector, tuple[Vector, ...]]:
        """Coordinates away from poles, and velocities as they are seen there."""
        for at, sign in self._covered():
            q, velocities = self._changed(at, sign, is_near_pole(q[at : at + 2]), q, *velocities)
        return q, velocities

    def _changed(
        self, at: int, sign: float, far: Scalar, q: Vector, *velocities: Vector, near: Vector | None = None
    ) -> tuple[Vector, tuple[Vector, ...]]:
        """Coordinates and velocities in the other chart of the surface whose longitude is q[at], where `far`; else the same.

        near   coordinates in that chart: angles are those that lie nearest to them
        """
        u = picked(far, q[at : at + 2], stack(*NEAR_POLE))
        in_v = at if at == 0 else self.nv - 2
        new, rates = other_chart(u, *(v[in_v : in_v + 2] for v in velocities))
        longitude, latitude, turn = new
        q_new = self._turned(q, sign, turn)
        if near is not None:
            longitude = nearest_turn(longitude, near[at])
            if self.spin != QUATERNION:
                k = self.a.size + self.spin
                q_new = _put(q_new, k, stack(nearest_turn(q_new[k], near[k])))
        q_new = _put(q_new, at, stack(longitude, latitude))
        moved = (
            _put(self._turning(q, v, sign, turn, rate[2]), in_v, rate[:2]) for v, rate in zip(velocities, rates, strict=True)
        )
        return picked(far, q_new, q), tuple(picked(far, x, v) for x, v in zip(moved, velocities, strict=True))

    def _turned(self, q: Vector, sign: float, turn: Scalar) -> Vector:
        """Coordinates where T turns further about the normal."""
        k = self.a.size
        if self.spin != QUATERNION:
            return _put(q, k + self.spin, stack(q[k + self.spin] + sign * turn))
        half = stack(np.cos(0.5 * turn), 0.0, 0.0, sign * np.sin(0.5 * turn))
        old = q[k : k + 4]
        return _put(q, k, quaternion.multiply(half, old) if self.a.size else quaternion.multiply(old, half))

    def _turning(self, q: Vector, v: Vector, sign: float, turn: Scalar, rate: Scalar) -> Vector:
        """Velocities where T turns further about the normal, at this rate."""
        k = self.a.size
        if self.spin != QUATERNION:
            return _put(v, k + self.spin, stack(v[k + self.spin] + sign * rate))
        w = v[k : k + 3]
        if self.a.size:  # about the normal of a, in axes of T
            return _put(v, k, w + quaternion.to_rotation(q[k : k + 4])[2] * (sign * rate))
        c, s = np.cos(turn), sign * np.sin(turn)
        return _put(v, k, stack(c * w[0] + s * w[1], c * w[1] - s * w[0], w[2] + sign * rate))

    def coordinates_at(self, pose: SE3) -> np.ndarray:
        """The coordinates at which the body has this pose in the inboard frame; raises where the two do not touch there."""
        q = coordinates_at(self, pose)
        miss = misfit(self, pose, q)
        turn, shift = (float(np.linalg.norm(x)) for x in (miss[:3], miss[3:]))
        if not (turn <= TOUCHING and shift <= TOUCHING):
            raise ModelError(
                f"{self!r}: they do not touch as declared at this pose; the nearest pose at which they do is {shift:.3g} m and "
                f"{np.degrees(turn):.3g} degrees away"
            )
        return q

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.a.what}, {self.b.what})"


def _running(part: Any, chart: Any) -> Running | None:
    """The part of a pair that runs over a chart, which must be this one; None of a point."""
    found = part.first if isinstance(part, Composite) else part
    if not isinstance(chart, Chart) or not isinstance(found, Running if chart.size else Fixed):
        raise ModelError(f"a pair runs over its charts, not by {part!r}")
    if isinstance(found, Running) and not is_same_chart(found.chart, chart):
        raise ModelError(f"a pair runs over {chart.what}, not over another {found.chart.what}")
    return found if isinstance(found, Running) else None


def _spin_of(turning: Joint | None) -> int | None:
    """Which coordinate of T turns about the normal; QUATERNION where all of them do, None where none does."""
    if isinstance(turning, Spherical):
        return QUATERNION
    parts = (turning.first, turning.second) if isinstance(turning, Composite) else (turning,)
    for k, part in enumerate(parts):
        if isinstance(part, Revolute) and np.array_equal(part.axis, (0.0, 0.0, 1.0)):
            return k
    return None


def _put(x: Vector, at: int, part: Vector) -> Vector:
    """The vector with a part replaced from a place on."""
    return stack(*x[:at], *part, *x[at + len(part) :])


def _pose(E: SE3) -> SE3 | None:
    """A constant pose, in as few moves as can be; nothing for the identity."""
    R, p = np.asarray(E.R, float) + 0.0, np.asarray(E.p, float) + 0.0
    return None if np.array_equal(R, np.eye(3)) and not p.any() else SE3(R=R, p=p)


def chart_pair(owner: str, a: Any, b: Any, sizes: set[tuple[int, int]]) -> tuple[Chart, Chart]:
    """Of what both bodies carry, if their numbers of coordinates (0 of a point, 1 of a curve, 2 of a surface) are allowed."""
    pair = as_chart(owner, a), as_chart(owner, b)
    if (pair[0].size, pair[1].size) not in sizes:
        needed = " or ".join(sorted({f"a {WORDS[m]} and a {WORDS[n]}" for m, n in sizes}))
        raise ModelError(f"{owner}: it needs {needed}, not a {WORDS[pair[0].size]} and a {WORDS[pair[1].size]}")
    return pair


def chosen(owner: str, what: str, word: Any, kinds: Mapping[str, Any]) -> Any:
    """What a word stands for."""
    if not isinstance(word, str) or word not in kinds:
        raise ModelError(f"{owner}: {what} must be {' or '.join(map(repr, kinds))}, not {word!r}")
    return kinds[word]


def turn(owner: str, axis: int, angle: Any) -> np.ndarray:
    """The matrix of a constant turn about a coordinate axis; right angles are exact."""
    x = number(angle, owner, "angle")
    c, s = (round(e) if abs(e - round(e)) < ROUNDING else e for e in (float(np.cos(x)), float(np.sin(x))))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = -s, s
    return R + 0.0
