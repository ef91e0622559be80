"""Forces of a model as MuJoCo has them: numbers of joints, actuators, tendons; all others are refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ...elements.law import ForceLaw
from ...forces import (
    Actuator,
    BodyDamping,
    Cable,
    Drag,
    JointDamping,
    JointSpring,
    PDController,
    PointForce,
    PointSpring,
    SpringDamper,
)
from ...forces.joint import offset
from ...forces.muscle_wrap import Wrap
from ...joints import Spherical
from ...model.model import WORLD, Body
from .draft import Draft, bounds, text
from .tree import has_stages, stage_name


def count_drives(draft: Draft, forces: Iterable[ForceLaw]) -> None:
    """How many drives act on each coordinate."""
    for force in forces:
        if isinstance(force, Actuator | PDController):
            body = draft.body(force.joint)
            for k in (force.coordinate,) if isinstance(force, Actuator) else range(body.joint.nv):
                draft.drives[body.name, k] += 1


def add_force(draft: Draft, force: ForceLaw, at: int) -> None:
    """A force, whose own inputs begin at a place of the inputs of all."""
    convert = CONVERTERS.get(type(force))
    if convert is None:
        draft.refusals.refuse("forces", repr(force))
    else:
        convert(draft, force, at)


def _joint_spring(draft: Draft, force: JointSpring, at: int) -> None:
    body = draft.body(force.joint)
    joint, own = body.joint, draft.joints[body.name]
    k, rest = np.broadcast_to(force.stiffness, joint.nv), np.asarray(force.rest, float)
    if isinstance(joint, Spherical):
        if np.any(k) and not np.allclose(np.abs(rest), joint.neutral(), rtol=0.0, atol=1e-15):
            draft.refusals.refuse("forces", f"{force!r} on a ball joint, whose rest is not the neutral position")
            return
        rest = np.zeros(joint.nv)
    elif np.any(k) and not _adds(body, rest):
        draft.refusals.refuse("forces", f"{force!r} on joint {body.joint_name!r}, {joint!r}")
        return
    own.stiffness += k
    own.pull += k * rest if len(rest) == len(k) else 0.0
    own.damping += force.damping


def _adds(body: Body, rest: np.ndarray) -> bool:
    """Whether the spring's offset is the difference of coordinates of hinges and slides."""
    q = rest + np.linspace(0.1, 0.2, len(rest))
    return has_stages(body.joint) and np.allclose(np.asarray(offset(body.joint, rest, q), float), q - rest, rtol=0.0, atol=1e-12)


def _joint_damping(draft: Draft, force: JointDamping, at: int) -> None:
    draft.joints[draft.body(force.joint).name].damping += force.damping


def _actuator(draft: Draft, force: Actuator, at: int) -> None:
    _drive(draft, force, force.coordinate, at, force.gain, force.bias, force.gear, force.control_range, force.force_range)


def _drive(
    draft: Draft, force: Any, k: int, at: int, gain: float, bias: Any, gear: float, control_range: Any, force_range: Any
) -> None:
    body = draft.body(force.joint)
    if not has_stages(body.joint) or any(x[0] == x[1] for x in (control_range, force_range)):
        draft.refusals.refuse("forces", repr(force))
        return
    draft.driven.add(body.name)
    draft.actuator(
        force.name or type(force).__name__.lower(),
        f"joint={quoteattr(stage_name(body, k))}",
        at,
        gear=[gear],
        gainprm=[gain],
        biasprm=bias,
        ctrlrange=bounds(*control_range),
        forcerange=bounds(*force_range),
    )


def _pd_controller(draft: Draft, force: PDController, at: int) -> None:
    body = draft.body(force.joint)
    nq, free = body.joint.nq, (-np.inf, np.inf)
    if not has_stages(body.joint):
        draft.refusals.refuse("forces", repr(force))
        return
    for k, (kp, kd, effort) in enumerate(zip(force.kp, force.kd, force.effort, strict=True)):
        alone = draft.drives[body.name, k] == 1
        own = (-effort, effort) if not (kd and alone) else free
        _drive(draft, force, k, at + k, kp, (0.0, -kp, -kd), 1.0, free, own)
        if kd and (alone or np.isinf(effort)):  # the wanted speed is a second control, and the joint limits both together
            _drive(draft, force, k, at + nq + k, kd, np.zeros(3), 1.0, free, free)
            draft.together[body.name, k] = float(effort)
        elif kd:
            draft.refusals.note(
                f"the target velocity of {force!r} is no control of MuJoCo, as another drive acts there; it stays 0"
            )


