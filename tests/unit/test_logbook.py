"""Records of controlled runs: those that compiled steps of one state write are those that Python keeps of batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from models import random_state, random_tree

import linkwork as lw
from linkwork.kernel import python

MODEL = random_tree(3, 5)
START = random_state(MODEL, 3)
STEPS, DT = 20, 1e-3


def push(t: float, state: Any) -> np.ndarray:
    """Forces that depend on all that a control sees."""
    return -0.1 * state.v + np.sin(10.0 * t) * state.q[..., :1]


def test_records_are_those_of_a_batch_and_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    one = lw.simulate(MODEL, START, STEPS * DT, DT, control=push)
    pair = lw.State(q=np.stack([START.q] * 2), v=np.stack([START.v] * 2))
    many = lw.simulate(MODEL, pair, STEPS * DT, DT, control=push)
    with monkeypatch.context() as changed:
        changed.setattr(python, "available", lambda: False)
        slow = lw.simulate(random_tree(3, 5), START, STEPS * DT, DT, control=push)
    assert one.tau is not None
    for name in ("q", "v", "tau"):
        found = getattr(one, name)
        assert found.tobytes() == getattr(many, name)[1].tobytes() == getattr(slow, name).tobytes(), name
    assert len(one) == STEPS + 1
    np.testing.assert_array_equal(one.tau[-1], one.tau[-2])


def test_states_that_a_control_sees_stay_as_they_were() -> None:
    seen: list[lw.State] = []

    def control(t: float, state: Any) -> np.ndarray:
        seen.append(state)
        return push(t, state)

    found = lw.simulate(MODEL, START, STEPS * DT, DT, control=control)
    for k, state in enumerate(seen):
        assert (state.t, state.q.tobytes(), state.v.tobytes()) == (found.t[k], found.q[k].tobytes(), found.v[k].tobytes())
        with pytest.raises(ValueError, match="read-only"):
            state.q[0] = 0.0
        with pytest.raises(ValueError, match="WRITEABLE"):
            state.q.setflags(write=True)


def test_what_was_done_before_an_interrupt_is_kept() -> None:
    def control(t: float, state: Any) -> np.ndarray:
        if t > 5.5 * DT:
            raise KeyboardInterrupt
        return push(t, state)

    whole = lw.simulate(MODEL, START, STEPS * DT, DT, control=push)
    with pytest.raises(lw.RunInterrupted) as stopped:
        lw.simulate(MODEL, START, STEPS * DT, DT, control=control)
    part = stopped.value.trajectory
    assert whole.tau is not None
    assert len(part) == 7
    assert part.q.tobytes() == whole.q[:7].tobytes()
    assert part.tau.tobytes() == np.concatenate([whole.tau[:6], whole.tau[5:6]]).tobytes()


def test_an_error_of_a_control_leaves_nothing_behind() -> None:
    def control(t: float, state: Any) -> np.ndarray:
        if t > 5.5 * DT:
            raise ZeroDivisionError
        return push(t, state)

    before = lw.simulate(MODEL, START, STEPS * DT, DT, control=push)
    with pytest.raises(ZeroDivisionError):
        lw.simulate(MODEL, START, STEPS * DT, DT, control=control)
    with pytest.raises(lw.InputError, match="not finite"):
        lw.simulate(MODEL, START, STEPS * DT, DT, control=lambda t, state: np.full(MODEL.nv, np.nan))
    assert lw.simulate(MODEL, START, STEPS * DT, DT, control=push).q.tobytes() == before.q.tobytes()
