"""Symbols: numbers fold before anything is traced, NumPy's array functions work, and what cannot be known says what to use."""

from __future__ import annotations

import functools
import gc
import math
import operator
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import symbols

from linkwork.errors import LinkworkError, SymbolError
from linkwork.kernel.symbol import Symbol, ordered, traced_digest, variable
from linkwork.spatial.scalar import cross, dot, stack

X, Y, Z = (variable(name) for name in "xyz")
AT = {"x": 0.75, "y": -1.5, "z": 2.25}  # sums and products of these are exact
VECTOR = np.array([X, Y, Z], dtype=object)
NUMBERS = np.array(list(AT.values()))


def evaluated(expression: Any, **at: float) -> Any:
    """The value of a traced expression, or of an array of them, where x, y and z have these values."""
    if isinstance(expression, np.ndarray):
        return np.array([evaluated(e, **at) for e in expression.flat]).reshape(expression.shape)
    return float(symbols.evaluated([expression], [X, Y, Z], [*(AT | at).values()])[0])


def test_the_sample_evaluates() -> None:
    assert evaluated(VECTOR).tolist() == NUMBERS.tolist()


# --- folding ----------------------------------------------------------------------------------------------------------
KNOWN: dict[str, tuple[Callable[[Symbol], Any], float]] = {
    "0 x": (lambda x: 0 * x, 0.0),
    "x 0.0": (lambda x: x * 0.0, 0.0),
    "x zero of NumPy": (lambda x: x * np.float32(0), 0.0),
    "0 / x": (lambda x: 0 / x, 0.0),
    "x - x": (lambda x: x - x, 0.0),
    "x + -x": (lambda x: x + -x, 0.0),
    "x^0": (lambda x: x**0, 1.0),
    "zeros selected": (lambda x: (x < 1).select(0, 0.0), 0.0),
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known_is_a_float(name: str) -> None:
    compute, expected = KNOWN[name]
    result = compute(X)
    assert type(result) is float
    assert result == expected


@pytest.mark.parametrize(("x", "y"), [(1e-17, 1.0), (0.1, 0.7), (1e300, 1e300), (math.inf, 1.0), (math.nan, 2.0)])
def test_nothing_changes_a_rounding(x: float, y: float) -> None:
    """What real numbers would cancel stays, to the last bit and with every NaN."""
    for f in (
        lambda x, y: (x + y) - y,
        lambda x, y: (x - y) + y,
        lambda x, y: y - (y - x),
        lambda x, y: (x / y) * y,
        lambda x, y: (x * y) / y,
        lambda x, y: x * (1.0 / y),
        lambda x, y: x / x,
        lambda x, y: 0.1 * (10.0 * x) + 3.0 * x,
    ):
        with np.errstate(all="ignore"):
            expected = f(np.float64(x), np.float64(y))
        assert np.array_equal(evaluated(f(X, Y), x=x, y=y), expected, equal_nan=True)


def test_comparisons_with_itself_tell_a_nan() -> None:
    assert evaluated(X <= X) == 1.0
    assert evaluated(X <= X, x=math.nan) == 0.0
    assert evaluated(X * X < 0.0, x=math.nan) == 0.0


ITSELF: dict[str, Callable[[Symbol], Any]] = {
    "1 x": lambda x: 1 * x,
    "x 1.0": lambda x: x * 1.0,
    "x one of NumPy": lambda x: x * np.int64(1),
    "x + 0": lambda x: x + 0,
    "0.0 + x": lambda x: 0.0 + x,
    "x - 0": lambda x: x - 0,
    "+x": lambda x: +x,
    "x / 1": lambda x: x / 1,
    "x^1": lambda x: x**1,
    "same object selected": lambda x: (Y < 1).select(x, x),
}


@pytest.mark.parametrize("name", ITSELF)
def test_neutral_operations_leave_the_symbol_itself(name: str) -> None:
    assert ITSELF[name](X) is X


@pytest.mark.parametrize("negative", [lambda x: 0 - x, lambda x: -1 * x, lambda x: x * -1.0, lambda x: x / -1])
def test_a_product_with_minus_one_is_a_negation(negative: Callable[[Symbol], Symbol]) -> None:
    result = negative(X)
    assert (result.op, result.args) == ("neg", (X,))
    assert evaluated(result) == -AT["x"]


def test_two_negations_cancel() -> None:
    minus = -X
    assert -minus is X


ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]
OPERANDS = [2, -4.0, 0.5, np.float64(2.0), np.float32(-4.0), np.int64(2), True]


