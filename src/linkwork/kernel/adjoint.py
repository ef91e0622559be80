"""The adjoint of any algorithm: from weights of its results to the weights of all that it was computed from, in O(n).

For every field x there is `bar_x`, the derivative of the weighted results with respect to x. The steps run as they are; then they
run backwards, each with its transpose. A rule is run once more on dual numbers whose derivatives are linear forms
(`spatial.forms`), from the values that it saw: what it assigned has weights, which go to what it read, and

    what a rule overwrites has no weight before it, but for what the rule itself reads of it;
    what it adds to through a role keeps its weight, and hands it on;
    children that read their parent add to its weight (`up_x`), on the way inward.

What a rule saw is kept at its node, where later rules overwrite it; what it reads once more over a list (`items`) must still be
there. Weights of private values are private, but for those of rules that run several times at a node, or not at all (lists,
guards): these go through a field (`PASSING`). Routines say themselves what the weights of what they read are (`adjoint_of`): a
solver by the implicit function theorem. Numbers of nodes have weights on a tree `with_slopes`, as in `directional`. Times and
other globals have none.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from dataclasses import fields as dataclass_fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CompileError
from ..spatial.dual import Dual
from ..spatial.forms import Form, weights
from ..spatial.scalar import array, is_number, is_zero, stack, zeros
from .directional import SLOPES
from .rounds_backwards import FIELDS, Rounds, flags, kept_going, rounds_backwards, rounds_of, times_of
from .shape import tree_items
from .solved_sweeps import WORK, SolvedBackwards, alike, solved_pairs
from .sweep import SCALAR, Algorithm, Field, Items, NodeClass, Repeat, Routine, Step, Sweep, Tree, flat, vector
from .symbol import Symbol
from .trace import mapped

if TYPE_CHECKING:
    from .loops import LoopFunction

BACKWARDS = {"outward": "inward", "inward": "outward", "each": "each"}
BAR_KINDS = {"input": "output", "state": "state"}
PASSING, ROUNDS = "bar_passing", "bar_rounds"
ROUND = 1000  # numbers of the rules of rounds: more than there are in one
UPWARD = ("parent", "parameter")  # what is read there is added to
Key = tuple[str, str]  # role, name


def bar(name: str) -> str:
    """The name of the weight of a field."""
    return f"bar_{name}"


def end(name: str) -> str:
    """The input that holds the weight of a result."""
    return f"end_{name}"


def bars_of(of: str) -> str:
    """The field of the weights of the parameters of a set of nodes."""
    return f"bar_parameters_{of}" if of else "bar_parameters"


def reversed_items(name: str) -> str:
    """The name of a list of items in the opposite order."""
    return f"{name}_backwards"


# --- routines ------------------------------------------------------------------------------------------------------------------
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


def _routine_steps(algorithm: Algorithm, routine: Routine, more: dict[str, Field]) -> tuple[list[Step], list[Step]]:
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
            more.setdefault(bar(primal), _bar_field(algorithm.fields[primal]))
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


# --- what rules saw ------------------------------------------------------------------------------------------------------------
class _Tape:
    """Of one step at nodes of one class: what its rule read, as structures of what is kept, and what it assigned."""

    def __init__(self) -> None:
        self.reads: dict[Key, Any] = {}
        self.writes: set[Key] = set()
        self.seen: dict[Key, Any] = {}  # what it read and assigned, while it runs forwards
        self.written: dict[Key, Any] = {}
        self.passing: dict[tuple[str, int], int] = {}  # of scalars of private values, where their weights are


_tapes: weakref.WeakKeyDictionary[Any, dict[int, _Tape]] = weakref.WeakKeyDictionary()


def _tape(node: Any, step: int) -> _Tape:
    return _tapes.setdefault(node._tracer, {}).setdefault(step, _Tape())


def _is_value(node: Any, name: str) -> bool:
    """Whether a name is neither attribute nor parameter of the node's class."""
    known = node._tracer.node_class
    return node._role != "own" or not (name == "is_root" or name in known.attributes or name in known.patterns)


