"""A four-bar linkage as a joint of one coordinate: two links hold the body, as the cruciate ligaments hold the shank.

In the plane x z of the joint's frames, links lead from points a, b of the inboard body to points c, d of the body. At q = 0 both
frames agree, so the links have lengths |c - a| and |d - b|. With the turn R by q about y, the unit vector e along the first link
and w = a - b + R (d - c),

    p = a + l_a e - R c,       |w + l_a e| = l_b:       w . e = C = (l_b^2 - l_a^2 - |w|^2) / (2 l_a),
    e = (C w + s sqrt(|w|^2 - C^2) w') / |w|^2,         w' = w turned by a right angle, s = 1 or -1 as at q = 0.

Both links are in line with w where the root vanishes: there the motion ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..spatial.gate import reals
from ..spatial.scalar import Scalar, Vector, dot, stack
from ..spatial.se3 import SE3
from .base import Joint
from .formula import FormulaJoint

STEP = 0.01  # rad, of the search for the ends
MARGIN = 1e-6  # rad, to both ends


class FourBar(FormulaJoint):
    """Q(q) = shift by p(q) in the plane x z, then turn by q about y; see the module's text.

    parent, child   two points (x, z) each: where the first and the second link are held by the inboard body and by the body

    >>> knee = lw.FourBar([(-0.012, 0.020), (0.008, 0.010)], [(0.014, -0.010), (-0.018, -0.014)])
    >>> knee.nv
    1
    """

    nq = nv = 1
    parameter_names: ClassVar[tuple[str, ...]] = ("a", "b", "c", "d", "lengths", "sense")

    def __init__(self, parent: Any, child: Any) -> None:
        (self.a, self.b), (self.c, self.d) = _pair("parent", parent), _pair("child", child)
        self.lengths = np.array([np.linalg.norm(self.c - self.a), np.linalg.norm(self.d - self.b)])
        if not np.all(self.lengths > 0):
            raise ModelError("FourBar: a link has no length; its ends on both bodies are the same point")
        w = self.a - self.b + self.d - self.c
        self.sense = float(np.sign(np.dot(_across(w), self.c - self.a)))
        if not self._room(0.0) > 0.0 or self.sense == 0.0:
            raise ModelError("FourBar: its links are in line at q = 0, where it does not know which way to go; start elsewhere")
        self._take_region("FourBar", [(self._end(-1.0), self._end(1.0))], None)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> FourBar:
        """The joint that a file says: made anew of its points."""
        return cls([state["a"], state["b"]], [state["c"], state["d"]])

    def transform(self, q: Vector) -> SE3:
        c, s = np.cos(q[0]), np.sin(q[0])
        w = self.a - self.b + _turned(c, s, self.d - self.c)
        square = dot(w, w)
        C = self._cosine(square)
        root = np.sqrt(square - C * C) * self.sense
        along = (C * w + root * _across(w)) * (self.lengths[0] / square)
        p = self.a + along - _turned(c, s, self.c)
        return SE3(p=stack(p[0], 0.0, p[1])) @ SE3.rot_y(q[0])

    def _cosine(self, square: Scalar) -> Scalar:
        first, second = self.lengths[0], self.lengths[1]
        return (second * second - first * first - square) / (2.0 * first)

    def _room(self, angle: float) -> float:
        """|w|^2 - C^2, above zero where the linkage closes."""
        w = self.a - self.b + _turned(np.cos(angle), np.sin(angle), self.d - self.c)
        square = float(dot(w, w))
        return square - self._cosine(square) ** 2

    def _end(self, sense: float) -> float | None:
        """The angle at which the links come in line on one side; None if they never do."""
        inside = 0.0
        while self._room(inside + sense * STEP) > 0.0:
            inside += sense * STEP
            if abs(inside) > 2.0 * np.pi:
                return None
        outside = inside + sense * STEP
        for _ in range(60):
            middle = 0.5 * (inside + outside)
            inside, outside = (middle, outside) if self._room(middle) > 0.0 else (inside, middle)
        return inside - sense * MARGIN

    def numbers(self) -> dict[str, Any]:
        return {"parent": np.stack([self.a, self.b]), "child": np.stack([self.c, self.d])}

    def _made_with(self, known: Mapping[str, Any], values: Mapping[str, Any]) -> Joint:
        return FourBar(**{**known, **values})

    def __repr__(self) -> str:
        return f"FourBar({[self.a.tolist(), self.b.tolist()]}, {[self.c.tolist(), self.d.tolist()]})"


def _turned(c: Scalar, s: Scalar, x: Vector) -> Vector:
    """A point (x, z) turned about y."""
    return stack(c * x[0] + s * x[1], c * x[1] - s * x[0])


def _across(w: Vector) -> Vector:
    return stack(-w[1], w[0])


def _pair(what: str, given: Any) -> tuple[np.ndarray, np.ndarray]:
    try:
        points = reals(given)
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.shape != (2, 2) or not np.all(np.isfinite(points)):
        raise ModelError(f"FourBar: {what} must be two points (x, z), not {given!r}")
    return points[0], points[1]
