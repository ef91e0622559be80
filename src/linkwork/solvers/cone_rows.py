"""Rows with cones in lanes: the problem in scaled rows, its motion, projection and natural map, and Gauss-Seidel.

Rows are scaled to a unit diagonal, the three of a Coulomb cone alike, so that it keeps its shape. There are m of them, and
`kinds` says what each is (see `problem`).
"""

from __future__ import annotations

from ..kernel.loops import Arrays, Ints, Lane, Mask, Strided, all, any, loops, sqrt, where
from ..kernel.products import add_scaled, add_three
from ..kernel.row_sums import motions
from .contact_block import solve_contact
from .extremes import clipped, larger, smaller

BLOCK = 1e-10  # relative weight of the last solution in the solve of one contact
EMPTY = 1e-14  # of the largest diagonal: rows that answer less drop out
HUGE = 1e300
LARGEST = 1e4  # of b: larger x do not count among the largest terms, as they may grow without bound in a jam


class Rows(Arrays):
    """Scaled rows: what they are, bounds, scale and b; coefficients of cones and of rows that others bound are in `hi`."""

    kinds: Ints
    lo: Lane
    hi: Lane
    scale: Lane
    bs: Lane


class Search(Arrays):
    """Where a search is, a number per row: x, to which modes it leads, and their motions; the x with the least natural map, z.

    inside, force   of alternating directions, and scratch
    """

    xs: Lane
    u: Lane
    xn: Lane
    un: Lane
    best: Lane
    inside: Lane
    force: Lane
    z: Lane


@loops
def take_over(m: int, chosen: Mask, a: Lane, b: Lane) -> None:
    """b becomes a in chosen lanes."""
    if any(chosen):
        for i in range(m):
            b[i] = where(chosen, a[i], b[i])


@loops
def largest_terms(m: int, x: Lane, given: float) -> float:
    """What residuals are measured by: the largest x in scaled rows, and at least `given`, the largest b."""
    size = given
    for i in range(m):
        size = larger(size, smaller(abs(x[i]), LARGEST * given))
    return size


@loops
def find_scale(m: int, kinds: Ints, on: Lane, A: Lane, scale: Lane) -> None:
    """The scale of every slot, of the diagonal of A, which becomes that of scaled rows; those with scale zero drop out.

    Where the diagonal is no number, scale and multiplier are none.
    """
    most = 0.0 * A[0]
    for i in range(m):
        most = larger(most, where(on[i] > 0.0, A[i * m + i], 0.0))
    for i in range(m):
        size = A[i * m + i]
        good = (on[i] > 0.0) & (size > EMPTY * most)
        if kinds[i] == 1:
            size = (size + A[(i + 1) * m + i + 1] + A[(i + 2) * m + i + 2]) / 3.0
        if kinds[i] <= 1:
            scale[i] = where(good, 1.0 / sqrt(where(good, size, 1.0)), where(on[i] > 0.0, 0.0 * size, 0.0))
        if kinds[i] == 1:
            scale[i + 1] = scale[i]
            scale[i + 2] = scale[i]
    for i in range(m):
        A[i * m + i] = where(scale[i] > 0.0, A[i * m + i] * (scale[i] * scale[i]), 1.0)


@loops
def scale_cones(m: int, rows: Rows, mu: Lane, xs: Lane) -> None:
    """b, bounds, coefficients and x of slots in scaled rows, in place; the coefficient of rows that another bounds is in `hi`."""
    for i in range(m):
        good = rows.scale[i] > 0.0
        unit = 1.0 / where(good, rows.scale[i], 1.0)
        rows.bs[i] = where(good, rows.bs[i] * rows.scale[i], 0.0)
        xs[i] = where(good, xs[i] * unit, 0.0)
        if rows.kinds[i] == 0:
            rows.lo[i] = where(good, rows.lo[i] * unit, 0.0)
            rows.hi[i] = where(good, rows.hi[i] * unit, 0.0)
        else:
            normal = i
            if rows.kinds[i] < 0:
                normal = i + rows.kinds[i]
            rows.lo[i] = -HUGE
            rows.hi[i] = where(good, mu[i] * (rows.scale[normal] * unit), 0.0)


@loops
def nearest_normal(n: float, t: float, mu: float) -> float:
    """x_n of the point of a cone that is nearest to one with x_n = n and |x_t| = t."""
    inside = (t <= mu * n) & (n >= 0.0)
    return where(inside, n, larger((n + mu * t) / (1.0 + mu * mu), 0.0))


@loops
def nearest_part(n: float, t: float, mu: float) -> float:
    """How much of x_t that point has."""
    inside = (t <= mu * n) & (n >= 0.0)
    return where(inside, 1.0, mu * nearest_normal(n, t, mu) / where(inside | ~(t > 0.0), 1.0, t))


