"""Stiffness without its destabilising part, for long steps with stiff springs [Baraff & Witkin 1998; Choi & Ko 2002].

A spring that is compressed pushes sideways once it turns: its df_dx has a positive eigenvalue, and M + h D - h^2 K is no longer
positive definite when steps are long. A linearly implicit step then gains energy, and conjugate gradients fail. Of the
derivatives of every force, in the motion of its ports, this keeps the part with eigenvalues <= 0. Forces themselves, and so
states at rest, are the same.

Eigenvalues are found by Jacobi's rotations, in all lanes at once [Golub & Van Loan, 8.5].
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..elements.derive import load_slopes
from ..elements.nodes import STILL, law_at
from ..elements.ports import starts
from ..kernel.loops import Lane, Table, any, loops, maximum, minimum, sqrt, where
from ..kernel.sweep import SCALAR, Field, Routine, Step, each

SWEEPS = 30  # of rotations, at most; ten are usual
TINY = 1e-17  # of the largest entry: what is left beside the diagonal


def nonpositive(A: np.ndarray) -> np.ndarray:
    """The nearest matrices (..., n, n) without positive eigenvalues, of symmetric ones."""
    values, vectors = np.linalg.eigh(A)
    return (vectors * np.minimum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)


def measure_slopes(n: Any, *ports: Any) -> None:
    """df_dx and df_dv of one force, symmetrised; the world does not move."""
    law, at = law_at(n, ports)
    moving = np.ones(starts(at)[-1])
    for kind, (first, last) in zip(n.kinds, pairwise(starts(at)), strict=False):
        moving[first:last] = float(kind != STILL)
    n.slope_x, n.slope_v = (
        (0.5 * np.outer(moving, moving) * (A + A.T)).reshape(-1) for A in load_slopes(law, at, n.force_t, n.u)
    )


def measured_slopes(n: Any, law: Any, at: Any) -> tuple[np.ndarray, np.ndarray]:
    """What `clamp` left of them."""
    size = starts(at)[-1]
    return n.slope_x.reshape(size, size), n.slope_v.reshape(size, size)


@loops
def rotate(n: int, at: int, A: Lane, V: Lane, p: int, q: int) -> None:
    """The rotation of two coordinates after which the entry between them is zero."""
    x = A[at + p * n + q]
    half = 0.5 * (A[at + q * n + q] - A[at + p * n + p])
    root = abs(half) + sqrt(half * half + x * x)
    t = where(root > 0.0, x / where(root > 0.0, root, 1.0), 0.0)
    t = where(half < 0.0, -t, t)
    c = 1.0 / sqrt(1.0 + t * t)
    s = t * c
    for k in range(n):
        a = A[at + k * n + p]
        b = A[at + k * n + q]
        A[at + k * n + p] = c * a - s * b
        A[at + k * n + q] = s * a + c * b
    for k in range(n):
        a = A[at + p * n + k]
        b = A[at + q * n + k]
        A[at + p * n + k] = c * a - s * b
        A[at + q * n + k] = s * a + c * b
        a = V[k * n + p]
        b = V[k * n + q]
        V[k * n + p] = c * a - s * b
        V[k * n + q] = s * a + c * b


@loops
def clamp_one(n: int, at: int, A: Lane, V: Lane, B: Lane) -> None:
    """The nearest matrix without positive eigenvalues, in place of a symmetric one (n, n)."""
    for i in range(n):
        for j in range(n):
            V[i * n + j] = 0.0
        V[i * n + i] = 1.0
    for _ in range(SWEEPS):
        off = 0.0 * A[at]
        most = 0.0 * A[at]
        for i in range(n):
            most = maximum(most, abs(A[at + i * n + i]))
            for j in range(i):
                off = maximum(off, abs(A[at + i * n + j]))
        if not any(off > TINY * most):
            break
        for p in range(n):
            for q in range(p + 1, n):
                rotate(n, at, A, V, p, q)
    for k in range(n):
        B[k] = minimum(A[at + k * n + k], 0.0)
    for i in range(n):
        for j in range(n):
            total = 0.0 * B[0]
            for k in range(n):
                total += V[i * n + k] * B[k] * V[j * n + k]
            A[at + i * n + j] = total


@loops
def clamp(forces: int, sizes: Table, places: Table, slope_x: Lane, slope_v: Lane, axes: Lane, values: Lane) -> None:
    """The slopes of all forces without positive eigenvalues."""
    for f in range(forces):
        clamp_one(sizes[f], places[f], slope_x, axes, values)
        clamp_one(sizes[f], places[f], slope_v, axes, values)


def definite_fields() -> dict[str, Field]:
    """Those of these steps."""
    found = {name: Field("work", "P", of="force") for name in ("slope_x", "slope_v")}
    return found | {name: Field("work", "axis", SCALAR) for name in ("axes", "values")}


def definite_slopes(forces: int) -> list[Step]:
    """From the state to the slopes of all forces, with so many ports at most."""
    tables = ("forces", "slope_sizes", "slope_at", "slope_x", "slope_v", "axes", "values")
    return [each(measure_slopes, *(f"p{i}" for i in range(forces)), on="force"), Routine(clamp, tables)]
