"""The motion of assemblies: the program of a step (`stepping`), run inside compiled code from one record to the next.

Forces that Python says at every stage are the exception: then the same program goes pass by pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import InputError, SolverError
from ..kernel.plan import Plan
from ..kernel.workers import thread_count
from ..model.state import State
from .stepping import MEMORY, PASSES, STAGES, TIMES, step_algorithm

if TYPE_CHECKING:  # assemblies offer `simulate` as a method
    from .assembly import Assembly

AT_ONCE = 256  # records between two looks at whether all is well
Forces = Callable[[State], np.ndarray]  # what acts at a state (velocities,)
Stabilise = Literal["project", "baumgarte", "none"]


@dataclass(frozen=True, eq=False)
class AssemblyRun:
    """Times (records,), coordinates and velocities (records, ...); `residual` is the largest of the conditions on positions.

    Of a batch all but the times have its axis first.
    """

    times: np.ndarray
    q: np.ndarray
    v: np.ndarray
    residual: np.ndarray

    def state(self, k: int = -1) -> State:
        """The state of one record (of all runs of a batch)."""
        return State(self.q[..., k, :], self.v[..., k, :], float(self.times[k]))


@dataclass(frozen=True)
class Options:
    """How to step: forces, what to do against drift, Baumgarte's (b, c), restitution of collisions, threads for batches."""

    forces: Forces | np.ndarray | None
    stabilise: Stabilise
    baumgarte: tuple[float, float]
    restitution: float
    threads: int | None = 1


class Journey:
    """A batch of states on their way: arrays of the program, and how to run it."""

    def __init__(self, assembly: Assembly, state: State, dt: float, options: Options) -> None:
        layout = assembly.layout
        self._assembly, self._dt, self._options = assembly, dt, options
        self.q, self.v = (np.array(np.atleast_2d(x)) for x in (state.q, state.v))
        batch = self.batch = len(self.q)
        self._begin = state.t
        algorithm = step_algorithm(layout.extent)
        lanes = layout.plans.lanes(algorithm, 1 if layout.directed else batch)
        self._plan: Plan = layout.plans(algorithm, lanes, absent=("x",))
        project = options.stabilise == "project"
        bounce = project or layout.one_sided
        self.passes = PASSES - (not project) - (not bounce)
        b, c = options.baumgarte if options.stabilise == "baumgarte" else (0.0, 0.0)
        self._given = {
            "gravity": assembly.gravity,
            "begin": np.array([state.t]),
            "h": np.array([dt]),
            "scheme": np.array([project, bounce, b, c, options.restitution], float),
        }
        self._growth = np.zeros((batch, int(layout.dims.sum())))
        self._off = np.zeros((batch, len(layout.auxiliary_rows)))
        self._clock = {name: np.zeros((batch, 1)) for name in ("steps", "passing")}

    def records(self, count: int, every: int) -> tuple[np.ndarray, np.ndarray]:
        """So many records (batch, count, ...) of q and v, so many steps apart."""
        q, v = np.empty((self.batch, count, self.q.shape[1])), np.empty((self.batch, count, self.v.shape[1]))
        if callable(self._options.forces):
            for k in range(count):
                for _ in range(every):
                    self._guided_step()
                q[:, k], v[:, k] = self.q, self.v
            return q, v
        f = self._assembly.applied(self._options.forces, self.batch)
        for k in range(0, count, AT_ONCE):
            n = min(AT_ONCE, count - k)
            out = {name: np.empty((self.batch, n, x.shape[2])) for name, x in (("q", q), ("v", v))}
            self._run({}, out, f, n, every * self.passes)
            q[:, k : k + n], v[:, k : k + n] = out["q"], out["v"]
            self.q, self.v = out["q"][:, -1].copy(), out["v"][:, -1].copy()
        return q, v

    def _guided_step(self) -> None:
        """A step whose forces Python says at every stage."""
        memory = {name: np.zeros_like(self.q if name[0] == "q" else self.v) for name in MEMORY}
        done = float(self._clock["steps"][0, 0])
        assert callable(self._options.forces)
        f = np.zeros_like(self.v)
        for k in range(self.passes):
            if k < STAGES:
                t = self._begin + self._dt * (done + TIMES[k])
                told = [self._options.forces(State(q, v, t)) for q, v in zip(self.q, self.v, strict=True)]
                f = self._assembly.applied(np.array(told), self.batch)
            self._run(memory, {"q": self.q, "v": self.v, **memory}, f, 1, 1)

    def _run(self, memory: dict[str, np.ndarray], out: dict[str, np.ndarray], f: np.ndarray, records: int, every: int) -> None:
        states = {"growth": self._growth, **self._clock} | ({"off": self._off} if self._off.size else {})
        inputs = {**self._given, "f": f, "q": self.q, "v": self.v, **states, **memory}
        ends = {name: np.empty((self.batch, records, x.shape[1])) for name, x in states.items()}
        shaped = {name: x.reshape(self.batch, records, -1) for name, x in out.items()}
        self._plan.run(inputs, {**shaped, **ends}, self.batch, records, every, thread_count(self._options.threads))
        self._check(ends, shaped)
        for name, x in states.items():
            x[:] = ends[name][:, -1]

    def _check(self, ends: dict[str, np.ndarray], out: dict[str, np.ndarray]) -> None:
        """Raise at the first record at which the motion is lost."""
        off = ends.get("off", np.zeros((self.batch, 1, 0)))
        self._assembly.check_solvable(ends["growth"][:, -1], off[:, -1])
        whole = np.isfinite(out["q"]).all(axis=-1) & np.isfinite(out["v"]).all(axis=-1)
        if not whole.all():
            k = int(np.flatnonzero(~whole.all(axis=0))[0])
            t = self._begin + self._dt * float(ends["steps"][0, k, 0])
            raise SolverError(f"simulate: the motion is no longer finite at t = {t:g} s; take smaller steps than {self._dt:g} s")


