"""Designs: which runs there are."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw


def test_grid_has_all_pairs_the_last_axis_fastest() -> None:
    design = lw.Design.grid({"a.mass": [1.0, 2.0], "b.mass": [3.0, 4.0, 5.0]})
    rows = np.stack(list(design.columns.values()), axis=1)
    assert rows.tolist() == [[1, 3], [1, 4], [1, 5], [2, 3], [2, 4], [2, 5]]
    assert len(design) == 6
    assert "6 runs of a.mass, b.mass" in repr(design)


@pytest.mark.parametrize("kind", [lw.Design.random, lw.Design.latin, lw.Design.sobol])
def test_points_are_in_their_ranges_and_repeatable(kind) -> None:
    ranges = {"x": (2.0, 3.0), "y": (1e-3, 1e3, "log")}
    design = kind(ranges, 100, seed=5)
    x, y = design.columns["x"], design.columns["y"]
    assert len(design) == 100
    assert x.min() >= 2
    assert x.max() <= 3
    assert y.min() >= 1e-3
    assert y.max() <= 1e3
    assert 30 < np.sum(y < 1.0) < 70  # half of the decades are below 1
    assert np.array_equal(kind(ranges, 100, seed=5).columns["x"], x)
    assert not np.array_equal(kind(ranges, 100, seed=6).columns["x"], x)


def test_latin_hypercube_has_one_run_in_every_part() -> None:
    design = lw.Design.latin({"x": (0.0, 1.0), "y": (0.0, 1.0)}, 50)
    for x in design.columns.values():
        assert sorted(np.floor(50 * x).astype(int)) == list(range(50))


def test_sobol_is_more_even_than_chance() -> None:
    """A quarter of the square has a quarter of the points, of 64 exactly."""
    columns = lw.Design.sobol({"x": (0.0, 1.0), "y": (0.0, 1.0)}, 64).columns
    assert np.sum((columns["x"] < 0.5) & (columns["y"] < 0.5)) == 16


def test_repeated_runs_have_their_seeds() -> None:
    design = lw.Design({"q[0]": [0.1, 0.2]}).repeated(3).with_columns(gain=2.0)
    assert design.columns["q[0]"].tolist() == [0.1] * 3 + [0.2] * 3
    assert design.columns["seed"].tolist() == [0, 1, 2] * 2
    assert design.columns["gain"].tolist() == [2.0] * 6
    assert list(design)[4] == {"q[0]": 0.2, "seed": 1, "gain": 2.0}


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: lw.Design({}), "{column: values}"),
        (lambda: lw.Design({"a": [1.0], "b": [1.0, 2.0]}), "different lengths"),
        (lambda: lw.Design({"a": ["x"]}), "must hold numbers"),
        (lambda: lw.Design({"a": [1.0, np.nan]}), "not finite in run 1"),
        (lambda: lw.Design({3: [1.0]}), "text as its name"),
        (lambda: lw.Design({"a": []}), "no runs"),
        (lambda: lw.Design({"a": np.zeros((2, 2, 2))}), "shape"),
        (lambda: lw.Design.grid({}), "axes"),
        (lambda: lw.Design.random({"a": (1.0, 2.0)}, 0), "positive integer"),
        (lambda: lw.Design.random({"a": (1.0, 2.0)}, 2.5), "positive integer"),
        (lambda: lw.Design.sobol({"a": (2.0, 1.0)}, 4), "range"),
        (lambda: lw.Design.sobol({"a": (0.0, 1.0, "log")}, 4), "must be positive"),
        (lambda: lw.Design.latin({"a": (1.0, 2.0, "lin")}, 4), "range"),
        (lambda: lw.Design.latin({"a": 3.0}, 4), "range"),
    ],
)
def test_wrong_designs_are_refused(make, told: str) -> None:
    with pytest.raises(lw.InputError, match=told.replace("(", r"\(").replace("{", r"\{")):
        make()
