"""Runs tell how far they are."""

from __future__ import annotations

from typing import Any

import pytest

import linkwork as lw
from linkwork.scenes import ALL_SCENES
from linkwork.steppers.progress import watched


@pytest.mark.parametrize(
    "given",
    [{}, {"every": 5}, {"control": lambda t, s: [0.0, 0.0]}, {"method": "maximal"}],
    ids=["compiled", "every", "python", "maximal"],
)
def test_all_steps_are_told_once(given: dict[str, Any]) -> None:
    model, state = ALL_SCENES["pendulum"].build(links=2)
    told: list[int] = []
    with watched(told.append):
        lw.simulate(model, state, 0.5, 1e-3, **given)
    assert sum(told) == 500
    lw.simulate(model, state, 0.5, 1e-3, **given)
    assert sum(told) == 500, "nobody listens any more"


def test_long_runs_tell_often(monkeypatch: pytest.MonkeyPatch) -> None:
    model, state = ALL_SCENES["pendulum"].build(links=20)
    told: list[int] = []
    with watched(told.append):
        lw.simulate(model, state, 60.0, 1e-3, every=1000)
    assert sum(told) == 60000
    assert len(told) > 2


def test_the_bar_says_percent_time_speed_and_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import rich.console

    from linkwork.cli.progress import progress

    monkeypatch.setattr(rich.console.Console, "is_terminal", property(lambda self: True))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "140")
    model, state = ALL_SCENES["pendulum"].build(links=2)
    with progress("pendulum", 500, 1e-3):
        lw.simulate(model, state, 0.25, 1e-3, control=lambda t, s: [0.0, 0.0])
    shown = capsys.readouterr().err
    for words in ("pendulum", "50%", "0.25 of 0.5 s", "steps/s"):
        assert words in shown
