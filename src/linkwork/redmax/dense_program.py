"""The implicit step as a dense system, for forces that couple distant bodies: what `redmax.program` does where they do not.

The matrix A = M + P is made column by column: A p is one sweep outward (the twists of p), the forces' own P on the twists of
their ports, and one sweep inward. It is factored, A = L D L^T, and every row of constraints is solved for, Y = A^-1 G^T, from
G in joint coordinates, which a climb to the root finds. O(n nv + nv^3); exact for any forces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..elements.collection import EQUALITIES, Shape
from ..elements.nodes import STILL
from ..elements.ports import joined
from ..joints import Joint
from ..kernel.loops import Ints, Lane, Table, loops
from ..kernel.sweep import SCALAR, Field, Repeat, Routine, Step, each, inward, outward, vector
from ..model.rules import inertia_of
from ..reduced.rules import gyroscopic
from ..rows.asked import watch_velocities
from ..rows.passed_rows import SecondLook
from ..rows.pressing import in_turns
from ..rows.push_out import pushed_out
from ..rows.solved import SOLVE, Rules, carrying_up, looked_at_again, row_solver, watching
from ..solvers.boxes import gather
from ..spatial.scalar import zeros

COLUMNS = 1 << 20  # more than any dense matrix has


# --- products with A -----------------------------------------------------------------------------------------------------------
def product_twists(n: Any, parent: Any) -> None:
    """J p; nothing acts yet."""
    n.made = n.E.pull_twist(parent.made) + n.S @ n.unit
    n.twisted, n.bent = n.made, zeros(6)
    n.product = (n.armature + n.h * n.damping) * n.unit


def couple(n: Any, *ports: Any) -> None:
    """P of one force, on the motion of its ports."""
    firsts, moved = [0], []
    for kind, port in zip(n.kinds, ports, strict=False):
        moved.append(zeros(6) if kind == STILL else port.unit if isinstance(kind, Joint) else port.twisted)
        firsts.append(firsts[-1] + len(moved[-1]))
    size = firsts[-1]
    found = n.P.reshape(size, size) @ joined(moved)
    for kind, port, first, last in zip(n.kinds, ports, firsts, firsts[1:], strict=False):
        if isinstance(kind, Joint):
            port.product = port.product + found[first:last]
        elif kind != STILL:
            port.bent = port.bent + found[first:last]


def product_forces(n: Any, parent: Any) -> None:
    """A p."""
    f = inertia_of(n) @ n.made + n.bent + n.pA
    n.product = n.product + n.S.T @ f
    parent.pA = parent.pA + n.E.move_wrench(f)


@loops
def begin_columns(column: Ints, columns: Lane) -> None:
    """The first column is next."""
    column[0] = 0
    columns[0] = 1.0


@loops
def begin_column(column: Ints, nv: int, unit: Lane) -> None:
    """The unit vector of a column."""
    for k in range(nv):
        unit[k] = 0.0
    unit[column[0]] = 1.0


@loops
def end_column(column: Ints, nv: int, product: Lane, H: Lane, columns: Lane) -> None:
    """One row of the packed matrix."""
    k = column[0]
    for j in range(k + 1):
        H[k * (k + 1) // 2 + j] = product[j]
    column[0] = k + 1
    if k + 1 == nv:
        columns[0] = 0.0


# --- its factor ----------------------------------------------------------------------------------------------------------------
@loops
def factor_dense(nv: int, H: Lane, d: Lane) -> None:
    """H = L diag(1/d) L^T in place, whatever the signs of the pivots."""
    for i in range(nv):
        a = i * (i + 1) // 2
        for j in range(i):
            b = j * (j + 1) // 2
            s = H[a + j]
            for k in range(j):
                s -= H[a + k] * H[b + k]
            H[a + j] = s
        pivot = H[a + i]
        for k in range(i):
            c = H[a + k]
            H[a + k] = c * d[k]
            pivot -= c * H[a + k]
        d[i] = 1.0 / pivot


@loops
def solve_dense(nv: int, H: Lane, d: Lane, at: int, x: Lane) -> None:
    """A^-1 x in place, of nv numbers from a place on."""
    for i in range(nv):
        a = i * (i + 1) // 2
        s = x[at + i]
        for k in range(i):
            s -= H[a + k] * x[at + k]
        x[at + i] = s
    for i in range(nv):
        x[at + i] *= d[i]
    for j in range(nv):
        i = nv - 1 - j
        a = i * (i + 1) // 2
        for k in range(i):
            x[at + k] -= H[a + k] * x[at + i]


@loops
def solve_side(nv: int, H: Lane, d: Lane, side: Lane) -> None:
    """The solution of the step without rows."""
    solve_dense(nv, H, d, 0, side)


# --- the tree ----------------------------------------------------------------------------------------------------------------
def collect(n: Any, parent: Any) -> None:
    """The right-hand side: all forces, as joints feel them."""
    own = inertia_of(n)
    pA = own @ n.still + gyroscopic(n.w, n.first_moment, own.J) - n.load + n.pA
    n.side = n.push + n.armature * n.bend - n.S.T @ pA
    parent.pA = parent.pA + n.E.move_wrench(pA)


# --- rows --------------------------------------------------------------------------------------------------------------------
def climb_freely(n: Any, place: Any, up: Any) -> None:
    """One row at one joint on its way to the root: u is G there; its place is empty afterwards."""
    p = place.p
    place.u_rows = place.c + n.S.T @ p
    place.p, place.c = zeros(6), zeros(n.S.shape[1])
    if not n.is_root:
        up.p = up.p + n.E.move_wrench(p)


@loops
def answer_rows(
    active: Ints, nv: int, starts: Table, places: Table, freedoms: Table, v_at: Table, u: Lane, H: Lane, d: Lane, Y: Lane
) -> None:
    """Y = A^-1 G^T of the rows in the list."""
    for i in range(active[0]):
        r = active[i + 1]
        for k in range(nv):
            Y[i * nv + k] = 0.0
        for a in range(starts[r], starts[r + 1]):
            for k in range(freedoms[a]):
                Y[i * nv + v_at[a] + k] = u[places[a] + k]
        solve_dense(nv, H, d, i * nv, Y)


@loops
def gram_answers(
    active: Ints, nv: int, starts: Table, places: Table, freedoms: Table, v_at: Table, u: Lane, Y: Lane, A: Lane
) -> None:
    """The packed matrix G Y."""
    for i in range(active[0]):
        for j in range(i + 1):
            s = active[j + 1]
            total = 0.0 * u[0]
            for a in range(starts[s], starts[s + 1]):
                for k in range(freedoms[a]):
                    total += u[places[a] + k] * Y[i * nv + v_at[a] + k]
            A[i * (i + 1) // 2 + j] = total


@loops
def add_answers(active: Ints, nv: int, Y: Lane, x: Lane, free_v: Lane) -> None:
    """free_v + Y x."""
    for i in range(active[0]):
        for k in range(nv):
            free_v[k] += Y[i * nv + k] * x[active[i + 1]]


# --- the program -------------------------------------------------------------------------------------------------------------
TABLES = ("starts", "places", "freedoms", "v_at")


def product_fields(shape: Shape) -> dict[str, Field]:
    """The fields besides those of `redmax.program`, but for the matrix."""
    found = {
        "P": Field("work", "P", of="force"),
        **{name: Field("work", "v") for name in ("unit", "product", "side")},
        **{name: Field("work", "node", vector(6)) for name in ("twisted", "bent")},
        **{name: Field("work", "global", SCALAR) for name in ("column", "columns")},
    }
    return found | ({"Y": Field("work", "answer", SCALAR)} if shape[1] >= 0 else {})


def matrix_fields() -> dict[str, Field]:
    """The matrix and its factor."""
    return {"H": Field("work", "entry", SCALAR), "H_pivots": Field("work", "v")}


def factored_densely(forces: int) -> list[Step]:
    """The sweeps from P to the factor of A."""
    column: list[Step] = [
        Routine(begin_column, ("column", "nv", "unit")),
        outward(product_twists),
        each(couple, *(f"p{i}" for i in range(forces)), on="force"),
        inward(product_forces),
        Routine(end_column, ("column", "nv", "product", "H", "columns")),
    ]
    return [
        Routine(begin_columns, ("column", "columns")),
        Repeat(tuple(column), COLUMNS, "columns"),
        Routine(factor_dense, ("nv", "H", "H_pivots")),
    ]


def solved_densely() -> list[Step]:
    """A^-1 side in place of `side`."""
    return [Routine(solve_side, ("nv", "H", "H_pivots", "side"))]


def answered_densely() -> list[Step]:
    """Y = A^-1 G^T of all rows that act."""
    return [Routine(answer_rows, ("active", "nv", *TABLES, "u_rows", "H", "H_pivots", "Y"), when="busy")]


GRAM = ("active", "nv", *TABLES, "u_rows", "Y", "A")


def coupled_rows(
    most: int,
    rules: Rules,
    answered: list[Step],
    kinds: int = EQUALITIES,
    motion: Sequence[Step] = (),
    carried: Callable[..., None] | None = None,
    look: SecondLook | None = None,
) -> list[Step]:
    """Rows of constraints with so many ports at most; see `reduced.program.solved_rows`.

    motion, carried   where bounds of some follow from what joints carry: see `rows.pressing.in_turns`
    look              how rows are found that the motion with multipliers would pass: see `rows.passed_rows`
    """
    ports = [f"p{i}" for i in range(most)]
    watch, hold = rules
    solver: list[Step] = [*row_solver(kinds, SOLVE)]
    if carried is not None:
        solver = in_turns(solver, motion, ports, carried)
    found = [
        *carrying_up(hold, ports, climb_freely),
        Routine(gather, ("rows", "on", "x", "busy", "left", "active")),
        *answered,
        Routine(gram_answers, GRAM, when="busy"),
        *solver,
        Routine(add_answers, ("active", "nv", "Y", "x", "free_v"), when="busy"),
    ]
    return [*watching(watch, ports), *looked_at_again(found, look if watch is watch_velocities else None, ports, kinds)]


def coupled_push_out(shape: Shape) -> list[Step]:
    """The displacement of joints that are too deep; see `rows.push_out`."""
    matrix = Routine(gram_answers, GRAM, when="deep")
    return pushed_out(shape, matrix, [Routine(add_answers, ("active", "nv", "Y", "out_x", "shift"), when="deep")])
