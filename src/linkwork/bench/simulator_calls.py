"""What a call from Python costs: one step by a `Simulator`, a step under control, a `simulate` of one step; beside MuJoCo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..model import State
from ..simulate import simulate
from ..simulator import Simulator
from . import peers
from .loaded_models import CASES
from .report import OURS
from .timing import Contender

SIMULATOR, CASE, DT = "simulator", "arm", 1e-3
CALLS = 100  # in a run, so that the robot does not go far from its start


def simulator_contenders(calls: int = CALLS) -> tuple[list[Contender], list[str]]:
    """Quantities `simulator_step`, `controlled_step` and `simulate_call` of the bare arm."""
    arm = CASES[CASE]()
    model, start, none = arm.model, State(q=arm.q, v=arm.v), np.zeros(arm.model.nv)
    sim = Simulator(model, start, dt=DT)

    def stepping() -> None:
        sim.reset()
        for _ in range(calls):
            sim.step()

    def controlled() -> Any:
        return simulate(model, start, calls * DT, DT, control=lambda t, state: none)

    runs: dict[str, tuple[Callable[[], Any], int]] = {
        "simulator_step": (stepping, calls),
        "controlled_step": (controlled, calls),
        "simulate_call": (lambda: simulate(model, start, DT, DT), 1),
    }
    engines = {OURS: runs} | ({} if peers.module("mujoco") is None else {"mujoco": _mujoco(arm, calls, none)})
    group = [
        Contender(CASE, quantity, engine, "single", 1, run, count)
        for engine, own in engines.items()
        for quantity, (run, count) in own.items()
    ]
    note = "single calls: of mujoco, mj_step in a loop; the same with qfrc_applied set by a function; a rollout of one step"
    return group, [note] if len(engines) > 1 else []


def _mujoco(arm: Any, calls: int, none: np.ndarray) -> dict[str, tuple[Callable[[], Any], int]]:
    from .loaded_peers import LoadedMuJoCo

    peer = LoadedMuJoCo(arm.model, arm.q, DT)
    mj, model = peer.mj, peer.model
    data = mj.MjData(model)

    def control(t: float, data: Any) -> np.ndarray:
        return none

    def begin() -> None:
        mj.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = arm.q, arm.v

    def stepping() -> None:
        begin()
        for _ in range(calls):
            mj.mj_step(model, data)

    def controlled() -> None:
        begin()
        for _ in range(calls):
            data.qfrc_applied[:] = control(data.time, data)
            mj.mj_step(model, data)

    return {
        "simulator_step": (stepping, calls),
        "controlled_step": (controlled, calls),
        "simulate_call": (peer.rollout(arm.q, arm.v, 1), 1),
    }
