"""The functions that every loop function may call, as LLVM IR."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import loop_eager
from .loop_writer import FLAG, INT, MASK, VALUE, Value, Writer

Write = Callable[[Writer, ast.Call, list[Value]], Value]


@dataclass(frozen=True)
class BuiltIn:
    """A function of the language: what it is in Python, and how it is written."""

    function: Any
    name: str
    arguments: int
    write: Write


def _of_values(intrinsic: str) -> Write:
    def write(w: Writer, node: ast.Call, x: list[Value]) -> Value:
        return Value(VALUE, w.intrinsic(intrinsic, *(w.convert(a, VALUE, node, "an argument").text for a in x)))

    return write


def _of_ints(intrinsic: str) -> Write:
    def write(w: Writer, node: ast.Call, x: list[Value]) -> Value:
        a, b = (w.convert(a, INT, node, "an argument").text for a in x)
        return Value(INT, w.emit(f"call i64 @llvm.{intrinsic}.i64(i64 {a}, i64 {b})"))

    return write


def _abs(w: Writer, node: ast.Call, x: list[Value]) -> Value:
    if x[0].kind is INT:
        return Value(INT, w.emit(f"call i64 @llvm.abs.i64(i64 {x[0].text}, i1 false)"))
    return _of_values("fabs")(w, node, x)


def _float(w: Writer, node: ast.Call, x: list[Value]) -> Value:
    return w.convert(x[0], VALUE, node, "what float gives")


def _where(w: Writer, node: ast.Call, x: list[Value]) -> Value:
    mask = w.convert(x[0], MASK, node, "what where asks for")
    a, b = (w.convert(z, VALUE, node, "what where chooses").text for z in x[1:])
    return Value(VALUE, w.emit(f"select {w.type(MASK)} {mask.text}, {w.t.type} {a}, {w.t.type} {b}"))


def _reduced(compare: str, against: int) -> Write:
    def write(w: Writer, node: ast.Call, x: list[Value]) -> Value:
        if x[0].kind is FLAG:
            return x[0]
        mask, width = w.convert(x[0], MASK, node, "the argument").text, w.t.width
        if width == 1:
            return Value(FLAG, mask)
        bits = w.emit(f"bitcast {w.type(MASK)} {mask} to i{width}")
        return Value(FLAG, w.emit(f"icmp {compare} i{width} {bits}, {against}"))

    return write


BUILT_IN = (
    BuiltIn(abs, "abs", 1, _abs),
    BuiltIn(loop_eager.sqrt, "sqrt", 1, _of_values("sqrt")),
    BuiltIn(loop_eager.minimum, "minimum", 2, _of_values("minimum")),
    BuiltIn(loop_eager.maximum, "maximum", 2, _of_values("maximum")),
    BuiltIn(loop_eager.where, "where", 3, _where),
    BuiltIn(loop_eager.any, "any", 1, _reduced("ne", 0)),
    BuiltIn(loop_eager.all, "all", 1, _reduced("eq", -1)),
    BuiltIn(float, "float", 1, _float),
    BuiltIn(min, "min", 2, _of_ints("smin")),
    BuiltIn(max, "max", 2, _of_ints("smax")),
)
