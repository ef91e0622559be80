"""Higher pairs: two bodies that touch at a point, with a point, a curve or a surface each [Si & Guenter, §5].

With frames F_a(u) that run over what the inboard body carries and F_b(w) over what the body carries (`geometry/charts.py`),

    Q(q) = F_a(u) T X F_b(w)^-1,       q = (u, coordinates of T, w):

the frames share their origin and are aligned, but for a joint T that turns about it and a constant turn X. With the moving
part F' and the constant part C of each frame F = F' C, constants are collected into one pose, or one on each side of T.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ModelError
from ..geometry.charts import Chart, as_chart
from ..spatial.se3 import SE3
from .axis import number
from .base import Joint
from .composite import Composite
from .fit import coordinates_at, misfit
from .fixed import Fixed
from .running import Carrying, Running

WORDS = ("point", "curve", "surface")
ROUNDING = 1e-15
TOUCHING = 1e-7  # m, rad


class HigherPair(Composite):
    """Two charts, aligned but for the joint and the constant turn between them. Its families say which."""

    def __init__(self, a: Chart, b: Chart, turning: Joint | None, constant: np.ndarray) -> None:
        self.a, self.b = a, b
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


def _pose(E: SE3) -> SE3 | None:
    """A constant pose, in as few moves as can be; nothing for the identity."""
    R, p = np.asarray(E.R, float) + 0.0, np.asarray(E.p, float) + 0.0
    return None if np.array_equal(R, np.eye(3)) and not p.any() else SE3(R=R, p=p)


def charts(owner: str, a: Any, b: Any, sizes: set[tuple[int, int]]) -> tuple[Chart, Chart]:
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
