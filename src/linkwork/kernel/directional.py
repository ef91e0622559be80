"""The directional derivative of any algorithm: the same rules, run on dual numbers.

Every field x gets a companion d_x: given for inputs, computed for the rest. What the rules compute from both is exact, and it
compiles like any other algorithm; a Jacobian is a batch of directions. Routines on whole arrays say themselves how what they
compute changes (`tangent_of`): a solver by the implicit function theorem, whatever way it went to its solution.

Run-time numbers of nodes (masses, stiffnesses) get companions as well on a tree that says where they are (`with_slopes`): then
any number that a class declares as a parameter may change, and no rule knows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CompileError
from ..spatial.dual import Dual
from ..spatial.scalar import array, is_zero
from ..spatial.table import Table, TableShape
from .sweep import Algorithm, Field, NodeClass, Repeat, Routine, Step, Sweep, Tree, flat

if TYPE_CHECKING:
    from .loops import LoopFunction

SLOPES = "parameter_slopes"  # the space of the changes of a node's parameters, and the name of where each begins


def companion(name: str) -> str:
    """The name of the derivative of a field."""
    return f"d_{name}"


def slopes_of(of: str) -> str:
    """The field of the changes of the parameters of a set of nodes."""
    return f"d_parameters_{of}" if of else "d_parameters"


# --- routines ------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class RoutineTangent:
    """How what a routine computes changes: another routine, after it or instead of it.

    Its parameters are named as those of the first, `d_x` is the companion of x; others are fields of its own.
    """

    function: LoopFunction | None
    fields: Mapping[str, Field]


_TANGENTS: dict[int, RoutineTangent] = {}


def tangent_of(*functions: LoopFunction, **fields: Field) -> Callable[[LoopFunction], LoopFunction]:
    """A decorator: the loop function that runs after any of these in a directional algorithm."""

    def register(function: LoopFunction) -> LoopFunction:
        for primal in functions:
            _TANGENTS[id(primal)] = RoutineTangent(function, fields)
        return function

    return register


def without_tangent(*functions: LoopFunction) -> None:
    """These routines compute nothing that changes: lists, flags, counts."""
    for primal in functions:
        _TANGENTS[id(primal)] = RoutineTangent(None, {})


SETTLING = 3  # times that rounds begin once more
_SETTLES: set[int] = set()


def settles(*functions: LoopFunction) -> None:
    """What these routines begin is repeated until it stands still; begun again there, changes stand still, too."""
    _SETTLES.update(map(id, functions))


def _begins_rounds(step: Step) -> bool:
    return isinstance(step, Routine) and id(step.function) in _SETTLES


_RECALLS: dict[int, LoopFunction] = {}


def recalled_by(*functions: LoopFunction) -> Callable[[LoopFunction], LoopFunction]:
    """A decorator: what runs instead of these solvers where their solution `x` is known: its parameter `known_x`."""

    def register(function: LoopFunction) -> LoopFunction:
        _RECALLS.update({id(primal): function for primal in functions})
        return function

    return register


def solutions(algorithm: Algorithm) -> tuple[str, ...]:
    """The fields that solvers find, each once in a run as a rule; none if one is found several times."""
    own = taken_once(algorithm)
    routines = [r for _, r in own.steps() if isinstance(r, Routine) and _solves(r)]
    found = [dict(zip(_names(r.function), r.arguments, strict=True))["x"] for r in routines]
    inside = [r for steps in own.phases.values() for step in steps if isinstance(step, Repeat) for r in flat(step.steps)]
    return () if len(set(found)) < len(found) or any(map(_solves, inside)) else tuple(found)


def taken_once(algorithm: Algorithm) -> Algorithm:
    """The algorithm without further times of what is repeated again (`Repeat.again`)."""

    def once(steps: Sequence[Step]) -> list[Step]:
        parts = [step.first_steps if isinstance(step, Repeat) and step.again else (step,) for step in steps]
        return [step for part in parts for step in part]

    phases: dict[str, Sequence[Step]] = {phase: once(steps) for phase, steps in algorithm.phases.items()}
    return replace(algorithm, name=f"{algorithm.name}_once", phases=phases)


def _solves(step: Step) -> bool:
    return isinstance(step, Routine) and id(step.function) in _RECALLS


def _names(function: LoopFunction) -> tuple[str, ...]:
    return tuple(name for name, _ in function.parameters)


def known(name: str) -> str:
    """The input that holds a solution."""
    return f"known_{name}"


def showing(algorithm: Algorithm, names: Sequence[str]) -> Algorithm:
    """The algorithm with some of its work among its outputs."""
    shown = {name: replace(algorithm.fields[name], kind="output") for name in names}
    return replace(algorithm, name=f"{algorithm.name}_showing", fields=algorithm.fields | shown)


def _recall(algorithm: Algorithm, routine: Routine, more: dict[str, Field]) -> Routine:
    """What runs instead of a solver that is told its solution."""
    function, own = _RECALLS[id(routine.function)], dict(zip(_names(routine.function), routine.arguments, strict=True))
    own["known_x"] = known(own["x"])
    more[known(own["x"])] = replace(algorithm.fields[own["x"]], kind="input")
    return replace(routine, function=function, arguments=tuple(own[name] for name in _names(function)))


def _routine_steps(algorithm: Algorithm, routine: Routine, more: dict[str, Field], told: bool) -> list[Step]:
    found = _TANGENTS.get(id(routine.function))
    if found is None:
        raise CompileError(f"{algorithm.name}: the routine {routine.function.name!r} on whole arrays has no derivative")
    first = _recall(algorithm, routine, more) if told and _solves(routine) else routine
    if found.function is None:
        return [first]
    more.update(found.fields)
    known = dict(zip((name for name, _ in routine.function.parameters), routine.arguments, strict=True))

    def argument(name: str) -> str:
        primal = name.removeprefix("d_")
        return companion(known[primal]) if name != primal and primal in known else known.get(name, name)

    arguments = tuple(argument(name) for name, _ in found.function.parameters)
    return [first, replace(routine, function=found.function, arguments=arguments)]


# --- rules -------------------------------------------------------------------------------------------------------------------
class _View:
    """A node whose fields are dual numbers, and whose parameters are if `slopes` names what they change by; all else passes."""

    __slots__ = ("_fields", "_node", "_slopes")

    def __init__(self, node: Any, fields: dict[str, Field], slopes: str | None) -> None:
        object.__setattr__(self, "_node", node)
        object.__setattr__(self, "_fields", fields)
        object.__setattr__(self, "_slopes", slopes)

    def __getattr__(self, name: str) -> Any:
        f = self._fields.get(name)
        value = getattr(self._node, name)
        if f is None:
            return value if self._slopes is None else self._parameter(name, value)
        x, d = f.scalars(value), f.scalars(getattr(self._node, companion(name)))
        return f.unpack([_dual(a, b) for a, b in zip(x, d, strict=True)])

    def _parameter(self, name: str, value: Any) -> Any:
        place = getattr(self._node, SLOPES).get(name)
        if place is None:
            return value
        first, last = place
        change = list(getattr(self._node, self._slopes))[first:last]
        if isinstance(value, Table):
            return value.changing(change[0])
        flat = [_dual(a, b) for a, b in zip(np.asarray(value, dtype=object).reshape(-1), change, strict=True)]
        return array(flat).reshape(np.shape(value)) if np.ndim(value) else flat[0]

    def __setattr__(self, name: str, value: Any) -> None:
        f = self._fields.get(name)
        if f is None:
            setattr(self._node, name, value)
            return
        scalars = f.scalars(value)
        setattr(self._node, name, f.unpack([s.x if isinstance(s, Dual) else s for s in scalars]))
        setattr(self._node, companion(name), f.unpack([s.grad[0] if isinstance(s, Dual) else 0.0 for s in scalars]))


def _dual(x: Any, d: Any) -> Any:
    return x if is_zero(d) else Dual(x, (d,))


def _dual_rule(rule: Callable[..., None], fields: dict[str, Field], on: str, slopes: str | None) -> Callable[..., None]:
    own_fields = {name: f for name, f in fields.items() if f.of == on or f.space == "global"}

    @functools.wraps(rule)
    def on_duals(own: Any, *nodes: Any) -> None:
        rule(_View(own, own_fields, slopes), *(_View(node, fields, None) for node in nodes))

    return on_duals


def _companions(fields: dict[str, Field]) -> dict[str, Field]:
    """The derivatives of all fields; the world does not move."""
    out = {}
    for name, f in fields.items():
        out[name] = f
        out[companion(name)] = replace(f, world=None, alias=companion(f.alias) if f.alias else None)
    return out


def directional(algorithm: Algorithm, sloped: Sequence[str] = ()) -> Algorithm:
    """The algorithm with the derivative of every result along the derivatives of its inputs.

    sloped   the sets whose parameters change, too, on a tree `with_slopes`
    """
    return _differentiated(algorithm, sloped, False)


def directional_at_solutions(algorithm: Algorithm, sloped: Sequence[str] = ()) -> Algorithm:
    """The same where what solvers find is told (`solutions`): inputs `known` of these names. No direction solves it again, nor
    takes further times of what is repeated again."""
    return _differentiated(taken_once(algorithm), sloped, True)


def _differentiated(algorithm: Algorithm, sloped: Sequence[str], told: bool) -> Algorithm:
    more = {slopes_of(of): Field("input", SLOPES, of=of) for of in sloped}

    def dual(step: Step) -> list[Step]:
        if isinstance(step, Repeat):
            return [replace(step, steps=tuple(all_of(step.steps)))]
        if isinstance(step, Sweep):
            slopes = slopes_of(step.on) if step.on in sloped else None
            return [replace(step, rule=_dual_rule(step.rule, algorithm.fields, step.on, slopes))]
        return _routine_steps(algorithm, step, more, told)

    def all_of(steps: Sequence[Step]) -> list[Step]:
        found: list[Step] = []
        for before, step in zip((None, *steps), steps, strict=False):
            found += dual(step)
            if isinstance(step, Repeat) and before is not None and _begins_rounds(before):
                found += SETTLING * [*dual(before), *dual(step)]
        return found

    phases: dict[str, Sequence[Step]] = {phase: all_of(steps) for phase, steps in algorithm.phases.items()}
    name = "_".join([algorithm.name, "directional", *(["at"] if told else []), *(of or "tree" for of in sloped)])
    return Algorithm(name, _companions(algorithm.fields) | more, phases)


TableChanges = Mapping[str, Mapping[tuple[int, str], np.ndarray]]  # of sets: (changes, size of the data) by node and name


def with_slopes(tree: Tree, sets: Sequence[str], tables: TableChanges | None = None) -> Tree:
    """The tree whose nodes of these sets know where the changes of their parameters are.

    tables   how the data of tables may change: it lies behind their own, and the one number that a table has among the changes
             says how far behind (see `Table.changing`)
    """
    beside = tables or {}
    own = _sloped(tree, beside.get("", {})) if "" in sets else tree
    return replace(own, sets={of: _sloped(nodes, beside.get(of, {})) if of in sets else nodes for of, nodes in tree.sets.items()})


def slope_entries(c: NodeClass) -> dict[str, tuple[int, int]]:
    """Where the changes of every parameter begin and end: as many as it has entries, and one for a table."""
    places, at = {}, 0
    for name, (shape, entries) in c.patterns.items():
        places[name] = (at, at + (1 if isinstance(shape, TableShape) else len(entries)))
        at = places[name][1]
    return places


def _sloped(tree: Tree, tables: Mapping[tuple[int, str], np.ndarray]) -> Tree:
    made: dict[int, NodeClass] = {}
    for c in tree.classes:
        if id(c) not in made:
            places = slope_entries(c)
            size = max((last for _, last in places.values()), default=0)
            attributes, sizes = {**c.attributes, SLOPES: places}, {**c.sizes, SLOPES: size}
            made[id(c)] = replace(c, signature=(*c.signature, SLOPES), attributes=attributes, sizes=sizes)
    parameters = list(tree.parameters)
    for (node, name), changes in tables.items():
        parameters[node] = {**parameters[node], name: parameters[node][name].beside(changes)}
    return replace(tree, classes=[made[id(c)] for c in tree.classes], parameters=parameters)
