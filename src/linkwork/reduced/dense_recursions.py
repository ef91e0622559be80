"""Recursions 4 to 6 of [Si & Guenter] as loops over dense matrices of any model: the numeric half of Method II.

Bodies are numbered root to leaves; joint k has the columns first[k] to first[k + 1] of the subspaces. See `recursions`.
"""

from __future__ import annotations

from ..kernel.loops import Lane, Table, loops


@loops
def adjoints(bodies: int, poses: Lane, Ad: Lane) -> None:
    """Ad(f^-1) = [[R^T, 0], [-R^T [p], R^T]] of every body, from R (9) and p (3)."""
    for k in range(bodies):
        for i in range(3):
            x = poses[12 * k + 9]
            y = poses[12 * k + 10]
            z = poses[12 * k + 11]
            a = poses[12 * k + i]
            b = poses[12 * k + 3 + i]
            c = poses[12 * k + 6 + i]
            Ad[36 * k + 6 * i] = a
            Ad[36 * k + 6 * i + 1] = b
            Ad[36 * k + 6 * i + 2] = c
            Ad[36 * k + 6 * i + 3] = 0.0
            Ad[36 * k + 6 * i + 4] = 0.0
            Ad[36 * k + 6 * i + 5] = 0.0
            Ad[36 * k + 18 + 6 * i] = c * y - b * z
            Ad[36 * k + 18 + 6 * i + 1] = a * z - c * x
            Ad[36 * k + 18 + 6 * i + 2] = b * x - a * y
            Ad[36 * k + 18 + 6 * i + 3] = a
            Ad[36 * k + 18 + 6 * i + 4] = b
            Ad[36 * k + 18 + 6 * i + 5] = c


@loops
def dense_inward(
    bodies: int,
    up: Table,
    first: Table,
    Ad: Lane,
    subspaces: Lane,
    inertias: Lane,
    drive: Lane,
    left: Lane,
    Jbar: Lane,
    U: Lane,
    K: Lane,
    Omega: Lane,
    moved: Lane,
    z: Lane,
    c: Lane,
) -> None:
    """Recursions 4 and 5: articulated inertias, U, K = Omega^-1 U^T, and c_bar. Omega is inverted by elimination."""
    for i in range(36 * bodies):
        Jbar[i] = inertias[i]
    for i in range(6 * bodies):
        z[i] = 0.0
    for m in range(bodies):
        k = bodies - 1 - m
        n = first[k + 1] - first[k]
        for j in range(n):
            at = 6 * (first[k] + j)
            for i in range(6):
                total = Jbar[36 * k + 6 * i] * subspaces[at]
                for r in range(1, 6):
                    total = total + Jbar[36 * k + 6 * i + r] * subspaces[at + r]
                U[at + i] = total
        for i in range(n):
            for j in range(n):
                total = subspaces[6 * (first[k] + i)] * U[6 * (first[k] + j)]
                for r in range(1, 6):
                    total = total + subspaces[6 * (first[k] + i) + r] * U[6 * (first[k] + j) + r]
                Omega[6 * i + j] = total
            Omega[7 * i] = Omega[7 * i] + drive[first[k] + i]
        for i in range(n):  # columns of K and the force that is left, to be solved for together
            for r in range(6):
                K[6 * (first[k] + i) + r] = U[6 * (first[k] + i) + r]
            total = left[first[k] + i]
            for r in range(6):
                total = total - subspaces[6 * (first[k] + i) + r] * z[6 * k + r]
            c[first[k] + i] = total
        for i in range(n):
            for j in range(i + 1, n):
                factor = Omega[6 * j + i] / Omega[7 * i]
                for r in range(i, n):
                    Omega[6 * j + r] = Omega[6 * j + r] - factor * Omega[6 * i + r]
                for r in range(6):
                    K[6 * (first[k] + j) + r] = K[6 * (first[k] + j) + r] - factor * K[6 * (first[k] + i) + r]
                c[first[k] + j] = c[first[k] + j] - factor * c[first[k] + i]
        for back in range(n):
            i = n - 1 - back
            for j in range(i + 1, n):
                factor = Omega[6 * i + j]
                for r in range(6):
                    K[6 * (first[k] + i) + r] = K[6 * (first[k] + i) + r] - factor * K[6 * (first[k] + j) + r]
                c[first[k] + i] = c[first[k] + i] - factor * c[first[k] + j]
            for r in range(6):
                K[6 * (first[k] + i) + r] = K[6 * (first[k] + i) + r] / Omega[7 * i]
            c[first[k] + i] = c[first[k] + i] / Omega[7 * i]
        if up[k] >= 0:
            p = up[k]
            for i in range(6):
                total = z[6 * k + i]
                for j in range(n):
                    total = total + U[6 * (first[k] + j) + i] * c[first[k] + j]
                moved[36 + i] = total
                for r in range(6):
                    total = Jbar[36 * k + 6 * i + r]
                    for j in range(n):
                        total = total - U[6 * (first[k] + j) + i] * K[6 * (first[k] + j) + r]
                    Omega[36 + 6 * i + r] = total
            for i in range(6):
                for r in range(6):
                    total = Omega[36 + 6 * i] * Ad[36 * k + r]
                    for s in range(1, 6):
                        total = total + Omega[36 + 6 * i + s] * Ad[36 * k + 6 * s + r]
                    moved[6 * i + r] = total
            for i in range(6):
                for r in range(6):
                    total = Jbar[36 * p + 6 * i + r]
                    for s in range(6):
                        total = total + Ad[36 * k + 6 * s + i] * moved[6 * s + r]
                    Jbar[36 * p + 6 * i + r] = total
                total = z[6 * p + i]
                for s in range(6):
                    total = total + Ad[36 * k + 6 * s + i] * moved[36 + s]
                z[6 * p + i] = total


@loops
def dense_outward(
    bodies: int, up: Table, first: Table, Ad: Lane, subspaces: Lane, K: Lane, c: Lane, eta: Lane, found: Lane
) -> None:
    """Recursion 6: joint accelerations."""
    for k in range(bodies):
        for i in range(6):
            eta[6 * k + i] = 0.0
            if up[k] >= 0:
                total = Ad[36 * k + 6 * i] * eta[6 * up[k]]
                for r in range(1, 6):
                    total = total + Ad[36 * k + 6 * i + r] * eta[6 * up[k] + r]
                eta[6 * k + i] = total
        for j in range(first[k + 1] - first[k]):
            total = c[first[k] + j]
            for r in range(6):
                total = total - K[6 * (first[k] + j) + r] * eta[6 * k + r]
            found[first[k] + j] = total
        for j in range(first[k + 1] - first[k]):
            for r in range(6):
                eta[6 * k + r] = eta[6 * k + r] + subspaces[6 * (first[k] + j) + r] * found[first[k] + j]