def _proper(node: Any, name: str) -> str:
    """The field that a name is another one of, if it is seen through the same space."""
    fields = node._tracer.algorithm.fields
    f = fields.get(name)
    if f is None or f.alias is None:
        return name
    other = fields[f.alias]
    return f.alias if (f.space, f.codec, f.of) == (other.space, other.codec, other.of) else name


def _later(name: str) -> str:
    """The field of a state's new value, where other nodes look at it."""
    return f"later_{name}"


@dataclass(frozen=True)
class _States:
    """The names of all states; of those whose new values have fields of their own; and of those that are new by now."""

    names: frozenset[str]
    shared: frozenset[str]
    new: frozenset[str]

    def place(self, node: Any, name: str) -> str:
        """Where a value is: that of a state that was assigned is not where it began."""
        if name in self.shared:
            return _later(name) if name in self.new else name
        known = name in self.names and node._role == "own" and f"next:{name}" in node._tracer.memory
        return f"next:{name}" if known else name


class _Now:
    """A node for a rule that is not watched: it finds states where they are by now."""

    __slots__ = ("_node", "_states")

    def __init__(self, node: Any, states: _States) -> None:
        object.__setattr__(self, "_node", node)
        object.__setattr__(self, "_states", states)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, self._states.place(self._node, _proper(self._node, name)))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._node, name, value)


def _unwatched(repeat: Repeat, states: _States) -> Repeat:
    """The same rounds on such nodes."""

    def moved(step: Step) -> Step:
        if not isinstance(step, Sweep):
            return step
        rule = step.rule

        @functools.wraps(rule)
        def now(*nodes: Any) -> None:
            rule(*(_Now(node, states) for node in nodes))

        return replace(step, rule=now)

    return replace(repeat, steps=tuple(map(moved, repeat.steps)))


class _Recorder:
    """A node whose rule is watched; states are not overwritten.

    sloped   parameters change: the rule runs on dual numbers, as it will backwards, and what it assigns has the same structure.
             Constants that change with parameters are kept as if they were not known.
    """

    __slots__ = ("_node", "_sloped", "_states", "_step")

    def __init__(self, node: Any, step: int, states: _States, sloped: bool) -> None:
        for name, value in (("_node", node), ("_step", step), ("_states", states), ("_sloped", sloped)):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        node = self._node
        name = _proper(node, name)
        tape, key = _tape(node, self._step), (node._role, name)
        if key in tape.written:
            return tape.written[key]
        if not _is_value(node, name):
            value = getattr(node, name)
            return _sloped_parameter(node, name, value)[0] if self._sloped else value
        if key not in tape.seen:
            value = getattr(node, self._states.place(node, name))
            tape.reads[key] = mapped(value, node._tracer._keep)
            tape.seen[key] = mapped(value, _watched) if self._sloped else value
        return tape.seen[key]

    def __setattr__(self, name: str, value: Any) -> None:
        node = self._node
        name = _proper(node, name)
        tape, key = _tape(node, self._step), (node._role, name)
        tape.writes.add(key)
        tape.written[key] = value
        states, value = self._states, _plain(value) if self._sloped else value
        setattr(node, _later(name) if name in states.shared else f"next:{name}" if name in states.names else name, value)


def _watched(x: Any) -> Any:
    """A scalar as the rule will see it backwards."""
    return x if is_number(x) else Dual(x, (Form(),))


def _plain(value: Any) -> Any:
    """A value without derivatives; numbers that have some are no longer known as such."""
    if isinstance(value, Dual):
        x = value.x
        return Symbol("const", (float(x),)) if is_number(x) and not is_zero(value.grad[0]) else x
    if isinstance(value, np.ndarray):
        return array([_plain(x) for x in value.flat]).reshape(value.shape) if value.dtype == object else value
    if isinstance(value, (tuple, list)):
        return type(value)(_plain(x) for x in value)
    if is_dataclass(value) and not isinstance(value, type):
        copy = object.__new__(type(value))
        for f in dataclass_fields(value):
            object.__setattr__(copy, f.name, _plain(getattr(value, f.name)))
        return copy
    return value


