"""LLVM: from IR text to an object, from an object to addresses."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from typing import Any

from ..errors import CompileError
from . import cache

HUGE = 6000  # lines of a module that is compiled at level 0: the time of higher ones grows faster than the text
COLD = ("x86_64", "wasm32")  # machines that know the calling convention of functions that are rarely called
# At level 0 LLVM's quick selection of instructions folds the load of a number into a choice of whole registers, and reads beyond
# the number, where there are no masks (AVX2). The other selection takes no longer.
OPTION = "-fast-isel=false"
# Passes over modules with loops. Values are whole vectors already, sums keep their order, and loops are short: neither more
# vectors nor unrolled loops run faster, also in one lane, and both take longer to compile.
PASSES = {
    "speed_level": 2,
    "slp_vectorization": False,
    "loop_vectorization": False,
    "loop_interleaving": False,
    "loop_unrolling": False,
}


@functools.cache
def llvm() -> Any:
    """llvmlite's binding, initialised once."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.initialize_native_asmparser()
    binding.set_option("linkwork", OPTION)
    return binding


@functools.cache
def _host() -> tuple[Any, str, str]:
    b = llvm()
    return b.Target.from_triple(b.get_process_triple()), b.get_host_cpu_name(), b.get_host_cpu_features().flatten()


def new_target(level: int = 1) -> Any:
    """The machine that runs this process. An engine owns the one that it is given, so each gets its own."""
    host, cpu, features = _host()
    return host.create_target_machine(cpu=cpu, features=features, opt=level, codemodel="jitdefault", jit=True)


target = functools.cache(new_target)  # the machine that compiles


def level() -> int:
    """How hard LLVM tries: 1, or what `LINKWORK_LEVEL` says.

    Level 0 compiles three times faster, and what it makes takes up to twice as long for one state, 1.1 times for batches.
    Levels 2 and 3 take longer to compile and the kernels run no faster, as their order is given. Results are the same to the
    bit: what may be fused or reordered was decided before.
    """
    setting = os.environ.get("LINKWORK_LEVEL", "1")
    if setting not in ("0", "1", "2", "3"):
        raise CompileError(f"LINKWORK_LEVEL is {setting!r}; levels are 0 (compile quickly), 1 (the default), 2 and 3")
    return int(setting)


@functools.cache
def register_bytes() -> int:
    """The size of the widest vector registers."""
    features = _host()[2]
    return 64 if "+avx512f" in features else 32 if "+avx2" in features else 16


def description() -> str:
    """CPU, its features, the LLVM version and its level: objects are valid only where all agree."""
    _, cpu, features = _host()
    return f"{cpu} {features} {llvm().llvm_version_info} {OPTION} {level()}"


def parsed(ir: str, triple: str = "") -> Any:
    """A module of LLVM, checked, for a machine: by default the one that runs this process."""
    if not (triple or llvm().get_process_triple()).startswith(COLD):
        ir = ir.replace("coldcc ", "")
    try:
        module = llvm().parse_assembly(ir)
        module.verify()
    except RuntimeError as error:
        raise CompileError(f"LLVM refused the kernel: {error}") from error
    return module


def compile_object(ir: str, patient: bool = False) -> bytes:
    """The object code of a module. The kernels are already scheduled and fused: inlining is the only pass needed.

    patient   huge modules are compiled as well as others, which takes longer
    """
    b, module = llvm(), parsed(ir)
    machine = target(0 if ir.count("\n") > HUGE and not patient else level())
    builder = b.create_pass_builder(machine, b.PipelineTuningOptions(speed_level=3))
    passes = b.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.run(module, builder)
    return machine.emit_object(module)


def optimise_object(ir: str) -> bytes:
    """The object code of a module with loops, and variables in memory: `PASSES` first. No fast-math: every rounding is kept."""
    b, module, machine = llvm(), parsed(ir), target(level())
    module.triple, module.data_layout = b.get_process_triple(), str(machine.target_data)
    builder = b.create_pass_builder(machine, tuning())
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


def tuning() -> Any:
    """`PASSES`, as LLVM takes them."""
    options = llvm().PipelineTuningOptions()
    for name, value in PASSES.items():
        setattr(options, name, value)
    return options


def _new_engine() -> Any:
    b = llvm()
    return b.create_mcjit_compiler(b.parse_assembly(""), new_target())


_process_engine = functools.cache(_new_engine)


class Library:
    """Loaded object code; addresses stay valid while it lives."""

    def __init__(self, obj: bytes, engine: Any = None) -> None:
        self._engine = engine or _new_engine()
        self._engine.add_object_file(llvm().ObjectFileRef.from_data(obj))
        self._engine.finalize_object()

    @staticmethod
    def shared(obj: bytes) -> Library:
        """Loaded for good, into the one engine of the process: ten times faster, but names must be unique in the process."""
        return Library(obj, _process_engine())

    @staticmethod
    def of_text(name: str, ir: str) -> Library:
        """A module's text, from the cache or freshly compiled, loaded like `shared`."""
        return Library._kept(cache.digest(name, ir, description()), ir, compile_object)

    @staticmethod
    def of_loops(ir: str) -> Library:
        """The same for a module that `optimise_object` compiles."""
        return Library._kept(Library.loops_key(ir), ir, optimise_object)

    @staticmethod
    def loops_key(ir: str) -> str:
        """The key of such a module in the cache."""
        return cache.digest("loops", ir, description(), PASSES)

    @staticmethod
    def kept(key: str) -> Library | None:
        """An object of the cache, loaded like `shared`, if it is there."""
        found = cache.load(key)
        return None if found is None else Library.shared(found[1])

    @staticmethod
    def _kept(key: str, ir: str, compiler: Callable[[str], bytes]) -> Library:
        found = Library.kept(key)
        if found is None:
            obj = compiler(ir)
            cache.store(key, {}, obj)
            found = Library.shared(obj)
        return found

    def address(self, name: str) -> int:
        found = self._engine.get_function_address(name)
        if not found:
            raise CompileError(f"the compiled object has no function {name!r}")
        return found

    def function(self, name: str, *argument_types: Any) -> Any:
        """A Python callable that releases the interpreter lock while it runs."""
        return ctypes.CFUNCTYPE(None, *argument_types)(self.address(name))
