"""The matrices of `linear_step` for one state: what the tree is asked, the slopes of forces, and what they do to numbers that are
watched. Columns are those of q, v and tau, nv each.

With the right-hand sides r1, ra of the first accelerations and of those of the step, r = (K - E, D - V, 1),

    da1 = M^-1 r1,      da = M^-1 (ra - h/2 C_v(w) M^-1 r1),

numbers that change by X M da, as v' does with X = h M^-1, and by h/2 Z da1, change by

    X ra + Y r1,      Y = h/2 (Z - X C_v(w)) M^-1.

So accelerations themselves are not needed, and rows that hold v' are in X and Z from the beginning (`linear_rows`). What they
press changes v' by M^-1 rd, rd = d(G^T x) - E_d with q alone, where their multipliers are held: as if ra had rd / h more.
Matrices lie row by row: n is nv.
"""

from __future__ import annotations

from ..kernel.loops import Lane, Table, loops
from ..kernel.matrix_rows import put_sum
from ..kernel.products import add_product, add_scaled, clear, copy, put_entries, put_product, put_scaled
from .linear_pattern import add_sparse, put_sparse

FREE, FIRST = 0, 1  # motions of the tree


@loops
def lay_motions(
    nq: int,
    nv: int,
    nb: int,
    motions: int,
    middle: int,
    held_motion: int,
    h: Lane,
    q: Lane,
    v: Lane,
    a: Lane,
    load: Lane,
    tree_q: Lane,
    tree_v: Lane,
    tree_a: Lane,
    tree_external: Lane,
    v_free: Lane,
) -> None:
    """The motions whose derivatives the tree is asked for, at q: with velocities and loads the first guess, and that of the step,
    w = v + h/2 a1, with what rows add to it: E of both together is that of their sum, as it is linear in a and loads."""
    n = nv
    for m in range(motions):
        copy(nq, q, 0, tree_q, m * nq)
    copy(n, v, 0, tree_v, FREE * n)
    copy(n, v, 0, v_free, 0)
    add_scaled(n, h[0], a, 0, v_free, 0)
    copy(n, a, 0, tree_a, FREE * n)
    copy(6 * nb, load, 0, tree_external, FREE * 6 * nb)
    if middle > 0:
        copy(n, v, 0, tree_v, FIRST * n)
        copy(6 * nb, load, 0, tree_external, FIRST * 6 * nb)
        add_scaled(n, 0.5 * h[0], tree_a, FIRST * n, tree_v, FREE * n)
    if held_motion > 0:
        add_scaled(n, 1.0 / h[0], tree_a, held_motion * n, tree_a, FREE * n)
        add_scaled(6 * nb, 1.0 / h[0], tree_external, held_motion * 6 * nb, tree_external, FREE * 6 * nb)


# --- forces ------------------------------------------------------------------------------------------------------------------
@loops
def no_slopes(nv: int, damping: Lane, damping_left: Lane) -> None:
    """No forces."""
    copy(nv, damping, 0, damping_left, 0)


@loops
def take_diagonal_slopes(
    nv: int,
    middle: int,
    forces: int,
    force_dof: Table,
    damping: Lane,
    K_slopes: Lane,
    D_slopes: Lane,
    damping_left: Lane,
    E: Lane,
    V: Lane,
) -> None:
    """E - K and V - D instead of E and V of the free motions, of forces of which each acts on one degree of freedom."""
    no_slopes(nv, damping, damping_left)
    for e in range(forces):
        i = force_dof[e]
        damping_left[i] -= D_slopes[e]
        for motion in range(1 + middle):
            E[(motion * nv + i) * nv + i] -= K_slopes[e]
            V[(motion * nv + i) * nv + i] -= D_slopes[e]


@loops
def clear_slopes(nv: int, K_joints: Lane, D_joints: Lane) -> None:
    """No forces yet: on bodies they add J^T (K J + D N_v) and J^T D J, see `linear_ports.add_pairs`."""
    clear(nv * nv, K_joints)
    clear(nv * nv, D_joints)