def _sloped_parameter(node: Any, name: str, value: Any) -> tuple[Any, list[Form]]:
    """A parameter on dual numbers, and its forms: none where it is an attribute, or does not change."""
    known = node._tracer.node_class
    place = getattr(node, SLOPES).get(name) if SLOPES in known.attributes and name in known.patterns else None
    if place is None:
        return value, []
    scalars = list(np.asarray(value, dtype=object).reshape(-1))
    forms = [Form() for _ in scalars]
    found = array([Dual(x, (g,)) for x, g in zip(scalars, forms, strict=True)])
    return (found.reshape(np.shape(value)) if np.ndim(value) else found[0]), forms


# --- rules, backwards ----------------------------------------------------------------------------------------------------------
class _Transpose:
    """One rule at one node, backwards.

    step    its number
    items   whether the rule runs over a list: then all is read where it is
    passes  whether weights of private values go through `PASSING`
    rounds  the numbers of all rules of the round that the rule is part of: weights of what was private before add up in `ROUNDS`
    """

    def __init__(self, fields: dict[str, Field], sweep: Sweep, step: int, sloped: bool, rounds: Sequence[int] = ()) -> None:
        self.rounds = rounds
        self.fields, self.on, self.step, self.sloped = fields, sweep.on, step, sloped
        self.items, self.passes = sweep.items is not None, _passes(sweep)
        self.nodes: dict[str, Any] = {}
        self.leaves: dict[Key, list[Any]] = {}  # of what was read, its forms
        self.values: dict[Key, Any] = {}  # and itself, on dual numbers
        self.written: dict[Key, Any] = {}

    # --- reading -----------------------------------------------------------------------------------------------------
    def read(self, node: Any, name: str) -> Any:
        key = (node._role, name)
        if key in self.written:
            return self.written[key]
        if key not in self.values:
            self.values[key] = self._fetched(node, key)
        return self.values[key]

    def _fetched(self, node: Any, key: Key) -> Any:
        name = key[1]
        if not _is_value(node, name):
            value = getattr(node, name)
            return self._parameter(node, name, value) if name in node._tracer.node_class.patterns else value
        f = self.fields.get(name)
        if f is not None and self._is_sum(node, key):
            scalars: list[Any] = [0.0] * len(f.scalars(_tape(node, self.step).reads[key]))
            forms: list[Any] = [Form() for _ in scalars]
        else:
            value = self._seen(node, key)
            if f is None:
                return self._private(key, value)
            if f.space == "global":
                return value
            scalars = f.scalars(value)
            asked = f.kind != "input" or bar(name) not in node._tracer.absent
            forms = [Form() if asked and not is_number(x) else 0.0 for x in scalars]
        self.leaves[key] = forms
        return f.unpack([x if is_zero(g) else Dual(x, (g,)) for x, g in zip(scalars, forms, strict=True)])

    def _seen(self, node: Any, key: Key) -> Any:
        """What the rule saw."""
        if self.items:
            return getattr(node, key[1])
        tape = _tape(node, self.step)
        if key not in tape.reads:
            raise CompileError(f"a rule reads {key[0]}.{key[1]} when it runs on other numbers, and did not before")
        return mapped(tape.reads[key], node._tracer._fetch)

    def _is_sum(self, node: Any, key: Key) -> bool:
        """Whether the rule adds to it: then its value does not matter."""
        return not self.items and key[0] != "own" and key in _tape(node, self.step).writes

    def _private(self, key: Key, value: Any) -> Any:
        forms: list[Any] = []
        known: dict[int, Any] = {}

        def dual(x: Any) -> Any:
            if is_number(x):
                forms.append(0.0)
                return x
            first = known.get(id(x))
            forms.append(0.0 if first is not None else Form())
            if first is None:
                first = known[id(x)] = Dual(x, (forms[-1],))
            return first

        found = mapped(value, dual)
        self.leaves[key] = forms
        return found

    def _parameter(self, node: Any, name: str, value: Any) -> Any:
        if not self.sloped:
            return value
        found, forms = _sloped_parameter(node, name, value)
        if forms:
            self.leaves["parameter", name] = forms
        return found

    # --- what was assigned has weights -----------------------------------------------------------------------------------
    def run(self, rule: Callable[..., None], nodes: Sequence[Any]) -> None:
        for node in nodes:
            self.nodes.setdefault(node._role, node)
        rule(*(_View(self, node) for node in nodes))
        before = {key: self._weight(key) for key in (*self.leaves, *self.written) if key in self.written or key[0] not in UPWARD}
        results = []
        for key, value in self.written.items():
            f = self.fields.get(key[1])
            if f is None or f.space != "global":
                scalars = _scalars(value) if f is None else f.scalars(value)
                results += zip((x.grad[0] if isinstance(x, Dual) else 0.0 for x in scalars), before[key], strict=True)
        found = weights(results)
        for key, forms in reversed(self.leaves.items()):
            self._add(key, [found.get(g.number, 0.0) if isinstance(g, Form) else 0.0 for g in forms], before.get(key, []))
        for key in self.written:
            if key not in self.leaves and not is_number(before[key]):
                self._assign(key, [0.0] * len(before[key]), before[key])
        if self.items:
            self._clear()

    def _weight(self, key: Key) -> list[Any]:
        """The weight of what was read or assigned, after the rule."""
        role, name = key
        node, f = self.nodes[role], self.fields.get(name)
        if f is None:
            known = f":bar:{name}" in node._tracer.memory
            count = len(self.leaves[key]) if key in self.leaves else len(_scalars(self.written[key]))
            return list(getattr(node, f":bar:{name}")) if known else [0.0] * count
        if f.space == "global":
            return []
        if role == "own" and f.kind == "gathered":
            return [0.0] * len(self.leaves[key])
        total = list(getattr(node, bar(name)))
        if role == "own" and ("parent", name) in self.leaves:
            total = [a + b for a, b in zip(total, getattr(node, f"up_{name}"), strict=True)]
        return total

    def _add(self, key: Key, found: list[Any], before: list[Any]) -> None:
        role, name = key
        f = self.fields.get(name)
        if role == "parameter":
            node = self.nodes["own"]
            first, last = getattr(node, SLOPES)[name]
            now = list(getattr(node, bars_of(self.on)))
            now[first:last] = [a + b for a, b in zip(now[first:last], found, strict=True)]
            setattr(node, bars_of(self.on), stack(*now))
        elif role == "parent":
            assert f is not None
            if f.kind != "gathered":
                node = self.nodes[role]
                setattr(node, f"up_{name}", stack(*(a + b for a, b in zip(getattr(node, f"up_{name}"), found, strict=True))))
        elif f is None and self._from_before(key):
            self._pass(key, found, ROUNDS, self.rounds[0])
        elif f is None and self.passes:
            self._pass(key, found, PASSING, self.step)
        elif key in self.written or (f is not None and f.kind == "gathered"):
            self._assign(key, found, before)
        else:
            self._assign(key, [a + b for a, b in zip(before, found, strict=True)], before)

    def _assign(self, key: Key, new: list[Any], before: list[Any]) -> None:
        role, name = key
        node, f = self.nodes[role], self.fields.get(name)
        if f is None:
            setattr(node, f":bar:{name}", new)
        elif f.space != "global" and role != "parent":
            told = ("parent", name) in self.leaves or f.kind == "gathered"  # its weight is not what lies there
            if told or any(a is not b and not (is_zero(a) and is_zero(b)) for a, b in zip(new, before, strict=True)):
                setattr(node, bar(name), stack(*new) if new else zeros(0))

    def _from_before(self, key: Key) -> bool:
        """Whether a private value is none of the round's own."""
        return bool(self.rounds) and not any(key in _tape(self.nodes["own"], k).writes for k in self.rounds)

    def _pass(self, key: Key, found: list[Any], field: str, step: int) -> None:
        """Weights of private values, added where the next item of the same node finds them."""
        node = self.nodes["own"]
        now, places = list(getattr(node, field)), _tape(node, step).passing
        for k, weight in enumerate(found):
            if not is_zero(weight):
                at = places.setdefault((key[1], k), len(places))
                if at >= len(now):
                    raise CompileError("a rule over a list reads more private values than there is room for their weights")
                now[at] = now[at] + weight
        setattr(node, field, stack(*now))

    def _clear(self) -> None:
        """What the rule would have emptied, now that it is no longer needed."""
        for (role, name), value in self.written.items():
            f = self.fields.get(name)
            if f is not None and role != "own" and all(is_zero(x) for x in f.scalars(value)):
                setattr(self.nodes[role], name, value)


