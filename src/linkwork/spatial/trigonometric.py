"""Sums of products of symbols with a cosine or sine of angles: a normal form in which equal expressions are equal.

Products of cosines and sines become sums (cos a cos b = cos(a + b)/2 + cos(a - b)/2), so cos^2 + sin^2 is 1 without being
told, and cos q1 cos q2 - sin q1 sin q2 is cos(q1 + q2). Rules of mechanics run on these scalars as on numbers, as long as
they take sines of sums of coordinates and divide by numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import SymbolError
from .scalar import NUMBERS, Element

Powers = tuple[tuple[str, int], ...]  # of symbols, by name
Angle = tuple[tuple[str, float], ...]  # multiples of symbols, by name; the first is positive
Term = tuple[Powers, str, Angle]  # "" (no angle), "cos" or "sin"
ROUND = 1e-12  # of the largest coefficient: less is rounding


class Trigonometric(Element):
    """A sum of terms, each a coefficient times powers of symbols times at most one cosine or sine."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Term, float]) -> None:
        self.terms = dict(terms)

    def like(self, x: Any) -> Trigonometric:
        return x if isinstance(x, Trigonometric) else Trigonometric({((), "", ()): float(x)})

    # --- arithmetic --------------------------------------------------------------------------------------------------------
    def __add__(self, other: Any) -> Any:
        if not isinstance(other, (Trigonometric, *NUMBERS)):
            return NotImplemented
        terms = dict(self.terms)
        for term, c in self.like(other).terms.items():
            terms[term] = terms.get(term, 0.0) + c
        return _made(terms)

    __radd__ = __add__

    def __neg__(self) -> Trigonometric:
        return Trigonometric({term: -c for term, c in self.terms.items()})

    def __sub__(self, other: Any) -> Any:
        return self + (-1.0) * other if isinstance(other, (Trigonometric, *NUMBERS)) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, (Trigonometric, *NUMBERS)):
            return NotImplemented
        terms: dict[Term, float] = {}
        for (p, f, a), c in self.terms.items():
            for (q, g, b), d in self.like(other).terms.items():
                powers = _joined(p, q)
                for sign, h, angle in _product(f, a, g, b):
                    term = (powers, h, angle)
                    terms[term] = terms.get(term, 0.0) + sign * c * d
        return _made(terms)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, NUMBERS):
            raise SymbolError("this expression divides by something that is not a number: it has no such form")
        return self * (1.0 / float(other))

    def __rtruediv__(self, other: Any) -> Any:
        raise SymbolError("this expression divides by something that is not a number: it has no such form")

    def __pow__(self, n: int) -> Any:
        if not isinstance(n, int) or n < 0:
            raise SymbolError(f"a power of {n!r} has no such form")
        out: Any = 1.0
        for _ in range(n):
            out = out * self
        return out

    def cos(self) -> Any:
        """The cosine of a sum of multiples of symbols and a number."""
        angle, shift = self._angle()
        return math.cos(shift) * _wave("cos", angle) - math.sin(shift) * _wave("sin", angle)

    def sin(self) -> Any:
        """The sine, likewise."""
        angle, shift = self._angle()
        return math.cos(shift) * _wave("sin", angle) + math.sin(shift) * _wave("cos", angle)

    def _angle(self) -> tuple[dict[str, float], float]:
        angle, shift = {}, 0.0
        for (powers, f, _), c in self.terms.items():
            if not powers and not f:
                shift = c
            elif len(powers) == 1 and powers[0][1] == 1 and not f:
                angle[powers[0][0]] = c
            else:
                raise SymbolError("the cosine of a product has no such form")
        return angle, shift

    # --- what it is ----------------------------------------------------------------------------------------------------------
    def value(self, values: Mapping[str, float]) -> float:
        """The number that it is where symbols have these values."""
        total = 0.0
        for (powers, f, angle), c in self.terms.items():
            x = sum(k * values[name] for name, k in angle)
            wave = {"": 1.0, "cos": math.cos(x), "sin": math.sin(x)}[f]
            total += c * wave * math.prod(values[name] ** n for name, n in powers)
        return total

    def part(self, wanted: Callable[[Powers], bool]) -> Any:
        """The terms whose symbols are as wanted."""
        return _made({term: c for term, c in self.terms.items() if wanted(term[0])})

    def without(self, name: str) -> Any:
        """All terms with one power of this symbol less."""
        return _made({(_joined(p, ((name, -1),)), f, a): c for (p, f, a), c in self.terms.items()})


def symbol(name: str) -> Trigonometric:
    """The symbol itself."""
    return Trigonometric({(((name, 1),), "", ()): 1.0})


def _made(terms: dict[Term, float]) -> Any:
    """A number where nothing but one is left."""
    largest = max(map(abs, terms.values()), default=0.0)
    left = {term: c for term, c in terms.items() if abs(c) > ROUND * largest}
    if not left:
        return 0.0
    if len(left) == 1 and ((), "", ()) in left:
        return left[(), "", ()]
    return Trigonometric(left)


def _joined(p: Powers, q: Powers) -> Powers:
    total = dict(p)
    for name, n in q:
        total[name] = total.get(name, 0) + n
    return tuple(sorted((name, n) for name, n in total.items() if n))


def _wave(f: str, angle: Mapping[str, float]) -> Any:
    sign, g, made = _normal(f, dict(angle))
    return _made({((), g, made): sign}) if sign else 0.0


def _normal(f: str, angle: dict[str, float]) -> tuple[float, str, Angle]:
    """sign, function and angle with a positive first multiple."""
    made = tuple(sorted((name, k) for name, k in angle.items() if abs(k) > ROUND))
    if not made:
        return (1.0, "", ()) if f == "cos" else (0.0, "", ())
    if made[0][1] > 0:
        return 1.0, f, made
    return (1.0 if f == "cos" else -1.0), f, tuple((name, -k) for name, k in made)


def _product(f: str, a: Angle, g: str, b: Angle) -> list[tuple[float, str, Angle]]:
    """The product of two waves as a sum of waves."""
    if not f or not g:
        return [(1.0, f or g, a or b)]
    total, between = dict(a), dict(a)
    for name, k in b:
        total[name], between[name] = total.get(name, 0.0) + k, between.get(name, 0.0) - k
    if f == g:
        signs = (-0.5, 0.5) if f == "sin" else (0.5, 0.5)
        found = [(signs[0], "cos", total), (signs[1], "cos", between)]
    else:
        found = [(0.5, "sin", total), (0.5 if f == "sin" else -0.5, "sin", between)]
    out = []
    for c, h, angle in found:
        sign, k, made = _normal(h, angle)
        if sign:
            out.append((c * sign, k, made))
    return out


def terms_of(x: Any) -> dict[Term, float]:
    """The terms of an expression or a number."""
    if isinstance(x, Trigonometric):
        return x.terms
    return {((), "", ()): float(x)} if np.asarray(x, float) else {}
