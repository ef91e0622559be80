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
from ..spatial.gate import ROTATION_ERROR, known_keywords
from ..spatial.scalar import Vector, cross, dot, stack, where
from ..spatial.se3 import SE3, Tangent
from ..spatial.stage import Rotation
from .base import Joint, pose_entries
from .formula import FormulaJoint
from .formula_checks import check_formula

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
    ) -> None:
        owner = f"joint {name!r}"
        if not callable(transform):
            raise ModelError(f"{owner}: transform must be a function of q, not {type(transform).__name__}")
        if not isinstance(nv, int) or isinstance(nv, bool) or not 1 <= nv <= 6:
            raise ModelError(f"{owner}: nv must be an integer from 1 to 6, not {nv!r}")
        self.nq = self.nv = nv
        self.name = name
        self._region = (domain, periodic)
        self._given = Functions(owner, {"transform": transform}, parameters, RESERVED)
        self._take_region(owner, domain, periodic)
        check_formula(self, owner)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> CustomJoint:
        """The joint that a file says: made anew of its function."""
        given, (domain, periodic) = state["_given"], state["_region"]
        return cls(given.functions["transform"], state["nv"], state["name"], given.values, domain, periodic)

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
        transform = self._given.functions["transform"]
        assert transform is not None
        return CustomJoint(transform, self.nv, self.name, {**known, **values}, *self._region)

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

    @cached_property
    def signature(self) -> tuple[Any, ...]:
        """A digest of the traced transform: the same function in another process, or of other numbers, has the same code."""
        return ("custom", self.nq, self.cyclic, self._digest())

    def _digest(self) -> str:
        """Found once for all functions that are known to compute the same."""
        closed = closed_key(self._given.functions["transform"])
        if closed is None:
            return self._traced_digest()
        key = (closed, self.nq, self._given.shapes)
        if key not in _digests:
            _digests[key] = self._traced_digest()
        return _digests[key]

    def _traced_digest(self) -> str:
        given = self._given.parameters()

        def entries(q: Vector, *values: Vector) -> list[Any]:
            return pose_entries(self._given.bound(shaped(given, values)).call("transform", q))

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
) -> CustomJoint:
    """A joint from its transform alone.

    transform    transform(q, ...): the pose of the child frame in the inboard frame, of coordinates (nv,); it is handed the
                 parameters that it has arguments for
    parameters   numbers, arrays and tables by name; joints that differ only in these share machine code
    domain       (least, largest) of all coordinates, or a pair of each; None is no bound. Random positions keep to it; a run that
                 leaves it is stopped
    periodic     after how much the transform is the same again, of all coordinates or of each: a length, True for 2 pi, None for
                 never. Differences then go the short way round; coordinates count the turns

    >>> helix = lw.joint(lambda q, pitch: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0, 0, pitch * q[0])), nv=1, parameters={"pitch": 0.02})
    """
    return CustomJoint(transform, nv, name, parameters, domain, periodic)
