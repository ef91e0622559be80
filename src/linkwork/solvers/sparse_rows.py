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

from ..kernel.loops import Ints, Lane, Table, any, loops, maximum, minimum, sqrt, where
from .block_sparse import add_product, begin_blocks, couple_blocks, factor_blocks, forget_couplings, order_blocks, solve_blocks
from .cone_rows import BLOCK, EMPTY, HUGE
from .contact_block import solve_contact


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
def take_entries(
    rows: Ints,
    starts: Table,
    places: Table,
    freedoms: Table,
    joints: Table,
    local: Ints,
    u: Lane,
    y: Lane,
    at: Ints,
    block: Ints,
    U: Lane,
    Y: Lane,
) -> None:
    """The entries of the listed rows, side by side; `local` are the numbers of the blocks of joints."""
    e = 0
    for i in range(rows[0]):
        at[i] = e
        r = rows[i + 1]
        for a in range(starts[r], starts[r + 1]):
            if freedoms[a] > 0:
                block[e] = local[joints[a]]
                for k in range(6):
                    U[6 * e + k] = 0.0
                    Y[6 * e + k] = 0.0
                for k in range(freedoms[a]):
                    U[6 * e + k] = u[places[a] + k]
                    Y[6 * e + k] = y[places[a] + k]
                e += 1
    at[rows[0]] = e


@loops
def couple(n: int, nb: int, unknowns: Ints, at: Ints, block: Ints, slot: Ints, degree: Ints, near: Ints) -> None:
    """Joints of one row are coupled, of the rows that are unknown."""
    forget_couplings(nb, slot, degree)
    for p in range(n):
        i = unknowns[p]
        for e in range(at[i], at[i + 1]):
            for f in range(at[i], e):
                couple_blocks(nb, block[e], block[f], slot, degree, near)


@loops
def self_answer(i: int, k: int, at: Ints, U: Lane, Y: Lane) -> float:
    """A_ik of two rows with the same joints."""
    found = 0.0 * U[0]
    for e in range(at[i + 1] - at[i]):
        found += product(U[6 * (at[i] + e) :], Y[6 * (at[k] + e) :])
    return found


@loops
def scale_sparse(
    rows: Ints,
    cones: Table,
    mu: Lane,
    on: Lane,
    b: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    at: Ints,
    U: Lane,
    Y: Lane,
    scale: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    xs: Lane,
    z: Lane,
) -> None:
    """The problem in scaled rows, as `cone_rows.scale_cones`; a contact has the scale of those of its rows that are on."""
    m = rows[0]
    most = 0.0 * b[0]
    for i in range(m):
        z[i] = self_answer(i, i, at, U, Y)
        most = maximum(most, where(on[rows[i + 1]] > 0.0, z[i], 0.0))
    for i in range(m):
        r = rows[i + 1]
        first = i
        if cones[r] > 1:
            first = i + 1 - cones[r]
        size = z[i]
        if cones[r] > 0:
            size = z[first]
            acting = 1.0 + 0.0 * most
            for k in range(1, 3):
                acts = on[rows[first + k + 1]] > 0.0
                size += where(acts, z[first + k], 0.0)
                acting += where(acts, 1.0, 0.0)
            size = size / acting
        good = (on[r] > 0.0) & (z[first] > EMPTY * most)
        scale[i] = where(good, 1.0 / sqrt(where(good, size, 1.0)), 0.0)
    for i in range(m):
        r = rows[i + 1]
        good = scale[i] > 0.0
        unit = 1.0 / where(good, scale[i], 1.0)
        for k in range(6 * at[i], 6 * at[i + 1]):
            U[k] = U[k] * scale[i]
            Y[k] = Y[k] * scale[i]
        bs[i] = where(good, b[r] * scale[i], 0.0)
        xs[i] = where(good, x[r] * unit, 0.0)
        if cones[r] == 0:
            lo[i] = where(good, lower[r] * unit, 0.0)
            hi[i] = where(good, upper[r] * unit, 0.0)
        else:
            normal = i
            if cones[r] < 0:
                normal = i + cones[r]
            lo[i] = -HUGE
            hi[i] = where(good, mu[r] * (scale[normal] * unit), 0.0)


