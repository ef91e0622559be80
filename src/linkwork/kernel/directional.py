"""The directional derivative of any algorithm: the same rules, run on dual numbers.

Every field x gets a companion d_x: given for inputs, computed for the rest. What the rules compute from both is exact, and it
compiles like any other algorithm; a Jacobian is a batch of directions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..errors import CompileError
from ..spatial.dual import Dual
from ..spatial.scalar import is_zero
from .sweep import Algorithm, Field, Step, Sweep


def companion(name: str) -> str:
    """The name of the derivative of a field."""
    return f"d_{name}"


class _View:
    """A node whose fields are dual numbers; all else passes."""

    __slots__ = ("_fields", "_node")

    def __init__(self, node: Any, fields: dict[str, Field]) -> None:
        object.__setattr__(self, "_node", node)
        object.__setattr__(self, "_fields", fields)

    def __getattr__(self, name: str) -> Any:
        f = self._fields.get(name)
        value = getattr(self._node, name)
        if f is None:
            return value
        x, d = f.scalars(value), f.scalars(getattr(self._node, companion(name)))
        return f.unpack([a if is_zero(b) else Dual(a, (b,)) for a, b in zip(x, d, strict=True)])

    def __setattr__(self, name: str, value: Any) -> None:
        f = self._fields.get(name)
        if f is None:
            setattr(self._node, name, value)
            return
        scalars = f.scalars(value)
        setattr(self._node, name, f.unpack([s.x if isinstance(s, Dual) else s for s in scalars]))
        setattr(self._node, companion(name), f.unpack([s.grad[0] if isinstance(s, Dual) else 0.0 for s in scalars]))


def _dual_rule(rule: Callable[..., None], fields: dict[str, Field]) -> Callable[..., None]:
    @functools.wraps(rule)
    def on_duals(*nodes: Any) -> None:
        rule(*(_View(node, fields) for node in nodes))

    return on_duals


def _companions(fields: dict[str, Field]) -> dict[str, Field]:
    """The derivatives of all fields; the world does not move."""
    out = {}
    for name, f in fields.items():
        out[name] = f
        out[companion(name)] = replace(f, world=None, alias=companion(f.alias) if f.alias else None)
    return out


def directional(algorithm: Algorithm) -> Algorithm:
    """The algorithm with the derivative of every result along the derivatives of its inputs."""

    def dual(sweep: Step) -> Step:
        if not isinstance(sweep, Sweep):
            raise CompileError(f"{algorithm.name}: a routine on whole arrays has no derivative by dual numbers")
        return replace(sweep, rule=_dual_rule(sweep.rule, algorithm.fields))

    phases: dict[str, Sequence[Step]] = {phase: [dual(sweep) for sweep in sweeps] for phase, sweeps in algorithm.phases.items()}
    return Algorithm(f"{algorithm.name}_directional", _companions(algorithm.fields), phases)
