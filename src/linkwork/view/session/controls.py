"""What is changed by hand in a page: targets and numbers for controllers, inputs of forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...elements.collection import collection
from ...forces import Handle, Muscle, PDController, PoseHandle
from ...model import Model
from ...spatial.gate import given_reals
from ...spatial.se3 import SE3

SWINGS = 16  # inputs that each get a slider


@dataclass(frozen=True)
class InputSlider:
    """An input of a force that is changed by hand: its place among the inputs of the model, and its range."""

    label: str
    place: int
    low: float
    high: float
    value: float


class Target:
    """A frame that is moved by hand in the page, for a controller to read.

    >>> goal = session.target("goal", (0.4, 0.0, 0.6))
    >>> goal.p
    array([0.4, 0. , 0.6])
    """

    def __init__(self, node: Any) -> None:
        self._node = node

    @property
    def p(self) -> np.ndarray:
        """Where it is (3,)."""
        return np.array(self._node.position, float)

    @property
    def pose(self) -> SE3:
        """Its pose in the world."""
        from scipy.spatial.transform import Rotation

        w, x, y, z = self._node.wxyz
        return SE3(R=Rotation.from_quat([x, y, z, w]).as_matrix(), p=self.p)

    def move(self, p: Any) -> None:
        """Put it somewhere else."""
        self._node.position = tuple(given_reals("a target", p).tolist())


class Slider:
    """A number that is changed by hand in the page, for a controller to read.

    >>> gain = session.slider("gain", 0.0, 50.0, 20.0)
    >>> gain.value
    20.0
    """

    def __init__(self, control: Any) -> None:
        self._control = control

    @property
    def value(self) -> float:
        """Its value now."""
        return float(self._control.value)


def input_sliders(model: Model) -> list[InputSlider]:
    """Activations of muscles, targets of controllers of one coordinate, and whatever users call inputs."""
    laws, found, first = collection(model), [], 0
    for force in laws.forces:
        u = laws.initial_inputs[first : first + force.inputs]
        first += force.inputs
        if not force.inputs or isinstance(force, Handle | PoseHandle):
            continue
        count = int(len(u) == 2) if isinstance(force, PDController) else len(u)
        word = "activation of" if isinstance(force, Muscle) else "target of" if isinstance(force, PDController) else "input of"
        named = force.name or force.ports[0].name
        for k in range(count):
            low, high = (0.0, 1.0) if isinstance(force, Muscle) else _around(float(u[k]))
            number = f" {k + 1}" if count > 1 else ""
            found.append(InputSlider(f"{word} {named}{number}", first - force.inputs + k, low, high, float(u[k])))
    return found if len(found) <= SWINGS else []


def _around(value: float) -> tuple[float, float]:
    return (-2.0 * abs(value), 2.0 * abs(value)) if value else (-np.pi, np.pi)
