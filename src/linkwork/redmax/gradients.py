"""The implicit step by conjugate gradients, for forces that couple distant bodies of large systems.

Products with A = M + P are one sweep outward and one inward (`dense_program`), O(n) each. The preconditioner is the recursion of
`program` with what it takes of P: blocks of joints, of bodies and between neighbours [Sueda, Alg. 10]. Every row of constraints
is solved for in the same way. Lanes that are done keep what they have.

Where a product p^T A p is not positive, A is not definite, and velocities are no numbers: see `definite`.
"""

from __future__ import annotations

from typing import Any

from ..kernel.loops import Ints, Lane, Table, loops, where
from ..kernel.sweep import SCALAR, Field, Repeat, Routine, Step, each, inward, outward
from .dense_program import COLUMNS, couple, product_forces, product_twists

REACHED = 1e-30  # of the squared residual, in the metric of the preconditioner
NAN = float("nan")


@loops
def begin_solve(nv: int, side: Lane, rest: Lane, found: Lane, descending: Lane, products: Lane) -> None:
    """Nothing is found, all is left."""
    for k in range(nv):
        rest[k] = side[k]
        found[k] = 0.0
    descending[0] = 1.0
    products[0] = 0.0


def mend_forces(n: Any, parent: Any) -> None:
    """Inward: what is left, as joint forces on the factor of the tree."""
    u = n.rest - n.S.T @ n.pA
    n.y = n.factor.solve(u)
    parent.pA = parent.pA + n.E.move_wrench(n.pA + n.K.T @ u)


def mend(n: Any, parent: Any) -> None:
    """Outward: the motion that they make."""
    b = n.E.pull_twist(parent.made)
    n.mended = n.y - n.K @ b
    n.made = b + n.S @ n.mended


@loops
def begin_descent(nv: int, rest: Lane, mended: Lane, unit: Lane, height: Lane, top: Lane, descending: Lane) -> None:
    """The first direction."""
    height[0] = 0.0
    for k in range(nv):
        unit[k] = mended[k]
        height[0] += rest[k] * mended[k]
    top[0] = height[0]
    descending[0] = where(height[0] == 0.0, 0.0, 1.0)


@loops
def descend(nv: int, unit: Lane, product: Lane, height: Lane, found: Lane, rest: Lane, descending: Lane) -> None:
    """One step along the direction, in lanes that go; no number where the matrix is not definite."""
    curvature = 0.0 * height[0]
    for k in range(nv):
        curvature += unit[k] * product[k]
    length = height[0] / where((curvature > 0.0) & (height[0] > 0.0), curvature, NAN)
    on = descending[0] > 0.0
    for k in range(nv):
        found[k] = where(on, found[k] + length * unit[k], found[k])
        rest[k] = where(on, rest[k] - length * product[k], rest[k])


@loops
def turn(
    nv: int, rest: Lane, mended: Lane, unit: Lane, height: Lane, top: Lane, descending: Lane, products: Lane, found: Lane
) -> None:
    """The next direction; lanes are done where what is left is rounding, or no number."""
    now = 0.0 * height[0]
    for k in range(nv):
        now += rest[k] * mended[k]
    factor = now / height[0]
    for k in range(nv):
        unit[k] = mended[k] + factor * unit[k]
    height[0] = now
    products[0] += descending[0]
    late = products[0] > 10.0 * nv + 100.0
    for k in range(nv):
        found[k] = where((descending[0] > 0.0) & late, NAN, found[k])
    descending[0] = where((abs(now) > REACHED * abs(top[0])) & ~late, descending[0], 0.0)


@loops
def end_solve(nv: int, found: Lane, side: Lane) -> None:
    """The solution takes the place of the right-hand side."""
    for k in range(nv):
        side[k] = found[k]


def solved_by_gradients(forces: int) -> list[Step]:
    """A^-1 side in place of `side`."""
    preconditioned: list[Step] = [inward(mend_forces), outward(mend)]
    products: list[Step] = [
        outward(product_twists),
        each(couple, *(f"p{i}" for i in range(forces)), on="force"),
        inward(product_forces),
    ]
    ending = ("nv", "rest", "mended", "unit", "height", "top", "descending", "products", "found")
    return [
        Routine(begin_solve, ("nv", "side", "rest", "found", "descending", "products")),
        *preconditioned,
        Routine(begin_descent, ("nv", "rest", "mended", "unit", "height", "top", "descending")),
        Repeat(
            (
                *products,
                Routine(descend, ("nv", "unit", "product", "height", "found", "rest", "descending")),
                *preconditioned,
                Routine(turn, ending),
            ),
            COLUMNS,
            "descending",
        ),
        Routine(end_solve, ("nv", "found", "side")),
    ]


# --- rows --------------------------------------------------------------------------------------------------------------------
@loops
def begin_answers(active: Ints, column: Ints, columns: Lane) -> None:
    """The first row is next."""
    column[0] = 0
    columns[0] = 0.0
    if active[0] > 0:
        columns[0] = 1.0


@loops
def begin_answer(
    active: Ints, column: Ints, nv: int, starts: Table, places: Table, freedoms: Table, v_at: Table, u: Lane, side: Lane
) -> None:
    """G^T of one row."""
    r = active[column[0] + 1]
    for k in range(nv):
        side[k] = 0.0
    for a in range(starts[r], starts[r + 1]):
        for k in range(freedoms[a]):
            side[v_at[a] + k] = u[places[a] + k]


@loops
def end_answer(active: Ints, column: Ints, nv: int, side: Lane, Y: Lane, columns: Lane) -> None:
    """What it causes, among the others."""
    i = column[0]
    for k in range(nv):
        Y[i * nv + k] = side[k]
    column[0] = i + 1
    if i + 1 == active[0]:
        columns[0] = 0.0


def answered_by_gradients(forces: int) -> list[Step]:
    """Y = A^-1 G^T of all rows that act."""
    tables = ("starts", "places", "freedoms", "v_at", "u_rows")
    one: list[Step] = [
        Routine(begin_answer, ("active", "column", "nv", *tables, "side")),
        *solved_by_gradients(forces),
        Routine(end_answer, ("active", "column", "nv", "side", "Y", "columns")),
    ]
    return [Routine(begin_answers, ("active", "column", "columns")), Repeat(tuple(one), COLUMNS, "columns")]


def gradient_fields() -> dict[str, Field]:
    """Those besides the fields of products."""
    found = {name: Field("work", "v") for name in ("rest", "found", "mended")}
    found |= {name: Field("work", "global", SCALAR) for name in ("descending", "height", "top")}
    return found | {"products": Field("output", "global", SCALAR)}  # of the last solve
