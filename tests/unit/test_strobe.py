"""A run in one picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes.pendulum import PENDULUM
from linkwork.view.strobe import strobe, write_strobe


def test_bodies_paths_and_scenery_are_drawn(tmp_path: Path) -> None:
    model, state = PENDULUM.build()
    run = lw.simulate(model, state, 0.2, 1e-2)
    ax = strobe(run, scenery=[[(0, 0, 0), (1, 0, 1)]], frames=3).axes[0]
    bodies = len(model.bodies)
    assert len(ax.lines) == 1 + bodies * (2 * 3 + 1)
    assert np.allclose(ax.lines[0].get_xydata(), [(0, 0), (1, 1)])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [b.name for b in model.bodies]
    write_strobe(run, tmp_path / "run.png", plane="yz")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(lw.InputError, match="plane must be one of xz, xy, yz"):
        strobe(run, plane="zx")
