"""The figures and results of Baraff, Linear-Time Dynamics using Lagrange Multipliers (1996)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import Assembly
from ..bench.blas import one_blas_thread
from ..bench.multiplier_routes import Matrices, conjugate_gradients, dense, matrices
from ..bench.multipliers import turning
from ..scenes import baraff as scenes
from .clock import best_ms
from .item import Family, Outcome
from .pictures import curves

BARAFF = Family(
    "baraff",
    "Baraff 1996: Lagrange multipliers in linear time",
    "Three figures and the results of section 9, which has no tables. Times are CPU times of this machine; those "
    "printed are of a "
    "processor of 250 MHz, so their ratios count.",
)
SYSTEMS: dict[str, tuple[Callable[[], Assembly], int, int, float]] = {  # primary and auxiliary multipliers, printed ms
    "108 in the plane": (scenes.open_flower, 108, 0, 7.75),
    "96 + 12 in the plane": (scenes.closed_flower, 96, 12, 24.75),
    "96 + 3 in space": (scenes.tripod, 96, 3, 18.0),
    "381 in space": (scenes.tree, 381, 0, 44.6),
}


def full_mass(m: Matrices) -> np.ndarray:
    parts, d = m.M.shape[:2]
    out = np.zeros((parts, d, parts, d))
    out[np.arange(parts), :, np.arange(parts)] = m.M
    return out.reshape(parts * d, parts * d)


def coupled(assembly: Assembly) -> np.ndarray:
    """Which conditions meet in A = J M^-1 J^T (conditions, conditions)."""
    m = matrices(assembly, assembly.start)
    A = m.J @ np.linalg.solve(full_mass(m), m.J.T)
    size = len(m.J) // len(assembly.conditions)
    return np.abs(A).reshape(len(A) // size, size, -1, size).max(axis=(1, 3)) > 1e-12


def error_of(assembly: Assembly) -> float:
    """Accelerations and multipliers beside those of the dense matrix of all unknowns."""
    now = turning(assembly)
    m, found = matrices(assembly, now), assembly.accelerations(now)
    rows = len(m.J)
    H = np.block([[full_mass(m), -m.J.T], [m.J, np.zeros((rows, rows))]])
    expected = np.linalg.solve(H, np.concatenate([m.F, m.target]))
    return float(np.abs(np.concatenate([found.motion, found.multipliers]) - expected).max() / np.abs(expected).max())


@BARAFF.item("fig1a", "A serial chain: entries of A = J M^-1 J^T beyond the band", "Figure 1a: A_ij = 0 if |i - j| > 1")
def fig1a(quick: bool) -> Outcome:
    i, j = np.indices((9, 9))
    return Outcome(float(np.sum(coupled(scenes.chain()) != (np.abs(i - j) <= 1))), 0.0, "wrong blocks of 81")


@BARAFF.item("fig1b", "A branched object: zeros in A = J M^-1 J^T", "Figure 1b: A is completely dense")
def fig1b(quick: bool) -> Outcome:
    return Outcome(float(np.sum(~coupled(scenes.star()))), 0.0, "zero blocks of 81")


@BARAFF.item(
    "fig2", "Six bodies and five constraints: accelerations and multipliers beside a dense solution", "Figure 2 and Eq. 9"
)
def fig2(quick: bool) -> Outcome:
    assembly = scenes.object_of_figure_2()
    nodes = assembly.layout.nodes
    edges = sum(n.parent >= 0 for n in nodes)
    return Outcome(error_of(assembly), 1e-12, f"{len(nodes)} nodes and {edges} edges: H's graph is a tree, no fill-in")


@BARAFF.item(
    "fig3",
    "127 constraints, 381 multipliers: accelerations and multipliers beside a dense solution",
    "Figure 3; scene of section 9",
)
def fig3(quick: bool) -> Outcome:
    assembly = scenes.tree()
    count = len(assembly.layout.primary)
    assert count == 381
    return Outcome(error_of(assembly), 1e-9, f"{len(assembly.conditions)} constraints, {count} multipliers")


@BARAFF.item(
    "section9",
    "The four systems of section 9: accelerations beside a dense solution; their times beside the printed ones",
    "Section 9; linkwork bench multipliers",
)
def section9(quick: bool) -> Outcome:
    errors, ours, printed = [], [], []
    for make, primary, auxiliary, ms in SYSTEMS.values():
        assembly = make()
        layout = assembly.layout
        assert (len(layout.primary), len(layout.auxiliary_rows)) == (primary, auxiliary)
        errors.append(error_of(assembly))
        now, run = turning(assembly), assembly.acceleration_function()
        ours.append(best_ms(lambda run=run, now=now: run(now.q, now.v, np.zeros_like(now.v))))
        printed.append(ms)
    names = list(SYSTEMS)
    lines = {"linkwork": (names, ours), "printed, 250 MHz": (names, printed)}
    text = ", ".join(f"{name} {t:.3f} ms" for name, t in zip(names, ours, strict=True))
    ratio = ours[1] / ours[0]
    note = f"{text}; closing 12 multipliers costs {ratio:.1f} times as much as none (printed 3.2)"
    return Outcome(max(errors), 1e-9, note, curves(lines, "system", "ms", log="y"))


@BARAFF.item(
    "cubic",
    "381 multipliers: dense solution with A = J M^-1 J^T over linear time; printed close to forty times",
    "Section 9; the dense route is LAPACK's, given M and J, on one core",
)
def cubic(quick: bool) -> Outcome:
    assembly = scenes.tree()
    now, run = turning(assembly), assembly.acceleration_function()
    m = matrices(assembly, now)
    with one_blas_thread():
        ours, theirs = best_ms(lambda: run(now.q, now.v, np.zeros_like(now.v))), best_ms(dense(m))
    return Outcome(
        40.0 / (theirs / ours), 1.0, f"{theirs / ours:.0f} times: {theirs:.2f} ms against {ours:.3f} ms; figure: 40 over it"
    )


@BARAFF.item(
    "conjugate_gradients",
    "Multipliers of the open flower by conjugate gradients over linear time; printed about three times",
    "Section 9, beside Gleicher's Bramble, which is not at hand: SciPy's conjugate gradients to 1e-8; linkwork bench multipliers",
)
def gradients(quick: bool) -> Outcome:
    assembly = scenes.open_flower()
    now, run = turning(assembly), assembly.acceleration_function()
    ours = best_ms(lambda: run(now.q, now.v, np.zeros_like(now.v)))
    theirs = best_ms(conjugate_gradients(matrices(assembly, now)))
    return Outcome(
        3.0 / (theirs / ours), 1.0, f"{theirs / ours:.0f} times: {theirs:.2f} ms against {ours:.3f} ms; figure: 3 over it"
    )


@BARAFF.item(
    "rosenthal",
    "Auxiliary rows that are workless: one third of the back-solves is not needed",
    "Acknowledgments (Rosenthal); errata 001-8",
)
def rosenthal(quick: bool) -> Outcome:
    """u = L^-1 J^T once per row serves both sides of A: the symmetric matrix of the auxiliary rows, computed so, is right."""
    assembly = scenes.closed_flower()
    now = turning(assembly)
    m = matrices(assembly, now)
    M, layout = full_mass(m), assembly.layout
    primary = np.array(layout.primary) if len(layout.primary) else np.zeros(0, int)
    rows = np.asarray(layout.auxiliary_rows)
    J, K = m.J[np.setdiff1d(np.arange(len(m.J)), rows)], m.J[rows]
    W = np.linalg.solve(M, K.T)
    A = J @ np.linalg.solve(M, J.T)
    symmetric = K @ W - (J @ W).T @ np.linalg.solve(A, J @ W)
    whole = m.J @ np.linalg.solve(M, m.J.T)
    left = np.linalg.inv(np.linalg.inv(whole)[np.ix_(rows, rows)])
    error = np.abs(symmetric - left).max() / np.abs(left).max()
    note = f"K^T M^-1 K - Z^T A^-1 Z is the matrix of {len(rows)} auxiliary rows; every row climbs once, for both sides"
    return Outcome(float(error), 1e-9, f"{note} ({len(primary)} primary)")
