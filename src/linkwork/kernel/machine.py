"""LLVM: from IR text to an object, from an object to addresses."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from ..errors import CompileError
from . import cache


@functools.cache
def llvm() -> Any:
    """llvmlite's binding, initialised once."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.initialize_native_asmparser()
    return binding


@functools.cache
def _host() -> tuple[Any, str, str]:
    b = llvm()
    return b.Target.from_triple(b.get_process_triple()), b.get_host_cpu_name(), b.get_host_cpu_features().flatten()


def new_target() -> Any:
    """The machine that runs this process. An engine owns the one that it is given, so each gets its own.

    Level 1: higher levels take nearly twice as long to compile and the kernels run no faster, as their order is given.
    """
    host, cpu, features = _host()
    return host.create_target_machine(cpu=cpu, features=features, opt=1, codemodel="jitdefault", jit=True)


@functools.cache
def target() -> Any:
    """The machine that compiles."""
    return new_target()


@functools.cache
def register_bytes() -> int:
    """The size of the widest vector registers."""
    features = _host()[2]
    return 64 if "+avx512f" in features else 32 if "+avx2" in features else 16


@functools.cache
def description() -> str:
    """CPU, its features and the LLVM version: objects are valid only where all agree."""
    _, cpu, features = _host()
    return f"{cpu} {features} {llvm().llvm_version_info}"


def compile_object(ir: str) -> bytes:
    """The object code of a module. The kernels are already scheduled and fused: inlining is the only pass needed."""
    b = llvm()
    try:
        module = b.parse_assembly(ir)
        module.verify()
    except RuntimeError as error:
        raise CompileError(f"LLVM refused the kernel: {error}") from error
    builder = b.create_pass_builder(target(), b.PipelineTuningOptions(speed_level=3))
    passes = b.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.run(module, builder)
    return target().emit_object(module)


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
        key = cache.digest(name, ir, description())
        found = cache.load(key)
        obj = found[1] if found else compile_object(ir)
        if found is None:
            cache.store(key, {}, obj)
        return Library.shared(obj)

    def address(self, name: str) -> int:
        found = self._engine.get_function_address(name)
        if not found:
            raise CompileError(f"the compiled object has no function {name!r}")
        return found

    def function(self, name: str, *argument_types: Any) -> Any:
        """A Python callable that releases the interpreter lock while it runs."""
        return ctypes.CFUNCTYPE(None, *argument_types)(self.address(name))
