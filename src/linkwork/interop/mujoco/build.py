"""The model as MJCF and as a `mujoco.MjModel`; see the package's text."""

from __future__ import annotations

import importlib
from collections.abc import Collection
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ...contact import Contact
from ...elements.collection import collection
from ...elements.law import ForceLaw, RowLaw
from ...errors import InputError, ModelError
from ...forces import LimitSpring
from ...joints import Free
from ...model.accepts import takes_model
from ...model.model import WORLD, Model
from ..refusals import Refusals
from .constraints import add_constraint, clear_declared
from .draft import Draft, text
from .forces import add_force, count_drives
from .shapes import Geoms
from .states import FreeJoint
from .tree import emission_order, world_lines

KINDS = ("joints", "forces", "constraints", "contacts", "shapes", "restitution")
ALLOWED = (*KINDS, "all")  # what `allow` may name
NOTE = "linkwork note "  # how names of texts begin that are notes
SECTIONS = ("asset", "tendon", "equality", "actuator", "contact", "keyframe", "custom")


class Mjcf(str):
    """The text of an MJCF file.

    notes   lines about what was left out as allowed, or means something else in MuJoCo
    """

    notes: tuple[str, ...] = ()


@takes_model
def mjcf(model: Model, timestep: float = 1e-3, allow: Collection[str] = ()) -> Mjcf:
    """The model as MJCF: bodies, joints, forces, constraints, shapes, frames, keyframes.

    allow   what may be left out with a note if MuJoCo has no counterpart: "joints" (numbers of free and ball joints), "forces",
            "constraints", "contacts", "shapes", "restitution", or "all"

    Raises a ModelError that names every element without counterpart that is not allowed to be left out.
    """
    draft, geoms = _drafted(model, allow)
    lines = world_lines(draft)
    _keyframes(draft)
    if names := list(dict.fromkeys(draft.unlimited)):
        shown = f"{', '.join(map(repr, names[:3]))}{', ...' * (len(names) > 3)}"
        draft.refusals.note(f"efforts of {len(names)} joints ({shown}) are left out: here they limit tau, not actuators")
    draft.refusals.settle()
    limited = any(np.isfinite([own.lower, own.upper]).any() or own.friction.any() for own in draft.joints.values())
    flags = "" if geoms.touch else ' contact="disable"'
    flags += "" if limited or geoms.touch or draft.sections.get("equality") else ' constraint="disable"'
    for k, note in enumerate(draft.refusals.notes):
        draft.add("custom", f'<text name="{NOTE}{k}" data={quoteattr(note)}/>')
    out = Mjcf(
        "\n".join(
            [
                '<mujoco><compiler angle="radian" autolimits="true"/>',
                f'<option integrator="Euler" cone="elliptic" timestep="{timestep!r}" gravity="{text(model.gravity)}">',
                f"<flag{flags}/></option>" if flags else "</option>",
                *_section(draft, "asset"),
                "<worldbody>",
                *lines,
                "</worldbody>",
                *(line for name in SECTIONS[1:] for line in _section(draft, name)),
                "</mujoco>",
            ]
        )
    )
    out.notes = tuple(draft.refusals.notes)
    return out


@takes_model
def build(model: Model, timestep: float = 1e-3, allow: Collection[str] = ()) -> Any:
    """The model as a `mujoco.MjModel`; see `mjcf`. `notes` reads what it keeps as texts."""
    mujoco: Any = importlib.import_module("mujoco")
    text_of_model = mjcf(model, timestep, allow)
    try:
        return mujoco.MjModel.from_xml_string(text_of_model)
    except ValueError as error:
        raise ModelError(f"build: MuJoCo's compiler refuses the model: {' '.join(str(error).split())}") from error


def notes(peer: Any) -> tuple[str, ...]:
    """What `build` left out as allowed, and what means something else in MuJoCo: the texts that a built model keeps."""
    mujoco: Any = importlib.import_module("mujoco")
    found = []
    for k, (at, size) in enumerate(zip(peer.text_adr, peer.text_size, strict=True)):
        if mujoco.mj_id2name(peer, mujoco.mjtObj.mjOBJ_TEXT, k).startswith(NOTE):
            found.append(bytes(peer.text_data[at : at + size]).rstrip(b"\0").decode())
    return tuple(found)


