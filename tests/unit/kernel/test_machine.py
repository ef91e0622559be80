"""From IR text to running code, and what is said when that fails."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading

import pytest

from linkwork.errors import CompileError, LinkworkError
from linkwork.kernel import machine
from linkwork.kernel.machine import Library, compile_object

TWICE = """define void @twice(ptr %x) {
  %a = load double, ptr %x
  %b = fadd double %a, %a
  store double %b, ptr %x
  ret void
}"""


def loaded(ir: str) -> Library:
    return Library(compile_object(ir))


def test_compiled_code_runs() -> None:
    library = loaded(TWICE)
    x = ctypes.c_double(1.25)
    library.function("twice", ctypes.c_void_p)(ctypes.addressof(x))
    assert x.value == 2.5
    assert library.address("twice") != 0


def test_objects_can_be_loaded_twice() -> None:
    first, second = loaded(TWICE), loaded(TWICE)
    assert first.address("twice") != second.address("twice")


def test_shared_libraries_live_in_one_engine() -> None:
    """Each finds the functions of all: names must be unique in the process."""
    first = Library.shared(compile_object(TWICE.replace("@twice", "@test_machine_first")))
    second = Library.shared(compile_object(TWICE.replace("@twice", "@test_machine_second")))
    assert second.address("test_machine_first") == first.address("test_machine_first")
    x = ctypes.c_double(1.25)
    second.function("test_machine_first", ctypes.c_void_p)(ctypes.addressof(x))
    second.function("test_machine_second", ctypes.c_void_p)(ctypes.addressof(x))
    assert x.value == 5.0


DROPPED = """
import gc
from linkwork.kernel.machine import Library, compile_object
IR = "define void @f() {\\n  ret void\\n}"
for _ in range(5):
    Library(compile_object(IR)).address("f")
    gc.collect()
print("alive")
"""


def test_libraries_may_be_dropped() -> None:
    """What an engine owns goes with it; the compiler must not use it any more. In a process of its own, as it might crash."""
    done = subprocess.run([sys.executable, "-c", DROPPED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "alive\n")


@pytest.mark.parametrize(
    "ir",
    [
        "this is no IR",
        TWICE.replace("fadd double", "fadd float"),
        TWICE.replace("%a, %a", "%a, %missing"),
        TWICE.replace("  ret void\n", ""),
        # Parsed, but not valid: a value is used before it is computed.
        "define void @f(ptr %x) {\n  %b = fadd double %a, 1.0\n  %a = fadd double %b, 1.0\n  ret void\n}",
    ],
    ids=["text", "types", "undefined", "no end", "order"],
)
def test_bad_ir_is_a_compile_error(ir: str) -> None:
    with pytest.raises(CompileError, match=r"LLVM refused the kernel: .") as info:
        compile_object(ir)
    assert isinstance(info.value, LinkworkError)
    assert isinstance(info.value.__cause__, RuntimeError)


def test_a_missing_function_is_named() -> None:
    library = loaded(TWICE)
    with pytest.raises(CompileError, match="the compiled object has no function 'thrice'"):
        library.address("thrice")
    with pytest.raises(CompileError, match="'thrice'"):
        library.function("thrice", ctypes.c_void_p)


def test_functions_marked_for_it_are_inlined() -> None:
    inlined = "define internal double @half(double %x) alwaysinline {\n  %y = fmul double %x, 0.5\n  ret double %y\n}\n"
    user = TWICE.replace("%b = fadd double %a, %a", "%b = call double @half(double %a)")
    library = loaded(inlined + user)
    x = ctypes.c_double(3.0)
    library.function("twice", ctypes.c_void_p)(ctypes.addressof(x))
    assert x.value == 1.5
    assert b"half" not in compile_object(inlined + user)


def test_the_target_is_made_once_and_described() -> None:
    assert machine.target(1) is machine.target(1)
    cpu, features, rest = machine.description().split(" ", 2)
    version, option, level = rest.rsplit(" ", 2)
    assert cpu == machine.llvm().get_host_cpu_name()
    assert features == machine.llvm().get_host_cpu_features().flatten()
    assert version == str(machine.llvm().llvm_version_info)
    assert option == machine.OPTION
    assert level == str(machine.level())


SUM = """define double @sum(ptr %x, i64 %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %s = phi double [ 0.0, %start ], [ %t, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %a = load double, ptr %at
  %t = fadd double %s, %a
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret double %t
}"""


def test_the_level_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LINKWORK_LEVEL")
    assert machine.level() == 1
    objects = {}
    for level in range(4):
        monkeypatch.setenv("LINKWORK_LEVEL", str(level))
        assert machine.level() == level
        objects[level] = compile_object(SUM)
    assert objects[0] != objects[1]
    monkeypatch.setenv("LINKWORK_LEVEL", "high")
    with pytest.raises(CompileError, match=r"LINKWORK_LEVEL is 'high'; levels are 0"):
        machine.level()


def test_huge_modules_are_compiled_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWORK_LEVEL", "0")
    quick = compile_object(SUM)
    monkeypatch.setenv("LINKWORK_LEVEL", "1")
    assert compile_object(SUM) != quick
    assert compile_object(SUM + "\n" * machine.HUGE) == quick


@pytest.mark.parametrize(
    ("features", "size"), [("+sse2,+avx2,+avx512f", 64), ("+avx2,-avx512f", 32), ("+sse2,-avx2", 16), ("", 16)]
)
def test_the_size_of_registers_is_that_of_the_features(features: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_host", lambda: (None, "some cpu", features))
    assert machine.register_bytes.__wrapped__() == size


def test_no_contraction_of_products_and_sums() -> None:
    """Fusing is decided in `graph`: LLVM must keep a product and a sum apart."""
    ir = """define void @f(ptr %x) {
  %a = load double, ptr %x
  %p = fmul double %a, %a
  %s = fadd double %p, -1.0
  store double %s, ptr %x
  ret void
}"""
    library = loaded(ir)
    x = ctypes.c_double(1.0 + 2.0**-30)
    library.function("f", ctypes.c_void_p)(ctypes.addressof(x))
    assert x.value == (1.0 + 2.0**-30) ** 2 - 1.0 == 2.0**-29  # fused it would be 2^-29 + 2^-60


def test_functions_release_the_interpreter_lock() -> None:
    """Code that waits for another Python thread would wait in vain if it kept the lock."""
    wait = """define void @wait(ptr %flag) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %seen = load atomic i64, ptr %flag seq_cst, align 8
  %next = add i64 %i, 1
  %go = icmp ne i64 %seen, 0
  %late = icmp ugt i64 %i, 3000000000
  %end = or i1 %go, %late
  br i1 %end, label %done, label %loop
done:
  %result = getelementptr i64, ptr %flag, i64 1
  store i64 %seen, ptr %result
  ret void
}"""
    library = loaded(wait)
    memory = (ctypes.c_int64 * 2)()  # the flag, and what the code saw of it
    timer = threading.Timer(0.05, lambda: memory.__setitem__(0, 1))
    timer.start()
    library.function("wait", ctypes.c_void_p)(ctypes.addressof(memory))
    timer.join()
    assert list(memory) == [1, 1]
