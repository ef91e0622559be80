"""A step of a model with laws in reduced coordinates as a `Program`: what such programs keep, take and report alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..elements.collection import collection
from ..kernel.plans import Plans
from ..kernel.sweep import Algorithm
from ..model import Model
from .stepper import Program

Parts = dict[str, np.ndarray]
PARTS = ("q", "v")  # of a state
NOTHING: Mapping[str, np.ndarray] = {}


def loaded_program(
    model: Model,
    algorithm: Algorithm,
    plans: Plans,
    *,
    first: Callable[[Parts], Parts] | None = None,
    memory: tuple[str, ...] = (),
    settings: Mapping[str, np.ndarray] = NOTHING,
    reports: tuple[str, ...] = (),
    times: tuple[float, ...] = (0.0,),
    failure: str = "",
    paced: bool = False,
) -> Program:
    """A program whose states are the parts of a state, the time, and the unknowns of constraints.

    plans      of the model, of which the algorithm becomes one
    first      further states where the parts are at the start
    settings   inputs that do not change
    reports    numbers that it says of a step besides the multipliers
    others     see `Program`
    """
    laws = collection(model)
    begin = first or (lambda given: {})
    kept = tuple(begin({name: np.zeros((1, 0)) for name in (*PARTS, "t")}))

    def enter(model: Model, given: Parts) -> Parts:
        unknown = {"unknown": laws.first_unknowns(given["q"])} if laws.rows else {}
        return given | begin(given) | unknown

    def leave(model: Model, kept: Parts) -> Parts:
        return {name: kept[name] for name in PARTS}

    def inputs(model: Model) -> Parts:
        rows = {"told": np.zeros(len(times) * laws.told_count)} if laws.rows else {}
        return dict(settings) | ({"u": laws.initial_inputs} if laws.forces else {}) | rows

    def sizes(model: Model) -> dict[str, int]:
        return dict.fromkeys(reports, 1) | ({"x": laws.row_count, "left": 1} if laws.rows else {})

    states = (*PARTS, "t", *kept, *(["unknown"] if laws.rows else []))
    return Program(algorithm, states, 1, enter, leave, inputs, lambda m: plans, sizes, PARTS, memory, times, failure, paced)
