"""Joints of your own: a function from coordinates to a transform is all that is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ModelError
from ..kernel.closed import closed_key
from ..kernel.symbol import traced_digest
from ..spatial.functions import Functions, shaped
from ..spatial.gate import ROTATION_ERROR, known_keywords, word
from ..spatial.scalar import Scalar, Vector, cross, dot, stack, where
from ..spatial.se3 import SE3, Tangent
from ..spatial.stage import Rotation
from .base import Joint, Pair, pose_entries, subspace_fit
from .formula import FormulaJoint
from .formula_checks import check_charts, check_formula
from .spherical_euler import picked

RESERVED = {"q": "the coordinates", "period": "the periods of the coordinates"}
_digests: dict[Any, str] = {}  # by what a function computes, see `closed_key`


class CustomJoint(FormulaJoint):
    """A joint given by `transform(q, ...) -> SE3` of nv coordinates; subspace, bias and constraint rows are derived."""

    is_linear_in_numbers = True

    def __init__(
        self,
        transform: Callable[..., SE3],
        nv: int,
        name: str = "custom",
        parameters: Mapping[str, Any] | None = None,
        domain: Any = None,
        periodic: Any = None,
        charts: Any = None,
    ) -> None:
        owner = f"joint {word('joint', 'its name', name)!r}"
        if not callable(transform):
            raise ModelError(f"{owner}: transform must be a function of q, not {type(transform).__name__}")
        if not isinstance(nv, int) or isinstance(nv, bool) or not 1 <= nv <= 6:
            raise ModelError(f"{owner}: nv must be an integer from 1 to 6, not {nv!r}")
        self.nq = self.nv = nv
        self.name = name
        self._region = (domain, periodic)
        self._given = Functions(owner, {"transform": transform, **_charts(owner, charts, domain)}, parameters, RESERVED)
        self._take_region(owner, domain, periodic)
        check_formula(self, owner)
        if charts is not None:
            self.charted = self.recharts_after_steps = True
            check_charts(self, owner)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> CustomJoint:
        """The joint that a file says: made anew of its function."""
        given, (domain, periodic) = state["_given"], state["_region"]
        transform, charts = _split(given.functions)
        return cls(transform, state["nv"], state["name"], given.values, domain, periodic, charts)

    # --- parameters -------------------------------------------------------------------------------------------------------
    @property
    def parameter_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.parameters())

    def parameters(self) -> dict[str, Any]:
        return self._given.parameters() | self._period()

    def bound(self, values: dict[str, Any]) -> Joint:
        own = {name: x for name, x in values.items() if name != "period"}
        given = {"_given": self._given.bound(own)} if own else {}
        return super().bound(given | {name: x for name, x in values.items() if name == "period"})

    def numbers(self) -> dict[str, Any]:
        return dict(self._given.values)

    def _made_with(self, known: Mapping[str, Any], values: Mapping[str, Any]) -> Joint:
        transform, charts = _split(self._given.functions)
        return CustomJoint(transform, self.nv, self.name, {**known, **values}, *self._region, charts)

    # --- what it is -------------------------------------------------------------------------------------------------------
    def transform(self, q: Vector) -> SE3:
        return self._given.call("transform", q)

    def motion(self, q: Vector, v: Vector) -> SE3:
        """The transform with its tangent; where a matrix of the user's is no rotation, the bias is no number."""
        E = super().motion(q, v)
        if not any(isinstance(stage, Rotation) for stage in E.stages):
            return E
        x, y, z = (E.R[:, k] for k in range(3))
        off = np.abs(dot(x, x) - 1.0) + np.abs(dot(y, y) - 1.0) + np.abs(dot(x, y)) + np.abs(dot(cross(x, y), z) - 1.0)
        t, wrong = E.tangent, where(off < ROTATION_ERROR, 0.0, np.nan)
        return E.with_tangent(Tangent(t.S, t.phi, stack(t.bias[0] + wrong, *t.bias[1:]), t.S_dot))

    # --- charts -----------------------------------------------------------------------------------------------------------
    def leaves(self, q: Vector) -> Scalar:
        """Whether the coordinates are to be replaced."""
        return self._given.vector("leave", q)[0] > 0.0

    def other(self, q: Vector) -> Vector:
        """The coordinates of the same pose in the other chart."""
        return self._given.vector("other", q)

    def _replaced(self, far: Scalar, q: Vector, *velocities: Vector) -> tuple[Vector, tuple[Vector, ...]]:
        """Coordinates in the other chart, and velocities of the same twists there, where `far`; else the same."""
        new = self.other(q)
        S, S_new = (self.motion(x, np.zeros(self.nv)).tangent.S for x in (q, new))
        moved = (subspace_fit(S_new, S @ v) for v in velocities)
        return picked(far, new, q), tuple(picked(far, a, b) for a, b in zip(moved, velocities, strict=True))

    def rechart(self, q: Vector, v: Vector) -> Pair:
        if not self.charted:
            return q, v
        q_new, (v_new,) = self._replaced(self.leaves(q), q, v)
        return q_new, v_new

    def rechart_together(self, now: Pair, before: Pair) -> tuple[Pair, Pair]:
        if not self.charted:
            return now, before
        far = self.leaves(now[0])
        (q, (v,)), (q_old, (v_old,)) = (self._replaced(far, *pair) for pair in (now, before))
        near = q + self.difference(q, q_old)  # of coordinates with a period, the nearest
        return (q, v), (picked(far, near, q_old), v_old)

    def advance(self, q: Vector, way: Vector, *velocities: Vector) -> tuple[Vector, ...]:
        if not self.charted:
            return super().advance(q, way, *velocities)
        reached = self.integrate(q, way)
        q_new, moved = self._replaced(self.leaves(reached), reached, *velocities)
        return q_new, *moved

    def one_chart(self) -> Joint:
        if not self.charted:
            return self
        transform, _ = _split(self._given.functions)
        alone = self._given.with_parts(functions={"transform": transform})
        own = {name: x for name, x in self._given.values.items() if alone.mention(name)}
        return CustomJoint(transform, self.nv, self.name, own, *self._region)

    @cached_property
    def signature(self) -> tuple[Any, ...]:
        """A digest of the traced functions: the same in another process, or of other numbers, have the same code."""
        return ("custom", self.nq, self.cyclic, self._digest())

    def _digest(self) -> str:
        """Found once for all functions that are known to compute the same."""
        closed = [closed_key(f) for f in self._given.functions.values()]
        if None in closed:
            return self._traced_digest()
        key = (*closed, self.nq, self._given.shapes)
        if key not in _digests:
            _digests[key] = self._traced_digest()
        return _digests[key]

    def _traced_digest(self) -> str:
        given = self._given.parameters()

        def entries(q: Vector, *values: Vector) -> list[Any]:
            bound = self._given.bound(shaped(given, values))
            charts = [*bound.vector("leave", q), *bound.vector("other", q)] if self.charted else []
            return [*pose_entries(bound.call("transform", q)), *charts]

        return traced_digest(entries, self.nq, *(x.size for x in given.values()))

    def __repr__(self) -> str:
        return f"joint({self.name!r}, nv={self.nv})"


