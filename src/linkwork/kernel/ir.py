"""LLVM IR text of kernels, with explicit vectors.

A kernel runs one rule at `count` nodes of one class:

    void kernel(ptr entries, i64 count, ptr bases)

`bases` holds the start address of every array; an entry holds, for every (array, role) that the kernel touches, the
offset of that node's record in scalars (i32). Arrays are in lanes (each scalar is `width` values wide) or uniform
(one value, read by all lanes), chosen when the kernel is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import graph, vector_math
from .graph import Op
from .lanes import Lanes
from .trace import Kernel

COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
INTRINSIC = {
    "sqrt": "sqrt",
    "abs": "fabs",
    "floor": "floor",
    "ceil": "ceil",
    "minimum": "minimum",
    "maximum": "maximum",
    "copysign": "copysign",
}
VECTOR_BITS = 512  # upper bound for LLVM's choice of registers; the target decides what it really has


class Writer:
    """Collects the lines of one function body."""

    def __init__(self, lanes: Lanes) -> None:
        self.t = lanes
        self.lines: list[str] = []
        self.names: list[str] = []
        self.functions: set[str] = set()
        self.booleans: dict[int, str] = {}
        self.count = 0

    def emit(self, text: str) -> str:
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def value(self, ops: list[Op], i: int) -> None:
        """Append the lines that compute value i; its name goes to `names`."""
        t, op = self.t, ops[i]
        kind, args = op[0], op[1:]
        if kind == "const":
            self.names.append(t.constant(args[0]))
            return
        x = [self.names[a] for a in args]
        if kind in ARITHMETIC:
            name = self.emit(f"{ARITHMETIC[kind]} {t.type} {x[0]}, {x[1]}")
        elif kind in ("fma", "fms", "fnma"):
            a = self.emit(f"fneg {t.type} {x[0]}") if kind == "fnma" else x[0]
            c = self.emit(f"fneg {t.type} {x[2]}") if kind == "fms" else x[2]
            name = self.call("fma", a, x[1], c)
        elif kind == "neg":
            name = self.emit(f"fneg {t.type} {x[0]}")
        elif kind in INTRINSIC:
            name = self.call(INTRINSIC[kind], *x)
        elif kind in ("sin", "cos"):
            name = self.sincos(ops, i)
        elif kind in COMPARE:
            name = self.truth(i, f"fcmp {COMPARE[kind]} {t.type} {x[0]}, {x[1]}")
        elif kind in ("and", "or"):
            name = self.truth(i, f"{kind} {t.bool_type} {self.boolean(args[0])}, {self.boolean(args[1])}")
        elif kind == "not":
            ones = "true" if t.width == 1 else "<" + ", ".join(["i1 true"] * t.width) + ">"
            name = self.truth(i, f"xor {t.bool_type} {self.boolean(args[0])}, {ones}")
        elif kind in ("select", "if_else_zero"):
            other = x[2] if kind == "select" else t.constant(0.0)
            name = self.emit(f"select {t.bool_type} {self.boolean(args[0])}, {t.type} {x[1]}, {t.type} {other}")
        elif kind == "sign":
            name = self.sign(x[0])
        else:
            self.functions.add(kind)
            name = self.emit(f"call {t.type} @lw_{kind}(" + ", ".join(f"{t.type} {a}" for a in x) + ")")
        self.names.append(name)

    def call(self, intrinsic: str, *x: str) -> str:
        t = self.t
        return self.emit(f"call {t.type} @llvm.{intrinsic}.{t.suffix}(" + ", ".join(f"{t.type} {a}" for a in x) + ")")

    def sincos(self, ops: list[Op], i: int) -> str:
        """Sine and cosine of one argument share one call."""
        self.functions.add("sincos")
        angle = ops[i][1]
        pair = f"%sincos{angle}"
        both = f"{{ {self.t.type}, {self.t.type} }}"
        if not any(line.startswith(f"  {pair} = ") for line in self.lines):
            self.lines.append(f"  {pair} = call {both} @lw_sincos({self.t.type} {self.names[angle]})")
        return self.emit(f"extractvalue {both} {pair}, {0 if ops[i][0] == 'sin' else 1}")

    def truth(self, i: int, text: str) -> str:
        """A condition: kept as booleans, and as 0 or 1 for whoever computes with it."""
        self.booleans[i] = name = self.emit(text)
        return self.emit(f"uitofp {self.t.bool_type} {name} to {self.t.type}")

    def boolean(self, i: int) -> str:
        """The boolean form of value i: any number that is not zero is true."""
        if i not in self.booleans:
            self.booleans[i] = self.emit(f"fcmp une {self.t.type} {self.names[i]}, {self.t.constant(0.0)}")
        return self.booleans[i]

    def sign(self, x: str) -> str:
        """-1, 0 (with its sign), 1 or NaN."""
        t = self.t
        one = self.call("copysign", t.constant(1.0), x)
        known = self.emit(f"fcmp one {t.type} {x}, {t.constant(0.0)}")
        return self.emit(f"select {t.bool_type} {known}, {t.type} {one}, {t.type} {x}")


def operands(kernel: Kernel) -> list[tuple[str, str]]:
    """The (array, role) pairs of a kernel, in the order of its entries."""
    pairs = dict.fromkeys((p[0], p[1]) for _, p in kernel.loads)
    pairs.update(dict.fromkeys((p[0], p[1]) for _, p in kernel.stores))
    return list(pairs)


def function(kernel: Kernel, name: str, arrays: Sequence[str], uniform: frozenset[str], t: Lanes) -> tuple[str, set[str], int]:
    """The text of one kernel, the vector functions it calls and its flops per lane. `arrays` fixes the order of `bases`."""
    symbols = [s for s, _ in kernel.loads]
    ops, results = graph.build(symbols, [v for v, _ in kernel.stores])
    pairs = operands(kernel)
    w = Writer(t)
    stores: dict[int, list[int]] = {}
    in_place = {p for _, p in kernel.loads} & {p for _, p in kernel.stores}
    late = []
    for k, (_, place) in enumerate(kernel.stores):
        (late if place in in_place else stores.setdefault(results[k], [])).append(k)

    def address(place: tuple[str, str, int]) -> str:
        array, role, index = place
        pair = pairs.index((array, role))
        scale = 1 if array in uniform else t.width
        return w.emit(f"getelementptr inbounds {t.element}, ptr %r{pair}, i64 {index * scale}")

    def store(k: int) -> None:
        place = kernel.stores[k][1]
        at = address(place)
        if place[0] in uniform and t.width > 1:
            raise AssertionError(f"a kernel cannot store lanes into the uniform array {place[0]}")
        w.lines.append(f"  store {t.type} {w.names[results[k]]}, ptr {at}, align {t.bytes}")

    for i, op in enumerate(ops):
        if op[0] == "input":
            place = kernel.loads[op[1]][1]
            at = address(place)
            if place[0] in uniform and t.width > 1:
                x = w.emit(f"load {t.element}, ptr {at}, align {t.bytes}")
                one = w.emit(f"insertelement {t.type} poison, {t.element} {x}, i64 0")
                zero = "<" + ", ".join(["i32 0"] * t.width) + ">"
                w.names.append(w.emit(f"shufflevector {t.type} {one}, {t.type} poison, <{t.width} x i32> {zero}"))
            else:
                w.names.append(w.emit(f"load {t.type}, ptr {at}, align {t.bytes}"))
        else:
            w.value(ops, i)
        for k in stores.get(i, ()):
            store(k)
    for k in late:
        store(k)
    return _framed(name, pairs, arrays, uniform, t, w.lines), w.functions, graph.flops(ops)


def _framed(
    name: str, pairs: list[tuple[str, str]], arrays: Sequence[str], uniform: frozenset[str], t: Lanes, body: list[str]
) -> str:
    """The loop over nodes around a body."""
    head, setup = [], []
    for i, (array, _) in enumerate(pairs):
        head.append(f"  %b{i}p = getelementptr ptr, ptr %bases, i64 {arrays.index(array)}")
        head.append(f"  %b{i} = load ptr, ptr %b{i}p")
        scale = t.bytes * (1 if array in uniform else t.width)
        setup.append(f"  %o{i}p = getelementptr i32, ptr %entry, i64 {i}")
        setup.append(f"  %o{i}n = load i32, ptr %o{i}p, align 4")
        setup.append(f"  %o{i}w = zext i32 %o{i}n to i64")
        setup.append(f"  %o{i} = mul i64 %o{i}w, {scale}")
        setup.append(f"  %r{i} = getelementptr i8, ptr %b{i}, i64 %o{i}")
    return "\n".join(
        [
            f"define void @{name}(ptr noalias %entries, i64 %count, ptr noalias %bases) #0 {{",
            "start:",
            *head,
            "  br label %node",
            "node:",
            "  %i = phi i64 [ 0, %start ], [ %next, %node ]",
            f"  %at = mul i64 %i, {4 * max(1, len(pairs))}",
            "  %entry = getelementptr i8, ptr %entries, i64 %at",
            *setup,
            *body,
            "  %next = add i64 %i, 1",
            "  %more = icmp slt i64 %next, %count",
            "  br i1 %more, label %node, label %done",
            "done:",
            "  ret void",
            "}",
        ]
    )


def module(functions: Sequence[tuple[str, set[str], int]], t: Lanes) -> str:
    """A whole module: declarations, the vector functions in use, the kernels."""
    used = set().union(*(f[1] for f in functions)) if functions else set()
    helpers = [vector_math.sincos_ir(t)] if "sincos" in used else []
    helpers += [vector_math.libm_ir(f, t, vector_math.LIBM_FUNCTIONS[f]) for f in sorted(used - {"sincos"})]
    attributes = f'attributes #0 = {{ nounwind "prefer-vector-width"="{VECTOR_BITS}" "min-legal-vector-width"="{VECTOR_BITS}" }}'
    return "\n\n".join([vector_math.declarations(t), *helpers, *(f[0] for f in functions), attributes])
