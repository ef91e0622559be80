"""Weights of rows that climb to the root, given those of their matrix A and of what their multipliers cause (`gram`).

Solvers know A by its products: weights g of A x are weights g x^T of A. So no matrix of weights is ever made: g and x are enough
to say what rows have of it, in the time that it takes to go along their paths.
"""

from __future__ import annotations

from ..kernel.adjoint_routines import adjoint_of, makes_matrix
from ..kernel.loops import Lane, loops
from ..kernel.sweep import SCALAR, Field
from .gram import RowPaths, gram, is_nothing, spread

WEIGHTS = Field("work", "row", SCALAR)  # of A x, in the order of the list

makes_matrix(gram)


@adjoint_of(spread)
@loops
def spread_adjoint(paths: RowPaths, y: Lane, x: Lane, bar_y: Lane, bar_x: Lane, bar_dy: Lane) -> None:
    """dy is the sum of y_r x_r."""
    for i in range(paths.active[0]):
        r = paths.active[i + 1]
        total = bar_x[r]
        for a in range(paths.starts[r], paths.starts[r + 1]):
            p = paths.places[a]
            total += y[p] * bar_dy[paths.unknowns[a]]
            bar_y[p] += bar_dy[paths.unknowns[a]] * x[r]
        bar_x[r] = total


@loops
def add_products(paths: RowPaths, u: Lane, y: Lane, columns: Lane, x: Lane, weights: Lane, bar_u: Lane, bar_y: Lane) -> None:
    """To what A_rs = u_r . y_s is made of, along the joints of both: the weights g x^T of A that weights g of A x stand for.

    At every joint, bar_u_r is g_r times the sum of y_s x_s, and bar_y_s is x_s times that of u_r g_r, as u_r . y_s = u_s . y_r.
    Both sums lie in `columns`, which is zero elsewhere and afterwards.
    """
    some = False
    for i in range(paths.active[0]):
        r = paths.active[i + 1]
        if not is_nothing(weights[i]):
            some = True
            for a in range(paths.starts[r], paths.starts[r + 1]):
                columns[2 * paths.unknowns[a]] += u[paths.places[a]] * weights[i]
    if not some:
        return
    for i in range(paths.active[0]):
        r = paths.active[i + 1]
        if not is_nothing(x[r]):
            for a in range(paths.starts[r], paths.starts[r + 1]):
                columns[2 * paths.unknowns[a] + 1] += y[paths.places[a]] * x[r]
    for i in range(paths.active[0]):
        r = paths.active[i + 1]
        for a in range(paths.starts[r], paths.starts[r + 1]):
            bar_y[paths.places[a]] += columns[2 * paths.unknowns[a]] * x[r]
            bar_u[paths.places[a]] += columns[2 * paths.unknowns[a] + 1] * weights[i]
    for i in range(paths.active[0]):
        r = paths.active[i + 1]
        for a in range(paths.starts[r], paths.starts[r + 1]):
            columns[2 * paths.unknowns[a]] = 0.0
            columns[2 * paths.unknowns[a] + 1] = 0.0


@loops
def add_diagonal(paths: RowPaths, u: Lane, y: Lane, diagonal: Lane, bar_u: Lane, bar_y: Lane) -> None:
    """The same for weights of the diagonal of A alone."""
    for i in range(paths.active[0]):
        r = paths.active[i + 1]
        if not is_nothing(diagonal[i]):
            for a in range(paths.starts[r], paths.starts[r + 1]):
                bar_u[paths.places[a]] += y[paths.places[a]] * diagonal[i]
                bar_y[paths.places[a]] += u[paths.places[a]] * diagonal[i]
