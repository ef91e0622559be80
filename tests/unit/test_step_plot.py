"""The picture of a stepper: errors fall with its order, and it is written whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from linkwork.scenes.pendulum import pendulum
from linkwork.view.steps import step_errors, write_step_plot


def test_errors_fall_with_the_order() -> None:
    for stepper, order in (("rk4", 4), ("ode45", 5)):
        errors = step_errors(stepper, *pendulum(links=2), (24, 48))
        assert abs(np.log2(errors[0] / errors[1]) - order) < 0.5


def test_the_picture_is_small(tmp_path: Path) -> None:
    write_step_plot("rk4", tmp_path / "rk4.png")
    assert 10_000 < (tmp_path / "rk4.png").stat().st_size < 60_000
