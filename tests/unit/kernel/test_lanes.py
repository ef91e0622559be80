"""The spelling of value types and constants: every constant survives the way through LLVM's text exactly."""

from __future__ import annotations

import ctypes
import struct

import numpy as np
import pytest

from linkwork.kernel.lanes import Lanes
from linkwork.kernel.machine import Library, compile_object

TYPES = [Lanes(1), Lanes(4), Lanes(8), Lanes(1, single=True), Lanes(16, single=True)]
EVERY_TYPE = pytest.mark.parametrize("t", TYPES, ids=str)


def run(instruction: str, out: np.ndarray) -> None:
    """Execute one instruction on the memory of an array."""
    library = Library(compile_object(f"define void @f(ptr %out) {{\n  {instruction}\n  ret void\n}}"))
    library.function("f", ctypes.c_void_p)(out.ctypes.data)


def test_scalars() -> None:
    double, single = Lanes(1), Lanes(1, single=True)
    assert (double.type, double.int_type, double.bool_type, double.suffix) == ("double", "i64", "i1", "f64")
    assert (single.type, single.int_type, single.bool_type, single.suffix) == ("float", "i32", "i1", "f32")
    assert double.constant(1.0) == "0x3FF0000000000000"
    assert double.int_constant(-3) == "-3"


def test_vectors() -> None:
    t, u = Lanes(8), Lanes(16, single=True)
    assert (t.type, t.int_type, t.bool_type, t.suffix) == ("<8 x double>", "<8 x i64>", "<8 x i1>", "v8f64")
    assert (u.type, u.int_type, u.bool_type, u.suffix) == ("<16 x float>", "<16 x i32>", "<16 x i1>", "v16f32")
    assert Lanes(2).constant(-2.0) == "<double 0xC000000000000000, double 0xC000000000000000>"
    assert Lanes(3, single=True).int_constant(7) == "<i32 7, i32 7, i32 7>"


@EVERY_TYPE
def test_sizes(t: Lanes) -> None:
    assert t.bytes == np.dtype(t.dtype).itemsize
    assert t.dtype is (np.float32 if t.single else np.float64)
    assert t.element == ("float" if t.single else "double")


def test_lanes_are_values() -> None:
    assert Lanes(8) == Lanes(8)
    assert len({Lanes(8), Lanes(8, False), Lanes(8, True), Lanes(4)}) == 3


@EVERY_TYPE
@pytest.mark.parametrize("value", [0.0, -0.0, 0.1, -1 / 3, 1e-320, 1e38, np.inf, -np.inf, np.nan, 7, np.float64(0.2)])
def test_constants_keep_every_bit(t: Lanes, value: float) -> None:
    """Compiled and stored, a constant has the bits that NumPy gives it."""
    store = f"store {t.type} {t.constant(value)}, ptr %out, align {t.bytes}"
    out = np.full(t.width, 123.0, t.dtype)
    run(store, out)
    assert out.tobytes() == np.full(t.width, value, t.dtype).tobytes()


@pytest.mark.filterwarnings("error")
def test_constants_beyond_float32_are_infinite_there() -> None:
    single = Lanes(1, single=True)
    assert (single.constant(1e300), single.constant(-1e300)) == (single.constant(np.inf), single.constant(-np.inf))
    assert Lanes(1).constant(1e300) != Lanes(1).constant(np.inf)


@EVERY_TYPE
def test_integer_constants(t: Lanes) -> None:
    store = f"store {t.int_type} {t.int_constant(-5)}, ptr %out, align {t.bytes}"
    out = np.zeros(t.width, np.int32 if t.single else np.int64)
    run(store, out)
    assert out.tolist() == [-5] * t.width


def test_a_float32_constant_is_written_as_the_double_of_equal_value() -> None:
    text = Lanes(1, single=True).constant(0.1)
    (value,) = struct.unpack("<d", int(text, 16).to_bytes(8, "little"))
    assert value == float(np.float32(0.1)) != 0.1