class _View:
    """A node for a rule that runs backwards."""

    __slots__ = ("_node", "_rule")

    def __init__(self, rule: _Transpose, node: Any) -> None:
        object.__setattr__(self, "_node", node)
        object.__setattr__(self, "_rule", rule)

    def __getattr__(self, name: str) -> Any:
        return self._rule.read(self._node, _proper(self._node, name))

    def __setattr__(self, name: str, value: Any) -> None:
        self._rule.written[self._node._role, _proper(self._node, name)] = value


def _scalars(value: Any) -> list[Any]:
    """The scalars of a private value, dual numbers among them, in the order of `mapped`."""
    found: list[Any] = []

    def walk(x: Any) -> None:
        if isinstance(x, Dual) or (is_number(x) and not isinstance(x, int)):
            found.append(x)
        elif isinstance(x, np.ndarray):
            for e in x.flat:
                found.append(e) if is_number(e) or isinstance(e, Dual) else walk(e)
        elif isinstance(x, (tuple, list)):
            for e in x:
                walk(e)
        elif x is None or isinstance(x, (str, bool, int)):
            pass
        elif hasattr(x, "__dataclass_fields__") and not isinstance(x, type):
            for name in x.__dataclass_fields__:
                walk(getattr(x, name))
        else:
            found.append(x)

    walk(value)
    return found


