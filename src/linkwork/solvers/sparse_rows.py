"""Rows with cones that touch few joints each: A = U Y^T as it stands, never as a matrix.

The u and y of a row (`elements.supports`) lie at the joints on its path. With Y = U D^-1 the motion that multipliers cause is
w = Y^T x at the joints, and the rows see b + U w: a product with A costs as much as the rows have entries, and Gauss-Seidel that
keeps w up to date no more in a sweep. The rows of given modes (`cone_modes`) are a system of rows and columns that are turned,
R = turn U and C = turn Y, with weights d on the diagonal. By Woodbury, with one 6 x 6 block for every joint (`block_sparse`),

    (R C^T + diag d) z = r:      H w = C^T (r / d),    z = (r - R w) / d,    H = 1 + C^T diag(1/d) R

Blocks of joints with fewer freedoms are filled up with zeros. Rows are scaled as those of `cone_rows`; `soft` is added to the
diagonal of A in scaled rows. For one lane. Lists of rows are those of `coulomb.solve_cones`; of row i of a list, entries

    at[i] ... at[i + 1]    have the joint block[e], and U, Y, R, C from 6 e on; the rows of a contact have the same joints.
"""

from __future__ import annotations

from ..kernel.loops import Arrays, Ints, Lane, Table, any, loops, maximum, minimum, sqrt, where
from .block_sparse import (
    Blocks,
    add_product,
    begin_blocks,
    couple_blocks,
    factor_blocks,
    forget_couplings,
    order_blocks,
    solve_blocks,
)
from .cone_modes import Modes
from .cone_rows import BLOCK, EMPTY, HUGE, Rows
from .contact_block import solve_contact
from .own_rows import Listed


class Paths(Arrays):
    """The joints of rows, and what rows leave there: where those of every row begin; of each the place of u and y, how many
    numbers these have, and which joint it is."""

    starts: Table
    places: Table
    freedoms: Table
    joints: Table
    u_rows: Lane
    y_rows: Lane


class Entries(Arrays):
    """Rows at their joints, side by side; see the module's text."""

    at: Ints
    block: Ints
    U: Lane
    Y: Lane


class Turned(Arrays):
    """The same rows and columns turned as modes say, and left out."""

    R: Lane
    C: Lane


@loops
def product(a: Lane, b: Lane) -> float:
    """a . b of two entries."""
    one = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    two = a[3] * b[3] + a[4] * b[4] + a[5] * b[5]
    return one + two


@loops
def add_scaled(factor: float, a: Lane, w: Lane) -> None:
    """w += factor a of two entries."""
    for k in range(6):
        w[k] += factor * a[k]


@loops
def take_entries(listed: Listed, paths: Paths, local: Ints, entries: Entries) -> None:
    """The entries of the listed rows, side by side; `local` are the numbers of the blocks of joints."""
    e = 0
    for i in range(listed.active[0]):
        entries.at[i] = e
        r = listed.active[i + 1]
        for a in range(paths.starts[r], paths.starts[r + 1]):
            if paths.freedoms[a] > 0:
                entries.block[e] = local[paths.joints[a]]
                for k in range(6):
                    entries.U[6 * e + k] = 0.0
                    entries.Y[6 * e + k] = 0.0
                for k in range(paths.freedoms[a]):
                    entries.U[6 * e + k] = paths.u_rows[paths.places[a] + k]
                    entries.Y[6 * e + k] = paths.y_rows[paths.places[a] + k]
                e += 1
    entries.at[listed.active[0]] = e


@loops
def couple(n: int, nb: int, modes: Modes, entries: Entries, blocks: Blocks) -> None:
    """Joints of one row are coupled, of the rows that are unknown."""
    forget_couplings(nb, blocks)
    for p in range(n):
        i = modes.unknowns[p]
        for e in range(entries.at[i], entries.at[i + 1]):
            for f in range(entries.at[i], e):
                couple_blocks(nb, entries.block[e], entries.block[f], blocks)


@loops
def self_answer(i: int, k: int, entries: Entries) -> float:
    """A_ik of two rows with the same joints."""
    found = 0.0 * entries.U[0]
    for e in range(entries.at[i + 1] - entries.at[i]):
        found += product(entries.U[6 * (entries.at[i] + e) :], entries.Y[6 * (entries.at[k] + e) :])
    return found


