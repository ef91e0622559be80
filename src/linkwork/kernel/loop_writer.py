"""What the writers of loop functions share: kinds of values, and lines of LLVM IR."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from typing import Any, NoReturn, Protocol

from ..errors import CompileError
from .lanes import Lanes


class Kind(Enum):
    """What a value is; its text is that of messages."""

    INT = "an int"
    VALUE = "a lane value"
    MASK = "a condition of lanes"
    FLAG = "a uniform condition"
    LANES = "a Lane array"
    STRIDED = "a Strided array"
    INTS = "an Ints array"
    TABLE = "a Table"
    NOTHING = "nothing"


INT, VALUE, MASK, FLAG = Kind.INT, Kind.VALUE, Kind.MASK, Kind.FLAG
ARRAYS = (Kind.LANES, Kind.STRIDED, Kind.INTS, Kind.TABLE)
BROADER = {(INT, VALUE), (FLAG, MASK)}  # a value of the first kind, the same in all lanes, is one of the second


@dataclass(frozen=True)
class Value:
    """A computed value: its kind and its name, or its constant, in the IR."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class Product:
    """A product of lane values that is not multiplied yet: a sum takes it in."""

    a: Value
    b: Value


Term = Value | Product


Known = tuple[tuple[str, int], ...]  # of parameters whose values are known: their names and these


@dataclass(frozen=True)
class Signature:
    """How a loop function is called: the name in the IR, parameters in order, what it returns. One of `Arrays` is called f.L.

    small     the parameter for whose first values there is code of its own, if there is one
    scratch   arrays that say nothing before and afterwards
    known     what is known of the parameters in this code
    """

    symbol: str
    parameters: tuple[tuple[str, Kind], ...]
    result: Kind
    small: str = ""
    scratch: frozenset[str] = frozenset()
    known: Known = ()
    stride: int = 1  # numbers from one record of a Strided array to the next


def plain(name: str) -> str:
    """The name of a parameter without that of the `Arrays` which it is one of."""
    return name.rpartition(".")[2]


class Scope(Protocol):
    """What names outside a function mean, and where messages point to."""

    def lookup(self, name: str) -> Any: ...
    def signature(self, found: Any, node: ast.AST, known: Known = ()) -> Signature | None: ...
    def place(self, node: ast.AST) -> str: ...


class Lines:
    """Lines of one function."""

    def __init__(self, lanes: Lanes) -> None:
        self.t = lanes
        self.lines: list[str] = []
        self._count = 0

    def new(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def emit(self, text: str) -> str:
        name = "%" + self.new("t")
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def type(self, kind: Kind) -> str:
        types = {INT: "i64", VALUE: self.t.type, MASK: self.t.bool_type, FLAG: "i1", Kind.NOTHING: "void"}
        return types.get(kind, "ptr")

    def splat(self, element: str, scalar: str) -> str:
        """A scalar in every lane."""
        width = self.t.width
        if width == 1:
            return scalar
        kind, zeros = f"<{width} x {element}>", ", ".join(["i32 0"] * width)
        one = self.emit(f"insertelement {kind} poison, {element} {scalar}, i64 0")
        return self.emit(f"shufflevector {kind} {one}, {kind} poison, <{width} x i32> <{zeros}>")

    def intrinsic(self, name: str, *x: str) -> str:
        t = self.t
        return self.emit(f"call {t.type} @llvm.{name}.{t.suffix}(" + ", ".join(f"{t.type} {a}" for a in x) + ")")


class Writer(Lines):
    """Lines of one function that stands for a Python function."""

    def __init__(self, scope: Scope, lanes: Lanes) -> None:
        super().__init__(lanes)
        self.scope = scope
        self.slots: list[str] = []  # room on the stack, which LLVM turns into registers

    def fail(self, node: ast.AST, message: str) -> NoReturn:
        raise CompileError(f"{self.scope.place(node)}: {message}")

    def room(self, kind: Kind) -> str:
        name = "%" + self.new("v")
        self.slots.append(f"  {name} = alloca {self.type(kind)}")
        return name

    def convert(self, x: Value, kind: Kind, node: ast.AST, purpose: str) -> Value:
        """x as a value of a kind: itself, or the same in all lanes."""
        if x.kind is kind:
            return x
        if (x.kind, kind) not in BROADER:
            hint = {MASK: "; any(...) or all(...) of it are uniform", INT: "; compare it with a number"}.get(x.kind, "")
            hint = hint if kind is FLAG else ""
            self.fail(node, f"{purpose} is {kind.value}; this is {x.kind.value}{hint}")
        if kind is MASK:
            return Value(MASK, self.splat("i1", x.text))
        element = self.t.element
        return Value(VALUE, self.splat(element, self.emit(f"sitofp i64 {x.text} to {element}")))
