"""Elementary functions of lanes, as LLVM IR text: sine and cosine as vector code, the others by libm, lane by lane.

A module holds `declarations(t)` once, then any of the definitions made here for the same `t`, in any order. What the
caller calls is internal and always inlined. The result of a lane has the same bits for every width of the same element
and never depends on the other lanes: there are no fast-math flags, and an fma is written where an fma is meant.
"""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.kernel.lanes import Lanes

LIBM_FUNCTIONS: dict[str, int] = {
    **dict.fromkeys(("tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"), 1),
    **dict.fromkeys(("exp", "expm1", "log", "log1p"), 1),
    **dict.fromkeys(("atan2", "pow"), 2),
}
"""The functions that `libm_ir` offers, by their names in C: number of arguments."""

INTRINSICS: dict[str, int] = {"fma": 3, "fabs": 1, "sqrt": 1, "floor": 1, "ceil": 1, "rint": 1, "copysign": 2}
"""The floating-point intrinsics that `declarations` declares: number of arguments."""


@dataclass(frozen=True)
class _SincosConstants:
    """The numbers in the sine and cosine of one element type; `_near` says what they do."""

    limit: float
    magic: float
    half_pi: tuple[float, float, float]
    A: tuple[float, ...]
    C: tuple[float, ...]


_TWO_OVER_PI = 0.6366197723675814
_FLOAT64 = _SincosConstants(
    limit=2.0**30,
    magic=1.5 * 2.0**52,
    half_pi=(1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
    A=(
        0.1666666666666663,
        -0.008333333333322118,
        0.00019841269829589444,
        -2.7557313621351994e-06,
        2.5050747757403308e-08,
        -1.589622983195572e-10,
    ),
    C=(
        0.041666666666666595,
        -0.0013888888888873056,
        2.4801587288851602e-05,
        -2.755731417926614e-07,
        2.087570083771137e-09,
        -1.1358536295448415e-11,
    ),
)
_FLOAT32 = _SincosConstants(
    limit=2.0**17,
    magic=1.5 * 2.0**23,
    half_pi=(1.570796251296997, 7.549790126404332e-08, -1.7151245100058819e-15),
    A=(0.16666653653224706, -0.008332099750730359, 0.0001950694251250617),
    C=(0.041666643996564987, -0.001388723343930975, 2.4423625485446003e-05),
)


class _Body:
    """The instructions of a function of lanes, written in order; each method returns the name of its result."""

    def __init__(self, t: Lanes) -> None:
        self.t = t
        self.lines: list[str] = []

    def emit(self, instruction: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def sub(self, a: str, b: str) -> str:
        return self.emit(f"fsub {self.t.type} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        return self.emit(f"fmul {self.t.type} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once."""
        T = self.t.type
        return self.emit(f"call {T} @llvm.fma.{self.t.suffix}({T} {a}, {T} {b}, {T} {c})")

    def polynomial(self, coefficients: tuple[float, ...], z: str) -> str:
        """c[0] + c[1] z + c[2] z^2 + ... by Horner's rule."""
        value = self.t.constant(coefficients[-1])
        for c in coefficients[-2::-1]:
            value = self.fma(value, z, self.t.constant(c))
        return value

    def select(self, condition: str, a: str, b: str) -> str:
        return self.emit(f"select {self.t.bool_type} {condition}, {self.t.type} {a}, {self.t.type} {b}")

    def bits(self, a: str) -> str:
        return self.emit(f"bitcast {self.t.type} {a} to {self.t.int_type}")

    def integer(self, operation: str, a: str, b: str) -> str:
        return self.emit(f"{operation} {self.t.int_type} {a}, {b}")

    def flip_sign(self, a: str, flips: str) -> str:
        """-a where the highest bit of the integer `flips` is set."""
        sign = self.integer("and", flips, self.t.int_constant(-(1 << (8 * self.t.bytes - 1))))
        return self.emit(f"bitcast {self.t.int_type} {self.integer('xor', self.bits(a), sign)} to {self.t.type}")

    def exceeds(self, a: str, limit: float) -> str:
        """Whether |a| > limit; false for NaN."""
        T = self.t.type
        magnitude = self.emit(f"call {T} @llvm.fabs.{self.t.suffix}({T} {a})")
        return self.emit(f"fcmp ogt {T} {magnitude}, {self.t.constant(limit)}")

    def any(self, condition: str) -> str:
        """i1: whether the condition holds in some lane."""
        if self.t.width == 1:
            return condition
        return self.emit(f"call i1 @llvm.vector.reduce.or.v{self.t.width}i1({self.t.bool_type} {condition})")

    def __str__(self) -> str:
        return "\n".join(self.lines)


def declarations(t: Lanes) -> str:
    """The `declare` lines for `t` and for its single lane: intrinsics and the functions of libm."""
    lane = Lanes(1, t.single)
    lines = [_declare(u, f"llvm.{name}.{u.suffix}", n) for u in dict.fromkeys((t, lane)) for name, n in INTRINSICS.items()]
    if t.width > 1:
        lines.append(f"declare i1 @llvm.vector.reduce.or.v{t.width}i1({t.bool_type})")
    lines += [_declare(lane, _libm(name, t), n) for name, n in {"sin": 1, "cos": 1, **LIBM_FUNCTIONS}.items()]
    return "\n".join(lines) + "\n"


def libm_ir(name: str, t: Lanes, arity: int, suffix: str = "") -> str:
    """`@lw_<name><suffix>`: the function of libm in every lane; float32 calls the variant of float32 (`expf`)."""
    T, element = t.type, t.element
    arguments = "xy"[:arity]
    lines = []
    result = "poison"
    for i in range(t.width):
        lanes = [f"%{a}" if t.width == 1 else f"%{a}{i}" for a in arguments]
        if t.width > 1:
            lines += [f"  {v} = extractelement {T} %{a}, i64 {i}" for a, v in zip(arguments, lanes, strict=True)]
        call = ", ".join(f"{element} {v}" for v in lanes)
        lines.append(f"  %f{i} = call {element} @{_libm(name, t)}({call})")
        if t.width > 1:
            lines.append(f"  %r{i} = insertelement {T} {result}, {element} %f{i}, i64 {i}")
        result = f"%f{i}" if t.width == 1 else f"%r{i}"
    parameters = ", ".join(f"{T} %{a}" for a in arguments)
    body = "\n".join(lines)
    return f"""define internal {T} @lw_{name}{suffix}({parameters}) alwaysinline nounwind {{
{body}
  ret {T} {result}
}}
"""


def sincos_ir(t: Lanes, suffixes: dict[int, str] | None = None) -> str:
    """`@lw_sincos`: { sin x, cos x } in every lane; NaN for NaN and infinity, sin(-0) = -0.

    suffixes   of the names of further widths

    Lanes with |x| <= 2^30 (float64) or 2^17 (float32) are within 1 ulp, by `_near`. If some lane is beyond, all go
    through memory to a function out of line, which calls libm for those beyond and `_near`, one lane wide, for the
    others. `coldcc` leaves most registers alone and marks the call as rare, so the common path pays for the comparison
    only. (`preserve_allcc` would be wrong: LLVM 22 ends such a function with a vzeroupper, after it has restored the
    caller's ymm registers.)
    """
    n = _FLOAT32 if t.single else _FLOAT64
    lane = Lanes(1, t.single)
    wanted = {t.width: "", **(suffixes or {})}
    widths = {Lanes(width, t.single): suffix for width, suffix in wanted.items()}
    kernels = "".join(_near_ir(u, n) for u in dict.fromkeys((lane, *widths)))
    return kernels + "".join(_sincos_far_ir(lane, u.width, n, x) + _sincos_branch_ir(u, n, x) for u, x in widths.items())


def _near(body: _Body, x: str, n: _SincosConstants) -> tuple[str, str]:
    """(sin x, cos x) for |x| <= n.limit.

    Reduction. x = k pi/2 + r - e, with k the integer next to 2x/pi and pi/2 = P1 + P2 + P3, elements each, P2 > 0.
    Adding the magic number 1.5 * 2^52 (2^23) leaves no bits for a fraction: the sum's last bits are k modulo 4.

        y = x - k P1                     exact: |y| < 1 and, unless k = 0, x and P1 are multiples of 2^-53 (2^-24)
        r = y - (k P2)
        e = (r - y) + k P2 + k P3        r - y is exact, as y is a multiple of the last bit of k P2 (Fast2Sum)

    Without e, an x next to a multiple of pi/2 would leave few right digits. The signs are such that x = -0 gives
    k P2 = e = +0, hence r = -0 and sin x = -0 - (+0) = -0.

    Polynomials. With z = r^2,

        sin(r - e) = r - (r z A(z) + e),     cos(r - e) = 1 + (z - 2 r e) (-1/2 + z C(z)).

    A and C minimise the greatest relative error of sine and cosine on 0 <= r <= pi/4 (1 + 1e-6) for float64, and up
    to pi/4 + 0.01 for float32, as the product 2x/pi has an error of 0.0034 at the limit. A weighted Remez exchange in
    60 digits gave them; with rounded coefficients the errors are 1.1e-17 and 1.1e-18 (float64), 4.9e-9 and 1.0e-9
    (float32): a tenth of an ulp at most. The rounding of z, in front of -1/2, is the larger part of what exceeds 1/2
    ulp in the whole: 0.90 ulp in float64 (4e7 points), 0.92 ulp in float32 (all x from 2^-14 to the limit).
    """
    t = body.t
    magic, one, minus_half = t.constant(n.magic), t.constant(1.0), t.constant(-0.5)
    P1, P2, P3 = n.half_pi
    shifted = body.fma(x, t.constant(_TWO_OVER_PI), magic)
    k = body.sub(shifted, magic)
    y = body.fma(k, t.constant(-P1), x)
    r = body.sub(y, body.mul(k, t.constant(P2)))
    e = body.fma(k, t.constant(P3), body.fma(k, t.constant(P2), body.sub(r, y)))

    z = body.mul(r, r)
    z_full = body.fma(r, r, body.mul(r, body.mul(e, t.constant(-2.0))))
    sin_r = body.sub(r, body.fma(body.mul(r, z), body.polynomial(n.A, z), e))
    cos_r = body.fma(z_full, body.fma(z, body.polynomial(n.C, z), minus_half), one)

    # Quadrant k mod 4: bit 0 swaps the two; bit 1 flips the sign of the sine, bit 0 xor bit 1 that of the cosine.
    last = 8 * t.bytes - 1
    quadrant = body.bits(shifted)
    bit_0 = body.integer("shl", quadrant, t.int_constant(last))
    bit_1 = body.integer("shl", quadrant, t.int_constant(last - 1))
    odd = body.integer("icmp slt", bit_0, t.int_constant(0))
    sin = body.flip_sign(body.select(odd, cos_r, sin_r), bit_1)
    cos = body.flip_sign(body.select(odd, sin_r, cos_r), body.integer("xor", bit_0, bit_1))
    return sin, cos


def _near_ir(t: Lanes, n: _SincosConstants) -> str:
    body = _Body(t)
    sin, cos = _near(body, "%x", n)
    pair = f"{{ {t.type}, {t.type} }}"
    return f"""define internal {pair} @lw_sincos_near.{t.suffix}({t.type} %x) alwaysinline nounwind {{
{body}
  %sin = insertvalue {pair} poison, {t.type} {sin}, 0
  %both = insertvalue {pair} %sin, {t.type} {cos}, 1
  ret {pair} %both
}}
"""


def _sincos_far_ir(lane: Lanes, width: int, n: _SincosConstants, suffix: str) -> str:
    """`@lw_sincos_far<suffix>`: sine and cosine of `width` lanes in memory, one after the other."""
    T, pair = lane.type, f"{{ {lane.type}, {lane.type} }}"
    body = _Body(lane)
    beyond = body.exceeds("%x", n.limit)
    parameters = "ptr %xs, ptr %sines, ptr %cosines"
    return f"""define internal coldcc void @lw_sincos_far{suffix}({parameters}) cold noinline nounwind {{
entry:
  br label %lane
lane:
  %i = phi i64 [ 0, %entry ], [ %next, %store ]
  %x_at = getelementptr {T}, ptr %xs, i64 %i
  %sin_at = getelementptr {T}, ptr %sines, i64 %i
  %cos_at = getelementptr {T}, ptr %cosines, i64 %i
  %x = load {T}, ptr %x_at
{body}
  br i1 {beyond}, label %far, label %near
near:
  %both = call {pair} @lw_sincos_near.{lane.suffix}({T} %x)
  %near_sin = extractvalue {pair} %both, 0
  %near_cos = extractvalue {pair} %both, 1
  br label %store
far:
  %far_sin = call {T} @{_libm("sin", lane)}({T} %x)
  %far_cos = call {T} @{_libm("cos", lane)}({T} %x)
  br label %store
store:
  %sin = phi {T} [ %near_sin, %near ], [ %far_sin, %far ]
  %cos = phi {T} [ %near_cos, %near ], [ %far_cos, %far ]
  store {T} %sin, ptr %sin_at
  store {T} %cos, ptr %cos_at
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, {width}
  br i1 %more, label %lane, label %done
done:
  ret void
}}
"""


def _sincos_branch_ir(t: Lanes, n: _SincosConstants, suffix: str) -> str:
    T, pair, align = t.type, f"{{ {t.type}, {t.type} }}", f"align {t.bytes}"
    body = _Body(t)
    beyond = body.any(body.exceeds("%x", n.limit))
    return f"""define internal {pair} @lw_sincos{suffix}({T} %x) alwaysinline nounwind {{
entry:
  %xs = alloca {T}, {align}
  %sines = alloca {T}, {align}
  %cosines = alloca {T}, {align}
{body}
  br i1 {beyond}, label %far, label %near
near:
  %near_both = call {pair} @lw_sincos_near.{t.suffix}({T} %x)
  br label %done
far:
  store {T} %x, ptr %xs, {align}
  call coldcc void @lw_sincos_far{suffix}(ptr %xs, ptr %sines, ptr %cosines)
  %far_sin = load {T}, ptr %sines, {align}
  %far_cos = load {T}, ptr %cosines, {align}
  %sin_only = insertvalue {pair} poison, {T} %far_sin, 0
  %far_both = insertvalue {pair} %sin_only, {T} %far_cos, 1
  br label %done
done:
  %both = phi {pair} [ %near_both, %near ], [ %far_both, %far ]
  ret {pair} %both
}}
"""


def _libm(name: str, t: Lanes) -> str:
    return name + "f" if t.single else name


def _declare(t: Lanes, name: str, arity: int) -> str:
    return f"declare {t.type} @{name}({', '.join([t.type] * arity)}) nounwind"
