"""Forces between ports that are no neighbours: their blocks N beside the factor, by minimal residuals [Saad & Schultz 1986].

(H + N) y = b, with the joints and all rows closed, is solved by solves of H y = b - N y_late, which are at hand: the residue
z = y - y_late is an affine function of y_late, and what it changes along a direction is a product with M = 1 + H^-1 N. A pass is
one such solve; the directions of a cycle are made orthogonal, and at its end y_late is where the residue that they can reach is
least. N has a few ranks for each force, so passes are few. Each costs a forward and a back substitution, and rows are solved in
each: those that only push may change between passes. No symmetry is asked for.
"""

from __future__ import annotations

from typing import Any

from ..elements.evaluate import port_size
from ..elements.nodes import STILL
from ..joints import Joint
from ..kernel.loops import Lane, any, loops, sqrt
from ..kernel.loops import where as chosen
from ..kernel.sweep import SCALAR, Field, Repeat, Routine, Step, each, outward, vector
from ..spatial.scalar import zeros
from .implicit_laws import CYCLE, is_distant, stacked

PASSES = 60
ENOUGH = 1e-10  # of the first residue
ALONG = 1e-14  # of a direction: what is left of it beside the others is rounding
ARRAYS = ("free", "late", "base", "base_residue", "fresh", "basis", "triangle", "column", "cosine", "sine", "side", "weight")
SCALARS = ("lagging", "passes", "count", "base_size", "first_residue")


def clear_late(n: Any) -> None:
    """What distant ports do begins anew."""
    n.far_load, n.far_push = zeros(6), zeros(len(n.v))


def relate_late(n: Any, parent: Any) -> None:
    """The joint velocities of the solution so far."""
    n.late_v = n.S_hat.T @ (n.late - n.E.pull_twist(parent.late))
    clear_late(n)


def push_late(n: Any, *ports: Any) -> None:
    """What a force does at distant ports, as the solution so far has it."""
    if not is_distant(n):
        return
    impulse, first = n.far @ stacked(n, ports, "late", "late_v"), 0
    for kind, port in zip(n.kinds, ports, strict=False):
        if isinstance(kind, Joint):
            port.far_push = port.far_push - impulse[first : first + kind.nv]
        elif kind != STILL:
            port.far_load = port.far_load - impulse[first : first + 6]
        first += port_size(kind)


def begin_at_rest(n: Any) -> None:
    """The solution so far is none."""
    n.late = zeros(6)


def begin_at_guess(n: Any) -> None:
    """The solution so far is the guess."""
    n.late = n.trial


@loops
def first_pass(width: int, going: Lane, basis: Lane, lagging: Lane, passes: Lane, count: Lane, first_residue: Lane) -> None:
    """Lanes that go on lag, without directions."""
    lagging[0] = going[0]
    passes[0] = 0.0
    count[0] = 0.0
    first_residue[0] = 0.0
    for i in range(CYCLE * width):
        basis[i] = 0.0


