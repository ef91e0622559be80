"""A force at a point of a body [Sueda 1.9.2]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..errors import LinkworkError, ModelError
from ..kernel.symbol import traced_digest
from ..spatial.gate import point
from ..spatial.scalar import Scalar, Vector, array, dot
from ..spatial.se3 import SE3
from .force import Force, push_at


class PointForce(Force):
    """A given force f at a point of a body, whose direction stays in the world or turns with the body.

    In world axes a constant force has the energy -f . x. In body axes it has none, nor has one that changes with time.

    point   where it acts, in body axes
    force   f: three numbers, or a function of time that returns three; N
    axes    of f: "world" or "body"

    >>> pushed = model.add(lw.PointForce("lower", (1, 0, 0), (0, 0, 5.0)))
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("point", "constant")

    law: Callable[[Scalar], Any] | None

    def __init__(self, body: str, point: Any, force: Any, axes: str = "world", *, name: str = "") -> None:
        owner = self.between(body, name=name)
        if not isinstance(axes, str) or axes not in ("world", "body"):
            raise ModelError(f'{owner}: axes must be "world" or "body", not {axes!r}')
        self.axes = axes
        self.law = force if callable(force) else None
        self.point = _point(owner, "point", point)
        self.constant = np.zeros(3) if self.law else _point(owner, "force", force)
        if self.law:
            for t in (0.0, 0.7):
                _point(owner, f"force(t = {t:g})", _called(owner, self.law, t))

    @cached_property
    def variant(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return (self.axes, traced_digest(lambda t: list(self._at(t[0])), 1) if self.law else None)

    @property
    def same(self) -> tuple[Any, ...]:
        return (type(self), self.axes, id(self.law))

    def _at(self, t: Scalar) -> Vector:
        return array(list(self.law(t))) if self.law else self.constant

    def energy(self, poses: Sequence[SE3]) -> Scalar:
        return 0.0 if self.law or self.axes == "body" else -dot(self.constant, poses[0] @ self.point)

    def function_arguments(self) -> dict[str, Any]:
        """The form of what its function is called with (see `spatial.tape`)."""
        return {"law": (["scalar"], {})}

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        f = self._at(t)
        return [push_at(self.point, f if self.axes == "body" else poses[0].unrotate(f))]


_point = point  # the constructor's argument has the same name


def _called(owner: str, law: Callable[[Scalar], Any], t: float) -> Any:
    try:
        return law(t)
    except LinkworkError:
        raise
    except Exception as error:
        raise ModelError(f"{owner}: force(t) failed for t = {t:g}: {error}") from error