@pytest.mark.parametrize("number", OPERANDS, ids=lambda n: f"{type(n).__name__} {n}")
@pytest.mark.parametrize("op", ARITHMETIC, ids=lambda f: f.__name__)
def test_arithmetic_with_numbers_of_either_side(op: Callable[[Any, Any], Any], number: Any) -> None:
    number_then_symbol, symbol_then_number = op(number, X), op(X, number)
    assert isinstance(symbol_then_number, Symbol)
    assert evaluated(symbol_then_number) == pytest.approx(op(AT["x"], float(number)), rel=1e-15, nan_ok=True)
    if not (op is operator.pow and number < 0):
        assert evaluated(number_then_symbol) == pytest.approx(op(float(number), AT["x"]), rel=1e-15)


@pytest.mark.parametrize("op", ARITHMETIC[:4], ids=lambda f: f.__name__)
def test_arithmetic_of_symbols(op: Callable[[Any, Any], Any]) -> None:
    assert evaluated(op(X, Y)) == op(AT["x"], AT["y"])
    assert evaluated(op(Y, X)) == op(AT["y"], AT["x"])


def test_absolute_value() -> None:
    assert evaluated(abs(Y)) == 1.5
    assert evaluated(abs(X)) == 0.75


@pytest.mark.parametrize("n", [2, 3, -1, -2, 5.0, 16, -16, 17, 0.5, 1.5, -0.5, np.int64(3), np.float64(0.5)])
def test_powers(n: Any) -> None:
    assert evaluated(X**n) == pytest.approx(AT["x"] ** float(n), rel=1e-14)
    assert evaluated(Z ** (n * X)) == pytest.approx(AT["z"] ** (float(n) * AT["x"]), rel=1e-14)


@pytest.mark.parametrize("n", [math.nan, math.inf, -math.inf], ids=str)
def test_powers_that_are_no_numbers(n: float) -> None:
    for x in (0.5, 1.0, 2.0):
        assert evaluated(X**n, x=x) == pytest.approx(x**n, nan_ok=True)


def test_small_whole_powers_are_products_and_halves_are_roots() -> None:
    assert evaluated(Y**3) == -3.375
    assert not any((Y**n).op == "pow" for n in (2, 3, -4, 16, 0.5))
    assert (X**0.5).op == "sqrt"
    assert (X**1.5).op == "pow"


# --- comparisons ------------------------------------------------------------------------------------------------------
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("compare", COMPARISONS, ids=lambda f: f.__name__)
def test_comparisons_are_symbols_that_select(compare: Callable[[Any, Any], Any]) -> None:
    for x in (-2.0, 0.5, 3.0):
        for a, b, expected in ((X, 0.5, compare(x, 0.5)), (0.5, X, compare(0.5, x)), (X, Y, compare(x, 0.5))):
            condition = compare(a, b)
            assert isinstance(condition, Symbol)
            assert evaluated(condition, x=x, y=0.5) == float(expected)
            assert evaluated(condition.select(Z, 7), x=x, y=0.5, z=5.0) == (5.0 if expected else 7.0)


@pytest.mark.parametrize("x", [-1.0, 1.0])
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_conditions_combine(x: float, y: float) -> None:
    a, b = X > 0, Y > 0
    assert evaluated(a & b, x=x, y=y) == (x > 0 and y > 0)
    assert evaluated(a | b, x=x, y=y) == (x > 0 or y > 0)
    assert evaluated(~a, x=x) == (not x > 0)
    for true, false in ((True, False), (np.bool_(True), np.bool_(False)), (1.0 < 2.0, 2.0 < 1.0)):
        for both, either in ((a & true, a | false), (true & a, false | a)):
            assert isinstance(both, Symbol)
            assert evaluated(both, x=x) == evaluated(either, x=x) == (x > 0)


