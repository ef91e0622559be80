"""Functions of scalars of any kind: floats, jets and traced symbols (public as `linkwork.math`).

A local rule may not branch on a value that is not yet known. `where(x < 1, a, b)` says the same for numbers and for
symbols; the comparison of symbols is itself a symbol that offers `select(a, b)`. Conditions combine by `&` and `|`. Their
negation is `logical_not`: `~` knows nothing of Python's own bools, which numbers that fold may leave (`~True` is -2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, SymbolError

Scalar = Any  # float, Jet or Symbol
Vector = np.ndarray  # of floats, or of dtype object holding scalars
NUMBERS = (float, int, np.floating, np.integer, np.bool_)

# NumPy's functions that would ask a scalar of ours for its truth, or a float for a method, and what they call instead.
METHODS = {
    np.sign: "sign",
    np.arctan2: "arctan2",
    np.hypot: "hypot",
    np.remainder: "__mod__",
    np.logical_not: "__invert__",
    np.less: "__lt__",
    np.less_equal: "__le__",
    np.greater: "__gt__",
    np.greater_equal: "__ge__",
}


class Element:
    """What jets and symbols share: NumPy's functions take them together with numbers and arrays."""

    __slots__ = ()

    def like(self, x: Any) -> Any:
        """A scalar as one of this kind."""
        raise NotImplementedError

    def _unknown(self, *_: Any) -> Any:
        raise SymbolError(
            "a traced value is not a number yet: it has no digits, and cannot be rounded, counted or printed as one"
        )

    def __float__(self) -> float:
        raise SymbolError(
            "a traced value is not a number yet: float(), math.sin() and writing into a float array need one. "
            "Use np.sin and friends, and lw.math.zeros(n) for arrays that take traced values. np.interp and a[int(x)] are "
            "lookups: give the data as a parameter, lw.samples(x, y) or lw.Table(a), and use lw.interp(x, samples) or table[i]."
        )

    __int__ = __index__ = __float__  # type: ignore[assignment]
    __round__ = __trunc__ = __floor__ = __ceil__ = __complex__ = _unknown

    def __format__(self, spec: str) -> str:
        return self._unknown() if spec else repr(self)

    def hypot(self: Any, other: Any) -> Any:
        return np.sqrt(self * self + other * other)

    def deg2rad(self: Any) -> Any:
        return self * (np.pi / 180.0)

    def rad2deg(self: Any) -> Any:
        return self * (180.0 / np.pi)

    def __mod__(self: Any, other: Any) -> Any:
        return self - other * np.floor(self / other)

    def __rmod__(self, other: Any) -> Any:
        return self.like(other).__mod__(self)

    radians, degrees = deg2rad, rad2deg

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        if ufunc in METHODS and not options and all(np.ndim(x) == 0 for x in operands):
            first, *rest = (x.item() if isinstance(x, np.ndarray) else x for x in operands)
            return getattr(self.like(first), METHODS[ufunc])(*rest)
        boxed = (np.array(x, dtype=object) if isinstance(x, Element) else x for x in operands)
        return getattr(ufunc, method)(*boxed, **options)


def truth(x: Any) -> Any:
    """A truth that `~`, `&` and `|` understand: np.bool_ where it is known, else the traced value or the array itself."""
    if not isinstance(x, NUMBERS):
        return x
    if isinstance(x, int) and x < 0:
        raise InputError(f"a condition is {x}: `~` of a Python bool is an integer. Use lw.math.logical_not.")
    return np.bool_(x)


def logical_not(condition: Scalar) -> Scalar:
    """Whether a condition, known or traced, does not hold."""
    return np.logical_not(condition)