# --- sweeps that solve ----------------------------------------------------------------------------------------------------------
class _Keeper:
    """A node of which all that is read is kept for the way back."""

    __slots__ = ("_node", "_step")

    def __init__(self, node: Any, step: int) -> None:
        self._node, self._step = node, step

    def __getattr__(self, name: str) -> Any:
        node = self._node
        value = getattr(node, name)
        _tape(node, self._step).reads[node._role, name] = mapped(value, node._tracer._keep)
        return value


class _Kept:
    """A node as a rule saw it; what was not kept is read and assigned where it is."""

    __slots__ = ("_node", "_step")

    def __init__(self, node: Any, step: int) -> None:
        object.__setattr__(self, "_node", node)
        object.__setattr__(self, "_step", step)

    def __getattr__(self, name: str) -> Any:
        node = self._node
        key, tape = (node._role, name), _tape(node, self._step)
        return mapped(tape.reads[key], node._tracer._fetch) if key in tape.reads else getattr(node, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._node, name, value)


class _Later(_Transpose):
    """A rule that did not run itself, backwards."""

    def _seen(self, node: Any, key: Key) -> Any:
        return getattr(_Kept(node, self.step), key[1])


class _Weighed(_Later):
    """The rule that weighs equations, backwards: weights of what it moves outward come from the children alone."""

    def __init__(self, fields: dict[str, Field], sweep: Sweep, step: int, sloped: bool, held: frozenset[str]) -> None:
        super().__init__(fields, sweep, step, sloped)
        self.held = held

    def _fetched(self, node: Any, key: Key) -> Any:
        return self._seen(node, key) if key[1] in self.held else super()._fetched(node, key)

    def _weight(self, key: Key) -> list[Any]:
        if key[1] == WORK:
            return [1.0]
        return list(getattr(self.nodes["own"], f"up_{key[1]}")) if key in self.written else super()._weight(key)

    def _assign(self, key: Key, new: list[Any], before: list[Any]) -> None:
        if key not in self.written:
            super()._assign(key, new, before)


def _solved_forwards(sweep: Sweep, step: int, pair: SolvedBackwards) -> Sweep:
    """The outward rule, which leaves behind what the way back needs."""
    rule = sweep.rule

    def keep(*nodes: Any) -> None:
        roles: dict[str, Any] = dict(zip(("own", "parent"), nodes, strict=True))
        for role, name in pair.keeps:
            getattr(roles[role], name)

    @functools.wraps(rule)
    def kept(*nodes: Any) -> None:
        rule(*nodes)
        alike(rule, keep)(*(_Keeper(node, step) for node in nodes))

    return replace(sweep, rule=kept)


