"""What forces on bodies and forces on joints share besides what is in every law: a name, and inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.checks import word
from ..model.law import Law


class ForceLaw(Law):
    """Base of `Force` and `JointForce`.

    name     its own, for inputs and messages; need not be given
    inputs   what drives the force from outside at run time (activation, a target pose): as many numbers, 0 by default
    """

    name: str = ""
    inputs: int = 0

    def initial_inputs(self) -> np.ndarray:
        """The inputs where nothing else is said."""
        return np.zeros(self.inputs)

    @property
    def same(self) -> tuple[Any, ...]:
        return (*super().same, self.inputs)

    def called(self, name: Any) -> str:
        """Take a name; what messages about the rest begin with."""
        owner = type(self).__name__
        self.name = word(owner, "name", name, empty=True)
        return f"{owner} {name!r}" if name else owner