def test_conditions_combine_with_arrays_entry_by_entry() -> None:
    for both in ((X > 0) & np.array([True, False]), np.array([True, False]) & (X > 0)):
        assert evaluated(both).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("compare", COMPARISONS, ids=lambda f: f.__name__)
def test_numbers_of_numpy_compare_too(compare: Callable[[Any, Any], Any]) -> None:
    assert evaluated(compare(np.float64(0.5), X), x=0.75) == compare(0.5, 0.75)
    assert evaluated(compare(X, np.float32(0.5)), x=0.75) == compare(0.75, 0.5)


@pytest.mark.parametrize("compare", COMPARISONS, ids=lambda f: f.__name__)
def test_a_comparison_with_nan_does_not_hold(compare: Callable[[Any, Any], Any]) -> None:
    assert evaluated(compare(X, Y).select(1.0, 2.0), x=math.nan) == 2.0
    assert evaluated((~compare(X, Y)).select(1.0, 2.0), x=math.nan) == 1.0


# --- arrays -----------------------------------------------------------------------------------------------------------
def test_arrays_of_symbols_have_linear_algebra() -> None:
    A, S = np.arange(9.0).reshape(3, 3), np.array([[X, Y, 1.0], [Z, 2.0, X], [0.0, Y, Z]], dtype=object)
    T = evaluated(S)
    for computed, expected in (
        (A @ VECTOR, A @ NUMBERS),
        (VECTOR @ A, NUMBERS @ A),
        (S @ S, T @ T),
        (VECTOR @ VECTOR, NUMBERS @ NUMBERS),
        (np.cross(VECTOR, A[1]), np.cross(NUMBERS, A[1])),
        (cross(VECTOR, S[0]), np.cross(NUMBERS, T[0])),
        (dot(VECTOR, S[1]), NUMBERS @ T[1]),
        (np.outer(VECTOR, VECTOR), np.outer(NUMBERS, NUMBERS)),
        (np.einsum("i,jk->kij", VECTOR, S), np.einsum("i,jk->kij", NUMBERS, T)),
        (np.einsum("ij,j->i", A, VECTOR), A @ NUMBERS),
        (np.stack([VECTOR, A[0]], axis=1), np.stack([NUMBERS, A[0]], axis=1)),
        (np.concatenate([VECTOR, A[0]]), np.concatenate([NUMBERS, A[0]])),
        (VECTOR.sum(), NUMBERS.sum()),
        (np.trace(S), np.trace(T)),
        (X * A, AT["x"] * A),
        (A - X, A - AT["x"]),
        (X - A, AT["x"] - A),
        (A / Z, A / AT["z"]),
        (stack(X, 1, Y), np.array([AT["x"], 1, AT["y"]])),
    ):
        np.testing.assert_allclose(evaluated(computed), expected, rtol=1e-15, atol=0)


def test_zeros_of_a_matrix_leave_no_trace() -> None:
    first, second, _ = np.diag([1.0, 0.0, 2.0]) @ VECTOR
    assert first is X
    assert second == 0.0
    assert type(second) is float


