"""Statements of loop functions as LLVM IR: assignments, branches, loops, returns."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from .lanes import Lanes
from .loop_expressions import FEW, Expressions, whole
from .loop_writer import ARRAYS, FLAG, INT, Kind, Scope, Signature, Value

STATEMENTS = (
    "assignments to one name or record, for over range, while, if, break, continue, return, pass, calls of loop functions"
)


MOST_COPIES = 2 * FEW  # of the statements of a loop


class Statements(Expressions):
    """The writer of one function. A method for a statement says whether the text goes on behind it."""

    def __init__(self, scope: Scope, lanes: Lanes, signature: Signature) -> None:
        super().__init__(scope, lanes, signature.stride)
        self.signature = signature
        self.loops: list[tuple[str, str]] = []  # where `continue` and `break` go, innermost last
        self.known = dict(signature.known)
        for k, (name, kind) in enumerate(signature.parameters):
            if name in signature.scratch and signature.small in self.known:
                self.arrays[name] = (kind, self.records(self.known[signature.small]))
            elif kind in ARRAYS:
                self.arrays[name] = (kind, f"%p{k}")
            else:
                self.names[name] = (kind, self.room(kind))
                self.assigned.add(name)
                self.do(f"store {self.type(kind)} %p{k}, ptr {self.names[name][1]}")

    def function(self, tree: ast.FunctionDef) -> str:
        """The whole function; code for known sizes becomes a part of its callers."""
        self.variables = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.variables -= {n.target.id for n in ast.walk(tree) if isinstance(n, ast.For) and isinstance(n.target, ast.Name)}
        for name in self.variables & set(self.known):
            self.fail(tree, f"{name} stays as it is given: it decides which code runs")
        goes_on, result = self.block(tree.body), self.signature.result
        if goes_on and result is not Kind.NOTHING:
            self.fail(tree, f"it returns {result.value}, so every path must end in `return`")
        if goes_on:
            self.do("ret void")
        listed = ", ".join(f"{self.type(kind)} %p{k}" for k, (_, kind) in enumerate(self.signature.parameters))
        attributes = "alwaysinline #0" if self.signature.known else "#0"
        head = f"define internal {self.type(result)} @{self.signature.symbol}({listed}) {attributes} {{"
        return "\n".join([head, "entry:", *self.slots, *self.lines, "}"])

    def records(self, n: int) -> str:
        """Room for a Scratch array of a function for the size n: as many numbers as a packed symmetric matrix has. Indices are
        known, so LLVM turns them into registers."""
        name = "%" + self.new("a")
        self.slots.append(f"  {name} = alloca [{n * (n + 1) // 2} x {self.t.type}]")
        return name

    def block(self, statements: Sequence[ast.stmt]) -> bool:
        """Statements one after the other; nothing behind a jump is reached."""
        for node in statements:
            handler = HANDLERS.get(type(node))
            if handler is None:
                self.fail(node, f"{type(node).__name__} is not in the language. Statements: {STATEMENTS}")
            if not handler(self, node):
                return False
        return True

    # Assignments

    def assign(self, node: ast.Assign) -> bool:
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, (ast.Name, ast.Subscript)):
            self.fail(node, f"{ast.unparse(node)}: one name, or one record A[i], is assigned at a time")
        x = self.value(node.value)
        if isinstance(target, ast.Subscript):
            self.write(node, self.record(target), x)
        else:
            self.set(node, target.id, x)
        return True

    def set(self, node: ast.AST, name: str, x: Value) -> None:
        """Give a variable a value; its first one decides what it is."""
        if name in self.arrays:
            self.fail(node, f"{name} is {self.arrays[name][0].value} and stays it; records are assigned, {name}[i] = ...")
        if name not in self.names:
            self.names[name] = (x.kind, self.room(x.kind))
        kind, room = self.names[name]
        x = self.convert(x, kind, node, f"{name}, by its first assignment,")
        self.do(f"store {self.type(kind)} {x.text}, ptr {room}")
        self.assigned.add(name)

    def augment(self, node: ast.AugAssign) -> bool:
        """x += y is x = x + y, with the place of x found once."""
        if isinstance(node.target, ast.Subscript):
            place = self.record(node.target)
            x = self.combine(node, node.op, self.read(place), self.term(node.value))
            self.write(node, place, self.multiplied(x))
        elif isinstance(node.target, ast.Name):
            x = self.multiplied(self.combine(node, node.op, self.name(node.target), self.term(node.value)))
            self.set(node, node.target.id, x)
        else:
            self.fail(node, f"{ast.unparse(node)}: one name, or one record A[i], is assigned at a time")
        return True

    def expression(self, node: ast.Expr) -> bool:
        if isinstance(node.value, ast.Call):
            self.called(node.value)
        elif not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            self.fail(node, f"{ast.unparse(node)} has no effect; only calls of loop functions stand alone")
        return True

    def nothing(self, node: ast.Pass) -> bool:
        return True

    # Branches and loops

    def condition(self, node: ast.expr) -> str:
        return self.of_kind(node, FLAG, "what `if` and `while` ask for").text

    def branch(self, node: ast.If) -> bool:
        then, other, end = self.new("then"), self.new("else"), self.new("end")
        self.do(f"br i1 {self.condition(node.test)}, label %{then}, label %{other}")
        before, after = set(self.assigned), []
        for label, statements in ((then, node.body), (other, node.orelse)):
            self.assigned = set(before)
            self.label(label)
            if self.block(statements):
                self.do(f"br label %{end}")
                after.append(self.assigned)
        if not after:
            return False
        self.assigned = set.intersection(*after)
        self.label(end)
        return True

    def body(self, node: ast.For | ast.While, again: str, end: str) -> None:
        """What a loop repeats. It may never run, so what it assigns is not certain behind it."""
        if node.orelse:
            self.fail(node, "loops have no else")
        before = set(self.assigned)
        self.loops.append((again, end))
        if self.block(node.body):
            self.do(f"br label %{again}")
        self.loops.pop()
        self.assigned = before

    def repeat_while(self, node: ast.While) -> bool:
        head, body, end = self.new("while"), self.new("body"), self.new("end")
        self.do(f"br label %{head}")
        self.label(head)
        self.do(f"br i1 {self.condition(node.test)}, label %{body}, label %{end}")
        self.label(body)
        self.body(node, head, end)
        self.label(end)
        return True

    def repeat_for(self, node: ast.For) -> bool:
        if not isinstance(node.target, ast.Name):
            self.fail(node, "a loop counts with one name, as in `for i in range(n)`")
        start, stop, step = self.bounds(node)
        first, last, counts = whole(start), whole(stop), node.target.id not in self.variables
        if self.known and counts and first is not None and last is not None and len(range(first, last, step)) <= MOST_COPIES:
            return self.write_out(node, node.target.id, range(first, last, step))
        head, body, again, end = self.new("for"), self.new("body"), self.new("again"), self.new("end")
        room, before = self.room(INT), set(self.assigned)
        self.do(f"store i64 {start}, ptr {room}")
        self.do(f"br label %{head}")
        self.label(head)
        i = self.emit(f"load i64, ptr {room}")
        inside = self.emit(f"icmp {'slt' if step > 0 else 'sgt'} i64 {i}, {stop}")
        self.do(f"br i1 {inside}, label %{body}, label %{end}")
        self.label(body)
        self.set(node, node.target.id, Value(INT, i))
        self.body(node, again, end)
        self.assigned = before
        self.label(again)
        self.do(f"store i64 {self.emit(f'add nsw i64 {i}, {step}')}, ptr {room}")
        self.do(f"br label %{head}")
        self.label(end)
        return True

    def write_out(self, node: ast.For, counter: str, values: range) -> bool:
        """A loop of known length in code for known sizes: its statements once for every value of the counter."""
        end, before = self.new("end"), self.known.get(counter)
        for value in values:
            again = self.new("again")
            self.known[counter] = value
            self.body(node, again, end)
            self.label(again)
        self.known.pop(counter, None)
        if before is not None:
            self.known[counter] = before
        self.do(f"br label %{end}")
        self.label(end)
        return True

    def bounds(self, node: ast.For) -> tuple[str, str, int]:
        """First, end and step of a range."""
        call = node.iter
        known = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
        given = call.args if isinstance(call, ast.Call) and known and not call.keywords else []
        if not 1 <= len(given) <= 3:
            self.fail(node, f"loops run over range(end), range(start, end) or range(start, end, step), not {ast.unparse(call)}")
        step = ast.unparse(given[2]) if len(given) == 3 else "1"
        if not step.removeprefix("-").isdigit() or not int(step):
            self.fail(node, f"the step of a range is a whole number as it stands, and not 0; this is {step}")
        first, *second = (self.of_kind(a, INT, "a bound of range").text for a in given[:2])
        return (first, second[0], int(step)) if second else ("0", first, int(step))

    def jump(self, node: ast.Break | ast.Continue) -> bool:
        again, end = self.loops[-1]
        self.do(f"br label %{end if isinstance(node, ast.Break) else again}")
        return False

    def leave(self, node: ast.Return) -> bool:
        result = self.signature.result
        if (node.value is None) is not (result is Kind.NOTHING):
            self.fail(node, f"the function returns {result.value}, as its annotation says")
        if node.value is None:
            self.do("ret void")
        else:
            x = self.of_kind(node.value, result, "what is returned, as the annotation says,")
            self.do(f"ret {self.type(result)} {x.text}")
        return False


HANDLERS: Mapping[type[ast.stmt], Callable[..., bool]] = {
    ast.Assign: Statements.assign,
    ast.AugAssign: Statements.augment,
    ast.Expr: Statements.expression,
    ast.Pass: Statements.nothing,
    ast.If: Statements.branch,
    ast.While: Statements.repeat_while,
    ast.For: Statements.repeat_for,
    ast.Break: Statements.jump,
    ast.Continue: Statements.jump,
    ast.Return: Statements.leave,
}
