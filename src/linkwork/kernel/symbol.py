"""Symbols: opaque traced scalars, each a node of a graph of operations.

A symbol lives well in NumPy object arrays: arithmetic, `@`, cross, stack and einsum work. What a traced value cannot
know (its truth, its float, an equality) raises and names the replacement. Constants never become symbols: an operation
whose result is known returns a Python float (a comparison: a NumPy bool), so zeros and ones fold before anything is recorded.

Equal expressions are one object: a symbol remembers what was computed from it, sums and products in either order. So
there is no recording besides the symbols: threads trace side by side, and what nobody holds any more is garbage.

A simplification never changes a rounding. Signs move outwards, where they often meet another or end in a difference:
(-x) y = -(x y), x + (-y) = x - y, -x - y = -(x + y). `0 x` and `x - x` are 0, as they are for finite numbers; the sign of a zero
may be lost. A quotient by a number is a product with its reciprocal, the one exception.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import LinkworkError, SymbolError
from ..spatial.scalar import NUMBERS, Element, is_zero, truth

COMMUTATIVE = frozenset(("add", "mul", "and", "or"))
CONDITIONS = frozenset(("lt", "le", "and", "or", "not"))  # their values are 0 and 1
INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "and": "&", "or": "|"}
SHOWN = 6  # levels of an expression in its `repr`


class Symbol(Element):
    """A traced scalar. Operands of other kinds (jets, arrays) are asked instead, as Python does.

    op      what it is: an operation, "variable", or "const" for a number that had to be a symbol
    args    the operands, symbols and floats; of a variable its name
    uses    what was computed from it: (operation, the other operand) -> symbol
    """

    __slots__ = ("args", "op", "uses")

    def __init__(self, op: str, args: tuple[Any, ...]) -> None:
        self.op, self.args = op, args
        self.uses: dict[tuple[Any, ...], Symbol] | None = None

    def like(self, x: Any) -> Symbol:
        x = operand(x)
        return x if isinstance(x, Symbol) else Symbol("const", (x,))

    # --- arithmetic -------------------------------------------------------------------------------------------------
    def __add__(self, other: Any) -> Any:
        if type(other) is Symbol:
            if other.op == "neg":
                return self - other.args[0]
            if self.op == "neg":
                return other - self.args[0]
            return recorded("add", self, other)
        if not isinstance(other, NUMBERS):
            return NotImplemented
        if other == 0:
            return self
        return recorded("sub", float(other), self.args[0]) if self.op == "neg" else recorded("add", self, float(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if type(other) is Symbol:
            if other is self:
                return 0.0
            if other.op == "neg":
                return self + other.args[0]
            if self.op == "neg":
                return -(self.args[0] + other)
            return recorded("sub", self, other)
        return self + -float(other) if isinstance(other, NUMBERS) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if type(other) is Symbol:
            if self.op == "neg":
                return -(self.args[0] * other)
            if other.op == "neg":
                return -(self * other.args[0])
            return recorded("mul", self, other)
        if not isinstance(other, NUMBERS):
            return NotImplemented
        if other == 0:
            return 0.0
        if other == 1:
            return self
        if other == -1:
            return -self
        return -(self.args[0] * other) if self.op == "neg" else recorded("mul", self, float(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, NUMBERS):
            return self * (1.0 / float(other))
        return quotient(self, other) if type(other) is Symbol else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        if not isinstance(other, NUMBERS):
            return NotImplemented
        return 0.0 if is_zero(other) else quotient(float(other), self)

    def __neg__(self) -> Any:
        return self.args[0] if self.op == "neg" else unary("neg", self)

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
        return combined("pow", self, n)

    def __rpow__(self, base: Any) -> Any:
        return combined("pow", base, self)

    def __abs__(self) -> Any:
        return unary("abs", self)

    # --- comparisons are symbols too -----------------------------------------------------------------------------------
    def __lt__(self, other: Any) -> Any:
        return combined("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return combined("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return combined("lt", other, self)

    def __ge__(self, other: Any) -> Any:
        return combined("le", other, self)

    def __and__(self, other: Any) -> Any:
        other = truth(other)
        if isinstance(other, np.bool_) and (not other or self.op in CONDITIONS):
            return self if other else other
        return combined("and", self, other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        other = truth(other)
        if isinstance(other, np.bool_) and (other or self.op in CONDITIONS):
            return other if other else self
        return combined("or", self, other)

    __ror__ = __or__

    def __invert__(self) -> Any:
        inner = self.args[0]
        return inner if self.op == "not" and inner.op in CONDITIONS else unary("not", self)

    def select(self, a: Any, b: Any) -> Any:
        """`a` where this condition holds, else `b`; becomes one select instruction."""
        a, b = operand(a), operand(b)
        p, q = key(a), key(b)
        if p == q:
            return a
        if self.op == "not":
            return self.args[0].select(b, a)
        return known(self, ("select", p, q), "select", (self, a, b))

    def gather(self, place: Any, k: int) -> Any:
        """Number k after a place that only the run knows, in the data that this symbol stands for (see `spatial.table`)."""
        place = operand(place)
        return known(self, ("gather", key(place), k), "gather", (self, place, float(k)))

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

    __hash__ = object.__hash__  # equal expressions are one object

    def __repr__(self) -> str:
        return f"Symbol({text(self, SHOWN)})"

    # --- NumPy calls these for np.sin(x) and for arrays of symbols --------------------------------------------------------
    def sqrt(self) -> Any:
        return unary("sqrt", self)

    def sin(self) -> Any:
        return unary("sin", self)

    def cos(self) -> Any:
        return unary("cos", self)

    def tan(self) -> Any:
        return unary("tan", self)

    def arcsin(self) -> Any:
        return unary("asin", self)

    def arccos(self) -> Any:
        return unary("acos", self)

    def arctan(self) -> Any:
        return unary("atan", self)

    def arctan2(self, x: Any) -> Any:
        return combined("atan2", self, x)

    def exp(self) -> Any:
        return unary("exp", self)

    def expm1(self) -> Any:
        return unary("expm1", self)

    def log(self) -> Any:
        return unary("log", self)

    def log1p(self) -> Any:
        return unary("log1p", self)

    def sinh(self) -> Any:
        return unary("sinh", self)

    def cosh(self) -> Any:
        return unary("cosh", self)

    def tanh(self) -> Any:
        return unary("tanh", self)

    def arcsinh(self) -> Any:
        return unary("asinh", self)

    def arccosh(self) -> Any:
        return unary("acosh", self)

    def arctanh(self) -> Any:
        return unary("atanh", self)

    def __floor__(self) -> Any:
        return unary("floor", self)

    def __ceil__(self) -> Any:
        return unary("ceil", self)

    def fabs(self) -> Any:
        return unary("abs", self)

    def sign(self) -> Any:
        return unary("sign", self)


# --- recording ------------------------------------------------------------------------------------------------------------
def variable(name: str) -> Symbol:
    """A new free symbol."""
    return Symbol("variable", (name,))


def known(owner: Symbol, use: tuple[Any, ...], op: str, args: tuple[Any, ...]) -> Symbol:
    """The symbol of an operation that `owner` remembers as `use`: that of an equal one before, or a new one."""
    uses = owner.uses
    if uses is None:
        uses = owner.uses = {}
    found = uses.get(use)
    if found is None:
        found = uses[use] = Symbol(op, args)
    return found


def unary(op: str, a: Symbol) -> Symbol:
    """An operation of one operand."""
    return known(a, (op,), op, (a,))


def recorded(op: str, a: Any, b: Any) -> Symbol:
    """An operation of two operands, symbols or floats, one symbol at least."""
    if type(a) is not Symbol:
        return known(b, (op, key(a), "first"), op, (a, b))
    if type(b) is Symbol and op in COMMUTATIVE and id(b) < id(a):
        return known(b, (op, id(a)), op, (a, b))
    return known(a, (op, key(b)), op, (a, b))


def combined(op: str, a: Any, b: Any) -> Any:
    """As `recorded`; what is neither symbol nor number is Python's NotImplemented, so that the other operand is asked."""
    if not (isinstance(a, OPERANDS) and isinstance(b, OPERANDS)):
        return NotImplemented
    if type(a) is Symbol and a.op == "const" and type(b) is Symbol:  # from `like`
        a = a.args[0]
    return recorded(op, operand(a), operand(b))