@loops
def contact_blocks(m: int, kinds: Ints, at: Ints, U: Lane, Y: Lane, scale: Lane, B: Lane) -> None:
    """The 3 x 3 block of every contact, at 9 i of its normal row."""
    for i in range(m):
        if kinds[i] == 1:
            for k in range(3):
                for j in range(3):
                    B[9 * i + 3 * k + j] = self_answer(i + k, i + j, at, U, Y)
                B[9 * i + 4 * k] = where(scale[i + k] > 0.0, B[9 * i + 4 * k], 1.0)


@loops
def forget_motion(nb: int, w: Lane) -> None:
    """w = 0."""
    for k in range(6 * nb):
        w[k] = 0.0


@loops
def cause(m: int, at: Ints, block: Ints, Y: Lane, x: Lane, w: Lane) -> None:
    """w += Y^T x."""
    for i in range(m):
        if not any(abs(x[i]) > 0.0):
            continue
        for e in range(at[i], at[i + 1]):
            add_scaled(x[i], Y[6 * e :], w[6 * block[e] :])


@loops
def seen(i: int, at: Ints, block: Ints, U: Lane, w: Lane) -> float:
    """What row i sees of a motion."""
    found = 0.0 * w[0]
    for e in range(at[i], at[i + 1]):
        found += product(U[6 * e :], w[6 * block[e] :])
    return found


@loops
def sparse_motions(
    m: int, nb: int, at: Ints, block: Ints, U: Lane, Y: Lane, soft: float, b: Lane, x: Lane, u: Lane, w: Lane
) -> None:
    """u = A x + b."""
    forget_motion(nb, w)
    cause(m, at, block, Y, x, w)
    for i in range(m):
        u[i] = b[i] + soft * x[i] + seen(i, at, block, U, w)


@loops
def sweep_sparse(
    m: int,
    kinds: Ints,
    nb: int,
    at: Ints,
    block: Ints,
    U: Lane,
    Y: Lane,
    B: Lane,
    soft: float,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    scale: Lane,
    xs: Lane,
    w: Lane,
    sweeps: int,
    close: float,
) -> None:
    """Block Gauss-Seidel, forth and back in turn: every contact, every row, given the motion that the others cause."""
    forget_motion(nb, w)
    cause(m, at, block, Y, xs, w)
    for sweep in range(sweeps):
        for step in range(m):
            i = step
            if sweep % 2 == 1:
                i = m - 1 - step
            kind = kinds[i]
            if kind == 1 and any(scale[i] > 0.0):
                x0 = xs[i]
                x1 = xs[i + 1]
                x2 = xs[i + 2]
                a = 9 * i
                c0 = bs[i] + seen(i, at, block, U, w) - B[a] * x0 - B[a + 1] * x1 - B[a + 2] * x2
                if any(c0 >= 0.0) and not any(abs(x0) > 0.0):  # it is open, and stays so
                    continue
                c1 = bs[i + 1] + seen(i + 1, at, block, U, w) - B[a + 3] * x0 - B[a + 4] * x1 - B[a + 5] * x2
                c2 = bs[i + 2] + seen(i + 2, at, block, U, w) - B[a + 6] * x0 - B[a + 7] * x1 - B[a + 8] * x2
                c0 -= BLOCK * x0
                c1 -= BLOCK * x1
                c2 -= BLOCK * x2
                solve_contact(3, 0, B[a:], hi[i + 1], c0, c1, c2, BLOCK + soft, close, xs[i:], 1.0 + 0.0 * soft)
                x0 = xs[i] - x0
                x1 = xs[i + 1] - x1
                x2 = xs[i + 2] - x2
                for e in range(at[i + 1] - at[i]):
                    to = 6 * block[at[i] + e]
                    for k in range(6):
                        y0 = x0 * Y[6 * (at[i] + e) + k]
                        y1 = x1 * Y[6 * (at[i + 1] + e) + k]
                        w[to + k] += y0 + y1 + x2 * Y[6 * (at[i + 2] + e) + k]
            elif kind <= 0 and any(scale[i] > 0.0):
                low = lo[i]
                high = hi[i]
                if kind < 0:
                    high = hi[i] * maximum(xs[i + kind], 0.0)
                    low = -high
                u = bs[i] + soft * xs[i] + seen(i, at, block, U, w)
                new = minimum(maximum(xs[i] - u / (1.0 + soft), low), high)
                for e in range(at[i], at[i + 1]):
                    add_scaled(new - xs[i], Y[6 * e :], w[6 * block[e] :])
                xs[i] = new


