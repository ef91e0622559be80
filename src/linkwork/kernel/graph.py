"""From traced outputs to a short list of operations: topological, without common subexpressions, with fused multiply-adds.

Every value is `(op, operands)`; operands are indices of earlier values. The list is what the IR writer prints line by
line. Fusing happens here, not in LLVM, so that every vector width performs exactly the same roundings.
"""

from __future__ import annotations

from typing import Any

from .symbol import COMMUTATIVE, Symbol, ordered

Op = tuple[Any, ...]


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


def build(inputs: list[Symbol], outputs: list[Any]) -> tuple[list[Op], list[int]]:
    """Operations and the indices of the outputs; `("input", k)` is the k-th input."""
    graph = Graph()
    place = {id(s): k for k, s in enumerate(inputs)}
    index: dict[int, int] = {}

    def number(x: Any) -> int:
        return index[id(x)] if type(x) is Symbol else graph.constant(x)

    for node in ordered(inputs, outputs):
        if node.op == "variable":
            index[id(node)] = graph.number("input", place[id(node)])
        elif node.op == "const":
            index[id(node)] = graph.constant(node.args[0])
        else:
            index[id(node)] = graph.number(node.op, *(number(a) for a in node.args))
    return fuse(graph.ops, [number(x) for x in outputs])


def share_reciprocals(ops: list[Op], results: list[int]) -> tuple[list[Op], list[int]]:
    """Divisions by the same value become products with one reciprocal.

    The product is within 1.5 ulp of the quotient where 1 / y is a normal number. It is infinite where 1 / y overflows, for |y|
    up to 2^-1024 (float32: 2^-128), which is subnormal: whatever told these apart would cost the divisions that sharing saves.
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
            new.append(reciprocal if unit else graph.number("mul", new[op[1]], reciprocal))
        else:
            new.append(graph.number(op[0], *(new[i] for i in op[1:])))
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
