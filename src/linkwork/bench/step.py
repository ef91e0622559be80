"""Time steps of an arm of seven links: many steps of 1 ms in one call, every state recorded, beside MuJoCo's rollout.

Both run semi-implicit Euler without contacts or damping from the same states and write into arrays that they are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import LinkworkError
from ..interop.mujoco import build, without_loads
from ..model import Model, State
from ..simulate import simulate
from ..steppers import SymplecticEuler
from . import models, peers
from .report import Progress, missing, publish, rows_of
from .timing import Contender, Effort, enough_cores, measure

CASE, DT = "arm7", 1e-3
TEXTBOOK = SymplecticEuler(evaluations=0)  # the step that MuJoCo takes
CHECKED_STEPS, SAME_PATH = 100, 1e-9
NOTE = "a state is one step of one arm, recorded; linkwork batch64 moves {arms} arms in a call, mujoco {fewer}, native one"


def program(model: Model, q: np.ndarray, v: np.ndarray, steps: int, threads: int = 1) -> Callable[[], dict[str, np.ndarray]]:
    """What `simulate` runs: all steps of all arms in one call. The arrays (arms, steps, 7) are overwritten by each call."""
    arms, step = len(q), TEXTBOOK.program("reduced", model)
    plan = step.plan(model, step.lanes(model, arms), ("tau", "external"))
    inputs = step.entered(model, {"q": q, "v": v}, 0.0) | step.given(model, DT)
    outputs = {name: np.empty((arms, steps, model.nv)) for name in ("q", "v")}

    def run() -> dict[str, np.ndarray]:
        plan.run(inputs, outputs, arms, records=steps, threads=threads)
        return outputs

    return run


def rollout(mj: Any, mj_model: Any, q: np.ndarray, v: np.ndarray, steps: int) -> Callable[[], np.ndarray]:
    """MuJoCo's rollout on the calling thread: states (arms, steps, 1 + 7 + 7) of time, positions and velocities."""
    rollouts: Any = peers.module("mujoco.rollout")
    arms = len(q)
    start = np.concatenate([np.zeros((arms, 1)), q, v], axis=1)
    state = np.empty((arms, steps, start.shape[1]))
    data, pool = mj.MjData(mj_model), rollouts.Rollout(nthread=0)
    all_models = [mj_model] * arms

    def run() -> np.ndarray:
        pool.rollout(all_models, [data], start, nstep=steps, state=state, skip_checks=True)
        return state

    return run


def require_same_path(model: Model, mj: Any, mj_model: Any) -> None:
    """Raise unless both engines walk the same path for a while, and `program` is what `simulate` does."""
    q, v, *_ = models.random_states(model, 2, seed=5).values()
    ours = program(model, q, v, CHECKED_STEPS)()
    public = simulate(model, State(q=q, v=v), CHECKED_STEPS * DT, DT, evaluations=TEXTBOOK.evaluations)
    if not np.array_equal(public.arrays["q"][:, 1:], ours["q"]):
        raise LinkworkError("the timed program and lw.simulate give different paths; the benchmark does not measure simulate")
    theirs = rollout(mj, mj_model, q, v, CHECKED_STEPS)()[:, :, 1:]
    error = np.abs(theirs - np.concatenate([ours["q"], ours["v"]], axis=2)).max() / np.abs(theirs).max()
    if not error <= SAME_PATH:
        raise LinkworkError(f"after {CHECKED_STEPS} steps the paths of mujoco and linkwork differ by {error:.2g} (relative)")


def contenders(arms: int, fewer: int, steps: int) -> tuple[list[Contender], list[str]]:
    """All that is timed; MuJoCo's batch has fewer arms, as it works through them one by one anyway."""
    model = models.arm7()
    q, v, *_ = models.random_states(model, arms).values()

    def contender(engine: str, mode: str, run: Callable[[], Any], count: int, threads: int = 1) -> Contender:
        return Contender(CASE, "step", engine, mode, threads, run, count * steps)

    def both() -> Iterator[Contender]:
        yield contender("linkwork", "native", program(model, q[:1], v[:1], steps), 1)
        yield contender("linkwork", "batch64", program(model, q, v, steps), arms)
        if enough_cores(2):
            yield contender("linkwork", "batch64", program(model, q, v, steps, threads=2), arms, 2)
        if mj is not None:
            mj_model = build(without_loads(model), DT)
            require_same_path(model, mj, mj_model)
            yield contender("mujoco", "native", rollout(mj, mj_model, q[:1], v[:1], steps), 1)
            yield contender("mujoco", "batch64", rollout(mj, mj_model, q[:fewer], v[:fewer], steps), fewer)

    mj = peers.module("mujoco")
    notes = [NOTE.format(arms=arms, fewer=fewer), *([missing("mujoco")] if mj is None else [])]
    return list(both()), notes


def run(
    json: Path | None = None, quick: bool = False, arms: int | None = None, fewer: int = 64, steps: int | None = None
) -> list[dict[str, Any]]:
    """Time the steps and publish the rows."""
    arms, steps = arms or (256 if quick else 1024), steps or (200 if quick else 1000)
    progress = Progress()
    with progress.line(CASE):
        progress.say("building")
        group, notes = contenders(arms, min(fewer, arms), steps)
        progress.say(f"measuring {len(group)} functions")
        rows = rows_of(group, measure(group, Effort(5, 0.6) if quick else Effort(60, 12.0)))
    return publish("step", rows, json, notes)
