"""PTX, the assembly of NVIDIA's GPUs: what kernels are in its words, and what its assembler says of them.

A thread has one lane. Every kernel is an entry, so that the assembler reports its registers. Functions of libm are those of
NVIDIA's libdevice; it and the assembler `ptxas` come with PyPI's nvidia-cuda-nvcc-cu12 (extra `ptx`) or a CUDA toolkit. Without
them LLVM still makes the text, with functions of libm left open.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CompileError
from . import machine
from .vector_math import LIBM_FUNCTIONS

TRIPLE, CPU, FEATURES = "nvptx64-nvidia-cuda", "sm_80", "+ptx70"
PACKAGE = "nvidia.cuda_nvcc"
DEVICE = "__nv_"  # of the names of functions in libdevice
LIBM = "|".join(("sin", "cos", *LIBM_FUNCTIONS))
USED = re.compile(
    r"Compiling entry function '(?P<name>[^']+)'.*?"
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads.*?"
    r"Used (?P<registers>\d+) registers",
    re.DOTALL,
)


def entries(ir: str) -> str:
    """Kernels as entries, functions of libm as those of libdevice; without vectors' functions of the host's libm."""
    ir = re.sub(r"^define void @(\w+)\(ptr noalias %entries", r"define ptx_kernel void @\1(ptr noalias %entries", ir, flags=re.M)
    return re.sub(rf"@({LIBM})(f?)\(", rf"@{DEVICE}\1\2(", ir)


def _package() -> Path | None:
    try:
        found = importlib.util.find_spec(PACKAGE)
    except ModuleNotFoundError:
        return None
    places = list(found.submodule_search_locations or ()) if found else []
    return Path(places[0]) if places else None


@functools.cache
def assembler() -> str | None:
    """Where `ptxas` is: in PyPI's package, or on the path."""
    package = _package()
    own = package / "bin" / "ptxas" if package else None
    return str(own) if own and own.exists() else shutil.which("ptxas")


@functools.cache
def _libdevice() -> bytes | None:
    """The bitcode of libdevice, from where the assembler is."""
    if (ptxas := assembler()) is None:
        return None
    found = sorted((Path(ptxas).resolve().parents[1] / "nvvm" / "libdevice").glob("libdevice*.bc"))
    return found[0].read_bytes() if found else None


def link_functions(module: Any) -> None:
    """Put the functions of libdevice that a module calls into it, seen by it alone."""
    bitcode, open_ones = _libdevice(), [f.name for f in module.functions if f.is_declaration and f.name.startswith(DEVICE)]
    if bitcode is None or not open_ones:
        return
    own = {f.name for f in module.functions if not f.is_declaration}
    library = machine.llvm().parse_bitcode(bitcode)
    library.triple, library.data_layout = module.triple, module.data_layout
    module.link_in(library)
    for function in module.functions:
        if not function.is_declaration and function.name not in own:
            function.linkage = "internal"


@dataclass(frozen=True)
class Usage:
    """What an entry takes of a GPU: registers of 32 bits of a thread, bytes of its stack, and of values that did not fit into
    registers and are stored and loaded again."""

    name: str
    registers: int
    stack: int
    stores: int
    loads: int


def assembled(text: bytes) -> list[Usage]:
    """What the assembler says of the entries of a module; raises if it refuses it."""
    if (ptxas := assembler()) is None:
        raise CompileError('ptxas is not installed: pip install "linkwork[ptx]", or a CUDA toolkit')
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "kernels.ptx", Path(folder) / "kernels.cubin"
        source.write_bytes(text)
        done = subprocess.run([ptxas, f"-arch={CPU}", "-v", str(source), "-o", str(made)], capture_output=True, text=True)
        if done.returncode or not made.exists():
            raise CompileError(f"ptxas refused the kernels: {done.stderr.strip()[:2000]}")
    return [Usage(x["name"], *(int(x[k]) for k in ("registers", "stack", "stores", "loads"))) for x in USED.finditer(done.stderr)]