@loops
def scale_sparse(listed: Listed, entries: Entries, rows: Rows, xs: Lane, z: Lane) -> None:
    """The problem in scaled rows, as `cone_rows.scale_cones`; a contact has the scale of those of its rows that are on."""
    m = listed.active[0]
    most = 0.0 * listed.b[0]
    for i in range(m):
        z[i] = self_answer(i, i, entries)
        most = maximum(most, where(listed.on[listed.active[i + 1]] > 0.0, z[i], 0.0))
    for i in range(m):
        r = listed.active[i + 1]
        first = i
        if listed.cones[r] > 1:
            first = i + 1 - listed.cones[r]
        size = z[i]
        if listed.cones[r] > 0:
            size = z[first]
            acting = 1.0 + 0.0 * most
            for k in range(1, 3):
                acts = listed.on[listed.active[first + k + 1]] > 0.0
                size += where(acts, z[first + k], 0.0)
                acting += where(acts, 1.0, 0.0)
            size = size / acting
        good = (listed.on[r] > 0.0) & (z[first] > EMPTY * most)
        rows.scale[i] = where(good, 1.0 / sqrt(where(good, size, 1.0)), 0.0)
    for i in range(m):
        r = listed.active[i + 1]
        good = rows.scale[i] > 0.0
        unit = 1.0 / where(good, rows.scale[i], 1.0)
        for k in range(6 * entries.at[i], 6 * entries.at[i + 1]):
            entries.U[k] = entries.U[k] * rows.scale[i]
            entries.Y[k] = entries.Y[k] * rows.scale[i]
        rows.bs[i] = where(good, listed.b[r] * rows.scale[i], 0.0)
        xs[i] = where(good, listed.x[r] * unit, 0.0)
        if listed.cones[r] == 0:
            rows.lo[i] = where(good, listed.lower[r] * unit, 0.0)
            rows.hi[i] = where(good, listed.upper[r] * unit, 0.0)
        else:
            normal = i
            if listed.cones[r] < 0:
                normal = i + listed.cones[r]
            rows.lo[i] = -HUGE
            rows.hi[i] = where(good, listed.mu[r] * (rows.scale[normal] * unit), 0.0)


@loops
def contact_blocks(m: int, rows: Rows, entries: Entries, B: Lane) -> None:
    """The 3 x 3 block of every contact, at 9 i of its normal row."""
    for i in range(m):
        if rows.kinds[i] == 1:
            for k in range(3):
                for j in range(3):
                    B[9 * i + 3 * k + j] = self_answer(i + k, i + j, entries)
                B[9 * i + 4 * k] = where(rows.scale[i + k] > 0.0, B[9 * i + 4 * k], 1.0)


@loops
def forget_motion(nb: int, w: Lane) -> None:
    """w = 0."""
    for k in range(6 * nb):
        w[k] = 0.0


@loops
def cause(m: int, entries: Entries, x: Lane, w: Lane) -> None:
    """w += Y^T x."""
    for i in range(m):
        if not any(abs(x[i]) > 0.0):
            continue
        for e in range(entries.at[i], entries.at[i + 1]):
            add_scaled(x[i], entries.Y[6 * e :], w[6 * entries.block[e] :])


@loops
def seen(i: int, entries: Entries, w: Lane) -> float:
    """What row i sees of a motion."""
    found = 0.0 * w[0]
    for e in range(entries.at[i], entries.at[i + 1]):
        found += product(entries.U[6 * e :], w[6 * entries.block[e] :])
    return found


@loops
def sparse_motions(m: int, nb: int, entries: Entries, soft: float, b: Lane, x: Lane, u: Lane, w: Lane) -> None:
    """u = A x + b."""
    forget_motion(nb, w)
    cause(m, entries, x, w)
    for i in range(m):
        u[i] = b[i] + soft * x[i] + seen(i, entries, w)


@loops
def sweep_sparse(
    m: int, rows: Rows, nb: int, entries: Entries, B: Lane, soft: float, xs: Lane, w: Lane, sweeps: int, close: float
) -> None:
    """Block Gauss-Seidel, forth and back in turn: every contact, every row, given the motion that the others cause."""
    forget_motion(nb, w)
    cause(m, entries, xs, w)
    for sweep in range(sweeps):
        for step in range(m):
            i = step
            if sweep % 2 == 1:
                i = m - 1 - step
            kind = rows.kinds[i]
            if kind == 1 and any(rows.scale[i] > 0.0):
                x0 = xs[i]
                x1 = xs[i + 1]
                x2 = xs[i + 2]
                a = 9 * i
                c0 = rows.bs[i] + seen(i, entries, w) - B[a] * x0 - B[a + 1] * x1 - B[a + 2] * x2
                if any(c0 >= 0.0) and not any(abs(x0) > 0.0):  # it is open, and stays so
                    continue
                c1 = rows.bs[i + 1] + seen(i + 1, entries, w) - B[a + 3] * x0 - B[a + 4] * x1 - B[a + 5] * x2
                c2 = rows.bs[i + 2] + seen(i + 2, entries, w) - B[a + 6] * x0 - B[a + 7] * x1 - B[a + 8] * x2
                c0 -= BLOCK * x0
                c1 -= BLOCK * x1
                c2 -= BLOCK * x2
                solve_contact(3, 0, B[a:], rows.hi[i + 1], c0, c1, c2, BLOCK + soft, close, xs[i:], 1.0 + 0.0 * soft)
                x0 = xs[i] - x0
                x1 = xs[i + 1] - x1
                x2 = xs[i + 2] - x2
                for e in range(entries.at[i + 1] - entries.at[i]):
                    to = 6 * entries.block[entries.at[i] + e]
                    for k in range(6):
                        y0 = x0 * entries.Y[6 * (entries.at[i] + e) + k]
                        y1 = x1 * entries.Y[6 * (entries.at[i + 1] + e) + k]
                        w[to + k] += y0 + y1 + x2 * entries.Y[6 * (entries.at[i + 2] + e) + k]
            elif kind <= 0 and any(rows.scale[i] > 0.0):
                low = rows.lo[i]
                high = rows.hi[i]
                if kind < 0:
                    high = rows.hi[i] * maximum(xs[i + kind], 0.0)
                    low = -high
                u = rows.bs[i] + soft * xs[i] + seen(i, entries, w)
                new = minimum(maximum(xs[i] - u / (1.0 + soft), low), high)
                for e in range(entries.at[i], entries.at[i + 1]):
                    add_scaled(new - xs[i], entries.Y[6 * e :], w[6 * entries.block[e] :])
                xs[i] = new


