"""Baraff's systems: as many conditions as the paper counts, the structure of its figures, accelerations as of a dense system."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import linkwork as lw
from linkwork.bench.multiplier_routes import Matrices, matrices
from linkwork.bench.multipliers import turning
from linkwork.scenes import baraff

SYSTEMS: dict[str, tuple[Callable[[], lw.Assembly], int, int, int]] = {  # parts, primary and auxiliary multipliers
    "chain": (baraff.chain, 10, 27, 0),
    "star": (baraff.star, 10, 27, 0),
    "object of figure 2": (baraff.object_of_figure_2, 6, 10, 0),
    "open flower": (baraff.open_flower, 55, 108, 0),
    "closed flower": (baraff.closed_flower, 49, 96, 12),
    "tripod": (baraff.tripod, 33, 96, 3),
    "tree": (baraff.tree, 128, 381, 0),
}


def full_mass(m: Matrices) -> np.ndarray:
    n, d = m.M.shape[:2]
    out = np.zeros((n, d, n, d))
    out[np.arange(n), :, np.arange(n)] = m.M
    return out.reshape(n * d, n * d)


@pytest.mark.parametrize("name", SYSTEMS)
def test_counts_and_accelerations(name: str) -> None:
    make, parts, primary, auxiliary = SYSTEMS[name]
    assembly = make()
    layout = assembly.layout
    assert (len(assembly.parts), len(layout.primary), len(layout.auxiliary_rows)) == (parts, primary, auxiliary)
    assert np.abs(assembly.system(assembly.start).residual).max() < 1e-12, "it does not start together"
    state = turning(assembly)
    m, found = matrices(assembly, state), assembly.accelerations(state)
    M, rows = full_mass(m), len(m.J)
    H = np.block([[M, -m.J.T], [m.J, np.zeros((rows, rows))]])
    expected = np.linalg.solve(H, np.concatenate([m.F, m.target]))
    scale = np.abs(expected).max()
    np.testing.assert_allclose(np.concatenate([found.motion, found.multipliers]), expected, rtol=0, atol=1e-9 * scale)
    assert np.abs(found.multipliers).max() > 0.1, "nothing is held"
    assert np.all(found.multipliers[layout.unilateral] > 0), "a foot does not push"


def couplings(assembly: lw.Assembly) -> np.ndarray:
    """Which conditions meet in J M^-1 J^T."""
    m = matrices(assembly, assembly.start)
    A = m.J @ np.linalg.solve(full_mass(m), m.J.T)
    size = len(m.J) // len(assembly.conditions)
    return np.abs(A).reshape(len(A) // size, size, -1, size).max(axis=(1, 3)) > 1e-12


def test_a_chain_is_banded_and_a_star_is_full() -> None:
    i, j = np.indices((9, 9))
    np.testing.assert_array_equal(couplings(baraff.chain()), np.abs(i - j) <= 1)
    assert couplings(baraff.star()).all()


def test_figure_2_is_ordered_without_fill_in() -> None:
    assembly = baraff.object_of_figure_2()
    nodes = assembly.layout.nodes
    assert [c.parts for c in assembly.conditions] == [
        ("rod2", "rod1"),
        ("rod3", "rod2"),
        ("rod4", "rod2"),
        ("rod5", "rod1"),
        ("rod6", "rod5"),
    ]
    edges = {frozenset((nodes[n.parent], n)) for n in nodes if n.parent >= 0}
    assert len(nodes) == 11
    assert len(edges) == 10  # a tree: every condition meets two rods
    assert all(a.is_part != b.is_part for a, b in map(tuple, edges))
