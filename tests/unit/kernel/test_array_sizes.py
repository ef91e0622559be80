"""Shapes of arrays that kernels read are compared where a plan binds them."""

from __future__ import annotations

import numpy as np
import pytest
from models import two_links

import linkwork as lw


def test_gravity_of_no_entries_is_no_gravity() -> None:
    """Nobody gets around the check by an array that cannot be written to."""
    nothing = np.zeros(0)
    nothing.setflags(write=False)
    with pytest.raises(lw.ModelError, match="gravity must be three finite numbers"):
        lw.Model(two_links().bodies, nothing)


@pytest.mark.parametrize("size", [0, 2, 4])
def test_an_array_of_another_size_is_refused_before_kernels_read_it(size: int) -> None:
    """Compiled code would read beyond it, or take numbers from the wrong places."""
    model = two_links()
    vars(model)["gravity"] = np.zeros(size)  # as no constructor lets it be
    state = lw.State(np.zeros(2), np.zeros(2))
    with pytest.raises(lw.InputError, match=rf"gravity has shape \({size},\)"):
        lw.simulate(model, state, 0.01)
    with pytest.raises(lw.LinkworkError):
        lw.simulate(model, lw.State(np.zeros((3, 2)), np.zeros((3, 2))), 0.01)
