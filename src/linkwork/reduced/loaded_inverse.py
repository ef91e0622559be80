"""Inverse dynamics of the loaded tree: the joint forces behind given accelerations, with every force of a model; and what its
equality rows are missing then.

    outward    bodies move as told: w, acc, f = I acc + gyroscopic wrench; poses and twists where laws look at them
    forces     every force adds its loads to its bodies and joints
    rows       every constraint adds G^T x with the forces x that it is given, and says what is missing of G a + bias = 0
    inward     the wrench through every joint, f - load + those of its children; tau = S^T wrench + armature a + damping v - push

Dry friction (a row with a largest force) is part of what tau must overcome: where its joint slips or is told to, it has the whole
force against that. Other rows have no force where accelerations obey them: tau alone carries.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..constraints.targets import resisting, slipping
from ..elements.collection import Collection, Shape, collection
from ..elements.derive import Derived, derive
from ..elements.nodes import STILL
from ..elements.ports import At, starts
from ..joints import Joint
from ..kernel.sweep import POSE, SCALAR, Algorithm, Field, Step, each, inward, outward, vector
from ..model.arrays import Interface
from ..model.model import Model
from ..model.rules import inertia_of, world_pose
from ..rows.asked import free_motion, refined, row_law_at
from ..spatial.scalar import Vector, zeros
from .inverse import tree_inverse_dynamics
from .loaded import given_laws, law_tails, without_pushes
from .program import act, place, twist_rate
from .rules import falling_world, gyroscopic, velocity_step


# --- rules -------------------------------------------------------------------------------------------------------------------
def move_as_told(n: Any, parent: Any) -> None:
    """Velocities and accelerations of every body, and the wrench that they need."""
    E, S, w, zeta = velocity_step(n, parent.w)
    own = inertia_of(n)
    n.E, n.S, n.w, n.acc = E, S, w, E.pull_twist(parent.acc) + zeta + S @ n.a
    n.needed = own @ n.acc + gyroscopic(w, n.first_moment, own.J)


def begin_given_loads(n: Any) -> None:
    """What the caller gives; laws add to it."""
    n.load, n.push = n.external, zeros(len(n.v))


def show_joints(n: Any) -> None:
    """Accelerations for rows to look at, of joints."""
    n.free_v = n.a


def show_bodies(n: Any) -> None:
    """And of bodies."""
    n.free_v, n.free = n.a, twist_rate(n)


def transmit(n: Any, parent: Any) -> None:
    """The wrench through each joint, and what the caller must add along its freedoms."""
    f = n.needed - n.load + n.below
    n.tau = n.S.T @ f + n.armature * n.a + n.damping * n.v - n.push
    parent.below = parent.below + n.E.move_wrench(f)


def bear(n: Any, *ports: Any) -> None:
    """The rows of one constraint under the forces given; those that have a largest force have it against their motion."""
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t, refined(law, at, n.t, n.unknown))
    n.missing, n.borne = missing(n, ports, at, found), n.x
    if law.bounded:
        n.borne = resisting(n.x, n.missing, *slipping(*law.bounds(), found.rate))
    press(n, ports, at, found, n.borne)


def missing(n: Any, ports: Sequence[Any], at: Sequence[At], found: Derived) -> Vector:
    """G a + bias."""
    total, first = found.bias, starts(at)
    for i, (kind, motion) in enumerate(zip(n.kinds, free_motion(n, ports, at), strict=False)):
        total = total if kind == STILL else total + found.G[:, first[i] : first[i + 1]] @ motion
    return total


def press(n: Any, ports: Sequence[Any], at: Sequence[At], found: Derived, x: Vector) -> None:
    """Add G^T x to the loads of the ports."""
    first = starts(at)
    for i, (kind, port) in enumerate(zip(n.kinds, ports, strict=False)):
        force = found.G[:, first[i] : first[i + 1]].T @ x
        if isinstance(kind, Joint):
            port.push = port.push + force
        elif kind != STILL:
            port.load = port.load + force


# --- the program -------------------------------------------------------------------------------------------------------------
def inverse_fields(shape: Shape) -> dict[str, Field]:
    """The fields of `loaded_inverse`."""
    forces, rows, on_bodies, _ = shape
    found = {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "a": Field("input", "v"),
        "external": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),
        "t": Field("input", "global", SCALAR),
        "w": Field("shared", codec=vector(3)),
        "acc": Field("shared", codec=vector(6), world=falling_world),
        "below": Field("gathered", codec=vector(6)),
        "load": Field("work", "node", vector(6)),
        "push": Field("work", "v"),
        "tau": Field("output", "v"),
    }
    if on_bodies:
        found |= {"pose": Field("work", "node", POSE, world=world_pose), "twist": Field("work", "node", vector(6))}
    if forces >= 0:
        found["u"] = Field("input", "u", of="force")
    if rows >= 0:
        found |= {"free": Field("work", "node", vector(6)), "free_v": Field("work", "v")}
        found |= {name: Field("input", name, of="constraint") for name in ("unknown", "told")}
        found |= {"x": Field("input", "rows", of="constraint")}
        found |= {name: Field("output", "rows", of="constraint") for name in ("missing", "borne")}
    return found


@functools.cache
def loaded_inverse(shape: Shape) -> Algorithm:
    """From q, v, a and the forces x of rows to tau, and what is missing of the rows, of models with such laws."""
    forces, rows, on_bodies, _ = shape
    steps: list[Step] = [outward(move_as_told), *([outward(place)] if on_bodies else []), each(begin_given_loads)]
    if forces >= 0:
        steps.append(each(act, *(f"p{i}" for i in range(forces)), on="force"))
    if rows >= 0:
        steps += [each(show_bodies if on_bodies else show_joints), each(bear, *(f"p{i}" for i in range(rows)), on="constraint")]
    name = f"inverse_dynamics_{'_'.join(map(str, map(int, shape)))}"
    return Algorithm(name, inverse_fields(shape), {"run": [*steps, inward(transmit)]})


def carried_alone(laws: Collection) -> Shape:
    """The shape of a model whose rows take no part, as they have no force where accelerations obey them; but for friction."""
    if any(c.bounded for c in laws.rows):
        return laws.shape
    return laws.shape[0], -1, bool(laws.forces) and laws.force_nodes.on_bodies, False


def interface_of(laws: Collection, algorithm: Algorithm) -> Interface:
    """An algorithm on a model with its laws, kept with it."""
    return laws.model.keep_as(algorithm.name, lambda: Interface(laws.model, algorithm, laws.plan, law_tails(laws)))


def loaded_inverse_dynamics(
    model: Model, q: Any, v: Any, a: Any, external: Any, threads: int | None, t: Any, inputs: Any
) -> tuple[np.ndarray, np.ndarray]:
    """See `inverse_dynamics`; and the forces of all rows (..., rows), which are zero but for dry friction."""
    laws = collection(without_pushes(model))
    shape: Shape = laws.model.keep_as(carried_alone, lambda: carried_alone(laws))
    if shape[:2] == (-1, -1):
        tau = tree_inverse_dynamics(model, q, v, a, external, threads)
        return tau, np.zeros((*tau.shape[:-1], laws.row_count))
    given = {"q": q, "v": v, "a": a, "external": external, "gravity": model.gravity}
    given |= given_laws(laws, q, t, inputs, shape[1] >= 0)
    if shape[1] < 0:
        tau = interface_of(laws, loaded_inverse(shape))(given, threads, ("tau",))["tau"]
        return tau, np.zeros((*tau.shape[:-1], laws.row_count))
    out = interface_of(laws, loaded_inverse(shape))({**given, "x": None}, threads, ("tau", "borne"))
    return out["tau"], out["borne"]
