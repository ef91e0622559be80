"""Functions of scalars of any kind: floats against NumPy, jets and symbols against floats."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import symbols
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwork.errors import InputError
from linkwork.kernel.symbol import Symbol, variable
from linkwork.spatial import scalar
from linkwork.spatial.jet import Jet
from linkwork.spatial.scalar import (
    absolute,
    array,
    atan2,
    clip,
    cross,
    dot,
    inv,
    inv_spd,
    is_number,
    is_one,
    is_zero,
    ldl,
    ldl_solve,
    logical_not,
    lu_inverse,
    maximum,
    minimum,
    norm,
    numeric,
    pivoted_inverse,
    solve_spd,
    stack,
    where,
    zeros,
)

SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -2.5, 3.0]
PAIRS = list(itertools.product(SPECIAL, SPECIAL))
X, Y, Z = (variable(name) for name in "xyz")
JET = Jet(2.0, (1.0, 0.0), 3.0, 4.0, (5.0, 6.0))
OTHER = Jet(-1.0, (0.0, 1.0), 7.0, 8.0, (9.0, 10.0))


def parts(jet: Jet) -> list[float]:
    return [jet.x, *jet.grad, jet.rate, jet.bias, *jet.grad_rate]


def evaluated(expression: Any, x: float, y: float = 0.0, z: float = 0.0) -> float:
    return float(symbols.evaluated([expression], [X, Y, Z], [x, y, z])[0])


def traced(expressions: np.ndarray, inputs: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The numbers of an array of expressions as a function of those of an array of symbols."""
    return lambda x: symbols.evaluated([*expressions.flat], [*inputs.flat], x.reshape(-1)).reshape(expressions.shape)


def same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


# --- choosing -----------------------------------------------------------------------------------------------------------
def test_where_of_floats() -> None:
    assert where(True, 1.0, 2.0) == 1.0
    assert where(np.bool_(False), 1.0, 2.0) == 2.0
    assert where(math.nan < 1, 1.0, 2.0) == 2.0
    assert where(1.0, "a", "b") == "a"
    assert where(np.array(True), 1.0, 2.0) == 1.0


@pytest.mark.parametrize("known", [False, 0, 0.0, np.bool_(False), (X < 1) & False, JET < 0], ids=repr)
def test_conditions_that_are_known_are_negated(known: Any) -> None:
    for no, yes in ((known, logical_not(known)), (logical_not(logical_not(known)), logical_not(known))):
        assert where(yes, "a", "b") == "a"
        assert where(no, "a", "b") == "b"


def test_conditions_that_are_traced_or_arrays_are_negated() -> None:
    for x in (0.0, 2.0, math.nan):
        assert evaluated(logical_not(X < 1), x) == (not x < 1)
        assert evaluated(where(logical_not(X < 1), Y, Z), x, 5.0, 7.0) == (7.0 if x < 1 else 5.0)
        assert evaluated(where(logical_not(Jet(X, (1.0,), 0.0, 0.0) < 1), Y, Z), x, 5.0, 7.0) == (7.0 if x < 1 else 5.0)
    assert logical_not(np.array([True, False])).tolist() == [False, True]


@pytest.mark.parametrize("known", [True, False])
def test_the_integer_that_python_makes_of_a_negated_bool_is_no_condition(known: bool) -> None:
    integer = -1 - known  # what ~known is; later Pythons warn
    for use in (lambda c: where(c, 1.0, 2.0), lambda c: where(c, JET, 2.0), lambda c: (X < 1) & c, lambda c: c | (X < 1)):
        with pytest.raises(InputError, match=rf"a condition is {integer}: .*Use lw\.math\.logical_not"):
            use(integer)


def test_where_of_arrays() -> None:
    a, b = np.arange(4.0), -np.arange(4.0)
    np.testing.assert_array_equal(where(a < 2, a, b), [0, 1, -2, -3])
    np.testing.assert_array_equal(where(a < 2, 9.0, b), [9, 9, -2, -3])


def test_where_blends_whole_jets() -> None:
    assert parts(where(JET > 0, JET, OTHER)) == parts(JET)
    assert parts(where(JET < 0, JET, OTHER)) == parts(OTHER)
    assert parts(where(False, JET, 5.0)) == [5.0] + [0.0] * 6
    assert parts(where(True, 5, JET)) == [5.0] + [0.0] * 6
    assert parts(where(True, JET, 5.0)) == parts(JET)