def quotient(a: Any, b: Symbol) -> Any:
    """a / b, the sign outside."""
    if b.op == "neg":
        return -quotient(a, b.args[0])
    if type(a) is Symbol and a.op == "neg":
        return -recorded("div", a.args[0], b)
    return recorded("div", a, b)


OPERANDS = (Symbol, *NUMBERS)


def operand(x: Any) -> Any:
    """A symbol, or a number as a float."""
    if type(x) is Symbol:
        return x
    if isinstance(x, NUMBERS):
        return float(x)
    raise SymbolError(f"a traced value cannot be combined with {type(x).__name__}; use numbers or other traced values.")


def key(x: Symbol | float) -> Any:
    """What tells operands apart: 0.0 is another constant than -0.0. Ids last: what remembers them holds their symbols."""
    if type(x) is Symbol:
        return id(x)
    return (x,) if x else (x, math.copysign(1.0, x))  # type: ignore[arg-type]


# --- reading ------------------------------------------------------------------------------------------------------------------
def ordered(inputs: Iterable[Symbol], outputs: Iterable[Any]) -> list[Symbol]:
    """The symbols that the outputs need, depth first: operands in their order, just before they are first needed."""
    free = {id(s) for s in inputs}
    done: set[int] = set()
    order: list[Symbol] = []
    for output in outputs:
        stack = [output] if type(output) is Symbol else []
        while stack:
            node = stack[-1]
            for a in node.args:
                if type(a) is Symbol and id(a) not in done:
                    stack.append(a)
                    break
            else:
                stack.pop()
                if id(node) not in done:
                    if node.op == "variable" and id(node) not in free:
                        raise SymbolError(f"{node.args[0]!r} is no input of what is traced: it comes from somewhere else.")
                    done.add(id(node))
                    order.append(node)
    return order


