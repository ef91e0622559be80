"""Compiled operations against NumPy: every one of them, with NaN and infinities, in every width, with equal bits."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import symbols

from linkwork.kernel import graph, ir, machine
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.plan import Plan, variant
from linkwork.kernel.sweep import SCALAR, Algorithm, Field, NodeClass, Tree, each, vector
from linkwork.kernel.symbol import variable
from linkwork.kernel.trace import Kernel
from linkwork.spatial.scalar import clip, maximum, minimum, stack, where

DOUBLE = [Lanes(1), Lanes(8), Lanes(16)]
SINGLE = [Lanes(1, single=True), Lanes(32, single=True)]
EVERY_TYPE = pytest.mark.parametrize("t", DOUBLE + SINGLE, ids=str)
NAMES = (f"test_ir_{k}" for k in itertools.count())
NODE = Tree(np.array([-1]), [NodeClass(("test_ir",))], [{}])


@pytest.fixture(autouse=True, scope="module")
def _no_cache() -> Iterator[None]:
    """A cache knows the sources of the library, not those of the rules here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINKWORK_CACHE", "off")
        yield


Function = Callable[..., Any]


# --- the operations -------------------------------------------------------------------------------------------------------
def of_first(f: Function) -> Function:
    """A function of the first of two arguments."""
    return lambda x, y: f(x)


# Name: what a rule computes, and what NumPy does. Exact ones agree to the bit.
EXACT: dict[str, tuple[Function, Function]] = {
    "x + y": (lambda x, y: x + y, np.add),
    "x - y": (lambda x, y: x - y, np.subtract),
    "x y": (lambda x, y: x * y, np.multiply),
    "x / y": (lambda x, y: x / y, np.divide),
    "2 / x": (lambda x, y: 2.0 / x, lambda x, y: 2 / x),
    "x 2.5": (lambda x, y: x * 2.5, lambda x, y: x * x.dtype.type(2.5)),
    "0 - x": (lambda x, y: 0.0 - x, lambda x, y: -x),
    "-x": (lambda x, y: -x, lambda x, y: -x),
    "x^2": (lambda x, y: x**2, lambda x, y: x * x),
    "x + x": (lambda x, y: x + x, lambda x, y: x + x),
    "x^-1": (lambda x, y: x**-1, lambda x, y: 1 / x),
    "abs": (lambda x, y: abs(x), lambda x, y: np.abs(x)),
    "sqrt": (lambda x, y: np.sqrt(x), lambda x, y: np.sqrt(x)),
    "x^0.5": (lambda x, y: x**0.5, lambda x, y: np.sqrt(x)),
    "floor": (lambda x, y: np.floor(x), lambda x, y: np.floor(x)),
    "ceil": (lambda x, y: np.ceil(x), lambda x, y: np.ceil(x)),
    "sign": (lambda x, y: x.sign(), lambda x, y: np.where(x == 0, x, np.sign(x))),
    "x < y": (lambda x, y: x < y, np.less),
    "x <= y": (lambda x, y: x <= y, np.less_equal),
    "x > 0.5": (lambda x, y: x > 0.5, lambda x, y: x > 0.5),
    "x >= y": (lambda x, y: x >= y, np.greater_equal),
    "not": (lambda x, y: ~(x < y), lambda x, y: ~(x < y)),
    "not of a number": (lambda x, y: ~x, lambda x, y: x == 0),
    "and": (lambda x, y: (x < y) & (x > -1), lambda x, y: (x < y) & (x > -1)),
    "or": (lambda x, y: (x < y) | (x > 1), lambda x, y: (x < y) | (x > 1)),
    "and of numbers": (lambda x, y: x & y, np.logical_and),
    "or of numbers": (lambda x, y: x | y, np.logical_or),
    "arithmetic with a condition": (lambda x, y: 3.0 * (x < y) + (x > 0), lambda x, y: 3.0 * (x < y) + (x > 0)),
    "where": (lambda x, y: where(x < y, x, y), lambda x, y: np.where(x < y, x, y)),
    "where not": (lambda x, y: where(~(x < y), x, y), lambda x, y: np.where(x < y, y, x)),
    "where of a number": (lambda x, y: (x + 0).select(y, 2.0), lambda x, y: np.where(x != 0, y, 2.0)),
    "where of two conditions": (
        lambda x, y: where((x < y) & (y < 1), x, where(x < 0, -1.0, y)),
        lambda x, y: np.where((x < y) & (y < 1), x, np.where(x < 0, -1, y)),
    ),
    "where of zero": (lambda x, y: where(x < y, x, 0.0), lambda x, y: np.where(x < y, x, 0)),
    "where of zero first": (lambda x, y: where(x < y, 0.0, x), lambda x, y: np.where(x < y, 0, x)),
    "where of infinity": (lambda x, y: where(x < y, np.inf, x), lambda x, y: np.where(x < y, np.inf, x)),
    "where of NaN": (lambda x, y: where(x < y, np.nan, x), lambda x, y: np.where(x < y, np.nan, x)),
    "a constant": (lambda x, y: 0.1, lambda x, y: np.full_like(x, 0.1)),
    "zero annihilates": (lambda x, y: x * 0.0, lambda x, y: np.zeros_like(x)),
    "the input": (lambda x, y: y, lambda x, y: y),
}
# Zeros are equal here, whatever their sign.
EQUAL: dict[str, tuple[Function, Function]] = {
    "maximum": (maximum, np.maximum),
    "minimum": (minimum, np.minimum),
    "clip": (lambda x, y: clip(x, -1.0, 2.0), lambda x, y: np.clip(x, -1, 2)),
    "clip to y": (lambda x, y: clip(x, -1.0, y), lambda x, y: np.minimum(np.maximum(x, -1), y)),
}
FUNCTIONS = (
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "exp", "expm1", "log", "log1p"),
    *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
)
CLOSE: dict[str, tuple[Function, Function]] = {
    **{name: (of_first(getattr(np, name)), of_first(getattr(np, name))) for name in FUNCTIONS},
    "atan2": (np.arctan2, np.arctan2),
    "atan2 of a number": (lambda x, y: np.arctan2(x, -2.0), lambda x, y: np.arctan2(x, -2.0)),
    "x^y": (lambda x, y: x**y, np.power),
    "2^x": (lambda x, y: 2.0**x, lambda x, y: np.power(2.0, x)),
    "x^1.5": (lambda x, y: x**1.5, lambda x, y: np.power(x, 1.5)),
    "x^3": (lambda x, y: x**3, lambda x, y: x * x * x),
    "x^-2": (lambda x, y: x**-2, lambda x, y: 1 / (x * x)),
    "x / 3": (lambda x, y: x / 3.0, lambda x, y: x / 3),
}
OPERATIONS = EXACT | EQUAL | CLOSE
FIELDS = {name: f"o{k}" for k, name in enumerate(OPERATIONS)}