@loops
def project_cones(m: int, rows: Rows, z: Lane) -> None:
    """z becomes the nearest point of the cones; rows bounded by another are projected after it."""
    for i in range(m):
        kind = rows.kinds[i]
        good = rows.scale[i] > 0.0
        if kind == 1:
            n = z[i]
            t = sqrt(z[i + 1] * z[i + 1] + z[i + 2] * z[i + 2])
            part = where(good, nearest_part(n, t, rows.hi[i + 1]), 0.0)
            z[i] = where(good, nearest_normal(n, t, rows.hi[i + 1]), 0.0)
            z[i + 1] = part * z[i + 1]
            z[i + 2] = part * z[i + 2]
        elif kind <= 0:
            low = rows.lo[i]
            high = rows.hi[i]
            if kind < 0:
                high = rows.hi[i] * larger(z[i + kind], 0.0)
                low = -high
            z[i] = where(good, clipped(z[i], low, high), 0.0)


@loops
def natural_map(m: int, rows: Rows, x: Lane, u: Lane, z: Lane) -> float:
    """z = x - P(x - u - s) in scaled rows, and its length: P projects on the cones, s is the shift mu |u_t| of normal rows.

    z may be u. A contact is done at once, as in one lane what is stored and loaded again, or added to one sum, would wait.
    """
    square = 0.0
    for i in range(m):
        kind = rows.kinds[i]
        good = rows.scale[i] > 0.0
        if kind == 1:
            rests = ~(abs(x[i]) + abs(x[i + 1]) + abs(x[i + 2]) > 0.0) & ~(u[i] < 0.0)  # without a force it parts, or stays
            z0 = 0.0 * u[i]  # none where u is no number
            z1 = 0.0 * u[i + 1]
            z2 = 0.0 * u[i + 2]
            if not all(rests):
                mu = rows.hi[i + 1]
                n = x[i] - u[i] - mu * sqrt(u[i + 1] * u[i + 1] + u[i + 2] * u[i + 2])
                t1 = x[i + 1] - u[i + 1]
                t2 = x[i + 2] - u[i + 2]
                t = sqrt(t1 * t1 + t2 * t2)
                normal = where(good, nearest_normal(n, t, mu), 0.0)
                part = where(good, nearest_part(n, t, mu), 0.0)
                z0 = where(rests, z0, x[i] - normal)
                z1 = where(rests, z1, x[i + 1] - part * t1)
                z2 = where(rests, z2, x[i + 2] - part * t2)
            z[i] = z0
            z[i + 1] = z1
            z[i + 2] = z2
            square += z0 * z0 + z1 * z1 + z2 * z2
        elif kind <= 0:
            low = rows.lo[i]
            high = rows.hi[i]
            if kind < 0:
                high = rows.hi[i] * larger(x[i + kind] - z[i + kind], 0.0)
                low = -high
            own = x[i] - where(good, clipped(x[i] - u[i], low, high), 0.0)
            z[i] = own
            square += own * own
    return sqrt(square)


@loops
def sweep_cones(m: int, rows: Rows, A: Lane, At: Lane, xs: Lane, u: Lane, sweeps: int, close: float, go: float) -> None:
    """Block Gauss-Seidel in lanes that go: every contact, every row, given the others. u, which is A xs + b, goes along."""
    for _ in range(sweeps):
        for i in range(m):
            kind = rows.kinds[i]
            live = where(rows.scale[i] > 0.0, go, 0.0)
            if kind == 1:
                a = i * m + i
                x0 = xs[i]
                x1 = xs[i + 1]
                x2 = xs[i + 2]
                c0 = u[i] - (A[a] + BLOCK) * x0 - A[a + 1] * x1 - A[a + 2] * x2
                c1 = u[i + 1] - A[a + m] * x0 - (A[a + m + 1] + BLOCK) * x1 - A[a + m + 2] * x2
                c2 = u[i + 2] - A[a + 2 * m] * x0 - A[a + 2 * m + 1] * x1 - (A[a + 2 * m + 2] + BLOCK) * x2
                solve_contact(m, i, A, rows.hi[i + 1], c0, c1, c2, BLOCK, close, xs, live)
                add_three(m, xs[i] - x0, xs[i + 1] - x1, xs[i + 2] - x2, At, i * m, u, 0)
            elif kind <= 0:
                x0 = xs[i]
                low = rows.lo[i]
                high = rows.hi[i]
                if kind < 0:
                    high = rows.hi[i] * larger(xs[i + kind], 0.0)
                    low = -high
                xs[i] = where(live > 0.0, clipped(x0 - u[i], low, high), x0)
                add_scaled(m, xs[i] - x0, At, i * m, u, 0)


@loops
def what_is_left(m: int, rows: Rows, At: Lane, xs: Lane, u: Lane, z: Lane, left: Strided) -> None:
    """The largest entry of the natural map in the units of u; x becomes that of unscaled rows."""
    motions(m, At, rows.bs, xs, u)
    natural_map(m, rows, xs, u, z)
    tell_left(m, rows, xs, z, left)


@loops
def tell_left(m: int, rows: Rows, xs: Lane, z: Lane, left: Strided) -> None:
    """The same of a natural map z that is known; the rows of a contact have one scale."""
    most = 0.0
    number = 0.0  # NaN where some entry is none
    for i in range(m):
        off = abs(z[i])
        number += 0.0 * off
        if rows.kinds[i] == 1:
            off = larger(off, larger(abs(z[i + 1]), abs(z[i + 2])))
        if rows.kinds[i] <= 1:
            most = larger(most, off / where(rows.scale[i] > 0.0, rows.scale[i], 1.0))
        xs[i] = xs[i] * rows.scale[i]
    left[0] = most + number
