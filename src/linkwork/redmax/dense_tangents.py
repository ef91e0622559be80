"""How the dense solution of an implicit step changes: A x = s means A dx = ds - dA x, on the factor that there is.

dA is packed as A was before it was factored in place, and stays where the columns of A on dual numbers have left it.
"""

from __future__ import annotations

from ..kernel.directional import tangent_of, without_tangent
from ..kernel.loops import Ints, Lane, Table, loops
from ..solvers.box_tangents import KEPT
from ..solvers.gram import entry
from .dense_program import (
    add_answers,
    answer_rows,
    begin_column,
    begin_columns,
    end_column,
    factor_dense,
    gram_answers,
    solve_dense,
    solve_side,
)

without_tangent(begin_columns, begin_column, factor_dense)


@tangent_of(end_column)
@loops
def end_column_tangent(column: Ints, d_product: Lane, d_H: Lane) -> None:
    """One row of the packed matrix; the next column has been called."""
    k = column[0] - 1
    for j in range(k + 1):
        d_H[k * (k + 1) // 2 + j] = d_product[j]


@loops
def solve_change(nv: int, H: Lane, d: Lane, d_H: Lane, at: int, x: Lane, d_x: Lane) -> None:
    """From the change of the right-hand side to that of the solution, in place."""
    for i in range(nv):
        s = d_x[at + i]
        for k in range(nv):
            s -= entry(d_H, i, k) * x[at + k]
        d_x[at + i] = s
    solve_dense(nv, H, d, at, d_x)


@tangent_of(solve_side)
@loops
def solve_side_tangent(nv: int, H: Lane, d: Lane, side: Lane, d_H: Lane, d_side: Lane) -> None:
    """Of the step without rows."""
    solve_change(nv, H, d, d_H, 0, side, d_side)


@tangent_of(answer_rows)
@loops
def answer_rows_tangent(
    active: Ints,
    nv: int,
    starts: Table,
    places: Table,
    freedoms: Table,
    v_at: Table,
    H: Lane,
    d: Lane,
    Y: Lane,
    d_u: Lane,
    d_H: Lane,
    d_Y: Lane,
) -> None:
    """Of what every row causes."""
    for i in range(active[0]):
        r = active[i + 1]
        for k in range(nv):
            d_Y[i * nv + k] = 0.0
        for a in range(starts[r], starts[r + 1]):
            for k in range(freedoms[a]):
                d_Y[i * nv + v_at[a] + k] = d_u[places[a] + k]
        solve_change(nv, H, d, d_H, i * nv, Y, d_Y)


@tangent_of(gram_answers, **KEPT)
@loops
def gram_answers_tangent(
    active: Ints,
    nv: int,
    starts: Table,
    places: Table,
    freedoms: Table,
    v_at: Table,
    u: Lane,
    Y: Lane,
    d_u: Lane,
    d_Y: Lane,
    A: Lane,
    kept_A: Lane,
    d_A: Lane,
) -> None:
    """Of the packed matrix G Y, which is kept, too, before solvers scale it."""
    for i in range(active[0]):
        for j in range(i + 1):
            s = active[j + 1]
            total = 0.0 * u[0]
            for a in range(starts[s], starts[s + 1]):
                for k in range(freedoms[a]):
                    total += d_u[places[a] + k] * Y[i * nv + v_at[a] + k] + u[places[a] + k] * d_Y[i * nv + v_at[a] + k]
            e = i * (i + 1) // 2 + j
            kept_A[e] = A[e]
            d_A[e] = total


@tangent_of(add_answers)
@loops
def add_answers_tangent(active: Ints, nv: int, Y: Lane, x: Lane, d_Y: Lane, d_x: Lane, d_free_v: Lane) -> None:
    """Of free_v + Y x."""
    for i in range(active[0]):
        r = active[i + 1]
        for k in range(nv):
            d_free_v[k] += d_Y[i * nv + k] * x[r] + Y[i * nv + k] * d_x[r]