FUNCTIONS = (
    *("sqrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "exp", "expm1", "log", "log1p"),
    *("sinh", "cosh", "tanh", "arcsinh", "arctanh", "fabs", "absolute"),
)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_numpy(name: str) -> None:
    function = getattr(np, name)
    assert evaluated(function(X)) == pytest.approx(function(AT["x"]), rel=1e-15)
    values = np.array([0.25, 0.5])
    both = function(np.array([X, Y], dtype=object))
    np.testing.assert_allclose(evaluated(both, x=0.25, y=0.5), function(values), rtol=1e-15)


@pytest.mark.parametrize("name", ["square", "reciprocal", "negative"])
def test_functions_of_numpy_that_are_arithmetic(name: str) -> None:
    np.testing.assert_array_equal(evaluated(getattr(np, name)(VECTOR)), getattr(np, name)(NUMBERS))


@pytest.mark.parametrize(("x", "floor", "ceil", "sign"), [(-1.5, -2, -1, -1), (0.0, 0, 0, 0), (2.5, 2, 3, 1)])
def test_rounding_and_sign(x: float, floor: float, ceil: float, sign: float) -> None:
    assert (evaluated(np.floor(X), x=x), evaluated(np.ceil(X), x=x), evaluated(np.sign(X), x=x)) == (floor, ceil, sign)
    assert [evaluated(f(VECTOR[:1]), x=x).tolist() for f in (np.floor, np.ceil)] == [[floor], [ceil]]


def test_angles_of_points() -> None:
    assert evaluated(np.arctan2(X, Y)) == math.atan2(AT["x"], AT["y"])
    assert evaluated(np.arctan2(X, -2.0)) == math.atan2(AT["x"], -2.0)
    assert evaluated(np.arctan2(-2.0, X)) == math.atan2(-2.0, AT["x"])
    assert evaluated(np.arctan2(np.float64(-2.0), X)) == math.atan2(-2.0, AT["x"])
    np.testing.assert_array_equal(evaluated(np.arctan2(VECTOR, VECTOR[::-1])), np.arctan2(NUMBERS, NUMBERS[::-1]))


# --- what cannot be known ---------------------------------------------------------------------------------------------
REFUSED: dict[str, tuple[Callable[[Symbol], Any], str]] = {
    "if": (lambda x: 1 if x > 0 else 2, "lw.math.where"),
    "and": (lambda x: x > 0 and x < 1, "lw.math.where"),
    "chained": (lambda x: 0 < x < 1, "lw.math.where"),
    "not": (lambda x: not x, "lw.math.where"),
    "max": (lambda x: max(x, 0.0), "lw.math.maximum"),
    "min": (lambda x: min(x, 0.0), "lw.math.minimum"),
    "np.clip": (lambda x: np.clip(np.array([x]), 0, 1), "lw.math.clip"),
    "np.where": (lambda x: np.where(x < 1, 1.0, 2.0), "lw.math.where"),
    "np.sign of an array": (lambda x: np.sign(np.array([x])), "lw.math.where.*entry by entry"),
    "x < array": (lambda x: x < np.ones(2), "comparisons of arrays.*entry by entry"),
    "array < x": (lambda x: np.ones(2) < x, "comparisons of arrays.*entry by entry"),
    "np.maximum": (lambda x: np.maximum(np.array([x]), 0.0), "lw.math.maximum"),
    "==": (lambda x: x == 1.0, r"lw.math.where\(x <= y"),
    "== of symbols": (lambda x: x == Y, r"lw.math.where\(x <= y"),
    "!=": (lambda x: x != 1.0, "lw.math.where"),
    "in": (lambda x: x in [Y], "lw.math.where"),
    "float": (float, "np.sin"),
    "int": (int, "lw.math.zeros"),
    "index": (lambda x: [1, 2][x], "lw.math.zeros"),
    "math.sin": (math.sin, "np.sin"),
    "float array": (lambda x: np.zeros(2).__setitem__(0, x), r"lw.math.zeros\(n\)"),
    "astype": (lambda x: np.array([x]).astype(float), r"lw.math.zeros\(n\)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_traced_value_cannot_know(name: str) -> None:
    ask, replacement = REFUSED[name]
    with pytest.raises(SymbolError, match=replacement):
        ask(X)


def test_the_error_is_a_type_error_of_the_library() -> None:
    assert issubclass(SymbolError, LinkworkError)
    assert issubclass(SymbolError, TypeError)


@pytest.mark.parametrize("other", [None, {}, 1j], ids=repr)
@pytest.mark.parametrize("op", [*ARITHMETIC, *COMPARISONS, operator.and_, operator.or_], ids=lambda f: f.__name__)
def test_unsupported_operands_are_refused_by_python(op: Callable[[Any, Any], Any], other: Any) -> None:
    for a, b in ((X, other), (other, X)):
        with pytest.raises(TypeError, match=r"(unsupported operand|not supported between).*Symbol"):
            op(a, b)


def test_unsupported_operands_of_functions_are_refused_by_numpy() -> None:
    for a, b in ((X, None), (None, X)):
        with pytest.raises(TypeError, match=r"Symbol|NoneType"):
            np.arctan2(a, b)


def test_selecting_what_is_no_scalar_is_refused() -> None:
    with pytest.raises(SymbolError, match="cannot be combined with ndarray"):
        (X < 1).select(VECTOR, VECTOR * 2)


# --- equal expressions are one object --------------------------------------------------------------------------------------
SAME: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "x + y": (lambda: X + Y, lambda: Y + X),
    "x y": (lambda: X * Y, lambda: Y * X),
    "x y sin(z)": (lambda: (X * Y) * np.sin(Z), lambda: np.sin(Z) * (Y * X)),
    "x - y": (lambda: X - Y, lambda: X + -Y),
    "x - y from the left": (lambda: X - Y, lambda: -Y + X),
    "x + y of negatives": (lambda: X + Y, lambda: X - -Y),
    "-(x + y)": (lambda: -(X + Y), lambda: -X - Y),
    "-(x y)": (lambda: -(X * Y), lambda: X * -Y),
    "x y of negatives": (lambda: X * Y, lambda: -X * -Y),
    "-(x / y)": (lambda: -(X / Y), lambda: -X / Y),
    "-(x / y) below": (lambda: -(X / Y), lambda: X / -Y),
    "-(1 / x)": (lambda: -(1.0 / X), lambda: 1.0 / -X),
    "2.5 x": (lambda: 2.5 * X, lambda: X * np.float64(2.5)),
    "-(2.5 x)": (lambda: -(2.5 * X), lambda: -X * 2.5),
    "x + 2": (lambda: X + 2, lambda: 2.0 + X),
    "x - 2": (lambda: X - 2, lambda: -2.0 + X),
    "2 - x": (lambda: 2 - X, lambda: -X + 2.0),
    "x > 1": (lambda: X > 1, lambda: X > 1),
    "1 <= x": (lambda: np.less_equal(1.0, X), lambda: X >= 1),
    "and": (lambda: (X < Y) & (Y < Z), lambda: (Y < Z) & (X < Y)),
    "and true": (lambda: X < Y, lambda: (X < Y) & True),
    "or false": (lambda: X < Y, lambda: False | (X < Y)),
    "not not": (lambda: X < Y, lambda: ~~(X < Y)),
    "select": (lambda: (X < Y).select(X, 0.0), lambda: (X < Y).select(X, 0)),
    "select not": (lambda: (X < Y).select(X, Z), lambda: (~(X < Y)).select(Z, X)),
}


@pytest.mark.parametrize("name", SAME)
def test_equal_expressions_are_one_object(name: str) -> None:
    first, second = SAME[name]
    assert first() is second()
    assert hash(first()) == hash(second())


def test_other_expressions_are_other_objects() -> None:
    c = X < Y
    sides = [X - Y, Y - X, X / Y, Y / X, X**Y, Y**X, np.arctan2(X, Y), np.arctan2(Y, X), X < Y, Y < X, X <= Y, c & (Y < Z), ~c]
    numbers = [X + 2, X - 2, 2 - X, X * 2, 2 / X, X**1.5, 1.5**X, X < 2, X > 2, X <= 2, np.arctan2(X, 0.0), np.arctan2(X, -0.0)]
    chosen = [c.select(X, Y), c.select(Y, X), c.select(X, 0.0), c.select(X, -0.0), c.select(0.0, -0.0), c.select(0.0, X), ~X, ~~X]
    functions = [np.sin(X), np.cos(X), np.sin(Y), abs(X), -X]
    every = [X, Y, Z, X + Y, X * Y, *sides, *numbers, *chosen, *functions]
    assert len({id(s) for s in every}) == len({hash(s) for s in every}) == len(every)


def test_variables_of_one_name_are_two() -> None:
    assert variable("x") is not variable("x")


def test_what_nobody_holds_is_garbage() -> None:
    def alive() -> int:
        gc.collect()
        return sum(type(o) is Symbol for o in gc.get_objects())

    before = alive()
    x, y = variable("x"), variable("y")
    total = sum((np.sin(x * k) for k in range(1, 100)), y)
    assert alive() > before + 200
    del x, y, total
    assert alive() == before


def test_threads_trace_side_by_side() -> None:
    def work(_: int) -> str:
        return traced_digest(lambda x: [sum((np.sin(x[0] * k) * x[1] for k in range(1, 300)), x[2])], 3)

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(work, range(16)))) == 1


