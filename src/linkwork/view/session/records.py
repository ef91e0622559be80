"""What a session records: runs that can be looked at, plotted and saved as any other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model import State
from ...simulator import Simulator
from ...trajectory import Trajectory

MOST = 50_000_000  # numbers of one recording: 400 MB


class Recording:
    """States, joint forces and inputs of every step of a model, one after the other."""

    def __init__(self, sim: Simulator) -> None:
        self.sim = sim
        self._states: list[Any] = [sim.state]
        self._tau: list[np.ndarray] = []
        self._inputs: list[np.ndarray] = []
        self._forces: list[np.ndarray] = []
        self._nothing = np.zeros(sim.model.nv)

    @property
    def full(self) -> bool:
        """Whether there is no room for more."""
        model = self.sim.model
        return len(self._states) * (14 * model.nb + 2 * model.nv) > MOST

    def add(self, state: Any, tau: Any, inputs: np.ndarray) -> None:
        """A step: where it led, and the joint forces and inputs under which it did."""
        self._states.append(state)
        self._tau.append(self._nothing if tau is None else np.array(tau, float))
        self._inputs.append(inputs)
        forces = self.sim.forces
        if forces is not None:
            self._forces.append(forces)

    def __len__(self) -> int:
        return len(self._states)

    def trajectory(self) -> Trajectory:
        """The run so far."""
        states = list(self._states)
        reduced = isinstance(states[0], State)
        names = ("q", "v") if reduced else ("poses", "twists", "q_fit")
        arrays = {name: np.array([getattr(s, name) for s in states]) for name in names}
        t = np.array([s.t for s in states])
        tau, inputs = self._tau[: len(states) - 1], self._inputs[: len(states) - 1]
        acted = any(x.any() for x in tau)
        rows = self._forces[: len(states) - 1]
        return Trajectory(
            self.sim.model,
            t,
            "reduced" if reduced else "maximal",
            arrays,
            tau=np.array([*tau, tau[-1]]) if acted else None,
            rows=np.array([rows[0], *rows]) if rows else None,
            inputs=np.array([*inputs, inputs[-1]]) if inputs else None,
            notes=self.sim.notes,
            stepper=self.sim.stepper.name,
            flaws=self.sim.flaws,
        )
