"""Sweeps that run several times in one step: the same rules, on a node whose names are changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..kernel.solved_sweeps import origin
from ..kernel.sweep import Repeat, Routine, Step


class Renamed:
    """A node seen under other names: where a rule says `q`, `names["q"]` is read and written."""

    __slots__ = ("_names", "_node")

    def __init__(self, node: Any, names: dict[str, str]) -> None:
        object.__setattr__(self, "_node", node)
        object.__setattr__(self, "_names", names)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, self._names.get(name, name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._node, self._names.get(name, name), value)


def renamed(step: Step, names: dict[str, str]) -> Step:
    """The step with every node renamed."""
    if isinstance(step, Routine):
        return replace(step, arguments=tuple(names.get(name, name) for name in step.arguments))
    if isinstance(step, Repeat):
        return replace(step, steps=tuple(renamed(inner, names) for inner in step.steps))

    def alike(other: Any) -> Any:
        def rule(*nodes: Any) -> None:
            other(*(Renamed(node, names) for node in nodes))

        return rule

    rule = alike(step.rule)
    rule.renames, rule.alike = origin(step.rule), alike
    return replace(step, rule=rule)
