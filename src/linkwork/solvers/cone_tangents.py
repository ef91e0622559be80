"""How the solution of a problem with Coulomb cones changes with the problem: the implicit function theorem on the modes in force.

With u = A x + b and du = A dx + g, g = dA x + db, the modes of rows say

    free, pushing, sticking     du = 0
    at a bound, open            dx = that of the bound, or 0
    sliding, e = u_t / |u_t|    x_t = -mu x_n e:   dx_t + mu e dx_n + mu x_n (1 - e e^T) du_t / |u_t| = -dmu x_n e
    bounded by another          x = +- mu x_n:     dx -+ mu dx_n = +- dmu x_n

one linear system. Redundant rows are softened a little, and proximal rounds take the softness back. At the edge of sticking the
mode in force counts.
"""

from __future__ import annotations

from ..kernel.directional import recalled_by, tangent_of
from ..kernel.loops import Ints, Lane, Table, loops, maximum, sqrt, where
from .box_tangents import KEPT, NEAR, ROUNDS, SOFT, entry
from .boxes import EMPTY, HUGE, largest, solve_boxes, solve_soft_boxes
from .coulomb import solve_packed_cones
from .few_boxes import solve_few_boxes
from .lu import factor_lu, solve_lu

OPEN = 1e-13  # of the largest multiplier: less pushes nothing
EDGE = 1e-9  # of mu x_n: so near to it friction slides
STILL = 1e-13  # of the largest velocity of rows: slower than that nothing slides


@recalled_by(solve_boxes, solve_few_boxes, solve_soft_boxes, solve_packed_cones)
@loops
def recall_solution(active: Ints, x: Lane, left: Lane, known_x: Lane) -> None:
    """The solution that is known."""
    left[0] = 0.0
    for i in range(active[0]):
        x[active[i + 1]] = known_x[active[i + 1]]


@loops
def product_row(m: int, A: Lane, i: int, x: Lane) -> float:
    """(A x)_i of a packed symmetric matrix."""
    total = 0.0 * x[0]
    for k in range(m):
        total += entry(A, i, k) * x[k]
    return total


