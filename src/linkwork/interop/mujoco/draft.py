"""An MJCF document in the making: lines for every section, and what the joints of each body have."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ...model.model import WORLD, Body, Model
from ...spatial.quaternion import from_rotation
from ...spatial.se3 import SE3
from ..refusals import Refusals

UNBOUNDED = 1e10  # what MuJoCo's own largest number is: a bound there is none


@dataclass
class JointNumbers:
    """What the joint of one body has in MuJoCo, an entry per velocity: sums over the laws that act on it.

    spring   k, and k times the rest position, so that springs in parallel add
    """

    stiffness: np.ndarray
    pull: np.ndarray
    damping: np.ndarray
    armature: np.ndarray
    friction: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @staticmethod
    def of(body: Body) -> JointNumbers:
        """Of what the body declares."""
        own, none, far = body.properties, np.zeros(body.joint.nv), np.full(body.joint.nv, np.inf)
        limited = len(own.lower) == len(none)
        lower, upper = (own.lower, own.upper) if limited else (-far, far)
        return JointNumbers(none.copy(), none.copy(), own.damping.copy(), own.armature, own.friction.copy(), lower, upper)


@dataclass
class Draft:
    """A document for one model.

    sections   lines by the name of their section: asset, tendon, equality, actuator, contact, keyframe, custom
    on_body    lines inside of bodies, and of the world
    joints     numbers of joints, by body
    controls   of every actuator the input of the model's forces that is its control, or -1
    driven     bodies whose joints have actuators
    used       names of sites, geoms, tendons, actuators and of all that the model names
    unlimited  joints whose efforts are left out
    copies     how often a name was taken already
    drives     how many laws drive a coordinate of a body's joint
    together   the largest force of all actuators of a coordinate
    """

    model: Model
    refusals: Refusals
    sections: dict[str, list[str]] = field(default_factory=dict)
    on_body: dict[str, list[str]] = field(default_factory=dict)
    joints: dict[str, JointNumbers] = field(default_factory=dict)
    controls: list[int] = field(default_factory=list)
    driven: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    unlimited: list[str] = field(default_factory=list)
    drives: Counter[tuple[str, int]] = field(default_factory=Counter)
    copies: Counter[str] = field(default_factory=Counter)
    together: dict[tuple[str, int], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.joints = {body.name: JointNumbers.of(body) for body in self.model.bodies}
        self.used = {WORLD, *self.model.names, *self.model.frames}

    def add(self, section: str, line: str) -> None:
        """A line of a section."""
        self.sections.setdefault(section, []).append(line)

    def new(self, name: str) -> str:
        """A name that nothing has yet, the given one if it can be."""
        found = name
        while found in self.used:
            self.copies[name] += 1
            found = f"{name}_{self.copies[name]}"
        self.used.add(found)
        return found

    def body(self, name: str) -> Body:
        """A body by its name or its joint's."""
        return self.model.bodies[self.model.body_index(name)]

    def site(self, body: str, point: Any = (0.0, 0.0, 0.0), R: Any = None, name: str = "") -> str:
        """A new site on a body or the world, quoted."""
        given = quoteattr(self.new(name or "site"))
        turn = "" if R is None else f' quat="{text(from_rotation(np.asarray(R, float)))}"'
        self.on_body.setdefault(body, []).append(f'<site name={given} pos="{text(point)}"{turn} group="5"/>')
        return given

    def actuator(self, owner: str, target: str, control: int = -1, **numbers: Any) -> None:
        """A drive whose force is gainprm u + biasprm . (1, length, velocity)."""
        given = {name: x for name, x in numbers.items() if x is not None}
        words = "".join(f' {name}="{text(x)}"' for name, x in given.items())
        name = quoteattr(self.new(owner))
        self.add("actuator", f'<general name={name} {target} gaintype="fixed" biastype="affine"{words}/>')
        self.controls.append(control)


def text(values: Any) -> str:
    """Numbers as MJCF has them, to the last bit; infinite ones as the largest that MuJoCo takes."""
    x = np.asarray(values, float).reshape(-1)
    return " ".join(map(repr, np.where(np.isinf(x), np.copysign(UNBOUNDED, x), x).tolist()))


def placed_at(pose: SE3) -> str:
    """The attributes of a pose."""
    return f'pos="{text(pose.p)}" quat="{text(from_rotation(np.asarray(pose.R, float)))}"'


def bounds(lower: Any, upper: Any) -> Any:
    """A range, None if it has no bound."""
    return None if np.isinf(lower) and np.isinf(upper) else (lower, upper)