@pytest.mark.parametrize("x", [0.0, 2.0, math.nan])
def test_where_of_symbols(x: float) -> None:
    chosen = where(X < 1, Y, Z)
    assert isinstance(chosen, Symbol)
    assert evaluated(chosen, x, 5.0, 7.0) == (5.0 if x < 1 else 7.0)
    assert evaluated(where(X < 1, 2.0, Z), x, 5.0, 7.0) == (2.0 if x < 1 else 7.0)


@pytest.mark.parametrize("x", [0.0, 2.0])
def test_where_of_jets_of_symbols(x: float) -> None:
    a, b = Jet(X, (1.0,), Y, 2.0), Jet(Y, (X,), 5.0, Z, (Y,))
    chosen = where(a < 1.0, a, b)
    numbers = [evaluated(part, x, 3.0, 4.0) for part in parts(chosen)]
    assert numbers == ([x, 1.0, 3.0, 2.0, 0.0] if x < 1 else [3.0, x, 5.0, 4.0, 3.0])


@pytest.mark.parametrize(("ours", "theirs"), [(maximum, np.maximum), (minimum, np.minimum)])
def test_extrema_of_floats_and_symbols(ours: Callable[..., Any], theirs: Callable[..., Any]) -> None:
    both, left, right = ours(X, Y), ours(X, 1.0), ours(1.0, X)
    for a, b in PAIRS:
        assert same(ours(a, b), theirs(a, b))
        assert same(evaluated(both, a, b), theirs(a, b))
        assert same(evaluated(left, a), theirs(a, 1.0))
        assert same(evaluated(right, a), theirs(a, 1.0))


def test_extrema_of_jets() -> None:
    for a, b in itertools.permutations([JET, OTHER]):
        assert parts(maximum(a, b)) == parts(JET)
        assert parts(minimum(a, b)) == parts(OTHER)
    assert parts(maximum(JET, 1.0)) == parts(maximum(1.0, JET)) == parts(JET)
    assert parts(minimum(JET, 1.0)) == parts(minimum(1.0, JET)) == [1.0] + [0.0] * 6
    for traced_first in (True, False):
        pair = (X, JET) if traced_first else (JET, X)
        assert [evaluated(p, 1.0) for p in parts(maximum(*pair))] == parts(JET)
        assert [evaluated(p, 3.0) for p in parts(maximum(*pair))] == [3.0] + [0.0] * 6
        assert [evaluated(p, 3.0) for p in parts(minimum(*pair))] == parts(JET)
    nothing = Jet(math.nan, (1.0,), 1.0, 1.0)
    assert math.isnan(maximum(nothing, 1.0).x)
    assert math.isnan(minimum(1.0, nothing).x)


@pytest.mark.parametrize("x", SPECIAL)
def test_clip(x: float) -> None:
    expected = float(np.clip(x, -1.0, 2.0))
    assert same(clip(x, -1.0, 2.0), expected)
    assert same(evaluated(clip(X, -1.0, Y), x, 2.0), expected)
    clipped = clip(Jet(x, (1.0,), 3.0, 4.0), -1.0, 2.0)
    assert same(clipped.x, expected)
    if not math.isnan(x):
        assert (clipped.grad, clipped.rate) == (((1.0,), 3.0) if x == expected else ((0.0,), 0.0))


def test_absolute_and_angle() -> None:
    assert absolute(-2.0) == 2.0
    assert parts(absolute(OTHER)) == parts(-OTHER)
    assert parts(absolute(JET)) == parts(JET)
    assert evaluated(absolute(X), -2.0) == 2.0
    assert atan2(1.0, -1.0) == pytest.approx(3 * np.pi / 4)
    assert evaluated(atan2(X, Y), 1.0, -1.0) == atan2(1.0, -1.0)
    assert atan2(JET, OTHER).x == atan2(2.0, -1.0)
    assert evaluated(atan2(1.0, X), -1.0) == evaluated(atan2(np.float64(1.0), X), -1.0) == atan2(1.0, -1.0)
    assert parts(atan2(1.0, JET)) == parts(atan2(Jet(1.0, (0.0, 0.0), 0.0, 0.0), JET))
    for y, x in ((X, JET), (JET, X)):
        expected = parts(atan2(*(Jet(3.0, (0.0, 0.0), 0.0, 0.0) if s is X else s for s in (y, x))))
        assert [evaluated(p, 3.0) for p in parts(atan2(y, x))] == pytest.approx(expected, rel=1e-15)


