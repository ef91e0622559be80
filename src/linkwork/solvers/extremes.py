"""The larger and the smaller of two numbers, each a comparison and a choice: one instruction.

`maximum` and `minimum` of the loop language tell zeros and NaN apart, which takes seven, and in one lane a sum of them waits for
each. Here the first of two equal numbers is taken, and the first where the second is NaN; a first that is NaN stays.
"""

from __future__ import annotations

from ..kernel.loops import loops, where


@loops
def larger(a: float, b: float) -> float:
    """The larger of two numbers, a where b is none."""
    return where(b > a, b, a)


@loops
def smaller(a: float, b: float) -> float:
    """The smaller of two numbers, a where b is none."""
    return where(b < a, b, a)


@loops
def clipped(x: float, low: float, high: float) -> float:
    """x, or the bound that it is beyond."""
    return smaller(larger(x, low), high)
