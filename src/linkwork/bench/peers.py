"""The same mechanism in other libraries: the model, its states in their layout, their functions.

Layouts differ in free joints only. Ours has q = (position, quat_wxyz) and v = (angular, linear) in body axes.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..errors import LinkworkError
from ..interop.layout import Converter
from ..interop.mujoco import build as build_mujoco
from ..interop.mujoco import converter as mujoco_converter
from ..interop.mujoco import without_loads
from ..interop.pinocchio import build as build_pinocchio
from ..interop.pinocchio import converter as pinocchio_converter
from ..model import Model
from .models import random_states
from .quantities import QUANTITIES, States

AGREEMENT = 1e-9


def module(name: str) -> Any:
    """The module of another library, or None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class Peer(ABC):
    """Another library on the same model.

    limit       degrees of freedom of the largest model that it is given; `beyond` says why
    functions   quantity -> function of one state, all in the peer's layout
    """

    name: str
    limit: int
    beyond: str
    functions: dict[str, Callable[..., np.ndarray]]

    @abstractmethod
    def layout(self, states: States) -> States:
        """Our states as the peer writes them."""

    def batch(self, quantity: str, inputs: Sequence[np.ndarray], out: np.ndarray, threads: int) -> Callable[[], Any] | None:
        """A call that treats a batch in the peer's layout and fills `out`, or None if the peer has none."""
        return None


# --- Pinocchio -------------------------------------------------------------------------------------------------------
class Pinocchio(Peer):
    """Its free joint has q = (position, quat_xyzw) and v = (linear, angular) in body axes."""

    name, limit, beyond = "pinocchio", 200, "its data holds arrays of nv x nv x nv numbers"

    def __init__(self, model: Model) -> None:
        self.pin: Any = importlib.import_module("pinocchio")
        self.model = build_pinocchio(model, allow=("all",))
        data = self.model.createData()
        own = {"forward_dynamics": self.pin.aba, "inverse_dynamics": self.pin.rnea, "mass_matrix": self.pin.crba}
        self.functions = {quantity: partial(function, self.model, data) for quantity, function in own.items()}
        self._to = pinocchio_converter(model, self.model)
        self.velocity_order = self._to.to_v(model.neutral(), np.arange(model.nv)).astype(int)  # our place of each of theirs

    def layout(self, states: States) -> States:
        out = written(self._to, {name: x for name, x in states.items() if name != "M"})
        order = self.velocity_order
        return {**out, "M": np.ascontiguousarray(states["M"][:, order][:, :, order])} if "M" in states else out

    def batch(self, quantity: str, inputs: Sequence[np.ndarray], out: np.ndarray, threads: int) -> Callable[[], Any] | None:
        """A compiled loop over columns, each contiguous. The mass matrix has none: a loop in Python that keeps nothing."""
        if quantity == "mass_matrix":
            return partial(_each, self.functions[quantity], list(inputs[0])) if threads == 1 else None
        in_parallel = self.pin.abaInParallel if quantity == "forward_dynamics" else self.pin.rneaInParallel
        return partial(in_parallel, threads, self.pin.ModelPool(self.model, threads), *(x.T for x in (*inputs, out)))


def _each(function: Callable[..., Any], rows: list[np.ndarray]) -> None:
    for row in rows:
        function(row)


# --- MuJoCo ----------------------------------------------------------------------------------------------------------
class MuJoCo(Peer):
    """Its free joint has q as ours and v = (linear in world axes, angular in body axes); forces likewise."""

    name, limit, beyond = "mujoco", 100, "it factors the mass matrix, which is dense for a chain"

    def __init__(self, model: Model) -> None:
        mujoco: Any = importlib.import_module("mujoco")
        self.model = build_mujoco(without_loads(model))
        self._to = mujoco_converter(model, self.model)
        data = mujoco.MjData(self.model)
        forward = (mujoco.mj_forward, data.qfrc_applied, data.qacc)
        inverse = (mujoco.mj_inverse, data.qacc, data.qfrc_inverse)
        self.functions = {"forward_dynamics": self._called(data, *forward), "inverse_dynamics": self._called(data, *inverse)}

    def _called(self, data: Any, function: Any, given: np.ndarray, result: np.ndarray) -> Callable[..., np.ndarray]:
        model, qpos, qvel = self.model, data.qpos, data.qvel

        def call(q: np.ndarray, v: np.ndarray, x: np.ndarray) -> np.ndarray:
            qpos[:], qvel[:], given[:] = q, v, x
            function(model, data)
            return result

        return call

    def layout(self, states: States) -> States:
        return written(self._to, states)


def written(to: Converter, states: States) -> States:
    """Our states as a peer writes them."""
    q, out = states["q"], {"q": to.to_q(states["q"])}
    for name, x in states.items():
        if name == "a":
            out["a"] = to.to_a(q, states["v"], x)
        elif name != "q":
            out[name] = to.to_tau(q, x) if name == "tau" else to.to_v(q, x)
    return {name: np.ascontiguousarray(x) for name, x in out.items()}


PEERS = (Pinocchio, MuJoCo)


# --- both ------------------------------------------------------------------------------------------------------------
def disagreement(model: Model, peer: Peer, count: int = 5) -> float:
    """The largest difference between a result of a peer and ours, relative to the largest number of that result (at least 1)."""
    states = random_states(model, count, seed=7)
    theirs, errors = peer.layout(states), [0.0]
    for quantity in QUANTITIES:
        if quantity.name not in peer.functions:
            continue
        ours = quantity.function(model, *quantity.of(states))
        expected = peer.layout({**states, quantity.result: ours})[quantity.result]
        for k, inputs in enumerate(zip(*quantity.of(theirs), strict=True)):
            found = peer.functions[quantity.name](*inputs)
            errors.append(np.abs(found - expected[k]).max() / max(1.0, np.abs(expected[k]).max()))
    return float(np.max(errors))


def require_agreement(model: Model, peer: Peer) -> None:
    """Raise unless a peer computes what we compute: there is no point in timing anything else."""
    error = disagreement(model, peer)
    if not error <= AGREEMENT:
        raise LinkworkError(
            f"the results of {peer.name} and linkwork differ by {error:.2g} (relative) on {model!r}, more than {AGREEMENT:g}: "
            "the benchmark would compare different models. Check the version of the peer, or report this"
        )
