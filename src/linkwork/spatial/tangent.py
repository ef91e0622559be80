"""Tangents: how a transform moves, and how its primitives differentiate what they are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .jet import Jet, biases, gradient_rates, gradients, rates, values
from .scalar import Scalar, Vector, stack, zeros


@dataclass(frozen=True, slots=True)
class Tangent:
    """How a transform moves: columns `S` (6, n), twist `phi = S v`, bias `c = S_dot v` and `S_dot`, all in inner axes."""

    S: np.ndarray
    phi: Vector
    bias: Vector
    S_dot: np.ndarray

    @staticmethod
    def constant(S: np.ndarray, phi: Vector) -> Tangent:
        """Of a subspace that does not change."""
        return Tangent(S, phi, np.zeros(6), np.zeros(S.shape))


def along(direction: Vector, x: Scalar) -> Tangent | None:
    """Of a motion along a fixed direction (6,) by the scalar x."""
    if not isinstance(x, Jet):
        return None
    S, S_dot = (np.outer(direction, np.array(columns, dtype=object)) for columns in (x.grad, x.grad_rate))
    return Tangent(S, direction * x.rate, direction * x.bias, S_dot)


def of_shift(p: Vector) -> Tangent | None:
    """Of a translation by p."""
    if not has_jets(p):
        return None
    n = column_count(p)
    o = zeros(3)
    S, S_dot = (np.concatenate([zeros(3, n), columns]) for columns in (gradients(p, n), gradient_rates(p, n)))
    return Tangent(S, np.concatenate([o, rates(p)]), np.concatenate([o, biases(p)]), S_dot)


def of_matrix(R: np.ndarray) -> Tangent | None:
    """Of a raw rotation matrix of jets: [w] = skew part of R^T R_dot, [w_dot] = skew part of R^T R_ddot."""
    if not has_jets(R):
        return None
    n = column_count(R)
    R0, R1 = values(R), rates(R)
    flat = R.reshape(-1)
    slopes, slope_rates = (f(flat, n).T.reshape(n, 3, 3) for f in (gradients, gradient_rates))

    def angular(W: np.ndarray) -> Vector:
        return np.concatenate([0.5 * stack(W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]), zeros(3)])

    S = np.stack([angular(R0.T @ G) for G in slopes], axis=1)
    S_dot = np.stack([angular(R1.T @ G + R0.T @ G_dot) for G, G_dot in zip(slopes, slope_rates, strict=True)], axis=1)
    return Tangent(S, angular(R0.T @ R1), angular(R0.T @ biases(R)), S_dot)


def mapped(A: np.ndarray, A_dot: np.ndarray, x: Vector, n: int) -> tuple[np.ndarray, Vector, Vector, np.ndarray]:
    """S, S v, S_dot v and S_dot for S = A dx/dq."""
    G = gradients(x, n)
    return A @ G, A @ rates(x), A_dot @ rates(x) + A @ biases(x), A_dot @ G + A @ gradient_rates(x, n)


def of_rotation(S: np.ndarray, phi: Vector, bias: Vector, S_dot: np.ndarray) -> Tangent:
    """Of a pure rotation: zeros below."""
    o = zeros(3)
    below = zeros(3, S.shape[1])
    S, S_dot = np.concatenate([S, below]), np.concatenate([S_dot, below])
    return Tangent(S, np.concatenate([phi, o]), np.concatenate([bias, o]), S_dot)


def has_jets(a: np.ndarray) -> bool:
    """Whether any entry moves."""
    return a.dtype == object and any(isinstance(x, Jet) for x in a.flat)


def column_count(a: np.ndarray) -> int:
    """The number of velocities that the jets of an array know."""
    return next(len(x.grad) for x in a.flat if isinstance(x, Jet))