# --- arrays -------------------------------------------------------------------------------------------------------------
def test_zeros_take_anything() -> None:
    A = zeros(2, 3)
    assert (A.shape, A.dtype) == ((2, 3), object)
    assert all(type(x) is float and x == 0.0 for x in A.flat)
    A[0, 1], A[1, 2] = X, JET
    assert A[0, 1] is X
    assert A[1, 2] is JET
    assert zeros(2)[0] == 0.0


@pytest.mark.parametrize("make", [lambda x: stack(*x), array, lambda x: numeric(np.array(x, dtype=object))])
def test_arrays_of_numbers_are_float64(make: Callable[[list[Any]], np.ndarray]) -> None:
    numbers = make([1, 2.0, np.float32(3), np.int64(4)])
    assert numbers.dtype == np.float64
    assert numbers.tolist() == [1, 2, 3, 4]
    mixed = make([1, X, JET])
    assert mixed.dtype == object
    assert mixed[0] == 1
    assert mixed[1] is X
    assert mixed[2] is JET


def test_arrays_keep_their_shape() -> None:
    assert array([[1, 2], [3, 4]]).shape == array([[1, X], [3, 4]]).shape == (2, 2)
    assert stack().shape == (0,)
    kept = np.arange(3)
    assert numeric(kept) is kept


def test_products_of_vectors() -> None:
    a, b = np.array([1.0, -2.0, 3.0]), np.array([0.5, 4.0, -1.0])
    assert dot(a, b) == a @ b
    assert dot(a[:1], b[:1]) == 0.5
    np.testing.assert_array_equal(cross(a, b), np.cross(a, b))
    assert norm(np.array([3.0, 4.0])) == 5.0
    s = np.array([X, Y, Z], dtype=object)
    assert evaluated(dot(s, b), *a) == a @ b
    assert [evaluated(e, *a) for e in cross(s, b)] == np.cross(a, b).tolist()
    assert evaluated(norm(s[:2]), 3.0, 4.0) == 5.0


def test_what_is_known() -> None:
    zero = [0, 0.0, -0.0, np.float64(0), np.float32(0), np.int64(0), np.bool_(False)]
    one = [1, 1.0, np.float64(1), np.float32(1), np.int64(1), np.bool_(True)]
    assert all(is_zero(x) for x in zero)
    assert not any(is_zero(x) for x in [*one, math.nan, X, JET])
    assert all(is_one(x) for x in one)
    assert not any(is_one(x) for x in [*zero, 1.0 + 1e-15, X, JET])
    assert all(is_number(x) for x in [*zero, *one, np.int64(3)])
    assert not any(is_number(x) for x in (X, JET, "1", None, np.array([1.0])))


# --- linear algebra -----------------------------------------------------------------------------------------------------
def definite(seed: int, n: int) -> np.ndarray:
    B = np.random.default_rng(seed).normal(size=(n, n))
    return B @ B.T + n * np.eye(n)


sizes = st.integers(1, 6)
seeds = st.integers(0, 10**6)


def close(A: Any, B: Any) -> None:
    np.testing.assert_allclose(np.asarray(A, float), B, rtol=0, atol=1e-12 * (1 + np.abs(B).max()))


@settings(deadline=None, max_examples=30)
@given(n=sizes, seed=seeds, sign=st.sampled_from([1.0, -1.0]))
def test_symmetric_factors(n: int, seed: int, sign: float) -> None:
    A = sign * definite(seed, n)
    L, d_inv = ldl(np.tril(A))  # only the lower triangle is read
    L, d_inv = np.array(L, float), np.array(d_inv, float)
    assert np.array_equal(L, np.tril(L))
    assert np.all(np.diag(L) == 1)
    close(L @ np.diag(1 / d_inv) @ L.T, A)


