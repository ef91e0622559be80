"""Sine and cosine against mpmath and across widths; the functions of libm against NumPy."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import mpmath
import numpy as np
import pytest

from linkwork.kernel.lanes import Lanes
from linkwork.kernel.vector_math import LIBM_FUNCTIONS, declarations, libm_ir, sincos_ir

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

ELEMENTS = [pytest.param(Lanes(8), id="float64"), pytest.param(Lanes(16, single=True), id="float32")]
LIMIT = {np.float64: 2.0**30, np.float32: 2.0**17}
# Among all doubles below the limit these are the closest to a multiple of pi/2: absolutely, and relative to their ulp.
HARDEST = [45.553093477052, 91.106186954104, 14461176.67027838, 462757653.44890815]

ATTRIBUTES = 'attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }\n'


def loop_ir(t: Lanes, name: str, call: str) -> str:
    """`name(x, y, u, v, n)`: u[i], v[i] = call of x[i], y[i] for n blocks of lanes."""
    T = t.type
    pointers = "\n".join(f"  %{a}_at = getelementptr {t.element}, ptr %{a}s, i64 %first" for a in "xyuv")
    return f"""define void @{name}(ptr %xs, ptr %ys, ptr %us, ptr %vs, i64 %n) #0 {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %first = mul i64 %i, {t.width}
{pointers}
  %x = load {T}, ptr %x_at, align {t.bytes}
  %y = load {T}, ptr %y_at, align {t.bytes}
{call}
  store {T} %u, ptr %u_at, align {t.bytes}
  store {T} %v, ptr %v_at, align {t.bytes}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


def compile_module(ir: str) -> llvm.ExecutionEngine:
    module = llvm.parse_assembly(ir)
    module.verify()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        codemodel="jitdefault",
        jit=True,
    )
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.PipelineTuningOptions(speed_level=3)))
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


