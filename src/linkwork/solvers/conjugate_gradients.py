"""Conjugate gradients with a preconditioner; it knows nothing of what it solves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import SolverError

Operator = Callable[[np.ndarray], np.ndarray]


def conjugate_gradients(
    apply: Operator, b: np.ndarray, precondition: Operator | None = None, tolerance: float = 1e-12, most: int | None = None
) -> tuple[np.ndarray, int]:
    """x with A x = b for a symmetric positive definite A, and the number of products with A.

    It ends when the residual, measured by the preconditioner, has fallen to `tolerance` of its start or no longer falls.
    """
    most = 10 * len(b) + 20 if most is None else most
    x, r = np.zeros_like(b), b.copy()
    z = r if precondition is None else precondition(r)
    p, rho = z, float(r @ z)
    best, start, stalled = (rho, x), rho, 0
    if rho == 0.0:
        return x, 0
    for k in range(1, most + 1):
        Ap = apply(p)
        curvature = float(p @ Ap)
        if not curvature > 0.0:
            raise SolverError("conjugate gradients met a matrix that is not positive definite; use the dense route")
        alpha = rho / curvature
        x, r = x + alpha * p, r - alpha * Ap
        z = r if precondition is None else precondition(r)
        before, rho = rho, float(r @ z)
        stalled = 0 if rho < 0.25 * best[0] else stalled + 1
        best = min(best, (rho, x), key=lambda found: found[0])
        if rho <= tolerance**2 * start or (rho < 1e-20 * start and stalled >= 5):
            return best[1], k
        p = z + (rho / before) * p
    raise SolverError(
        f"conjugate gradients did not converge in {most} products: {np.sqrt(rho / start):.2g} of the residual is left"
    )
