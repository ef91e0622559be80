"""The matrices of `linear_step` for one state, of the motion that no row holds: columns are those of q, v and tau, nv each.

With N = M^-1 C_v(w) M^-1 and the right-hand sides r1, ra of the first accelerations and of those of the step,

    da1 = M^-1 r1,      da = M^-1 ra - h/2 N r1,      r = (K - E, D - V, 1),

so that da1 itself is not needed. Matrices lie row by row: n is nv.
"""

from __future__ import annotations

from ..kernel.loops import Lane, loops
from ..kernel.products import add_product, add_scaled, clear, copy

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


@loops
def no_slopes(nv: int, K_joints: Lane, D_joints: Lane) -> None:
    """No forces yet: on bodies they add J^T (K J + D N_v) and J^T D J, see `linear_ports.add_pairs`."""
    clear(nv * nv, K_joints)
    clear(nv * nv, D_joints)


@loops
def lay_right(n: int, motion: int, E: Lane, V: Lane, K: Lane, D: Lane, right: Lane) -> None:
    """(K - E, D - V) of a motion."""
    e = motion * n * n
    for i in range(n):
        copy(n, K, i * n, right, 2 * i * n)
        copy(n, D, i * n, right, 2 * i * n + n)
        add_scaled(n, -1.0, E, e + i * n, right, 2 * i * n)
        add_scaled(n, -1.0, V, e + i * n, right, 2 * i * n + n)


@loops
def accelerations_of_start(
    nv: int, E: Lane, V: Lane, K_joints: Lane, D_joints: Lane, M_inverse: Lane, right: Lane, accelerations: Lane
) -> None:
    """da (nv, 3 nv) where velocity terms are those of the start: M^-1 ra."""
    n = nv
    lay_right(n, FREE, E, V, K_joints, D_joints, right)
    clear(3 * n * n, accelerations)
    add_product(n, 2 * n, n, 1.0, M_inverse, 0, n, 1, right, 0, 2 * n, accelerations, 0, 3 * n)
    for i in range(n):
        copy(n, M_inverse, i * n, accelerations, (3 * i + 2) * n)


@loops
def accelerations_of_middle(
    nv: int,
    slack: int,
    h: Lane,
    E: Lane,
    V: Lane,
    K_joints: Lane,
    D_joints: Lane,
    M_inverse: Lane,
    damping: Lane,
    coriolis: Lane,
    carried: Lane,
    right: Lane,
    right_first: Lane,
    accelerations: Lane,
) -> None:
    """da where they are those of the middle of the step; right_first is r1.

    slack   whether D has entries on its diagonal alone: then M^-1 C_v = M^-1 (D - damping) - M^-1 (D - V) is at hand
    """
    n = nv
    accelerations_of_start(n, E, V, K_joints, D_joints, M_inverse, right, accelerations)
    lay_right(n, FIRST, E, V, K_joints, D_joints, right_first)
    if slack > 0:
        for j in range(n):
            right[j] = D_joints[j * n + j] - damping[j]
        for i in range(n):
            for j in range(n):
                carried[i * n + j] = M_inverse[i * n + j] * right[j] - accelerations[3 * i * n + n + j]
    else:
        copy(n * n, V, FREE * n * n, coriolis, 0)
        for i in range(n):
            coriolis[i * n + i] -= damping[i]
        clear(n * n, carried)
        add_product(n, n, n, 1.0, M_inverse, 0, n, 1, coriolis, 0, n, carried, 0, n)
    clear(n * n, coriolis)
    add_product(n, n, n, -0.5 * h[0], carried, 0, n, 1, M_inverse, 0, n, coriolis, 0, n)
    add_product(n, 2 * n, n, 1.0, coriolis, 0, n, 1, right_first, 0, 2 * n, accelerations, 0, 3 * n)
    for i in range(n):
        add_scaled(n, 1.0, coriolis, i * n, accelerations, (3 * i + 2) * n)


@loops
def free_changes(nv: int, h: Lane, accelerations: Lane, change: Lane, result: Lane) -> None:
    """dv' = dv + h da in the lower half of the result; nothing is pushed out."""
    n = nv
    half = 3 * n * n
    clear(half, result[half:])
    add_scaled(half, h[0], accelerations, 0, result, half)
    for i in range(n):
        result[half + 3 * i * n + n + i] += 1.0
    clear(half, change)