def where(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """`a` where the condition holds, else `b`; both are evaluated. NaN makes a comparison false, as in NumPy."""
    for value in (a, b):
        if hasattr(value, "blend"):
            return value.blend(condition, a, b)
    condition = truth(condition)
    if hasattr(condition, "select"):
        return condition.select(a, b)
    if isinstance(condition, np.ndarray) and condition.ndim:
        return np.where(condition, a, b)
    return a if condition else b


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two scalars; NaN if either is NaN."""
    return where(a >= b, a, where(b > a, b, a + b))


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two scalars; NaN if either is NaN."""
    return where(a <= b, a, where(b < a, b, a + b))


def clip(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """`x` limited to [low, high]."""
    return minimum(maximum(x, low), high)


def absolute(x: Scalar) -> Scalar:
    """|x|."""
    return np.abs(x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """The angle of the point (x, y), in [-pi, pi]."""
    return np.arctan2(y, x)


def zeros(*shape: int) -> np.ndarray:
    """An array of zeros that can hold any kind of scalar; assign entries freely."""
    return np.full(shape, 0.0, dtype=object)


def dot(a: Vector, b: Vector) -> Scalar:
    """Sum of products, in index order."""
    total = a[0] * b[0]
    for k in range(1, len(a)):
        total = total + a[k] * b[k]
    return total


def norm(x: Vector) -> Scalar:
    """Euclidean length; its derivative at zero does not exist (use `dot(x, x)` and an entire function instead)."""
    return np.sqrt(dot(x, x))


def cross(a: Vector, b: Vector) -> Vector:
    """a x b for 3-vectors of any scalars."""
    return stack(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def stack(*entries: Scalar) -> Vector:
    """A vector of the entries: float64 where all are numbers, dtype object otherwise."""
    if all(isinstance(e, NUMBERS) for e in entries):
        return np.array(entries, dtype=float)
    out = np.empty(len(entries), dtype=object)
    out[:] = entries
    return out


def array(nested: Any) -> np.ndarray:
    """An array of nested scalars: float64 where all are numbers, dtype object otherwise."""
    out = np.array(nested, dtype=object)
    return numeric(out)


def numeric(a: np.ndarray) -> np.ndarray:
    """The same array as float64 if every entry is a number, else unchanged."""
    if a.dtype != object:
        return a
    if all(isinstance(e, NUMBERS) for e in a.flat):
        try:
            return a.astype(float)
        except OverflowError:
            raise InputError("a whole number is too large for a float") from None
    return a


def read_only(a: np.ndarray) -> np.ndarray:
    """The array, which nobody can write to from here on. It must be ours: freeze copies of what a user gave."""
    a.setflags(write=False)
    return a


def is_zero(x: Scalar) -> bool:
    """True if x is the number 0 (a symbol is never known to be zero)."""
    return is_number(x) and x == 0


def is_one(x: Scalar) -> bool:
    """True if x is the number 1."""
    return is_number(x) and x == 1


def is_number(x: Scalar) -> bool:
    """True if x is a plain number, known now."""
    return isinstance(x, NUMBERS)


def ldl(A: np.ndarray) -> tuple[np.ndarray, Vector]:
    """A = L diag(1/d_inv) L^T for a symmetric definite matrix; only its lower triangle is read. Returns (L, d_inv)."""
    n = len(A)
    A = np.array(A, dtype=object)
    L = zeros(n, n)
    d_inv = zeros(n)
    for k in range(n):
        d_inv[k] = 1.0 / A[k, k]
        L[k, k] = 1.0
        for r in range(k + 1, n):
            L[r, k] = A[r, k] * d_inv[k]
        for r in range(k + 1, n):
            for c in range(k + 1, r + 1):
                A[r, c] = A[r, c] - A[r, k] * L[c, k]
    return L, d_inv


def ldl_solve(L: np.ndarray, d_inv: Vector, b: np.ndarray) -> np.ndarray:
    """x with L diag(1/d_inv) L^T x = b, for a vector or the columns of a matrix."""
    y = lower_solve(L, b)
    return upper_solve(L.T, y * (d_inv if y.ndim == 1 else d_inv.reshape(-1, 1)))


def lower_solve(L: np.ndarray, b: np.ndarray) -> np.ndarray:
    """L^-1 b with a unit lower triangle, for a vector or the columns of a matrix."""
    x = np.array(b, dtype=object)
    for k in range(len(L)):
        for r in range(k + 1, len(L)):
            x[r] = x[r] - L[r, k] * x[k]
    return numeric(x)


def upper_solve(R: np.ndarray, b: np.ndarray) -> np.ndarray:
    """R^-1 b with a unit upper triangle, for a vector or the columns of a matrix."""
    x = np.array(b, dtype=object)
    for k in reversed(range(len(R))):
        for c in range(k + 1, len(R)):
            x[k] = x[k] - R[k, c] * x[c]
    return numeric(x)


def solve(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A^-1 b of any regular matrix, for a vector or the columns of a matrix, by elimination; of two rows the one with the larger
    entry goes first, chosen by `where`."""
    n, single = len(A), np.ndim(b) == 1
    rows = [[*A[r], *np.atleast_1d(b[r])] for r in range(n)]
    for k in range(n):
        for r in range(k + 1, n):
            larger = np.abs(rows[r][k]) > np.abs(rows[k][k])
            pairs = list(zip(rows[r], rows[k], strict=True))
            rows[k], rows[r] = [where(larger, a, b) for a, b in pairs], [where(larger, b, a) for a, b in pairs]
        d = 1.0 / rows[k][k]
        rows[k] = [x * d for x in rows[k]]
        for r in range(n):
            if r != k:
                factor = rows[r][k]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[k], strict=True)]
    return array([row[n] for row in rows]) if single else array([row[n:] for row in rows])


def solve_spd(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A^-1 b for a symmetric positive (or negative) definite A, without pivoting; numbers that are not symmetric are refused."""
    _require_symmetric(A, "solve_spd", "solve")
    return ldl_solve(*ldl(A), b)


def inv_spd(A: np.ndarray) -> np.ndarray:
    """A^-1, exactly symmetric, for a symmetric definite A; numbers that are not symmetric are refused."""
    _require_symmetric(A, "inv_spd", "inv")
    n = len(A)
    inverse = np.array(ldl_solve(*ldl(A), np.eye(n)), dtype=object)
    for r in range(n):
        for c in range(r):
            inverse[r, c] = inverse[c, r]
    return numeric(inverse)


def _require_symmetric(A: np.ndarray, function: str, other: str) -> None:
    """Raise if a matrix of numbers is not symmetric: only its lower triangle would count."""
    A = np.asarray(A)
    if A.dtype == object or np.allclose(A, A.T, rtol=1e-6, atol=1e-9 * np.abs(A).max(initial=0.0), equal_nan=True):
        return
    r, c = np.unravel_index(np.argmax(np.abs(A - A.T)), A.shape)
    unequal = f"A[{r}, {c}] = {A[r, c]:g}, A[{c}, {r}] = {A[c, r]:g}"
    raise InputError(f"lw.math.{function}: the matrix must be symmetric, but {unequal}; use lw.math.{other}")


def lu_inverse(A: np.ndarray) -> np.ndarray:
    """A^-1 of any matrix that needs no pivoting (close to symmetric definite), by elimination."""
    n = len(A)
    A = np.array(A, dtype=object)
    X = np.array(np.eye(n), dtype=object)
    for k in range(n):
        d = 1.0 / A[k, k]
        A[k], X[k] = A[k] * d, X[k] * d
        for r in range(n):
            if r != k:
                factor = A[r, k]
                A[r], X[r] = A[r] - factor * A[k], X[r] - factor * X[k]
    return numeric(X)


def pivoted_inverse(A: np.ndarray) -> np.ndarray:
    """A^-1 of any regular matrix, by elimination with pivoting (see `solve`)."""
    return solve(A, np.eye(len(A)))


def inv(A: np.ndarray) -> np.ndarray:
    """A^-1 of a regular matrix of any scalars, up to 3x3 by cofactors, larger ones by elimination with pivoting."""
    n = len(A)
    if n > 3:
        return pivoted_inverse(A)
    if n == 1:
        return array([[1.0 / A[0, 0]]])
    if n == 2:
        d = 1.0 / (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])
        return array([[A[1, 1] * d, -A[0, 1] * d], [-A[1, 0] * d, A[0, 0] * d]])
    columns = [cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1])]
    d = 1.0 / dot(A[0], columns[0])
    return array([[columns[c][r] * d for c in range(3)] for r in range(3)])
