"""Short streams of every kind of run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from reliability.runs import smooth, start, touching

import linkwork as lw

WAYS: dict[str, dict[str, Any]] = {
    "fixed": {"every": 2},
    "maximal": {"method": "maximal", "batch": 2},
    "control": {"control": lambda t, s: -0.1 * s.v, "every": 2},
    "dop853": {"stepper": "dop853", "contact": "off"},
    "dop853 under a control": {"stepper": "dop853", "control": lambda t, s: -0.1 * s.v, "contact": "off"},
}


def write_streams(folder: Path) -> list[Path]:
    """Streams of all ways, and of a Simulator, whose ends are cut off."""
    folder.mkdir(exist_ok=True)
    files = []
    for name, given in WAYS.items():
        options = dict(given)
        model = smooth() if "stepper" in options else touching()
        state = start(model, options.pop("batch", 0))
        files.append(folder / f"{name}.lwk")
        lw.simulate(model, state, 0.02, 1e-3, out=files[-1], **options)
    model = touching()
    files.append(folder / "simulator.lwk")
    sim = lw.Simulator(model, start(model), out=files[-1])
    for _ in range(10):
        sim.step(2)
    sim.close()
    for file in files[:2]:  # no longer at their ends: they can be resumed
        file.write_bytes(_without_end(file.read_bytes()))
    assert np.isfinite(lw.Trajectory.load(files[0]).v).all()
    return files


def _without_end(data: bytes) -> bytes:
    return data[: data.rindex(b"LWKBDONE")]
