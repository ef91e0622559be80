"""Ways from one x to the next in the search for modes (`cone_search`), in all lanes at once."""

from __future__ import annotations

from ..kernel.loops import Lane, all, any, loops, sqrt, where
from .cone_modes import Modes, approach, factor_modes, sliding, start_modes
from .cone_rows import Rows, Search, motions, natural_map, project_cones, sweep_cones, take_over
from .extremes import larger
from .lu import factor_lu, solve_lu

EPS = 1e-6  # relative weight of the last solution in a proximal round
LAST_ROUNDS, LAST_SLOW = 16, 0.5  # of these for the solution of least norm: see `cone_modes.approach`
RESTARTS = 12  # toward it, as directions of sliding depend on it
STRAYS = 2  # of these with modes that do not stand, before it is left
SAME = 1e-9  # of the largest terms: changes of x that end them
SMALL = 1e-15  # of the largest terms: what proximal rounds are to reach
SWEEPS = 3  # of Gauss-Seidel, and more later
CLOSE = 0.03  # relative: how well they need to know sliding
ALTERNATIONS = 20  # of directions, and more later
RHO = 0.03  # the weight of their split
HALVINGS = 8  # of a step


@loops
def alternate(m: int, rows: Rows, A: Lane, s: Search, T: Lane, rounds: int, go: float) -> None:
    """Go on with alternating directions (`admm`), in lanes that go: slow, but they move where Gauss-Seidel and Newton do not.

    `xn` sees the matrix, `inside` stays in the cones, `force` is between them and becomes u + s.
    """
    for i in range(m):
        for k in range(m):
            T[i * m + k] = A[i * m + k]
        T[i * m + i] += RHO
    factor_lu(m, T)
    for _ in range(rounds):
        for i in range(m):
            s.xn[i] = RHO * s.inside[i] + s.force[i] - rows.bs[i]
        for i in range(m):
            if rows.kinds[i] == 1:
                s.xn[i] -= rows.hi[i + 1] * sqrt(s.force[i + 1] * s.force[i + 1] + s.force[i + 2] * s.force[i + 2])
        solve_lu(m, T, s.xn)
        for i in range(m):
            s.z[i] = s.xn[i] - s.force[i] / RHO
        project_cones(m, rows, s.z)
        for i in range(m):
            new = s.force[i] - RHO * (s.xn[i] - s.z[i])
            s.force[i] = where(go > 0.0, new, s.force[i])
            s.inside[i] = where(go > 0.0, s.z[i], s.inside[i])


@loops
def look_elsewhere(
    m: int, rows: Rows, A: Lane, At: Lane, s: Search, T: Lane, change: int, sweeping: float, alternating: float
) -> None:
    """xs by sweeps of Gauss-Seidel, or by alternating directions, in lanes that ask for them: the more, the later it is."""
    if any(sweeping > 0.0):
        motions(m, At, rows.bs, s.xs, s.un)
        sweep_cones(m, rows, A, At, s.xs, s.un, SWEEPS + change, CLOSE, sweeping)
    if any(alternating > 0.0):
        alternate(m, rows, A, s, T, ALTERNATIONS + 2 * change, alternating)
        take_over(m, alternating > 0.0, s.inside, s.xs)


@loops
def shorten(m: int, rows: Rows, s: Search, between: Lane, share: float, enough: float, go: float) -> float:
    """The largest of 1/2, 1/4, ... of a step at which the natural map is below `enough`, in lanes without a share; else 0."""
    trial = 1.0 + 0.0 * go
    for _ in range(HALVINGS):
        if all((share > 0.0) | ~(go > 0.0)):
            break
        trial = 0.5 * trial
        for i in range(m):
            between[i] = s.xs[i] + trial * (s.xn[i] - s.xs[i])
            s.z[i] = s.u[i] + trial * (s.un[i] - s.u[i])
        new = natural_map(m, rows, between, s.z, s.z)
        share = where((new < enough) & ~(share > 0.0), trial, share)
    return share


@loops
def lighten(
    n: int,
    m: int,
    rows: Rows,
    s: Search,
    modes: Modes,
    A: Lane,
    At: Lane,
    T: Lane,
    size: float,
    enough: float,
    eps: float,
    again: float,
    turned: float,
) -> None:
    """From zero to the solution of least norm, if it has the same modes, until directions of sliding stand still.

    enough   the natural map of a solution
    eps      of the factor at hand, on which lanes `again` begin; lanes `turned` begin with another, as friction has turned
    """
    strays = 0.0 * again
    first = 1
    if any(again > 0.0):
        first = 0
    for restart in range(first, RESTARTS):
        if restart == 1:
            again = larger(again, turned)
        if not any(again + turned > 0.0):
            break
        turned = where(again > 0.0, 0.0, turned)
        if restart > 0:
            eps = EPS + 0.0 * again
            n = factor_modes(m, rows, A, s.xn, s.un, eps, modes, s.z, T)
        start_modes(m, rows, modes, s.xs, s.z, s.xn, 0.0, again)
        approach(n, m, rows, At, modes, s.xn, s.un, s.z, T, SMALL * size, LAST_ROUNDS, LAST_SLOW, eps, again)
        found = (again > 0.0) & (natural_map(m, rows, s.xn, s.un, s.z) <= enough)
        way = 0.0 * again
        for i in range(m):
            way = larger(way, abs(s.xn[i] - s.inside[i]))
        take_over(m, again > 0.0, s.xn, s.inside)
        take_over(m, found, s.xn, s.xs)
        strays += where((again > 0.0) & ~found, 1.0, 0.0)
        again = where((sliding(m, rows, modes) > 0.0) & (way > SAME * size) & (strays < STRAYS), again, 0.0)