def test_every_operation_of_the_graph_is_here() -> None:
    """The kernels of all operations together print every operation that the graph can have."""
    x, y = variable("x"), variable("y")
    found: set[str] = set()
    for compute, _ in OPERATIONS.values():
        found |= {op[0] for op in graph.build([x, y], [compute(x, y)])[0]}
    assert found == {*symbols.MEANING, "const", "input", "fma"}


def samples(t: Lanes) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of special values, and random ones; not a multiple of any width."""
    rng = np.random.default_rng(0)
    tiny, big = float(np.finfo(t.dtype).tiny), float(np.finfo(t.dtype).max)
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, tiny / 4, big, -big])
    x, y = (a.ravel() for a in np.meshgrid(special, special))
    more = rng.uniform(-1.2, 1.2, (2, 300)), rng.normal(size=(2, 300)) * 10
    x, y = np.concatenate([[x, y], *more], axis=1)
    assert len(x) % 4
    return x.astype(t.dtype), y.astype(t.dtype)


def rule(name: str) -> Callable[[Any], None]:
    return lambda n: setattr(n, FIELDS[name], OPERATIONS[name][0](n.x, n.y))


ALL = Algorithm(
    next(NAMES),
    {"x": Field("input", "node", SCALAR), "y": Field("input", "node", SCALAR)}
    | {field: Field("output", "node", SCALAR) for field in FIELDS.values()},
    {"run": [each(rule(name)) for name in OPERATIONS]},
)


def run(algorithm: Algorithm, t: Lanes, uniform: tuple[str, ...] = (), **inputs: np.ndarray) -> dict[str, np.ndarray]:
    """The results of a batch at the one node; inputs (batch, size), or (size,) if they are uniform or shared."""
    plan = Plan(algorithm, NODE, variant(t, tuple(algorithm.phases), (), uniform))
    batch = max(len(a) for a in inputs.values() if a.ndim == 2)
    out = {name: np.full((batch, plan.sizes[name]), 123, t.dtype) for name in algorithm.results}
    plan.run({name: np.ascontiguousarray(a, t.dtype) for name, a in inputs.items()}, out, batch)
    return out


@functools.cache
def compiled(t: Lanes) -> dict[str, np.ndarray]:
    x, y = samples(t)
    out = run(ALL, t, x=x[:, None], y=y[:, None])
    return {name: out[field][:, 0] for name, field in FIELDS.items()}


def expected(name: str, t: Lanes, dtype: type | None = None) -> np.ndarray:
    x, y = (a.astype(dtype or t.dtype) for a in samples(t))
    with np.errstate(all="ignore"):
        return np.asarray(OPERATIONS[name][1](x, y)).astype(t.dtype)


def bits(a: np.ndarray) -> bytes:
    """Of an array, with one NaN for all."""
    return np.where(np.isnan(a), a.dtype.type(np.nan), a).tobytes()


@EVERY_TYPE
@pytest.mark.parametrize("name", EXACT)
def test_exact_operations_have_the_bits_of_numpy(name: str, t: Lanes) -> None:
    assert bits(compiled(t)[name]) == bits(expected(name, t))


@EVERY_TYPE
@pytest.mark.parametrize("name", EQUAL)
def test_chosen_values_equal_those_of_numpy(name: str, t: Lanes) -> None:
    np.testing.assert_array_equal(compiled(t)[name], expected(name, t))


@EVERY_TYPE
@pytest.mark.parametrize("name", CLOSE)
def test_functions_are_close_to_numpy(name: str, t: Lanes) -> None:
    """Within 4 ulp of NumPy's in float64; NaN and infinity at the same places."""
    ours, theirs = compiled(t)[name], expected(name, t, np.float64)
    if t.single:  # what overflows in float32 on the way does not in float64
        both = np.isfinite(ours) & np.isfinite(theirs)
        assert both.sum() > 300 or name in ("arccosh", "arcsin", "arccos", "arctanh", "log", "x^y", "x^1.5", "log1p")
        ours, theirs = ours[both], theirs[both]
        np.testing.assert_allclose(ours, theirs, rtol=4 * np.finfo(np.float32).eps, atol=1e-44)
        return
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs))
    np.testing.assert_allclose(ours, theirs, rtol=4 * np.finfo(float).eps, atol=1e-320)


