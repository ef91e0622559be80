"""Accelerations and steps of assemblies inside compiled loops, one state after the other or many at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..assembly import Assembly
from ..assembly.aim import acceleration_aim
from ..assembly.motion import Journey, Options
from ..assembly.passes import pass_algorithm
from ..kernel.lanes import Lanes
from ..model import State

DT = 1e-4
OPTIONS = Options(forces=None, stabilise="project", baumgarte=(0.0, 0.0), restitution=0.0)


def accelerations(assembly: Assembly, state: State, count: int) -> Callable[[], Any]:
    """The accelerations at a state, so many times."""
    plan = assembly.layout.plans(pass_algorithm(assembly.layout.extent), Lanes(1), absent=("x", "growth"))
    given = {"gravity": assembly.gravity, "t": np.zeros(1), "aim": acceleration_aim().numbers, "f": np.zeros_like(state.v)}
    inputs, out = {"q": state.q[None], "v": state.v[None], **given}, {"z": np.empty((1, len(state.v)))}
    return lambda: plan.run(inputs, out, 1, every=count)


def steps(assembly: Assembly, state: State, batch: int, count: int) -> Callable[[], Any]:
    """So many steps of a batch of equal states, from where the last call ended."""
    states = State(np.tile(state.q, (batch, 1)), np.tile(state.v, (batch, 1)))
    journey = Journey(assembly, states, DT, OPTIONS)
    return lambda: journey.records(1, count)
