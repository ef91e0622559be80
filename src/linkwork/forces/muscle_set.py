"""All muscles of a model at once, compiled: what can be measured on them, and how their fibres move."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..elements.law_tree import PLACED, law_at
from ..errors import InputError
from ..kernel.sweep import SCALAR, Algorithm, Field, each, vector
from ..model.model import Model
from .body_tree import ForceNodes
from .muscle import OBSERVED, Muscle
from .muscle_tendon import FibreMuscle
from .set import force_set


def observe(n: Any, *bodies: Any) -> None:
    """What can be measured on a muscle, and the gradient of its length."""
    muscle, poses, twists = law_at(n, bodies)
    found, slopes = muscle.observed(poses, twists, n.t, n.u)
    n.observed = [found[name] for name in OBSERVED]
    n.slopes = np.concatenate([np.asarray(g, dtype=object) for g in slopes])


def advance(n: Any, *bodies: Any) -> None:
    """The fibre length after a step at whose end the bodies are here, and that of fibres at rest; 0 of muscles that have none."""
    muscle, poses, _ = law_at(n, bodies)
    fibres = isinstance(muscle, FibreMuscle)
    length = muscle.length(poses) if fibres else 0.0
    n.stepped = muscle.fibre_step(length, n.a, n.fibre, n.h) if fibres else 0.0
    n.resting = muscle.resting(length, n.a) if fibres else 0.0


@functools.cache
def algorithms(roles: tuple[str, ...]) -> dict[str, Algorithm]:
    """For muscles on as many bodies as there are roles, or fewer."""
    count = len(roles)
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
        "observe": Algorithm(f"muscles{count}", {**PLACED, **seen}, {"run": [each(observe, *roles)]}),
        "advance": Algorithm(f"muscle_fibres{count}", {**PLACED, **moved}, {"run": [each(advance, *roles)]}),
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
        self._bodies = ForceNodes(model, self.muscles, lambda m: {"slopes": 6 * len(m.bodies), "u": m.inputs})
        self._algorithms = algorithms(self._bodies.roles)
        self._muscle = np.repeat(np.arange(len(self.muscles)), [len(s) for s in self._bodies.sides])

    def _input_places(self) -> list[slice]:
        places, at = {}, 0
        for f in force_set(self.model).forces:
            places[id(f)] = slice(at, at + f.inputs)
            at += f.inputs
        return [places[id(m)] for m in self.muscles]

    def _run(self, which: str, poses: np.ndarray, twists: np.ndarray, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        algorithm, lead = self._algorithms[which], poses.shape[:-3]
        moving = np.broadcast_to(twists, (*lead, self.model.nb, 6))
        return self._bodies.run(algorithm, algorithm.results, poses, moving, given)

    def observe(
        self, poses: np.ndarray, twists: np.ndarray, t: float = 0.0, u: Any = None
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """What can be measured (..., muscles), by name, and the gradients of the lengths (..., muscles, bodies, 6)."""
        all_inputs = np.asarray(force_set(self.model).initial_inputs if u is None else u, float)
        own = np.concatenate([np.zeros((*all_inputs.shape[:-1], 0)), *(all_inputs[..., s] for s in self.inputs)], axis=-1)
        out = self._run("observe", poses, twists, {"t": np.array([float(t)]), "u": own})
        lead, count = poses.shape[:-3], len(self.muscles)
        slopes = np.zeros((count, self.model.nb + 1, *lead, 6))
        np.add.at(slopes, (self._muscle, self._bodies.target), np.moveaxis(out["slopes"].reshape(*lead, -1, 6), -2, 0))
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
