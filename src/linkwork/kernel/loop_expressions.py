"""Expressions of loop functions as LLVM IR: every value has a kind, and each kind its instructions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .lanes import Lanes
from .loop_eager import Arrays
from .loop_functions import BUILT_IN
from .loop_writer import ARRAYS, FLAG, INT, MASK, VALUE, Kind, Product, Scope, Signature, Term, Value, Writer, plain

COMPARE_INTS = {ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge", ast.Eq: "eq", ast.NotEq: "ne"}
COMPARE_VALUES = {ast.Lt: "olt", ast.LtE: "ole", ast.Gt: "ogt", ast.GtE: "oge", ast.Eq: "oeq", ast.NotEq: "une"}
INT_ARITHMETIC = {ast.Add: "add nsw", ast.Sub: "sub nsw", ast.Mult: "mul nsw"}
VALUE_ARITHMETIC = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
MASKS = {ast.BitAnd: "and", ast.BitOr: "or"}
PYTHON_INTS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
FEW = 4  # values of a Small parameter for which there is code of its own
# Memory of lanes, of Ints and of Tables never overlaps; Tables never change.
NUMBERS = (Kind.LANES, Kind.STRIDED)
MEMORY = {Kind.LANES: "!tbaa !2", Kind.STRIDED: "!tbaa !2", Kind.INTS: "!tbaa !4", Kind.TABLE: "!invariant.load !5"}
METADATA = """!0 = !{!"linkwork"}
!1 = !{!"lanes", !0, i64 0}
!2 = !{!1, !1, i64 0}
!3 = !{!"ints", !0, i64 0}
!4 = !{!3, !3, i64 0}
!5 = !{}"""
EXPRESSIONS = (
    "numbers, names, A[i] (every lane its own record if i is a lane value), + - * / of lane values, + - * // % of ints, "
    "comparisons of two, & | ~ of conditions of lanes, "
    "and/or/not of uniform conditions, calls by position of loop functions, abs, sqrt, minimum, maximum, where, any, all, float, "
    "min and max of ints"
)


def whole(text: str) -> int | None:
    """The int that a text of the IR is; None if it is a variable."""
    return int(text) if text.removeprefix("-").isdigit() else None


@dataclass(frozen=True)
class Place:
    """Where a record is, or where the lanes have theirs."""

    kind: Kind
    at: str = ""
    lanes: list[str] | None = None


class Expressions(Writer):
    """The part of a function's writer that turns expressions into values."""

    def __init__(self, scope: Scope, lanes: Lanes, stride: int = 1) -> None:
        super().__init__(scope, lanes)
        self.steps = {Kind.LANES: lanes.width, Kind.STRIDED: stride}  # numbers from one record to the next
        self.names: dict[str, tuple[Kind, str]] = {}  # of variables: their kind and their room
        self.arrays: dict[str, tuple[Kind, str]] = {}
        self.assigned: set[str] = set()  # variables that have a value wherever the text has got to
        self.known: dict[str, int] = {}  # parameters and counters whose values are known here

    def of_kind(self, node: ast.expr, kind: Kind, purpose: str) -> Value:
        return self.convert(self.value(node), kind, node, purpose)

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        return self.multiplied(self.term(node))

    def term(self, node: ast.expr) -> Term:
        """The same, a product of lane values being left for a sum to take in."""
        handler = HANDLERS.get(type(node))
        if handler is None:
            self.fail(node, f"{ast.unparse(node)} ({type(node).__name__}) is not in the language. Expressions: {EXPRESSIONS}")
        return handler(self, node)

    def constant(self, node: ast.AST, x: Any) -> Value:
        if isinstance(x, (bool, np.bool_)):
            return Value(FLAG, "true" if x else "false")
        if isinstance(x, (int, np.integer)):
            return Value(INT, str(int(x)))
        if isinstance(x, (float, np.floating)):
            return Value(VALUE, self.t.constant(float(x)))
        self.fail(node, f"constants are numbers; this is {x!r:.60}")

    def literal(self, node: ast.Constant) -> Value:
        return self.constant(node, node.value)

    def name(self, node: ast.Name) -> Value:
        if node.id in self.arrays:
            kind = self.arrays[node.id][0]
            self.fail(node, f"{node.id} is {kind.value}: read a record, {node.id}[i], or pass it to a loop function")
        if node.id in self.known:
            return Value(INT, str(self.known[node.id]))
        if node.id not in self.names:
            return self.constant(node, self.found(node))
        if node.id not in self.assigned:
            self.fail(node, f"{node.id} may have no value here: assign one before the loop or in every branch")
        kind, room = self.names[node.id]
        return Value(kind, self.emit(f"load {self.type(kind)}, ptr {room}"))

    def found(self, node: ast.Name) -> Any:
        """What a name means outside the function."""
        try:
            return self.scope.lookup(node.id)
        except KeyError:
            self.fail(node, f"{node.id} has no value: it is no variable, nor a name of the module")

    def negative(self, x: Value) -> Value:
        if x.kind is INT:
            return self.int_arithmetic(ast.Constant(0), ast.Sub(), "0", x.text)
        return Value(VALUE, self.emit(f"fneg {self.t.type} {x.text}"))

    def unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value(FLAG, self.emit(f"xor i1 {self.of_kind(node.operand, FLAG, 'what `not` takes').text}, true"))
        x = self.value(node.operand)
        if isinstance(node.op, ast.Invert):
            if x.kind is not MASK:
                self.fail(node, f"~ is for conditions of lanes; this is {x.kind.value}")
            return Value(MASK, self.emit(f"xor {self.type(MASK)} {x.text}, {self.splat('i1', 'true')}"))
        if not isinstance(node.op, ast.USub) or x.kind not in (INT, VALUE):
            self.fail(node, f"{ast.unparse(node)}: - is for ints and lane values, ~ for conditions of lanes, `not` for others")
        return self.negative(x)

    def arithmetic(self, node: ast.BinOp) -> Term:
        left = self.term(node.left)
        return self.combine(node, node.op, left, self.term(node.right))

    def combine(self, node: ast.AST, op: ast.operator, left: Term, right: Term) -> Term:
        """Two terms under an operator; sums take in products, and round once."""
        if isinstance(op, (ast.Add, ast.Sub)) and (isinstance(left, Product) or isinstance(right, Product)):
            return self.fused(node, isinstance(op, ast.Sub), left, right)
        x, y = self.multiplied(left), self.multiplied(right)
        if type(op) in MASKS:
            x, y = (self.convert(z, MASK, node, "what & and | take") for z in (x, y))
            return Value(MASK, self.emit(f"{MASKS[type(op)]} {self.type(MASK)} {x.text}, {y.text}"))
        if x.kind is INT and y.kind is INT and not isinstance(op, ast.Div):
            return self.int_arithmetic(node, op, x.text, y.text)
        if type(op) not in VALUE_ARITHMETIC:
            pair = f"{x.kind.value} and {y.kind.value}"
            self.fail(node, f"{type(op).__name__} of {pair}: lane values have + - * /, ints + - * // %")
        x, y = (self.convert(z, VALUE, node, "an operand") for z in (x, y))
        if isinstance(op, ast.Mult):
            return Product(x, y)
        return Value(VALUE, self.emit(f"{VALUE_ARITHMETIC[type(op)]} {self.t.type} {x.text}, {y.text}"))

    def multiplied(self, x: Term) -> Value:
        return x if isinstance(x, Value) else Value(VALUE, self.emit(f"fmul {self.t.type} {x.a.text}, {x.b.text}"))

    def fused(self, node: ast.AST, minus: bool, left: Term, right: Term) -> Value:
        """x + a b, x - a b, a b + x, a b - x in one rounding; of two products the right one is taken in."""
        if isinstance(right, Product):
            a, b, x = right.a, right.b, self.convert(self.multiplied(left), VALUE, node, "a term")
            a = self.negative(a) if minus else a
        else:
            assert isinstance(left, Product)
            a, b, x = left.a, left.b, self.convert(right, VALUE, node, "a term")
            x = self.negative(x) if minus else x
        return Value(VALUE, self.intrinsic("fma", a.text, b.text, x.text))

    def int_arithmetic(self, node: ast.AST, op: ast.operator, x: str, y: str) -> Value:
        a, b = whole(x), whole(y)
        if a is not None and b is not None and type(op) in PYTHON_INTS and (b or type(op) not in (ast.FloorDiv, ast.Mod)):
            return Value(INT, str(PYTHON_INTS[type(op)](a, b)))
        if type(op) in INT_ARITHMETIC:
            return Value(INT, self.emit(f"{INT_ARITHMETIC[type(op)]} i64 {x}, {y}"))
        if not isinstance(op, (ast.FloorDiv, ast.Mod)):
            self.fail(node, f"{type(op).__name__} of ints: they have + - * // %")
        if y.isdigit() and int(y) and not int(y) & (int(y) - 1):  # powers of two
            shift = f"ashr i64 {x}, {int(y).bit_length() - 1}"
            return Value(INT, self.emit(shift if isinstance(op, ast.FloorDiv) else f"and i64 {x}, {int(y) - 1}"))
        # LLVM rounds towards zero, Python down: one less, or one divisor more, if signs differ and something remains.
        remainder = self.emit(f"srem i64 {x}, {y}")
        differ = self.emit(f"icmp slt i64 {self.emit(f'xor i64 {remainder}, {y}')}, 0")
        wrong = self.emit(f"and i1 {differ}, {self.emit(f'icmp ne i64 {remainder}, 0')}")
        if isinstance(op, ast.FloorDiv):
            return Value(INT, self.emit(f"add i64 {self.emit(f'sdiv i64 {x}, {y}')}, {self.emit(f'sext i1 {wrong} to i64')}"))
        return Value(INT, self.emit(f"add i64 {remainder}, {self.emit(f'select i1 {wrong}, i64 {y}, i64 0')}"))

    def comparison(self, node: ast.Compare) -> Value:
        op = type(node.ops[0])
        if len(node.ops) > 1 or op not in COMPARE_INTS:
            self.fail(node, f"{ast.unparse(node)}: comparisons are < <= > >= == != of two ints or lane values")
        x, y = self.value(node.left), self.value(node.comparators[0])
        if x.kind is INT and y.kind is INT:
            return Value(FLAG, self.emit(f"icmp {COMPARE_INTS[op]} i64 {x.text}, {y.text}"))
        x, y = (self.convert(z, VALUE, node, "what is compared with a lane value") for z in (x, y))
        return Value(MASK, self.emit(f"fcmp {COMPARE_VALUES[op]} {self.t.type} {x.text}, {y.text}"))

    def logic(self, node: ast.BoolOp) -> Value:
        """`and` and `or`: what comes later is evaluated only if it decides."""
        room, done = self.room(FLAG), self.new("decided")
        word = "and" if isinstance(node.op, ast.And) else "or"
        for k, part in enumerate(node.values):
            x = self.of_kind(part, FLAG, f"what `{word}` takes").text
            self.do(f"store i1 {x}, ptr {room}")
            if k + 1 < len(node.values):
                more = self.new("more")
                self.do(f"br i1 {x}, label " + (f"%{more}, label %{done}" if word == "and" else f"%{done}, label %{more}"))
                self.label(more)
        self.do(f"br label %{done}")
        self.label(done)
        return Value(FLAG, self.emit(f"load i1, ptr {room}"))

    # Records of arrays

    def record(self, node: ast.Subscript) -> Place:
        """Where the record A[i] is; with a lane value i, where those of the lanes are."""
        name = ast.unparse(node.value)
        if name not in self.arrays:
            self.fail(node, f"{ast.unparse(node)}: only arrays that are parameters have records")
        if isinstance(node.slice, ast.Slice):
            self.fail(node, f"{ast.unparse(node)}: a shifted array, A[i:], is an argument of a loop function and nothing else")
        kind, start = self.arrays[name]
        at = self.value(node.slice)
        if at.kind is VALUE and kind in NUMBERS and not isinstance(node.slice, ast.Constant):
            return Place(kind, lanes=self.own_records(kind, start, at))
        return Place(kind, self.shifted(kind, start, self.convert(at, INT, node, "an index").text))

    def own_records(self, kind: Kind, start: str, at: Value) -> list[str]:
        """Where every lane has the number that its own index says."""
        t, found = self.t, []
        for lane in range(t.width):
            of_lane = at.text if t.width == 1 else self.emit(f"extractelement {t.type} {at.text}, i64 {lane}")
            record = self.emit(f"fptosi {t.element} {of_lane} to i64")
            here = self.emit(f"add nsw i64 {self.emit(f'mul nsw i64 {record}, {self.steps[kind]}')}, {lane}")
            found.append(self.emit(f"getelementptr inbounds {t.element}, ptr {start}, i64 {here}"))
        return found

    def shifted(self, kind: Kind, start: str, index: str) -> str:
        whole = {Kind.INTS: "i64", Kind.TABLE: "i32"}
        stored = whole[kind] if kind in whole else f"[{self.steps[kind]} x {self.t.element}]"
        return self.emit(f"getelementptr inbounds {stored}, ptr {start}, i64 {index}")

    def read(self, place: Place) -> Value:
        kind, at = place.kind, place.at
        if place.lanes:
            return self.gathered(place.lanes)
        if kind in NUMBERS:
            return Value(VALUE, self.emit(f"load {self.t.type}, ptr {at}, align {self.t.bytes}, {MEMORY[kind]}"))
        if kind is Kind.INTS:
            return Value(INT, self.emit(f"load i64, ptr {at}, align 8, {MEMORY[kind]}"))
        small = self.emit(f"load i32, ptr {at}, align 4, {MEMORY[kind]}")
        return Value(INT, self.emit(f"sext i32 {small} to i64"))

    def gathered(self, places: list[str]) -> Value:
        t = self.t
        numbers = [self.emit(f"load {t.element}, ptr {at}, align {t.bytes}, {MEMORY[Kind.LANES]}") for at in places]
        if t.width == 1:
            return Value(VALUE, numbers[0])
        x = "poison"
        for lane, number in enumerate(numbers):
            x = self.emit(f"insertelement {t.type} {x}, {t.element} {number}, i64 {lane}")
        return Value(VALUE, x)

    def scatter(self, node: ast.AST, places: list[str], x: Value) -> None:
        t, x = self.t, self.convert(x, VALUE, node, "a record of a Lane array")
        for lane, at in enumerate(places):
            number = x.text if t.width == 1 else self.emit(f"extractelement {t.type} {x.text}, i64 {lane}")
            self.do(f"store {t.element} {number}, ptr {at}, align {t.bytes}, {MEMORY[Kind.LANES]}")

    def write(self, node: ast.AST, place: Place, x: Value) -> None:
        kind, at = place.kind, place.at
        if place.lanes:
            return self.scatter(node, place.lanes, x)
        if kind is Kind.TABLE:
            self.fail(node, "Tables are only read; an Ints array can be written")
        whole = VALUE if kind in NUMBERS else INT
        x = self.convert(x, whole, node, f"a record of {kind.value}")
        align = self.t.bytes if kind in NUMBERS else 8
        self.do(f"store {self.type(whole)} {x.text}, ptr {at}, align {align}, {MEMORY[kind]}")

    def subscript(self, node: ast.Subscript) -> Value:
        return self.read(self.record(node))

    # Calls

    def call(self, node: ast.Call) -> Value:
        x = self.called(node)
        if x.kind is Kind.NOTHING:
            self.fail(node, f"{ast.unparse(node.func)} returns nothing")
        return x

    def called(self, node: ast.Call) -> Value:
        """A call, of a function that may return nothing."""
        if not isinstance(node.func, ast.Name) or node.func.id in self.names or node.func.id in self.arrays:
            self.fail(node, f"{ast.unparse(node.func)} cannot be called: functions are called by their plain names")
        found, name = self.found(node.func), node.func.id
        if node.keywords or [a for a in node.args if isinstance(a, ast.Starred)]:
            self.fail(node, f"{name}: arguments are given by position")
        signature = self.scope.signature(found, node)
        if signature is not None:
            return self.call_loops(node, name, found, signature)
        built_in = next((f for f in BUILT_IN if f.function is found), None)
        if built_in is None:
            self.fail(node, f"{name} is no loop function. Known are loop functions and {', '.join(f.name for f in BUILT_IN)}")
        if len(node.args) != built_in.arguments:
            self.fail(node, f"{name} takes {built_in.arguments} arguments; {len(node.args)} are given")
        return built_in.write(self, node, [self.value(a) for a in node.args])

    def one_by_one(self, name: str, arguments: list[ast.expr], signature: Signature) -> list[ast.expr]:
        """Arguments of a function, with all arrays that are given together one by one."""
        found: list[ast.expr] = []
        for a in arguments:
            fields = [plain(x) for x in self.arrays if isinstance(a, ast.Name) and x.startswith(f"{a.id}.")]
            given = [ast.copy_location(ast.Attribute(a, field), a) for field in fields] or [a]
            of = self.found(a.func) if isinstance(a, ast.Call) and isinstance(a.func, ast.Name) else None
            if isinstance(a, ast.Call) and isinstance(of, type) and issubclass(of, Arrays):
                fields, given = list(of.listed()), a.args
            taken = [plain(p) for p, _ in signature.parameters[len(found) :][: len(fields)]]
            if fields and (fields != taken or len(given) != len(fields)):
                self.fail(a, f"{name} takes {', '.join(taken)} here; {ast.unparse(a)} stands for {', '.join(fields)}")
            found += given
        return found

    def call_loops(self, node: ast.Call, name: str, found: Any, signature: Signature) -> Value:
        arguments = self.one_by_one(name, node.args, signature)
        if len(arguments) != len(signature.parameters):
            listed = ", ".join(p for p, _ in signature.parameters)
            self.fail(node, f"{name} takes {len(signature.parameters)} arguments ({listed}); {len(arguments)} are given")
        given = []
        for argument, (parameter, kind) in zip(arguments, signature.parameters, strict=True):
            of = self.array(argument, kind, f"{parameter} of {name}") if kind in ARRAYS else None
            x = of or self.of_kind(argument, kind, f"{parameter} of {name}").text
            given.append(f"{self.type(kind)} {x}")
        values = {p: whole(x.split()[1]) for x, (p, kind) in zip(given, signature.parameters, strict=True) if kind is INT}
        known = tuple((p, n) for p, n in values.items() if n is not None)
        if self.known and known:
            return self.call_as(self.scope.signature(found, node, known) or signature, given)
        if not signature.small or signature.small in dict(known):
            return self.call_as(signature, given)
        return self.call_by_size(node, found, signature, given)

    def call_as(self, signature: Signature, given: list[str]) -> Value:
        """The call of one code of a loop function."""
        call = f"call {self.type(signature.result)} @{signature.symbol}({', '.join(given)})"
        if signature.result is Kind.NOTHING:
            self.do(call)
            return Value(Kind.NOTHING, "")
        return Value(signature.result, self.emit(call))

    def call_by_size(self, node: ast.Call, found: Any, signature: Signature, given: list[str]) -> Value:
        """The call of a function that has code of its own for small values of a parameter: which, is decided here."""
        if signature.result is not Kind.NOTHING:
            self.fail(node, f"{ast.unparse(node.func)} has a Small parameter, so it returns nothing")
        size = given[[p for p, _ in signature.parameters].index(signature.small)]
        others, end = self.new("others"), self.new("end")
        own = {n: self.new("size") for n in range(1, FEW + 1)}
        self.do(f"switch {size}, label %{others} [{' '.join(f'i64 {n}, label %{label}' for n, label in own.items())}]")
        for n, label in own.items():
            self.label(label)
            self.call_as(self.scope.signature(found, node, ((signature.small, n),)) or signature, given)
            self.do(f"br label %{end}")
        self.label(others)
        self.call_as(signature, given)
        self.do(f"br label %{end}")
        self.label(end)
        return Value(Kind.NOTHING, "")

    def array(self, node: ast.expr, kind: Kind, purpose: str) -> str:
        """An array that is passed on, whole or from a record on."""
        shift = node.slice if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) else None
        base = node.value if isinstance(node, ast.Subscript) and shift else node
        name = ast.unparse(base)
        if name not in self.arrays:
            self.fail(node, f"{purpose} is {kind.value}: give a parameter A, or A[i:] from its record i on")
        found, start = self.arrays[name]
        if found is not kind:
            self.fail(node, f"{purpose} is {kind.value}; {name} is {found.value}")
        if shift is None:
            return start
        if shift.lower is None or shift.upper is not None or shift.step is not None:
            self.fail(node, f"{ast.unparse(node)}: arrays are shifted as A[i:]")
        return self.shifted(kind, start, self.of_kind(shift.lower, INT, "a shift").text)


HANDLERS: Mapping[type[ast.expr], Callable[..., Term]] = {
    ast.Constant: Expressions.literal,
    ast.Name: Expressions.name,
    ast.UnaryOp: Expressions.unary,
    ast.BinOp: Expressions.arithmetic,
    ast.Compare: Expressions.comparison,
    ast.BoolOp: Expressions.logic,
    ast.Subscript: Expressions.subscript,
    ast.Call: Expressions.call,
}
