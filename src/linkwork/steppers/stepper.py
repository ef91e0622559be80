"""The stepper contract: a time discretisation, as a compiled program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..elements.collection import CROWD, collection
from ..errors import InputError
from ..kernel.lanes import Lanes
from ..kernel.plan import Plan
from ..kernel.plans import Plans
from ..kernel.sweep import Algorithm
from ..model import Model, State
from ..rows.solved import CROWDED
from .events import Event
from .inputs import Inputs
from .row_forces import RowForces

PACE = "dt"  # the length of the steps of a run, in the memory of its end


@dataclass(frozen=True)
class Program:
    """A step as an algorithm that updates its states in place; the driver runs it N times.

    passes   of the algorithm that make one step
    enter    what the program keeps instead of the parts of a state (batch, size); None: the parts themselves
    leave    the parts of the states that it left (batch, records, size)
    inputs   further inputs that it takes from the model
    bind     the plans of the model that an algorithm becomes one of; None: `Model.plan`
    records  the states that a run records; all of them if none is named
    memory   the states that a run hands to one that goes on from its end
    paced    whether they count for steps of the same length alone
    reports  outputs besides the states, with their sizes: "x", the multiplier of every row as an impulse of the step, ...
    times    within a step, in steps: where constraints are told what Python alone can compute
    failure  what it means if velocities are no numbers at the time t; by default that the motion is not finite
    """

    algorithm: Algorithm
    states: tuple[str, ...]
    passes: int = 1
    enter: Callable[[Model, dict[str, np.ndarray]], dict[str, np.ndarray]] | None = None
    leave: Callable[[Model, dict[str, np.ndarray]], dict[str, np.ndarray]] | None = None
    inputs: Callable[[Model], dict[str, np.ndarray]] | None = None
    bind: Callable[[Model], Plans] | None = None
    reports: Callable[[Model], dict[str, int]] | None = None
    records: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()
    times: tuple[float, ...] = (0.0,)
    failure: str = ""
    paced: bool = False

    def plan(self, model: Model, lanes: Lanes, absent: tuple[str, ...]) -> Plan:
        """The step bound to a model; `absent` of its inputs are zero."""
        return self.plans(model)(self.algorithm, lanes, ("run",), absent)

    def lanes(self, model: Model, batch: int) -> Lanes:
        """The value type for a batch of so many states."""
        return self.plans(model).lanes(self.algorithm, batch)

    def plans(self, model: Model) -> Plans:
        """The plans of the model that the step is one of."""
        return self.bind(model) if self.bind else model.plan

    def report_sizes(self, model: Model) -> dict[str, int]:
        """The outputs besides the states, with their sizes."""
        return self.reports(model) if self.reports else {}

    @property
    def recorded(self) -> tuple[str, ...]:
        """The states that a run keeps of every step: those that its own parts are made of."""
        return self.records or self.states

    def given(self, model: Model, h: float) -> dict[str, np.ndarray]:
        """What it takes from the model and the step."""
        return {"gravity": model.gravity, "h": np.array([h]), **(self.inputs(model) if self.inputs else {})}

    def entered(self, model: Model, parts: dict[str, np.ndarray], t: float) -> dict[str, np.ndarray]:
        """What it keeps of the parts (batch, size) of states at a time."""
        if self.enter is None:
            return parts
        clock = np.empty((len(next(iter(parts.values()))), 1))
        clock.fill(t)
        return self.enter(model, {**parts, "t": clock})

    def remembered(self, kept: dict[str, np.ndarray], dt: float) -> dict[str, np.ndarray]:
        """What a run of steps dt hands to one that goes on, of what the program keeps at its end."""
        return {name: kept[name] for name in self.memory} | ({PACE: np.array([dt])} if self.paced else {})

    def resumed(self, kept: dict[str, np.ndarray], memory: Mapping[str, np.ndarray] | None, dt: float) -> dict[str, np.ndarray]:
        """What it keeps for steps dt, as a run that ended here left it."""
        if not memory or (self.paced and not np.isclose(memory.get(PACE, 0.0), dt, rtol=1e-12, atol=0.0)):
            return kept
        found = {name: a for name, a in memory.items() if name in self.memory and a.size == kept[name].size}
        return kept | {name: a.reshape(kept[name].shape) for name, a in found.items()}

    def left(self, model: Model, kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The parts of the states that it keeps in its own way."""
        return self.leave(model, kept) if self.leave else kept


