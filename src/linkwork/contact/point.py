"""What a function of two shapes says of every slot, and small helpers that run on numbers and symbols alike.

Functions of pairs are straight-line code: they run in lanes, where a slot that does not count is computed all the same. So no
denominator may vanish, in any lane.
"""

from __future__ import annotations

from ..geometry.contact_point import ContactPoint
from ..spatial.scalar import Scalar, Vector, dot, stack, where

__all__ = ["NOTHING", "ContactPoint", "bounded", "choose", "direction", "flag", "larger", "side", "smaller", "square_root"]

NOTHING = 1e-30  # m^2: shorter vectors have no direction


def choose(condition: Scalar, a: Vector, b: Vector) -> Vector:
    """Vector a where the condition holds, else b."""
    return stack(*(where(condition, x, y) for x, y in zip(a, b, strict=True)))


def bounded(x: Scalar, half: Scalar) -> Scalar:
    """The number nearest to x in [-half, half]."""
    return where(x < -half, -half, where(x > half, half, x))


def larger(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two numbers."""
    return where(a > b, a, b)


def smaller(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two numbers."""
    return where(a < b, a, b)


def side(x: Scalar) -> Scalar:
    """-1 for negative numbers, else 1."""
    return where(x < 0.0, -1.0, 1.0)


def flag(condition: Scalar) -> Scalar:
    """1 where the condition holds, else 0."""
    return where(condition, 1.0, 0.0)


def direction(d: Vector, otherwise: Vector) -> tuple[Vector, Scalar]:
    """The unit vector along d, or another where d is nothing, and the length of d."""
    square = dot(d, d)
    far = square > NOTHING
    length = square_root(square, far)
    return choose(far, d / length, otherwise), where(far, length, 0.0)


def square_root(x: Scalar, allowed: Scalar) -> Scalar:
    """The square root where it is allowed, else 1."""
    return where(allowed, x, 1.0) ** 0.5
