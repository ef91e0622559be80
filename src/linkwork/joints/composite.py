"""Composite: two joints in a row, with nothing in between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ModelError
from ..spatial.gate import choice
from ..spatial.jet import Jet
from ..spatial.scalar import Vector, stack
from ..spatial.se3 import SE3, Tangent, rigid_parts
from .base import Joint, Pair
from .planar import Translational
from .spherical_exp import SphericalExp


class Composite(Joint):
    """Q(q) = Q1(q1) Q2(q2): S = (Ad S1, S2) by the product rule [Sueda, 2.4.9; errata 004-19]. Nest it for more than two.

    Two groups that have no motion in common have none at any q, since Ad(Q2) maps the second one's motions onto themselves:
    S keeps its rank. With more than two, as with Euler angles, it may lose it.

    between   a constant pose from the first to the second, where they do not meet: Q1 between Q2

    >>> hip = lw.Composite(lw.Revolute((1, 0, 0)), lw.Revolute((0, 1, 0)))
    >>> hip.nv
    2
    """

    between: SE3 | None = None

    def __init__(self, first: Joint, second: Joint, between: SE3 | None = None) -> None:
        for part in (first, second):
            if not isinstance(part, Joint):
                raise ModelError(f"Composite: it joins two joints, not {part!r}")
        if first.nv + second.nv > 6:
            raise ModelError(f"Composite: {first!r} and {second!r} have {first.nv + second.nv} freedoms; a body has six")
        if between is not None:
            self.between = between
            self.between_R, self.between_p = rigid_parts("Composite", "between", between)
        self.first, self.second = first, second
        self.nq, self.nv = first.nq + second.nq, first.nv + second.nv
        self.charted = first.charted or second.charted
        changing = [part for part in (first, second) if part.charted]
        self.recharts_after_steps = bool(changing) and all(part.recharts_after_steps for part in changing)
        self.may_lock = first.may_lock or second.may_lock or not (first.is_group and second.is_group)
        self.bounded = first.bounded or second.bounded
        self.quaternions = (*first.quaternions, *(first.nq + at for at in second.quaternions))
        if not self._independent():
            raise ModelError(f"Composite: the freedoms of {first!r} and {second!r} are not independent: some are the same")

    @property
    def parameter_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return (
            *(f"first_{n}" for n in self.first.parameter_names),
            *(f"second_{n}" for n in self.second.parameter_names),
            *self._own,
        )

    @property
    def _own(self) -> tuple[str, ...]:
        return () if self.between is None else ("between_R", "between_p")

    @property
    def signature(self) -> tuple[Any, ...]:
        return ("Composite", self.first.signature, self.second.signature, *self._own)

    def parameters(self) -> dict[str, Any]:
        first = {f"first_{k}": x for k, x in self.first.parameters().items()}
        second = {f"second_{k}": x for k, x in self.second.parameters().items()}
        return first | second | {name: getattr(self, name) for name in self._own}

    def bound(self, values: dict[str, Any]) -> Joint:
        first = {k.removeprefix("first_"): x for k, x in values.items() if k.startswith("first_")}
        second = {k.removeprefix("second_"): x for k, x in values.items() if k.startswith("second_")}
        between = SE3(R=values["between_R"], p=values["between_p"]) if "between_R" in values else self.between
        return self.with_parts(first=self.first.bound(first), second=self.second.bound(second), between=between)

    def numbers(self) -> dict[str, Any]:
        between = {} if self.between is None else {"between": self.between}
        return _named("first", self.first.numbers()) | _named("second", self.second.numbers()) | between

    @property
    def directions(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*_named("first", self.first.directions), *_named("second", self.second.directions))

    @property
    def pose_lists(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*_named("first", self.first.pose_lists), *_named("second", self.second.pose_lists))

    def _made_with(self, known: Mapping[str, Any], values: Mapping[str, Any]) -> Joint:
        first, second = (
            part.remade({what.removeprefix(f"{place}_"): x for what, x in values.items() if what.startswith(f"{place}_")})
            for place, part in (("first", self.first), ("second", self.second))
        )
        return Composite(first, second, values.get("between", self.between))

    def _independent(self) -> bool:
        """Whether some position has a subspace of full rank."""
        rng = np.random.default_rng(0)
        subspaces = (self.motion(self.random(rng), np.zeros(self.nv)).tangent.S.astype(float) for _ in range(3))
        return not self.nv or any(np.linalg.matrix_rank(S, 1e-9) == self.nv for S in subspaces)

    def _parts(self, q: Vector, v: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        nq, nv = self.first.nq, self.first.nv
        return q[:nq], q[nq:], v[:nv], v[nv:]

    def transform(self, q: Vector) -> SE3:
        A, B = self.first.transform(q[: self.first.nq]), self.second.transform(q[self.first.nq :])
        return A @ B if self.between is None else A @ self.between @ B

    def jets(self, q: Vector, v: Vector) -> Vector:
        q1, q2, v1, v2 = self._parts(q, v)
        jets = [*self.first.jets(q1, v1), *self.second.jets(q2, v2)]
        return stack(*(_widened(x, 0 if k < len(q1) else self.first.nv, self.nv) for k, x in enumerate(jets)))

    def motion(self, q: Vector, v: Vector) -> SE3:
        q1, q2, v1, v2 = self._parts(q, v)
        return self._joined(self.first.motion(q1, v1), self.second.motion(q2, v2))

    def steady_motion(self, q: Vector, v: Vector) -> SE3:
        q1, q2, v1, v2 = self._parts(q, v)
        return self._joined(self.first.steady_motion(q1, v1), self.second.steady_motion(q2, v2))

    def _joined(self, A: SE3, B: SE3) -> SE3:
        """Q1 Q2 with its tangent."""
        A, B = embedded(A, 0, self.nv), embedded(B, self.first.nv, self.nv)
        return A @ B if self.between is None else A @ self.between @ B

    def integrate(self, q: Vector, dv: Vector) -> Vector:
        q1, q2, v1, v2 = self._parts(q, dv)
        return np.concatenate([self.first.integrate(q1, v1), self.second.integrate(q2, v2)])

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        n = self.first.nq
        return np.concatenate([self.first.difference(q0[:n], q1[:n]), self.second.difference(q0[n:], q1[n:])])

    def offset(self, q0: Vector, q1: Vector) -> Vector:
        n = self.first.nq
        return np.concatenate([self.first.offset(q0[:n], q1[:n]), self.second.offset(q0[n:], q1[n:])])

    def bracket(self, a: Vector, b: Vector) -> Vector:
        n = self.first.nv
        return np.concatenate([self.first.bracket(a[:n], b[:n]), self.second.bracket(a[n:], b[n:])])

    @property
    def keeps_velocities(self) -> bool:
        return self.first.keeps_velocities and self.second.keeps_velocities

    def about(self, centre: Vector) -> Composite:
        return self.with_parts(second=self.second.about(centre))

    def bend(self, q: Vector, v: Vector) -> Vector:
        q1, q2, v1, v2 = self._parts(q, v)
        return np.concatenate([self.first.bend(q1, v1), self.second.bend(q2, v2)])

    def advance(self, q: Vector, way: Vector, *velocities: Vector) -> tuple[Vector, ...]:
        q1, q2, _, _ = self._parts(q, way)
        n, moving = self.first.nv, (way, *velocities)
        first = self.first.advance(q1, *(x[:n] for x in moving))
        second = self.second.advance(q2, *(x[n:] for x in moving))
        return tuple(np.concatenate(parts) for parts in zip(first, second, strict=True))

    def seen_from(self, q: Vector, q_new: Vector, v: Vector) -> Vector:
        n, m = self.first.nq, self.first.nv
        parts = (self.first, q[:n], q_new[:n], v[:m]), (self.second, q[n:], q_new[n:], v[m:])
        return np.concatenate([joint.seen_from(*at) for joint, *at in parts])

    def rechart(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        q1, q2, v1, v2 = self._parts(q, v)
        (q1, v1), (q2, v2) = self.first.rechart(q1, v1), self.second.rechart(q2, v2)
        return np.concatenate([q1, q2]), np.concatenate([v1, v2])

    def rechart_together(self, now: Pair, before: Pair) -> tuple[Pair, Pair]:
        (a1, a2, b1, b2), (c1, c2, d1, d2) = self._parts(*now), self._parts(*before)
        first = self.first.rechart_together((a1, b1), (c1, d1))
        second = self.second.rechart_together((a2, b2), (c2, d2))
        (q, v), (q_before, v_before) = (map(np.concatenate, zip(x, y, strict=True)) for x, y in zip(first, second, strict=True))
        return (q, v), (q_before, v_before)

    def one_chart(self) -> Composite:
        first, second = self.first.one_chart(), self.second.one_chart()
        if first is self.first and second is self.second:
            return self
        charted = first.charted or second.charted
        return self.with_parts(first=first, second=second, charted=charted, recharts_after_steps=charted)

    def neutral(self) -> np.ndarray:
        return np.concatenate([self.first.neutral(), self.second.neutral()])

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([self.first.random(rng), self.second.random(rng)])

    def checked(self, q: np.ndarray) -> str | None:
        n = self.first.nq
        return self.first.checked(q[..., :n]) or self.second.checked(q[..., n:])

    @property
    def takes_any(self) -> bool:
        return type(self).checked is Composite.checked and self.first.takes_any and self.second.takes_any

    def inside(self, q: np.ndarray) -> np.ndarray:
        n = self.first.nq
        return self.first.inside(q[..., :n]) & self.second.inside(q[..., n:])

    def __repr__(self) -> str:
        return f"Composite({self.first!r}, {self.second!r}{'' if self.between is None else f', {self.between!r}'})"


def _named(place: str, numbers: Mapping[str, Any] | tuple[str, ...]) -> dict[str, Any]:
    """Numbers of a part by their names in the whole."""
    return {f"{place}_{what}": numbers[what] if isinstance(numbers, Mapping) else what for what in numbers}


class FreeExp(Composite):
    """Free in space with exponential coordinates [Sueda, 2.4.11].

    order "TR": q = (translation, exponential), Q = T R, the origin at the translation;
    order "RT": q = (exponential, translation), Q = R T, the origin at R times the translation.

    >>> lw.FreeExp("RT").nv
    6
    """

    def __init__(self, order: str = "TR", radius: float = 1.5 * np.pi) -> None:
        choice('FreeExp: the order must be "TR" or "RT", not {}', order, ("TR", "RT"), ModelError)
        rotation, translation = SphericalExp(radius), Translational()
        self.order = order
        super().__init__(*((translation, rotation) if order == "TR" else (rotation, translation)))

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> FreeExp:
        """The joint that a file says: made anew."""
        rotation = state["second" if state["order"] == "TR" else "first"]
        if not isinstance(rotation, SphericalExp):
            raise ModelError(f"FreeExp: it turns by a SphericalExp, not {rotation!r}")
        return cls(state["order"], rotation.radius)

    def __repr__(self) -> str:
        return f"FreeExp({self.order!r})"


def embedded(E: SE3, start: int, total: int) -> SE3:
    """A transform whose columns are those from `start` on, of `total`."""
    t = E.tangent
    wide = []
    for columns in (t.S, t.S_dot):
        padded = np.array(np.zeros((6, total)), dtype=object)
        padded[:, start : start + columns.shape[1]] = columns
        wide.append(padded)
    return E.with_tangent(Tangent(wide[0], t.phi, t.bias, wide[1]))


def _widened(x: Any, start: int, total: int) -> Any:
    if not isinstance(x, Jet):
        return x
    before, after = (0.0,) * start, (0.0,) * (total - start - len(x.grad))
    return Jet(x.x, before + x.grad + after, x.rate, x.bias, before + x.grad_rate + after)
