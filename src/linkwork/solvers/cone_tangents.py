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
from ..kernel.loops import Arrays, Ints, Lane, loops, maximum, sqrt, where
from .box_tangents import KEPT, ROUNDS, SOFT, margin
from .boxes import EMPTY, largest, solve_boxes, solve_soft_boxes
from .cone_modes import Modes
from .cone_rows import Rows, Search
from .coulomb import solve_packed_cones
from .few_boxes import solve_few_boxes
from .gram import entry
from .lu import factor_lu, solve_lu
from .own_rows import Listed

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


class Held(Arrays):
    """The modes in force: 1 in `holds` where du = 0, in `slides` where friction is at its limit, with its direction e and
    f = mu x_n / |u_t|."""

    holds: Lane
    slides: Lane
    e: Lane
    f: Lane


@loops
def find_modes(listed: Listed, A: Lane, x: Lane, u: Lane, held: Held) -> None:
    """The modes in force at x, which is in the order of the list; u becomes A x + b."""
    m = listed.active[0]
    most = largest(listed.active, listed.on, A)
    push = 0.0 * most
    speed = 0.0 * most
    for i in range(m):
        u[i] = listed.b[listed.active[i + 1]] + product_row(m, A, i, x)
        push = maximum(push, abs(x[i]))
        speed = maximum(speed, abs(listed.b[listed.active[i + 1]]))
    for i in range(m):
        r = listed.active[i + 1]
        kind = listed.cones[r]
        held.slides[i] = 0.0
        held.e[i] = 0.0
        held.f[i] = 0.0
        good = (listed.on[r] > 0.0) & (A[i * (i + 1) // 2 + i] > EMPTY * most)
        low = margin(listed.lower[r])
        high = margin(listed.upper[r])
        inside = (x[i] > listed.lower[r] + low) & (x[i] < listed.upper[r] - high)
        if kind == 1:
            inside = x[i] > OPEN * push
        if kind < 0:
            normal = x[i + kind]
            limit = listed.mu[r] * normal
            pushes = normal > OPEN * push
            inside = pushes & (abs(x[i]) < limit * (1.0 - EDGE))
            held.slides[i] = where(good & pushes & ~inside, 1.0, 0.0)
            held.e[i] = where(x[i] < 0.0, -1.0, 1.0)
        if kind == 2 or kind == 3:
            first = i + 2 - kind
            normal = x[first - 1]
            coefficient = listed.mu[listed.active[first + 1]]
            size = sqrt(x[first] * x[first] + x[first + 1] * x[first + 1])
            slip = sqrt(u[first] * u[first] + u[first + 1] * u[first + 1])
            pushes = normal > OPEN * push
            inside = pushes & ((size < coefficient * normal * (1.0 - EDGE)) | (slip < STILL * speed))
            sliding = good & pushes & ~inside
            held.slides[i] = where(sliding, 1.0, 0.0)
            held.e[i] = where(sliding, u[i] / where(sliding, slip, 1.0), 0.0)
            held.f[i] = where(sliding, coefficient * normal / where(sliding, slip, 1.0), 0.0)
        held.holds[i] = where(good & inside, 1.0, 0.0)


@loops
def across(listed: Listed, i: int, e: Lane, y: Lane) -> float:
    """((1 - e e^T) y)_i for a tangent i of a cone."""
    first = i + 2 - listed.cones[listed.active[i + 1]]
    return y[i] - e[i] * (e[first] * y[first] + e[first + 1] * y[first + 1])


@loops
def modal_row(listed: Listed, i: int, held: Held, z: Lane, Az: Lane) -> float:
    """Row i of the system on z, given A z."""
    kind = listed.cones[listed.active[i + 1]]
    found = where(held.holds[i] > 0.0, Az[i], z[i])
    if kind == 2 or kind == 3:
        first = i + 2 - kind
        turned = z[i] + listed.mu[listed.active[first + 1]] * held.e[i] * z[first - 1] + held.f[i] * across(listed, i, held.e, Az)
        found = where(held.slides[i] > 0.0, turned, found)
    if kind < 0:
        found = where(held.slides[i] > 0.0, z[i] - held.e[i] * listed.mu[listed.active[i + 1]] * z[i + kind], found)
    return found


@tangent_of(solve_packed_cones, **KEPT)
@loops
def cones_tangent(
    listed: Listed,
    T: Lane,
    rows: Rows,
    s: Search,
    modes: Modes,
    kept_A: Lane,
    d_A: Lane,
    d_mu: Lane,
    d_b: Lane,
    d_lower: Lane,
    d_upper: Lane,
    d_x: Lane,
) -> None:
    """dx of the module's text: holds, slides, e, f are `lo`, `hi`, `un`, `best`; `bs` right-hand sides, `xs` the solution."""
    m = listed.active[0]
    for i in range(m):
        s.xn[i] = listed.x[listed.active[i + 1]]
        s.xs[i] = 0.0
    find_modes(listed, kept_A, s.xn, s.u, Held(rows.lo, rows.hi, s.un, s.best))
    for i in range(m):
        modes.keep[i] = d_b[listed.active[i + 1]] + product_row(m, d_A, i, s.xn)
    for i in range(m):
        r = listed.active[i + 1]
        kind = listed.cones[r]
        side = 0.0 * modes.keep[i]
        if kind == 0:
            low = margin(listed.lower[r])
            side = where(listed.on[r] > 0.0, where(s.xn[i] <= listed.lower[r] + low, d_lower[r], d_upper[r]), 0.0)
        side = where(rows.lo[i] > 0.0, -modes.keep[i], side)
        if kind == 2 or kind == 3:
            first = i + 2 - kind
            turned = -d_mu[listed.active[first + 1]] * s.xn[first - 1] * s.un[i] - s.best[i] * across(listed, i, s.un, modes.keep)
            side = where(rows.hi[i] > 0.0, turned, side)
        if kind < 0:
            side = where(rows.hi[i] > 0.0, s.un[i] * d_mu[r] * s.xn[i + kind], side)
        rows.bs[i] = side
    for k in range(m):
        for i in range(m):
            s.z[i] = 0.0
            s.u[i] = entry(kept_A, i, k)
        s.z[k] = 1.0
        for i in range(m):
            soft = 0.0
            if i == k:
                soft = SOFT
            row = modal_row(listed, i, Held(rows.lo, rows.hi, s.un, s.best), s.z, s.u)
            T[i * m + k] = row + where(rows.lo[i] > 0.0, soft * s.u[i], 0.0)
    factor_lu(m, T)
    for _ in range(ROUNDS):
        for i in range(m):
            s.z[i] = rows.bs[i]
        solve_lu(m, T, s.z)
        for i in range(m):
            s.xs[i] += s.z[i]
            s.u[i] = product_row(m, kept_A, i, s.z)
        for i in range(m):
            rows.bs[i] -= modal_row(listed, i, Held(rows.lo, rows.hi, s.un, s.best), s.z, s.u)
    for i in range(m):
        d_x[listed.active[i + 1]] = s.xs[i]
