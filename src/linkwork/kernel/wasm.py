"""WebAssembly, as plans see it: kernels of one module, whose addresses are places in its table of functions.

Kernels and routines are kept as LLVM bitcode, one piece for every unit and routine; `module` links those in use and compiles them
together, so that no linker is needed. There is no fused multiply-add in WebAssembly: a b + c rounds twice, and results agree with
those of the host to rounding, not to the bit. Addresses have 32 bits; tables of plans keep their 64-bit fields, of which the
lower half is read, and only `bases`, an array of pointers, is half as wide.
"""

from __future__ import annotations

import functools
from typing import Any

from ..errors import CompileError
from . import cache, machine, sources, wasm_object
from .driver import repeat_ir, run_ir
from .lanes import Lanes

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals"  # all browsers have them since 2021
LANES = Lanes(1)
REPEAT = "lw_repeat"


@functools.cache
def _target(level: int) -> Any:
    b = machine.llvm()
    b.initialize_all_targets()
    b.initialize_all_asmprinters()
    return b.Target.from_triple(TRIPLE).create_target_machine(cpu="generic", features=FEATURES, opt=level, reloc="static")


class Part:
    """Functions of one piece of the module, which are called by their place in its table."""

    def __init__(self, owner: WebAssembly) -> None:
        self._owner = owner

    def address(self, name: str) -> int:
        return self._owner.place(name)


class Driver:
    """What of the driver plans need: the kernel that repeats others."""

    def __init__(self, repeat_at: int) -> None:
        self.repeat_at = repeat_at


class WebAssembly:
    """Kernels for one module, collected as plans are made."""

    waits = False

    def __init__(self) -> None:
        self.units: dict[str, Any] = {}
        self._pieces: dict[bytes, None] = {}  # bitcode
        self._table: dict[str, int] = {}  # places of functions, from 1 on
        self.load(self._kept("driver", f"{run_ir(LANES)}\n{repeat_ir(LANES)}\nattributes #0 = {{ nounwind }}", False))

    def description(self) -> str:
        return f"{TRIPLE} {FEATURES} {machine.llvm().llvm_version_info} {sources.digest(frozenset((__name__,)))}"

    def compile(self, ir: str, patient: bool) -> bytes:
        """Bitcode of a module whose only pass is inlining."""
        module, b = _parsed(ir), machine.llvm()
        builder = b.create_pass_builder(_target(machine.level()), b.PipelineTuningOptions(speed_level=3))
        passes = b.create_new_module_pass_manager()
        passes.add_always_inliner_pass()
        passes.run(module, builder)
        return module.as_bitcode()

    def load(self, compiled: bytes) -> Part:
        self._pieces[compiled] = None
        return Part(self)

    def routine(self, function: Any, lanes: Lanes) -> int:
        symbol, text = function.text(lanes)
        return self.load(self._kept(symbol, text, True)).address(symbol)

    def driver(self, lanes: Lanes) -> Driver:
        if lanes != LANES:
            raise CompileError(f"the page steps one state in float64, not {lanes}")
        return Driver(self.place(REPEAT))

    def place(self, name: str) -> int:
        """Where a function stands in the table."""
        return self._table.setdefault(name, len(self._table) + 1)

    @property
    def table_size(self) -> int:
        return len(self._table) + 1

    def module(self) -> bytes:
        """All that was collected, compiled: exports `repeat`; imports memory, table, stack pointer and functions of libm."""
        level = machine.level()
        key = cache.digest("module", [cache.digest(x) for x in self._pieces], self._table, level, self.description())
        found = cache.load(key)
        if found is None:
            found = {}, wasm_object.linked(self._object(level), {"repeat": REPEAT}, list(self._table))
            cache.store(key, *found)
        return found[1]

    def _object(self, level: int) -> bytes:
        b, (first, *rest) = machine.llvm(), self._pieces
        whole = b.parse_bitcode(first)
        for piece in rest:
            whole.link_in(b.parse_bitcode(piece))
        return _target(level).emit_object(whole)

    def _kept(self, name: str, ir: str, loops: bool) -> bytes:
        """Bitcode of a text, from the cache or made now; loops, with variables in memory, need passes of their own."""
        key = cache.digest("wasm", name, ir, loops, machine.PASSES, self.description())
        found = cache.load(key)
        if found is None:
            found = {}, _optimised(ir) if loops else self.compile(ir, False)
            cache.store(key, *found)
        return found[1]


def without_fma(ir: str) -> str:
    """A text whose fused multiply-adds are those of a machine that has none: a product and a sum."""
    return ir.replace("@llvm.fma.", "@llvm.fmuladd.")


def _parsed(ir: str) -> Any:
    """A module for this target, without fused multiply-adds."""
    module = machine.parsed(without_fma(ir), TRIPLE)
    module.triple, module.data_layout = TRIPLE, str(_target(0).target_data)
    return module


def _optimised(ir: str) -> bytes:
    module, b = _parsed(ir), machine.llvm()
    builder = b.create_pass_builder(_target(machine.level()), machine.tuning())
    builder.getModulePassManager().run(module, builder)
    return module.as_bitcode()
