"""Motions of models with laws of every kind as digests, to be compared between runs, threads, processes and hash seeds.

As a script it prints the digests of the kinds that it is given.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable

import numpy as np
from identities import loaded_kinds

import linkwork as lw

BATCH, STEPS, DT = 19, 5, 1e-3  # two blocks of sixteen lanes
KINDS = (
    "drag",
    "muscle",
    "prescribed",
    "point on curve",
    "beside limits",
    "friction in a loop",
    "contact",
)


def box_on_a_floor() -> lw.Model:
    """A box that slides and a ball that rolls, with Coulomb friction; a limit, and friction in a joint."""
    b = lw.ModelBuilder()
    b.world(lw.Plane((0, 0, 0), (0, 0, 1), friction=0.5))
    cube, ball, bob = lw.Inertia.cuboid(1.0, (0.2, 0.2, 0.2)), lw.Inertia.sphere(1.0, 0.1), lw.Inertia.sphere(0.2, 0.1)
    b.body("box", joint=lw.Free(), inertia=cube, shapes=[lw.Box((0.2, 0.2, 0.2), friction=0.5)])
    b.body("arm", parent="box", joint=lw.Revolute((0, 1, 0)), inertia=bob, limits=(-0.1, 0.1), friction=0.02)
    b.body("ball", joint=lw.Free(), inertia=ball, shapes=[lw.Sphere(0.1, friction=0.5)])
    return b.build()


def start(kind: str) -> tuple[lw.Model, lw.State]:
    """A model with laws of a kind, and as many states as a batch has, all different."""
    rng = np.random.default_rng(1)
    if kind == "contact":
        model = box_on_a_floor()
        q = np.tile(model.neutral(), (BATCH, 1))
        for name, place in (("box", (0.0, 0.0, 0.1)), ("ball", (1.0, 0.0, 0.1))):
            q[:, model.q_index(name)][:, :3] = place
        return model, lw.State(q, rng.normal(scale=0.3, size=(BATCH, model.nv)))
    model = loaded_kinds.tree(*loaded_kinds.KINDS[kind]())
    q = np.tile(loaded_kinds.Q, (BATCH, 1))
    return model, lw.State(q, rng.normal(size=(BATCH, model.nv)))


def digest(*arrays: np.ndarray) -> str:
    h = hashlib.sha256()
    for a in arrays:
        h.update(np.ascontiguousarray(a).tobytes())
    return h.hexdigest()


def run(model: lw.Model, state: lw.State, threads: int | None = 1) -> lw.Trajectory:
    return lw.simulate(model, state, STEPS * DT, DT, open_loops="allow", threads=threads)


def one(state: lw.State, k: int) -> lw.State:
    return lw.State(state.q[k], state.v[k])


def motions(kind: str) -> str:
    """Runs of a batch, of single states, under a control, and accelerations."""
    model, states = start(kind)
    tau = np.linspace(-0.1, 0.1, model.nv)
    whole, single = run(model, states), run(model, one(states, 3))
    control: Callable[..., np.ndarray] = lambda t, s: tau * np.sin(100.0 * t) - 0.01 * s.v  # noqa: E731
    told = lw.simulate(model, one(states, 1), STEPS * DT, DT, control=control, open_loops="allow")
    parts = [whole.q, whole.v, single.q, single.v, told.q, lw.forward_dynamics(model, states.q, states.v, tau)]
    return digest(*parts, *(t.forces for t in (whole, single, told) if t.forces is not None))


if __name__ == "__main__":
    print(json.dumps({kind: motions(kind) for kind in sys.argv[1:] or KINDS}))
