"""A batch of runs, each of a model with numbers of its own: variants of one model, side by side in lanes.

What differs (masses, stiffnesses, sizes of shapes) is an input of the step's program, see `kernel.varying`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..elements.collection import collection
from ..errors import InputError
from ..kernel.plans import Plans
from ..kernel.varying import Names, varying, with_varied
from ..kernel.workers import thread_count
from ..model import Model, State
from .efforts import Efforts
from .fixed import shaped_force
from .recording import Recording
from .stepper import Stepper, program_of
from .stepping import Stepping

METHOD = "reduced"
PACKED = ("symplectic_euler", "rk4")  # steppers that begin alike whatever the numbers of the model
Parts = dict[str, np.ndarray]
BatchControl = Callable[[float, State], Any]


def packs(model: Model, stepper: Stepper, method: str) -> bool:
    """Whether variants of a model run side by side."""
    laws = collection(model)
    return method == METHOD and stepper.name in PACKED and not laws.told_count and not any(law.unknowns for law in laws.rows)


@dataclass(frozen=True, eq=False)
class Records:
    """What a batch of runs recorded: times (T,), parts of the states (batch, T, size), and joint forces, or None."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray | None


class VariedRuns:
    """The step of a model whose numbers differ from run to run.

    model     one of the variants, as it acts (with what its joints and shapes declare)
    names     the parameters that differ, by the set of their nodes
    """

    def __init__(self, model: Model, stepper: Stepper, names: Names) -> None:
        program = program_of(stepper, model, METHOD)
        plans = Plans(with_varied((program.bind(model) if program.bind else model.plan).tree, names))
        self.model = model
        self.program = replace(program, algorithm=varying(program.algorithm, names), bind=lambda _: plans)
        self._recordings: dict[Any, Recording] = {}
        self._steppings: dict[int, Stepping] = {}

    def run(
        self, state: State, varied: Mapping[str, np.ndarray], dt: float, records: int, every: int, threads: int | None = 1
    ) -> Records:
        """All runs from states (batch, size), recorded after every so many steps.

        varied   inputs that differ, by name (batch, size): `varied_field` of the sets, gravity, u, tau
        """
        kept = self._entered(state) | {name: np.ascontiguousarray(x) for name, x in varied.items()}
        key = (len(state.q), *kept)
        if key not in self._recordings:
            self._recordings = {key: Recording(self.model, self.program, kept)}  # memory of one size of batches is kept
        run = self._recordings[key]
        arrays, _ = run(kept, dt, records, every, thread_count(threads))
        if run.stopped:
            raise KeyboardInterrupt
        for a in arrays.values():
            a[:, run.done + 1 :] = np.nan  # no run was finite any more
        parts = self.program.left(self.model, arrays)
        tau = varied.get("tau")
        return Records(
            self._times(state, dt, records, every),
            parts["q"],
            parts["v"],
            None if tau is None else np.repeat(tau[:, None], records + 1, axis=1),
        )

    def controlled(
        self, state: State, varied: Mapping[str, np.ndarray], dt: float, records: int, every: int, control: BatchControl
    ) -> Records:
        """The same under a control that is asked at every step, with the states of all runs: (batch, nv) joint forces."""
        kept, batch, efforts = self._entered(state), len(state.q), Efforts(self.model)
        run = self._steppings.get(batch)
        if run is None:
            most = efforts.most
            run = self._steppings[batch] = Stepping(self.model, self.program, kept, dt, 1, most, varied)
        run.restart(kept, dt)
        for name, x in varied.items():
            run.give(name, x)
        times = self._times(state, dt, records, every)
        seen = run.seen(State, {"q": state.q.shape, "v": state.v.shape})
        found: list[State] = [seen(float(times[0]))]
        given: list[np.ndarray] = []
        for start in times[:-1].tolist():
            for k in range(every):
                t = start + k * dt
                tau = _asked(control, t, seen(t), (batch, self.model.nv))
                run.step(efforts.held(tau))
                if not k:
                    given.append(tau.copy())
            found.append(seen(start + every * dt))
        q, v = (np.stack([getattr(s, name) for s in found], axis=1) for name in ("q", "v"))
        return Records(times, q, v, np.stack([*given, given[-1]], axis=1))

    def _entered(self, state: State) -> Parts:
        return self.program.entered(self.model, {"q": np.ascontiguousarray(state.q), "v": np.ascontiguousarray(state.v)}, state.t)

    @staticmethod
    def _times(state: State, dt: float, records: int, every: int) -> np.ndarray:
        return state.t + dt * every * np.arange(records + 1)


def _asked(control: BatchControl, t: float, state: State, shape: tuple[int, int]) -> np.ndarray:
    """What a control says for all runs; to those that are lost nothing is done."""
    tau = np.array(np.broadcast_to(shaped_force(control(t, state), t, shape, shape[1:]), shape))
    lost = ~np.isfinite(state.v).all(axis=-1)
    tau[lost] = 0.0
    if not np.isfinite(tau).all():
        run = int(np.argmin(np.isfinite(tau).all(axis=-1)))
        raise InputError(f"control returned a value that is not finite at t = {t:g}, for run {run} of {shape[0]}")
    return tau


def varied_runs(model: Model, stepper: Stepper, names: Names) -> VariedRuns:
    """Kept with the model."""
    key = (VariedRuns, stepper, tuple(sorted((of, *sorted(some)) for of, some in names.items())))
    return model.keep_as(key, lambda: VariedRuns(model, stepper, names))
