"""All muscles of a model at once, compiled: what can be measured on them, and how their fibres move."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel.plan import Plan, variant
from ..kernel.sweep import MATRIX, SCALAR, Algorithm, Field, NodeClass, Tree, each, pattern, vector
from ..model.arrays import lanes_for
from ..model.model import Model
from .force import WORLD
from .muscle import OBSERVED, Muscle
from .muscle_tendon import FibreMuscle
from .set import force_set


def _of(n: Any, bodies: tuple[Any, ...]) -> tuple[Any, list[Any], list[Any]]:
    """The muscle of a node with its parameters, and the poses and twists of its bodies."""
    muscle = n.muscle.bound({name: getattr(n, f"own_{name}") for name in n.muscle.parameters()})
    mine = bodies[: len(muscle.bodies)]
    return muscle, [b.poses for b in mine], [b.twists for b in mine]


def observe(n: Any, *bodies: Any) -> None:
    """What can be measured on a muscle, and the gradient of its length."""
    muscle, poses, twists = _of(n, bodies)
    found, slopes = muscle.observed(poses, twists, n.t, n.u)
    n.observed = [found[name] for name in OBSERVED]
    n.slopes = np.concatenate([np.asarray(g, dtype=object) for g in slopes])


def advance(n: Any, *bodies: Any) -> None:
    """The fibre length after a step at whose end the bodies are here, and that of fibres at rest; 0 of muscles that have none."""
    muscle, poses, _ = _of(n, bodies)
    fibres = isinstance(muscle, FibreMuscle)
    length = muscle.length(poses) if fibres else 0.0
    n.stepped = muscle.fibre_step(length, n.a, n.fibre, n.h) if fibres else 0.0
    n.resting = muscle.resting(length, n.a) if fibres else 0.0


@functools.cache
def algorithms(count: int) -> dict[str, Algorithm]:
    """For muscles on up to `count` bodies."""
    roles = tuple(f"b{i}" for i in range(count))
    placed = {"poses": Field("input", "body", MATRIX), "twists": Field("input", "body", vector(6))}
    seen = {
        "t": Field("input", "global", SCALAR),
        "u": Field("input", "u"),
        "observed": Field("output", "node", vector(len(OBSERVED))),
        "slopes": Field("output", "slopes"),
    }
    moved = {
        "h": Field("input", "global", SCALAR),
        "a": Field("input", "node", SCALAR),
        "fibre": Field("input", "node", SCALAR),
        "stepped": Field("output", "node", SCALAR),
        "resting": Field("output", "node", SCALAR),
    }
    return {
        "observe": Algorithm(f"muscles{count}", {**placed, **seen}, {"run": [each(observe, *roles)]}),
        "advance": Algorithm(f"muscle_fibres{count}", {**placed, **moved}, {"run": [each(advance, *roles)]}),
    }


class MuscleSet:
    """The muscles of a model, in the order in which they were added.

    `inputs` says for every muscle where its run-time inputs lie among those of all forces.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.muscles: list[Muscle] = list(model.elements_of(Muscle))
        if not self.muscles:
            raise InputError("the model has no muscles")
        self.inputs = self._input_places()
        index = {b.name: i for i, b in enumerate(model.bodies)} | {WORLD: model.nb}
        sides = [[index[b] for b in m.bodies] for m in self.muscles]
        most = max(map(len, sides))
        padded = np.array([s + [model.nb] * (most - len(s)) for s in sides])
        classes: dict[Any, NodeClass] = {}
        nodes, parameters = [], []
        for m in self.muscles:
            given = {f"own_{name}": x for name, x in m.parameters().items()}
            patterns = {name: pattern(x, False) for name, x in given.items()}
            signature = (m.signature, tuple(patterns.items()))
            sizes = {"slopes": 6 * len(m.bodies), "u": m.inputs}
            nodes.append(classes.setdefault(signature, NodeClass(signature, {"muscle": m}, patterns, sizes)))
            parameters.append(given)
        roles = {f"b{i}": padded[:, i] for i in range(most)}
        self._tree = Tree(np.full(len(nodes), -1), nodes, parameters, roles, {"body": model.nb + 1})
        self._algorithms = algorithms(most)
        self._plans: dict[Any, Plan] = {}
        self._target = np.concatenate([np.array(s) for s in sides])
        self._muscle = np.repeat(np.arange(len(sides)), [len(s) for s in sides])

    def _input_places(self) -> list[slice]:
        places, at = {}, 0
        for f in force_set(self.model).forces:
            places[id(f)] = slice(at, at + f.inputs)
            at += f.inputs
        return [places[id(m)] for m in self.muscles]

    def _run(self, which: str, poses: np.ndarray, twists: np.ndarray, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        nb = self.model.nb
        lead = poses.shape[:-3]
        batch = int(np.prod(lead))
        world = np.broadcast_to(np.eye(4).reshape(-1), (batch, 16)), np.zeros((batch, 6))
        flat = {name: np.ascontiguousarray(x if x.ndim == 1 else x.reshape(batch, -1)) for name, x in given.items()}
        flat["poses"] = np.concatenate([poses.reshape(batch, 16 * nb), world[0]], axis=1)
        flat["twists"] = np.concatenate([np.broadcast_to(twists, (*lead, nb, 6)).reshape(batch, 6 * nb), world[1]], axis=1)
        key = which, lanes_for(batch, np.float64)
        if key not in self._plans:
            self._plans[key] = Plan(self._algorithms[which], self._tree, variant(key[1], ("run",)))
        plan = self._plans[key]
        out = {name: np.empty((batch, plan.sizes[name])) for name in self._algorithms[which].results}
        plan.run(flat, out, batch)
        return {name: x.reshape(*lead, -1) for name, x in out.items()}

    def observe(
        self, poses: np.ndarray, twists: np.ndarray, t: float = 0.0, u: Any = None
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """What can be measured (..., muscles), by name, and the gradients of the lengths (..., muscles, bodies, 6)."""
        all_inputs = np.asarray(force_set(self.model).initial_inputs if u is None else u, float)
        own = np.concatenate([np.zeros((*all_inputs.shape[:-1], 0)), *(all_inputs[..., s] for s in self.inputs)], axis=-1)
        out = self._run("observe", poses, twists, {"t": np.array([float(t)]), "u": own})
        lead, count = poses.shape[:-3], len(self.muscles)
        slopes = np.zeros((count, self.model.nb + 1, *lead, 6))
        np.add.at(slopes, (self._muscle, self._target), np.moveaxis(out["slopes"].reshape(*lead, -1, 6), -2, 0))
        observed = out["observed"].reshape(*lead, count, -1)
        return {name: observed[..., k] for k, name in enumerate(OBSERVED)}, np.moveaxis(slopes[:, :-1], (0, 1), (-3, -2))

    def advance(self, poses: np.ndarray, a: np.ndarray, fibre: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        """Fibre lengths (..., muscles) after a step of length h under activations a, and those of fibres at rest."""
        given = {"h": np.array([float(h)]), "a": np.asarray(a, float), "fibre": np.asarray(fibre, float)}
        out = self._run("advance", poses, np.zeros(6), given)
        return out["stepped"], out["resting"]


def muscle_set(model: Model) -> MuscleSet:
    """The compiled muscles of a model, kept with it."""
    return model.keep_as(MuscleSet, lambda: MuscleSet(model))
