"""x of given modes on rows that touch few joints each, and of all such x that of least norm (`sparse_cones`). For one lane."""

from __future__ import annotations

from ..kernel.loops import Lane, any, loops, maximum
from .block_sparse import Blocks
from .cone_modes import Modes, choose_modes, list_unknowns, move, right_side, sliding, start_modes
from .cone_rows import Rows, Search, natural_map
from .cone_steps import SMALL
from .sparse_rows import Entries, Turned, factor_sparse, solve_sparse, sparse_motions, turn_entries

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
    rows: Rows,
    nb: int,
    entries: Entries,
    turned: Turned,
    modes: Modes,
    soft: float,
    s: Search,
    rest: Lane,
    w: Lane,
    blocks: Blocks,
    enough: float,
    rounds: int,
    eps: float,
) -> None:
    """x of given modes by proximal rounds on one factor, until the residual is small or stands still (`cone_modes.approach`)."""
    last = HUGE + 0.0 * eps
    go = 1.0 + 0.0 * eps
    sparse_motions(m, nb, entries, soft, rows.bs, s.xn, s.un, w)
    for _ in range(rounds):
        size = right_side(n, rows, modes, s.un, s.z)
        if not any((size < 0.5 * last) & (size > enough)):
            break
        last = size
        for p in range(n):
            rest[p] = s.z[p]
        solve_sparse(n, nb, entries, turned, modes, soft, blocks, s.z, w)
        for p in range(n):
            s.z[p] = rest[p] - eps * s.z[p]
        solve_sparse(n, nb, entries, turned, modes, soft, blocks, s.z, w)
        move(n, m, rows, modes, s.z, s.xn, go)
        sparse_motions(m, nb, entries, soft, rows.bs, s.xn, s.un, w)


@loops
def answers_to_probe(
    m: int, nb: int, rows: Rows, entries: Entries, turned: Turned, modes: Modes, soft: float, blocks: Blocks, z: Lane, w: Lane
) -> float:
    """The largest x that changes of u of size 1, all over the place, ask for: large where rows of the modes are redundant."""
    n = list_unknowns(m, rows, modes)
    for p in range(n):
        z[p] = (float(7 * p % 11) - 5.3) * modes.keep[modes.unknowns[p]]
    solve_sparse(n, nb, entries, turned, modes, soft, blocks, z, w)
    found = 0.0 * soft
    for p in range(n):
        found = maximum(found, abs(z[p]))
    return found


@loops
def settle_load(
    m: int,
    rows: Rows,
    nb: int,
    entries: Entries,
    turned: Turned,
    modes: Modes,
    soft: float,
    s: Search,
    rest: Lane,
    w: Lane,
    blocks: Blocks,
    close_enough: float,
    size: float,
) -> None:
    """Where contacts slide and x is not the only one: that of least norm, if it has the same modes.

    With LOAD more on the diagonal x is unique, and Newton's method goes there from the x found. What LOAD adds to the motion is
    taken away at the end, by proximal rounds that leave the load as it is.
    """
    zero = 0.0 * soft
    one = 1.0 + zero
    for i in range(m):
        s.xn[i] = s.xs[i]
    if not any(sliding(m, rows, modes) > 0.0):
        return
    if not any(answers_to_probe(m, nb, rows, entries, turned, modes, soft, blocks, s.z, w) > LOOSE):
        return
    loadings = 0
    way = HUGE + zero
    while loadings < LOADINGS and any(way > ONE_LOAD * size):
        loadings += 1
        sparse_motions(m, nb, entries, soft, rows.bs, s.xn, s.un, w)
        choose_modes(m, rows, s.xn, s.un, LOAD + zero, modes, s.z)
        n = list_unknowns(m, rows, modes)
        turn_entries(m, rows, modes, entries, turned)
        factor_sparse(n, nb, entries, turned, modes, soft, blocks)
        for i in range(m):
            rest[i] = s.xn[i]
        start_modes(m, rows, modes, rest, s.z, s.xn, one, one)
        for _ in range(2):
            sparse_motions(m, nb, entries, soft + LOAD, rows.bs, s.xn, s.un, w)
            right_side(n, rows, modes, s.un, s.z)
            solve_sparse(n, nb, entries, turned, modes, soft, blocks, s.z, w)
            move(n, m, rows, modes, s.z, s.xn, one)
        way = zero
        for i in range(m):
            way = maximum(way, abs(s.xn[i] - rest[i]))
    if loadings > 1:
        sparse_motions(m, nb, entries, soft, rows.bs, s.xn, s.un, w)
        choose_modes(m, rows, s.xn, s.un, EPS + zero, modes, s.z)
        n = list_unknowns(m, rows, modes)
        turn_entries(m, rows, modes, entries, turned)
        factor_sparse(n, nb, entries, turned, modes, soft, blocks)
        for i in range(m):
            rest[i] = s.xn[i]
        start_modes(m, rows, modes, rest, s.z, s.xn, one, one)
        approach_sparse(n, m, rows, nb, entries, turned, modes, soft, s, rest, w, blocks, SMALL * size, ROUNDS, EPS + zero)
        if any(natural_map(m, rows, s.xn, s.un, s.z) <= close_enough):
            for i in range(m):
                s.best[i] = s.xn[i]
