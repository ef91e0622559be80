"""Where in the memory of a page the numbers of laws and bodies are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..elements.collection import collection
from ..kernel.trace import own_array
from .memory import Placed
from .start import Start

NUMBER = 8  # bytes
SETS = ("force", "constraint")


@dataclass(frozen=True, eq=False)
class Numbers:
    """Some numbers, one after the other: their address, and what they are at the start."""

    at: int
    values: np.ndarray

    def written(self) -> list[int]:
        """For the manifest: address, and how many."""
        return [self.at, len(self.values)]


@dataclass(frozen=True, eq=False)
class LawNumbers:
    """What can be changed of a law: its parameters by name, and its inputs."""

    law: Any
    parameters: dict[str, Numbers]
    inputs: Numbers | None

    @property
    def name(self) -> str:
        return getattr(self.law, "name", "")


class Places:
    """Of all that a page may change."""

    def __init__(self, start: Start, step: Placed) -> None:
        self.start, self.step = start, step

    @cached_property
    def _all(self) -> list[LawNumbers]:
        laws, found, first = collection(self.start.model), [], 0
        for of, members in zip(SETS, (laws.forces, laws.rows), strict=True):
            for k, law in enumerate(members):
                inputs = None
                if of == "force" and law.inputs:
                    inputs = Numbers(self.step.at["u"] + NUMBER * first, self.start.u[first : first + law.inputs])
                    first += law.inputs
                found.append(LawNumbers(law, self._parameters(of, k, "own_"), inputs))
        return found

    @cached_property
    def _held(self) -> set[int]:
        return {id(handle) for handle in self.start.handles}

    @cached_property
    def laws(self) -> list[LawNumbers]:
        """Those of the model, without our handles."""
        return [x for x in self._all if id(x.law) not in self._held]

    @cached_property
    def handles(self) -> list[LawNumbers]:
        """Ours, in the order of the bodies."""
        return [x for x in self._all if id(x.law) in self._held]

    def of_body(self, body: int) -> dict[str, Numbers]:
        """The numbers of a body and its joint, as far as they are not part of compiled code."""
        return self._parameters("", body, "")

    def _parameters(self, of: str, node: int, prefix: str) -> dict[str, Numbers]:
        """The run-time parameters of a node of a set whose names begin so, without that; tables are not among them."""
        plan, array = self.step.plan, own_array("parameters", of)
        if array not in self.step.at:
            return {}
        node_class, first = plan.tree.of(of).classes[node], int(plan.offsets[array][node])
        values, found = plan.all_parameters[array], {}
        for name, (shape, _) in node_class.patterns.items():
            slots = [s for s in node_class.parameter_slots(name) if isinstance(s, int)]
            if name.startswith(prefix) and slots and isinstance(shape, tuple):
                begin = first + slots[0]
                found[name.removeprefix(prefix)] = Numbers(
                    self.step.at[array] + NUMBER * begin, values[begin : begin + len(slots)]
                )
        return found
