"""All muscles of a model at once, compiled: what can be measured on them, and how their fibres move."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elements.collection import collection
from ..elements.evaluate import LAWS, Evaluation, of_laws
from ..elements.nodes import LawNodes, law_at
from ..elements.ports import joined, values, velocities
from ..errors import InputError
from ..kernel.sweep import SCALAR, Algorithm, Field, vector
from ..model.model import Model
from .muscle import OBSERVED, Muscle
from .muscle_tendon import FibreMuscle
from .set import force_set


def observe(n: Any, *ports: Any) -> None:
    """What can be measured on a muscle, and the gradient of its length."""
    muscle, at = law_at(n, ports)
    found, slopes = muscle.observed(values(at), velocities(at), n.t, n.u)
    n.observed, n.slopes = [found[name] for name in OBSERVED], joined(slopes)


def advance(n: Any, *ports: Any) -> None:
    """The fibre length after a step at whose end the bodies are here, and that of fibres at rest; 0 of muscles that have none."""
    muscle, at = law_at(n, ports)
    fibres = isinstance(muscle, FibreMuscle)
    length = muscle.length(values(at)) if fibres else 0.0
    n.stepped = muscle.fibre_step(length, n.a, n.fibre, n.h) if fibres else 0.0
    n.resting = muscle.resting(length, n.a) if fibres else 0.0


def observe_fields() -> dict[str, Field]:
    observed = {"observed": Field("output", "node", vector(len(OBSERVED)), of=LAWS)}
    return of_laws("input", u="u") | of_laws("output", slopes="slopes") | observed


def advance_fields() -> dict[str, Field]:
    given = {name: Field("input", "node", SCALAR, of=LAWS) for name in ("a", "fibre")}
    found = {name: Field("output", "node", SCALAR, of=LAWS) for name in ("stepped", "resting")}
    return given | {"h": Field("input", "global", SCALAR)} | found


class MuscleSet:
    """The muscles of a model, in the order in which they were added.

    `inputs` says for every muscle where its run-time inputs lie among those of all forces.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.muscles: list[Muscle] = [law for law in collection(model).forces if isinstance(law, Muscle)]
        if not self.muscles:
            raise InputError("the model has no muscles")
        self.inputs = self._input_places()
        sizes = [{"slopes": 6 * len(m.bodies), "u": m.inputs} for m in self.muscles]
        self._evaluation = Evaluation(LawNodes(model, self.muscles), sizes)
        sides = self._evaluation.nodes.bodies
        self._muscle = np.repeat(np.arange(len(self.muscles)), [len(s) for s in sides])
        self._body = np.concatenate(sides)

    def _input_places(self) -> list[slice]:
        places, at = {}, 0
        for f in force_set(self.model).forces:
            places[id(f)] = slice(at, at + f.inputs)
            at += f.inputs
        return [places[id(m)] for m in self.muscles]

    def _run(self, algorithm: Algorithm, poses: np.ndarray, twists: np.ndarray, given: dict[str, Any]) -> dict[str, np.ndarray]:
        lead = poses.shape[:-3]
        moving = np.broadcast_to(twists, (*lead, self.model.nb, 6))
        return self._evaluation.run(algorithm, algorithm.results, given | {"pose": poses, "twist": moving}, lead)

    def observe(
        self, poses: np.ndarray, twists: np.ndarray, t: Any = 0.0, u: Any = None
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """What can be measured (..., muscles), by name, and the gradients of the lengths (..., muscles, bodies, 6)."""
        all_inputs = force_set(self.model).initial_inputs if u is None else np.asarray(u, float)
        own = np.concatenate([np.zeros((*all_inputs.shape[:-1], 0)), *(all_inputs[..., s] for s in self.inputs)], axis=-1)
        times = np.array([float(t)]) if np.ndim(t) == 0 else np.asarray(t, float)[..., None]
        algorithm = self._evaluation.algorithm(observe, observe_fields)
        out = self._run(algorithm, poses, twists, {"t": times, "u": own})
        lead, count = poses.shape[:-3], len(self.muscles)
        slopes = np.zeros((count, self.model.nb + 1, *lead, 6))
        np.add.at(slopes, (self._muscle, self._body), np.moveaxis(out["slopes"].reshape(*lead, -1, 6), -2, 0))
        observed = out["observed"].reshape(*lead, count, -1)
        return {name: observed[..., k] for k, name in enumerate(OBSERVED)}, np.moveaxis(slopes[:, :-1], (0, 1), (-3, -2))

    def advance(self, poses: np.ndarray, a: np.ndarray, fibre: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        """Fibre lengths (..., muscles) after a step of length h under activations a, and those of fibres at rest."""
        given = {"h": np.array([float(h)]), "t": np.zeros(1), "a": np.asarray(a, float), "fibre": np.asarray(fibre, float)}
        out = self._run(self._evaluation.algorithm(advance, advance_fields), poses, np.zeros(6), given)
        return out["stepped"], out["resting"]


def muscle_set(model: Model) -> MuscleSet:
    """The compiled muscles of a model, kept with it."""
    return model.keep_as(MuscleSet, lambda: MuscleSet(model))
