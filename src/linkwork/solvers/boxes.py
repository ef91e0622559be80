"""Problems with boxes, in all lanes at once: w = A x + b, lower <= x <= upper, and

    w = 0 where x is inside its bounds,    w >= 0 at the lower bound,    w <= 0 at the upper one.

Without bounds a row is an equality; with (0, inf) it only pushes; with (-f, f) it is dry friction. A is symmetric and
semidefinite. Only the rows of a list take part, and of these in every lane only those that are on.

Rows are scaled to a unit diagonal. Which rows are free (inside their bounds) is found by Newton's method on the complementarity
(a primal-dual active set): with the others at their bounds, free rows are solved directly, then a row whose x left its bounds
goes to the bound, and one whose w pulls it inward is set free, until nothing changes. Where that does not settle, Gauss-Seidel
sweeps propose the next set; where many sets do not, or rows that bounds should hold leave a residual, rows come and go one at a
time (`box_walk`).

Redundant rows need no pivoting: free rows are solved by proximal rounds (A + eps 1) dx = -w from x = 0 with one factor, until the
residual stands still; they reach the solution of least norm in scaled rows. What rows that contradict one another ask for in
vain, as those of an overconstrained loop that has drifted apart, is a stress that moves nothing and that every round adds once
more: it is taken back, where x stays within its bounds. Lanes that are done stay as they are: a result does not depend on its
neighbours.
"""

from __future__ import annotations

from ..kernel.loops import Arrays, Ints, Lane, Scratch, Small, Table, any, loops, sqrt, where
from ..kernel.products import clear
from .box_stress import in_vain, take_back
from .box_walk import FINE, HUGE, NOTHING, Scaled, factor_free, residuals, walk
from .dense import factor, solve
from .extremes import clipped, larger

EPS = 1e-9  # relative weight of the last solution in a proximal round
ROUNDS = 8  # proximal rounds
CHANGES = 40  # of the set of free rows, at most
PATIENCE = 6  # changes before Gauss-Seidel proposes the next set, and between such proposals
SWEEPS = 10
ROUGH = 1e-12  # of the right-hand side: where rows with two bounds leave more, they can do better
EMPTY = 1e-14  # of the largest diagonal: rows that answer less drop out


class Boxes(Arrays):
    """Rows of a problem, of which some are listed: `active` tells how many, then which."""

    active: Ints
    on: Lane
    b: Lane
    lower: Lane
    upper: Lane
    x: Lane


@loops
def gather(rows: int, on: Lane, x: Lane, busy: Lane, left: Lane, active: Ints) -> None:
    """List the rows that are on in some lane: their number, then they; all multipliers begin at zero."""
    busy[0] = 0.0
    left[0] = 0.0
    m = 0
    clear(rows, x)
    for r in range(rows):
        if any(on[r] > 0.0):
            m += 1
            active[m] = r
            busy[0] = larger(busy[0], on[r])
    active[0] = m


