"""ModelBuilder: bodies and joints by name, in any order; checked before anything is built."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from ..errors import ModelError
from ..geometry.mesh_file import NOT_DRAWN, MeshFile
from ..geometry.shapes import Attributes, Plane, Shape
from ..joints import Joint
from ..spatial.gate import is_writable, meant, shown, word
from ..spatial.inertia import Inertia
from ..spatial.se3 import SE3, rigid_parts
from .model import WORLD, Body, Frame, Model, gravity_vector
from .properties import JointProperties, plain_properties
from .state import State

IDENTITY = SE3()
PROPERTIES = {"limits", "armature", "damping", "friction", "effort", "speed"}


@dataclass
class _Entry:
    name: str
    parent: str
    joint: Joint
    joint_name: str
    placement: SE3
    inertia: Inertia
    properties: JointProperties
    shapes: tuple[Shape, ...]
    visuals: tuple[Shape, ...]


class ModelBuilder:
    """Collects bodies, frames, forces and constraints; `build()` makes the frozen model.

    gravity   acceleration in world axes (3,), m/s^2

    >>> b = lw.ModelBuilder()
    >>> rod = lw.Inertia.cuboid(mass=1.0, size=(1, 0.1, 0.1), com=(0.5, 0, 0))
    >>> _ = b.body("rod", joint=lw.Revolute((0, 1, 0)), inertia=rod)
    >>> b.build()
    Model(1 bodies, nq=1, nv=1)
    """

    def __init__(self, gravity: Any = (0.0, 0.0, -9.81)) -> None:
        self.gravity = gravity_vector(gravity)
        self._entries: dict[str, _Entry] = {}
        self._elements: list[Any] = []
        self._frames: dict[str, Frame] = {}
        self._names: set[str] = set()
        self._last_placement = IDENTITY  # chains of equal links check it once
        self._notes: list[str] = []
        self._world: list[Shape] = []
        self._scenery: list[Shape] = []
        self._excluded: set[frozenset[str]] = set()
        self._keyframes: dict[str, State] = {}

    def body(
        self,
        name: str,
        *,
        parent: str = WORLD,
        joint: Joint,
        inertia: Inertia | None = None,
        placement: SE3 | None = None,
        joint_name: str | None = None,
        shapes: Iterable[Shape] = (),
        visuals: Iterable[Shape] = (),
        **properties: Any,
    ) -> ModelBuilder:
        """Add a body and the joint that carries it.

        parent      name of the parent body, or "world"
        inertia     if it is not given, that of the shapes, each with its density or mass (those without add nothing)
        placement   pose of the joint's inboard frame in the parent's frame; the body's frame is the outboard one
        joint_name  the joint's own name; it is named after the body otherwise
        shapes      what it touches others with, in the body's frame
        visuals     what it looks like, in the body's frame; without any, it looks like its shapes
        properties  limits=(lower, upper), armature, damping, friction, effort, speed; see `JointProperties`
        """
        if not isinstance(name, str) or not name or name == WORLD or not is_writable(name):
            raise ModelError(f"a body needs a name other than {WORLD!r}, not {shown(name)}")
        word(f"body {name!r}", "its parent", parent)
        solids = solids_of(f"body {name!r}", shapes)
        if inertia is None:
            inertia = _inertia_of(name, solids)
        for what, value, kind in (("joint", joint, Joint), ("inertia", inertia, Inertia), ("placement", placement, SE3)):
            if not isinstance(value, kind) and not (what == "placement" and value is None):
                raise ModelError(f"body {name!r}: {what} must be a {kind.__name__}, not {type(value).__name__}")
        placement = placement or IDENTITY
        if placement is not self._last_placement:
            rigid_parts(f"body {name!r}", "its placement", placement)
            self._last_placement = placement
        if joint_name is not None and (
            not isinstance(joint_name, str) or not joint_name or joint_name == WORLD or not is_writable(joint_name)
        ):
            raise ModelError(f"body {name!r}: its joint needs a name other than {WORLD!r}, not {shown(joint_name)}")
        for new in (name, joint_name or name):
            if new in self._names:
                raise ModelError(f"the name {new!r} is used twice")
        unknown = sorted(set(properties) - PROPERTIES)
        if unknown:
            raise ModelError(
                f"body {name!r}: there is no property {unknown[0]!r}; there are {', '.join(sorted(PROPERTIES))}"
                f"{meant(unknown[0], PROPERTIES)}"
            )
        plain = plain_properties(joint.nq, joint.nv)
        held = JointProperties.of(joint, joint_name or name, **properties) if properties else plain
        self._names |= {name, joint_name or name}
        looks = _shapes(f"body {name!r}", "visuals", visuals)
        self._entries[name] = _Entry(name, parent, joint, joint_name or name, placement, inertia, held, solids, looks)
        return self

    def frame(self, name: str, *, body: str, placement: SE3 | None = None) -> ModelBuilder:
        """Attach a named frame to a body or the world, at a pose in its frame."""
        if not isinstance(name, str) or not name or name == WORLD or name in self._names or not is_writable(name):
            raise ModelError(f"a frame needs a name of its own, not {shown(name)}")
        if placement is not None and not isinstance(placement, SE3):
            raise ModelError(f"frame {name!r}: placement must be a SE3, not {type(placement).__name__}")
        placement = placement or IDENTITY
        rigid_parts(f"frame {name!r}", "its placement", placement)
        self._names.add(name)
        self._frames[name] = Frame(word(f"frame {name!r}", "its body", body), placement)
        return self

    def ground(self, **attributes: Unpack[Attributes]) -> ModelBuilder:
        """The plane z = 0 of the world, to stand on; see `Shape` for friction and the like."""
        attributes.setdefault("name", "ground")
        return self.world(Plane(**attributes))

    def world(self, *shapes: Shape) -> ModelBuilder:
        """Shapes that stand still, in world axes."""
        self._world += solids_of("world", shapes)
        return self

    def scenery(self, *shapes: Shape) -> ModelBuilder:
        """Shapes of the world that are looked at only, in world axes."""
        self._scenery += _shapes("world", "scenery", shapes)
        return self

    def exclude(self, body_a: str, body_b: str) -> ModelBuilder:
        """The shapes of two bodies, or of a body and the world, pass through each other. Neighbours in the tree do so anyway."""
        self._excluded.add(frozenset(word("exclude", "a body", body) for body in (body_a, body_b)))
        return self

    def add(self, *elements: Any) -> ModelBuilder:
        """Add forces, constraints or contacts; shapes of the world, as `world` does; or what brings bodies of its own, as
        `MassSprings` does by its `add_to`."""
        for element in elements:
            if isinstance(element, Shape):
                self.world(element)
            elif callable(getattr(element, "add_to", None)):
                element.add_to(self)
            elif isinstance(element, type) or not callable(getattr(element, "check", None)):
                raise ModelError(f"cannot add {shown(element)}: it is no force, constraint, contact or shape of the world")
            else:
                self._elements.append(element)
        return self

    def keyframe(self, name: str, state: State) -> ModelBuilder:
        """Keep a state under a name, to start from."""
        if not isinstance(state, State) or state.q.ndim != 1:
            raise ModelError(f"keyframe {name!r}: it must be a State of one configuration, not {shown(state)}")
        self._keyframes[name] = state
        return self

    def note(self, text: str) -> ModelBuilder:
        """Keep a line for the reader of the model: something changed, ignored or assumed."""
        self._notes.append(text)
        return self

    def check(self) -> list[str]:
        """The names of the bodies in topological order, depth first, children in the order they were added. Raise where something
        names a body that does not exist, or a keyframe does not fit."""
        if not self._entries:
            raise ModelError("the model has no bodies; add one with body(...)")
        children: dict[str, list[str]] = {}
        for e in self._entries.values():
            if e.parent != WORLD and e.parent not in self._entries:
                raise ModelError(f"body {e.name!r}: its parent {e.parent!r} does not exist{meant(e.parent, self._entries)}")
            children.setdefault(e.parent, []).append(e.name)
        order: list[str] = []
        stack = list(reversed(children.get(WORLD, [])))
        while stack:
            name = stack.pop()
            order.append(name)
            stack.extend(reversed(children.get(name, [])))
        if len(order) < len(self._entries):
            lost = sorted(set(self._entries) - set(order))
            raise ModelError(f"bodies {lost} hang on each other in a cycle; close loops with a constraint instead")
        for name, state in self._keyframes.items():
            self._check_keyframe(name, state)
        for name, frame in self._frames.items():
            if frame.body != WORLD and frame.body not in self._entries:
                raise ModelError(f"frame {name!r}: its body {frame.body!r} does not exist{meant(frame.body, self._entries)}")
        for name in sorted(set().union(*self._excluded) - {WORLD} - set(self._entries)):
            raise ModelError(f"exclude: there is no body {name!r}{meant(name, self._entries)}")
        return order

    def build(self) -> Model:
        """The frozen model: bodies in topological order, depth first, children in the order they were added."""
        order = self.check()
        index = {name: i for i, name in enumerate(order)}
        index[WORLD] = -1
        bodies = [
            Body(e.name, index[e.parent], e.joint, e.joint_name, e.placement, e.inertia, e.properties, e.shapes, e.visuals)
            for e in (self._entries[name] for name in order)
        ]
        locked = [b.joint_name for b in bodies if getattr(b.joint, "locks_at_neutral", False)]
        seen = [*self._world, *self._scenery, *(shape for b in bodies for shape in (*b.shapes, *b.visuals))]
        lines = [f"{NOT_DRAWN}{x}" for shape in seen if isinstance(shape, MeshFile) for x in shape.missing_at_a_glance]
        lines += [f"joint {x!r}: its motion subspace loses rank at the neutral position; start elsewhere" for x in locked]
        return Model(
            tuple(bodies),
            self.gravity.copy(),
            tuple(self._elements),
            dict(self._frames),
            tuple(dict.fromkeys((*self._notes, *lines))),
            tuple(self._world),
            frozenset(self._excluded),
            dict(self._keyframes),
            tuple(self._scenery),
        )

    def _check_keyframe(self, name: str, state: State) -> None:
        """Raise unless it is a state of these bodies."""
        joints = [e.joint for e in self._entries.values()]
        for what, a, size in (("q", state.q, sum(j.nq for j in joints)), ("v", state.v, sum(j.nv for j in joints))):
            if a.shape != (size,):
                raise ModelError(f"keyframe {name!r}: its {what} has shape {a.shape}; this model needs ({size},)")
            if not np.all(np.isfinite(a)):
                raise ModelError(f"keyframe {name!r}: its {what} = {shown(a.tolist())} is not finite")


def solids_of(owner: str, shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """Shapes, solid where they can be touched: those of no group and no mask are only looked at."""
    given = _shapes(owner, "shapes", shapes)
    for shape in given:
        try:
            if shape.group or shape.mask:
                shape.require_solid()
        except ModelError as error:
            raise ModelError(f"{owner}: {error}") from None
    return given


def _shapes(owner: str, what: str, shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    try:
        given = tuple(shapes)
    except TypeError:
        raise ModelError(f"{owner}: {what} must be a list of shapes, not {shapes!r}") from None
    for shape in given:
        if not isinstance(shape, Shape):
            raise ModelError(f"{owner}: {what} must be Sphere, Box, Capsule or the like, not {shape!r}")
    return given


def _inertia_of(name: str, shapes: tuple[Shape, ...]) -> Inertia:
    """The sum over all shapes that have a density or a mass."""
    try:
        parts = [shape.inertia() for shape in shapes if shape.density is not None or shape.mass is not None]
    except ModelError as error:
        raise ModelError(f"body {name!r}: {error}") from None
    if not parts:
        raise ModelError(f"body {name!r}: give its inertia, or shapes with a density or a mass")
    return sum(parts[1:], parts[0])