def test_deep_expressions_need_no_recursion() -> None:
    x = variable("x")
    total = x
    for _ in range(200000):
        total = (total + 0.5) * x
    assert len(ordered([x], [total])) == 400001
    assert traced_digest(lambda v: [functools.reduce(lambda a, _: a + v[0], range(200000), v[0])], 1)
    assert len(repr(total)) < 200
    del total, x
    gc.collect()


def test_what_is_needed_comes_in_order() -> None:
    """Operands just before they are first needed, in the order of the outputs; nothing else."""
    p, q = X * Y, Y + Z
    np.sin(p)
    order = ordered([X, Y, Z], [q - p, np.cos(p), 1.0, p])
    assert [repr(s) for s in order] == [f"Symbol({s})" for s in ("y", "z", "(y+z)", "x", "(x*y)", "((y+z)-(x*y))", "cos((x*y))")]


def test_a_symbol_from_elsewhere_is_named() -> None:
    with pytest.raises(SymbolError, match="'y' is no input of what is traced"):
        ordered([X], [X + Y])
    with pytest.raises(SymbolError, match="'y' is no input of what is traced"):
        traced_digest(lambda x: [x[0] + Y], 1)


def test_repr_shows_the_expression() -> None:
    assert repr(X + Y) == "Symbol((x+y))"
    assert repr(np.sin(2.5 * X) - Y / Z) == "Symbol((sin((x*2.5))-(y/z)))"
    assert repr((X < Y).select(X, 0.0)) == "Symbol(select((x<y), x, 0))"


