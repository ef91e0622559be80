"""Time functions of scene files: texts of numbers, names, + - * / **, exp and pi. Nothing else is evaluated.

A function is given in pieces, of which the first with t < t_lt applies; the last has none. A piece has constants, then
auxiliary quantities in their order, then what it says.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import ModelError
from .record import Record

BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow}
MAX_LENGTH = 2000
Names = dict[str, float]
Piece = tuple[float, Callable[[float], Any]]


def compiled(text: Any, where: str, known: set[str]) -> Callable[[Names], float]:
    """The function of names that a text (or a number) stands for; what it may not contain is refused here."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        value = float(text)
        return lambda names: value
    if not isinstance(text, str) or len(text) > MAX_LENGTH:
        raise ModelError(f"{where}: an expression must be a text of at most {MAX_LENGTH} characters, not {text!r:.60}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        _check(tree, known)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ModelError(f"{where}: {text!r:.80} is no expression ({error})") from None

    def value_of(names: Names) -> float:
        try:
            return _value(tree, names)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise ModelError(f"{where}: {text!r} has no value ({error})") from None

    return value_of


def _check(node: ast.AST, known: set[str]) -> None:
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return
        case ast.Name(id=name) if name in known or name == "pi":
            return
        case ast.Name(id=name):
            raise ValueError(f"{name!r} is not known; known are {', '.join(sorted(known | {'pi'}))}")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            _check(left, known)
            _check(right, known)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check(operand, known)
        case ast.Call(func=ast.Name(id="exp"), args=[argument], keywords=[]):
            _check(argument, known)
        case _:
            raise ValueError(f"{ast.unparse(node)!r:.60} is not allowed: only numbers, names, + - * / **, exp and pi are")


def _value(node: ast.AST, names: Names) -> float:
    match node:
        case ast.Constant(value=value):
            return float(value)  # pyright: ignore[reportArgumentType]
        case ast.Name(id=name):
            return names.get(name, math.pi)
        case ast.BinOp(left=left, op=op, right=right):
            return float(BINARY[type(op)](_value(left, names), _value(right, names)))
        case ast.UnaryOp(op=op, operand=operand):
            return -_value(operand, names) if isinstance(op, ast.USub) else _value(operand, names)
        case ast.Call(args=[argument]):
            return math.exp(_value(argument, names))
    raise ValueError("unknown node")


def nested(value: Any, where: str, known: set[str]) -> Callable[[Names], Any]:
    """An expression, or a list or an object of them."""
    if isinstance(value, dict):
        named = {key: nested(x, f"{where}, {key}", known) for key, x in value.items()}
        return lambda names: {key: part(names) for key, part in named.items()}
    if isinstance(value, list):
        parts = [nested(x, f"{where}[{k}]", known) for k, x in enumerate(value)]
        return lambda names: np.array([part(names) for part in parts])
    return compiled(value, where, known)


def piecewise(record: Record, keys: tuple[str, ...]) -> Callable[[float], tuple[Any, ...]]:
    """The function of time in the pieces of a record: what stands under some keys."""
    pieces = [_piece(piece, keys) for piece in record.records("pieces")]
    if not pieces or pieces[-1][0] < math.inf:
        raise record.error("needs 'pieces', the last of them without 't_lt'")

    def at(t: float) -> tuple[Any, ...]:
        return next(values for end, values in pieces if t < end)(t)

    return at


def _piece(record: Record, keys: tuple[str, ...]) -> Piece:
    end = record.get("t_lt", None)
    constants = {name: record.record("constants").number(name) for name in record.get("constants", {}) or {}}
    known = {"t", *constants}
    auxiliary: list[tuple[str, Callable[[Names], float]]] = []
    for name, text in (record.get("auxiliary", {}) or {}).items():
        auxiliary.append((name, compiled(text, f"{record.where}, {name}", known)))
        known.add(name)
    wanted = [nested(record.get(key), f"{record.where}, {key}", known) for key in keys]

    def at(t: float) -> tuple[Any, ...]:
        names = {"t": float(t), **constants}
        for name, value in auxiliary:
            names[name] = value(names)
        return tuple(value(names) for value in wanted)

    return (math.inf if end is None else record.number("t_lt")), at