@known_keywords
def joint(
    transform: Callable[..., SE3],
    nv: int,
    name: str = "custom",
    *,
    parameters: Mapping[str, Any] | None = None,
    domain: Any = None,
    periodic: Any = None,
    charts: Any = None,
) -> CustomJoint:
    """A joint from its transform alone.

    transform    transform(q, ...): the pose of the child frame in the inboard frame, of coordinates (nv,); it is handed the
                 parameters that it has arguments for
    parameters   numbers, arrays and tables by name; joints that differ only in these share machine code
    domain       (least, largest) of all coordinates, or a pair of each; None is no bound. Random positions keep to it; a run that
                 leaves it is stopped
    periodic     after how much the transform is the same again, of all coordinates or of each: a length, True for 2 pi, None for
                 never. Differences then go the short way round; coordinates count the turns
    charts       (leave, other), functions of q as `transform` is: where leave(q) > 0, coordinates are replaced by other(q), with
                 which the pose is the same, before they come to where they move the body no longer independently; `transform`
                 knows charts by the coordinates themselves (a latitude with 4 pi added, say)

    >>> helix = lw.joint(lambda q, pitch: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0, 0, pitch * q[0])), nv=1, parameters={"pitch": 0.02})
    """
    return CustomJoint(transform, nv, name, parameters, domain, periodic, charts)


def _split(functions: Mapping[str, Any]) -> tuple[Any, Any]:
    """The transform among the functions of a joint, and its charts as they were given."""
    return functions["transform"], (functions["leave"], functions["other"]) if "leave" in functions else None


def _charts(owner: str, charts: Any, domain: Any) -> dict[str, Any]:
    """Two functions by name, or none."""
    if charts is None:
        return {}
    pair = tuple(charts) if isinstance(charts, (tuple, list)) else ()
    if len(pair) != 2 or not all(map(callable, pair)):
        raise ModelError(f"{owner}: charts must be two functions of q, (leave, other), not {charts!r}")
    if domain is not None:
        raise ModelError(f"{owner}: a joint whose coordinates are replaced has no domain; give charts or domain")
    return dict(zip(("leave", "other"), pair, strict=True))
