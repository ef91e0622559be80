"""Routines, backwards: they say themselves what the weights of what they read are, a solver by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import CompileError
from .adjoint_names import bar, bar_field
from .sweep import Algorithm, Field, Routine, Step

if TYPE_CHECKING:
    from .loops import LoopFunction


@dataclass(frozen=True)
class RoutineAdjoint:
    """The transpose of a routine, and what runs before it on the way there.

    Its parameters are named as those of the first; `bar_x` is the weight of x, `kept_y` what `keep` leaves, one for every x that
    routines find; others are fields of its own.
    """

    function: LoopFunction | None
    keep: LoopFunction | None
    runs: bool
    fields: Mapping[str, Field]


_ADJOINTS: dict[int, RoutineAdjoint] = {}


def adjoint_of(*functions: LoopFunction, keep: LoopFunction | None = None, **fields: Field) -> Callable[..., LoopFunction]:
    """A decorator: the loop function that stands for any of these on the way back."""

    def register(function: LoopFunction) -> LoopFunction:
        _ADJOINTS.update({id(f): RoutineAdjoint(function, keep, True, fields) for f in functions})
        return function

    return register


def without_adjoint(*functions: LoopFunction) -> None:
    """These routines compute nothing that has weights: lists, flags, counts."""
    _ADJOINTS.update({id(f): RoutineAdjoint(None, None, True, {}) for f in functions})


def at_the_end(*functions: LoopFunction) -> None:
    """These change states without weights, after all else has run: nothing of theirs is needed."""
    _ADJOINTS.update({id(f): RoutineAdjoint(None, None, False, {}) for f in functions})


def routine_steps(algorithm: Algorithm, routine: Routine, more: dict[str, Field]) -> tuple[list[Step], list[Step]]:
    """What runs forwards, and what backwards."""
    found = _ADJOINTS.get(id(routine.function))
    if found is None:
        raise CompileError(f"{algorithm.name}: the routine {routine.function.name!r} on whole arrays has no adjoint")
    if not found.runs:
        return [], []
    own = dict(zip((name for name, _ in routine.function.parameters), routine.arguments, strict=True))

    def argument(name: str) -> str:
        if name in own:
            return own[name]
        if name.startswith("bar_"):
            primal = own[name.removeprefix("bar_")]
            more.setdefault(bar(primal), bar_field(algorithm.fields[primal]))
            return bar(primal)
        if name.startswith("kept_"):
            primal, kept = own[name.removeprefix("kept_")], f"{name}_{own['x']}"
            more[kept] = replace(algorithm.fields[primal], kind="work")
            return kept
        more[name] = found.fields[name]
        return name

    def bound(function: LoopFunction) -> Step:
        return replace(routine, function=function, arguments=tuple(argument(name) for name, _ in function.parameters))

    before = [bound(found.keep)] if found.keep is not None else []
    return [*before, routine], [bound(found.function)] if found.function is not None else []
