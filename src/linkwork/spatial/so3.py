"""Rotations: 3x3 matrices R and rotation vectors w, |w| the angle.

The angular velocity in body axes is that of R_dot = R [omega], in world axes that of R_dot = [omega] R. Along
R = exp(w) they are right_jacobian(w) w_dot and left_jacobian(w) w_dot. All entries may be floats, jets or symbols.
"""

from __future__ import annotations

import numpy as np

from . import quaternion
from .entire import half_cot_remainder, sinc, sine_remainder, versine
from .scalar import Scalar, Vector, array, dot, stack


def hat(w: Vector) -> np.ndarray:
    """The cross-product matrix: [w] x = w x x."""
    x, y, z = w
    return array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def vee(W: np.ndarray) -> Vector:
    """The vector of a cross-product matrix: vee([w]) = w."""
    return stack(W[2, 1], W[0, 2], W[1, 0])


def exp(w: Vector) -> np.ndarray:
    """The rotation by |w| about w: I + sin(x)/x [w] + (1 - cos x)/x^2 [w]^2, x = |w| (Rodrigues)."""
    x2 = dot(w, w)
    return _polynomial(w, sinc(x2), versine(x2))


def log(R: np.ndarray) -> Vector:
    """The shortest rotation vector of R, |w| <= pi; at pi the axis may have either sign.

    It passes through the quaternion, which stays well conditioned where the skew part of R vanishes (0 and pi).
    """
    return quaternion.log(quaternion.from_rotation(R))


def left_jacobian(w: Vector) -> np.ndarray:
    """J with omega_world = J w_dot: I + (1 - cos x)/x^2 [w] + (x - sin x)/x^3 [w]^2, x = |w|."""
    x2 = dot(w, w)
    return _polynomial(w, versine(x2), sine_remainder(x2))


def right_jacobian(w: Vector) -> np.ndarray:
    """J with omega_body = J w_dot: the left Jacobian at -w, its transpose."""
    return left_jacobian(-w)


def left_jacobian_inverse(w: Vector) -> np.ndarray:
    """J with w_dot = J omega_world: I - [w]/2 + (1 - (x/2) cot(x/2))/x^2 [w]^2, x = |w| != 2 pi, 4 pi, ..."""
    return _polynomial(w, -0.5, half_cot_remainder(dot(w, w)))


def right_jacobian_inverse(w: Vector) -> np.ndarray:
    """J with w_dot = J omega_body: the inverse left Jacobian at -w, its transpose."""
    return left_jacobian_inverse(-w)


def _polynomial(w: Vector, a: Scalar, b: Scalar) -> np.ndarray:
    """I + a [w] + b [w]^2, written out: no products with the zeros of [w]."""
    x, y, z = w
    ax, ay, az = a * x, a * y, a * z
    bx, by, bz = b * x, b * y, b * z
    xx, yy, zz = bx * x, by * y, bz * z
    xy, xz, yz = bx * y, bx * z, by * z
    return array(
        [
            [1.0 - (yy + zz), xy - az, xz + ay],
            [xy + az, 1.0 - (xx + zz), yz - ax],
            [xz - ay, yz + ax, 1.0 - (xx + yy)],
        ]
    )
