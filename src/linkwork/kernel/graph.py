"""From traced outputs to a short list of operations: topological, without common subexpressions, with fused multiply-adds.

Every value is `(op, operands)`; operands are indices of earlier values. The list is what the IR writer prints line by
line. Fusing happens here, not in LLVM, so that every vector width performs exactly the same roundings.
"""

from __future__ import annotations

from typing import Any

from ..errors import CompileError
from .symbol import Symbol, ca, minus_zero, wrap

Op = tuple[Any, ...]

BINARY = {
    "ADD": "add",
    "SUB": "sub",
    "MUL": "mul",
    "DIV": "div",
    "LT": "lt",
    "LE": "le",
    "EQ": "eq",
    "NE": "ne",
    "AND": "and",
    "OR": "or",
    "FMIN": "minimum",
    "FMAX": "maximum",
    "POW": "pow",
    "CONSTPOW": "pow",
    "ATAN2": "atan2",
    "FMOD": "fmod",
    "COPYSIGN": "copysign",
    "HYPOT": "hypot",
    "IF_ELSE_ZERO": "if_else_zero",
}
UNARY = {
    "NEG": "neg",
    "SQRT": "sqrt",
    "SIN": "sin",
    "COS": "cos",
    "TAN": "tan",
    "ASIN": "asin",
    "ACOS": "acos",
    "ATAN": "atan",
    "EXP": "exp",
    "LOG": "log",
    "SINH": "sinh",
    "COSH": "cosh",
    "TANH": "tanh",
    "ASINH": "asinh",
    "ACOSH": "acosh",
    "ATANH": "atanh",
    "ERF": "erf",
    "LOG1P": "log1p",
    "EXPM1": "expm1",
    "FLOOR": "floor",
    "CEIL": "ceil",
    "FABS": "abs",
    "SIGN": "sign",
    "NOT": "not",
    "ASSIGN": "copy",
}
COMMUTATIVE = {"add", "mul", "and", "or", "eq", "ne"}
_names: dict[int, tuple[str, str]] = {}


def _opcodes() -> dict[int, tuple[str, str]]:
    """CasADi's operation numbers to (kind, our name), read once."""
    if not _names:
        for kind, table in (("binary", BINARY), ("unary", UNARY)):
            for theirs, ours in table.items():
                _names[getattr(ca, f"OP_{theirs}")] = (kind, ours)
        for name in ("CONST", "INPUT", "OUTPUT", "SQ", "TWICE", "INV"):
            _names[getattr(ca, f"OP_{name}")] = ("special", name)
    return _names


