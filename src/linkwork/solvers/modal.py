"""The linear system of a solved problem as matrices: P_u du + P_x dx = 0 with du = A dx + g says how multipliers change.

See `cone_tangents` for the modes. Rows are in the order of the problem; those that take no part keep dx = 0. A row shares its
mode with rows of its law alone, which stand together: of every row of P_u and P_x only `width` entries are kept, from the
first row of its law on.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, Table, loops, where
from ..kernel.products import clear
from .box_tangents import margin
from .boxes import EMPTY, largest
from .cone_tangents import Held, find_modes
from .own_rows import Listed


@loops
def modal_matrices(
    listed: Listed,
    rows: int,
    width: int,
    row_first: Table,
    kept_A: Lane,
    listed_x: Lane,
    w: Lane,
    held: Held,
    P_u: Lane,
    P_x: Lane,
) -> None:
    """P_u and P_x (rows, width) of the module's text; w becomes A x + b, in the order of the list."""
    m = listed.active[0]
    clear(rows * width, P_u)
    clear(rows * width, P_x)
    for r in range(rows):
        P_x[r * width + r - row_first[r]] = 1.0
    for i in range(m):
        listed_x[i] = listed.x[listed.active[i + 1]]
    find_modes(listed, kept_A, listed_x, w, held)
    for i in range(m):
        r = listed.active[i + 1]
        kind = listed.cones[r]
        at = r * width - row_first[r]
        P_u[at + r] = where(held.holds[i] > 0.0, 1.0, 0.0)
        P_x[at + r] = where(held.holds[i] > 0.0, 0.0, 1.0)
        if kind == 2 or kind == 3:
            first = i + 2 - kind
            for c in range(2):
                t = listed.active[first + c + 1]
                across = -held.e[i] * held.e[first + c]
                if first + c == i:
                    across = 1.0 + across
                P_u[at + t] = where(held.slides[i] > 0.0, held.f[i] * across, P_u[at + t])
            P_x[at + listed.active[first]] = where(held.slides[i] > 0.0, listed.mu[listed.active[first + 1]] * held.e[i], 0.0)
        if kind < 0:
            P_x[at + listed.active[i + kind + 1]] = where(held.slides[i] > 0.0, -held.e[i] * listed.mu[r], 0.0)


@loops
def free_rows(active: Ints, rows: int, on: Lane, lower: Lane, upper: Lane, x: Lane, kept_A: Lane, acts: Lane, free: Lane) -> None:
    """1 in `free` where a row of a problem with boxes is inside its bounds, in lanes where it acts; else 0."""
    most = largest(active, on, kept_A)
    for r in range(rows):
        free[r] = 0.0
    for i in range(active[0]):
        r = active[i + 1]
        good = (on[r] > 0.0) & (kept_A[i * (i + 1) // 2 + i] > EMPTY * most) & (acts[0] > 0.0)
        low = margin(lower[r])
        high = margin(upper[r])
        free[r] = where(good & (x[r] > lower[r] + low) & (x[r] < upper[r] - high), 1.0, 0.0)
