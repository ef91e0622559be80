"""A user's mistakes on the command line: exit code 2, what is wrong on stderr, no traceback."""

from __future__ import annotations

import pytest
from command import called

MISTAKES = {
    "scene misspelt": ("run pendulm", "did you mean 'pendulum'"),
    "dt zero": ("run pendulum --dt 0", "dt must be positive and finite, not 0.0"),
    "dt negative": ("run pendulum --dt -1", "dt must be positive and finite, not -1.0"),
    "dt nan": ("run pendulum --dt nan", "dt must be positive and finite, not nan"),
    "dt inf": ("run pendulum --dt inf", "dt must be positive and finite, not inf"),
    "dt text": ("run pendulum --dt fast", "dt"),
    "dt tiny": ("run pendulum --dt 1e-300", "dt = 1e-300 is too small"),
    "dt above duration": ("run pendulum --dt 10", "not a whole number of steps of 10"),
    "duration zero": ("run pendulum --duration 0", "duration must be positive and finite, not 0.0"),
    "duration no multiple": ("run pendulum --dt 0.3 --duration 1", "duration 1 is not a whole number of steps of 0.3"),
    "links": ("run chain --links 0", "at least 1, not 0"),
    "links text": ("run chain --links many", "links"),
    "method misspelt": ("run pendulum --method reducd", "reduced"),
    "benchmark misspelt": ("bench loadd", "did you mean 'loaded'"),
    "no such command": ("frobnicate", "frobnicate"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_said_in_a_line(what: str, capsys: pytest.CaptureFixture[str], tmp_path: object) -> None:
    line, said = MISTAKES[what]
    where = ["--out", str(tmp_path), "--headless"] if line.startswith("run") else []
    assert called(*line.split(), *where) == 2
    found = capsys.readouterr()
    assert said in found.err
    assert "Traceback" not in found.err + found.out
