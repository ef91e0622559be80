"""A run for tests to kill: `python killed.py FILE SECONDS KIND` begins it, or continues what the file holds."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from reliability.runs import builder, smooth, start, touching

import linkwork as lw


class Swing:
    """A control with a memory: it counts how often it was asked."""

    def __init__(self, nv: int) -> None:
        self.asked, self.trail = 0, np.zeros(nv)

    def __call__(self, t: float, state: Any) -> np.ndarray:
        self.asked += 1
        self.trail = 0.9 * self.trail + 0.1 * state.v
        return 0.2 * np.sin(0.01 * self.asked) - self.trail

    def state(self) -> dict[str, Any]:
        return {"asked": self.asked, "trail": self.trail}

    def restore(self, state: dict[str, Any]) -> None:
        self.asked, self.trail = state["asked"], state["trail"]


def damped(t: float, state: Any) -> np.ndarray:
    """A control without memory, as methods that choose their steps want it."""
    return 0.3 * np.sin(3.0 * t) - 0.05 * state.v


def upright(t: float, state: Any) -> float:
    """An event."""
    return float(state.v[0])


CHOSEN: dict[str, Any] = {"control": damped, "events": [upright]}  # what a run with steps of its own choice is asked


def begun(path: str | None, duration: float, kind: str) -> Any:
    """The run of a kind, in a file or in memory."""
    if kind == "chosen steps":
        free = builder().build()
        return lw.simulate(free, start(free), duration, 1e-2, stepper="dop853", out=path, **CHOSEN)
    model = smooth() if kind == "controlled" else touching()
    more: dict[str, Any] = {"control": Swing(model.nv)} if kind == "controlled" else {}
    if kind == "rare":
        more["every"] = round(duration / 1e-3) // 2
    state = start(model, 5 if kind == "batch" else 0)
    return lw.simulate(model, state, duration, 1e-3, out=path, **more)


def continued(path: str, kind: str) -> Any:
    """The rest of it."""
    if kind == "chosen steps":
        return lw.resume(path, **CHOSEN)
    return lw.resume(path, **({"control": Swing(3)} if kind == "controlled" else {}))


if __name__ == "__main__":
    file, duration, kind = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    warm = touching()
    lw.simulate(warm, start(warm), 2e-3, 1e-3)  # what is imported and compiled is ready
    print("ready", flush=True)
    try:
        continued(file, kind) if Path(file).exists() else begun(file, duration, kind)
    except lw.InputError as error:
        if "no run" not in str(error):
            raise
        begun(file, duration, kind)
    except KeyboardInterrupt:
        print(time.process_time(), flush=True)
        raise
    print("done", flush=True)
