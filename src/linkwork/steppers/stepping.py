"""A program on states that go on step by step from Python: arrays are kept, a call is described once.

One state lives in the memory of the compiled code itself, and nothing is copied; a batch is transposed into lanes and back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..elements.collection import collection
from ..errors import InputError
from ..kernel import python
from ..kernel.call import Call
from ..kernel.plan import Plan
from ..model import Model
from ..model.arrays import SCALAR64, lanes_for, thread_count
from .stepper import Program

Parts = dict[str, np.ndarray]


class Stepping:
    """Where a batch of states is, and how it goes on.

    now       all that the program keeps, (batch, size): updated in place by every step
    reports   what it says besides of the last step, (batch, size)
    """

    def __init__(self, model: Model, program: Program, kept: Parts, h: float, threads: int | None = 1) -> None:
        self.model, self.program, self.threads = model, program, thread_count(threads)
        self.batch = len(next(iter(kept.values())))
        self.now = {name: np.array(a, float, order="C").reshape(self.batch, -1) for name, a in kept.items()}
        self._given = {name: np.array(a, float, order="C") for name, a in program.given(model, h).items()}
        self._tau = np.zeros((self.batch, model.nv)) if self.batch > 1 else np.zeros(model.nv)
        self._external = np.zeros((self.batch, 6 * model.nb))
        self.reports = {name: np.zeros((self.batch, size)) for name, size in program.report_sizes(model).items()}
        self._runs: dict[bool, Callable[..., Any]] = {}

    def tell(self, u: np.ndarray) -> None:
        """Inputs of the forces from now on, (inputs,) or (batch, inputs)."""
        if u.ndim != self._given["u"].ndim:
            self._given["u"], self._runs = np.array(u, float, order="C"), {}
        self._given["u"][...] = u

    def tell_rows(self, t: float) -> None:
        """Constraints are told what they must know in the step at a time."""
        laws, h = collection(self.model), float(self._given["h"][0])
        if laws.told_count:
            self._given["told"][...] = np.concatenate([laws.told_at(t + c * h) for c in self.program.times])

    def go(self, steps: int = 1, tau: np.ndarray | None = None, external: np.ndarray | None = None) -> None:
        """Some steps under joint forces (nv,) and wrenches (bodies, 6), or one for each of the batch."""
        pushed = external is not None
        run = self._runs.get(pushed) or self._prepared(pushed)
        run(steps * self.program.passes, self._tau if tau is None and self.batch == 1 else tau, external)

    def _prepared(self, pushed: bool) -> Callable[..., Any]:
        lone = self.batch == 1 and python.available()
        lanes = SCALAR64 if lone else lanes_for(self.batch, np.float64)
        plan = self.program.plan(self.model, lanes, () if pushed else ("external",))
        run = self._runs[pushed] = (self._of_one if lone else self._of_batch)(plan, pushed)
        return run

    def _of_one(self, plan: Plan, pushed: bool) -> Callable[..., Any]:
        """A step of one state: the compiled code works on the arrays themselves."""
        work = plan.workspace()
        work.point({**self.now, **self._given, **self.reports})
        names = ("tau", "external") if pushed else ("tau",)
        step, _ = work.of_state(names, self.program.states[0], (plan.sizes[self.program.states[0]],))

        def run(passes: int, tau: np.ndarray, external: np.ndarray | None) -> None:
            given = (tau,) if external is None else (tau, external.reshape(-1))
            if step(*given) is None:
                given = tuple(np.ascontiguousarray(x, float).reshape(-1) for x in given)
                if step(*given) is None:
                    raise InputError(f"{' and '.join(names)} do not fit the model")
            for _ in range(passes - 1):
                step(*given)

        return run

    def _of_batch(self, plan: Plan, pushed: bool) -> Callable[..., Any]:
        inputs = {**self.now, **self._given, "tau": self._tau} | ({"external": self._external} if pushed else {})
        outputs = {**self.now, **self.reports}
        call = Call(plan, inputs, outputs, self.batch) if self.threads == 1 else None

        def run(passes: int, tau: np.ndarray | None, external: np.ndarray | None) -> None:
            self._tau[...] = 0.0 if tau is None else tau
            if external is not None:
                self._external[...] = external.reshape(-1, self._external.shape[1])
            if call is not None:
                call(every=passes)
            else:
                plan.run(inputs, outputs, self.batch, 1, passes, self.threads)

        return run
