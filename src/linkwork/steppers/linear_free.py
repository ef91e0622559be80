"""The matrices of `linear_step` for one state, of the motion that no row holds: columns are those of q, v and tau, nv each.

With N = M^-1 C_v(w) M^-1 and the right-hand sides r1, ra of the first accelerations and of those of the step,

    da1 = M^-1 r1,      da = M^-1 ra - h/2 N r1,      r = (K - E, D - V, 1),

so that da1 itself is not needed. What rows press changes v' by M^-1 rd, rd = d(G^T x) - E_d with q alone, where their multipliers
are held: h da is found with ra + rd / h at once. Matrices lie row by row: n is nv.
"""

from __future__ import annotations

from ..kernel.loops import Lane, Table, loops
from ..kernel.products import add_entries, add_product, add_scaled, clear, copy, put_scaled

FREE, FIRST = 0, 1  # motions of the tree


@loops
def lay_motions(
    nq: int,
    nv: int,
    nb: int,
    motions: int,
    middle: int,
    h: Lane,
    q: Lane,
    v: Lane,
    load: Lane,
    tree_q: Lane,
    tree_v: Lane,
    tree_a: Lane,
    tree_external: Lane,
    v_free: Lane,
) -> None:
    """The motions whose derivatives the tree is asked for: q of all, velocities and loads of the free ones, w = v + h/2 a1."""
    for m in range(motions):
        copy(nq, q, 0, tree_q, m * nq)
    copy(nv, v, 0, tree_v, FREE * nv)
    copy(nv, v, 0, v_free, 0)
    add_scaled(nv, h[0], tree_a, FREE * nv, v_free, 0)
    copy(6 * nb, load, 0, tree_external, FREE * 6 * nb)
    if middle > 0:
        copy(nv, v, 0, tree_v, FIRST * nv)
        copy(6 * nb, load, 0, tree_external, FIRST * 6 * nb)
        add_scaled(nv, 0.5 * h[0], tree_a, FIRST * nv, tree_v, FREE * nv)


# --- forces ------------------------------------------------------------------------------------------------------------------
@loops
def no_slopes(nv: int, damping: Lane, K_diagonal: Lane, D_diagonal: Lane, damping_left: Lane) -> None:
    """No forces."""
    clear(nv, K_diagonal)
    clear(nv, D_diagonal)
    copy(nv, damping, 0, damping_left, 0)


@loops
def diagonal_slopes(
    nv: int,
    forces: int,
    force_dof: Table,
    damping: Lane,
    K_slopes: Lane,
    D_slopes: Lane,
    K_diagonal: Lane,
    D_diagonal: Lane,
    damping_left: Lane,
) -> None:
    """Forces of which each acts on one degree of freedom."""
    no_slopes(nv, damping, K_diagonal, D_diagonal, damping_left)
    for e in range(forces):
        K_diagonal[force_dof[e]] += K_slopes[e]
        D_diagonal[force_dof[e]] += D_slopes[e]
        damping_left[force_dof[e]] -= D_slopes[e]


@loops
def clear_slopes(nv: int, K_joints: Lane, D_joints: Lane) -> None:
    """No forces yet: on bodies they add J^T (K J + D N_v) and J^T D J, see `linear_ports.add_pairs`."""
    clear(nv * nv, K_joints)
    clear(nv * nv, D_joints)


@loops
def take_slopes(nv: int, middle: int, K_joints: Lane, D_joints: Lane, E: Lane, V: Lane) -> None:
    """E - K and V - D instead of E and V of the free motions."""
    for motion in range(1 + middle):
        add_scaled(nv * nv, -1.0, K_joints, 0, E, motion * nv * nv)
        add_scaled(nv * nv, -1.0, D_joints, 0, V, motion * nv * nv)


@loops
def take_pressed(nv: int, h: Lane, pressed_q: Lane, E: Lane) -> None:
    """E - rd / h instead of E of the free motion."""
    add_scaled(nv * nv, -1.0 / h[0], pressed_q, 0, E, FREE * nv * nv)


# --- accelerations -----------------------------------------------------------------------------------------------------------
@loops
def add_answers(
    n: int,
    rows: int,
    motion: int,
    A: Lane,
    E: Lane,
    V: Lane,
    K_diagonal: Lane,
    D_diagonal: Lane,
    out: Lane,
) -> None:
    """out (rows, 3 n) += A (K - E, D - V, 1), of the right-hand sides of a motion; A (rows, n)."""
    w = 3 * n
    e = motion * n * n
    add_product(rows, n, n, -1.0, A, 0, n, 1, E, e, n, out, 0, w)
    add_product(rows, n, n, -1.0, A, 0, n, 1, V, e, n, out, n, w)
    for i in range(rows):
        add_entries(n, A, i * n, K_diagonal, 0, out, i * w)
        add_entries(n, A, i * n, D_diagonal, 0, out, i * w + n)
        add_scaled(n, 1.0, A, i * n, out, i * w + 2 * n)


@loops
def accelerations_of_start(
    nv: int, E: Lane, V: Lane, K_diagonal: Lane, D_diagonal: Lane, M_inverse: Lane, accelerations: Lane
) -> None:
    """da (nv, 3 nv) where velocity terms are those of the start: M^-1 ra."""
    clear(3 * nv * nv, accelerations)
    add_answers(nv, nv, FREE, M_inverse, E, V, K_diagonal, D_diagonal, accelerations)


@loops
def accelerations_of_middle(
    nv: int,
    coupled: int,
    h: Lane,
    E: Lane,
    V: Lane,
    K_diagonal: Lane,
    D_diagonal: Lane,
    damping_left: Lane,
    D_joints: Lane,
    M_inverse: Lane,
    carried: Lane,
    lag: Lane,
    accelerations: Lane,
) -> None:
    """da where they are those of the middle of the step: -M^-1 C_v is M^-1 (D - V), which is at hand, + M^-1 (damping - D).

    coupled   whether D has entries beside its diagonal
    """
    n = nv
    accelerations_of_start(n, E, V, K_diagonal, D_diagonal, M_inverse, accelerations)
    for i in range(n):
        copy(n, accelerations, (3 * i + 1) * n, carried, i * n)
        add_entries(n, M_inverse, i * n, damping_left, 0, carried, i * n)
    if coupled > 0:
        add_product(n, n, n, -1.0, M_inverse, 0, n, 1, D_joints, 0, n, carried, 0, n)
    clear(n * n, lag)
    add_product(n, n, n, 0.5 * h[0], carried, 0, n, 1, M_inverse, 0, n, lag, 0, n)
    add_answers(n, n, FIRST, lag, E, V, K_diagonal, D_diagonal, accelerations)


@loops
def free_changes(nv: int, h: Lane, accelerations: Lane, change: Lane, result: Lane) -> None:
    """dv' = dv + h da in the lower half of the result, what rows press included; nothing is pushed out."""
    n = nv
    half = 3 * n * n
    put_scaled(half, h[0], accelerations, 0, result, half)
    for i in range(n):
        result[half + 3 * i * n + n + i] += 1.0
    clear(half, change)
