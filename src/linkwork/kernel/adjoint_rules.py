"""The transpose of a rule: on dual numbers whose derivatives are linear forms, weights go back to what it read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import CompileError
from ..spatial.dual import Dual
from ..spatial.forms import Form, weights
from ..spatial.scalar import is_number, is_zero, stack, zeros
from .adjoint_names import PASSED, PASSING, ROUNDS, UPWARD, Key, bar, bars_of, has_weights
from .adjoint_tape import is_value, passes, proper, sloped_parameter, tape_of
from .directional import SLOPES
from .sweep import Field, Sweep
from .trace import mapped


class Transpose:
    """One rule at one node, backwards.

    step    its number
    items   whether the rule runs over a list: then all is read where it is
    passes  whether weights of private values go through `PASSING`
    rounds  the numbers of all rules of the round that the rule is part of: weights of what was private before add up in `ROUNDS`
    """

    def __init__(self, fields: dict[str, Field], sweep: Sweep, step: int, sloped: bool, rounds: Sequence[int] = ()) -> None:
        self.rounds = rounds
        self.fields, self.on, self.step, self.sloped = fields, sweep.on, step, sloped
        self.items, self.passes = sweep.items is not None, passes(sweep)
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
        if not is_value(node, name):
            value = getattr(node, name)
            return self._parameter(node, name, value) if name in node._tracer.node_class.patterns else value
        f = self.fields.get(name)
        if f is not None and self._is_sum(node, key):
            scalars: list[Any] = [0.0] * len(f.scalars(tape_of(node, self.step).reads[key]))
            forms: list[Any] = [Form() for _ in scalars]
        else:
            value = self._seen(node, key)
            if f is None:
                return self._private(key, value)
            if not has_weights(f):
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
        tape = tape_of(node, self.step)
        if key not in tape.reads:
            raise CompileError(f"a rule reads {key[0]}.{key[1]} when it runs on other numbers, and did not before")
        return mapped(tape.reads[key], node._tracer._fetch)

    def _is_sum(self, node: Any, key: Key) -> bool:
        """Whether the rule adds to it: then its value does not matter."""
        return not self.items and key[0] != "own" and key in tape_of(node, self.step).writes

    def _private(self, key: Key, value: Any) -> Any:
        """A private value on dual numbers. Scalars that are one have one form, unless parameters change: where entries of these
        are known to be 0, 1 or -1, scalars that change differently may be one."""
        forms: list[Any] = []
        known: dict[int, Any] = {}

        def dual(x: Any) -> Any:
            if is_number(x):
                forms.append(0.0)
                return x
            first = None if self.sloped else known.get(id(x))
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
        found, forms = sloped_parameter(node, name, value)
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
            if f is None or has_weights(f):
                scalars = scalars_of(value) if f is None else f.scalars(value)
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
            count = len(self.leaves[key]) if key in self.leaves else len(scalars_of(self.written[key]))
            total = list(getattr(node, f":bar:{name}")) if known else [0.0] * count
            return self._with_passed(name, total) if key in self.written else total
        if not has_weights(f):
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
            self._pass(key, found, PASSING, PASSED)
        elif key in self.written or (f is not None and f.kind == "gathered"):
            self._assign(key, found, before)
        else:
            self._assign(key, [a + b for a, b in zip(before, found, strict=True)], before)

    def _assign(self, key: Key, new: list[Any], before: list[Any]) -> None:
        role, name = key
        node, f = self.nodes[role], self.fields.get(name)
        if f is None:
            setattr(node, f":bar:{name}", new)
        elif has_weights(f) and role != "parent":
            told = ("parent", name) in self.leaves or f.kind == "gathered"  # its weight is not what lies there
            if told or any(a is not b and not (is_zero(a) and is_zero(b)) for a, b in zip(new, before, strict=True)):
                setattr(node, bar(name), stack(*new) if new else zeros(0))

    def _from_before(self, key: Key) -> bool:
        """Whether a private value is none of the round's own."""
        return bool(self.rounds) and not any(key in tape_of(self.nodes["own"], k).writes for k in self.rounds)

    def _pass(self, key: Key, found: list[Any], field: str, step: int) -> None:
        """Weights of private values, added where the next item of the same node finds them."""
        node = self.nodes["own"]
        now, places = list(getattr(node, field)), tape_of(node, step).passing
        for k, weight in enumerate(found):
            if not is_zero(weight):
                at = places.setdefault((key[1], k), len(places))
                if at >= len(now):
                    raise CompileError("a rule over a list reads more private values than there is room for their weights")
                now[at] = now[at] + weight
        setattr(node, field, stack(*now))

    def _with_passed(self, name: str, total: list[Any]) -> list[Any]:
        """The weight of a private value that the rule assigned, with all that was passed on: nobody adds to it any more."""
        node = self.nodes["own"]
        places = [(k, at) for (own, k), at in tape_of(node, PASSED).passing.items() if own == name]
        if places:
            now = list(getattr(node, PASSING))
            for k, at in places:
                total[k], now[at] = total[k] + now[at], 0.0
            setattr(node, PASSING, stack(*now))
        return total

    def _clear(self) -> None:
        """What the rule would have emptied, now that it is no longer needed."""
        for (role, name), value in self.written.items():
            f = self.fields.get(name)
            if f is not None and role != "own" and all(is_zero(x) for x in f.scalars(value)):
                setattr(self.nodes[role], name, value)


class _View:
    """A node for a rule that runs backwards."""

    __slots__ = ("_node", "_rule")

    def __init__(self, rule: Transpose, node: Any) -> None:
        object.__setattr__(self, "_node", node)
        object.__setattr__(self, "_rule", rule)

    def __getattr__(self, name: str) -> Any:
        return self._rule.read(self._node, proper(self._node, name))

    def __setattr__(self, name: str, value: Any) -> None:
        self._rule.written[self._node._role, proper(self._node, name)] = value


def scalars_of(value: Any) -> list[Any]:
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
