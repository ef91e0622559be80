"""The stepper contract: a time discretisation, as compiled programs for trees and as single steps with constraints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..kernel.sweep import Algorithm
from ..model import MaximalState, Model, State


@dataclass(frozen=True)
class Program:
    """A step as an algorithm that updates its states in place; the driver runs it N times."""

    algorithm: Algorithm
    states: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class StepInfo:
    """What a step reports besides the new state: the force of every constraint row."""

    forces: np.ndarray = field(default_factory=lambda: np.zeros(0))


class Stepper:
    """Base of all steppers; nothing is hidden in them.

    programs            formulation -> compiled step of the bare tree
    constrained_step    one step of a model with constraints
    """

    name: ClassVar[str]
    order: ClassVar[int]
    programs: ClassVar[dict[str, Program]]

    def constrained_step(
        self, model: Model, state: State | MaximalState, h: float, tau: Any, external: Any
    ) -> tuple[State | MaximalState, StepInfo]:
        """The state after h, and the forces of the constraints."""
        raise TypeError(f"{type(self).__name__} cannot step constrained models")