def _solved_backwards(sweep: Sweep, step: int, pair: SolvedBackwards, fields: dict[str, Field], sloped: bool) -> list[Step]:
    """What stands for both rules."""
    solve, answer, weighed = (alike(sweep.rule, rule) for rule in (pair.solve, pair.answer, pair.weighed))
    after = None if pair.after is None else alike(sweep.rule, pair.after)
    known = fields | dict(pair.fields)

    def solving(*nodes: Any) -> None:
        if after is not None:
            _Later(known, sweep, step, sloped).run(after, nodes[:1])
        solve(*(_Kept(node, step) for node in nodes))

    def answering(*nodes: Any) -> None:
        answer(*(_Kept(node, step) for node in nodes))

    def weighing(*nodes: Any) -> None:
        _Weighed(known, sweep, step, sloped, pair.held).run(weighed, nodes)

    steps = ((solving, solve, "inward"), (answering, answer, "outward"), (weighing, weighed, "inward"))
    return [replace(sweep, rule=functools.wraps(own)(rule), order=order) for rule, own, order in steps]


# --- the program ---------------------------------------------------------------------------------------------------------------
def _bar_field(f: Field, kind: Any = "work") -> Field:
    codec = None if f.codec is None else vector(f.codec.size)
    return Field(kind, f.space, codec, of=f.of)


def _forwards(sweep: Sweep, step: int, states: _States, sloped: bool) -> Sweep:
    rule = sweep.rule

    @functools.wraps(rule)
    def watched(*nodes: Any) -> None:
        rule(*(_Recorder(node, step, states, sloped) for node in nodes))

    @functools.wraps(rule)
    def over_items(*nodes: Any) -> None:
        rule(*(_Sparing(node) for node in nodes))

    return replace(sweep, rule=watched if sweep.items is None else over_items)


class _Sparing:
    """A node for a rule over a list: what the rule would empty after use is kept for the way back."""

    __slots__ = ("_node",)

    def __init__(self, node: Any) -> None:
        object.__setattr__(self, "_node", node)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def __setattr__(self, name: str, value: Any) -> None:
        f = self._node._tracer.algorithm.fields.get(name)
        if f is None or self._node._role == "own" or not all(is_zero(x) for x in f.scalars(value)):
            setattr(self._node, name, value)


def _backwards(sweep: Sweep, step: int, fields: dict[str, Field], sloped: bool, rounds: Sequence[int] = ()) -> Sweep:
    rule = sweep.rule

    @functools.wraps(rule)
    def transposed(*nodes: Any) -> None:
        _Transpose(fields, sweep, step, sloped, rounds).run(rule, nodes)

    items = None if sweep.items is None else reversed_items(sweep.items)
    order: Any = BACKWARDS[sweep.order]
    return replace(sweep, rule=transposed, order=order, items=items)


def _passes(sweep: Sweep) -> bool:
    """Whether a rule runs several times at a node, or may not run at all, though its node does later."""
    return sweep.items is not None or (sweep.on == "" and sweep.when is not None)


def _collecting(on: str, step: int, field: str = PASSING) -> Sweep:
    """After a rule has run backwards that `_passes`, or rounds: their weights of private values."""

    def collect(n: Any) -> None:
        places = _tape(n, step).passing
        passed = list(getattr(n, field))
        for name in dict.fromkeys(name for name, _ in places):
            known = f":bar:{name}" in n._tracer.memory
            total = list(getattr(n, f":bar:{name}")) if known else [0.0] * len(_scalars(getattr(n, name)))
            for (own, k), at in places.items():
                if own == name:
                    total[k] = total[k] + passed[at]
            setattr(n, f":bar:{name}", total)
        if places:
            setattr(n, field, zeros(len(passed)))

    return Sweep(collect, "each", ("own",), None, on)