@loops
def turn_entries(m: int, rows: Rows, modes: Modes, entries: Entries, turned: Turned) -> None:
    """R and C: rows and columns of the unknowns of given modes (see `cone_modes`), zero where there is none."""
    for i in range(m):
        kind = rows.kinds[i]
        length = 6 * (entries.at[i + 1] - entries.at[i])
        if kind == 1 and any(modes.keep[i] > 0.0):
            d1 = modes.turn[i + 1]
            d2 = modes.turn[i + 2]
            p = 6 * entries.at[i]
            q = 6 * entries.at[i + 1]
            s = 6 * entries.at[i + 2]
            for k in range(length):
                across = d2 * entries.Y[q + k] - d1 * entries.Y[s + k]
                along = d1 * entries.Y[q + k] + d2 * entries.Y[s + k]
                turned.C[p + k] = modes.keep[i] * (entries.Y[p + k] + modes.turn[i] * along)
                turned.C[q + k] = modes.keep[i + 1] * across
                turned.C[s + k] = modes.keep[i + 2] * along
                across = d2 * entries.U[q + k] - d1 * entries.U[s + k]
                along = d1 * entries.U[q + k] + d2 * entries.U[s + k]
                turned.R[p + k] = modes.keep[i] * entries.U[p + k]
                turned.R[q + k] = modes.keep[i + 1] * across
                turned.R[s + k] = modes.keep[i + 2] * along
        elif kind <= 0:
            p = 6 * entries.at[i]
            for k in range(length):
                turned.C[p + k] = modes.keep[i] * entries.Y[p + k]
                turned.R[p + k] = modes.keep[i] * entries.U[p + k]
            if kind < 0 and any(abs(modes.turn[i]) > 0.0):  # it follows its normal row
                q = 6 * entries.at[i + kind]
                for k in range(length):
                    turned.C[q + k] += modes.keep[i + kind] * modes.turn[i] * entries.Y[p + k]


@loops
def factor_sparse(n: int, nb: int, entries: Entries, turned: Turned, modes: Modes, soft: float, blocks: Blocks) -> None:
    """The factors of H, of the listed unknowns."""
    couple(n, nb, modes, entries, blocks)
    count = order_blocks(nb, blocks)
    begin_blocks(nb, count, blocks)
    for p in range(n):
        i = modes.unknowns[p]
        if any(modes.keep[i] > 0.0):
            weight = 1.0 / (modes.more[i] + soft)
            for e in range(entries.at[i], entries.at[i + 1]):
                for f in range(entries.at[i], entries.at[i + 1]):
                    add_product(
                        36 * blocks.slot[entries.block[e] * nb + entries.block[f]],
                        weight,
                        turned.C[6 * e :],
                        turned.R[6 * f :],
                        blocks.H,
                    )
    factor_blocks(nb, blocks)


@loops
def solve_sparse(
    n: int, nb: int, entries: Entries, turned: Turned, modes: Modes, soft: float, blocks: Blocks, z: Lane, w: Lane
) -> None:
    """z = (R C^T + diag d)^-1 z of the listed unknowns, in their order."""
    forget_motion(nb, w)
    for p in range(n):
        i = modes.unknowns[p]
        for e in range(entries.at[i], entries.at[i + 1]):
            add_scaled(z[p] / (modes.more[i] + soft), turned.C[6 * e :], w[6 * entries.block[e] :])
    solve_blocks(nb, blocks, w)
    for p in range(n):
        i = modes.unknowns[p]
        z[p] = (z[p] - seen(i, Entries(entries.at, entries.block, turned.R, turned.C), w)) / (modes.more[i] + soft)
