"""Many states under joint forces that are known beforehand: the same as runs one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from derivatives.step_cases import pendulum

import linkwork as lw

STEPS, H = 20, 2e-3
RNG = np.random.default_rng(0)
Q, V, TAU = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3)), RNG.normal(size=(4, STEPS, 3))


@pytest.mark.parametrize("method", ["reduced", "maximal", "redmax"])
def test_a_batch_is_its_states(method: str) -> None:
    m = pendulum()
    many = lw.rollout(m, lw.State(Q, V), TAU, H, method=method)
    for k in range(4):
        one = lw.rollout(m, lw.State(Q[k], V[k], t=0.7), TAU[k], H, method=method)
        assert np.array_equal(many.poses[k], one.poses)
    alike = lw.rollout(m, lw.State(Q, V), TAU[0], H, method=method)
    assert np.array_equal(alike.poses[0], many.poses[0])


def test_forces_are_those_of_their_steps() -> None:
    """A mass on a slide: its velocity is the sum."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.body("mass", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia.sphere(mass=2.0, radius=0.1))
    run = lw.rollout(b.build(), lw.State([0.0], [1.0], t=0.3), TAU[0, :, :1], H)
    assert run.v[1:, 0] == pytest.approx(1.0 + H * np.cumsum(TAU[0, :, 0]) / 2.0)
    assert run.t[-1] == pytest.approx(0.3 + STEPS * H)


@pytest.mark.parametrize(
    ("controls", "options", "words"),
    [
        (np.zeros((3, 2)), {}, r"controls must be \(steps, 3\) or \(batch, steps, 3\), not \(3, 2\)"),
        (np.zeros((2, 5, 3)), {}, "controls are for 2 states, and there are 4"),
        (np.full((5, 3), np.nan), {}, "finite"),
        (np.zeros((5, 3)), {"tau": np.zeros(3)}, "say tau already"),
        (np.zeros((0, 3)), {}, "controls must be"),
    ],
)
def test_what_is_wrong_is_said(controls: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(lw.InputError, match=words):
        lw.rollout(pendulum(), lw.State(Q, V), controls, H, **options)
