"""The values of traced expressions, as Python would compute them: no operation is fused, shared or compiled."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwork.kernel.symbol import Symbol, ordered

FUNCTIONS = ("sqrt", "sin", "cos", "tan", "exp", "expm1", "log", "log1p", "sinh", "cosh", "tanh", "floor", "ceil", "sign")
INVERSES = ("asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh")
MEANING: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "abs": abs,
    "pow": np.power,
    "lt": operator.lt,
    "le": operator.le,
    "not": lambda a: not a,
    "and": lambda a, b: bool(a) and bool(b),
    "or": lambda a, b: bool(a) or bool(b),
    "select": lambda c, a, b: a if c else b,
    **{name: getattr(np, name) for name in FUNCTIONS},
    **{name: getattr(np, "arc" + name[1:]) for name in INVERSES},
}


def evaluated(outputs: Sequence[Any], inputs: Sequence[Symbol], at: Sequence[float]) -> np.ndarray:
    """The numbers of expressions (n,) where the inputs have these values."""
    values: dict[int, Any] = {id(s): np.float64(x) for s, x in zip(inputs, at, strict=True)}

    def value(x: Any) -> Any:
        return values[id(x)] if type(x) is Symbol else np.float64(x)

    with np.errstate(all="ignore"):
        for node in ordered(inputs, outputs):
            if node.op == "const":
                values[id(node)] = np.float64(node.args[0])
            elif node.op != "variable":
                values[id(node)] = np.float64(MEANING[node.op](*(value(a) for a in node.args)))
    return np.array([value(x) for x in outputs])