@loops
def go_along(
    width: int,
    free: Lane,
    late: Lane,
    base: Lane,
    base_residue: Lane,
    fresh: Lane,
    basis: Lane,
    triangle: Lane,
    column: Lane,
    cosine: Lane,
    sine: Lane,
    side: Lane,
    weight: Lane,
    lagging: Lane,
    passes: Lane,
    count: Lane,
    base_size: Lane,
    first_residue: Lane,
) -> None:
    """What a pass taught: one more direction, or the end of a cycle; where the next one looks, and which lanes lag on.

    count        directions of the cycle; none where the pass looked at its base
    triangle, side   the triangle of what M makes of them, and the base's residue in their terms (Givens rotations)
    """
    k = count[0]
    at_base = k < 0.5
    size = 0.0 * k
    for i in range(width):
        z = free[i] - late[i]
        size += z * z
        base[i] = chosen(at_base, late[i], base[i])
        base_residue[i] = chosen(at_base, z, base_residue[i])
    size = sqrt(size)
    first_residue[0] = chosen(passes[0] < 0.5, size, first_residue[0])
    base_size[0] = chosen(at_base, size, base_size[0])
    unit = chosen(base_size[0] > 0.0, base_size[0], 1.0)
    whole = 0.0 * k
    for i in range(width):
        z = free[i] - late[i]
        fresh[i] = chosen(at_base, z, base_residue[i] - z) / unit
        whole += fresh[i] * fresh[i]
    for j in range(CYCLE + 1):
        column[j] = 0.0
        side[j] = chosen(at_base, 0.0, side[j])
    side[0] = chosen(at_base, size, side[0])
    for j in range(CYCLE):
        if not any(k > j + 0.5):
            break
        part = 0.0 * k
        for i in range(width):
            part += fresh[i] * basis[j * width + i]
        part = chosen(k > j + 0.5, part, 0.0)
        for i in range(width):
            fresh[i] -= part * basis[j * width + i]
        column[j] = part
    left = 0.0 * k
    for i in range(width):
        left += fresh[i] * fresh[i]
    over = left <= ALONG * ALONG * whole
    left = sqrt(left)
    length = chosen(left > 0.0, left, 1.0)
    remains = size
    for j in range(CYCLE + 1):
        here = (k > j - 0.5) & (k < j + 0.5)
        if any(here):
            column[j] = chosen(here, left, column[j])
            if j < CYCLE:
                for i in range(width):
                    basis[j * width + i] = chosen(here, fresh[i] / length, basis[j * width + i])
    for j in range(CYCLE):
        if not any(k > j + 0.5):
            break
        before = k > j + 1.5
        new = (k > j + 0.5) & ~before
        a = column[j]
        b = column[j + 1]
        most = sqrt(a * a + b * b)
        most = chosen(most > 0.0, most, 1.0)
        cosine[j] = chosen(new, a / most, cosine[j])
        sine[j] = chosen(new, b / most, sine[j])
        turned = before | new
        column[j] = chosen(turned, cosine[j] * a + sine[j] * b, a)
        column[j + 1] = chosen(turned, cosine[j] * b - sine[j] * a, b)
        old = side[j]
        side[j] = chosen(new, cosine[j] * old, old)
        side[j + 1] = chosen(new, -sine[j] * old, side[j + 1])
        remains = chosen(new, abs(side[j + 1]), remains)
    for c in range(CYCLE):
        here = (k > c + 0.5) & (k < c + 1.5)
        if any(here):
            for j in range(c + 1):
                triangle[c * CYCLE + j] = chosen(here, column[j], triangle[c * CYCLE + j])
    little = ENOUGH * first_residue[0]
    done = at_base & ((size <= little) | (passes[0] > PASSES - 1.5))
    full = (k > CYCLE - 0.5) | (remains <= 0.5 * little) | over | (passes[0] > PASSES - 2.5)
    ends = full & ~at_base
    if any(ends):
        for i in range(width):
            late[i] = chosen(ends, base[i], late[i])
        for i in range(CYCLE):
            j = CYCLE - 1 - i
            if any(k > j + 0.5):
                good = ends & (k > j + 0.5) & (abs(triangle[j * CYCLE + j]) > 0.0)
                sum = side[j]
                for c in range(j + 1, CYCLE):
                    if any(k > c + 0.5):
                        sum -= chosen(k > c + 0.5, triangle[c * CYCLE + j] * weight[c], 0.0)
                weight[j] = chosen(good, sum / chosen(good, triangle[j * CYCLE + j], 1.0), 0.0)
                for c in range(width):
                    late[c] += weight[j] * basis[j * width + c]
    on = ~ends & ~done
    for i in range(width):
        late[i] = chosen(on, base[i] + base_size[0] * (fresh[i] / length), late[i])
    count[0] = chosen(ends | done, 0.0, k + 1.0)
    passes[0] += lagging[0]
    lagging[0] = chosen(done, 0.0, lagging[0])


def krylov_fields() -> dict[str, Field]:
    """The fields of the passes; `basis` lies in a space of the tree (`implicit_laws`)."""
    six = vector(6)
    return {
        **{name: Field("work", "node", six) for name in ("late", "base", "base_residue", "fresh", "far_load")},
        **{name: Field("work", "v") for name in ("late_v", "far_push")},
        "basis": Field("work", "basis", SCALAR),
        "triangle": Field("work", "global", vector(CYCLE * CYCLE)),
        **{name: Field("work", "global", vector(CYCLE + 1)) for name in ("column", "cosine", "sine", "side", "weight")},
        **{name: Field("work", "global", SCALAR) for name in SCALARS},
    }


def beside(ports: list[str], begin: Any, solve: list[Step]) -> list[Step]:
    """The motion `free` with distant forces, in lanes that go on.

    begin   where the solution so far begins
    solve   the steps from `far_load` and `far_push` to `free` by the factor
    """
    a_pass: list[Step] = [
        outward(relate_late),
        each(push_late, *ports, on="force"),
        *solve,
        Routine(go_along, ("width", *ARRAYS, *SCALARS)),
    ]
    start = Routine(first_pass, ("width", "going", "basis", "lagging", "passes", "count", "first_residue"))
    return [each(begin), start, Repeat(tuple(a_pass), PASSES, "lagging")]