def _beginning(on: str, bars: dict[str, tuple[str | None, bool]]) -> Sweep:
    """All weights of a set as they begin: those of results, or none; added to those of states."""

    def begin(n: Any) -> None:
        for name, (given, goes_on) in bars.items():
            now = getattr(n, name)
            more = zeros(len(now)) if given is None else getattr(n, given)
            setattr(n, name, now + more if goes_on else more)

    return Sweep(begin, "each", ("own",), None, on)


def adjoint(algorithm: Algorithm, sloped: Sequence[str] = (), writes: Mapping[str, int] | None = None) -> Algorithm:
    """The algorithm with the weights of all that it is computed from, given those of what it computes. On a tree
    `with_reversed_items`.

    Outputs `bar` of its inputs, where these are given; inputs `end` of its outputs and states. Weights of states are states: run
    once more, at the states of the pass before, they go on from there, and `end` is added. Where an output of
    `rounds_backwards.flags` is not zero, something was left unfinished, and weights mean nothing.

    sloped   the sets whose parameters have weights, too (states `bars_of`, sums over passes), on a tree `with_slopes`
    writes   of states that other nodes look at after they were assigned, the number of the step that does (`first_writes`)
    """
    own, writes = algorithm.fields, writes or {}
    states = frozenset(name for name, f in own.items() if f.kind == "state")
    results = {name for name in algorithm.results if own[name].space != "global" and own[name].alias is None}
    more: dict[str, Field] = {}
    forwards: list[Step] = []
    backwards: list[Step] = []
    nodal: dict[str, dict[str, tuple[str | None, bool]]] = {}
    for name, f in own.items():
        if f.alias is not None or f.space == "global" or not _is_nodal(f):
            continue
        more[bar(name)] = _bar_field(f, BAR_KINDS.get(f.kind, "work"))
        if f.kind in ("input", "output", "state") or f.of not in algorithm.sets:  # others are overwritten, and empty again
            nodal.setdefault(f.of, {})[bar(name)] = end(name) if name in results else None, f.kind == "state"
        if name in results:
            more[end(name)] = _bar_field(f, "input")
        if f.of == "" and f.codec is not None and f.kind in ("shared", "work", "state"):
            more[f"up_{name}"] = Field("gathered", codec=vector(f.codec.size))
    more[PASSING] = Field("work", PASSING)
    for of in sloped:
        more[bars_of(of)] = Field("state", SLOPES, of=of)
    unrolled = _unrolled(algorithm)
    plain = [step for _, step in unrolled if not isinstance(step, Rounds)]
    pairs = solved_pairs(plain) if len(plain) == len(unrolled) else {}
    more |= {_later(name): replace(own[name], kind="work") for name in writes}
    for pair in pairs.values():
        more |= _solving_fields(pair)
    new: frozenset[str] = frozenset()  # states that were assigned by then
    for number, (_, step) in enumerate(unrolled):
        if number:
            new |= {name for name, first in writes.items() if unrolled[number - 1][0] >= first}
        if isinstance(step, Sweep) and number in pairs:
            pair = pairs[number]
            forwards.append(_solved_forwards(step, number, pair))
            backwards[:0] = _solved_backwards(step, number, pair, own, step.on in sloped)
        elif number + 1 in pairs and not isinstance(step, Rounds):
            forwards.append(step)
        elif isinstance(step, Sweep):
            forwards.append(_forwards(step, number, _States(states, frozenset(writes), new), bool(sloped)))
            collected = [_collecting(step.on, number)] if _passes(step) else []
            backwards[:0] = [_backwards(step, number, own, step.on in sloped), *collected]
        elif isinstance(step, Rounds):
            had = f"had_rounds_{number}"
            more |= FIELDS | {ROUNDS: Field("work", ROUNDS), had: Field("work", "global", SCALAR)}
            numbers = [ROUND * (number + 1) + k for k in range(len(step.sweeps))]
            told = _States(states, frozenset(writes), new)
            forwards += [_unwatched(step.repeat, told), step.begin, kept_going(step, had)]
            forwards += [_forwards(rule, k, told, bool(sloped)) for k, rule in zip(numbers, step.sweeps, strict=True)]
            turned = zip(reversed(numbers), reversed(step.sweeps), strict=True)
            body: list[Step] = [_backwards(rule, k, own, rule.on in sloped, numbers) for k, rule in turned]
            more.setdefault(bar(step.carried), _bar_field(own[step.carried]))
            backwards[:0] = [*rounds_backwards(step, body, bar, had), _collecting("", numbers[0], ROUNDS)]
        else:
            ahead, back = _routine_steps(algorithm, step, more)
            forwards += ahead
            backwards[:0] = back
    kept = {name: replace(own[name], kind="input" if name in states else "work") for name in algorithm.results}
    told = flags([step for steps in algorithm.phases.values() for step in steps])
    kept |= {name: replace(own[name], kind="output") for name in told}
    begins: list[Step] = [_beginning(of, bars) for of, bars in nodal.items()]
    name = "_".join([algorithm.name, "adjoint", *(of or "tree" for of in sloped)])
    return Algorithm(name, own | kept | more, {"run": [*forwards, *begins, *backwards]})