@pytest.mark.parametrize("wide", DOUBLE[1:] + SINGLE[1:], ids=str)
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_width_has_the_same_bits(name: str, wide: Lanes) -> None:
    assert bits(compiled(wide)[name]) == bits(compiled(Lanes(1, wide.single))[name])


# --- roundings -----------------------------------------------------------------------------------------------------------
def cancelling(n: Any) -> None:
    """What real numbers would cancel."""
    x, y = n.x, n.y
    n.r = stack((x + y) - y, (x - y) + y, y - (y - x), x + y, (x / y) * y, x * (1.0 / y), x / x)


CANCELLING = Algorithm(
    next(NAMES),
    {**{k: Field("input", "node", SCALAR) for k in "xy"}, "r": Field("output", "node", vector(7))},
    {"run": [each(cancelling)]},
)


@EVERY_TYPE
def test_nothing_is_simplified_that_changes_a_rounding(t: Lanes) -> None:
    """Bit by bit what NumPy computes; products only meet sums elsewhere, so that nothing is fused."""
    rng = np.random.default_rng(2)
    x, y = (rng.normal(size=(2, 200)) * 10.0 ** rng.integers(-12, 4, (2, 200))).astype(t.dtype)
    r = run(CANCELLING, t, x=x[:, None], y=y[:, None])["r"]
    one = t.dtype(1)
    plain = [(x + y) - y, (x - y) + y, y - (y - x), x + y, (x * (one / y)) * y, x * (one / y), x / x]
    assert (plain[0] != x).mean() > 0.3
    for ours, numpys in zip(r.T, plain, strict=True):
        assert bits(np.ascontiguousarray(ours)) == bits(numpys)


# --- fused multiply-adds --------------------------------------------------------------------------------------------------
FUSED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "fma": lambda x, y, z: x * y + z,
    "fms": lambda x, y, z: x * y - z,
    "fnma": lambda x, y, z: z - x * y,
}


