"""A model in words: its tree, and what one joint, body, frame or law of it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ..errors import InputError
from ..joints import Composite, Joint
from ..spatial.se3 import SE3
from .model import WORLD, Body, Model

LINES = 24  # of a tree that is printed in short
LAST = 3  # of these, the last bodies
DEEPEST = 8  # steps by which bodies are set in
NAMES = 4  # of laws of one kind


def summary(model: Model) -> str:
    """The size of a model in a line."""
    mass = sum(b.inertia.mass for b in model.bodies)
    dofs = f"{model.nv} degree{'s' * (model.nv != 1)} of freedom"
    extra = "" if model.nq == model.nv else f" ({model.nq} coordinates)"
    return f"Model of {model.nb} {'body' if model.nb == 1 else 'bodies'}, {dofs}{extra}, {number(mass)} kg"


def tree(model: Model, most: int | None = LINES) -> str:
    """The bodies below each other with their joints, places in q and v, and masses; then laws and what touches.

    most   lines of bodies; None for all
    """
    rows = [("world",)] + [_row(model, i) for i in range(model.nb)]
    if most is not None and len(rows) > most:
        hidden = len(rows) - most + 1
        rows = [*rows[: most - LAST - 1], (f"... {hidden} more bodies",), *rows[-LAST:]]
    return "\n".join([summary(model), *_columns(rows), *_further(model)])


def describe(model: Model, name: str) -> str:
    """What a joint, body, frame or law is, where its numbers lie, and what acts on it."""
    if name in model.names:
        return _body(model, model.bodies[model.body_index(name)])
    if name in model.frames:
        frame = model.frames[name]
        return f"frame {name!r}\n  on      {_owner(frame.body)}, {placed(frame.placement)}"
    laws = [law for law in model.elements if getattr(law, "name", "") == name]
    if laws:
        return "\n".join(map(_law, laws))
    known = [*model.names, *model.frames, *(law.name for law in model.elements if getattr(law, "name", ""))]
    raise InputError(
        f"the model has no joint, body, frame or law {name!r}; it has {', '.join(known[:8])}{' ...' * (len(known) > 8)}"
    )


# --- words ----------------------------------------------------------------------------------------------------------------
def number(x: Any) -> str:
    """A number, to four digits."""
    return f"{float(x) + 0.0:.4g}"


def numbers(x: Iterable[Any]) -> str:
    """Numbers in brackets; one stands alone."""
    parts = [number(k) for k in np.asarray(x, float).reshape(-1)]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def direction(axis: Any) -> str:
    """x, -y or (0.6, 0, 0.8)."""
    axis = np.asarray(axis, float)
    k = int(np.argmax(np.abs(axis)))
    if abs(axis[k]) == 1.0 and np.count_nonzero(axis) == 1:
        return f"{'-' * bool(axis[k] < 0)}{'xyz'[k]}"
    return numbers(axis)


def joint_words(joint: Joint) -> str:
    """The kind of a joint with its axis."""
    if isinstance(joint, Composite):
        parts = [joint_words(part) for part in (joint.first, joint.second) if part.nv]
        return " + ".join(parts)
    axis = getattr(joint, "axis", None)
    if axis is not None and np.shape(axis) == (3,):
        rest = [f"{name} {numbers(getattr(joint, name))}" for name in joint.parameter_names if name != "axis"]
        return " ".join([type(joint).__name__, direction(axis), *rest])
    text = repr(joint).removesuffix("()")
    return text if len(text) <= 40 else text[:37] + "..."


def placed(pose: SE3) -> str:
    """Where a frame is, and how it is turned."""
    R, p = np.asarray(pose.R, float), np.asarray(pose.p, float)
    text = f"at {numbers(p)} m"
    angle = float(np.arccos(np.clip(0.5 * (np.trace(R) - 1.0), -1.0, 1.0)))
    if angle < 1e-9:
        return text
    _, _, V = np.linalg.svd(R - np.eye(3))
    axis, skew = V[-1], np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    axis = -axis if axis @ skew < 0 else axis
    return f"{text}, turned by {number(np.degrees(angle))} degrees about {direction(np.round(axis, 9))}"


def _owner(name: str) -> str:
    return "the world" if name == WORLD else f"body {name!r}"


def _places(part: slice, letter: str) -> str:
    if part.stop == part.start:
        return ""
    return f"{letter}[{part.start}]" if part.stop - part.start == 1 else f"{letter}[{part.start}:{part.stop}]"


# --- the tree -------------------------------------------------------------------------------------------------------------
def _row(model: Model, i: int) -> tuple[str, ...]:
    body, depth, up = model.bodies[i], 1, model.bodies[i].parent
    while up >= 0:
        depth, up = depth + 1, model.bodies[up].parent
    name = "  " * min(depth, DEEPEST) + body.name + (f" ({body.joint_name})" if body.joint_name != body.name else "")
    q, v = _places(model.q_index(body.name), "q"), _places(model.v_index(body.name), "v")
    return name, joint_words(body.joint), q, v, f"{number(body.inertia.mass)} kg", _features(body)


def _features(body: Body) -> str:
    p = body.properties
    found = [f"limits {_range(p.lower, p.upper)}"] if np.isfinite([*p.lower, *p.upper]).any() else []
    found += [f"{what} {numbers(x)}" for what in ("armature", "damping", "friction") if (x := getattr(p, what)).any()]
    kinds = [type(s).__name__ for s in body.shapes]
    found += [", ".join(dict.fromkeys(kinds)) if len(kinds) < 4 else f"{len(kinds)} shapes"] if kinds else []
    return ", ".join(found)


def _range(lower: np.ndarray, upper: np.ndarray) -> str:
    pairs = [f"{number(a)} to {number(b)}" for a, b in zip(lower, upper, strict=True)]
    return pairs[0] if len(set(pairs)) == 1 else "; ".join(pairs)


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*(r for r in rows if len(r) > 1), strict=True)] or [0]
    return ["  " + "  ".join(f"{cell:{w}}" for cell, w in zip(row, widths, strict=False)).rstrip() for row in rows]


def _further(model: Model) -> list[str]:
    kinds: dict[str, list[str]] = {}
    for law in model.elements:
        kinds.setdefault(type(law).__name__, []).append(_short(law))
    found = [f"laws: {'; '.join(f'{len(who)} {kind} ({_some(who)})' for kind, who in kinds.items())}"] if kinds else []
    if model.world_shapes:
        found.append(f"in the world: {_some([type(s).__name__ for s in model.world_shapes])}")
    if model.frames:
        found.append(f"frames: {_some(list(model.frames))}")
    if model.keyframes:
        found.append(f"keyframes: {_some(list(model.keyframes))}")
    found.append(f"gravity {numbers(model.gravity)}")
    if model.notes:
        found.append(f"{len(model.notes)} notes of its reader in model.notes")
    return found


def _short(law: Any) -> str:
    return getattr(law, "name", "") or "-".join(port.name for port in law.ports) or repr(law)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMES]) + (f", ... {len(names) - NAMES} more" if len(names) > NAMES else "")


# --- one part -------------------------------------------------------------------------------------------------------------
def _body(model: Model, body: Body) -> str:
    p, I = body.properties, body.inertia
    parent = WORLD if body.parent < 0 else model.bodies[body.parent].name
    places = [_places(model.q_index(body.name), "q"), _places(model.v_index(body.name), "v")]
    lines = [
        ("joint", f"{joint_words(body.joint)} {body.joint_name!r}, {', '.join(filter(None, places)) or 'no coordinates'}"),
        ("on", f"{_owner(parent)}, {placed(body.placement)}"),
        ("mass", f"{number(I.mass)} kg, centre {numbers(I.com)} m, moments {numbers(np.linalg.eigvalsh(I.tensor))} kg m^2"),
    ]
    if np.isfinite([*p.lower, *p.upper]).any():
        lines.append(("limits", _range(p.lower, p.upper)))
    plain: dict[str, Callable[[Any], bool]] = {"effort": np.isinf, "speed": np.isinf}
    for f in fields(p)[2:]:
        x = getattr(p, f.name)
        if x.size and not np.all(plain.get(f.name, lambda a: a == 0)(x)):
            lines.append((f.name, numbers(x)))
    lines += [("shape", repr(s)) for s in body.shapes]
    lines += [("frame", f"{n}, {placed(f.placement)}") for n, f in model.frames.items() if f.body == body.name]
    lines += [("carries", b.name) for b in model.bodies if b.parent == model.body_index(body.name)]
    own = (body.name, body.joint_name)
    lines += [("law", repr(law)) for law in model.elements if any(port.name in own for port in law.ports)]
    return "\n".join([f"body {body.name!r}", *(f"  {what:10}{text}" for what, text in lines)])


def _law(law: Any) -> str:
    lines = [f"  {what:20}{_value(x)}" for what, x in law.numbers().items()]
    return "\n".join([repr(law), *lines])


def _value(x: Any) -> str:
    try:
        a = np.asarray(x, float)
    except (TypeError, ValueError):
        text = repr(x)
        return text if len(text) <= 80 else text[:77] + "..."
    return numbers(a) if a.size <= 12 else f"{a.shape} numbers"