# --- between bodies ----------------------------------------------------------------------------------------------------------
def _tendon(draft: Draft, force: Any, points: Any, stiffness: float, damping: float, lengths: Any) -> None:
    sites = "".join(f"<site site={draft.site(_bodied(draft, body), x)}/>" for body, x in points)
    name = quoteattr(draft.new(force.name or type(force).__name__.lower()))
    numbers = f'stiffness="{float(stiffness)!r}" damping="{float(damping)!r}" springlength="{text(lengths)}"'
    draft.add("tendon", f"<spatial name={name} {numbers}>{sites}</spatial>")


def _bodied(draft: Draft, name: str) -> str:
    """The name of a body that was named by its joint."""
    return WORLD if name == WORLD else draft.body(name).name


def _ends(force: Any) -> list[tuple[str, Any]]:
    return list(zip(force.bodies, (force.point_a, force.point_b), strict=True))


def _point_spring(draft: Draft, force: PointSpring, at: int) -> None:
    _tendon(draft, force, _ends(force), force.stiffness, 0.0, [0.0])


def _spring_damper(draft: Draft, force: SpringDamper, at: int) -> None:
    L = float(force.rest_length)
    _tendon(draft, force, _ends(force), force.stiffness / L, force.damping / L, [L])


def _cable(draft: Draft, force: Cable, at: int) -> None:
    items, L = force.path.items, float(force.rest_length)  # pyright: ignore[reportArgumentType]  (fitted: a number)
    if any(isinstance(x, Wrap) for _, x in items) or force.damping:
        why = "goes around obstacles" if any(isinstance(x, Wrap) for _, x in items) else "is damped while it is taut only"
        draft.refusals.refuse("forces", f"{force!r}, which {why}")
        return
    _tendon(draft, force, [(force.bodies[i], x) for i, x in items], force.stiffness / L, 0.0, [0.0, L])


def _point_force(draft: Draft, force: PointForce, at: int) -> None:
    if force.law is not None:
        draft.refusals.refuse("forces", f"{force!r}, which is a function of time")
        return
    seen = f" refsite={draft.site(WORLD)}" if force.axes == "world" else ""
    site = draft.site(_bodied(draft, force.bodies[0]), force.point)
    gear = [*np.asarray(force.constant, float), 0.0, 0.0, 0.0]
    draft.actuator(force.name or "pointforce", f"site={site}{seen}", gear=gear, gainprm=[0.0], biasprm=(1.0, 0.0, 0.0))


def _body_damping(draft: Draft, force: BodyDamping, at: int) -> None:
    _damp(draft, force, np.asarray(force.coefficients, float))


def _drag(draft: Draft, force: Drag, at: int) -> None:
    if np.any(force.quadratic) or np.any(force.flow):
        draft.refusals.refuse("forces", f"{force!r}, which is not linear in the velocity of its body")
    else:
        _damp(draft, force, np.asarray(force.linear, float))


def _damp(draft: Draft, force: Any, coefficients: np.ndarray) -> None:
    """An actuator along and about each axis of a frame, whose force is against its velocity."""
    site = draft.site(_bodied(draft, force.bodies[0]), force.frame_p, force.frame_R)
    for k, d in enumerate(np.roll(coefficients, 3)):  # MuJoCo: along the axes, then about them
        if d:
            name = force.name or type(force).__name__.lower()
            draft.actuator(name, f"site={site}", gear=np.eye(6)[k], gainprm=[0.0], biasprm=(0.0, 0.0, -d))


CONVERTERS: dict[type, Callable[[Draft, Any, int], None]] = {
    JointSpring: _joint_spring,
    JointDamping: _joint_damping,
    Actuator: _actuator,
    PDController: _pd_controller,
    PointSpring: _point_spring,
    SpringDamper: _spring_damper,
    Cable: _cable,
    PointForce: _point_force,
    BodyDamping: _body_damping,
    Drag: _drag,
}
"""Classes of forces with their counterparts; subclasses, which may compute something else, have none."""

__all__ = ["CONVERTERS", "add_force", "count_drives"]
