"""Objects of WebAssembly made modules: what is exported, imported and in the table, and what has no place in a page."""

from __future__ import annotations

import pytest

from linkwork.errors import CompileError
from linkwork.kernel import wasm_object
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.loops import Lane, loops
from linkwork.kernel.wasm import WebAssembly

POWERS = """
declare double @pow(double, double)
declare double @llvm.fma.f64(double, double, double)
define double @fourth(double %x) {
  %y = call double @pow(double %x, double 4.0)
  %z = call double @llvm.fma.f64(double %y, double %x, double %y)
  ret double %z
}"""
TABLE = """
@numbers = internal constant [4 x double] [double 1.0, double 2.0, double 4.0, double 8.0]
define double @one_of(i32 %k) {
  %at = getelementptr [4 x double], ptr @numbers, i32 0, i32 %k
  %x = load double, ptr %at
  ret double %x
}"""


@loops
def double_all(n: int, x: Lane) -> None:
    for i in range(n):
        x[i] = x[i] + x[i]


@pytest.mark.parametrize("x", [0, 1, 127, 128, 300, 2**21 - 1, 2**32 - 1])
def test_numbers_are_written_as_they_are_read(x: int) -> None:
    assert wasm_object.Reader(wasm_object.number(x)).number() == x


def test_a_module_of_what_was_collected() -> None:
    machine = WebAssembly()
    machine.load(machine.compile(POWERS, False))
    place = machine.place("fourth")
    routine = machine.routine(double_all, Lanes(1))
    assert machine.driver(Lanes(1)).repeat_at not in (place, routine, 0)
    assert (machine.place("fourth"), machine.table_size) == (place, 4)
    module = machine.module()
    kinds = [kind for kind, _ in wasm_object.sections(module)]
    assert kinds == sorted(
        kinds, key=lambda k: {12: 9.5}.get(k, k)
    )  # their order is prescribed; the count of data comes before code
    assert wasm_object.CUSTOM not in kinds
    assert wasm_object.imported(module) == ["pow"]  # no fused multiply-add
    exported = wasm_object.Reader(dict(wasm_object.sections(module))[wasm_object.EXPORT])
    assert (exported.number(), exported.text()) == (1, "repeat")


def test_data_has_no_place() -> None:
    machine = WebAssembly()
    machine.load(machine.compile(TABLE, False))
    machine.place("one_of")
    with pytest.raises(CompileError, match="data of its own"):
        machine.module()


def test_lanes_have_no_driver() -> None:
    with pytest.raises(CompileError, match="one state"):
        WebAssembly().driver(Lanes(4))
