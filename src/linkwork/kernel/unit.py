"""Compiled units: the kernels of one algorithm for one class of nodes, from the cache or freshly traced."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import CompileError
from . import cache, ir, machine, sources
from .lanes import Lanes
from .sweep import Algorithm, NodeClass
from .trace import Position, Tracer


@dataclass(frozen=True)
class Variant:
    """What a unit is compiled for, besides its class: value type, uniform and absent arrays, and the phases wanted."""

    lanes: Lanes
    phases: tuple[str, ...]
    uniform: frozenset[str]
    absent: frozenset[str]


@dataclass(frozen=True)
class CompiledUnit:
    """Addresses and operand lists of the kernels, private scalars per node and phase, flops per node and lane, and the
    gathered fields that each kernel writes."""

    addresses: list[int]
    operands: list[list[tuple[str, str]]]
    private: dict[str, int]
    flops: list[int]
    gathers: list[list[str]]
    library: machine.Library


def arrays(algorithm: Algorithm) -> list[str]:
    """The order of the arrays in `bases`."""
    named = [n for n, f in algorithm.fields.items() if f.kind in ("input", "output", "state", "work")]
    return ["parameters", "shared", "gathered", *(f"private:{p}" for p in algorithm.phases), *named]


_loaded: dict[str, CompiledUnit] = {}


def unit(algorithm: Algorithm, node_class: NodeClass, position: Position, variant: Variant) -> CompiledUnit:
    """The compiled kernels of the wanted phases."""
    if len(algorithm.phases) > 1 and variant.absent & set(algorithm.of_kind("input")):
        raise CompileError(
            f"{algorithm.name}: inputs of an algorithm in phases must all be given, so that its memory is the same"
        )
    place = (position.root, position.leaf, position.first)
    choice = (variant.lanes, variant.phases, sorted(variant.uniform), sorted(variant.absent))
    written = _written(algorithm, node_class, position, variant) if algorithm.foreign else None  # rules change, names stay
    rules = algorithm.name if written is None else cache.digest(algorithm.name, written[0], [text for text, _, _ in written[1]])
    code = sources.digest(frozenset((__name__, *algorithm.modules, *node_class.modules)))
    key = cache.digest(code, rules, node_class.signature, place, choice, machine.description())
    known = _loaded.get(key)
    if known is None:
        found = cache.load(key)
        if found is None:
            found = _compiled(written or _written(algorithm, node_class, position, variant), variant.lanes, key)
            cache.store(key, *found)
        header, obj = found
        library = machine.Library.shared(obj)
        pairs = [[(a, r) for a, r in kernel] for kernel in header["operands"]]
        addresses = [library.address(_name(key, i)) for i in range(len(pairs))]
        known = _loaded[key] = CompiledUnit(addresses, pairs, header["private"], header["flops"], header["gathers"], library)
    return known


def _name(key: str, i: int) -> str:
    """The name of a kernel: no other in the process has it."""
    return f"k{i}_{key[:24]}"


Written = tuple[dict, list[tuple[str, set[str], int]]]  # what plans must know; kernels as of `ir.function`


def _written(algorithm: Algorithm, node_class: NodeClass, position: Position, variant: Variant) -> Written:
    """The kernels of the wanted phases."""
    traced = Tracer(algorithm, node_class, position, variant.absent).run()
    steps = [k for k, (phase, _) in enumerate(algorithm.steps()) if phase in variant.phases]
    kernels, order = [traced.kernels[k] for k in steps], arrays(algorithm)
    functions = [ir.function(k, f"k{i}", order, variant.uniform, variant.lanes) for i, k in enumerate(kernels)]
    header = {
        "operands": [ir.operands(k) for k in kernels],
        "private": traced.private,
        "gathers": [traced.gathers[k] for k in steps],
        "flops": [f[2] for f in functions],
    }
    return header, functions


def _compiled(written: Written, lanes: Lanes, key: str) -> tuple[dict, bytes]:
    header, functions = written
    named = [(text.replace(f"@k{i}(", f"@{_name(key, i)}(", 1), used, flops) for i, (text, used, flops) in enumerate(functions)]
    return header, machine.compile_object(ir.module(named, lanes))
