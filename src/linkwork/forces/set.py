"""The forces of a model, compiled: one kernel per class, a thousand instances share it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..errors import InputError, ModelError
from ..kernel.plan import Plan, variant
from ..kernel.sweep import MATRIX, SCALAR, Algorithm, Field, NodeClass, Tree, each, pattern, vector
from ..model.arrays import lanes_for
from ..model.model import Model
from .blocks import Blocks as Blocks
from .blocks import JointBlocks
from .force import WORLD, Force, derivatives
from .joint_set import JointForceSet
from .law import Law


def _of(n: Any, bodies: tuple[Any, ...]) -> tuple[Any, list[Any], list[Any]]:
    """The force of a node with its parameters, and the poses and twists of its bodies."""
    force = n.force.bound({name: getattr(n, f"own_{name}") for name in n.force.parameters()})
    mine = bodies[: len(force.bodies)]
    return force, [b.poses for b in mine], [b.twists for b in mine]


def act(n: Any, *bodies: Any) -> None:
    """Wrenches and energy of one force."""
    force, poses, twists = _of(n, bodies)
    n.wrenches = np.concatenate([np.asarray(w, dtype=object) for w in force.wrenches(poses, twists, n.t, n.u)])
    n.energy = force.potential(poses, n.t, n.u)


def differentiate(n: Any, *bodies: Any) -> None:
    """Derivatives of the wrenches of one force."""
    force, poses, twists = _of(n, bodies)
    df_dq, df_dv = derivatives(force, poses, twists, n.t, n.u)
    n.df_dq, n.df_dv = df_dq.reshape(-1), df_dv.reshape(-1)


@functools.cache
def algorithms(count: int) -> tuple[Algorithm, Algorithm]:
    """Forces, and their derivatives, of forces on up to `count` bodies."""
    roles = tuple(f"b{i}" for i in range(count))
    given = {
        "poses": Field("input", "body", MATRIX),
        "twists": Field("input", "body", vector(6)),
        "t": Field("input", "global", SCALAR),
        "u": Field("input", "u"),
    }
    act_on = {"wrenches": Field("output", "wrenches"), "energy": Field("output", "node", SCALAR)}
    slopes = {"df_dq": Field("output", "slopes"), "df_dv": Field("output", "slopes")}
    return (
        Algorithm(f"forces{count}", {**given, **act_on}, {"run": [each(act, *roles)]}),
        Algorithm(f"force_derivatives{count}", {**given, **slopes}, {"run": [each(differentiate, *roles)]}),
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
        forces: list[Law] = [*self.forces, *self.on_joints.forces]
        for f in forces:
            if f.name in places:
                raise ModelError(f"two forces are named {f.name!r}")
            if f.name:
                places[f.name] = slice(at, at + f.inputs)
            at += f.inputs
        return places

    def _compile(self) -> None:
        model = self.model
        index = {b.name: i for i, b in enumerate(model.bodies)} | {WORLD: model.nb}
        most = max(len(f.bodies) for f in self.forces)
        sides = [[index[b] for b in f.bodies] for f in self.forces]
        padded = np.array([s + [model.nb] * (most - len(s)) for s in sides])
        classes: dict[Any, NodeClass] = {}
        known: dict[Any, Any] = {}
        nodes, parameters = [], []
        for f in self.forces:
            given, k = {f"own_{name}": x for name, x in f.parameters().items()}, 6 * len(f.bodies)
            patterns = {name: pattern(x, False) for name, x in given.items()}
            code = (len(f.bodies), f.same, tuple(patterns.items()))
            if code not in known:
                known[code] = (f.signature, code[2])
            signature = known[code]
            sizes = {"wrenches": k, "slopes": k * k, "u": f.inputs}
            nodes.append(classes.setdefault(signature, NodeClass(signature, {"force": f}, patterns, sizes)))
            parameters.append(given)
        roles = {f"b{i}": padded[:, i] for i in range(most)}
        self._tree = Tree(np.full(len(nodes), -1), nodes, parameters, roles, {"body": model.nb + 1})
        self._algorithms = algorithms(most)
        self._plans: dict[Any, Plan] = {}
        self._target = np.concatenate([np.array(s) for s in sides])
        self._real = self._target < model.nb
        pairs = np.array([(i, j) for s in sides for i in s for j in s])
        both = np.all(pairs < model.nb, axis=1)
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

    def _run(self, which: int, names: tuple[str, ...], poses: Any, twists: Any, t: float, u: Any) -> list[np.ndarray]:
        nb = self.model.nb
        lead = np.shape(twists)[:-2]
        batch = int(np.prod(lead))
        for name, x, tail in (("poses", poses, (nb, 4, 4)), ("twists", twists, (nb, 6))):
            if np.shape(x) != (*lead, *tail):
                raise InputError(f"{name} of shape {np.shape(x)} do not fit the model: expected {(*lead, *tail)}")
        world = np.broadcast_to(np.eye(4).reshape(-1), (batch, 16)), np.zeros((batch, 6))
        own = self._inputs(u)[..., : self._own_inputs]
        inputs = {
            "poses": np.concatenate([np.reshape(poses, (batch, 16 * nb)), world[0]], axis=1),
            "twists": np.concatenate([np.reshape(twists, (batch, 6 * nb)), world[1]], axis=1),
            "t": np.array([float(t)]),
            "u": np.ascontiguousarray(own if own.ndim == 1 else np.broadcast_to(own, (*lead, own.shape[-1])).reshape(batch, -1)),
        }
        key = which, lanes_for(batch, np.float64)
        if key not in self._plans:
            self._plans[key] = Plan(self._algorithms[which], self._tree, variant(key[1], ("run",)))
        plan = self._plans[key]
        out = {name: np.empty((batch, plan.sizes[name])) for name in names}
        plan.run(inputs, out, batch)
        return [out[name].reshape(*lead, -1) for name in names]

    # --- between bodies -------------------------------------------------------------------------------------------------------
    def wrenches(self, poses: np.ndarray, twists: np.ndarray, t: float = 0.0, u: Any = None) -> np.ndarray:
        """The wrench on every body (..., bodies, 6) at poses (..., bodies, 4, 4) and twists (..., bodies, 6)."""
        out = np.zeros((self.model.nb, *np.shape(twists)[:-2], 6))
        if self.forces:
            (parts,) = self._run(0, ("wrenches",), poses, twists, t, u)
            blocks = np.moveaxis(parts.reshape(*parts.shape[:-1], -1, 6), -2, 0)
            np.add.at(out, self._target[self._real], blocks[self._real])
        return np.moveaxis(out, 0, -2)

    def energies(self, poses: np.ndarray, twists: np.ndarray, t: float = 0.0, u: Any = None) -> np.ndarray:
        """The energy stored in every force between bodies (..., forces)."""
        if not self.forces:
            return np.zeros((*np.shape(twists)[:-2], 0))
        return self._run(0, ("wrenches", "energy"), poses, twists, t, u)[1]

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

    def joint_energies(self, q: Any, v: Any, t: float = 0.0, u: Any = None) -> np.ndarray:
        """The energy stored in every force on a joint (..., forces)."""
        return self.on_joints.energies(q, v, t, self._inputs(u)[..., self._own_inputs :])

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
