"""The stepper contract: a time discretisation, as compiled programs for trees and as single steps with constraints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..kernel.sweep import Algorithm
from ..model import MaximalState, Model, State
from .events import Event


@dataclass(frozen=True)
class Program:
    """A step as an algorithm that updates its states in place; the driver runs it N times.

    passes   of the algorithm that make one step
    enter    what the program keeps instead of the parts of a state (batch, size); None: the parts themselves
    leave    the parts of the states that it left (batch, records, size)
    inputs   further inputs that it takes from the model: then it steps the model's forces too, as far as the stepper accepts them
    """

    algorithm: Algorithm
    states: tuple[str, ...]
    passes: int = 1
    enter: Callable[[Model, dict[str, np.ndarray]], dict[str, np.ndarray]] | None = None
    leave: Callable[[Model, dict[str, np.ndarray]], dict[str, np.ndarray]] | None = None
    inputs: Callable[[Model], dict[str, np.ndarray]] | None = None


@dataclass(frozen=True, eq=False)
class StepInfo:
    """What a step reports besides the new state: the force of every constraint row, averaged over the step."""

    forces: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class Stepper:
    """Base of all steppers; nothing is hidden in them. Their fields are the options that `simulate` hands on.

    programs            formulation -> compiled step of the bare tree
    contacts            whether constraints that only push can be stepped
    constrained_step    one step of a model with constraints
    """

    name: ClassVar[str]
    order: ClassVar[int]
    programs: ClassVar[dict[str, Program]] = {}
    contacts: ClassVar[bool] = False

    @property
    def methods(self) -> tuple[str, ...]:
        """The formulations that it steps."""
        return tuple(self.programs)

    def formulated(self, method: str) -> Stepper:
        """This stepper for one of its formulations."""
        return self

    def check(self, model: Model) -> None:
        """Raise if the stepper cannot step the model."""

    def constrained_step(
        self, model: Model, state: State | MaximalState, h: float, tau: Any, external: Any
    ) -> tuple[State | MaximalState, StepInfo]:
        """The state after h, and the forces of the constraints."""
        raise TypeError(f"{type(self).__name__} cannot step constrained models")


@dataclass(frozen=True, eq=False)
class Solution:
    """What a run found: parts of the states at the times (T,), joint forces and constraint forces there, and events."""

    t: np.ndarray
    arrays: dict[str, np.ndarray]
    tau: np.ndarray | None
    forces: np.ndarray | None
    events: tuple[Event, ...] = ()


@dataclass(frozen=True)
class AdaptiveStepper(Stepper):
    """Base of steppers that choose their own steps: they run a whole motion of a single state."""

    def solve(
        self, model: Model, state: State, times: np.ndarray, control: Callable[[float, State], Any] | None, external: Any
    ) -> Solution:
        """The motion from `state`, recorded at `times` (the first is the state's own)."""
        raise TypeError(f"{type(self).__name__} must define solve")
