"""Compiled units: the kernels of one algorithm for one class of nodes, from the cache or freshly traced."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import CompileError
from . import cache, ir, sources
from .backend import Backend, Code
from .lanes import Lanes
from .sweep import Algorithm, NodeClass
from .trace import Position, Tracer, own_array


@dataclass(frozen=True)
class Variant:
    """What a unit is compiled for, besides its class: value type, uniform and absent arrays, and the phases wanted."""

    lanes: Lanes
    phases: tuple[str, ...]
    uniform: frozenset[str]
    absent: frozenset[str]


@dataclass(frozen=True)
class CompiledUnit:
    """Addresses and operand lists of the kernels by step, how far they reach into the record of every operand, private scalars
    per node and phase, flops per node and lane, and the gathered fields that each kernel writes; steps that do not run there have
    neither operands nor flops."""

    addresses: list[int]
    operands: list[list[tuple[str, str]]]
    reaches: list[list[int]]
    private: dict[str, int]
    flops: list[int]
    gathers: list[list[str]]
    code: Code


def arrays(algorithm: Algorithm) -> list[str]:
    """The order of the arrays in `bases`."""
    named = [n for n, f in algorithm.fields.items() if f.kind in ("input", "output", "state", "work")]
    kinds = ("parameters", "tables", "shared", "gathered", *(f"private:{p}" for p in algorithm.phases))
    return [*(own_array(kind, of) for of in algorithm.sets for kind in kinds), *named]


def unit(
    algorithm: Algorithm,
    node_class: NodeClass,
    position: Position,
    variant: Variant,
    backend: Backend,
    on: str = "",
    idle: frozenset[int] = frozenset(),
) -> CompiledUnit:
    """The compiled kernels of the wanted phases for a class of nodes of a set; `idle` steps have none of its nodes."""
    if len(algorithm.phases) > 1 and variant.absent & set(algorithm.of_kind("input")):
        raise CompileError(
            f"{algorithm.name}: inputs of an algorithm in phases must all be given, so that its memory is the same"
        )
    place = (position.root, position.leaf, position.first)
    choice = (variant.lanes, variant.phases, sorted(variant.uniform), sorted(variant.absent))
    tracer = Tracer(algorithm, node_class, position, variant.absent, on, idle)
    written = _written(tracer, variant) if algorithm.foreign else None  # rules change, names stay
    rules = algorithm.name if written is None else cache.digest(algorithm.name, written[0], [text for text, _, _ in written[1]])
    code = sources.digest(frozenset((__name__, *algorithm.modules, *node_class.modules)))
    where = (place, on, sorted(idle))
    key = cache.digest(code, rules, node_class.signature, where, choice, backend.description())
    known = backend.units.get(key)
    if known is None:
        found = cache.load(key)
        if found is None:
            found = _compiled(written or _written(tracer, variant), variant.lanes, key, algorithm.patient, backend)
            cache.store(key, *found)
        header, obj = found
        loaded = backend.load(obj)
        pairs = [[(a, r) for a, r in kernel] for kernel in header["operands"]]
        addresses = [loaded.address(_name(key, i)) if runs else 0 for i, runs in enumerate(header["runs"])]
        reaches, private, flops, gathers = (header[name] for name in ("reaches", "private", "flops", "gathers"))
        known = CompiledUnit(addresses, pairs, reaches, private, flops, gathers, loaded)
        backend.units[key] = known
    return known


def _name(key: str, i: int) -> str:
    """The name of a kernel: no other in the process has it."""
    return f"k{i}_{key[:24]}"


Written = tuple[dict, list[ir.Function]]  # what plans must know; kernels as of `ir.function`


def _written(tracer: Tracer, variant: Variant) -> Written:
    """The kernels of the wanted phases."""
    traced, order = tracer.run(), arrays(tracer.algorithm)
    steps = [k for k, (phase, _) in enumerate(tracer.algorithm.steps()) if phase in variant.phases]
    kernels = [traced.kernels[k] for k in steps]
    functions = [
        ("", set[tuple[str, int]](), 0) if kernel is None else ir.function(kernel, f"k{i}", order, variant.uniform, variant.lanes)
        for i, kernel in enumerate(kernels)
    ]
    header = {
        "runs": [kernel is not None for kernel in kernels],
        "operands": [[] if kernel is None else ir.operands(kernel) for kernel in kernels],
        "reaches": [[] if kernel is None else ir.reaches(kernel) for kernel in kernels],
        "private": traced.private,
        "gathers": [traced.gathers[k] for k in steps],
        "flops": [f[2] for f in functions],
    }
    return header, functions


def _compiled(written: Written, lanes: Lanes, key: str, patient: bool, backend: Backend) -> tuple[dict, bytes]:
    header, functions = written
    named = [(text.replace(f"@k{i}(", f"@{_name(key, i)}(", 1), used, flops) for i, (text, used, flops) in enumerate(functions)]
    return header, backend.compile(ir.module(named, lanes), patient)
