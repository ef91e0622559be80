"""The list of operations: common subexpressions, selects, fused multiply-adds, shared reciprocals, and nothing unused."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from symbols import evaluated

from linkwork.kernel import graph
from linkwork.kernel.graph import Graph, Op, build, flops, fuse, share_reciprocals
from linkwork.kernel.symbol import variable
from linkwork.spatial.scalar import maximum, where

X, Y, Z, W = SYMBOLS = [variable(name) for name in "xyzw"]
AT = (0.75, -1.5, 2.25, 3.5)
MEANING: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "abs": abs,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "not": lambda a: not a,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "select": lambda c, a, b: a if c else b,
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
    **{name: getattr(math, name) for name in ("sin", "cos", "sqrt", "exp", "floor", "tanh", "atan2")},
}


def run(ops: list[Op], inputs: tuple[Any, ...], results: list[int]) -> list[Any]:
    """What a list of operations means; every operand must come before its use."""
    values: list[Any] = []
    for op in ops:
        if op[0] == "const":
            values.append(Fraction(op[1]) if isinstance(inputs[0], Fraction) else op[1])
        elif op[0] == "input":
            values.append(inputs[op[1]])
        else:
            values.append(MEANING[op[0]](*(values[i] for i in op[1:])))
    return [values[r] for r in results]


def traced(*outputs: Any) -> tuple[list[Op], list[int]]:
    return build(SYMBOLS, list(outputs))


def names(ops: list[Op]) -> list[str]:
    """The operations that compute something, in order."""
    return [op[0] for op in ops if op[0] not in ("input", "const")]


# --- building -----------------------------------------------------------------------------------------------------------
def test_inputs_are_numbered_as_given() -> None:
    ops, results = traced(W, Y)
    assert [ops[r] for r in results] == [("input", 3), ("input", 1)]


def test_numbers_and_zeros_are_outputs_too() -> None:
    ops, results = traced(0.0, X, 2.5, 0, -1.0)
    assert run(ops, AT, results) == [0.0, AT[0], 2.5, 0.0, -1.0]


def test_outputs_without_any_symbol() -> None:
    ops, results = build([], [1.5, 0.0])
    assert run(ops, (0.0,), results) == [1.5, 0.0]


def test_common_subexpressions_share_numbers() -> None:
    a, b = np.sin(X * Y), np.sin(Y * X)
    ops, results = traced(a + Z, b - W, a, b)
    assert names(ops).count("sin") == names(ops).count("mul") == 1
    assert results[2] == results[3]
    assert run(ops, AT, results) == [math.sin(-1.125) + 2.25, math.sin(-1.125) - 3.5, *[math.sin(-1.125)] * 2]


@pytest.mark.parametrize("name", sorted(graph.COMMUTATIVE))
def test_operands_of_commutative_operations_are_sorted(name: str) -> None:
    g = Graph()
    a, b = g.number("input", 0), g.number("input", 1)
    assert g.number(name, a, b) == g.number(name, b, a)


@pytest.mark.parametrize("name", ["sub", "div", "lt", "atan2"])
def test_operands_of_other_operations_are_not(name: str) -> None:
    g = Graph()
    a, b = g.number("input", 0), g.number("input", 1)
    assert g.number(name, a, b) != g.number(name, b, a)


def test_equal_constants_share_a_number() -> None:
    g = Graph()
    assert g.constant(2) == g.constant(2.0) != g.constant(3.0)
    assert g.ops == [("const", 2.0), ("const", 3.0)]
    assert g.constant(math.nan) == g.constant(float("nan"))


def signs(values: list[float]) -> list[float]:
    return [math.copysign(1.0, x) for x in values]


def test_zeros_keep_their_signs() -> None:
    g = Graph()
    assert g.constant(0.0) != g.constant(-0.0)
    chosen = where(X < 1.0, -0.0, Y), where(X < 1.0, Y, -0.0)
    angles = np.arctan2(Z, -0.0), np.arctan2(Z, 0.0), np.arctan2(-0.0, -Z)
    ops, results = traced(0.0, -0.0, np.float32(-0.0), False, *chosen, *angles)
    for x in (0.0, 2.0):
        values = run(ops, (x, 5.0, 0.0, 0.0), results)
        assert signs(values[:6]) == [1.0, -1.0, -1.0, 1.0, -1.0 if x < 1 else 1.0, 1.0 if x < 1 else -1.0]
        assert values[6:] == [math.pi, 0.0, -math.pi]
    ops, results = build([], [-0.0, 0.0])
    assert signs(run(ops, (0.0,), results)) == [-1.0, 1.0]


def test_negations_disappear_into_sums_and_products() -> None:
    assert names(traced(X + -Y, -X + Y, X - -Y, -X * -Y)[0]) == ["sub", "sub", "add", "mul"]
    assert names(traced(-X - Y)[0]) == ["add", "neg"]


def test_a_sum_that_real_numbers_would_cancel_stays() -> None:
    ops, results = traced((X + W) - W)
    assert names(ops) == ["add", "sub"]
    assert run(ops, (1e-17, 0.0, 0.0, 1.0), results) == [0.0]


def test_deep_expressions() -> None:
    total = X
    for _ in range(100000):
        total = total + Y
    ops, results = traced(total)
    assert names(ops) == ["add"] * 100000
    assert run(ops, (1.0, 2.0, 0.0, 0.0), results) == [200001.0]


def test_a_number_that_had_to_be_a_symbol() -> None:
    ops, results = traced(X.like(2.5), X.like(2.5) * Y)
    assert run(ops, AT, results) == [2.5, -3.75]


def test_a_square_a_double_and_a_reciprocal() -> None:
    ops, results = traced(X * X, X + X, 1.0 / X)
    assert names(ops) == ["mul", "add", "div"]
    assert run(ops, AT, results) == [0.5625, 1.5, 1 / 0.75]


@pytest.mark.parametrize("at", [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0)])
def test_a_condition_becomes_one_select(at: tuple[float, float]) -> None:
    ops, results = traced(where(X < Y, Z * 2.0, W))
    assert names(ops).count("select") == names(ops).count("lt") == 1
    assert len(names(ops)) == 3
    assert run(ops, (*at, 5.0, 7.0), results) == [10.0 if at[0] < at[1] else 7.0]


def test_sums_of_conditions_stay_sums() -> None:
    either = where(X < Y, Z, 0.0) + where(Y < Z, W, 0.0)
    ops, results = traced(either)
    assert names(ops) == ["lt", "select", "lt", "select", "add"]
    assert run(ops, AT, results) == [0.0 + 3.5]
    assert run(ops, (-2.0, -1.0, 2.0, 3.0), results) == [2.0 + 3.0]


def test_either_side_of_a_condition_may_be_zero() -> None:
    ops, results = traced(where(X < Y, Z, 0.0), where(X < Y, 0.0, Z))
    assert names(ops) == ["lt", "select", "select"]
    assert run(ops, AT, results) == [0.0, 2.25]
    assert run(ops, (-2.0, *AT[1:]), results) == [2.25, 0.0]


def test_nested_conditions_share_their_comparisons() -> None:
    ops, results = traced(maximum(X, Y))
    assert names(ops).count("select") == 2
    for x, y in ((1.0, 2.0), (2.0, 1.0), (3.0, 3.0)):
        assert run(ops, (x, y, 0.0, 0.0), results) == [max(x, y)]


# --- fusing -------------------------------------------------------------------------------------------------------------
FUSED: dict[str, tuple[Any, list[str]]] = {
    "a b + c": (X * Y + Z, ["fma"]),
    "c + a b": (Z + X * Y, ["fma"]),
    "a b - c": (X * Y - Z, ["fms"]),
    "c - a b": (Z - X * Y, ["fnma"]),
    "a^2 + c": (X * X + Z, ["fma"]),
    "2.5 a + c": (2.5 * X + Z, ["fma"]),
    "a b + 1": (X * Y + 1.0, ["fma"]),
    "a b + c d": (X * Y + Z * W, ["mul", "fma"]),
    "a b - c d": (X * Y - Z * W, ["mul", "fnma"]),
    "a b + c + d": (X * Y + Z + W, ["fma", "add"]),
    "three products": (X * Y + Z * W + X * W, ["mul", "fma", "fma"]),
    "product of sums": ((X + Y) * (Z - W), ["add", "sub", "mul"]),
    "a b c + d": (X * Y * Z + W, ["mul", "fma"]),
    "quotient + c": (X / Y + Z, ["div", "add"]),
    "a b + (-c)": (X * Y + -Z, ["fms"]),
    "-(a b) + c": (-(X * Y) + Z, ["fnma"]),
}


@pytest.mark.parametrize("name", FUSED)
def test_products_fuse_with_the_sums_they_feed(name: str) -> None:
    expression, expected = FUSED[name]
    ops, results = traced(expression)
    assert names(ops) == expected
    assert run(ops, AT, results) == pytest.approx(evaluated([expression], SYMBOLS, AT), rel=1e-15)


def test_of_two_products_the_later_is_merged() -> None:
    ops, results = traced(X * Y + Z * W)
    assert ops[results[0]] == ("fma", *_positions(ops, 2, 3), ops.index(("mul", *_positions(ops, 0, 1))))
    ops, results = fuse([("input", 0), ("input", 1), ("mul", 0, 0), ("mul", 1, 1), ("sub", 3, 2)], [4])
    assert ops == [("input", 0), ("input", 1), ("mul", 0, 0), ("fms", 1, 1, 2)]
    assert results == [3]


def _positions(ops: list[Op], *inputs: int) -> list[int]:
    return [ops.index(("input", k)) for k in inputs]


def test_a_product_with_another_use_stays() -> None:
    for second in (X * Y, np.sin(X * Y), (X * Y) * W, where(X < 1.0, X * Y, W)):
        ops, _ = traced(X * Y + Z, second)
        assert "fma" not in names(ops)
        assert "add" in names(ops)


def test_a_product_that_feeds_several_sums_is_computed_in_each() -> None:
    ops, results = traced(X * Y + Z, W - X * Y, X * Y - W)
    assert names(ops) == ["fma", "fnma", "fms"]
    assert run(ops, AT, results) == [1.125, 4.625, -4.625]


def test_a_product_that_lost_a_sum_is_merged_nowhere() -> None:
    """As x y stays for the first sum, the second may as well read it."""
    ops, results = traced(X * Y + Z * W, X * Y + Z)
    assert sorted(names(ops)) == ["add", "fma", "mul"]
    assert run(ops, AT, results) == [6.75, 1.125]


def test_a_doubled_product_is_a_sum() -> None:
    ops, results = fuse([("input", 0), ("input", 1), ("mul", 0, 1), ("add", 2, 2)], [3])
    assert names(ops) == ["mul", "add"]
    assert run(ops, (2.0, 3.0), results) == [12.0]


def test_what_nothing_uses_is_dropped() -> None:
    ops = [("input", 0), ("input", 1), ("const", 5.0), ("sin", 1), ("add", 3, 2), ("mul", 0, 0)]
    assert fuse(ops, [5, 5]) == ([("input", 0), ("mul", 0, 0)], [1, 1])
    assert fuse(ops, []) == ([], [])


# --- reciprocals --------------------------------------------------------------------------------------------------------
def test_divisions_by_one_value_share_its_reciprocal() -> None:
    ops, results = traced(X / Z, Y / Z, 1.0 / Z)
    assert sorted(names(ops)) == ["div", "mul", "mul"]
    assert run(ops, AT, results) == [0.75 * (1 / 2.25), -1.5 * (1 / 2.25), 1 / 2.25]


def test_a_single_division_stays() -> None:
    assert names(traced(X / Y, Z / W)[0]) == ["div", "div"]


@pytest.mark.parametrize(("divisor", "right"), [(2.0**-1022, True), (2.0**-1023, True), (2.0**-1024, False), (2.0**-1060, False)])
def test_a_shared_reciprocal_may_overflow(divisor: float, right: bool) -> None:
    """Of subnormal divisors only, as its text says; a division alone is safe."""
    x = divisor / 4
    both, single = traced(X / Z, Y / Z), traced(X / Z)
    with np.errstate(over="ignore"):
        at = (np.float64(x), np.float64(x), np.float64(divisor), 0.0)
        assert run(both[0], at, both[1]) == [0.25 if right else math.inf] * 2
        assert run(single[0], at, single[1]) == [0.25]


def test_a_shared_quotient_in_a_sum_is_fused() -> None:
    ops, _ = traced(X / Z + W, Y / Z)
    assert sorted(names(ops)) == ["div", "fma", "mul"]


def test_sharing_reciprocals_keeps_the_other_operations() -> None:
    before = [("input", 0), ("input", 1), ("const", 1.0), ("div", 0, 1), ("div", 2, 1), ("neg", 0), ("div", 5, 1), ("sin", 3)]
    ops, results = share_reciprocals(before, [3, 4, 6, 7])
    assert names(ops).count("div") == 1
    assert run(ops, (3.0, 4.0), results) == [0.75, 0.25, -0.75, math.sin(0.75)]


# --- any list of operations ---------------------------------------------------------------------------------------------
@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Op], list[int]]:
    """Random sums, products, quotients and selects of three inputs and two constants, in a topological order."""
    ops: list[Op] = [("input", 0), ("input", 1), ("input", 2), ("const", 2.0), ("const", 1.0)]
    for _ in range(draw(st.integers(1, 25))):
        name = draw(st.sampled_from(["add", "add", "sub", "sub", "mul", "mul", "mul", "neg", "div", "select"]))
        count = {"neg": 1, "select": 3}.get(name, 2)
        ops.append((name, *(draw(st.integers(0, len(ops) - 1)) for _ in range(count))))
    return ops, draw(st.lists(st.integers(0, len(ops) - 1), min_size=1, max_size=4))


@settings(deadline=None, max_examples=150)
@given(programs())
def test_rewriting_keeps_the_meaning(program: tuple[list[Op], list[int]]) -> None:
    """In exact arithmetic; where the program divides by zero nothing is asked."""
    inputs = (Fraction(3, 7), Fraction(-5, 2), Fraction(11, 3))
    try:
        expected = run(program[0], inputs, program[1])
    except ZeroDivisionError:
        return
    ops, results = fuse(*program)
    assert run(ops, inputs, results) == expected
    assert all(j < i for i, op in enumerate(ops) for j in graph.operands(op))
    reached = set(results).union(*(graph.operands(op) for op in ops))
    assert reached == set(range(len(ops)))


# --- counting -----------------------------------------------------------------------------------------------------------
def test_flops() -> None:
    weights = {"add": 1, "sub": 1, "mul": 1, "div": 1, "sqrt": 1, "fma": 2, "fms": 2, "fnma": 2}
    for name in (*MEANING, "const", "input"):
        assert flops([(name, 0, 0, 0)]) == weights.get(name, 0)
    assert flops(traced(X * Y + Z * W - np.sqrt(X) / Y)[0]) == 6
    assert flops([]) == 0
