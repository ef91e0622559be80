"""A `Simulator` whose motion is lost says so at every further step, until it is reset."""

from __future__ import annotations

import numpy as np
import pytest
from reliability.runs import smooth, start

import linkwork as lw


@pytest.mark.parametrize("method", ["reduced", "maximal"])
@pytest.mark.parametrize("batch", [0, 3])
@pytest.mark.parametrize("steps", [1, 50])
def test_it_refuses_to_go_on(method: str, batch: int, steps: int) -> None:
    model = smooth()
    state = start(model, batch)
    sim = lw.Simulator(model, state, 1e-3, method)
    sim.step()
    sim.reset(lw.State(state.q, np.where(np.arange(model.nv) == 1, 1e11, state.v)))

    def many() -> None:
        for _ in range(50):
            sim.step(steps)

    with pytest.raises(lw.SolverError, match=r"not finite at t = 0\.00[0-9]+: body") as first:
        many()
    t = sim.t
    for _ in range(3):
        with pytest.raises(lw.SolverError, match="this Simulator cannot go on") as again:
            sim.step()
        assert str(first.value) in str(again.value)
    assert sim.t == t
    sim.reset()
    assert np.isfinite(sim.step(steps).v if method == "reduced" else sim.step(steps).twists).all()


def test_many_steps_of_a_batch_are_single_steps() -> None:
    model = smooth()
    a, b = (lw.Simulator(model, start(model, 5)) for _ in range(2))
    a.step(40)
    for _ in range(40):
        b.step()
    assert a.state.q.tobytes() == b.state.q.tobytes()
    assert a.t == b.t
