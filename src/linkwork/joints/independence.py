"""How independent the columns of a motion subspace are: where they are not, coordinates do not say the velocity of the body."""

from __future__ import annotations

import numpy as np

from ..spatial.scalar import Scalar, dot, maximum, minimum

LOCKED = 1e-14  # of `independence`: the square of the sine of an angle, so 1e-7 rad; and rounding of the products
SHORT = 1e-4  # the square of a column's length: what is shorter is measured against it, so that 1e-9 per unit is no motion


def independence(S: np.ndarray) -> Scalar:
    """The least, over the columns of S (6, n), of sin^2 of the angle to the span of those before; 0 where a column vanishes.

    These are the pivots of S^T S = L D L^T, each by its diagonal entry: no unit of a coordinate counts. 1 for no columns.
    """
    n = S.shape[1]
    G = np.array([[dot(S[:, i], S[:, j]) for j in range(n)] for i in range(n)], dtype=object).reshape(n, n)
    lengths = [maximum(G[k, k], SHORT) for k in range(n)]
    least: Scalar = 1.0
    for k in range(n):
        share = G[k, k] / lengths[k]
        least = minimum(least, share)
        inverse = 1.0 / maximum(G[k, k], LOCKED * lengths[k])
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                G[i, j] = G[i, j] - G[i, k] * inverse * G[k, j]
    return least
