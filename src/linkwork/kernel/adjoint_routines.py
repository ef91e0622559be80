"""Routines, backwards: they say themselves what the weights of what they read are, a solver by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    routines find; others are fields of its own. What runs after it hands weights of a matrix A to what A was made of: parameters
    of the routine that made A come first there.
    """

    function: LoopFunction | None = None
    keep: LoopFunction | None = None
    then: Sequence[LoopFunction] = ()
    runs: bool = True
    fields: Mapping[str, Field] = field(default_factory=dict)


_ADJOINTS: dict[int, RoutineAdjoint] = {}
_MAKERS: set[int] = set()


def adjoint_of(
    *functions: LoopFunction, keep: LoopFunction | None = None, then: Sequence[LoopFunction] = (), **fields: Field
) -> Callable[..., LoopFunction]:
    """A decorator: the loop function that stands for any of these on the way back."""

    def register(function: LoopFunction) -> LoopFunction:
        _ADJOINTS.update({id(f): RoutineAdjoint(function, keep, then, fields=fields) for f in functions})
        return function

    return register


def makes_matrix(function: LoopFunction) -> None:
    """This routine makes a matrix A, whose weights are never kept: those who find them hand them on (`then`)."""
    without_adjoint(function)
    _MAKERS.add(id(function))


def without_adjoint(*functions: LoopFunction) -> None:
    """These routines compute nothing that has weights: lists, flags, counts."""
    _ADJOINTS.update({id(f): RoutineAdjoint() for f in functions})


def at_the_end(*functions: LoopFunction) -> None:
    """These change states without weights, after all else has run: nothing of theirs is needed."""
    _ADJOINTS.update({id(f): RoutineAdjoint(runs=False) for f in functions})


def routine_steps(algorithm: Algorithm, routine: Routine, more: dict[str, Field]) -> tuple[list[Step], list[Step]]:
    """What runs forwards, and what backwards."""
    found = _ADJOINTS.get(id(routine.function))
    if found is None:
        raise CompileError(f"{algorithm.name}: the routine {routine.function.name!r} on whole arrays has no adjoint")
    if not found.runs:
        return [], []
    own = _arguments(routine)
    made = own | _arguments(_maker(algorithm, own["A"])) if found.then else own

    def argument(name: str, known: Mapping[str, str]) -> str:
        if name in known:
            return known[name]
        if name.startswith("bar_"):
            primal = known[name.removeprefix("bar_")]
            more.setdefault(bar(primal), bar_field(algorithm.fields[primal]))
            return bar(primal)
        if name.startswith("kept_"):
            primal, kept = known[name.removeprefix("kept_")], f"{name}_{own['x']}"
            more[kept] = replace(algorithm.fields[primal], kind="work")
            return kept
        more[name] = found.fields[name]
        return name

    def bound(function: LoopFunction, known: Mapping[str, str]) -> Step:
        return replace(routine, function=function, arguments=tuple(argument(name, known) for name, _ in function.parameters))

    before = [bound(found.keep, own)] if found.keep is not None else []
    after = [bound(found.function, own)] if found.function is not None else []
    return [*before, routine], [*after, *(bound(function, made) for function in found.then)]


def _arguments(routine: Routine) -> dict[str, str]:
    """By the names of the parameters."""
    return dict(zip((name for name, _ in routine.function.parameters), routine.arguments, strict=True))


def _maker(algorithm: Algorithm, matrix: str) -> Routine:
    """The routine that makes a matrix."""
    for _, step in algorithm.steps():
        if isinstance(step, Routine) and id(step.function) in _MAKERS and _arguments(step)["A"] == matrix:
            return step
    raise CompileError(f"{algorithm.name}: what makes {matrix} on whole arrays has no adjoint")