def fused_rule(n: Any) -> None:
    n.r = stack(*(f(n.x, n.y, n.z) for f in FUSED.values()))


FUSED_ALGORITHM = Algorithm(
    next(NAMES),
    {**{k: Field("input", "node", SCALAR) for k in "xyz"}, "r": Field("output", "node", vector(3))},
    {"run": [each(fused_rule)]},
)


@EVERY_TYPE
def test_sums_of_products_are_rounded_once(t: Lanes) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 100)).astype(t.dtype)
    z = (-x * y * rng.choice([1.0, -1.0, 0.5, 1e-3], 100)).astype(t.dtype)  # often all but cancels
    r = run(FUSED_ALGORITHM, t, x=x[:, None], y=y[:, None], z=z[:, None])["r"]
    exact = [[f(*(Fraction(float(e)) for e in row)) for f in FUSED.values()] for row in zip(x, y, z, strict=True)]
    rounded = np.array([[float(e) for e in row] for row in exact])
    assert np.abs(r - rounded.astype(t.dtype)).max() == 0
    plain = np.stack([f(x, y, z) for f in FUSED.values()], axis=1)
    assert (r != plain).mean() > 0.3


def test_sine_and_cosine_of_one_angle_share_a_call() -> None:
    x, y = variable("x"), variable("y")
    kernel = Kernel(
        [(x, ("x", "own", 0)), (y, ("y", "own", 0))],
        [(f(a), ("z", "own", k)) for k, (f, a) in enumerate(((np.sin, x), (np.cos, x), (np.sin, y)))],
    )
    text, functions, flops = ir.function(kernel, "k", ["x", "y", "z"], frozenset(), Lanes(4))
    assert text.count("call { <4 x double>, <4 x double> } @lw_sincos") == 2
    assert functions == {("sincos", 4)}
    assert flops == 0


def test_a_condition_used_twice_is_compared_once() -> None:
    x = variable("x")
    condition = x < 1.0
    outputs = [where(condition, x, 2.0), where(condition, 3.0, x), where(x + 0, 1.0, x), (x * 2).select(1.0, x)]
    kernel = Kernel([(x, ("x", "own", 0))], [(v, ("z", "own", k)) for k, v in enumerate(outputs)])
    text, _, _ = ir.function(kernel, "k", ["x", "z"], frozenset(), Lanes(1))
    assert text.count("fcmp olt") == 1
    assert text.count("fcmp une") == 2


# --- memory ---------------------------------------------------------------------------------------------------------------
def scaled(n: Any) -> None:
    n.y = stack(n.x[0] * n.u[0] + n.u[1], n.x[1] * n.u[1])


SCALED = Algorithm(
    next(NAMES),
    {
        "x": Field("input", "node", vector(2)),
        "u": Field("input", "node", vector(2)),
        "y": Field("output", "node", vector(2)),
    },
    {"run": [each(scaled)]},
)


@EVERY_TYPE
def test_uniform_arrays_are_read_by_all_lanes(t: Lanes) -> None:
    x, u = np.random.default_rng(2).normal(size=(21, 2)).astype(t.dtype), np.array([1.5, -0.25], t.dtype)
    y = run(SCALED, t, ("u",), x=x, u=u)["y"]
    assert y.tobytes() == run(SCALED, t, x=x, u=u)["y"].tobytes() == run(SCALED, t, x=x, u=np.tile(u, (21, 1)))["y"].tobytes()
    np.testing.assert_allclose(y, np.stack([x[:, 0] * 1.5 - 0.25, x[:, 1] * -0.25], axis=1), rtol=1e-5)


def test_lanes_cannot_be_stored_in_a_uniform_array() -> None:
    x = np.ones((8, 2))
    with pytest.raises(AssertionError, match="uniform array y"):
        run(SCALED, Lanes(8), ("y",), x=x, u=x)


def exchange(n: Any) -> None:
    n.s = stack(n.s[1], n.s[0], -n.s[2])


EXCHANGE = Algorithm(next(NAMES), {"s": Field("state", "node", vector(3))}, {"run": [each(exchange)]})


@EVERY_TYPE
def test_what_is_updated_in_place_is_read_first(t: Lanes) -> None:
    s = np.random.default_rng(3).normal(size=(11, 3)).astype(t.dtype)
    out = run(EXCHANGE, t, s=s)["s"]
    np.testing.assert_array_equal(out, np.stack([s[:, 1], s[:, 0], -s[:, 2]], axis=1))


