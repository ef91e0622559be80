"""Block elimination on a tree: one block at a time, children before parents, without fill-in.

For a symmetric system whose blocks couple only children and parents, eliminating a node with diagonal block D, coupling B
to its parent and right-hand side r leaves the parent with

    D_parent - B^T D^-1 B   and   r_parent - B^T D^-1 r,

and nothing else changes [Baraff, section 7]. `eliminate` and `back_substitute` are the two local steps; whoever has a tree
of blocks uses them in an inward and an outward sweep. Blocks must be definite (positive or negative): there is no pivoting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..spatial.scalar import Vector, ldl, ldl_solve


@dataclass(frozen=True, slots=True, eq=False)
class Pivot:
    """An eliminated block: D = L diag(1/d_inv) L^T and W = D^-1 B."""

    L: np.ndarray
    d_inv: Vector
    W: np.ndarray


def eliminate(D: np.ndarray, B: np.ndarray) -> tuple[Pivot, np.ndarray]:
    """The pivot of a node, and the change -B^T D^-1 B of its parent's diagonal block (symmetric by construction)."""
    L, d_inv = ldl(D)
    W = ldl_solve(L, d_inv, B)
    change = np.array(-(B.T @ W), dtype=object)
    for r in range(len(change)):
        for c in range(r):
            change[r, c] = change[c, r]
    return Pivot(L, d_inv, W), change


def forward_substitute(pivot: Pivot, r: Vector) -> tuple[Vector, Vector]:
    """D^-1 r, and the change -B^T D^-1 r = -W^T r of the parent's right-hand side."""
    return ldl_solve(pivot.L, pivot.d_inv, r), -(pivot.W.T @ r)


def back_substitute(pivot: Pivot, x_own: Vector, x_parent: Vector) -> Vector:
    """The node's unknowns D^-1 r - W x_parent."""
    return x_own - pivot.W @ x_parent
