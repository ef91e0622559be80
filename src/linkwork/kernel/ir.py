"""LLVM IR text of kernels, with explicit vectors.

A kernel runs one rule at `count` nodes of one class:

    void kernel(ptr entries, i64 count, ptr bases)

`bases` holds the start address of every array; an entry holds, for every (array, role) that the kernel touches, the
offset of that node's record in scalars (i32). Arrays are in lanes (each scalar is `width` values wide) or uniform
(one value, read by all lanes), chosen when the kernel is compiled.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from . import graph, machine, vector_math
from .graph import Op
from .lanes import Lanes
from .schedule import few_at_a_time
from .trace import Kernel, Place

COMPARE = {"lt": "olt", "le": "ole"}
ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
INTRINSIC = {"sqrt": "sqrt", "abs": "fabs", "floor": "floor", "ceil": "ceil"}
INLINE = {"const", "input", *ARITHMETIC, "fma", "fms", "fnma", "neg", "sqrt", "abs", "floor", "select", *COMPARE, "gather"}
LARGE = 100  # flops: as many lanes as fit one register at a time
MANY = 64  # numbers that are gathered: twice as many as there are registers
LONG = 400  # flops of all parts: in a loop over the parts; others are written out one after the other
ALIGN = 64  # bytes, of lanes on the stack
GO_ON = "  br label %after"  # the end of a node
VECTOR_BITS = 512  # upper bound for LLVM's choice of registers; the target decides what it really has


Function = tuple[str, set[tuple[str, int]], int]  # a kernel's text, the functions it calls with their widths, its flops per lane


class Writer:
    """Collects the lines of one function body."""

    def __init__(self, lanes: Lanes, prefix: str = "", suffix: str = "") -> None:
        self.t = lanes
        self.prefix, self.suffix = prefix, suffix
        self.lines: list[str] = []
        self.names: list[str] = []
        self.functions: set[tuple[str, int]] = set()
        self.booleans: dict[int, str] = {}
        self.lane_pointers: dict[int, list[str]] = {}  # into data that is gathered from, by the place
        self.wanted: dict[int, set[int]] = {}  # what is gathered after a place
        self.columns: dict[tuple[int, int], list[str]] = {}
        self.count = 0

    def emit(self, text: str) -> str:
        self.count += 1
        name = f"%{self.prefix}t{self.count}"
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
        elif kind == "select":
            name = self.emit(f"select {t.bool_type} {self.boolean(args[0])}, {t.type} {x[1]}, {t.type} {x[2]}")
        elif kind == "sign":
            name = self.sign(x[0])
        elif kind == "gather":
            name = self.gather(ops, i)
        else:
            self.functions.add((kind, t.width))
            name = self.emit(f"call {t.type} @lw_{kind}{self.suffix}(" + ", ".join(f"{t.type} {a}" for a in x) + ")")
        self.names.append(name)

    def call(self, intrinsic: str, *x: str) -> str:
        t = self.t
        return self.emit(f"call {t.type} @llvm.{intrinsic}.{t.suffix}(" + ", ".join(f"{t.type} {a}" for a in x) + ")")

    def sincos(self, ops: list[Op], i: int) -> str:
        """Sine and cosine of one argument share one call."""
        self.functions.add(("sincos", self.t.width))
        angle = ops[i][1]
        pair = f"%{self.prefix}sincos{angle}"
        both = f"{{ {self.t.type}, {self.t.type} }}"
        if not any(line.startswith(f"  {pair} = ") for line in self.lines):
            self.lines.append(f"  {pair} = call {both} @lw_sincos{self.suffix}({self.t.type} {self.names[angle]})")
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

    def gather(self, ops: list[Op], i: int) -> str:
        """Number k after a place, a whole number in every lane, in the numbers at a pointer: value i.

        Where many numbers after one place are wanted, each lane loads them in one piece, and the pieces are transposed.
        """
        t, (pointer, place, column) = self.t, ops[i][1:]
        data, k, fit = self.names[pointer], int(ops[column][1]), min(t.width, machine.register_bytes() // t.bytes)
        if place not in self.lane_pointers:
            whole = self.emit(f"fptosi {t.type} {self.names[place]} to {t.int_type}")
            picked = [f"extractelement {t.int_type} {whole}, i64 {n}" for n in range(t.width)]
            lanes = [whole] if t.width == 1 else [self.emit(text) for text in picked]
            self.lane_pointers[place] = [self.emit(f"getelementptr {t.element}, ptr {data}, {t.int_element} {x}") for x in lanes]
            self.wanted[place] = {int(ops[op[3]][1]) for op in ops if op[0] == "gather" and op[2] == place}
        first = k - k % fit
        if 2 * len(self.wanted[place] & set(range(first, first + fit))) <= fit or fit == 1:
            return self.one_by_one(self.lane_pointers[place], k)
        if (place, first) not in self.columns:
            groups = [self.lane_pointers[place][n : n + fit] for n in range(0, t.width, fit)]
            self.columns[place, first] = self.side_by_side([self.transposed(group, first) for group in groups], fit)
        return self.columns[place, first][k - first]

    def element_at(self, pointer: str, k: int) -> str:
        """The address of number k after a pointer."""
        return self.emit(f"getelementptr {self.t.element}, ptr {pointer}, i64 {k}") if k else pointer

    def one_by_one(self, pointers: list[str], k: int) -> str:
        """Number k after the pointer of every lane."""
        t, value = self.t, "poison"
        for lane, pointer in enumerate(pointers):
            x = self.emit(f"load {t.element}, ptr {self.element_at(pointer, k)}, align {t.bytes}")
            value = x if t.width == 1 else self.emit(f"insertelement {t.type} {value}, {t.element} {x}, i64 {lane}")
        return value

    def transposed(self, pointers: list[str], first: int) -> list[str]:
        """As many numbers from `first` on as there are pointers, each as a vector over the pointers: in log2(n) rounds rows
        change places by single entries, pairs, ..."""
        n, t = len(pointers), self.t
        kind = f"<{n} x {t.element}>"
        rows = [self.emit(f"load {kind}, ptr {self.element_at(p, first)}, align {t.bytes}") for p in pointers]
        step = 1
        while step < n:
            low = [j + n * (j & step != 0) - (step if j & step else 0) for j in range(n)]
            high = [x + step for x in low]
            made = list(rows)
            for a in (r for r in range(n) if not r & step):
                b = a + step
                for target, order in ((a, low), (b, high)):
                    picked = ", ".join(f"i32 {x}" for x in order)
                    made[target] = self.emit(f"shufflevector {kind} {rows[a]}, {kind} {rows[b]}, <{n} x i32> <{picked}>")
            rows, step = made, 2 * step
        return rows

    def side_by_side(self, groups: list[list[str]], size: int) -> list[str]:
        """Vectors over all lanes from those over groups of lanes."""
        while len(groups) > 1:
            kind, order = f"<{size} x {self.t.element}>", ", ".join(f"i32 {x}" for x in range(2 * size))
            both = f"<{2 * size} x i32> <{order}>"
            pairs = [zip(low, high, strict=True) for low, high in zip(groups[::2], groups[1::2], strict=True)]
            groups = [[self.emit(f"shufflevector {kind} {a}, {kind} {b}, {both}") for a, b in pair] for pair in pairs]
            size *= 2
        return groups[0]

    def sign(self, x: str) -> str:
        """-1, 0 (with its sign), 1 or NaN."""
        t = self.t
        one = self.call("copysign", t.constant(1.0), x)
        known = self.emit(f"fcmp one {t.type} {x}, {t.constant(0.0)}")
        return self.emit(f"select {t.bool_type} {known}, {t.type} {one}, {t.type} {x}")


def suffix_of(width: int) -> str:
    """Of the names of functions for fewer lanes than their kernel has."""
    return f".of_{width}"


def operands(kernel: Kernel) -> list[tuple[str, str]]:
    """The (array, role) pairs of a kernel, in the order of its entries."""
    pairs = dict.fromkeys((p[0], p[1]) for _, p in kernel.loads)
    pairs.update(dict.fromkeys((p[0], p[1]) for _, p in kernel.stores))
    return list(pairs)


def reaches(kernel: Kernel) -> list[int]:
    """For every pair of `operands`, how many scalars of a record are touched, from its first to the last that is."""
    found = dict.fromkeys(operands(kernel), 0)
    for _, (array, role, index) in (*kernel.loads, *kernel.stores):
        found[array, role] = max(found[array, role], index + 1)
    return list(found.values())


class Body(Writer):
    """The lines of a kernel for some of its lanes: loads where first used, arithmetic, stores as soon as possible.

    pointers   where records begin: `r0`, `r1`, ... at the first of all lanes, others at the first of ours
    skipped    bytes from the first of all lanes to the first of ours
    """

    def __init__(
        self, kernel: Kernel, whole: Lanes, uniform: frozenset[str], lanes: Lanes, pointers: str = "r", skipped: str = "0"
    ) -> None:
        super().__init__(lanes, pointers, "" if lanes == whole else suffix_of(lanes.width))
        self.kernel, self.whole, self.uniform, self.pointers, self.skipped = kernel, whole, uniform, pointers, skipped
        self.pairs = operands(kernel)
        self.place_of = {pair: k for k, pair in enumerate(self.pairs)}

    def compute(self, ops: list[Op], i: int) -> None:
        """Append the lines of value i, loads included."""
        if ops[i][0] == "input":
            self.load(self.kernel.loads[ops[i][1]][1])
        else:
            self.value(ops, i)

    def write_some(self, ops: list[Op], wanted: set[int], kept: Sequence[int]) -> None:
        """Only these values, and no stores; some are kept for the parts."""
        for i in range(len(ops)):
            if i in wanted:
                self.compute(ops, i)
            else:
                self.names.append("")
        self.lines += [f"  store {self.t.type} {self.names[i]}, ptr %kept{i}, align {ALIGN}" for i in kept]

    def write(self, ops: list[Op], results: list[int], done: Container[int] = (), kept: Container[int] = ()) -> None:
        """All but what is done, of which some is kept. What is both loaded and stored is stored last: loads see the old value."""
        kernel = self.kernel
        if self.pointers != "r":
            own = (i for i, (array, _) in enumerate(self.pairs) if array not in self.uniform)
            self.lines += [f"  %{self.pointers}{i} = getelementptr i8, ptr %r{i}, i64 {self.skipped}" for i in own]
        stores: dict[int, list[int]] = {}
        in_place = {p for _, p in kernel.loads} & {p for _, p in kernel.stores}
        late = []
        for k, (_, place) in enumerate(kernel.stores):
            (late if place in in_place else stores.setdefault(results[k], [])).append(k)
        for i in range(len(ops)):
            if i in kept:
                at = self.emit(f"getelementptr inbounds i8, ptr %kept{i}, i64 {self.skipped}")
                self.names.append(self.emit(f"load {self.t.type}, ptr {at}, align {self.t.bytes}"))
            elif i in done:
                self.names.append("")
            else:
                self.compute(ops, i)
            for k in stores.get(i, ()):
                self.store(k, results[k])
        for k in late:
            self.store(k, results[k])

    def address(self, place: Place) -> str:
        array, role, index = place
        pair = self.place_of[array, role]
        pointer, at = (f"%r{pair}", index) if array in self.uniform else (f"%{self.pointers}{pair}", index * self.whole.width)
        return self.emit(f"getelementptr inbounds {self.t.element}, ptr {pointer}, i64 {at}")

    def load(self, place: Place) -> None:
        if place[0].partition("@")[0] == "tables":  # only gathered from
            self.names.append(f"%r{self.place_of[place[0], place[1]]}")
            return
        t, at = self.t, self.address(place)
        if place[0] in self.uniform and t.width > 1:
            x = self.emit(f"load {t.element}, ptr {at}, align {t.bytes}")
            one = self.emit(f"insertelement {t.type} poison, {t.element} {x}, i64 0")
            zero = "<" + ", ".join(["i32 0"] * t.width) + ">"
            self.names.append(self.emit(f"shufflevector {t.type} {one}, {t.type} poison, <{t.width} x i32> {zero}"))
        else:
            self.names.append(self.emit(f"load {t.type}, ptr {at}, align {t.bytes}"))

    def store(self, k: int, value: int) -> None:
        place = self.kernel.stores[k][1]
        if place[0] in self.uniform and self.whole.width > 1:
            raise AssertionError(f"a kernel cannot store lanes into the uniform array {place[0]}")
        self.lines.append(f"  store {self.t.type} {self.names[value]}, ptr {self.address(place)}, align {self.t.bytes}")


def part(ops: list[Op], t: Lanes) -> tuple[Lanes, set[int]]:
    """How many lanes of a kernel are done at a time, and what is done first, for all lanes at once.

    As many lanes as fit two registers, or one in large bodies: a value that needs two registers halves their number, and large
    bodies then spend their time moving values to the stack and back. Functions are called first, for all lanes; a body in which
    they depend on much else counts as small, unless it gathers that from tables: then it calls them itself, for its own lanes.
    """
    fit, early = machine.register_bytes() // t.bytes, calls(ops)
    before = graph.flops([ops[i] for i in early])
    if graph.flops(ops) < LARGE or (before > LARGE // 4 and not any(op[0] == "gather" for op in ops)):
        return Lanes(min(t.width, 2 * fit), t.single), early
    return Lanes(min(t.width, fit), t.single), early if before <= LARGE // 4 else set()


def calls(ops: list[Op]) -> set[int]:
    """The values that functions compute, and all that these depend on."""
    found: set[int] = set()
    for i in reversed(range(len(ops))):
        if i in found or ops[i][0] not in INLINE:
            found.update((i, *graph.operands(ops[i])))
    return found


def function(kernel: Kernel, name: str, arrays: Sequence[str], uniform: frozenset[str], t: Lanes) -> Function:
    """The text of one kernel, the vector functions it calls and its flops per lane. `arrays` fixes the order of `bases`."""
    ops, results = graph.build([s for s, _ in kernel.loads], [v for v, _ in kernel.stores])
    if sum(op[0] == "gather" for op in ops) >= MANY:
        ops, results = few_at_a_time(ops, results)
    one, early = part(ops, t)
    whole = Body(kernel, t, uniform, t)
    if one == t:
        whole.write(ops, results)
        text = _framed(name, whole.pairs, arrays, uniform, t, [*whole.lines, GO_ON])
        return text, whole.functions, graph.flops(ops)
    used = set(results).union(*(graph.operands(op) for i, op in enumerate(ops) if i not in early))
    again = {i for i in early if ops[i][0] in ("const", "input")}  # cheaper than to keep them
    kept = sorted((early & used) - again)
    whole.write_some(ops, early, kept)
    step, size = one.width * t.bytes, t.width * t.bytes
    looped = graph.flops(ops) * (size // step) >= LONG
    places = ["%bytes"] if looped else [str(k) for k in range(0, size, step)]
    parts = [Body(kernel, t, uniform, one, f"part{k}.", skipped) for k, skipped in enumerate(places)]
    for body in parts:
        body.write(ops, results, early - again, kept)
    lines = [line for body in parts for line in body.lines]
    lines = [*whole.lines, *(_in_parts(step, size, lines) if looped else [*lines, GO_ON])]
    room = [f"  %kept{i} = alloca {t.type}, align {ALIGN}" for i in kept]
    text = _framed(name, whole.pairs, arrays, uniform, t, lines, room)
    return text.replace(") #0 {", ") #1 {"), whole.functions | parts[0].functions, graph.flops(ops)


def _in_parts(step: int, size: int, body: list[str]) -> list[str]:
    """The loop over parts of the lanes around a body; `step` and `size` in bytes."""
    return [
        "  br label %part",
        "part:",
        "  %bytes.now = phi i64 [ 0, %node ], [ %bytes.next, %part ]",
        '  %bytes = call i64 asm "", "=r,0"(i64 %bytes.now)',  # else LLVM keeps a moving pointer for every address
        *body,
        f"  %bytes.next = add i64 %bytes, {step}",
        f"  %bytes.more = icmp slt i64 %bytes.next, {size}",
        "  br i1 %bytes.more, label %part, label %after",
    ]


def _framed(
    name: str,
    pairs: list[tuple[str, str]],
    arrays: Sequence[str],
    uniform: frozenset[str],
    t: Lanes,
    body: list[str],
    room: Sequence[str] = (),
) -> str:
    """The loop over nodes around a body, which ends by going on to `after`."""
    head, setup = list(room), []
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
            "  %i = phi i64 [ 0, %start ], [ %next, %after ]",
            f"  %at = mul i64 %i, {4 * max(1, len(pairs))}",
            "  %entry = getelementptr i8, ptr %entries, i64 %at",
            *setup,
            *body,
            "after:",
            "  %next = add i64 %i, 1",
            "  %more = icmp slt i64 %next, %count",
            "  br i1 %more, label %node, label %done",
            "done:",
            "  ret void",
            "}",
        ]
    )


def module(functions: Sequence[Function], t: Lanes) -> str:
    """A whole module: declarations, the vector functions in use, the kernels."""
    used = set().union(*(f[1] for f in functions)) if functions else set()
    sincos = {w: suffix_of(w) for f, w in sorted(used) if f == "sincos" and w != t.width}
    helpers = [vector_math.sincos_ir(t, sincos)] if any(f == "sincos" for f, _ in used) else []
    for f, width in sorted(used):
        if f != "sincos":
            suffix = "" if width == t.width else suffix_of(width)
            helpers.append(vector_math.libm_ir(f, Lanes(width, t.single), vector_math.LIBM_FUNCTIONS[f], suffix))
    widths = {t.width // k for k in (1, 2, 4, 8) if t.width % k == 0}
    declared = dict.fromkeys(line for w in sorted(widths) for line in vector_math.declarations(Lanes(w, t.single)).splitlines())
    wide = f'"prefer-vector-width"="{VECTOR_BITS}" "min-legal-vector-width"="{VECTOR_BITS}"'
    attributes = [f"attributes #0 = {{ nounwind {wide} }}", f'attributes #1 = {{ nounwind "frame-pointer"="all" {wide} }}']
    return "\n\n".join(["\n".join(declared), *helpers, *(f[0] for f in functions), *attributes])