def idle(n: Any) -> None:
    pass


@EVERY_TYPE
def test_a_rule_that_touches_nothing(t: Lanes) -> None:
    algorithm = Algorithm(next(NAMES), {"x": Field("input", "node", SCALAR)} | SCALED.fields, {"run": [each(idle), each(scaled)]})
    x = np.ones((3, 2))
    assert run(algorithm, t, x=x, u=x)["y"].tolist() == [[2.0, 1.0]] * 3


# --- large kernels ----------------------------------------------------------------------------------------------------------
def large(n: Any) -> None:
    """More flops than one goes with all lanes at once; calls functions first, reads what it writes, and something uniform."""
    x, y = n.s[0] + np.sin(n.s[1]), n.s[1] * np.cos(n.s[1])
    for k in range(30):
        x, y = x * n.u[0] + (y - 0.1 * k) * n.u[1], where(x < y, -x, np.sqrt(abs(y)) + 1.0 / (2.0 + x * x))
    n.s = stack(y, x)


LARGE_FIELDS = {"s": Field("state", "node", vector(2)), "u": Field("input", "node", vector(2))}


@pytest.mark.parametrize("t", DOUBLE + SINGLE, ids=str)
@pytest.mark.parametrize("register", [16, 32, 64])
@pytest.mark.parametrize("long", [0, 10000])
def test_large_kernels_in_parts_have_the_same_bits(t: Lanes, register: int, long: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "register_bytes", lambda: register)
    monkeypatch.setattr(ir, "LONG", long)
    s, u = np.random.default_rng(4).normal(size=(21, 2)), np.array([0.75, -0.5])
    parts = run(Algorithm(next(NAMES), LARGE_FIELDS, {"run": [each(large)]}), t, ("u",), s=s, u=u)["s"]
    monkeypatch.setattr(machine, "register_bytes", lambda: 1000)
    whole = run(Algorithm(next(NAMES), LARGE_FIELDS, {"run": [each(large)]}), Lanes(1, t.single), s=s, u=u)["s"]
    assert np.isfinite(whole).all()
    assert bits(parts) == bits(whole)


@pytest.mark.parametrize("length", [60, 120])
@pytest.mark.parametrize(("register", "width"), [(64, 8), (32, 4), (16, 2)])
def test_parts_fit_one_register(register: int, width: int, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "register_bytes", lambda: register)
    x, y = variable("x"), variable("y")
    total, small = x, x * y
    for k in range(length):
        total = total * y + float(k)
    inline, called = graph.build([x, y], [total])[0], graph.build([x, y], [np.sin(total)])[0]
    t = Lanes(8)
    assert ir.part(inline, t)[0] == Lanes(width)
    assert ir.part(inline, Lanes(16, single=True))[0] == Lanes(2 * width, single=True)
    for ops, lanes in ((inline, Lanes(1)), (graph.build([x, y], [small])[0], t), (called, t)):
        assert ir.part(ops, lanes)[0] == Lanes(min(lanes.width, 2 * width))  # small bodies take two registers
    text, functions, flops = ir.function(
        Kernel([(x, ("x", "own", 0)), (y, ("y", "own", 0))], [(total, ("z", "own", 0))]), "k", ["x", "y", "z"], frozenset(), t
    )
    looped = width < 8 and flops * (8 // width) >= ir.LONG
    assert ("label %part" in text) == looped
    assert text.count("  store ") == (1 if looped else 8 // width)
    assert text.count("define void @k(") == 1
    assert (functions, flops) == (set(), graph.flops(inline))


def test_only_the_functions_in_use_are_in_a_module() -> None:
    x = variable("x")
    texts = {}
    for name in ("sin", "tanh", "sqrt"):
        kernel = Kernel([(x, ("x", "own", 0))], [(getattr(np, name)(x), ("y", "own", 0))])
        texts[name] = ir.module([ir.function(kernel, "k0", ["x", "y"], frozenset(), Lanes(4))], Lanes(4))
    assert ["define internal" in text for text in texts.values()] == [True, True, False]
    assert "@lw_tanh(" in texts["tanh"]
    assert "@lw_tanh(" not in texts["sin"]
    assert "@lw_sincos(" in texts["sin"]
    assert "define" not in ir.module([], Lanes(4))
