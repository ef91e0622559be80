"""Spline joints as published: their exponentials do not turn by less than 1e-9 rad.

Near the knots of a spline the last of its screws is as small as that, for a moment. What is left out shows in the last digits of
steps of a fixed length, and in the lengths that ode45 chooses: there the published energies rest on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...joints import Joint, SplineCurve, SplineSurface
from ...joints.spline_curve import turned
from ...joints.spline_surface import posed
from ...spatial.dual import held
from ...spatial.jet import Jet
from ...spatial.scalar import Scalar, Vector, array, stack, where
from ...spatial.se3 import SE3
from .slips import Slip

THRESHOLD = 1e-9  # rad


def _turns(x: Scalar) -> Scalar:
    """Whether the original turns by an angle."""
    return np.abs(held(x)) > THRESHOLD


class PublishedSplineCurve(Slip, SplineCurve):
    """Screws by less than 1e-9 rad are shifts, without their turn."""

    def factor(self, screw: Vector, s: Scalar) -> SE3:
        E, x = turned(screw, s), s.x if isinstance(s, Jet) else s
        turns, unit = _turns(x * screw[3]), np.eye(3)
        R = array([[where(turns, E.R[i, j], unit[i, j]) for j in range(3)] for i in range(3)])
        p = stack(*(where(turns, a, b * x) for a, b in zip(E.p, screw[5:], strict=True)))
        return SE3(R=R, p=p).with_tangent(E.carried)

    def right(self) -> Joint:
        return SplineCurve(self.frames, cyclic=any(self.cyclic), basis=self.basis)


class PublishedSplineSurface(Slip, SplineSurface):
    """Angles of less than 1e-9 rad are none."""

    def pose(self, f: Vector) -> SE3:
        def kept(x: Any) -> Any:
            if isinstance(x, Jet):
                return Jet(kept(x.x), x.grad, x.rate, x.bias, x.grad_rate)
            return where(_turns(x), x, 0.0)

        return posed(stack(*f[:3], *map(kept, f[3:])))

    def right(self) -> Joint:
        return SplineSurface(self.values, domain=(None, None))
