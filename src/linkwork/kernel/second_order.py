"""Second derivatives of any algorithm made of rules: the same rules on numbers with two directions.

Every field x has companions d_x and e_x, its changes along the two, and de_x, how either changes along the other. A number is
x + d delta + e eps + de delta eps with delta^2 = eps^2 = 0: a dual of duals (`spatial.dual`). What rules compute is exact.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..errors import CompileError
from ..spatial.dual import Bend, Dual
from ..spatial.scalar import is_zero
from .sweep import Algorithm, Field, Sweep

PREFIXES = ("d_", "e_", "de_")


def _number(x: Any, d: Any, e: Any, de: Any) -> Any:
    inner, outer = _dual(x, e), _dual(d, de)
    return inner if is_zero(outer) else Bend(inner, (outer,))


def _dual(x: Any, e: Any) -> Any:
    return x if is_zero(e) else Dual(x, (e,))


def _parts(number: Any) -> tuple[Any, Any, Any, Any]:
    """x, d, e and de of a number."""
    inner, outer = (number.x, number.grad[0]) if type(number) is Bend else (number, 0.0)
    (x, e), (d, de) = ((part.x, part.grad[0]) if type(part) is Dual else (part, 0.0) for part in (inner, outer))
    return x, d, e, de


class _View:
    """A node whose fields are such numbers; all else passes."""

    __slots__ = ("_fields", "_node")

    def __init__(self, node: Any, fields: dict[str, Field]) -> None:
        object.__setattr__(self, "_node", node)
        object.__setattr__(self, "_fields", fields)

    def __getattr__(self, name: str) -> Any:
        f, value = self._fields.get(name), getattr(self._node, name)
        if f is None:
            return value
        changes = [f.scalars(getattr(self._node, prefix + name)) for prefix in PREFIXES]
        return f.unpack([_number(*parts) for parts in zip(f.scalars(value), *changes, strict=True)])

    def __setattr__(self, name: str, value: Any) -> None:
        f = self._fields.get(name)
        if f is None:
            setattr(self._node, name, value)
            return
        parts = [_parts(x) for x in f.scalars(value)]
        for k, prefix in enumerate(("", *PREFIXES)):
            setattr(self._node, prefix + name, f.unpack([x[k] for x in parts]))


def second_order(algorithm: Algorithm) -> Algorithm:
    """The algorithm with the changes of all results along two directions, and their second derivative along both."""
    moving = {name: f for name, f in algorithm.fields.items() if f.space != "global"}

    def lifted(rule: Callable[..., None], on: str) -> Callable[..., None]:
        own = {name: f for name, f in moving.items() if f.of == on}

        @functools.wraps(rule)
        def with_directions(n: Any, *nodes: Any) -> None:
            rule(_View(n, own), *(_View(node, moving) for node in nodes))

        return with_directions

    steps = []
    for _, step in algorithm.steps():
        if not isinstance(step, Sweep):
            raise CompileError(f"{algorithm.name}: routines on whole arrays have no second derivative")
        steps.append(replace(step, rule=lifted(step.rule, step.on)))
    more = {prefix + name: replace(f, world=None) for name, f in moving.items() for prefix in PREFIXES}
    return Algorithm(f"{algorithm.name}_second_order", algorithm.fields | more, {"run": steps})
