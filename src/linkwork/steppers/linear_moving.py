"""The matrices of `linear_step` for one state, of what is pushed out by a way that changes with what moves: nothing as a rule.

Displaced rows (`linear_out`) that do not hold are `late`: their w changes by

    B_q dq + B_v dv + F da + h/2 B_w da1 + G J (dv' - dv)      (see `linear_rows`);

others may see velocities and accelerations themselves. Both are the rows that move, on a list of their own.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, Table, any, loops, where
from ..kernel.products import add_product, add_scaled, copy, put_product
from .linear_free import add_first_answers, carry_to_middle, lay_answers
from .linear_ports import OF_Q, OF_V, THREE
from .linear_rows import take_unlike


@loops
def notice_open(
    modal_width: int,
    displaced_rows: Table,
    row_first: Table,
    row_end: Table,
    out_acting: Ints,
    h: Lane,
    P_u: Lane,
    P_x: Lane,
    slow: Lane,
    moves: Lane,
    late: Lane,
    moving: Lane,
    out_moving: Ints,
) -> None:
    """h of displaced rows whose w counts and changes, `late`, else 0: it does not where a row holds.

    out_moving   how many are late or see what moves otherwise, then they
    moving       1 if there are some, else 0
    """
    n = 0
    for i in range(out_acting[0]):
        r = displaced_rows[out_acting[i + 1]]
        at = r * modal_width - row_first[r]
        changes = abs(P_u[at + r] - 1.0)
        for k in range(row_first[r], row_end[r]):
            changes += abs(P_x[at + k])
            if k != r:
                changes += abs(P_u[at + k])
        late[i] = where(changes > 0.0, h[0] * slow[r], 0.0)
        if any((late[i] > 0.0) | (moves[i] > 0.0)):
            n += 1
            out_moving[n] = i
    out_moving[0] = n
    moving[0] = 1.0 * min(n, 1)


@loops
def take_listed(n: int, listed: Ints, A: Lane, B: Lane) -> None:
    """The rows of A on a list, of n numbers each, one after the other in B."""
    for e in range(listed[0]):
        copy(n, A, listed[e + 1] * n, B, e * n)


@loops
def answer_motion(
    nv: int,
    middle: int,
    coupled: int,
    parts: int,
    part_at: Table,
    part_size: Table,
    part_list: Table,
    part_rows: Table,
    listed_rows: Table,
    out_moving: Ints,
    out_among: Ints,
    h: Lane,
    E: Lane,
    V: Lane,
    M_inverse: Lane,
    damping_left: Lane,
    D_joints: Lane,
    late: Lane,
    unlike: Lane,
    unlike_answered: Lane,
    on_middle: Lane,
    out_on_accelerations: Lane,
    out_on_middle: Lane,
    pressed_q: Lane,
    X: Lane,
    Y: Lane,
    carried: Lane,
    out_g: Lane,
) -> None:
    """What rows that move see of accelerations and of the middle of the step (rows, 3 nv), what is late with it."""
    n = nv
    m = out_moving[0]
    take_listed(n, out_moving, out_on_accelerations, Y)
    put_product(m, n, n, 1.0, Y, 0, n, 1, M_inverse, 0, n, X, 0, n)
    for e in range(m):
        i = out_moving[e + 1]
        add_scaled(n, late[i], on_middle, out_among[i] * n, out_on_middle, i * n)
        if any(unlike[0] > 0.0):
            add_scaled(n, late[i], unlike_answered, out_among[i] * n, X, e * n)
    lay_answers(m, n, middle, parts, part_at, part_size, part_list, part_rows, listed_rows, E, V, X, out_g, 0)
    if middle > 0:
        carry_to_middle(m, n, coupled, damping_left, D_joints, X, out_g, 0, carried)
        for e in range(m):
            add_scaled(n, 1.0, out_on_middle, out_moving[e + 1] * n, carried, e * n)
        add_first_answers(
            m, n, parts, part_at, part_size, part_list, part_rows, listed_rows, h, E, V, M_inverse, X, carried, Y, out_g, 0
        )
    take_unlike(m, n, h, X, pressed_q, out_g, 0)


@loops
def add_late(
    nv: int,
    out_moving: Ints,
    out_among: Ints,
    late: Lane,
    on_joints: Lane,
    out_on_joints: Lane,
    result: Lane,
    lower_half: int,
    out_g: Lane,
) -> None:
    """What rows that move see of v, and late dw: what w sees of q and v, and G J (dv' - dv)."""
    n = nv
    for e in range(out_moving[0]):
        i = out_moving[e + 1]
        add_scaled(n, 1.0, out_on_joints, (THREE * i + OF_V) * n, out_g, (3 * e + 1) * n)
        if any(late[i] > 0.0):
            o = THREE * out_among[i] * n
            add_scaled(2 * n, late[i], on_joints, o + OF_Q * n, out_g, 3 * e * n)
            add_product(1, 3 * n, n, late[i], on_joints, o, n, 1, result, lower_half, 3 * n, out_g, 3 * e * n, 3 * n)
            add_scaled(n, -late[i], on_joints, o, out_g, (3 * e + 1) * n)


@loops
def add_moving(nv: int, out_moving: Ints, W: Lane, Y: Lane, out_g: Lane, result: Lane) -> None:
    """The displacement that pushes out, of rows that move: W^T of all in out_g more."""
    take_listed(nv, out_moving, W, Y)
    add_product(nv, 3 * nv, out_moving[0], 1.0, Y, 0, 1, nv, out_g, 0, 3 * nv, result, 0, 3 * nv)
