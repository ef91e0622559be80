"""The forces of a model, compiled: one kernel per class, a thousand instances share it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..elements.law import ForceLaw
from ..elements.law_tree import PLACED, law_at
from ..errors import InputError, ModelError
from ..kernel.sweep import SCALAR, Algorithm, Field, each
from ..model.model import Model
from ..spatial.scalar import dot
from .blocks import Blocks as Blocks
from .blocks import JointBlocks
from .body_tree import ForceNodes
from .force import Force, conservative, derivatives
from .joint_set import JointForceSet, times


def act(n: Any, *bodies: Any) -> None:
    """Wrenches and energy of one force."""
    force, poses, twists = law_at(n, bodies)
    n.wrenches = np.concatenate([np.asarray(w, dtype=object) for w in force.wrenches(poses, twists, n.t, n.u)])
    n.energy = force.potential(poses, n.t, n.u)


def spend(n: Any, *bodies: Any) -> None:
    """The power of one force, less what it takes from its own energy."""
    force, poses, twists = law_at(n, bodies)
    stored = conservative(lambda moved: force.potential(moved, n.t, n.u), poses)
    pairs = zip(force.wrenches(poses, twists, n.t, n.u), stored, twists, strict=True)
    n.power = sum((dot(w - c, phi) for w, c, phi in pairs), start=0.0)


def differentiate(n: Any, *bodies: Any) -> None:
    """Derivatives of the wrenches of one force."""
    force, poses, twists = law_at(n, bodies)
    df_dq, df_dv = derivatives(force, poses, twists, n.t, n.u)
    n.df_dq, n.df_dv = df_dq.reshape(-1), df_dv.reshape(-1)


@functools.cache
def algorithms(roles: tuple[str, ...]) -> tuple[Algorithm, Algorithm, Algorithm]:
    """Forces, their derivatives and their powers, of forces on as many bodies as there are roles, or fewer."""
    count = len(roles)
    given = {**PLACED, "t": Field("input", "global", SCALAR), "u": Field("input", "u")}
    act_on = {"wrenches": Field("output", "wrenches"), "energy": Field("output", "node", SCALAR)}
    slopes = {"df_dq": Field("output", "slopes"), "df_dv": Field("output", "slopes")}
    return (
        Algorithm(f"forces{count}", {**given, **act_on}, {"run": [each(act, *roles)]}),
        Algorithm(f"force_derivatives{count}", {**given, **slopes}, {"run": [each(differentiate, *roles)]}),
        Algorithm(f"force_powers{count}", {**given, "power": Field("output", "node", SCALAR)}, {"run": [each(spend, *roles)]}),
    )


class ForceSet:
    """All forces of a model at once: those between bodies, and those on joints (`on_joints`).

    `u` are the inputs of all forces, first of those between bodies, then of those on joints; `initial_inputs` by default.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.forces: list[Force] = list(model.elements_of(Force))
        self.on_joints = JointForceSet(model)
        self._own_inputs = sum(f.inputs for f in self.forces)
        own = [f.initial_inputs() for f in self.forces]
        self.initial_inputs = np.concatenate([np.zeros(0), *own, self.on_joints.initial_inputs])
        self._places = self._named()
        if self.forces:
            self._compile()

    def _named(self) -> dict[str, slice]:
        """Where the inputs of named forces lie."""
        places: dict[str, slice] = {}
        at = 0
        forces: list[ForceLaw] = [*self.forces, *self.on_joints.forces]
        for f in forces:
            if f.name in places:
                raise ModelError(f"two forces are named {f.name!r}")
            if f.name:
                places[f.name] = slice(at, at + f.inputs)
            at += f.inputs
        return places

    def _compile(self) -> None:
        def sizes(f: Force) -> dict[str, int]:
            k = 6 * len(f.bodies)
            return {"wrenches": k, "slopes": k * k, "u": f.inputs}

        nb, self._bodies = self.model.nb, ForceNodes(self.model, self.forces, sizes)
        self._algorithms, sides = algorithms(self._bodies.roles), self._bodies.sides
        self._real = self._bodies.target < nb
        pairs = np.array([(i, j) for s in sides for i in s for j in s])
        both = np.all(pairs < nb, axis=1)
        self._row, self._column = pairs[both].T
        self._order, self._mirror = (x.reshape(-1, 36)[both] for x in _block_orders([len(s) for s in sides]))

    def __len__(self) -> int:
        return len(self.forces) + len(self.on_joints.forces)

    def input_index(self, name: str) -> slice:
        """Where the inputs of a named force lie among all inputs."""
        if name not in self._places:
            raise InputError(f"no force is named {name!r}; named forces: {', '.join(self._places) or 'none'}")
        return self._places[name]

    def _inputs(self, u: Any) -> np.ndarray:
        """All inputs, (inputs,) or (..., inputs)."""
        given = self.initial_inputs if u is None else np.asarray(u, float)
        if given.shape[-1:] != self.initial_inputs.shape:
            raise InputError(f"the inputs of the forces have shape {given.shape}; expected (..., {len(self.initial_inputs)})")
        return given

    def _run(self, which: int, names: tuple[str, ...], poses: Any, twists: Any, t: Any, u: Any) -> list[np.ndarray]:
        nb = self.model.nb
        lead = np.shape(twists)[:-2]
        for name, x, tail in (("poses", poses, (nb, 4, 4)), ("twists", twists, (nb, 6))):
            if np.shape(x) != (*lead, *tail):
                raise InputError(f"{name} of shape {np.shape(x)} do not fit the model: expected {(*lead, *tail)}")
        own = self._inputs(u)[..., : self._own_inputs]
        given = {"t": times(t), "u": own if own.ndim == 1 else np.broadcast_to(own, (*lead, own.shape[-1]))}
        out = self._bodies.run(self._algorithms[which], names, poses, twists, given)
        return [out[name] for name in names]

    # --- between bodies -------------------------------------------------------------------------------------------------------
    def wrenches(self, poses: np.ndarray, twists: np.ndarray, t: float = 0.0, u: Any = None) -> np.ndarray:
        """The wrench on every body (..., bodies, 6) at poses (..., bodies, 4, 4) and twists (..., bodies, 6)."""
        out = np.zeros((self.model.nb, *np.shape(twists)[:-2], 6))
        if self.forces:
            (parts,) = self._run(0, ("wrenches",), poses, twists, t, u)
            blocks = np.moveaxis(parts.reshape(*parts.shape[:-1], -1, 6), -2, 0)
            np.add.at(out, self._bodies.target[self._real], blocks[self._real])
        return np.moveaxis(out, 0, -2)

    def energies(self, poses: np.ndarray, twists: np.ndarray, t: Any = 0.0, u: Any = None) -> np.ndarray:
        """The energy stored in every force between bodies (..., forces); t is a time, or one for every state."""
        if not self.forces:
            return np.zeros((*np.shape(twists)[:-2], 0))
        return self._run(0, ("wrenches", "energy"), poses, twists, t, u)[1]

    def powers(self, poses: np.ndarray, twists: np.ndarray, t: Any = 0.0, u: Any = None) -> np.ndarray:
        """What every force between bodies brings or takes (..., forces), besides what it stores: zero for springs, not for
        dampers, muscles and drives; t as in `energies`."""
        if not self.forces:
            return np.zeros((*np.shape(twists)[:-2], 0))
        return self._run(2, ("power",), poses, twists, t, u)[0]

    def derivatives(
        self, poses: np.ndarray, twists: np.ndarray, t: float = 0.0, u: Any = None, symmetrised: bool = False
    ) -> tuple[Blocks, Blocks]:
        """df_dq and df_dv in body twists, at one state; if `symmetrised`, (A + A^T) / 2 of each, for solvers that need it."""
        if not self.forces:
            none = np.zeros(0, int)
            empty = Blocks(none, none, np.zeros((0, 6, 6)))
            return empty, empty
        found = []
        for slopes in self._run(1, ("df_dq", "df_dv"), poses, twists, t, u):
            block = 0.5 * (slopes[self._order] + slopes[self._mirror]) if symmetrised else slopes[self._order]
            found.append(Blocks(self._row, self._column, block.reshape(-1, 6, 6)))
        return found[0], found[1]

    # --- on joints ------------------------------------------------------------------------------------------------------------
    def joint_forces(self, q: Any, v: Any, t: float = 0.0, u: Any = None) -> np.ndarray:
        """The force on every joint (..., nv) at q (..., nq) and v (..., nv)."""
        return self.on_joints.sums(q, v, t, self._inputs(u)[..., self._own_inputs :])

    def joint_energies(self, q: Any, v: Any, t: Any = 0.0, u: Any = None) -> np.ndarray:
        """The energy stored in every force on a joint (..., forces)."""
        return self.on_joints.energies(q, v, t, self._inputs(u)[..., self._own_inputs :])

    def joint_powers(self, q: Any, v: Any, t: Any = 0.0, u: Any = None) -> np.ndarray:
        """What every force on a joint brings or takes (..., forces); see `powers`."""
        return self.on_joints.powers(q, v, t, self._inputs(u)[..., self._own_inputs :])

    def joint_derivatives(
        self, q: Any, v: Any, t: float = 0.0, u: Any = None, symmetrised: bool = False
    ) -> tuple[JointBlocks, JointBlocks]:
        """df_dq and df_dv in joint displacements and velocities, at one state; see `derivatives`."""
        df_dq, df_dv = self.on_joints.derivatives(q, v, t, self._inputs(u)[..., self._own_inputs :])
        return (df_dq.symmetrised(), df_dv.symmetrised()) if symmetrised else (df_dq, df_dv)


def _block_orders(counts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Where the entries of all 6x6 blocks, and of those of the transpose, lie in the slopes of forces on so many bodies."""
    own, mirrored, at = [], [], 0
    for k in counts:
        place = at + np.arange(36 * k * k).reshape(k, 6, k, 6)
        own.append(place.transpose(0, 2, 1, 3).reshape(-1))
        mirrored.append(place.transpose(2, 0, 3, 1).reshape(-1))
        at += 36 * k * k
    return np.concatenate(own), np.concatenate(mirrored)


def force_set(model: Model) -> ForceSet:
    """The compiled forces of a model, kept with it."""
    return model.keep_as(ForceSet, lambda: ForceSet(model))
