"""Bodies and joints of a model as MJCF."""

from __future__ import annotations

from typing import Any, NamedTuple
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
from ...spatial.se3 import SE3
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
        f"<body name={quoteattr(body.name)} {placed_at(_zero_pose(body))}>",
        f'<inertial mass="{float(body.inertia.mass)!r}" pos="{text(body.inertia.com)}"',
        f' quat="{text(from_rotation(axes))}" diaginertia="{text(moments)}"/>',
        *_joint_lines(body, draft),
    ]


def _zero_pose(body: Body) -> SE3:
    """The pose of a body in its parent where its coordinates are zero."""
    if not isinstance(body.joint, Composite):
        return body.placement
    return body.placement @ _stages(body.joint_name, body.joint)[1]


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
    for k, (kind, axis, anchor) in enumerate(parts):
        effort = float(body.properties.effort[k])
        if np.isfinite(effort) and body.name in draft.driven:
            draft.unlimited.append(body.joint_name)
            effort = np.inf
        effort = min(effort, draft.together.get((body.name, k), np.inf))
        numbers = f'armature="{float(own.armature[k])!r}" damping="{float(own.damping[k])!r}"{_spring(own, k)}{_rubs(own, k)}'
        place = f' pos="{text(anchor)}"' if anchor.any() else ""
        numbers += f"{_range(body, own, k, draft)}{_effort(effort)}"
        lines.append(f'<joint name={quoteattr(stage_name(body, k))} type="{kind}" axis="{text(axis)}"{place} {numbers}/>')
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
        draft.unlimited.append(name)
    return found


def stage_name(body: Body, k: int) -> str:
    """The name of the joint in MuJoCo that is one coordinate of a body's joint."""
    return body.joint_name if len(stages(body.joint_name, body.joint)) == 1 else f"{body.joint_name}.{k}"


class Stage(NamedTuple):
    """A hinge or slide: its axis and anchor in the outboard axes of the whole joint, where all coordinates are zero."""

    kind: str
    axis: np.ndarray
    anchor: np.ndarray


def stages(name: str, joint: Joint) -> list[Stage]:
    """Hinges and slides, one for each freedom, that move as the joint."""
    return _stages(name, joint)[0]


def _stages(name: str, joint: Joint) -> tuple[list[Stage], SE3]:
    """The stages, and the joint's pose where all coordinates are zero."""
    x, y, z = np.eye(3)
    if isinstance(joint, Composite):
        (first, before), (second, after) = _stages(name, joint.first), _stages(name, joint.second)
        rest = after if joint.between is None else joint.between @ after
        back = rest.inverse()
        moved = [Stage(s.kind, np.asarray(back.rotate(s.axis), float), np.asarray(back @ s.anchor, float)) for s in first]
        return [*moved, *second], before @ rest
    known: dict[type, list[tuple[str, Any]]] = {
        Planar: [("slide", x), ("slide", y)],
        Free2D: [("slide", x), ("slide", y), ("hinge", z)],
        Translational: [("slide", x), ("slide", y), ("slide", z)],
        Universal: [("hinge", x), ("hinge", y)],
    }
    if isinstance(joint, SphericalEuler) and len(joint.sequences) == 1:
        found = [("hinge", np.eye(3)["xyz".index(axis)]) for axis in joint.sequences[0]]
    elif isinstance(joint, Revolute):
        found = [("hinge", joint.axis)]
    elif isinstance(joint, Prismatic):
        found = [("slide", joint.axis)]
    elif isinstance(joint, Cylindrical):
        found = [("hinge", joint.axis), ("slide", joint.axis)]
    elif type(joint) in known:
        found = known[type(joint)]
    else:
        raise ModelError(f"MuJoCo has no joint that moves as {name!r}, {joint!r}")
    return [Stage(kind, np.asarray(axis, float), np.zeros(3)) for kind, axis in found], SE3()


def has_stages(joint: Joint) -> bool:
    """Whether a joint is written as hinges and slides."""
    try:
        return bool(stages("", joint))
    except ModelError:
        return False