@loops
def find_modes(
    active: Ints,
    cones: Table,
    mu: Lane,
    on: Lane,
    b: Lane,
    lower: Lane,
    upper: Lane,
    A: Lane,
    x: Lane,
    u: Lane,
    holds: Lane,
    slides: Lane,
    e: Lane,
    f: Lane,
) -> None:
    """1 in `holds` where du = 0, in `slides` where friction is at its limit, with its direction e and f = mu x_n / |u_t|.

    x   in the order of the list; u becomes A x + b
    """
    m = active[0]
    most = largest(active, on, A)
    push = 0.0 * most
    speed = 0.0 * most
    for i in range(m):
        u[i] = b[active[i + 1]] + product_row(m, A, i, x)
        push = maximum(push, abs(x[i]))
        speed = maximum(speed, abs(b[active[i + 1]]))
    for i in range(m):
        r = active[i + 1]
        kind = cones[r]
        slides[i] = 0.0
        e[i] = 0.0
        f[i] = 0.0
        good = (on[r] > 0.0) & (A[i * (i + 1) // 2 + i] > EMPTY * most)
        low = where(abs(lower[r]) < HUGE, NEAR * abs(lower[r]), 0.0)
        high = where(abs(upper[r]) < HUGE, NEAR * abs(upper[r]), 0.0)
        inside = (x[i] > lower[r] + low) & (x[i] < upper[r] - high)
        if kind == 1:
            inside = x[i] > OPEN * push
        if kind < 0:
            normal = x[i + kind]
            limit = mu[r] * normal
            pushes = normal > OPEN * push
            inside = pushes & (abs(x[i]) < limit * (1.0 - EDGE))
            slides[i] = where(good & pushes & ~inside, 1.0, 0.0)
            e[i] = where(x[i] < 0.0, -1.0, 1.0)
        if kind == 2 or kind == 3:
            first = i + 2 - kind
            normal = x[first - 1]
            coefficient = mu[active[first + 1]]
            size = sqrt(x[first] * x[first] + x[first + 1] * x[first + 1])
            slip = sqrt(u[first] * u[first] + u[first + 1] * u[first + 1])
            pushes = normal > OPEN * push
            inside = pushes & ((size < coefficient * normal * (1.0 - EDGE)) | (slip < STILL * speed))
            sliding = good & pushes & ~inside
            slides[i] = where(sliding, 1.0, 0.0)
            e[i] = where(sliding, u[i] / where(sliding, slip, 1.0), 0.0)
            f[i] = where(sliding, coefficient * normal / where(sliding, slip, 1.0), 0.0)
        holds[i] = where(good & inside, 1.0, 0.0)


@loops
def across(active: Ints, cones: Table, i: int, e: Lane, y: Lane) -> float:
    """((1 - e e^T) y)_i for a tangent i of a cone."""
    first = i + 2 - cones[active[i + 1]]
    return y[i] - e[i] * (e[first] * y[first] + e[first + 1] * y[first + 1])


@loops
def modal_row(
    active: Ints, cones: Table, mu: Lane, i: int, holds: Lane, slides: Lane, e: Lane, f: Lane, z: Lane, Az: Lane
) -> float:
    """Row i of the system on z, given A z."""
    kind = cones[active[i + 1]]
    found = where(holds[i] > 0.0, Az[i], z[i])
    if kind == 2 or kind == 3:
        first = i + 2 - kind
        turned = z[i] + mu[active[first + 1]] * e[i] * z[first - 1] + f[i] * across(active, cones, i, e, Az)
        found = where(slides[i] > 0.0, turned, found)
    if kind < 0:
        found = where(slides[i] > 0.0, z[i] - e[i] * mu[active[i + 1]] * z[i + kind], found)
    return found


@tangent_of(solve_packed_cones, **KEPT)
@loops
def cones_tangent(
    active: Ints,
    cones: Table,
    mu: Lane,
    on: Lane,
    b: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    T: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    xs: Lane,
    u: Lane,
    xn: Lane,
    un: Lane,
    best: Lane,
    z: Lane,
    keep: Lane,
    kept_A: Lane,
    d_A: Lane,
    d_mu: Lane,
    d_b: Lane,
    d_lower: Lane,
    d_upper: Lane,
    d_x: Lane,
) -> None:
    """dx of the module's text: holds, slides, e, f are `lo`, `hi`, `un`, `best`; `bs` right-hand sides, `xs` the solution."""
    m = active[0]
    for i in range(m):
        xn[i] = x[active[i + 1]]
        xs[i] = 0.0
    find_modes(active, cones, mu, on, b, lower, upper, kept_A, xn, u, lo, hi, un, best)
    for i in range(m):
        keep[i] = d_b[active[i + 1]] + product_row(m, d_A, i, xn)
    for i in range(m):
        r = active[i + 1]
        kind = cones[r]
        side = 0.0 * keep[i]
        if kind == 0:
            low = where(abs(lower[r]) < HUGE, NEAR * abs(lower[r]), 0.0)
            side = where(on[r] > 0.0, where(xn[i] <= lower[r] + low, d_lower[r], d_upper[r]), 0.0)
        side = where(lo[i] > 0.0, -keep[i], side)
        if kind == 2 or kind == 3:
            first = i + 2 - kind
            turned = -d_mu[active[first + 1]] * xn[first - 1] * un[i] - best[i] * across(active, cones, i, un, keep)
            side = where(hi[i] > 0.0, turned, side)
        if kind < 0:
            side = where(hi[i] > 0.0, un[i] * d_mu[r] * xn[i + kind], side)
        bs[i] = side
    for k in range(m):
        for i in range(m):
            z[i] = 0.0
            u[i] = entry(kept_A, i, k)
        z[k] = 1.0
        for i in range(m):
            soft = 0.0
            if i == k:
                soft = SOFT
            T[i * m + k] = modal_row(active, cones, mu, i, lo, hi, un, best, z, u) + where(lo[i] > 0.0, soft * u[i], 0.0)
    factor_lu(m, T)
    for _ in range(ROUNDS):
        for i in range(m):
            z[i] = bs[i]
        solve_lu(m, T, z)
        for i in range(m):
            xs[i] += z[i]
            u[i] = product_row(m, kept_A, i, z)
        for i in range(m):
            bs[i] -= modal_row(active, cones, mu, i, lo, hi, un, best, z, u)
    for i in range(m):
        d_x[active[i + 1]] = xs[i]
