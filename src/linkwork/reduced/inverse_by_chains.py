"""The inverse of the mass matrix from its factor, all columns of unit joint forces side by side: in one lane as many at a time as
a register has room for.

In the frame of the root (`root_frame`), one degree of freedom after the other, K = U / D and d = 1 / D of `articulate`, the
inward pass of the articulated-body algorithm under unit forces of joints is

    L_i = 1_i - J_i^T P,      P += K_i L_i,      columns of i and of what it carries alone, others are zero

and M^-1 = L^T d L. What is pressed on one branch is not felt by another before they meet, and each has its own columns: so the
wrenches P of all lie in one matrix (6, nv). Degrees of freedom that follow one another and carry the same others behind them, a
*chain*, have a product of their own.
"""

from __future__ import annotations

from ..kernel.loops import Lane, Table, loops
from ..kernel.one_lane import in_one_lane
from ..kernel.products import add_product, clear
from ..kernel.sweep import INERTIA, POSE, SCALAR, Algorithm, Field, inward, outward
from ..kernel.vector_text import load_ir, splat_ir, store_ir, vectors_ir
from .inverse_mass_matrix import articulate, place_still
from .pairs import routine

SIX = 6


@in_one_lane(lambda symbol, width: passed_ir(symbol, width))
def pass_wrenches(
    count: int, d: float, J: Lane, K: Lane, at: int, P: Lane, p: int, row: int, L: Lane, dL: Lane, first: int
) -> None:
    """L = -J^T P, P += K L and d L, of so many columns of six rows P, from records p and `first` on, `row` records apart.

    at   where the six numbers of J and of K begin
    """
    a0 = J[at]
    a1 = J[at + 1]
    a2 = J[at + 2]
    a3 = J[at + 3]
    a4 = J[at + 4]
    a5 = J[at + 5]
    b0 = K[at]
    b1 = K[at + 1]
    b2 = K[at + 2]
    b3 = K[at + 3]
    b4 = K[at + 4]
    b5 = K[at + 5]
    for j in range(count):
        o = p + j
        p0 = P[o]
        p1 = P[o + row]
        p2 = P[o + 2 * row]
        p3 = P[o + 3 * row]
        p4 = P[o + 4 * row]
        p5 = P[o + 5 * row]
        y = -a0 * p0
        y -= a1 * p1
        y -= a2 * p2
        y -= a3 * p3
        y -= a4 * p4
        y -= a5 * p5
        L[first + j] = y
        dL[first + j] = d * y
        P[o] = p0 + b0 * y
        P[o + row] = p1 + b1 * y
        P[o + 2 * row] = p2 + b2 * y
        P[o + 3 * row] = p3 + b3 * y
        P[o + 4 * row] = p4 + b4 * y
        P[o + 5 * row] = p5 + b5 * y


def passed_ir(symbol: str, width: int) -> str:
    """The function of the parameters of `pass_wrenches`."""
    kind = f"<{width} x double>"
    given = "i64 %count, double %d, ptr %J, ptr %K, i64 %at, ptr %P, i64 %P.at, i64 %row, ptr %L, ptr %dL, i64 %first"
    lines = [f"define internal void @{symbol}({given}) #0 {{", "start:", *splat_ir("dv", "%d", width)]
    lines += ["  %L.from = getelementptr double, ptr %L, i64 %first", "  %dL.from = getelementptr double, ptr %dL, i64 %first"]
    for c in range(SIX):
        lines += [f"  %row{c} = mul i64 %row, {c}", f"  %o{c} = add i64 %P.at, %row{c}", f"  %at{c} = add i64 %at, {c}"]
        lines.append(f"  %P{c} = getelementptr double, ptr %P, i64 %o{c}")
        for name in ("J", "K"):
            lines.append(f"  %{name}p{c} = getelementptr double, ptr %{name}, i64 %at{c}")
            lines.append(f"  %{name}x{c} = load double, ptr %{name}p{c}, align 8")
        lines += [f"  %Jn{c} = fneg double %Jx{c}", *splat_ir(f"Jv{c}", f"%Jn{c}", width), *splat_ir(f"Kv{c}", f"%Kx{c}", width)]

    def fma(to: str, a: str, b: str, x: str) -> str:
        return f"  {to} = call {kind} @llvm.fma.v{width}f64({kind} {a}, {kind} {b}, {kind} {x})"

    def body(x: str, mask: str) -> list[str]:
        found, total = [], f"%{x}.y0"
        for c in range(SIX):
            found.append(f"  %{x}.at{c} = getelementptr double, ptr %P{c}, i64 %{x}.j")
            found.append(load_ir(f"%{x}.p{c}", f"%{x}.at{c}", width, mask))
            here = f"%{x}.y{c}"
            found.append(fma(here, f"%Jv{c}", f"%{x}.p{c}", total) if c else f"  {here} = fmul {kind} %Jv0, %{x}.p0")
            total = here
        found.append(f"  %{x}.d = fmul {kind} %dv, {total}")
        for name, value in (("L", total), ("dL", f"%{x}.d")):
            found.append(f"  %{x}.{name} = getelementptr double, ptr %{name}.from, i64 %{x}.j")
            found.append(store_ir(value, f"%{x}.{name}", width, mask))
        for c in range(SIX):
            found.append(fma(f"%{x}.q{c}", f"%Kv{c}", total, f"%{x}.p{c}"))
            found.append(store_ir(f"%{x}.q{c}", f"%{x}.at{c}", width, mask))
        return found

    return "\n".join([*lines, *vectors_ir("%count", width, body), "end:", "  ret void", "}"])


@loops
def inverse_by_chains(
    nv: int,
    row: int,
    dof_end: Table,
    dof_chain: Table,
    chains: int,
    chain_first: Table,
    chain_size: Table,
    J_root: Lane,
    K_root: Lane,
    d_inv: Lane,
    wrenches: Lane,
    L: Lane,
    dL: Lane,
    M_inverse: Lane,
) -> None:
    """M^-1 (nv, nv).

    dof_chain   the first of its chain
    row         records from a row to the next: nv and some more
    """
    n = nv
    w = row
    for back in range(n):
        i = n - 1 - back
        o = i * w
        for k in range(dof_chain[i], i):
            L[o + k] = 0.0
            dL[o + k] = 0.0
        L[o + i] = 1.0
        dL[o + i] = d_inv[i]
        for c in range(6):
            wrenches[c * w + i] = K_root[6 * i + c]
        pass_wrenches(dof_end[i] - i - 1, d_inv[i], J_root, K_root, 6 * i, wrenches, i + 1, w, L, dL, o + i + 1)
    clear(n * n, M_inverse)
    for e in range(chains):
        i = chain_first[e]
        size = dof_end[i] - i
        o = i * w + i
        add_product(size, size, chain_size[e], 1.0, L, o, 1, w, dL, o, w, M_inverse, i * n + i, n)


INVERSE = {
    "IA": Field("gathered", codec=INERTIA),
    **{name: Field("work", "columns") for name in ("J_root", "K_root")},
    "d_inv": Field("work", "v"),
    "wrenches": Field("work", "six_rows", SCALAR),
    **{name: Field("work", "rows_of_dofs", SCALAR) for name in ("L", "dL")},
    "M_inverse": Field("output", "square", SCALAR),
}
INVERSE_BY_CHAINS = Algorithm(
    "inverse_by_chains",
    {"q": Field("input", "q"), "frame": Field("shared", codec=POSE), **INVERSE},
    {"run": [outward(place_still), inward(articulate), routine(inverse_by_chains)]},
)
