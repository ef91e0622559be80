"""SplineSurface: a body carried over a tensor-product spline of one, two or three parameters.

Six grids of control values give a shift and three angles as functions of the coordinates [Sueda, 2.4.13, Eqs. 2.67 to 2.71],

    f_k(q) = sum_ij w_i(u_1) C_kij w_j(u_2),      Q(q) = T(f_1, f_2, f_3) Rx(f_4) Ry(f_5) Rz(f_6),

so that S follows by the product rule from the slopes of f, S_dot from its second derivatives [Alg. 4]. On each
patch f is a polynomial, whose coefficients are a row of the table: derivatives come by Horner's rule, axis by axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..spatial.gate import flags, reals
from ..spatial.jet import Jet
from ..spatial.kinds import explained
from ..spatial.scalar import Scalar, Vector, dot, stack
from ..spatial.se3 import SE3
from ..spatial.table import Table
from .base import Joint
from .formula import FormulaJoint
from .formula_checks import check_formula
from .spline_basis import SplineBasis, basis_of, taylor

Orders = tuple[int, ...]  # of the derivative along every axis


class SplineSurface(FormulaJoint):
    """One to three coordinates over a spline of control values, each from 0 to the number of segments along its axis.

    values   (6, n), (6, n, m) or (6, n, m, l): shift along x, y, z and angles about x, y, z; any numbers of them
    cyclic   whether the spline is closed, along all axes or along each; then the coordinate has the number of segments as period
    basis    "bspline": with two continuous derivatives;  "catmull-rom", "bezier";  or a `SplineBasis`
    domain   of the coordinates, if not all segments of open axes; beyond the ends the last segments go on

    >>> values = np.zeros((6, 5, 5))
    >>> values[3], values[4] = np.meshgrid(np.arange(5.0), np.arange(5.0), indexing="ij")
    >>> lw.SplineSurface(values).nv
    2
    """

    is_linear_in_numbers = True
    own_parameters: ClassVar[tuple[str, ...]] = ("table",)
    found_anew: ClassVar[tuple[str, ...]] = ("_made_from",)  # older files do not have it
    basis: SplineBasis

    @explained
    def __init__(self, values: Any, cyclic: Any = False, basis: str | SplineBasis = "bspline", domain: Any = None) -> None:
        owner = type(self).__name__
        self._made_from = (cyclic, basis, domain)
        self.basis = basis_of(owner, basis)
        try:
            C = reals(values)
        except (TypeError, ValueError):
            C = np.zeros(0)
        if not 2 <= C.ndim <= 4 or len(C) != 6 or not np.all(np.isfinite(C)):
            raise ModelError(f"{owner}: values must be finite numbers (6, n), (6, n, m) or (6, n, m, l), not of shape {C.shape}")
        self.values, self.nq, self.nv = C, C.ndim - 1, C.ndim - 1
        around = flags(owner, "cyclic", cyclic, self.nv)
        self.segments = tuple(self.basis.segments(owner, n, c) for n, c in zip(C.shape[1:], around, strict=True))
        patches = self.basis.polynomials_of(C, around, self.segments)
        self.table = Table(np.moveaxis(patches, 0, self.nv), axes=self.nv, cyclic=around)
        if domain is None:
            domain = [None if c else (0.0, float(s)) for s, c in zip(self.segments, around, strict=True)]
        self._take_region(owner, domain, [float(s) if c else None for s, c in zip(self.segments, around, strict=True)])
        check_formula(self, owner)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> SplineSurface:
        """The joint that a file says: made anew of its control values."""
        return cls(state["values"], *state.get("_made_from", (state["cyclic"], state["basis"], state["domain"])))

    @property
    def signature(self) -> tuple[Any, ...]:
        return (type(self).__name__, self.nv, self.cyclic)

    def pose(self, f: Vector) -> SE3:
        """The transform of the six functions."""
        return posed(f)

    # --- what it is -----------------------------------------------------------------------------------------------------------
    def _functions(self, q: Vector, most: int) -> list[dict[Orders, Scalar]]:
        """Taylor coefficients of the six functions, of orders that sum to `most` at most."""
        first = [self.table.first_index(x, axis) for axis, x in enumerate(q)]
        u = [x - s for x, s in zip(q, first, strict=True)]
        return [blended(c, u, most) for c in self.table[tuple(first)]]

    def transform(self, q: Vector) -> SE3:
        return self.pose(stack(*(f[(0,) * self.nv] for f in self._functions(q, 0))))

    def motion(self, q: Vector, v: Vector) -> SE3:
        n, jets = self.nv, []
        units = [tuple(int(i == j) for j in range(n)) for i in range(n)]
        bent = [[tuple(a + b for a, b in zip(x, y, strict=True)) for y in units] for x in units]
        twice = v + v  # second derivatives along one axis are twice the coefficients
        for f in self._functions(q, 2):
            grad = stack(*(f[x] for x in units))
            along = [[twice[j] if i == j else v[j] for j in range(n)] for i in range(n)]
            grad_rate = stack(*(dot(stack(*along[i]), stack(*(f[x] for x in bent[i]))) for i in range(n)))
            jets.append(Jet(f[(0,) * n], tuple(grad), dot(v, grad), dot(v, grad_rate), tuple(grad_rate)))
        return self.pose(stack(*jets))

    def numbers(self) -> dict[str, Any]:
        return {"values": self.values}

    def _made_with(self, known: Mapping[str, Any], values: Mapping[str, Any]) -> Joint:
        return type(self)(values.get("values", self.values), *self._made_from)

    def __repr__(self) -> str:
        sizes = " x ".join(map(str, self.values.shape[1:]))
        return f"SplineSurface({sizes} values{', cyclic' * any(self.cyclic)})"


def posed(f: Vector) -> SE3:
    """A shift and turns about x, y and z [Sueda, Eq. 2.70]."""
    return SE3(p=f[:3]) @ SE3.rot_x(f[3]) @ SE3.rot_y(f[4]) @ SE3.rot_z(f[5])


def blended(coefficients: np.ndarray, u: list[Scalar], most: int) -> dict[Orders, Scalar]:
    """Taylor coefficients at u of a polynomial in several variables, of orders that sum to `most` at most: derivatives by the
    factorials of their orders.

    coefficients   (degree + 1, ...) of the powers of every variable in turn
    """
    if not u:
        return {(): coefficients}
    inner = [blended(c, u[1:], most) for c in coefficients]
    found: dict[Orders, Scalar] = {}
    for rest in inner[0]:
        along_first = taylor([x[rest] for x in inner], u[0], most - sum(rest))
        found |= {(order, *rest): x for order, x in enumerate(along_first)}
    return found
