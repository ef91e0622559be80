"""Models of files: what a file says goes through the builder, so that a model from a file has passed all of its checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ..errors import ModelError
from ..joints import Fixed
from ..spatial.checks import check_tensor
from ..spatial.gate import shown
from ..spatial.inertia import Inertia
from ..spatial.se3 import SE3
from .builder import ModelBuilder
from .model import WORLD, Body, Frame, Model
from .properties import JointProperties
from .state import State

SHAPE = {"bodies": tuple, "gravity": np.ndarray, "elements": tuple, "frames": dict, "notes": tuple, "world_shapes": tuple}
PARTS = SHAPE | {"excluded": frozenset, "keyframes": dict, "world_visuals": tuple}
ACCEPTED = "accepted as it is"  # in the notes of models whose inertias are impossible, and were accepted when they were read
LIMITS = ("lower", "upper")  # properties with an entry for every coordinate; others have one for every velocity
POSSIBLE_RTOL = 1e-9  # of the largest moment: what `check_tensor` allows


def model_of(state: Mapping[str, Any]) -> Model:
    """The model with these attributes; raises ModelError where a builder would."""
    names = {f.name for f in fields(Model)}
    if set(state) != names:
        raise ModelError(f"a model has the attributes {', '.join(sorted(names))}, not {', '.join(map(str, state))[:200]}")
    for name, kind in PARTS.items():
        if not isinstance(state[name], kind):
            raise ModelError(f"{name} of a model must be a {kind.__name__}, not {shown(state[name])}")
    bodies = state["bodies"]
    _check_order(bodies)
    builder = ModelBuilder(state["gravity"])
    if state["gravity"].dtype != float:
        raise ModelError(f"gravity must be numbers of float64, not {state['gravity'].dtype}")
    for b in bodies:
        parent = WORLD if b.parent < 0 else bodies[b.parent].name
        builder.body(
            b.name,
            parent=parent,
            joint=b.joint,
            inertia=b.inertia,
            placement=b.placement,
            joint_name=b.joint_name,
            shapes=b.shapes,
            visuals=b.visuals,
        )
    _check_properties(bodies)
    _check_inertias(bodies, state["notes"])
    for name, frame in state["frames"].items():
        if not isinstance(frame, Frame):
            raise ModelError(f"frame {shown(name)}: it must be a Frame, not {shown(frame)}")
        builder.frame(name, body=frame.body, placement=frame.placement)
    builder.world(*state["world_shapes"]).scenery(*state["world_visuals"])
    for pair in state["excluded"]:
        if not isinstance(pair, frozenset) or not 1 <= len(pair) <= 2:
            raise ModelError(f"exclude: it names pairs of bodies, not {shown(pair)}")
        builder.exclude(*pair, *[x for x in pair if len(pair) == 1])
    for element in state["elements"]:
        if not callable(getattr(element, "check", None)) or callable(getattr(element, "add_to", None)):
            raise ModelError(f"cannot add {shown(element)}: it is no force, constraint or contact")
    if not all(isinstance(line, str) for line in state["notes"]):
        raise ModelError("the notes of a model must be lines of text")
    for name, key in state["keyframes"].items():
        if not isinstance(name, str) or not isinstance(key, State):
            raise ModelError(f"keyframe {shown(name)}: it must be a State, not {shown(key)}")
        builder.keyframe(name, key)
    builder.check()
    return Model(**state)


def _check_order(bodies: Sequence[Any]) -> None:
    """Raise unless these are bodies, parents before their children."""
    if not bodies:
        raise ModelError("the model has no bodies")
    for i, b in enumerate(bodies):
        if not isinstance(b, Body):
            raise ModelError(f"bodies[{i}] must be a Body, not {shown(b)}")
        if not -1 <= b.parent < i:
            raise ModelError(f"body {b.name!r}: its parent has number {b.parent}; parents stand before their children")


def _check_properties(bodies: Sequence[Body]) -> None:
    """Raise unless properties fit their joints; those of all bodies are looked at together, one by one if something is wrong."""
    known = {(id(b.properties), b.joint.nq, b.joint.nv): b for b in bodies if b.joint.coordinates_add}
    rest = [b for b in bodies if not b.joint.coordinates_add]
    plain = list(known.values())
    arrays = {f.name: [getattr(b.properties, f.name) for b in plain] for f in fields(JointProperties)}
    sizes = {name: [b.joint.nq if name in LIMITS else b.joint.nv for b in plain] for name in arrays}
    fit = all([len(a) for a in arrays[name]] == sizes[name] for name in arrays)
    if not (fit and plain and _are_possible({name: np.concatenate(a) for name, a in arrays.items()})):
        rest = list(bodies)
    for b in {(id(b.properties), id(b.joint)): b for b in rest}.values():
        b.properties.check_values(b.joint, b.joint_name)


def _are_possible(p: Mapping[str, np.ndarray]) -> bool:
    """Whether limits are in order, and all other numbers are what `JointProperties.of` takes; NaN is not."""
    finite = all(np.isfinite(p[name]).all() for name in ("armature", "damping", "friction"))
    return finite and bool(np.all(p["lower"] <= p["upper"])) and all(np.all(p[name] >= 0) for name in p if name not in LIMITS)


def _check_inertias(bodies: Sequence[Body], notes: Sequence[Any]) -> None:
    """Raise unless every body can have its inertia, or those that are fixed to each other that of the whole."""
    inertias = list({id(b.inertia): b.inertia for b in bodies}.values())
    masses, tensors = np.array([x.mass for x in inertias]), np.array([x.tensor for x in inertias])
    skew = np.abs(tensors - tensors.transpose(0, 2, 1)).max(axis=(1, 2))
    if np.any(skew > POSSIBLE_RTOL * np.maximum(np.abs(tensors).max(axis=(1, 2)), 1e-300)):
        for b in bodies:
            check_tensor(b.inertia.tensor)
    moments = np.linalg.eigvalsh(tensors)
    slack = POSSIBLE_RTOL * np.maximum(moments[:, 2], 1e-300)
    possible = (masses > 0) & (moments[:, 0] >= -slack) & (moments[:, 0] + moments[:, 1] >= moments[:, 2] - slack)
    if possible.all():
        return
    doubtful = {id(x) for x, good in zip(inertias, possible, strict=True) if not good}
    roots = _rigid_roots(bodies)
    accepted = any(isinstance(line, str) and line.endswith(ACCEPTED) for line in notes)
    for root in {roots[i] for i, b in enumerate(bodies) if id(b.inertia) in doubtful} - {-1}:
        members = [i for i, at in enumerate(roots) if at == root]
        if accepted and all(bodies[i].inertia.mass >= 0 for i in members):
            continue
        try:
            whole = _welded(bodies, members, root)
            if not whole.mass > 0:
                raise ModelError(f"inertia: the mass {whole.mass:g} must be positive")
            check_tensor(whole.tensor)
        except ModelError as error:
            raise ModelError(f"body {bodies[root].name!r}: {error}") from None


def _rigid_roots(bodies: Sequence[Body]) -> list[int]:
    """For every body the first of those that it is fixed to; -1 of those that are fixed to the world."""
    roots: list[int] = []
    for i, b in enumerate(bodies):
        fixed = isinstance(b.joint, Fixed)
        roots.append((-1 if b.parent < 0 else roots[b.parent]) if fixed else i)
    return roots


def _welded(bodies: Sequence[Body], members: Sequence[int], root: int) -> Inertia:
    """The inertia of bodies that are fixed to each other, in the frame of the first."""
    places = {root: SE3()}
    mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for i in members:
        b = bodies[i]
        if i != root:
            places[i] = places[b.parent] @ b.placement
        own = b.inertia.moved(np.asarray(places[i].R, float), np.asarray(places[i].p, float))
        mass, first, second = mass + own.mass, first + own.first_moment, second + own.about_origin
    if not mass > 0:
        return Inertia.unchecked(mass, np.zeros(3), second)
    com = first / mass
    tensor = second - mass * (com @ com * np.eye(3) - np.outer(com, com))
    return Inertia.unchecked(mass, com, tensor)
