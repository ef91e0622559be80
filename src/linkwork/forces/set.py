"""The forces of a model, compiled: one kernel per class, a thousand instances share it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elements.collection import collection
from ..elements.law import ForceLaw
from ..elements.loads import LoadEvaluation
from ..elements.nodes import LawNodes
from ..elements.ports import BodyPort
from ..errors import InputError, ModelError
from ..model.accepts import takes_model
from ..model.model import Model
from .blocks import Blocks as Blocks
from .blocks import JointBlocks


class ForceSet:
    """All forces of a model at once: those between bodies (`forces`), and those on joints (`on_joints.forces`).

    `u` are the inputs of all forces, first of those between bodies, then of those on joints; `initial_inputs` by default.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        laws = collection(model).forces
        self.forces: list[Any] = [f for f in laws if isinstance(f.ports[0], BodyPort)]
        self.on_bodies, self.on_joints = (
            LoadEvaluation(LawNodes(model, part)) for part in (self.forces, laws[len(self.forces) :])
        )
        self._own_inputs = sum(f.inputs for f in self.forces)
        self.initial_inputs = collection(model).initial_inputs
        self._places = _named(laws)
        sides = self.on_bodies.nodes.bodies
        pairs = np.array([(i, j) for s in sides for i in s for j in s], int).reshape(-1, 2)
        both = np.all(pairs >= 0, axis=1)
        self._row, self._column = pairs[both].T
        widths = np.array(self.on_joints.widths, int)
        self._starts = self.on_joints.places[np.cumsum(widths) - widths] - 6 * model.nb
        self._joint_blocks = list(zip((np.cumsum(widths**2) - widths**2).tolist(), widths.tolist(), strict=True))
        self._order, self._mirror = (x.reshape(-1, 36)[both] for x in _block_orders([len(s) for s in sides]))

    def __len__(self) -> int:
        return len(self.forces) + len(self.on_joints.forces)

    def input_index(self, name: str) -> slice:
        """Where the inputs of a named force lie among all inputs."""
        if name not in self._places:
            raise InputError(f"no force is named {name!r}; named forces: {', '.join(self._places) or 'none'}")
        return self._places[name]

    def _given(self, lead: tuple[int, ...], inputs: slice, t: Any, u: Any) -> dict[str, np.ndarray]:
        """Time and a part of the inputs, for states with these leading axes."""
        given = self.initial_inputs if u is None else np.asarray(u, float)
        if given.shape[-1:] != self.initial_inputs.shape:
            raise InputError(f"the inputs of the forces have shape {given.shape}; expected (..., {len(self.initial_inputs)})")
        own = given[..., inputs]
        times = np.array([float(t)]) if np.ndim(t) == 0 else np.asarray(t, float).reshape(-1, 1)
        return {"t": times, "u": own if own.ndim == 1 else np.broadcast_to(own, (*lead, own.shape[-1]))}

    def broken(self, poses: np.ndarray, twists: np.ndarray, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> list[Any]:
        """The forces whose loads are not finite at one state."""
        between, on_joints = self._placed(poses, twists, t, None)[0], self._moved(q, v, t, None)[0]
        return [*self.on_bodies.broken(between), *self.on_joints.broken(on_joints)]

    # --- between bodies -------------------------------------------------------------------------------------------------------
    def _placed(self, poses: Any, twists: Any, t: Any, u: Any) -> tuple[dict[str, np.ndarray], tuple[int, ...]]:
        """What forces between bodies look at, and its leading axes."""
        nb, lead = self.model.nb, np.shape(twists)[:-2]
        for name, x, tail in (("poses", poses, (nb, 4, 4)), ("twists", twists, (nb, 6))):
            if np.shape(x) != (*lead, *tail):
                raise InputError(f"{name} of shape {np.shape(x)} do not fit the model: expected {(*lead, *tail)}")
        placed = {"pose": np.asarray(poses, float), "twist": np.asarray(twists, float)}
        return placed | self._given(lead, slice(self._own_inputs), t, u), lead

    def wrenches(self, poses: np.ndarray, twists: np.ndarray, t: float = 0.0, u: Any = None) -> np.ndarray:
        """The wrench on every body (..., bodies, 6) at poses (..., bodies, 4, 4) and twists (..., bodies, 6)."""
        given, lead = self._placed(poses, twists, t, u)
        return self.on_bodies.loads(given, lead)[..., : 6 * self.model.nb].reshape(*lead, self.model.nb, 6)

    def energies(self, poses: np.ndarray, twists: np.ndarray, t: Any = 0.0, u: Any = None) -> np.ndarray:
        """The energy stored in every force between bodies (..., forces); t is a time, or one for every state."""
        return self.on_bodies.energies(*self._placed(poses, twists, t, u))

    def powers(self, poses: np.ndarray, twists: np.ndarray, t: Any = 0.0, u: Any = None) -> np.ndarray:
        """What every force between bodies brings or takes (..., forces), besides what it stores: zero for springs, not for
        dampers, muscles and drives; t as in `energies`."""
        return self.on_bodies.powers(*self._placed(poses, twists, t, u))

    def derivatives(
        self, poses: np.ndarray, twists: np.ndarray, t: float = 0.0, u: Any = None, symmetrised: bool = False
    ) -> tuple[Blocks, Blocks]:
        """df_dq and df_dv in body twists, at one state; if `symmetrised`, (A + A^T) / 2 of each, for solvers that need it."""
        found = []
        for slopes in self.on_bodies.slopes(self._placed(poses, twists, t, u)[0]):
            block = 0.5 * (slopes[self._order] + slopes[self._mirror]) if symmetrised else slopes[self._order]
            found.append(Blocks(self._row, self._column, block.reshape(-1, 6, 6)))
        return found[0], found[1]

    # --- on joints ------------------------------------------------------------------------------------------------------------
    def _moved(self, q: Any, v: Any, t: Any, u: Any) -> tuple[dict[str, np.ndarray], tuple[int, ...]]:
        """What forces on joints look at, and its leading axes."""
        turned = {}
        for name, x, size in (("q", q, self.model.nq), ("v", v, self.model.nv)):
            if np.shape(x)[-1:] != (size,):
                raise InputError(f"{name} of shape {np.shape(x)} does not fit the model: expected (..., {size})")
            turned[name] = np.asarray(x, float)
        lead = np.broadcast_shapes(np.shape(q)[:-1], np.shape(v)[:-1])
        spread = {name: np.broadcast_to(x, (*lead, x.shape[-1])) if x.ndim > 1 else x for name, x in turned.items()}
        return spread | self._given(lead, slice(self._own_inputs, None), t, u), lead

    def joint_forces(self, q: Any, v: Any, t: float = 0.0, u: Any = None) -> np.ndarray:
        """The force on every joint (..., nv) at q (..., nq) and v (..., nv)."""
        return self.on_joints.loads(*self._moved(q, v, t, u))[..., 6 * self.model.nb :]

    def joint_energies(self, q: Any, v: Any, t: Any = 0.0, u: Any = None) -> np.ndarray:
        """The energy stored in every force on a joint (..., forces)."""
        return self.on_joints.energies(*self._moved(q, v, t, u))

    def joint_powers(self, q: Any, v: Any, t: Any = 0.0, u: Any = None) -> np.ndarray:
        """What every force on a joint brings or takes (..., forces); see `powers`."""
        return self.on_joints.powers(*self._moved(q, v, t, u))

    def joint_derivatives(
        self, q: Any, v: Any, t: float = 0.0, u: Any = None, symmetrised: bool = False
    ) -> tuple[JointBlocks, JointBlocks]:
        """df_dq and df_dv in joint displacements and velocities, at one state; see `derivatives`."""
        found = []
        for slopes in self.on_joints.slopes(self._moved(q, v, t, u)[0]):
            blocks = [slopes[at : at + n * n].reshape(n, n) for at, n in self._joint_blocks]
            found.append(JointBlocks(self.model.nv, self._starts, tuple(0.5 * (B + B.T) if symmetrised else B for B in blocks)))
        return found[0], found[1]


def _named(forces: tuple[ForceLaw, ...]) -> dict[str, slice]:
    """Where the inputs of named forces lie."""
    places: dict[str, slice] = {}
    at = 0
    for f in forces:
        if f.name in places:
            raise ModelError(f"two forces are named {f.name!r}")
        if f.name:
            places[f.name] = slice(at, at + f.inputs)
        at += f.inputs
    return places


def _block_orders(counts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Where the entries of all 6x6 blocks, and of those of the transpose, lie in the slopes of forces on so many bodies."""
    own, mirrored, at = [np.zeros(0, int)], [np.zeros(0, int)], 0
    for k in counts:
        place = at + np.arange(36 * k * k).reshape(k, 6, k, 6)
        own.append(place.transpose(0, 2, 1, 3).reshape(-1))
        mirrored.append(place.transpose(2, 0, 3, 1).reshape(-1))
        at += 36 * k * k
    return np.concatenate(own), np.concatenate(mirrored)


@takes_model
def force_set(model: Model) -> ForceSet:
    """The compiled forces of a model, kept with it.

    >>> pulled = model.add(lw.PDController("upper", kp=10.0, name="drive"))
    >>> lw.force_set(pulled).initial_inputs.shape
    (2,)
    """
    return model.keep_as(ForceSet, lambda: ForceSet(model))