@loops
def gauss_seidel(m: int, A: Lane, b: Lane, lower: Lane, upper: Lane, x: Lane, go: float) -> None:
    """Sweeps over all rows of a matrix with a unit diagonal, in lanes that go."""
    for _ in range(SWEEPS):
        for i in range(m):
            a = i * (i + 1) // 2
            w = b[i] + x[i]
            for k in range(i):
                w += A[a + k] * x[k]
            for k in range(i + 1, m):
                w += A[k * (k + 1) // 2 + i] * x[k]
            new = clipped(x[i] - w, lower[i], upper[i])
            x[i] = where(go > 0.0, new, x[i])


@loops
def subtract_answer(A: Lane, some: Ints, z: Lane, rest: Lane) -> None:
    """rest -= A z on the rows of a list."""
    for p in range(some[0]):
        row = some[p + 1] * (some[p + 1] + 1) // 2
        step = z[p]
        left = rest[p] - A[row + some[p + 1]] * step
        for q in range(p):
            left -= A[row + some[q + 1]] * z[q]
            rest[q] -= A[row + some[q + 1]] * step
        rest[p] = left


@loops
def largest(active: Ints, on: Lane, A: Lane) -> float:
    """The largest diagonal of rows that are on."""
    most = 0.0 * A[0]
    for i in range(active[0]):
        most = larger(most, where(on[active[i + 1]] > 0.0, A[i * (i + 1) // 2 + i], 0.0))
    return most


@loops
def scale_system(active: Ints, b: Lane, A: Lane, scale: Lane, bs: Lane) -> None:
    """Matrix and right-hand side in scaled rows; rows with scale zero drop out."""
    for i in range(active[0]):
        a = i * (i + 1) // 2
        for k in range(i + 1):
            A[a + k] = A[a + k] * (scale[i] * scale[k])
        A[a + i] = where(scale[i] > 0.0, A[a + i], 1.0)
        bs[i] = b[active[i + 1]] * scale[i]


@loops
def scale_rows(active: Ints, b: Lane, lower: Lane, upper: Lane, A: Lane, s: Scaled) -> None:
    """The problem in scaled rows, and a first guess of which are free; rows with scale zero drop out."""
    scale_system(active, b, A, s.scale, s.bs)
    for i in range(active[0]):
        r = active[i + 1]
        good = s.scale[i] > 0.0
        s.lo[i] = where(good, lower[r] / where(good, s.scale[i], 1.0), 0.0)
        s.hi[i] = where(good, upper[r] / where(good, s.scale[i], 1.0), 0.0)
        inside = (-s.bs[i] >= s.lo[i]) & (-s.bs[i] <= s.hi[i])
        s.free[i] = where(good & inside, 1.0, 0.0)
        s.xs[i] = where(s.free[i] > 0.0, 0.0, clipped(0.0 - s.bs[i], s.lo[i], s.hi[i]))


@loops
def round_part(size: float, last: float) -> float:
    """How much of a proximal round counts: all of it where the residual falls to a quarter, none where it does not halve.

    In between less and less: multipliers of rows near a singular position change steadily with what is asked for.
    """
    return clipped(2.0 - 4.0 * size / last, 0.0, 1.0)


@loops
def solve_scaled(active: Ints, x: Lane, A: Lane, left: Lane, s: Scaled, eps: float) -> None:
    """The multipliers of scaled rows, in the units of the rows.

    Proximal rounds go two by two; then the set of free rows is looked at. A set that does not stand is left at once, and one that
    stands is solved to the end. What a lane does depends on nothing but its own numbers: `last` is the residual before its last
    round; `added` counts its rounds in all sets, `sets` and `tries` the sets that it left, in all and since Gauss-Seidel last
    proposed one.
    """
    m = active[0]
    go = 1.0 + 0.0 * A[0]
    last = HUGE * go
    rounds = 0.0 * go
    added = 0.0 * go
    sets = 0.0 * go
    tries = 0.0 * go
    scale_b = 0.0 * go
    for i in range(m):
        scale_b = larger(scale_b, abs(s.bs[i]))
    stands = 0
    residuals(m, A, s.bs, s.xs, s.w)
    for _ in range(CHANGES * ROUNDS):
        if stands == 0:
            factor_free(m, A, s, go, eps)
        n = s.some[0]
        for p in range(n):
            s.rest[p] = -s.w[s.some[p + 1]]
        still = go
        moved = 0
        for half in range(2):
            if half == 1:
                subtract_answer(A, s.some, s.z, s.rest)
            size = 0.0 * go
            for p in range(n):
                s.z[p] = s.rest[p] * s.free[s.some[p + 1]]
                size = larger(size, abs(s.z[p]))
            still = where((size < 0.5 * last) & (size > FINE * scale_b) & (rounds < ROUNDS), still, 0.0)
            if not any(still > 0.0):
                break
            moved = 1
            part = round_part(size, last)
            last = where(still > 0.0, size, last)
            rounds = where(still > 0.0, rounds + 1.0, rounds)
            added = where(still > 0.0, added + 1.0, added)
            solve(n, s.L, s.d, s.z)
            for p in range(n):
                i = s.some[p + 1]
                s.z[p] = where(still > 0.0, part * (s.z[p] * s.free[i]), 0.0)
                s.xs[i] += s.z[p]
        if moved == 0 and stands == 1:  # all sets stand, and nothing moves any more
            break
        residuals(m, A, s.bs, s.xs, s.w)
        changed = 0.0 * go
        for i in range(m):
            wish = s.xs[i] - s.w[i]
            now = where((wish >= s.lo[i]) & (wish <= s.hi[i]) & (s.scale[i] > 0.0), 1.0, 0.0)
            off = where(now > 0.0, 0.0, abs(clipped(wish, s.lo[i], s.hi[i]) - s.xs[i]))
            changed = where((now < s.free[i]) | (now > s.free[i]) | (off > 0.0), 1.0, changed)
        go = where((changed > 0.0) & (sets < CHANGES) | ~(changed > 0.0) & (still > 0.0), go, 0.0)
        if not any(go > 0.0):
            break
        stands = 1
        if any((changed > 0.0) & (go > 0.0)):
            stands = 0
            changed = where(go > 0.0, changed, 0.0)
            sets = where(changed > 0.0, sets + 1.0, sets)
            tries = where(changed > 0.0, tries + 1.0, tries)
            propose = where((changed > 0.0) & (tries >= PATIENCE), 1.0, 0.0)
            if any(propose > 0.0):
                tries = where(propose > 0.0, 0.0, tries)
                for i in range(m):
                    s.xs[i] = where(propose > 0.0, clipped(s.xs[i], s.lo[i], s.hi[i]), s.xs[i])
                gauss_seidel(m, A, s.bs, s.lo, s.hi, s.xs, propose)
                residuals(m, A, s.bs, s.xs, s.w)
            for i in range(m):
                wish = s.xs[i] - s.w[i]
                inside = (wish >= s.lo[i]) & (wish <= s.hi[i]) & (s.scale[i] > 0.0)
                s.free[i] = where(changed > 0.0, where(inside, 1.0, 0.0), s.free[i])
                s.xs[i] = where((changed > 0.0) & ~inside, clipped(wish, s.lo[i], s.hi[i]), s.xs[i])
            last = where(changed > 0.0, HUGE, last)
            rounds = where(changed > 0.0, 0.0, rounds)
            residuals(m, A, s.bs, s.xs, s.w)
    added = in_vain(m, A, s.free, s.xs, s.w, s.L, s.d, s.z, scale_b, added, eps)
    if any(added > 0.0):
        for i in range(m):
            wish = s.xs[i] + added * s.z[i]
            added = where((s.free[i] > 0.0) & ((wish < s.lo[i]) | (wish > s.hi[i])), 0.0, added)
        take_back(m, A, s.bs, s.xs, s.w, s.z, added)
    off = natural_map(m, s.lo, s.hi, s.xs, s.w)
    lost = where(sets >= CHANGES, 1.0, 0.0)
    for i in range(m):
        lost = where((off > ROUGH * scale_b) & (s.free[i] > 0.0) & (s.hi[i] - s.lo[i] < HUGE), 1.0, lost)
        s.rest[i] = s.xs[i]
    if any(lost > 0.0):
        walk(m, A, s, scale_b, eps, lost)
        worse = natural_map(m, s.lo, s.hi, s.xs, s.w) >= off
        for i in range(m):
            s.xs[i] = where(worse, s.rest[i], s.xs[i])
        residuals(m, A, s.bs, s.xs, s.w)
    left[0] = 0.0
    for i in range(m):
        wish = clipped(s.xs[i] - s.w[i], s.lo[i], s.hi[i])
        off = abs(s.xs[i] - wish) / where(s.scale[i] > 0.0, s.scale[i], 1.0)
        left[0] = larger(left[0], where(s.scale[i] > 0.0, off, 0.0))
        x[active[i + 1]] = s.xs[i] * s.scale[i]


@loops
def has_bounds(listed: Boxes) -> bool:
    """Whether a row has a bound, in some lane where it is on."""
    for i in range(listed.active[0]):
        r = listed.active[i + 1]
        if any((listed.on[r] > 0.0) & ((listed.lower[r] > -HUGE) | (listed.upper[r] < HUGE))):
            return True
    return False


@loops
def solve_equations(
    m: Small,
    active: Ints,
    x: Lane,
    A: Lane,
    left: Lane,
    L: Scratch,
    d: Scratch,
    scale: Lane,
    bs: Lane,
    xs: Scratch,
    w: Scratch,
    z: Scratch,
    rest: Scratch,
    eps: float,
) -> None:
    """`solve_scaled` of rows without bounds, to the bit: all are free, and only the proximal rounds are left of it."""
    still = 1.0 + 0.0 * A[0]
    last = HUGE * still
    taken = 0.0 * still
    scale_b = 0.0 * still
    for i in range(m):
        a = i * (i + 1) // 2
        for k in range(i):
            L[a + k] = A[a + k]
        L[a + i] = A[a + i] + eps
        w[i] = bs[i]
        xs[i] = 0.0
        scale_b = larger(scale_b, abs(bs[i]))
    factor(m, L, d, NOTHING)
    rounds = 0
    while rounds < ROUNDS:
        if rounds % 2 == 0:
            for i in range(m):
                rest[i] = -w[i]
        else:
            for i in range(m):
                step = z[i]
                row = i * (i + 1) // 2
                over = rest[i] - A[row + i] * step
                for k in range(i):
                    over -= A[row + k] * z[k]
                    rest[k] -= A[row + k] * step
                rest[i] = over
        size = 0.0 * still
        for i in range(m):
            z[i] = rest[i]
            size = larger(size, abs(z[i]))
        still = where((size < 0.5 * last) & (size > FINE * scale_b), still, 0.0)
        if not any(still > 0.0):
            break
        part = round_part(size, last)
        last = where(still > 0.0, size, last)
        taken = where(still > 0.0, taken + 1.0, taken)
        rounds += 1
        solve(m, L, d, z)
        for i in range(m):
            z[i] = where(still > 0.0, part * z[i], 0.0)
            xs[i] += z[i]
        if rounds % 2 == 0:
            residuals(m, A, bs, xs, w)
    if rounds % 2 == 1:
        residuals(m, A, bs, xs, w)
    take_back(m, A, bs, xs, w, z, in_vain(m, A, scale, xs, w, L, d, z, scale_b, taken, eps))
    left[0] = 0.0
    for i in range(m):
        off = abs(xs[i] - (xs[i] - w[i])) / where(scale[i] > 0.0, scale[i], 1.0)
        left[0] = larger(left[0], where(scale[i] > 0.0, off, 0.0))
        x[active[i + 1]] = xs[i] * scale[i]


@loops
def natural_map(m: int, lo: Lane, hi: Lane, xs: Lane, w: Lane) -> float:
    """The largest |x - projection of x - w|; rows that dropped out have none."""
    off = 0.0 * w[0]
    for i in range(m):
        off = larger(off, abs(xs[i] - clipped(xs[i] - w[i], lo[i], hi[i])))
    return off


@loops
def unit_scales(active: Ints, on: Lane, A: Lane, scale: Lane) -> None:
    """What scales rows to a unit diagonal; zero for those that are off or answer next to nothing, none where none is a number."""
    most = largest(active, on, A)
    for i in range(active[0]):
        a = A[i * (i + 1) // 2 + i]
        here = on[active[i + 1]] > 0.0
        good = here & (a > EMPTY * most)
        scale[i] = where(good, 1.0 / sqrt(where(good, a, 1.0)), where(here, 0.0 * a, 0.0))


@loops
def solve_in_scales(listed: Boxes, A: Lane, left: Lane, s: Scaled, eps: float) -> None:
    """The multipliers x of the listed rows, whose scales are known."""
    if has_bounds(listed):
        scale_rows(listed.active, listed.b, listed.lower, listed.upper, A, s)
        solve_scaled(listed.active, listed.x, A, left, s, eps)
    else:
        scale_system(listed.active, listed.b, A, s.scale, s.bs)
        solve_equations(listed.active[0], listed.active, listed.x, A, left, s.L, s.d, s.scale, s.bs, s.xs, s.w, s.z, s.rest, eps)


@loops
def solve_boxes(listed: Boxes, A: Lane, left: Lane, s: Scaled) -> None:
    """The multipliers x of the listed rows; `left` is the largest residual, in the units of the rows; all else is scratch."""
    unit_scales(listed.active, listed.on, A, s.scale)
    solve_in_scales(listed, A, left, s, EPS)


@loops
def solve_soft_boxes(listed: Boxes, A: Lane, left: Lane, s: Scaled, groups: Table, soft: Lane) -> None:
    """The same for the rows of a step, which may pass through singular positions.

    There a row, or a sum of rows, that could act before and will act after answers nothing for a moment, and what it asks for is
    wrong by the error of the step: divided by next to nothing, that would throw the motion off its branch. Rows of one group have
    the same units, and are scaled alike; what answers less than SOFT of the group is asked for less and less.
    """
    most = largest(listed.active, listed.on, A)
    eps = EPS + 0.0 * most
    for i in range(listed.active[0]):
        s.rest[groups[listed.active[i + 1]]] = 0.0
    for i in range(listed.active[0]):
        r = listed.active[i + 1]
        eps = larger(eps, where(listed.on[r] > 0.0, soft[r], 0.0))
        s.rest[groups[r]] = larger(s.rest[groups[r]], where(listed.on[r] > 0.0, A[i * (i + 1) // 2 + i], 0.0))
    for i in range(listed.active[0]):
        a = A[i * (i + 1) // 2 + i]
        size = s.rest[groups[listed.active[i + 1]]]
        here = listed.on[listed.active[i + 1]] > 0.0
        good = here & (a > EMPTY * most)
        s.scale[i] = where(good, 1.0 / sqrt(where(good, size, 1.0)), where(here, 0.0 * a, 0.0))
    solve_in_scales(listed, A, left, s, eps)
