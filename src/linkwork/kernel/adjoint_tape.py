"""What rules saw, for their transposes: kept at their nodes, where later rules overwrite it (see `adjoint`)."""

from __future__ import annotations

import functools
import weakref
from dataclasses import dataclass, is_dataclass, replace
from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np

from ..spatial.dual import Dual
from ..spatial.forms import Form
from ..spatial.scalar import array, is_number, is_zero
from ..spatial.table import Table
from .adjoint_names import Key
from .directional import SLOPES
from .sweep import Repeat, Step, Sweep
from .symbol import Symbol
from .trace import mapped


class _Tape:
    """Of one step at nodes of one class: what its rule read, as structures of what is kept, and what it assigned."""

    def __init__(self) -> None:
        self.reads: dict[Key, Any] = {}
        self.writes: set[Key] = set()
        self.seen: dict[Key, Any] = {}  # what it read and assigned, while it runs forwards
        self.written: dict[Key, Any] = {}
        self.passing: dict[tuple[str, int], int] = {}  # of scalars of private values, where their weights are


_tapes: weakref.WeakKeyDictionary[Any, dict[int, _Tape]] = weakref.WeakKeyDictionary()


def tape_of(node: Any, step: int) -> _Tape:
    return _tapes.setdefault(node._tracer, {}).setdefault(step, _Tape())


def is_value(node: Any, name: str) -> bool:
    """Whether a name is neither attribute nor parameter of the node's class."""
    known = node._tracer.node_class
    return node._role != "own" or not (name == "is_root" or name in known.attributes or name in known.patterns)


def proper(node: Any, name: str) -> str:
    """The field that a name is another one of, if it is seen through the same space."""
    fields = node._tracer.algorithm.fields
    f = fields.get(name)
    if f is None or f.alias is None:
        return name
    other = fields[f.alias]
    return f.alias if (f.space, f.codec, f.of) == (other.space, other.codec, other.of) else name


def later(name: str) -> str:
    """The field of a state's new value, where other nodes look at it."""
    return f"later_{name}"


@dataclass(frozen=True)
class States:
    """The names of all states; of those whose new values have fields of their own; and of those that are new by now."""

    names: frozenset[str]
    shared: frozenset[str]
    new: frozenset[str]

    def place(self, node: Any, name: str) -> str:
        """Where a value is: that of a state that was assigned is not where it began."""
        if name in self.shared:
            return later(name) if name in self.new else name
        known = name in self.names and node._role == "own" and f"next:{name}" in node._tracer.memory
        return f"next:{name}" if known else name


class _Now:
    """A node for a rule that is not watched: it finds states where they are by now."""

    __slots__ = ("_node", "_states")

    def __init__(self, node: Any, states: States) -> None:
        object.__setattr__(self, "_node", node)
        object.__setattr__(self, "_states", states)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, self._states.place(self._node, proper(self._node, name)))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._node, name, value)


def unwatched(repeat: Repeat, states: States) -> Repeat:
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


class Recorder:
    """A node whose rule is watched; states are not overwritten.

    sloped   parameters change: the rule runs on dual numbers, as it will backwards, and what it assigns has the same structure.
             Constants that change with parameters are kept as if they were not known.
    """

    __slots__ = ("_node", "_sloped", "_states", "_step")

    def __init__(self, node: Any, step: int, states: States, sloped: bool) -> None:
        for name, value in (("_node", node), ("_step", step), ("_states", states), ("_sloped", sloped)):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        node = self._node
        name = proper(node, name)
        tape, key = tape_of(node, self._step), (node._role, name)
        if key in tape.written:
            return tape.written[key]
        if not is_value(node, name):
            value = getattr(node, name)
            return sloped_parameter(node, name, value)[0] if self._sloped else value
        if key not in tape.seen:
            value = getattr(node, self._states.place(node, name))
            tape.reads[key] = mapped(value, node._tracer._keep)
            tape.seen[key] = mapped(value, _watched) if self._sloped else value
        return tape.seen[key]

    def __setattr__(self, name: str, value: Any) -> None:
        node = self._node
        name = proper(node, name)
        tape, key = tape_of(node, self._step), (node._role, name)
        tape.writes.add(key)
        tape.written[key] = value
        states, value = self._states, _plain(value) if self._sloped else value
        setattr(node, later(name) if name in states.shared else f"next:{name}" if name in states.names else name, value)


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


def sloped_parameter(node: Any, name: str, value: Any) -> tuple[Any, list[Form]]:
    """A parameter on dual numbers, and its forms: none where it is an attribute, or does not change."""
    known = node._tracer.node_class
    place = getattr(node, SLOPES).get(name) if SLOPES in known.attributes and name in known.patterns else None
    if place is None or isinstance(value, Table):  # how tables change is found by columns
        return value, []
    scalars = list(np.asarray(value, dtype=object).reshape(-1))
    forms = [Form() for _ in scalars]
    found = array([Dual(x, (g,)) for x, g in zip(scalars, forms, strict=True)])
    return (found.reshape(np.shape(value)) if np.ndim(value) else found[0]), forms


def passes(sweep: Sweep) -> bool:
    """Whether a rule runs several times at a node, or may not run at all, though its node does later."""
    return sweep.items is not None or (sweep.on == "" and sweep.when is not None)