class Graph:
    """Values in order of computation; equal expressions get equal numbers."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self._numbers: dict[Op, int] = {}

    def number(self, *op: Any) -> int:
        """The index of an operation, new or already known."""
        if op[0] in COMMUTATIVE and op[2] < op[1]:
            op = (op[0], op[2], op[1])
        key = ("const", op[1].hex()) if op[0] == "const" else op  # -0.0 equals 0.0 and is another constant
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = len(self.ops)
            self.ops.append(op)
        return known

    def constant(self, value: float) -> int:
        return self.number("const", float(value))

    def apply(self, name: str, *args: int) -> int:
        """Number an operation after local simplification."""
        if name == "copy":
            return args[0]
        if name == "add":
            return self._add(*args)
        if name == "sub" and self.ops[args[1]][0] == "neg":
            return self.number("add", args[0], self.ops[args[1]][1])
        if name == "mul" and all(self.ops[a][0] == "neg" for a in args):
            return self.number("mul", *(self.ops[a][1] for a in args))
        if name == "neg" and self.ops[args[0]][0] == "neg":
            return self.ops[args[0]][1]
        return self.number(name, *args)

    def _add(self, a: int, b: int) -> int:
        x, y = self.ops[a], self.ops[b]
        if x[0] == "if_else_zero" and y[0] == "if_else_zero":  # CasADi's if_else: c ? a : 0  +  !c ? b : 0
            for p, q in ((x, y), (y, x)):
                if self.ops[q[1]] == ("not", p[1]):
                    return self.number("select", p[1], p[2], q[2])
        if y[0] == "neg":
            return self.number("sub", a, y[1])
        if x[0] == "neg":
            return self.number("sub", b, x[1])
        return self.number("add", a, b)


def build(inputs: list[Symbol], outputs: list[Any]) -> tuple[list[Op], list[int]]:
    """Operations and the indices of the outputs; `("input", k)` is the k-th input."""
    names = _opcodes()
    f = ca.Function("rule", [ca.vertcat(*(s.sx for s in inputs), minus_zero())], [ca.vertcat(*(wrap(o) for o in outputs))])
    graph = Graph()
    register: dict[int, int] = {}
    results = [graph.constant(0.0)] * len(outputs)
    rows = _output_rows(f)
    for k in range(f.n_instructions()):
        code = f.instruction_id(k)
        if code not in names:
            raise CompileError(f"CasADi operation {code} has no machine code here; rewrite the rule with lw.math functions.")
        kind, name = names[code]
        if kind == "special":
            if name == "OUTPUT":
                results[rows[f.instruction_output(k)[1]]] = register[f.instruction_input(k)[0]]
                continue
            register[f.instruction_output(k)[0]] = _special(graph, f, k, name, register)
            continue
        args = [register[i] for i in f.instruction_input(k)[: 2 if kind == "binary" else 1]]
        register[f.instruction_output(k)[0]] = graph.apply(name, *args)
    return fuse(graph.ops, results)


def _output_rows(f: Any) -> list[int]:
    """The dense row of every structural nonzero of the output (exact zeros are not computed)."""
    return [int(r) for r in f.sparsity_out(0).row()]


def _special(graph: Graph, f: Any, k: int, name: str, register: dict[int, int]) -> int:
    if name == "CONST":
        return graph.constant(f.instruction_constant(k))
    if name == "INPUT":
        index = f.instruction_input(k)[1]
        return graph.number("input", index) if index < f.nnz_in(0) - 1 else graph.constant(-0.0)
    x = register[f.instruction_input(k)[0]]
    if name == "SQ":
        return graph.apply("mul", x, x)
    if name == "TWICE":
        return graph.apply("add", x, x)
    return graph.number("div", graph.constant(1.0), x)


def share_reciprocals(ops: list[Op], results: list[int]) -> tuple[list[Op], list[int]]:
    """Divisions by the same value become products with one reciprocal.

    CasADi turns x * (1 / y) into x / y; this turns it back. The product is within 1.5 ulp of the quotient where 1 / y is a
    normal number. It is infinite where 1 / y overflows, for |y| up to 2^-1024 (float32: 2^-128), which is subnormal: whatever
    told these apart would cost the divisions that sharing saves.
    """
    divisors: dict[int, int] = {}
    for op in ops:
        if op[0] == "div":
            divisors[op[2]] = divisors.get(op[2], 0) + 1
    if max(divisors.values(), default=0) < 2:
        return ops, results
    graph = Graph()
    new: list[int] = []
    for op in ops:
        if op[0] in ("const", "input"):
            new.append(graph.number(*op))
        elif op[0] == "div" and divisors[op[2]] > 1:
            reciprocal = graph.number("div", graph.constant(1.0), new[op[2]])
            unit = ops[op[1]] == ("const", 1.0)
            new.append(reciprocal if unit else graph.apply("mul", new[op[1]], reciprocal))
        else:
            new.append(graph.apply(op[0], *(new[i] for i in op[1:])))
    return graph.ops, [new[r] for r in results]


def fuse(ops: list[Op], results: list[int]) -> tuple[list[Op], list[int]]:
    """Merge products that only feed sums into fused multiply-adds, and drop what nothing uses.

    fma(a, b, c) = a b + c, fms = a b - c, fnma = c - a b. A product is merged if all its uses are sums: computing it again
    in each is free. Of two products in one sum the later is merged: the earlier is more likely to be ready.
    """
    ops, results = share_reciprocals(ops, results)
    other_uses = set(results)
    for op in ops:
        if op[0] not in ("add", "sub") or op[1] == op[2]:
            other_uses.update(operands(op))
    products = {i for i, op in enumerate(ops) if op[0] == "mul" and i not in other_uses}
    # A product that loses a sum to a later product stays, and then it need not be merged elsewhere either.
    kept = {min(op[1], op[2]) for op in ops if op[0] in ("add", "sub") and op[1] in products and op[2] in products}
    products -= kept
    fused: list[Op] = []
    for op in ops:
        name = op[0]
        if name in ("add", "sub") and op[1] != op[2]:
            a, b = op[1], op[2]
            if b in products:
                op = ("fma" if name == "add" else "fnma", *ops[b][1:], a)
            elif a in products:
                op = ("fma" if name == "add" else "fms", *ops[a][1:], b)
        fused.append(op)
    return _compact(fused, results)


def operands(op: Op) -> tuple[int, ...]:
    """The values that an operation reads."""
    return () if op[0] in ("const", "input") else op[1:]


def _compact(ops: list[Op], results: list[int]) -> tuple[list[Op], list[int]]:
    live = [False] * len(ops)
    for r in results:
        live[r] = True
    for i in reversed(range(len(ops))):
        if live[i]:
            for j in operands(ops[i]):
                live[j] = True
    new = {}
    kept: list[Op] = []
    for i, op in enumerate(ops):
        if live[i]:
            new[i] = len(kept)
            kept.append(op if op[0] in ("const", "input") else (op[0], *(new[j] for j in op[1:])))
    return kept, [new[r] for r in results]


def flops(ops: list[Op]) -> int:
    """Floating-point operations of a list: a fused multiply-add counts two."""
    weight = {"add": 1, "sub": 1, "mul": 1, "div": 1, "neg": 0, "sqrt": 1, "fma": 2, "fms": 2, "fnma": 2}
    return sum(weight.get(op[0], 0) for op in ops)
