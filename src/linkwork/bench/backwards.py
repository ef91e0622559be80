"""Steps of a run and their gradient: all steps in one call of compiled code, forwards and backwards."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ..kernel.adjoint_names import end
from ..model import Model, State
from ..simulate import chosen_stepper
from ..step_derivatives import METHOD, acting_model
from ..steppers.adjoints import step_adjoint
from .report import OURS
from .timing import Contender

FORWARDS, BACKWARDS = "steps", "steps_backwards"
STEP = 1e-3
SIZES = {"single": (1, 50), "batch64": (64, 10)}  # states side by side, and steps


def contenders(name: str, model: Model, state: State) -> Iterator[Contender]:
    """Of a model from a state, without limits: `states` counts steps."""
    acting = acting_model(model, STEP, None, "off", "exact", {})
    adjoint = step_adjoint(acting, chosen_stepper(acting, METHOD, None, {}))
    given = {k: np.reshape(x, -1) for k, x in adjoint.program.given(acting, STEP).items()} | {"tau": np.zeros(model.nv)}
    for mode, (batch, steps) in SIZES.items():
        first = {k: np.repeat(x[None], batch, axis=0) for k, x in (("q", state.q), ("v", state.v))}
        kept = {"t": np.zeros((batch, 1))} | adjoint.program.entered(acting, first, 0.0)
        after = adjoint.forwards(kept, given, steps, 1)
        starts = {k: np.concatenate([np.asarray(x, float)[:, None], after[k][:, :-1]], axis=1) for k, x in kept.items()}
        ends = {end("q"): np.ones((batch, steps, model.nq)), end("v"): np.ones((batch, steps, model.nv))}

        def back(batch: int = batch, starts: dict = starts, ends: dict = ends) -> None:
            adjoint.backwards(adjoint.first_bars(batch), starts, given, ends, ("tau",))

        run = partial(adjoint.forwards, kept, given, steps, steps)
        yield Contender(name, FORWARDS, OURS, mode, 1, run, batch * steps)
        yield Contender(name, BACKWARDS, OURS, mode, 1, back, batch * steps)