def simulate(assembly: Assembly, state: State, duration: float, dt: float, every: int, options: Options) -> AssemblyRun:
    """The motion for `duration` in steps of dt; every so many steps are kept."""
    steps = round(duration / dt) if dt > 0 else -1
    if not (steps >= 0 and every > 0 and abs(steps * dt - duration) <= 1e-9 * max(duration, dt)):
        raise InputError(f"simulate: {duration:g} s is no whole number of steps of {dt:g} s")
    if options.stabilise not in ("project", "baumgarte", "none"):
        raise InputError(f"simulate: stabilise={options.stabilise!r}; choose 'project', 'baumgarte' or 'none'")
    q, v = Journey(assembly, state, dt, options).records(steps // every, every)
    lead = state.q.shape[:-1]
    q = np.concatenate([state.q.reshape(len(q), 1, -1), q], axis=1)
    v = np.concatenate([state.v.reshape(len(v), 1, -1), v], axis=1)
    times = state.t + dt * (every * np.arange(q.shape[1]))
    residual = _errors(assembly, q, v, times)
    shape: tuple[Any, ...] = (*lead, q.shape[1])
    return AssemblyRun(times, q.reshape(*shape, -1), v.reshape(*shape, -1), residual.reshape(shape))


def _errors(assembly: Assembly, q: np.ndarray, v: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The largest residual of every record (batch, records); of conditions that only push, as far as it is negative."""
    if not assembly.conditions:
        return np.zeros(q.shape[:2])
    t = np.tile(times, len(q))
    r = assembly.measured(q.reshape(len(t), -1), v.reshape(len(t), -1), t, ("residual",))["residual"]
    wrong = np.where(assembly.layout.unilateral, np.maximum(-r, 0.0), np.abs(r))
    return wrong.max(axis=1).reshape(q.shape[:2])