@loops
def take_slopes(nv: int, middle: int, K_joints: Lane, D_joints: Lane, E: Lane, V: Lane) -> None:
    """The same of other forces."""
    for motion in range(1 + middle):
        add_scaled(nv * nv, -1.0, K_joints, 0, E, motion * nv * nv)
        add_scaled(nv * nv, -1.0, D_joints, 0, V, motion * nv * nv)


# --- what they do to numbers that are watched --------------------------------------------------------------------------------
@loops
def forces_on_velocities(nv: int, h: Lane, M_inverse: Lane, X: Lane) -> None:
    """X of v', no row in force: h M^-1."""
    put_scaled(nv * nv, h[0], M_inverse, 0, X, 0)


@loops
def lay_answers(
    rows: int,
    nv: int,
    middle: int,
    parts: int,
    part_at: Table,
    part_size: Table,
    part_list: Table,
    part_rows: Table,
    listed_rows: Table,
    E: Lane,
    V: Lane,
    X: Lane,
    out: Lane,
    o: int,
) -> None:
    """X ra (rows, 3 n), from record o on; X (rows, n). Of tau where nothing is added to it, see `add_first_answers`."""
    n = nv
    e = FREE * n * n
    put_sparse(rows, n, parts, part_at, part_size, part_list, part_rows, listed_rows, -1.0, X, E, e, out, o, 3 * n)
    put_sparse(rows, n, parts, part_at, part_size, part_list, part_rows, listed_rows, -1.0, X, V, e, out, o + n, 3 * n)
    if middle == 0:
        for i in range(rows):
            copy(n, X, i * n, out, o + (3 * i + 2) * n)


@loops
def carry_to_middle(
    rows: int,
    nv: int,
    coupled: int,
    damping_left: Lane,
    D_joints: Lane,
    X: Lane,
    out: Lane,
    o: int,
    carried: Lane,
) -> None:
    """-X C_v(w) (rows, n): X (D - V), which is in X ra, + X (damping - D).

    out       (rows, 3 n) from record o on: X ra, nothing else
    coupled   whether D has entries beside its diagonal
    """
    n = nv
    for i in range(rows):
        put_entries(n, X, i * n, damping_left, out, o + (3 * i + 1) * n, carried, i * n)
    if coupled > 0:
        add_product(rows, n, n, -1.0, X, 0, n, 1, D_joints, 0, n, carried, 0, n)


@loops
def add_first_answers(
    rows: int,
    nv: int,
    parts: int,
    part_at: Table,
    part_size: Table,
    part_list: Table,
    part_rows: Table,
    listed_rows: Table,
    h: Lane,
    E: Lane,
    V: Lane,
    M_inverse: Lane,
    X: Lane,
    carried: Lane,
    Y: Lane,
    out: Lane,
    o: int,
) -> None:
    """Y r1 more, of slopes Z - X C_v(w) with the velocities of the middle of the step, which are carried there; X + Y of tau."""
    n = nv
    e = FIRST * n * n
    put_product(rows, n, n, 0.5 * h[0], carried, 0, n, 1, M_inverse, 0, n, Y, 0, n)
    add_sparse(rows, n, parts, part_at, part_size, part_list, part_rows, listed_rows, -1.0, Y, E, e, out, o, 3 * n)
    add_sparse(rows, n, parts, part_at, part_size, part_list, part_rows, listed_rows, -1.0, Y, V, e, out, o + n, 3 * n)
    put_sum(rows, n, X, Y, out, o + 2 * n, 3 * n)


@loops
def add_velocities(nv: int, result: Lane, lower_half: int) -> None:
    """v' has v in it."""
    for i in range(nv):
        result[lower_half + (3 * i + 1) * nv + i] += 1.0