def _unrolled(algorithm: Algorithm) -> list[tuple[int, Sweep | Routine | Rounds]]:
    """All steps in order, with their numbers in the algorithm; what is repeated a known number of times stands so often.

    What rules over lists and routines read must still be there on the way back: they run once.
    """
    found = _unroll(algorithm, [step for steps in algorithm.phases.values() for step in steps], 0)
    lists = [step.items for _, step in found if isinstance(step, Sweep) and step.items is not None]
    if len(set(lists)) < len(lists):
        raise CompileError(f"{algorithm.name}: rows that are found several times in a step have no adjoint")
    return found


def _unroll(algorithm: Algorithm, steps: Sequence[Step], number: int) -> list[tuple[int, Sweep | Routine | Rounds]]:
    found: list[tuple[int, Sweep | Routine | Rounds]] = []
    for before, step in zip((None, *steps), steps, strict=False):
        if isinstance(step, Repeat):
            rounds, times = rounds_of(before, step), times_of(step)
            if rounds is not None and rounds.simple():
                found.append((number, rounds))
            elif rounds is None and times is not None:
                found += times * _unroll(algorithm, step.steps, number)
            else:
                raise CompileError(f"{algorithm.name}: what is repeated until it converges has no adjoint")
        else:
            found.append((number, step))
        number += len(flat([step]))
    return found


def _solving_fields(pair: SolvedBackwards) -> dict[str, Field]:
    """Those of the rules of a pair, and of the weights that children add to what it moves outward."""
    shared = {name: f for name, f in pair.fields.items() if f.kind == "shared" and f.codec is not None}
    return dict(pair.fields) | {f"up_{name}": Field("gathered", codec=vector(f.size({}))) for name, f in shared.items()}


def _is_nodal(f: Field) -> bool:
    """Whether a field belongs to nodes; others are arrays of routines, whose weights they name."""
    return f.codec is None or f.space == "node"


def with_reversed_items(tree: Tree) -> Tree:
    """The tree with all its lists in the opposite order, too, and room at its nodes for weights of what rules over them read: a
    transform, and of its degrees of freedom columns of 12 numbers and a factor. What rules empty or overwrite stays for the way
    back, so no memory is common."""
    tree = replace(tree, items=tree.items | tree.apart, sets={name: replace(x, common={}) for name, x in tree.sets.items()})

    def backwards(name: str) -> Callable[[], Items]:
        def make() -> Items:
            found = tree_items(tree, name)
            roles = {role: np.ascontiguousarray(x[::-1]) for role, x in found.roles.items()}
            return Items(np.ascontiguousarray(found.nodes[::-1]), roles)

        return make

    made: dict[int, NodeClass] = {}
    for c in tree.classes:
        if id(c) not in made:
            nv = c.sizes.get("v", 0)
            sizes = {**c.sizes, PASSING: 48 + 14 * nv + nv * nv, ROUNDS: 96 + 40 * nv + 3 * nv * nv}
            made[id(c)] = replace(c, signature=(*c.signature, PASSING), sizes=sizes)
    lists = tree.items | {reversed_items(name): backwards(name) for name in tree.items}
    return replace(tree, classes=[made[id(c)] for c in tree.classes], items=lists)
