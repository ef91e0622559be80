"""Sweeps that solve together, backwards: one factor for both, and the transpose of what they solve (`solved_sweeps`)."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from .adjoint_names import Key
from .adjoint_rules import Transpose
from .adjoint_tape import tape_of
from .solved_sweeps import WORK, SolvedBackwards, alike
from .sweep import Field, Step, Sweep
from .trace import mapped


class _Keeper:
    """A node of which all that is read is kept for the way back."""

    __slots__ = ("_node", "_step")

    def __init__(self, node: Any, step: int) -> None:
        self._node, self._step = node, step

    def __getattr__(self, name: str) -> Any:
        node = self._node
        value = getattr(node, name)
        tape_of(node, self._step).reads[node._role, name] = mapped(value, node._tracer._keep)
        return value


class _Kept:
    """A node as a rule saw it; what was not kept is read and assigned where it is."""

    __slots__ = ("_node", "_step")

    def __init__(self, node: Any, step: int) -> None:
        object.__setattr__(self, "_node", node)
        object.__setattr__(self, "_step", step)

    def __getattr__(self, name: str) -> Any:
        node = self._node
        key, tape = (node._role, name), tape_of(node, self._step)
        return mapped(tape.reads[key], node._tracer._fetch) if key in tape.reads else getattr(node, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._node, name, value)


class _Later(Transpose):
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


def solved_forwards(sweep: Sweep, step: int, pair: SolvedBackwards) -> Sweep:
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


def solved_backwards(sweep: Sweep, step: int, pair: SolvedBackwards, fields: dict[str, Field], sloped: bool) -> list[Step]:
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