@loops
def turn_entries(m: int, kinds: Ints, at: Ints, keep: Lane, turn: Lane, U: Lane, Y: Lane, R: Lane, C: Lane) -> None:
    """R and C: rows and columns of the unknowns of given modes (see `cone_modes`), zero where there is none."""
    for i in range(m):
        kind = kinds[i]
        length = 6 * (at[i + 1] - at[i])
        if kind == 1 and any(keep[i] > 0.0):
            d1 = turn[i + 1]
            d2 = turn[i + 2]
            p = 6 * at[i]
            q = 6 * at[i + 1]
            s = 6 * at[i + 2]
            for k in range(length):
                across = d2 * Y[q + k] - d1 * Y[s + k]
                along = d1 * Y[q + k] + d2 * Y[s + k]
                C[p + k] = keep[i] * (Y[p + k] + turn[i] * along)
                C[q + k] = keep[i + 1] * across
                C[s + k] = keep[i + 2] * along
                across = d2 * U[q + k] - d1 * U[s + k]
                along = d1 * U[q + k] + d2 * U[s + k]
                R[p + k] = keep[i] * U[p + k]
                R[q + k] = keep[i + 1] * across
                R[s + k] = keep[i + 2] * along
        elif kind <= 0:
            p = 6 * at[i]
            for k in range(length):
                C[p + k] = keep[i] * Y[p + k]
                R[p + k] = keep[i] * U[p + k]
            if kind < 0 and any(abs(turn[i]) > 0.0):  # it follows its normal row
                q = 6 * at[i + kind]
                for k in range(length):
                    C[q + k] += keep[i + kind] * turn[i] * Y[p + k]


@loops
def factor_sparse(
    n: int,
    nb: int,
    unknowns: Ints,
    at: Ints,
    block: Ints,
    R: Lane,
    C: Lane,
    keep: Lane,
    d: Lane,
    soft: float,
    slot: Ints,
    degree: Ints,
    left: Ints,
    order: Ints,
    first: Ints,
    near: Ints,
    pivots: Ints,
    H: Lane,
) -> None:
    """The factors of H, of the listed unknowns."""
    couple(n, nb, unknowns, at, block, slot, degree, near)
    count = order_blocks(nb, slot, degree, order, first, near, left)
    begin_blocks(nb, count, slot, H)
    for p in range(n):
        i = unknowns[p]
        if any(keep[i] > 0.0):
            weight = 1.0 / (d[i] + soft)
            for e in range(at[i], at[i + 1]):
                for f in range(at[i], at[i + 1]):
                    add_product(36 * slot[block[e] * nb + block[f]], weight, C[6 * e :], R[6 * f :], H)
    factor_blocks(nb, slot, order, first, near, pivots, H)


@loops
def solve_sparse(
    n: int,
    nb: int,
    unknowns: Ints,
    at: Ints,
    block: Ints,
    R: Lane,
    C: Lane,
    d: Lane,
    soft: float,
    slot: Ints,
    order: Ints,
    first: Ints,
    near: Ints,
    H: Lane,
    z: Lane,
    w: Lane,
) -> None:
    """z = (R C^T + diag d)^-1 z of the listed unknowns, in their order."""
    forget_motion(nb, w)
    for p in range(n):
        i = unknowns[p]
        for e in range(at[i], at[i + 1]):
            add_scaled(z[p] / (d[i] + soft), C[6 * e :], w[6 * block[e] :])
    solve_blocks(nb, slot, order, first, near, H, w)
    for p in range(n):
        i = unknowns[p]
        z[p] = (z[p] - seen(i, at, block, R, w)) / (d[i] + soft)