@takes_model
def controls(model: Model, u: Any = None) -> np.ndarray:
    """The `ctrl` of the built model (..., nu) for inputs of the model's forces (..., inputs), where they start by default."""
    first = collection(model).initial_inputs
    given = first if u is None else np.asarray(u, float)
    if given.shape[-1:] != first.shape:
        raise InputError(f"controls: the inputs of the forces have shape {given.shape}; expected (..., {len(first)})")
    draft, _ = _drafted(model, ("all",))
    return _controls(draft, given)


def _controls(draft: Draft, given: np.ndarray) -> np.ndarray:
    places = np.array(draft.controls, int).reshape(-1)
    out = np.zeros((*given.shape[:-1], len(places)))
    out[..., places >= 0] = given[..., places[places >= 0]]
    return out


def _drafted(model: Model, allow: Collection[str]) -> tuple[Draft, Geoms]:
    """Everything but the bodies themselves."""
    draft = Draft(model, Refusals("MuJoCo", "build", KINDS, allow))
    at = 0
    count_drives(draft, collection(model).forces)
    for force in collection(model).forces:
        if isinstance(force, LimitSpring):  # the declared limits are its own
            own = draft.joints[draft.body(force.joint).name]
            own.lower, own.upper = np.full_like(own.lower, -np.inf), np.full_like(own.upper, np.inf)
        add_force(draft, force, at)
        at += force.inputs
    rows = [law.fitted_to(model) for law in model.elements_of(RowLaw) if not isinstance(law, Contact)]
    clear_declared(draft, rows)
    for law in rows:
        add_constraint(draft, law)
    for element in model.elements:
        if not isinstance(element, ForceLaw | RowLaw):
            draft.refusals.refuse("forces", repr(element))
    geoms = Geoms(draft)
    for name, frame in model.frames.items():
        draft.used.discard(name)
        draft.site(WORLD if frame.body == WORLD else draft.body(frame.body).name, frame.placement.p, frame.placement.R, name)
    _differences(draft)
    return draft, geoms


def _differences(draft: Draft) -> None:
    """Notes about what means something else in MuJoCo."""
    note, own = draft.refusals.note, draft.joints.values()
    if any(np.isfinite([x.lower, x.upper]).any() for x in own):
        note("limits of joints are soft in MuJoCo (solreflimit, solimplimit): what is driven against them goes beyond")
    if any(x.friction.any() for x in own):
        note("dry friction of joints is soft in MuJoCo (solreffriction): what sticks here creeps there")
    if any(np.isfinite(b.properties.effort).any() for b in draft.model.bodies):
        note("efforts of joints limit actuators in MuJoCo, not qfrc_applied; here they limit tau")
    if any(np.isfinite(b.properties.speed).any() for b in draft.model.bodies):
        note("largest speeds of joints have no counterpart in MuJoCo")
    if np.any(_controls(draft, collection(draft.model).initial_inputs)):
        note("controls start at 0 in MuJoCo; lw.interop.mujoco.controls(model) are those that the forces start with")


def _keyframes(draft: Draft) -> None:
    """States by name, with the controls that the forces start with."""
    model, free = draft.model, FreeJoint()
    first = _controls(draft, collection(model).initial_inputs)
    order = [model.bodies[i] for i in emission_order(model)]
    for name, state in model.keyframes.items():
        q = np.concatenate([state.q[model.q_index(b.name)] for b in order])
        parts = [(b, state.q[model.q_index(b.name)], state.v[model.v_index(b.name)]) for b in order]
        v = np.concatenate([free.to_v(at, rate) if isinstance(b.joint, Free) else rate for b, at, rate in parts])
        numbers = {"time": [state.t], "qpos": q, "qvel": v} | ({"ctrl": first} if len(first) else {})
        words = " ".join(f'{what}="{text(x)}"' for what, x in numbers.items())
        draft.add("keyframe", f"<key name={quoteattr(name)} {words}/>")


def _section(draft: Draft, name: str) -> list[str]:
    lines = draft.sections.get(name)
    return [f"<{name}>", *lines, f"</{name}>"] if lines else []
