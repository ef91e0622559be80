"""What programs on pairs of degrees of freedom share: columns of six or three numbers each, and their products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..kernel.loops import Lane, LoopFunction, loops
from ..kernel.sweep import Routine
from ..spatial.scalar import Vector, stack


def flattened(columns: Sequence[Sequence[Any]] | Sequence[Vector]) -> Vector:
    """Columns one after the other."""
    return stack(*(x for column in columns for x in column))


def split_columns(x: Vector, size: int) -> list[Vector]:
    """The inverse of `flattened`."""
    return [x[k : k + size] for k in range(0, len(x), size)]


@loops
def dot6(A: Lane, i: int, a: float, b: float, c: float, d: float, e: float, f: float) -> float:
    """Six records with six values."""
    return (A[i] * a + A[i + 1] * b + A[i + 2] * c) + (A[i + 3] * d + A[i + 4] * e + A[i + 5] * f)


@loops
def dot3(A: Lane, i: int, a: float, b: float, c: float) -> float:
    """Three records with three values."""
    return A[i] * a + A[i + 1] * b + A[i + 2] * c


def routine(function: LoopFunction, **other: str) -> Routine:
    """A routine whose arguments are the fields and tables that its parameters are named after, or others."""
    return Routine(function, tuple(other.get(name, name) for name, _ in function.parameters))
