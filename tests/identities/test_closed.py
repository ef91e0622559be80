"""Whether a start is closed: the compiled call against dense matrices, and where rows lose their independence."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.bench.loaded_models import CASES, equality_rows
from linkwork.reduced.closed import closedness_call
from linkwork.scenes.loop import four_bar


def volume(model: lw.Model, q: np.ndarray) -> tuple[np.ndarray, float]:
    """Residuals and volume, compiled."""
    given = {"q": q, "v": None, "t": np.zeros(1), "told": np.zeros(0), "unknown": np.zeros(0)}
    found = closedness_call(model)(given, 1, ("error", "volume"))
    return found["error"], float(found["volume"][0])


@pytest.mark.parametrize("case", ["arm+loop", "arm+coupling"])
def test_the_volume_is_that_of_dense_rows(case: str) -> None:
    loaded = CASES[case]()
    model, q = loaded.model, loaded.q
    G = equality_rows(model, q)
    A = G @ lw.inverse_mass_matrix(model.replace(elements=()), q) @ G.T
    error, found = volume(model, q)
    assert np.isclose(found, np.linalg.det(A / np.diag(A).max()), rtol=1e-9)
    assert np.linalg.eigvalsh(A / np.diag(A).max()).min() > found / np.e
    assert np.abs(error).max() < 1e-9


def test_dependent_rows_have_no_volume() -> None:
    """A loop that is closed twice: far from any doubt, and not locked."""
    model, state = four_bar()
    twice = model.add(*(e for e in model.elements if isinstance(e, lw.Loop | lw.Closure)))
    assert volume(twice, state.q)[1] < 1e-12
    assert len(lw.simulate(twice, state, 2e-3, 1e-3)) == 3
