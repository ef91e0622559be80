"""Block elimination on a tree: one block at a time, children before parents, without fill-in.

Eliminating a node with diagonal block D, blocks U = H_ij to the nodes j above it, blocks L = H_ji back, and right-hand side r
leaves those nodes with

    H_above - L D^-1 U   and   r_above - L D^-1 r,

and nothing else changes [Baraff, section 7]. The nodes above are the parent, and with grandparent blocks [Hernandez, section 4]
the parent and its parent, side by side; either way only blocks change that are there already. In a symmetric system L = U^T.
`eliminate`, `forward_substitute` and `back_substitute` are the local steps; whoever has a tree of blocks uses them in inward and
outward sweeps. Blocks must be definite (positive or negative), or close to it: there is no pivoting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..spatial.scalar import Scalar, Vector, absolute, ldl, lower_solve, maximum, stack, upper_solve, zeros


@dataclass(frozen=True, slots=True, eq=False)
class Pivot:
    """An eliminated block of a symmetric system: D = L diag(1/d_inv) L^T and Y = L^-1 U."""

    L: np.ndarray
    d_inv: Vector
    Y: np.ndarray

    @property
    def R(self) -> np.ndarray:
        """The upper triangle of D = L diag(1/d_inv) R."""
        return self.L.T

    @property
    def Z(self) -> np.ndarray:
        """The blocks back, over the upper triangle."""
        return self.Y.T


@dataclass(frozen=True, slots=True, eq=False)
class GeneralPivot:
    """An eliminated block of any system: D = L diag(1/d_inv) R with unit triangles, Y = L^-1 U and Z = back R^-1."""

    L: np.ndarray
    d_inv: Vector
    R: np.ndarray
    Y: np.ndarray
    Z: np.ndarray


def eliminate(D: np.ndarray, U: np.ndarray) -> tuple[Pivot, np.ndarray]:
    """The pivot of a node, and the change -U^T D^-1 U of the blocks above (symmetric by construction)."""
    L, d_inv = ldl(D)
    Y = lower_solve(L, U)
    change = np.array(-(Y.T @ scaled(d_inv, Y)), dtype=object)
    for r in range(len(change)):
        for c in range(r):
            change[r, c] = change[c, r]
    return Pivot(L, d_inv, Y), change


def eliminate_general(D: np.ndarray, U: np.ndarray, back: np.ndarray) -> tuple[GeneralPivot, np.ndarray]:
    """The same without symmetry: the blocks back are given, the change is -back D^-1 U."""
    L, d_inv, R = ldu(D)
    Y, Z = lower_solve(L, U), lower_solve(R.T, back.T).T
    return GeneralPivot(L, d_inv, R, Y, Z), -(Z @ scaled(d_inv, Y))


def forward_substitute(pivot: Pivot | GeneralPivot, r: Vector) -> tuple[Vector, Vector]:
    """y = L^-1 r, which the way back needs, and the change of the right-hand sides above."""
    y = lower_solve(pivot.L, r)
    return y, -(pivot.Z @ (pivot.d_inv * y))


def back_substitute(pivot: Pivot | GeneralPivot, y: Vector, x_above: Vector) -> Vector:
    """The node's unknowns D^-1 (r - U x_above) = R^-1 diag(d_inv) (y - Y x_above)."""
    return upper_solve(pivot.R, pivot.d_inv * (y - pivot.Y @ x_above))


def growth(pivot: Pivot | GeneralPivot, *diagonals: np.ndarray) -> Vector:
    """How much larger than each scalar pivot the diagonal was from which it is left: 1 at best, infinite if singular.

    diagonals   blocks whose diagonals set the scale: the given one, and the one after the children were eliminated
    """

    def largest(k: int) -> Scalar:
        size = absolute(diagonals[0][k, k])
        for D in diagonals[1:]:
            size = maximum(size, absolute(D[k, k]))
        return size

    return stack(*(absolute(d) * largest(k) for k, d in enumerate(pivot.d_inv)))


def ldu(A: np.ndarray) -> tuple[np.ndarray, Vector, np.ndarray]:
    """A = L diag(1/d_inv) R with unit triangles L (below) and R (above), without pivoting."""
    n = len(A)
    A = np.array(A, dtype=object)
    L, R, d_inv = np.array(np.eye(n), dtype=object), np.array(np.eye(n), dtype=object), zeros(n)
    for k in range(n):
        d_inv[k] = 1.0 / A[k, k]
        for j in range(k + 1, n):
            L[j, k], R[k, j] = A[j, k] * d_inv[k], A[k, j] * d_inv[k]
        for r in range(k + 1, n):
            for c in range(k + 1, n):
                A[r, c] = A[r, c] - L[r, k] * A[k, c]
    return L, d_inv, R


def scaled(d: Vector, A: np.ndarray) -> np.ndarray:
    """diag(d) A."""
    return d.reshape(-1, 1) * A
