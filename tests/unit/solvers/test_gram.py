"""The matrix of rows along paths, and what multipliers cause: against dense rows, and to the bit in one lane and in several."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.kernel.lanes import Lanes
from linkwork.solvers.gram import gram, path_tables, spread
from linkwork.solvers.gram_text import WIDE

SIZES = np.array([1, 3, 2, 1, 1, 2])  # freedoms of joints
WIDTH = 8


def rows_on_paths(rows: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
    """Rows over joints of one to three freedoms, on paths that share some of them, or all: tables, u, y, and dense rows."""
    rng = np.random.default_rng(rows)
    v_first = np.cumsum(SIZES) - SIZES
    paths = [np.flatnonzero(rng.random(len(SIZES)) < 0.6) for _ in range(rows)]
    paths = [paths[r - r % 3] if rows > 10 else paths[r] for r in range(rows)]
    paths[rows // 2 :] = [paths[rows // 2]] * (rows - rows // 2)
    starts = np.cumsum([0, *map(len, paths)])
    joints = np.concatenate(paths).astype(int)
    freedoms = SIZES[joints]
    places = np.cumsum(freedoms) - freedoms
    u, y = rng.standard_normal((2, max(1, int(freedoms.sum())), WIDTH))
    dense = np.zeros((2, rows, int(SIZES.sum()), WIDTH))
    for r in range(rows):
        for e in range(starts[r], starts[r + 1]):
            for k in range(freedoms[e]):
                dense[:, r, v_first[joints[e]] + k] = u[places[e] + k], y[places[e] + k]
    along = path_tables(starts, places, freedoms, v_first[joints])
    return [np.ascontiguousarray(x, np.int32) for x in along.values()], u, y, dense


def lane(x: np.ndarray, k: int) -> np.ndarray:
    """The numbers of one lane."""
    return np.ascontiguousarray(x[:, k])


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 7, 8, 9, 10, 16, 17, 26])
@pytest.mark.parametrize("same", [True, False])
def test_the_matrix_along_paths_is_that_of_dense_rows(rows: int, same: bool) -> None:
    """Where the same rows are on in all lanes, and where every lane has its own, among them none."""
    tables, u, y, dense = rows_on_paths(rows)
    listed = np.arange(rows)[:: 2 if rows == 10 else 1]
    on = np.ones((rows, WIDTH)) if same else 1.0 * (np.random.default_rng(rows).random((rows, WIDTH)) < 0.6)
    on[:, 0] = 1.0
    on[:, 1] = 1.0 if same else 0.0
    active = np.array([len(listed), *listed])
    size = len(listed) * (len(listed) + 1) // 2
    columns, A = np.zeros((WIDE * int(SIZES.sum()), WIDTH)), np.full((size + 1, WIDTH), np.nan)
    gram.call(Lanes(WIDTH), active, *tables, on, u, y, columns, A)
    expected = np.einsum("rvw,svw,rw,sw->wrs", dense[0, listed], dense[1, listed], on[listed], on[listed])
    i, j = np.tril_indices(len(listed))
    assert np.allclose(A[:size].T, expected[:, i, j], rtol=1e-13, atol=1e-13)
    assert np.isnan(A[size]).all()  # nobody's
    assert not columns.any()
    for k in range(WIDTH):
        here = listed[on[listed, k] > 0.0]
        active = np.array([len(here), *here])
        both = (on[listed[i], k] > 0.0) & (on[listed[j], k] > 0.0)
        alone, packed = lane(columns, k), np.full(len(here) * (len(here) + 1) // 2 + 1, np.nan)
        gram.call(Lanes(1), active, *tables, lane(on, k), lane(u, k), lane(y, k), alone, packed)
        np.testing.assert_array_equal(packed[:-1], A[:size, k][both])
        assert np.isnan(packed[-1])
        assert not alone.any()
        gram(active, *tables, lane(on, k), lane(u, k), lane(y, k), alone, packed)
        np.testing.assert_allclose(packed[:-1], A[:size, k][both], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("rows", [1, 4, 9])
def test_multipliers_are_spread_along_paths(rows: int) -> None:
    """Also where some are zero, and in lanes of their own; what is no number stays none."""
    tables, _, y, dense = rows_on_paths(rows)
    rng = np.random.default_rng(rows)
    x = np.where(rng.random((rows, WIDTH)) < 0.5, 0.0, rng.standard_normal((rows, WIDTH)))
    x[0] = 0.0
    active, dy = np.array([rows, *range(rows)]), np.zeros((int(SIZES.sum()), WIDTH))
    spread.call(Lanes(WIDTH), active, *tables, y, x, dy)
    assert np.allclose(dy, np.einsum("rvw,rw->vw", dense[1], x), rtol=1e-13, atol=1e-13)
    for k in range(WIDTH):
        own = np.zeros(len(dy))
        spread.call(Lanes(1), active, *tables, lane(y, k), lane(x, k), own)
        np.testing.assert_array_equal(own, dy[:, k])
    x[0] = np.nan
    spread.call(Lanes(WIDTH), active, *tables, y, x, dy)
    assert np.isnan(dy).any() == dense[1, 0].any()