# --- what a function computes ---------------------------------------------------------------------------------------------
def test_digests_tell_expressions_apart() -> None:
    """And nothing else: not names, not the way they were written."""

    def written_out(a: Any, b: Any) -> list[Any]:
        first, second = a
        return [first * b[0] + second, np.sin(first)]

    same = [traced_digest(lambda x, y: [x[0] * y[0] + x[1], np.sin(x[0])], 2, 1), traced_digest(written_out, 2, 1)]
    others = [
        traced_digest(lambda x, y: [x[0] * y[0] + x[1], np.cos(x[0])], 2, 1),
        traced_digest(lambda x, y: [x[0] * y[0] + x[0], np.sin(x[0])], 2, 1),
        traced_digest(lambda x, y: [x[0] * y[0] + x[1], np.sin(x[0]), 0.0], 2, 1),
        traced_digest(lambda x, y: [x[0] * y[0] + x[1], np.sin(x[0]), -0.0], 2, 1),
        traced_digest(lambda x, y: [x[0] * y[0] + 2.0 * x[1], np.sin(x[0])], 2, 1),
        traced_digest(lambda x, y: [x[0] * y[0] + (2.0 + 1e-15) * x[1], np.sin(x[0])], 2, 1),
        traced_digest(lambda x, y: [x[0] * y[0] + x[1], np.sin(x[0])], 2, 2),
    ]
    assert same[0] == same[1]
    assert len({same[0], *others}) == 1 + len(others)


def test_digests_of_functions_get_vectors() -> None:
    shapes: list[tuple[int, ...]] = []
    traced_digest(lambda *x: shapes.extend(v.shape for v in x) or [1.0], 0, 1, 6)
    assert shapes == [(0,), (1,), (6,)]


SCRIPT = """
import numpy as np
from linkwork.kernel.symbol import traced_digest
print(traced_digest(lambda x: [np.sin(x[0]) * 0.1 + x[1] ** 2], 2))
"""


def test_digests_are_the_same_in_every_process() -> None:
    here = traced_digest(lambda x: [np.sin(x[0]) * 0.1 + x[1] ** 2], 2)
    there = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout.strip()
    assert there == here
