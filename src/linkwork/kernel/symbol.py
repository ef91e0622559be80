"""Symbols: opaque traced scalars around CasADi's SX.

A symbol lives well in NumPy object arrays: arithmetic, `@`, cross, stack and einsum work. What a traced value cannot
know (its truth, its float, an equality) raises and names the replacement. Constants never become symbols: an operation
whose result is known returns a Python float (a comparison: a NumPy bool), so zeros and ones fold before CasADi sees them.

Symbols simplify like real numbers, in CasADi or before: `0 x` and `x - x` are 0, `(x + y) - y` is x, `x <= x` holds and
`x^2 < 0` does not. Floating-point numbers may give NaN, or a rounding error, there; a rule that lives on that (a compensated sum,
`x <= x` as a test for NaN) computes something else when traced. A quotient by a number is a product with its reciprocal.

CasADi takes a while to import, so it is imported when something must be traced, not before.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..errors import SymbolError
from ..spatial.scalar import NUMBERS, Element, is_zero, truth


class _Casadi:
    """CasADi, imported on first use."""

    def __getattr__(self, name: str) -> Any:
        import casadi

        value = getattr(casadi, name)
        setattr(self, name, value)
        return value


ca = _Casadi()


class Symbol(Element):
    """A traced scalar. Operands of other kinds (jets, arrays) are asked instead, as Python does."""

    __slots__ = ("sx",)

    def __init__(self, sx: Any) -> None:
        self.sx = sx

    def like(self, x: Any) -> Symbol:
        return Symbol(wrap(x))

    # --- arithmetic -------------------------------------------------------------------------------------------------
    def __add__(self, other: Any) -> Any:
        return self if is_zero(other) else combined(ca.OP_ADD, self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self if is_zero(other) else combined(ca.OP_SUB, self, other)

    def __rsub__(self, other: Any) -> Any:
        return -self if is_zero(other) else combined(ca.OP_SUB, other, self)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, NUMBERS):
            if other == 0:
                return 0.0
            if other == 1:
                return self
            if other == -1:
                return -self
        return combined(ca.OP_MUL, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self * (1.0 / float(other)) if isinstance(other, NUMBERS) else combined(ca.OP_DIV, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if is_zero(other) else combined(ca.OP_DIV, other, self)

    def __neg__(self) -> Any:
        return unary(ca.OP_NEG, self)

    def __pos__(self) -> Symbol:
        return self

    def __pow__(self, n: Any) -> Any:
        if isinstance(n, NUMBERS):
            if n == 0.5:
                return self.sqrt()
            if float(n).is_integer() and abs(n) <= 16:
                product: Any = 1.0
                for _ in range(abs(int(n))):
                    product = product * self
                return product if n >= 0 else 1.0 / product
        return combined(ca.OP_POW, self, n)

    def __rpow__(self, base: Any) -> Any:
        return combined(ca.OP_POW, base, self)

    def __abs__(self) -> Any:
        return unary(ca.OP_FABS, self)

    # --- comparisons are symbols too -----------------------------------------------------------------------------------
    def __lt__(self, other: Any) -> Any:
        return truth(combined(ca.OP_LT, self, other))

    def __le__(self, other: Any) -> Any:
        return truth(combined(ca.OP_LE, self, other))

    def __gt__(self, other: Any) -> Any:
        return truth(combined(ca.OP_LT, other, self))

    def __ge__(self, other: Any) -> Any:
        return truth(combined(ca.OP_LE, other, self))

    def __and__(self, other: Any) -> Any:
        return truth(combined(ca.OP_AND, self, truth(other)))

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        return truth(combined(ca.OP_OR, self, truth(other)))

    __ror__ = __or__

    def __invert__(self) -> Any:
        return unary(ca.OP_NOT, self)

    def select(self, a: Any, b: Any) -> Any:
        """`a` where this condition holds, else `b`; becomes one select instruction."""
        if a is b:
            return a
        return unwrap(ca.if_else(self.sx, wrap(a), wrap(b)))

    # --- what a traced value cannot know -------------------------------------------------------------------------------
    def __bool__(self) -> bool:
        raise SymbolError(
            "a traced value has no truth: `if`, `and`, `or`, `not`, min(), max() and comparisons of arrays cannot branch on it. "
            "Use lw.math.where(condition, a, b), lw.math.maximum, lw.math.minimum or lw.math.clip, of arrays entry by entry."
        )

    def __eq__(self, other: object) -> Any:
        raise SymbolError("traced values cannot be compared with ==; use lw.math.where(x <= y, ...) with an inequality.")

    def __ne__(self, other: object) -> Any:
        raise SymbolError("traced values cannot be compared with !=; use lw.math.where with an inequality.")

    def __float__(self) -> float:
        raise SymbolError(
            "a traced value is not a number yet: float(), math.sin() and writing into a float array need one. "
            "Use np.sin and friends, and lw.math.zeros(n) for arrays that take traced values."
        )

    __int__ = __index__ = __float__  # type: ignore[assignment]

    def __hash__(self) -> int:
        return self.sx.element_hash()

    def __repr__(self) -> str:
        return f"Symbol({self.sx})"

    # --- NumPy calls these for np.sin(x) and for arrays of symbols --------------------------------------------------------
    def sqrt(self) -> Any:
        return unary(ca.OP_SQRT, self)

    def sin(self) -> Any:
        return unary(ca.OP_SIN, self)

    def cos(self) -> Any:
        return unary(ca.OP_COS, self)

    def tan(self) -> Any:
        return unary(ca.OP_TAN, self)

    def arcsin(self) -> Any:
        return unary(ca.OP_ASIN, self)

    def arccos(self) -> Any:
        return unary(ca.OP_ACOS, self)

    def arctan(self) -> Any:
        return unary(ca.OP_ATAN, self)

    def arctan2(self, x: Any) -> Any:
        return combined(ca.OP_ATAN2, self, x)

    def exp(self) -> Any:
        return unary(ca.OP_EXP, self)

    def log(self) -> Any:
        return unary(ca.OP_LOG, self)

    def sinh(self) -> Any:
        return unary(ca.OP_SINH, self)

    def cosh(self) -> Any:
        return unary(ca.OP_COSH, self)

    def tanh(self) -> Any:
        return unary(ca.OP_TANH, self)

    def __floor__(self) -> Any:
        return unary(ca.OP_FLOOR, self)

    def __ceil__(self) -> Any:
        return unary(ca.OP_CEIL, self)

    def fabs(self) -> Any:
        return unary(ca.OP_FABS, self)

    def sign(self) -> Any:
        return unary(ca.OP_SIGN, self)


OPERANDS = (Symbol, *NUMBERS)


def variable(name: str) -> Symbol:
    """A new free symbol."""
    return Symbol(ca.SX.sym(name))


def wrap(x: Any) -> Any:
    """The SX of a symbol or number."""
    if isinstance(x, Symbol):
        return x.sx
    if isinstance(x, NUMBERS):
        return ca.SX(float(x)) if x != 0 or math.copysign(1.0, x) > 0 else minus_zero()
    raise SymbolError(f"a traced value cannot be combined with {type(x).__name__}; use numbers or other traced values.")


_constants: dict[float, Any] = {}


def minus_zero() -> Any:
    """The symbol that stands for -0.0, as CasADi knows one zero only: an input of every function that is made of symbols."""
    return _constants.setdefault(-0.0, ca.SX.sym("minus_zero"))  # the same for all threads


def unwrap(sx: Any) -> Any:
    """A symbol, or a float where CasADi found the value to be constant."""
    return float(sx) if sx.is_constant() else Symbol(sx)


def binary(op: int, a: Any, b: Any) -> Any:
    """One CasADi operation of two operands (its generic entry is seven times faster than the overloaded operators)."""
    sx = ca.SX.binary(op, a.sx if type(a) is Symbol else wrap(a), b.sx if type(b) is Symbol else wrap(b))
    return float(sx) if sx.is_constant() else Symbol(sx)


def combined(op: int, a: Any, b: Any) -> Any:
    """As `binary`; what is neither symbol nor number is Python's NotImplemented, so that the other operand is asked."""
    return binary(op, a, b) if isinstance(a, OPERANDS) and isinstance(b, OPERANDS) else NotImplemented


def unary(op: int, a: Symbol) -> Any:
    """One CasADi operation of one operand."""
    return unwrap(ca.SX.unary(op, a.sx))


def traced_digest(function: Callable[..., Iterable[Any]], *sizes: int) -> str:
    """A digest of what a function of vectors (of these sizes) computes: the same in every process, for the same expressions."""
    vectors = [np.array([variable(f"x{i}_{k}") for k in range(size)] + [None], dtype=object)[:-1] for i, size in enumerate(sizes)]
    symbols = [x.sx for vector in vectors for x in vector]
    outputs = [wrap(x) for x in function(*vectors)]
    f = ca.Function("traced", [ca.vertcat(*symbols, minus_zero())], [ca.vertcat(*outputs)])
    return hashlib.sha256(f.serialize().encode()).hexdigest()
