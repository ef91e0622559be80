"""x of given modes on rows that touch few joints each, and of all such x that of least norm (`sparse_cones`). For one lane."""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, any, loops, maximum
from .cone_modes import choose_modes, list_unknowns, move, right_side, start_modes
from .cone_rows import natural_map
from .cone_search import SMALL
from .sparse_rows import factor_sparse, solve_sparse, sparse_motions, turn_entries

EPS = 1e-7  # relative weight of the last solution in a proximal round
ROUNDS = 4  # proximal, on one factor
LOAD = 1e-7  # of the diagonal: what makes the load of redundant rows unique
LOOSE = 1e4  # times a change of u: x that changes by more is not the only one, nearly
LOADINGS = 8  # steps of Newton's method toward it
ONE_LOAD = 1e-8  # of the largest terms: changes of x that end them
HUGE = 1e300


@loops
def approach_sparse(
    n: int,
    m: int,
    kinds: Ints,
    nb: int,
    at: Ints,
    block: Ints,
    U: Lane,
    Y: Lane,
    R: Lane,
    C: Lane,
    soft: float,
    bs: Lane,
    keep: Lane,
    turn: Lane,
    d: Lane,
    xn: Lane,
    un: Lane,
    z: Lane,
    rest: Lane,
    w: Lane,
    unknowns: Ints,
    slot: Ints,
    order: Ints,
    first: Ints,
    near: Ints,
    H: Lane,
    enough: float,
    rounds: int,
    eps: float,
) -> None:
    """x of given modes by proximal rounds on one factor, until the residual is small or stands still (`cone_modes.approach`)."""
    last = HUGE + 0.0 * eps
    go = 1.0 + 0.0 * eps
    sparse_motions(m, nb, at, block, U, Y, soft, bs, xn, un, w)
    for _ in range(rounds):
        size = right_side(n, m, kinds, keep, turn, un, unknowns, z)
        if not any((size < 0.5 * last) & (size > enough)):
            break
        last = size
        for p in range(n):
            rest[p] = z[p]
        solve_sparse(n, nb, unknowns, at, block, R, C, d, soft, slot, order, first, near, H, z, w)
        for p in range(n):
            z[p] = rest[p] - eps * z[p]
        solve_sparse(n, nb, unknowns, at, block, R, C, d, soft, slot, order, first, near, H, z, w)
        move(n, m, kinds, keep, turn, unknowns, z, xn, go)
        sparse_motions(m, nb, at, block, U, Y, soft, bs, xn, un, w)


@loops
def answers_to_probe(
    m: int,
    nb: int,
    kinds: Ints,
    at: Ints,
    block: Ints,
    R: Lane,
    C: Lane,
    keep: Lane,
    d: Lane,
    soft: float,
    slot: Ints,
    order: Ints,
    first: Ints,
    near: Ints,
    H: Lane,
    unknowns: Ints,
    z: Lane,
    w: Lane,
) -> float:
    """The largest x that changes of u of size 1, all over the place, ask for: large where rows of the modes are redundant."""
    n = list_unknowns(m, kinds, keep, unknowns)
    for p in range(n):
        z[p] = (float(7 * p % 11) - 5.3) * keep[unknowns[p]]
    solve_sparse(n, nb, unknowns, at, block, R, C, d, soft, slot, order, first, near, H, z, w)
    found = 0.0 * soft
    for p in range(n):
        found = maximum(found, abs(z[p]))
    return found


@loops
def settle_load(
    m: int,
    kinds: Ints,
    nb: int,
    at: Ints,
    block: Ints,
    U: Lane,
    Y: Lane,
    R: Lane,
    C: Lane,
    soft: float,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    scale: Lane,
    keep: Lane,
    turn: Lane,
    d: Lane,
    best: Lane,
    xs: Lane,
    xn: Lane,
    un: Lane,
    z: Lane,
    rest: Lane,
    w: Lane,
    unknowns: Ints,
    slot: Ints,
    degree: Ints,
    gone: Ints,
    order: Ints,
    first: Ints,
    near: Ints,
    pivots: Ints,
    H: Lane,
    close_enough: float,
    size: float,
) -> None:
    """Where contacts slide and x is not the only one: that of least norm, if it has the same modes.

    With LOAD more on the diagonal x is unique, and Newton's method goes there from the x found. What LOAD adds to the motion is
    taken away at the end, by proximal rounds that leave the load as it is.
    """
    zero = 0.0 * soft
    one = 1.0 + zero
    slides = zero
    for i in range(m):
        xn[i] = xs[i]
        if kinds[i] == 1:
            slides = maximum(slides, keep[i] - keep[i + 2])
    if not any(slides > 0.0):
        return
    if not any(
        answers_to_probe(m, nb, kinds, at, block, R, C, keep, d, soft, slot, order, first, near, H, unknowns, z, w) > LOOSE
    ):
        return
    loadings = 0
    way = HUGE + zero
    while loadings < LOADINGS and any(way > ONE_LOAD * size):
        loadings += 1
        sparse_motions(m, nb, at, block, U, Y, soft, bs, xn, un, w)
        choose_modes(m, kinds, lo, hi, scale, xn, un, LOAD + zero, keep, turn, d, z)
        n = list_unknowns(m, kinds, keep, unknowns)
        turn_entries(m, kinds, at, keep, turn, U, Y, R, C)
        factor_sparse(n, nb, unknowns, at, block, R, C, keep, d, soft, slot, degree, gone, order, first, near, pivots, H)
        for i in range(m):
            rest[i] = xn[i]
        start_modes(m, kinds, keep, turn, rest, z, xn, one, one)
        for _ in range(2):
            sparse_motions(m, nb, at, block, U, Y, soft + LOAD, bs, xn, un, w)
            right_side(n, m, kinds, keep, turn, un, unknowns, z)
            solve_sparse(n, nb, unknowns, at, block, R, C, d, soft, slot, order, first, near, H, z, w)
            move(n, m, kinds, keep, turn, unknowns, z, xn, one)
        way = zero
        for i in range(m):
            way = maximum(way, abs(xn[i] - rest[i]))
    if loadings > 1:
        sparse_motions(m, nb, at, block, U, Y, soft, bs, xn, un, w)
        choose_modes(m, kinds, lo, hi, scale, xn, un, EPS + zero, keep, turn, d, z)
        n = list_unknowns(m, kinds, keep, unknowns)
        turn_entries(m, kinds, at, keep, turn, U, Y, R, C)
        factor_sparse(n, nb, unknowns, at, block, R, C, keep, d, soft, slot, degree, gone, order, first, near, pivots, H)
        for i in range(m):
            rest[i] = xn[i]
        start_modes(m, kinds, keep, turn, rest, z, xn, one, one)
        approach_sparse(
            n, m, kinds, nb, at, block, U, Y, R, C, soft, bs, keep, turn, d, xn, un, z, rest, w,
            unknowns, slot, order, first, near, H, SMALL * size, ROUNDS, EPS + zero,
        )  # fmt: skip
        if any(natural_map(m, kinds, lo, hi, scale, xn, un, z) <= close_enough):
            for i in range(m):
                best[i] = xn[i]
