"""Accelerations of an assembly by other routes, all through A = J M^-1 J^T [Baraff, section 5].

    A lam = c' - J M^-1 F,        v_dot = M^-1 (F + J^T lam),        c' = -c

They are given M, J, F and c' at a state, which linkwork has to compute besides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solveh_banded
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, cg

from ..assembly import Assembly
from ..model import State
from ..solvers.block_tree import BlockTree
from .multiplier_chains import BlockSystem

TOLERANCE = 1e-8  # of conjugate gradients
Route = Callable[[], np.ndarray]


@dataclass(frozen=True, eq=False)
class Matrices:
    """An assembly at a state: M (parts, d, d), J (rows, velocities) of all conditions in their order, F and c'."""

    M: np.ndarray
    J: np.ndarray
    F: np.ndarray
    target: np.ndarray


def matrices(assembly: Assembly, state: State) -> Matrices:
    """All parts must have as many velocities."""
    system = assembly.system(state)
    masses = [part.mass(state.q[assembly.q_index(name)]) for name, part in zip(assembly.names, assembly.parts, strict=True)]
    return Matrices(np.array(masses, float), system.J, system.forces, system.loads)


def dense(m: Matrices) -> Route:
    """A as a full matrix, by its Cholesky factor."""
    blocks, d = m.M.shape[:2]
    J_T = np.ascontiguousarray(m.J.T).reshape(blocks, d, -1)

    def run() -> np.ndarray:
        inverse = np.linalg.inv(m.M)
        W, free = (inverse @ J_T).reshape(blocks * d, -1), _times(inverse, m.F)
        factor = cho_factor(m.J @ W, overwrite_a=True, check_finite=False)
        return free + W @ cho_solve(factor, m.target - m.J @ free, check_finite=False)

    return run


def conjugate_gradients(m: Matrices) -> Route:
    """Products with A, by sparse J and J^T."""
    J = csr_array(m.J)
    J_T, operator = csr_array(J.T), cast(Any, LinearOperator)

    def run() -> np.ndarray:
        inverse = np.linalg.inv(m.M)
        free = _times(inverse, m.F)
        A = operator(shape=(len(m.J),) * 2, matvec=lambda x: J @ _times(inverse, J_T @ x), dtype=float)
        lam, _ = cg(A, m.target - J @ free, rtol=TOLERANCE)
        return free + _times(inverse, J_T @ lam)

    return run


def banded(m: Matrices) -> Route:
    """For chains, whose condition k joins parts k and k + 1: A in bands."""
    d, n = m.M.shape[1], len(m.M) - 1
    size = len(m.J) // n
    rows = m.J.reshape(n, size, n + 1, d)
    k = np.arange(n)
    first, second = rows[k, :, k], rows[k, :, k + 1]
    i, j = np.tril_indices(size)
    r, c = np.indices((size, size)).reshape(2, -1)
    at = size * k[:, None]

    def run() -> np.ndarray:
        inverse = np.linalg.inv(m.M)
        free = _times(inverse, m.F)
        on_first, on_second = first @ inverse[:-1], second @ inverse[1:]
        own = on_first @ first.transpose(0, 2, 1) + on_second @ second.transpose(0, 2, 1)
        next_ = first[1:] @ inverse[1:-1] @ second[:-1].transpose(0, 2, 1)
        band = np.zeros((2 * size, n * size))
        band[i - j, at + j] = own[:, i, j]
        band[size + r - c, at[:-1] + c] = next_[:, r, c]
        speeds = free.reshape(-1, d, 1)
        b = m.target - (first @ speeds[:-1] + second @ speeds[1:]).reshape(-1)
        lam = solveh_banded(band, b, lower=True, overwrite_ab=True, check_finite=False).reshape(n, 1, size)
        free = free.reshape(-1, d)
        free[:-1] += (lam @ on_first)[:, 0]
        free[1:] += (lam @ on_second)[:, 0]
        return free.reshape(-1)

    return run


def _times(blocks: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Block-diagonal matrix times a vector."""
    return (blocks @ x.reshape(len(blocks), -1, 1)).reshape(-1)


def primary_system(assembly: Assembly, m: Matrices) -> BlockSystem:
    """[[M, J^T], [J, 0]] of an assembly whose conditions are all primary, on its tree."""
    nodes, d = assembly.layout.nodes, m.M.shape[1]
    J = m.J.reshape(len(m.J), -1, d)

    def rows(k: int) -> slice:
        return assembly.row_index(assembly.conditions[k])

    D = [m.M[n.index] if n.is_part else np.zeros((assembly.conditions[n.index].size,) * 2) for n in nodes]
    B = [
        J[rows(nodes[n.parent].index), n.index].T if n.is_part else J[rows(n.index), nodes[n.parent].index]
        for n in nodes
        if n.parent >= 0
    ]
    tree = BlockTree([n.parent for n in nodes], assembly.layout.dims.tolist())
    flat = tuple(np.concatenate([x.reshape(-1) for x in blocks]) for blocks in (D, B))
    return BlockSystem(tree, flat, np.random.default_rng(1).normal(size=int(tree.dims.sum())))