@settings(deadline=None, max_examples=30)
@given(n=sizes, seed=seeds, sign=st.sampled_from([1.0, -1.0]))
def test_solutions(n: int, seed: int, sign: float) -> None:
    A, rng = sign * definite(seed, n), np.random.default_rng(seed + 1)
    before = A.copy()
    for b in (rng.normal(size=n), rng.normal(size=(n, 4))):
        kept = b.copy()
        x = solve_spd(A, b)
        assert x.dtype == float
        close(x, np.linalg.solve(A, b))
        close(ldl_solve(*ldl(A), b), np.linalg.solve(A, b))
        assert np.array_equal(b, kept)
    inverse = inv_spd(A)
    assert inverse.dtype == float
    close(inverse, np.linalg.inv(A))
    assert np.array_equal(inverse, inverse.T)
    assert np.array_equal(A, before)


@settings(deadline=None, max_examples=30)
@given(n=sizes, seed=seeds)
def test_inverse_without_pivoting(n: int, seed: int) -> None:
    A = definite(seed, n) + 0.3 * np.random.default_rng(seed + 2).normal(size=(n, n))
    before = A.copy()
    X_ = lu_inverse(A)
    assert X_.dtype == float
    close(X_, np.linalg.inv(A))
    assert np.array_equal(A, before)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_inverse_by_cofactors(n: int) -> None:
    for seed in range(20):
        A = np.random.default_rng([seed, n]).normal(size=(n, n))  # of any sign, pivots or not
        inverse = inv(A)
        assert inverse.dtype == float
        np.testing.assert_allclose(inverse @ A, np.eye(n), atol=1e-9)
    rotation = np.eye(n)[::-1].copy()
    assert np.array_equal(inv(rotation), rotation)


FUNCTIONS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], int]] = {
    "solve_spd": (lambda A: solve_spd(A, np.arange(1.0, len(A) + 1)), 3),
    "inv_spd": (inv_spd, 3),
    "lu_inverse": (lu_inverse, 3),
    "inv 1": (inv, 1),
    "inv 2": (inv, 2),
    "inv 3": (inv, 3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_linear_algebra_of_symbols(name: str) -> None:
    function, n = FUNCTIONS[name]
    A = definite(7, n)
    inputs = stack(*(variable(f"a{k}") for k in range(n * n))).reshape(n, n)
    result = function(inputs)
    assert result.dtype == object
    close(traced(result, inputs)(A), function(A))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_linear_algebra_of_jets(name: str) -> None:
    """d(A^-1) = -A^-1 dA A^-1, along A + t B."""
    function, n = FUNCTIONS[name]
    A, B = definite(8, n), definite(9, n)
    jets = stack(*(Jet(a, (b,), b, 0.0) for a, b in zip(A.flat, B.flat, strict=True))).reshape(n, n)
    out = function(jets)
    inverse = np.linalg.inv(A)
    first, second = -inverse @ B @ inverse, 2 * inverse @ B @ inverse @ B @ inverse
    if name == "solve_spd":
        b = np.arange(1.0, n + 1)
        inverse, first, second = inverse @ b, first @ b, second @ b
    for part, expected in (("x", inverse), ("rate", first), ("bias", second)):
        close(np.array([getattr(e, part) for e in out.flat]).reshape(out.shape), expected)
    close(np.array([e.grad[0] for e in out.flat]).reshape(out.shape), first)


def test_structural_zeros_cost_nothing() -> None:
    """A diagonal matrix of symbols is inverted by its reciprocals alone."""
    A = zeros(3, 3)
    A[0, 0], A[1, 1], A[2, 2] = X, Y, Z
    for inverse in (inv_spd(A), lu_inverse(A)):
        assert [is_zero(inverse[r, c]) for r in range(3) for c in range(3) if r != c] == [True] * 6
        assert evaluated(inverse[1, 1], 1.0, 4.0, 1.0) == 0.25


def test_the_public_names_exist() -> None:
    import linkwork as lw

    assert lw.math is scalar


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_a_pivoted_inverse_needs_no_diagonal(n: int) -> None:
    A = np.random.default_rng(n).normal(size=(n, n))
    A[np.diag_indices(n)] = 0.0 if n > 1 else 2.0
    np.testing.assert_allclose(np.asarray(pivoted_inverse(A), float) @ A, np.eye(n), atol=1e-11)
