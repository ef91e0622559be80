"""The forces on the joints of a model, compiled: one kernel per class of force and joint."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elements.law_tree import Entry, law_tree
from ..errors import InputError
from ..joints import Joint
from ..kernel.plans import Plans
from ..kernel.sweep import SCALAR, Algorithm, Field, each
from ..model.arrays import run_batch
from ..model.model import Model
from ..model.rules import joint_of
from ..spatial.scalar import dot
from .blocks import JointBlocks
from .joint import JointForce, conservative, derivatives


def act(n: Any) -> None:
    """Force and energy of one joint force."""
    force, joint = n.law.at_node(n), joint_of(n)
    n.forces = force.force(joint, n.q, n.v, n.t, n.u)
    n.energy = force.energy(joint, n.q)


def spend(n: Any) -> None:
    """The power of one joint force, less what it takes from its own energy."""
    force, joint = n.law.at_node(n), joint_of(n)
    stored = conservative(lambda moved: force.energy(joint, moved), joint, n.q)
    n.power = dot(force.force(joint, n.q, n.v, n.t, n.u) - stored, n.v)


def differentiate(n: Any) -> None:
    """Derivatives of one joint force."""
    df_dq, df_dv = derivatives(n.law.at_node(n), joint_of(n), n.q, n.v, n.t, n.u)
    n.df_dq, n.df_dv = df_dq.reshape(-1), df_dv.reshape(-1)


GIVEN = {
    "q": Field("input", "q"),
    "v": Field("input", "v"),
    "t": Field("input", "global", SCALAR),
    "u": Field("input", "u"),
}
ACT = Algorithm(
    "joint_forces",
    {**GIVEN, "forces": Field("output", "v"), "energy": Field("output", "node", SCALAR)},
    {"run": [each(act)]},
)
SPEND = Algorithm("joint_force_powers", {**GIVEN, "power": Field("output", "node", SCALAR)}, {"run": [each(spend)]})
DIFFERENTIATE = Algorithm(
    "joint_force_derivatives",
    {**GIVEN, "df_dq": Field("output", "slopes"), "df_dv": Field("output", "slopes")},
    {"run": [each(differentiate)]},
)


class JointForceSet:
    """All joint forces of a model at once."""

    def __init__(self, model: Model) -> None:
        self.model = model
        bodies = [model.bodies[model.body_index(f.joint)] for f in model.elements_of(JointForce)]
        self.forces: list[JointForce] = [f.fitted(b) for f, b in zip(model.elements_of(JointForce), bodies, strict=True)]
        self.initial_inputs = np.concatenate([np.zeros(0), *(f.initial_inputs() for f in self.forces)])
        if not self.forces:
            return
        self._plans = Plans(law_tree(_entry(f, body.joint) for f, body in zip(self.forces, bodies, strict=True)))
        places = [(model.q_index(f.joint), model.v_index(f.joint)) for f in self.forces]
        self._q, self._v = (np.concatenate([np.arange(s.start, s.stop) for s in part]) for part in zip(*places, strict=True))
        self._start = np.array([v.start for _, v in places])
        self._sizes = [body.joint.nv for body in bodies]

    def _lead(self, q: Any, v: Any) -> tuple[int, ...]:
        """The batch axes."""
        for name, x, size in (("q", q, self.model.nq), ("v", v, self.model.nv)):
            if np.shape(x)[-1:] != (size,):
                raise InputError(f"{name} of shape {np.shape(x)} does not fit the model: expected (..., {size})")
        return np.broadcast_shapes(np.shape(q)[:-1], np.shape(v)[:-1])

    def _run(self, algorithm: Algorithm, names: tuple[str, ...], q: Any, v: Any, t: Any, u: Any) -> list[np.ndarray]:
        lead = self._lead(q, v)
        inputs = {name: np.asarray(x, float)[..., at] for name, x, at in (("q", q, self._q), ("v", v, self._v))}
        inputs["u"] = np.asarray(self.initial_inputs if u is None else u, float)
        spread = {name: np.broadcast_to(x, (*lead, x.shape[-1])) if x.ndim > 1 else x for name, x in inputs.items()}
        return list(run_batch(self._plans, algorithm, spread | {"t": times(t)}, names, lead).values())

    def sums(self, q: Any, v: Any, t: float = 0.0, u: Any = None) -> np.ndarray:
        """The force on every joint (..., nv) at q (..., nq) and v (..., nv)."""
        out = np.zeros((self.model.nv, *self._lead(q, v)))
        if self.forces:
            (parts,) = self._run(ACT, ("forces", "energy"), q, v, t, u)[:1]
            np.add.at(out, self._v, np.moveaxis(parts, -1, 0))
        return np.moveaxis(out, 0, -1)

    def energies(self, q: Any, v: Any, t: Any = 0.0, u: Any = None) -> np.ndarray:
        """The energy stored in every force (..., forces)."""
        if not self.forces:
            return np.zeros((*self._lead(q, v), 0))
        return self._run(ACT, ("forces", "energy"), q, v, t, u)[1]

    def powers(self, q: Any, v: Any, t: Any = 0.0, u: Any = None) -> np.ndarray:
        """What every force brings or takes (..., forces), besides what it stores."""
        if not self.forces:
            return np.zeros((*self._lead(q, v), 0))
        return self._run(SPEND, ("power",), q, v, t, u)[0]

    def derivatives(self, q: Any, v: Any, t: float = 0.0, u: Any = None) -> tuple[JointBlocks, JointBlocks]:
        """df_dq and df_dv, at one state."""
        if not self.forces:
            empty = JointBlocks(self.model.nv, np.zeros(0, int), ())
            return empty, empty
        cuts = np.cumsum([n * n for n in self._sizes])[:-1]
        found = []
        for slopes in self._run(DIFFERENTIATE, ("df_dq", "df_dv"), q, v, t, u):
            parts = zip(np.split(slopes, cuts), self._sizes, strict=True)
            found.append(JointBlocks(self.model.nv, self._start, tuple(x.reshape(n, n) for x, n in parts)))
        return found[0], found[1]


def _entry(f: JointForce, joint: Joint) -> Entry:
    sizes = {"q": joint.nq, "v": joint.nv, "u": f.inputs, "slopes": joint.nv**2}
    numbers = {f"joint_{name}": x for name, x in joint.parameters().items()}
    kind = joint.signature
    return Entry(f, sizes, (f.same, kind), lambda: (f.signature(joint), kind), {"joint": joint}, numbers)


def times(t: Any) -> np.ndarray:
    """A time for all states (1,), or one for each (batch, 1)."""
    return np.array([float(t)]) if np.ndim(t) == 0 else np.asarray(t, float).reshape(-1, 1)
