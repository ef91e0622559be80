"""Linear forms: derivatives that remember what they are sums of, so that they can be read backwards.

A dual number whose one derivative is a form runs through any function as others do. What arrives is a sum of products of forms
before it, down to those of the variables. Read backwards from weights of the results, every product is done once: the weights
that the variables have in the weighted sum, whatever their number (the transpose of the linear map, reverse differentiation).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable
from typing import Any

from .scalar import Scalar, is_number, is_zero, where

_numbers = itertools.count()


class Form:
    """A linear form: the sum of forms before it, each times a scalar, or there only under a condition.

    parts   (form, factor), or (form, (condition, side)): the form where the condition has the truth `side`
    """

    __slots__ = ("number", "parts")
    __array_ufunc__ = None  # NumPy's scalars let the form answer

    def __init__(self, *parts: tuple[Form, Any]) -> None:
        self.parts, self.number = parts, next(_numbers)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Form):
            return Form((self, 1.0), (other, 1.0))
        return self if is_zero(other) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Form):
            return Form((self, 1.0), (other, -1.0))
        return self if is_zero(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self if is_zero(other) else NotImplemented

    def __neg__(self) -> Form:
        return Form((self, -1.0))

    def __mul__(self, factor: Any) -> Any:
        if isinstance(factor, Form):
            return NotImplemented
        if is_number(factor) and factor in (0, 1):
            return self if factor else 0.0
        return Form((self, factor))

    __rmul__ = __mul__

    def blend(self, condition: Any, a: Any, b: Any) -> Any:
        """`where(condition, a, b)` of forms and zeros."""
        if is_number(condition):
            return a if condition else b
        sides = ((a, True), (b, False))
        return Form(*((x, (condition, side)) for x, side in sides if isinstance(x, Form)))


def weights(results: Iterable[tuple[Any, Scalar]]) -> dict[int, Scalar]:
    """The weights of forms in a weighted sum of some, by the `number` of each; of forms that are not in it there is none.

    results   (form or 0.0, its weight)
    """
    found: dict[int, Scalar] = {}
    waiting: list[tuple[int, Form]] = []

    def add(form: Form, weight: Scalar) -> None:
        if is_zero(weight):
            return
        known = found.get(form.number)
        if known is None:
            heapq.heappush(waiting, (-form.number, form))
        found[form.number] = weight if known is None else known + weight

    for form, weight in results:
        if isinstance(form, Form):
            add(form, weight)
    while waiting:  # the latest first: all that is made of a form came after it
        form = heapq.heappop(waiting)[1]
        weight = found[form.number]
        for part, factor in form.parts:
            if isinstance(factor, tuple):
                condition, side = factor
                add(part, where(condition, weight, 0.0) if side else where(condition, 0.0, weight))
            else:
                add(part, weight * factor)
    return found