def call_lanes(engine: llvm.ExecutionEngine, t: Lanes, name: str, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    blocks = -(-len(x) // t.width)
    arrays = np.zeros((4, blocks * t.width), t.dtype)
    arrays[0, : len(x)], arrays[1, : len(x)] = x, y
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)(engine.get_function_address(name))
    function(*(row.ctypes.data for row in arrays), blocks)
    return arrays[2, : len(x)], arrays[3, : len(x)]


@functools.cache
def sincos_engine(t: Lanes) -> llvm.ExecutionEngine:
    pair = f"{{ {t.type}, {t.type} }}"
    call = f"""  %both = call {pair} @lw_sincos({t.type} %x)
  %u = extractvalue {pair} %both, 0
  %v = extractvalue {pair} %both, 1"""
    return compile_module(declarations(t) + sincos_ir(t) + loop_ir(t, "sincos", call) + ATTRIBUTES)


def sincos(t: Lanes, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return call_lanes(sincos_engine(t), t, "sincos", x, x)


@functools.cache
def libm_engine(t: Lanes) -> llvm.ExecutionEngine:
    ir = declarations(t)
    for name, arity in LIBM_FUNCTIONS.items():
        arguments = ", ".join(f"{t.type} %{a}" for a in "xy"[:arity])
        call = f"  %u = call {t.type} @lw_{name}({arguments})\n  %v = fadd {t.type} %u, %u"
        ir += libm_ir(name, t, arity) + loop_ir(t, f"apply_{name}", call)
    return compile_module(ir + ATTRIBUTES)


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Equality that tells -0.0 from 0.0; every NaN equals every other."""
    a, b = (np.where(np.isnan(x), x.dtype.type(np.nan), x) for x in (a, b))
    return a.tobytes() == b.tobytes()


def ulp_error(values: np.ndarray, exact: list[Any]) -> float:
    """Greatest |value - exact| in units of the last place of the exact value."""
    element = values.dtype.type
    return max(
        float(abs(mpmath.mpf(float(value)) - e) / float(np.spacing(element(abs(float(e))))))
        for value, e in zip(values, exact, strict=True)
    )


def sincos_ulp_error(t: Lanes, x: np.ndarray) -> float:
    x = x.astype(t.dtype)
    sin, cos = sincos(t, x)
    with mpmath.workprec(200):
        exact = [mpmath.mpf(float(v)) for v in x]
        return max(ulp_error(sin, [mpmath.sin(v) for v in exact]), ulp_error(cos, [mpmath.cos(v) for v in exact]))


def signed(magnitudes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return magnitudes * rng.choice([-1.0, 1.0], magnitudes.shape)


RANGES: dict[str, Callable[[np.random.Generator, float], np.ndarray]] = {
    "uniform to 10": lambda rng, limit: rng.uniform(-10, 10, 3000),
    "logarithmic to 1e5": lambda rng, limit: signed(10 ** rng.uniform(-9, 5, 2000), rng),
    "logarithmic to the limit": lambda rng, limit: signed(limit ** rng.uniform(0, 1, 2000), rng),
    "next to the limit": lambda rng, limit: signed(limit * rng.uniform(0.99, 1, 500), rng),
}


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("t", ELEMENTS)
def test_sincos_is_within_one_ulp(t: Lanes, name: str) -> None:
    x = RANGES[name](np.random.default_rng(1), LIMIT[t.dtype])
    assert sincos_ulp_error(t, x) < 1.0


@pytest.mark.parametrize("t", ELEMENTS)
def test_sincos_is_within_one_ulp_next_to_multiples_of_half_pi(t: Lanes) -> None:
    rng = np.random.default_rng(2)
    largest = LIMIT[t.dtype] * 2 / math.pi - 1
    k = np.unique(np.concatenate([np.arange(1, 300), np.round(largest ** rng.uniform(0.5, 1, 500))]))
    with mpmath.workprec(200):
        nearest = signed(np.array([float(int(j) * mpmath.pi / 2) for j in k]), rng).astype(t.dtype)
    neighbours = [np.nextafter(nearest, t.dtype(sign * np.inf)) for sign in (-1, 1)]
    assert sincos_ulp_error(t, np.concatenate([nearest, *neighbours])) < 1.0


def test_sincos_is_within_one_ulp_at_the_doubles_closest_to_multiples_of_half_pi() -> None:
    assert sincos_ulp_error(Lanes(8), np.array([*HARDEST, *(-x for x in HARDEST)])) < 1.0


def test_sincos_is_within_one_ulp_at_the_floats_closest_to_multiples_of_half_pi() -> None:
    multiples = np.arange(1, int(LIMIT[np.float32] * 2 / math.pi)) * (math.pi / 2)
    floats = multiples.astype(np.float32)
    hardest = floats[np.argsort(np.abs(floats - multiples))[:300]]
    assert sincos_ulp_error(Lanes(16, single=True), hardest) < 1.0


@pytest.mark.parametrize("t", ELEMENTS)
def test_tiny_angles_are_their_own_sine(t: Lanes) -> None:
    info = np.finfo(t.dtype)
    x = np.array([0.0, info.smallest_subnormal, info.tiny / 3, info.tiny, info.eps / 4], t.dtype)
    x = np.concatenate([x, -x])
    sin, cos = sincos(t, x)
    assert same_bits(sin, x)
    assert same_bits(cos, np.ones_like(x))


@pytest.mark.parametrize("t", ELEMENTS)
def test_nan_and_infinity_give_nan(t: Lanes) -> None:
    for result in sincos(t, np.array([np.nan, np.inf, -np.inf], t.dtype)):
        assert np.isnan(result).all()


@pytest.mark.parametrize("t", ELEMENTS)
def test_huge_angles_agree_with_numpy(t: Lanes) -> None:
    x = np.array([1e10, 1e22, 1.7e308] if t.dtype is np.float64 else [2e5, 1e10, 3e38], t.dtype)
    x = np.concatenate([x, -x, [np.nextafter(t.dtype(LIMIT[t.dtype]), t.dtype(np.inf))]])
    for ours, numpy in zip(sincos(t, x), (np.sin(x.astype(float)), np.cos(x.astype(float))), strict=True):
        np.testing.assert_allclose(ours, numpy, rtol=2 * np.finfo(t.dtype).eps, atol=0)


def assorted(t: Lanes) -> np.ndarray:
    """Angles of every kind in random order, so that near and far lanes share vectors."""
    rng = np.random.default_rng(3)
    largest = math.log2(float(np.finfo(t.dtype).max))
    kinds = [
        rng.uniform(-10, 10, 4000),
        signed(2 ** rng.uniform(-100, 17, 4000), rng),
        signed(2 ** rng.uniform(0, largest, 300), rng),
        np.repeat([np.nan, np.inf, -np.inf, 0.0, -0.0, LIMIT[t.dtype], -LIMIT[t.dtype]], 10),
    ]
    return rng.permutation(np.concatenate(kinds)).astype(t.dtype)


@pytest.mark.parametrize("width", [2, 3, 4, 8, 16])
@pytest.mark.parametrize("single", [False, True], ids=["float64", "float32"])
def test_every_width_gives_the_same_bits(width: int, single: bool) -> None:
    t = Lanes(width, single)
    x = assorted(t)
    for wide, scalar in zip(sincos(t, x), sincos(Lanes(1, single), x), strict=True):
        assert same_bits(wide, scalar)


@pytest.mark.parametrize("t", ELEMENTS)
@pytest.mark.parametrize("neighbour", [np.inf, np.nan, 3e38, -0.0])
def test_a_lane_does_not_depend_on_its_neighbours(t: Lanes, neighbour: float) -> None:
    x = np.random.default_rng(4).uniform(-100, 100, (50, t.width)).astype(t.dtype)
    disturbed = x.copy()
    disturbed[:, 3] = neighbour
    others = np.arange(t.width) != 3
    for before, after in zip(sincos(t, x.ravel()), sincos(t, disturbed.ravel()), strict=True):
        assert same_bits(before.reshape(x.shape)[:, others], after.reshape(x.shape)[:, others])


NUMPY: dict[str, Callable[..., np.ndarray]] = {
    **{name: getattr(np, name) for name in ("tan", "sinh", "cosh", "tanh", "exp", "expm1", "log", "log1p")},
    **{name: getattr(np, "arc" + name[1:]) for name in ("asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh")},
    "pow": np.power,
}
DOMAIN = {"asin": (-1, 1), "acos": (-1, 1), "atanh": (-1, 1), "acosh": (1, 50), "log": (0, 50), "log1p": (-1, 50)}


@pytest.mark.parametrize("t", [Lanes(1), Lanes(4), Lanes(1, single=True), Lanes(8, single=True)], ids=str)
@pytest.mark.parametrize("name", LIBM_FUNCTIONS)
def test_libm_functions_agree_with_numpy(t: Lanes, name: str) -> None:
    """In float64; the functions of float32 against NumPy's of float64, rounded."""
    rng = np.random.default_rng(5)
    low, high = DOMAIN.get(name, (0, 9) if name == "pow" else (-9, 9))
    x, y = rng.uniform(low, high, 400).astype(t.dtype), rng.uniform(-9, 9, 400).astype(t.dtype)
    arguments = [x.astype(float), y.astype(float)][: LIBM_FUNCTIONS[name]]
    result, twice = call_lanes(libm_engine(t), t, f"apply_{name}", x, y)
    np.testing.assert_array_max_ulp(result, NUMPY[name](*arguments).astype(t.dtype), maxulp=2)
    np.testing.assert_array_equal(twice, 2 * result)


def test_libm_functions_pass_nan_and_domain_errors_on() -> None:
    t = Lanes(4)
    x = np.array([np.nan, -2.0, np.inf, 1.0])
    for name in ("log", "acosh"):
        with np.errstate(invalid="ignore"):
            expected = NUMPY[name](x)
        assert same_bits(call_lanes(libm_engine(t), t, f"apply_{name}", x, x)[0], expected)
