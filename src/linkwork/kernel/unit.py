"""Compiled units: the kernels of one algorithm for one class of nodes, from the cache or freshly traced.

Kernels behind guards are a part of their own, which is compiled and loaded when somebody asks for one of them. Steps that stand
several times in an algorithm have one kernel, if they do the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ..errors import CompileError
from . import cache, ir, sources
from .backend import Backend, Code
from .lanes import Lanes
from .sweep import Algorithm, NodeClass, Step, Sweep
from .trace import Position, Tracer, own_array


@dataclass(frozen=True)
class Variant:
    """What a unit is compiled for, besides its class: value type, uniform and absent arrays, and the phases wanted."""

    lanes: Lanes
    phases: tuple[str, ...]
    uniform: frozenset[str]
    absent: frozenset[str]


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
    trace = partial(_written, algorithm, node_class, position, variant, on, idle)
    written = trace() if algorithm.foreign else None  # rules change, names stay
    rules = algorithm.name if written is None else cache.digest(algorithm.name, written[0], [text for text, _, _ in written[1]])
    code = sources.digest(frozenset((__name__, *algorithm.modules, *node_class.modules)))
    where = (place, on, sorted(idle))
    key = cache.digest(code, rules, node_class.signature, where, choice, backend.description())
    found = backend.units.get(key)
    if found is None:
        found = backend.units[key] = CompiledUnit(algorithm, variant, written, trace, key, backend)
    return found


Written = tuple[dict, list[ir.Function]]  # what plans must know; kernels as of `ir.function`
NOTHING: ir.Function = ("", set(), 0)


class CompiledUnit:
    """The kernels of a unit by step: their operands, how far they reach into the record of every operand, flops per node and
    lane, and the gathered fields that each writes; and private scalars per node and phase. Steps that do not run there have
    neither operands nor flops."""

    def __init__(
        self,
        algorithm: Algorithm,
        variant: Variant,
        written: Written | None,
        trace: Callable[[], Written],
        key: str,
        backend: Backend,
    ) -> None:
        """trace   writes the kernels, where they are neither given nor in the cache"""
        self._lanes, self._patient, self._key, self._backend = variant.lanes, algorithm.patient, key, backend
        self._written, self._trace = written, trace
        sweeps = [step for phase, step in algorithm.steps() if phase in variant.phases]
        self._guarded = [_is_guarded(s) for s in sweeps]
        header, first = self._part(False)
        self.operands: list[list[tuple[str, str]]] = [[(a, r) for a, r in kernel] for kernel in header["operands"]]
        self.reaches: list[list[int]] = header["reaches"]
        self.private: dict[str, int] = header["private"]
        self.flops: list[int] = header["flops"]
        self.gathers: list[list[str]] = header["gathers"]
        self._runs: list[bool] = header["runs"]
        self._same: list[int] = header["same"]
        self._code = {False: first}

    def is_loaded(self, k: int) -> bool:
        """Whether the address of a kernel is at hand."""
        return not self._runs[k] or self._guarded[k] in self._code

    def address(self, k: int) -> int:
        """Where a kernel is, or 0 for a step that does not run there."""
        if not self._runs[k]:
            return 0
        guarded = self._guarded[k]
        if guarded not in self._code:
            self._code[guarded] = self._part(guarded)[1]
        return self._code[guarded].address(_name(self._key, self._same[k]))

    def _part(self, guarded: bool) -> tuple[dict, Code]:
        """The header, and the kernels that stand behind guards or the others."""
        key = cache.digest(self._key, "guarded") if guarded else self._key
        found = cache.load(key)
        if found is None:
            header, functions = self._written or self._trace()
            named = [
                (text.replace(f"@k{i}(", f"@{_name(self._key, i)}(", 1), used, flops)
                for i, (text, used, flops) in enumerate(functions)
                if self._guarded[i] == guarded and header["same"][i] == i
            ]
            found = header, self._backend.compile(ir.module(named, self._lanes), self._patient)
            cache.store(key, *found)
            self._written = None if guarded else self._later(header, functions)
        return found[0], self._backend.load(found[1])

    def _later(self, header: dict, functions: list[ir.Function]) -> Written | None:
        """What is written and not compiled yet: the kernels behind guards."""
        kept = [f if guarded else NOTHING for f, guarded in zip(functions, self._guarded, strict=True)]
        return (header, kept) if any(text for text, _, _ in kept) else None


def _is_guarded(step: Step) -> bool:
    """Whether a step may be passed over."""
    return isinstance(step, Sweep) and (step.when or step.under) is not None


def _name(key: str, i: int) -> str:
    """The name of a kernel: no other in the process has it."""
    return f"k{i}_{key[:24]}"


def _written(
    algorithm: Algorithm, node_class: NodeClass, position: Position, variant: Variant, on: str, idle: frozenset[int]
) -> Written:
    """The kernels of the wanted phases."""
    traced, order = Tracer(algorithm, node_class, position, variant.absent, on, idle).run(), arrays(algorithm)
    steps = [k for k, (phase, _) in enumerate(algorithm.steps()) if phase in variant.phases]
    kernels = [traced.kernels[k] for k in steps]
    functions = [
        NOTHING if kernel is None else ir.function(kernel, f"k{i}", order, variant.uniform, variant.lanes)
        for i, kernel in enumerate(kernels)
    ]
    guarded = [_is_guarded(step) for phase, step in algorithm.steps() if phase in variant.phases]
    first: dict[tuple[bool, str], int] = {}
    texts = [text.replace(f"@k{i}(", "@k(", 1) for i, (text, _, _) in enumerate(functions)]
    header = {
        "same": [first.setdefault(pair, i) for i, pair in enumerate(zip(guarded, texts, strict=True))],
        "runs": [kernel is not None for kernel in kernels],
        "operands": [[] if kernel is None else ir.operands(kernel) for kernel in kernels],
        "reaches": [[] if kernel is None else ir.reaches(kernel) for kernel in kernels],
        "private": traced.private,
        "gathers": [traced.gathers[k] for k in steps],
        "flops": [f[2] for f in functions],
    }
    return header, functions
