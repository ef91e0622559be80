"""Derivatives of forces as sparse matrices of blocks: over bodies, and over joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Blocks:
    """A sparse matrix of 6x6 blocks over the bodies: block[e] stands at (row[e], column[e]); equal places add up."""

    row: np.ndarray
    column: np.ndarray
    block: np.ndarray

    def dense(self, nb: int) -> np.ndarray:
        """The matrix (6 nb, 6 nb)."""
        out = np.zeros((nb, nb, 6, 6))
        np.add.at(out, (self.row, self.column), self.block)
        return out.transpose(0, 2, 1, 3).reshape(6 * nb, 6 * nb)

    def __matmul__(self, twists: np.ndarray) -> np.ndarray:
        """The product with body vectors (..., bodies, 6)."""
        out = np.zeros_like(twists)
        parts = np.einsum("eij,...ej->...ei", self.block, twists[..., self.column, :])
        np.add.at(np.moveaxis(out, -2, 0), self.row, np.moveaxis(parts, -2, 0))
        return out

    def __mul__(self, factor: float) -> Blocks:
        return Blocks(self.row, self.column, self.block * factor)

    __rmul__ = __mul__

    def __add__(self, other: Blocks) -> Blocks:
        return Blocks(*(np.concatenate([getattr(self, n), getattr(other, n)]) for n in ("row", "column", "block")))

    def on_diagonal(self, nb: int) -> np.ndarray:
        """The diagonal blocks (nb, 6, 6); only for matrices that have no others."""
        out = np.zeros((nb, 6, 6))
        np.add.at(out, self.row, self.block)
        return out

    @property
    def diagonal(self) -> bool:
        """Whether every block couples a body with itself."""
        return bool(np.array_equal(self.row, self.column))


@dataclass(frozen=True, eq=False)
class JointBlocks:
    """A matrix (nv, nv) of blocks on the diagonal, block[e] from row and column start[e] on; equal places add up."""

    nv: int
    start: np.ndarray
    block: tuple[np.ndarray, ...]

    def dense(self) -> np.ndarray:
        """The matrix (nv, nv)."""
        out = np.zeros((self.nv, self.nv))
        for at, B in zip(self.start, self.block, strict=True):
            out[at : at + len(B), at : at + len(B)] += B
        return out

    def diagonal(self) -> np.ndarray:
        """Its diagonal (nv,)."""
        out = np.zeros(self.nv)
        for at, B in zip(self.start, self.block, strict=True):
            out[at : at + len(B)] += np.diagonal(B)
        return out

    def __matmul__(self, v: np.ndarray) -> np.ndarray:
        """The product with vectors (..., nv)."""
        out = np.zeros(np.shape(v))
        for at, B in zip(self.start, self.block, strict=True):
            out[..., at : at + len(B)] += v[..., at : at + len(B)] @ B.T
        return out

    def symmetrised(self) -> JointBlocks:
        """(A + A^T) / 2."""
        return JointBlocks(self.nv, self.start, tuple(0.5 * (B + B.T) for B in self.block))