def text(x: Any, levels: int) -> str:
    """An expression as one would write it; what is deeper than some levels is left out."""
    if type(x) is not Symbol:
        return f"{x:g}"
    if x.op in ("variable", "const"):
        return str(x.args[0])
    if not levels:
        return "..."
    args = [text(a, levels - 1) for a in x.args]
    if x.op in INFIX:
        return f"({INFIX[x.op].join(args)})"
    return f"{x.op}({', '.join(args)})"


def traced_digest(function: Callable[..., Sequence[Any]], *sizes: int) -> str:
    """A digest of what a function of vectors (of these sizes) computes: the same in every process, for the same expressions."""
    vectors = [np.array([variable(f"x{i}_{k}") for k in range(size)] + [None], dtype=object)[:-1] for i, size in enumerate(sizes)]
    try:
        outputs = [operand(x) for x in function(*vectors)]
    except LinkworkError:
        raise
    except Exception as error:
        raise SymbolError(
            f"a function failed on traced values: {type(error).__name__}: {' '.join(str(error).split())}"
        ) from error
    number: dict[int, int] = {}
    lines: list[Any] = [sizes]
    for node in ordered((x for vector in vectors for x in vector), outputs):
        lines.append((node.op, *(number[id(a)] if type(a) is Symbol else a for a in node.args)))
        number[id(node)] = len(number)
    lines.append([number[id(x)] if type(x) is Symbol else x for x in outputs])
    return hashlib.sha256(repr(lines).encode()).hexdigest()