@dataclass(frozen=True)
class Stepper:
    """Base of all steppers; nothing is hidden in them. Their fields are the options that `simulate` hands on.

    contacts   whether constraints that only push can be stepped
    bounces    whether their restitution acts
    implicit   whether it takes stiff forces implicitly
    friction   whether those with Coulomb friction can be, too
    """

    name: ClassVar[str]
    order: ClassVar[int]
    contacts: ClassVar[bool] = False
    bounces: ClassVar[bool] = False
    implicit: ClassVar[bool] = False

    @property
    def methods(self) -> tuple[str, ...]:
        """The formulations that it steps."""
        raise TypeError(f"{type(self).__name__} must say its methods")

    def formulated(self, method: str) -> Stepper:
        """This stepper for one of its formulations."""
        return self

    @property
    def friction(self) -> bool:
        return False

    @property
    def on_accelerations(self) -> bool:
        """Whether equality constraints act on accelerations alone: what velocities break they do not mend."""
        return False

    @property
    def crowds(self) -> bool:
        """Whether it steps more contacts than are a dense matrix."""
        return False

    def check(self, model: Model) -> None:
        """Raise if the stepper cannot step the model."""

    def program(self, method: str, model: Model) -> Program:
        """The program that steps the model."""
        raise TypeError(f"{type(self).__name__} must define program")

    def with_first_forces(self, model: Model, start: State, external: Any, found: Solution) -> Solution:
        """What a run found, with the forces of rows at its start if the stepper lets them act in a way of its own."""
        return found


def program_of(stepper: Stepper, model: Model, method: str) -> Program:
    """The program by which a stepper moves a model, kept with it."""
    if not stepper.crowds and collection(model).shape[3] == CROWD:
        raise InputError(CROWDED)
    return model.keep_as((program_of, stepper, method), lambda: stepper.program(method, model))


@dataclass(eq=False)
class Solution:
    """What a run found: parts of the states at the times (T,), joint and constraint forces there, events, inputs of forces.

    left      what the solver of the rows left at the last step before every record (..., T)
    failure   where the run stopped as its state was not finite
    stopped   whether somebody pressed Ctrl-C before its end
    """

    t: np.ndarray
    arrays: dict[str, np.ndarray]
    tau: np.ndarray | None
    forces: np.ndarray | RowForces | None
    events: tuple[Event, ...] = ()
    inputs: np.ndarray | None = None
    memory: Mapping[str, np.ndarray] | None = None
    left: np.ndarray | None = None
    failure: str | None = None
    stopped: bool = False


@dataclass(frozen=True)
class AdaptiveStepper(Stepper):
    """Base of steppers that choose their own steps: they run a whole motion."""

    def from_python(self, model: Model, asked: bool) -> bool:
        """Whether a motion is driven from Python, where rows that only push or have a largest force are not stepped.

        asked   whether a control or inputs of forces are asked for during it
        """
        raise TypeError(f"{type(self).__name__} must say from_python")

    def solve(
        self,
        model: Model,
        state: State,
        times: np.ndarray,
        control: Callable[[float, State], Any] | None,
        external: Any,
        driven: Inputs | None = None,
        tau: Any = None,
        threads: int | None = 1,
    ) -> Solution:
        """The motion from `state`, or from every state of a batch, recorded at `times` (the first is the state's own).

        control  asked at every stage, with one state, also of a batch: each has its own times
        driven   the inputs of its forces, which are asked for as the control is
        tau      joint forces where there is no control
        """
        raise TypeError(f"{type(self).__name__} must define solve")
