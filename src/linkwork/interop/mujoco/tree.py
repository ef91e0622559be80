"""Bodies and joints of a model as MJCF."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ...errors import ModelError
from ...joints import (
    Composite,
    Cylindrical,
    Fixed,
    Free,
    Free2D,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    SphericalEuler,
    Translational,
    Universal,
)
from ...model.model import WORLD, Body, Model
from ...spatial.quaternion import from_rotation
from .draft import Draft, JointNumbers, bounds, placed_at, text


def emission_order(model: Model) -> list[int]:
    """Indices of the bodies in the order in which MuJoCo has them: depth first."""
    order = []
    stack = list(reversed(_children(model).get(-1, [])))
    while stack:
        i = stack.pop()
        order.append(i)
        stack += reversed(_children(model).get(i, []))
    return order


def _children(model: Model) -> dict[int, list[int]]:
    def found() -> dict[int, list[int]]:
        children: dict[int, list[int]] = {}
        for i, body in enumerate(model.bodies):
            children.setdefault(body.parent, []).append(i)
        return children

    return model.keep_as("children in MJCF", found)


def world_lines(draft: Draft) -> list[str]:
    """The content of <worldbody>."""
    children, lines = _children(draft.model), list(draft.on_body.get(WORLD, ()))
    stack: list[int | None] = list(reversed(children.get(-1, [])))
    while stack:
        i = stack.pop()
        if i is None:
            lines.append("</body>")
            continue
        body = draft.model.bodies[i]
        lines += [*_body_lines(body, draft), *draft.on_body.get(body.name, ())]
        stack += [None, *reversed(children.get(i, []))]
    return lines


def _body_lines(body: Body, draft: Draft) -> list[str]:
    """A body's opening tag, inertia and joints."""
    moments, axes = np.linalg.eigh(body.inertia.tensor)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    return [
        f"<body name={quoteattr(body.name)} {placed_at(body.placement)}>",
        f'<inertial mass="{float(body.inertia.mass)!r}" pos="{text(body.inertia.com)}"',
        f' quat="{text(from_rotation(axes))}" diaginertia="{text(moments)}"/>',
        *_joint_lines(body, draft),
    ]


def _joint_lines(body: Body, draft: Draft) -> list[str]:
    joint, own = body.joint, draft.joints[body.name]
    if isinstance(joint, Fixed):
        return []
    if isinstance(joint, Free):
        if body.parent >= 0 or not np.array_equal(np.asarray(body.placement.matrix, float), np.eye(4)):
            raise ModelError(f"a free joint of MuJoCo leads to the world, at its origin; {body.joint_name!r} does not")
        return [f'<joint name={quoteattr(body.joint_name)} type="free"{_alike(body, own, draft, free=True)}/>']
    if isinstance(joint, Spherical):
        return [f'<joint name={quoteattr(body.joint_name)} type="ball"{_alike(body, own, draft, free=False)}/>']
    lines = []
    parts = stages(body.joint_name, joint)
    for k, (kind, axis) in enumerate(parts):
        effort = float(body.properties.effort[k])
        if np.isfinite(effort) and body.name in draft.driven:
            draft.refusals.note(f"the effort of joint {body.joint_name!r} is left out: here it does not limit its actuators")
            effort = np.inf
        numbers = f'armature="{float(own.armature[k])!r}" damping="{float(own.damping[k])!r}"{_spring(own, k)}{_rubs(own, k)}'
        numbers += f"{_range(body, own, k, draft)}{_effort(effort)}"
        lines.append(f'<joint name={quoteattr(stage_name(body, k))} type="{kind}" axis="{text(axis)}" {numbers}/>')
    return lines


def _spring(own: JointNumbers, k: int) -> str:
    stiffness = float(own.stiffness[k])
    return f' stiffness="{stiffness!r}" springref="{float(own.pull[k]) / stiffness!r}"' if stiffness else ""


def _rubs(own: JointNumbers, k: int) -> str:
    return f' frictionloss="{float(own.friction[k])!r}"' if own.friction[k] else ""


def _effort(effort: float) -> str:
    return f' actuatorfrcrange="{text([-effort, effort])}"' if np.isfinite(effort) and effort > 0.0 else ""


def _range(body: Body, own: JointNumbers, k: int, draft: Draft) -> str:
    limits = bounds(own.lower[k], own.upper[k])
    if limits is None:
        return ""
    if not limits[0] < limits[1]:
        draft.refusals.refuse(
            "joints", f"limits {limits[0]:g} to {limits[1]:g} of joint {body.joint_name!r}, which hold it still"
        )
        return ""
    return f' range="{text(limits)}"'


def _alike(body: Body, own: JointNumbers, draft: Draft, free: bool) -> str:
    """Attributes of a joint that has one number for all directions; accelerations of a free joint are in other axes there."""
    found, name = "", body.joint_name
    given = {"stiffness": own.stiffness, "damping": own.damping, "armature": own.armature, "frictionloss": own.friction}
    for what, x in given.items():
        if not np.any(x):
            continue
        if np.ptp(x) or (free and what != "damping"):
            why = f"which is {x.tolist()}" if np.ptp(x) else "whose axes are others there"
            draft.refusals.refuse("joints", f"{what} of joint {name!r}, {why}")
        else:
            found += f' {what}="{float(x[0])!r}"'
    if np.isfinite(body.properties.effort).any():
        draft.refusals.note(f"the effort of joint {name!r} is not limited in MuJoCo")
    return found


def stage_name(body: Body, k: int) -> str:
    """The name of the joint in MuJoCo that is one coordinate of a body's joint."""
    return body.joint_name if len(stages(body.joint_name, body.joint)) == 1 else f"{body.joint_name}.{k}"


def stages(name: str, joint: Joint) -> list[tuple[str, np.ndarray]]:
    """Hinges and slides, one for each freedom, that move as the joint."""
    x, y, z = np.eye(3)
    if isinstance(joint, Composite) and joint.between is None:
        return [*stages(name, joint.first), *stages(name, joint.second)]
    if isinstance(joint, SphericalEuler) and len(joint.sequences) == 1:
        return [("hinge", np.eye(3)["xyz".index(axis)]) for axis in joint.sequences[0]]
    if isinstance(joint, Revolute):
        return [("hinge", joint.axis)]
    if isinstance(joint, Prismatic):
        return [("slide", joint.axis)]
    if isinstance(joint, Cylindrical):
        return [("hinge", joint.axis), ("slide", joint.axis)]
    known: dict[type, list[tuple[str, Any]]] = {
        Planar: [("slide", x), ("slide", y)],
        Free2D: [("slide", x), ("slide", y), ("hinge", z)],
        Translational: [("slide", x), ("slide", y), ("slide", z)],
        Universal: [("hinge", x), ("hinge", y)],
    }
    if type(joint) not in known:
        raise ModelError(f"MuJoCo has no joint that moves as {name!r}, {joint!r}")
    return known[type(joint)]


def has_stages(joint: Joint) -> bool:
    """Whether a joint is written as hinges and slides."""
    try:
        return bool(stages("", joint))
    except ModelError:
        return False
