"""Compliant contact: a spring, a damper and regularised friction at every point where shapes overlap [Hernandez].

    normal     f = max(k depth - d gap_dot, 0)          where depth = -gap > 0
    friction   -mu f s / sqrt(|s|^2 + s_0^2)            along the slip s; s_0 is the slip speed of regularisation

It is a force like any other: implicit steppers take slopes of it into their factor, others need steps that are short against its
period. These slopes are those at fixed points, normals and, for friction, normal forces: k n n^T, d n n^T and that of friction
over slip, all symmetric. (Friction grows with depth, but depth not with friction: steppers with symmetric factors would make a
lift of it.) What it gets wrong is known:

- A body at rest is in the floor by depth = f / k.
- On a slope of angle a < atan(mu) it does not stick but creeps, at the speed where friction carries it:
  creep = s_0 r / sqrt(1 - r^2),   r = tan(a) / mu.
- It bounces with e = exp(-2 zeta acos(zeta) / sqrt(1 - zeta^2)), zeta = d / (2 sqrt(k m)) < 1: the contact ends where the force
  does, after the time 2 acos(zeta) / omega_d. Critical damping leaves e = exp(-2) = 0.14. Implicit Euler adds
  omega h / 2 to zeta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..elements.ports import At, values, velocities
from ..elements.touch import velocity_at
from ..errors import InputError, ModelError
from ..forces.force import Force, push_at
from ..geometry import Plane, Shape
from ..geometry.contact_point import ContactPoint
from ..model.model import WORLD, Model
from ..spatial.dual import held
from ..spatial.gate import number, positive
from ..spatial.scalar import Scalar, Vector, dot, maximum, where, zeros
from ..spatial.se3 import SE3
from .candidates import pair_friction
from .contact import Contact
from .pairs import bound_shapes, pair_function, shape_parameters, slot_count

PERIOD = 20.0  # steps: of a free body on the spring that it gets by default
SLIP_SPEED = 1e-3  # m/s
SLIP_PART, EXPLICIT_SLIP_PART = 0.05, 5.0  # of what weight adds to a speed in a step: friction that steppers can follow


class CompliantContact(Force):
    """Shapes of two bodies that push each other apart where they overlap; see the module's text.

    body_a, shape_a   a body with a shape in its axes
    body_b, shape_b   another one, "world" with a plane by default
    stiffness         k of every point, N/m
    damping           d of every point, N s/m
    friction          mu; by default sqrt(mu_a mu_b) of the shapes, 0 where neither says anything
    slip_speed        s_0, m/s: slower than this, friction is less than mu f
    name              its own, for messages; need not be given

    >>> soft = lw.CompliantContact("lower", lw.Sphere(0.1), "world", lw.Plane(), stiffness=1e4, damping=50.0)
    """

    def __init__(
        self,
        body_a: str,
        shape_a: Shape,
        body_b: str = WORLD,
        shape_b: Shape | None = None,
        *,
        stiffness: float,
        damping: float = 0.0,
        friction: float | None = None,
        slip_speed: float = SLIP_SPEED,
        name: str = "",
    ) -> None:
        owner = self.between(body_a, body_b, name=name)
        self.shapes = shape_a, Plane() if shape_b is None else shape_b
        for shape in self.shapes:
            if not isinstance(shape, Shape):
                raise ModelError(f"{owner}: {shape!r} is no shape")
        pair_function(*self.shapes)
        self.stiffness, self.damping = positive(owner, "stiffness", stiffness), number(owner, "damping", damping, 0.0)
        self.friction = number(owner, "friction", pair_friction(*self.shapes) if friction is None else friction, 0.0)
        self.slip_speed = positive(owner, "slip_speed", slip_speed)

    @property
    def swept(self) -> tuple[Shape, ...]:
        return () if any(isinstance(shape, Plane) for shape in self.shapes) else self.shapes

    @property
    def variant(self) -> tuple[Any, ...]:
        return tuple(type(s).__name__ for s in self.shapes)

    def parameters(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("stiffness", "damping", "friction", "slip_speed")}
        return {name: np.asarray(x, float) for name, x in own.items()} | shape_parameters(self.shapes)

    def bound(self, values: dict[str, Any]) -> CompliantContact:
        own = {name: x for name, x in values.items() if name in ("stiffness", "damping", "friction", "slip_speed")}
        return super().bound(own | {"shapes": bound_shapes(self.shapes, values)})

    def without_friction(self) -> CompliantContact:
        """The contact that only pushes, with the stiffness and damping of this one."""
        return self._made_anew({"friction": 0.0})

    def touch(self, poses: Sequence[Any]) -> Sequence[ContactPoint]:
        """Where the shapes may touch."""
        (a, b), (E_a, E_b) = self.shapes, poses
        return pair_function(a, b)(a, E_a, b, E_b)

    def energy(self, poses: Sequence[SE3]) -> Scalar:
        stored: Scalar = 0.0
        for at in self.touch(poses):
            depth = where(at.on > 0.5, maximum(-at.gap, 0.0), 0.0)
            stored = stored + 0.5 * self.stiffness * depth * depth
        return stored

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        loads = [zeros(6), zeros(6)]
        for at in self.touch(poses):
            push, along = self._push(at, poses, twists)
            loads = self._added(loads, at, poses, push, push, along)
        return loads

    def implicit_loads(self, at: Sequence[At], t: Scalar, u: Vector) -> Sequence[Vector]:
        """The same with points, normals and the normal forces of friction held: of displacements only the gap knows, as the
        points that touch now move with their bodies."""
        poses: Sequence[Any] = values(at)
        still, loads = [SE3(R=held(E.R), p=held(E.p)) for E in poses], [zeros(6), zeros(6)]
        for point in self.touch(still):
            x_a, x_b = (E @ here.unrotate(point.point - here.p) for E, here in zip(poses, still, strict=True))
            moved = point._replace(gap=point.gap + dot(point.normal, x_a - x_b))
            push, along = self._push(moved, still, velocities(at))
            loads = self._added(loads, moved, still, push, held(push), along)
        return loads

    def _push(self, at: ContactPoint, poses: Sequence[Any], twists: Sequence[Vector]) -> tuple[Scalar, Vector]:
        """The normal force at a point, and the slip across it."""
        slip = velocity_at(poses[0], twists[0], at.point) - velocity_at(poses[1], twists[1], at.point)
        rate = dot(at.normal, slip)
        push = maximum(-self.stiffness * at.gap - self.damping * rate, 0.0)
        return where((at.on > 0.5) & (at.gap < 0.0), push, 0.0), slip - rate * at.normal

    def _added(
        self, loads: Sequence[Vector], at: ContactPoint, poses: Sequence[Any], push: Scalar, bears: Scalar, along: Vector
    ) -> list[Vector]:
        """The loads with those of a point: `push` along its normal, friction as of a normal force `bears`."""
        drag = self.friction * bears / np.sqrt(dot(along, along) + self.slip_speed * self.slip_speed)
        force = push * at.normal - drag * along
        signed = zip(loads, poses, (1.0, -1.0), strict=True)
        return [load + push_at(E.unrotate(at.point - E.p), sign * E.unrotate(force)) for load, E, sign in signed]


def _damping(owner: str, what: str, x: Any) -> float:
    return number(owner, what, x, 0.0)


@dataclass(frozen=True)
class Compliance:
    """Numbers of all compliant contacts of a run; None: as the masses and the step need it.

    implicit   whether the stepper takes them implicitly: others need friction that is not stiff
    """

    stiffness: float | None = None
    damping: float | None = None
    slip_speed: float | None = None
    implicit: bool = True

    def __post_init__(self) -> None:
        for what, check in (("stiffness", positive), ("damping", _damping), ("slip_speed", positive)):
            if getattr(self, what) is not None:
                check("CompliantContact", what, getattr(self, what))

    @property
    def given(self) -> bool:
        """Whether any number is."""
        return (self.stiffness, self.damping, self.slip_speed) != (None, None, None)


def compliant(model: Model, contact: Contact, given: Compliance, h: float) -> CompliantContact:
    """A contact as a force: by default a free body on its spring swings in PERIOD steps, and bounces as declared."""
    if contact.spins or contact.rolls:
        raise InputError(f"{contact!r} resists spinning or rolling, which compliant contacts do not")
    mass = tree_mass(model, contact.bodies) / slot_count(*contact.shapes)
    stiffness = mass * (2.0 * np.pi / (PERIOD * h)) ** 2 if given.stiffness is None else given.stiffness
    critical = 2.0 * np.sqrt(max(stiffness, 0.0) * mass)
    damping = critical * damping_ratio(contact.restitution) if given.damping is None else given.damping
    slip_speed = _slip_speed(model, given.implicit, h) if given.slip_speed is None else given.slip_speed
    (a, b), (shape_a, shape_b) = contact.bodies, contact.shapes
    numbers = {"stiffness": stiffness, "damping": damping, "friction": contact.friction, "slip_speed": slip_speed}
    return CompliantContact(a, shape_a, b, shape_b, **numbers, name=contact.name)


def _slip_speed(model: Model, implicit: bool, h: float) -> float:
    weight = float(np.linalg.norm(model.gravity))
    return (SLIP_PART if implicit else EXPLICIT_SLIP_PART) * weight * h if weight > 0.0 else SLIP_SPEED


def bounce(zeta: float) -> float:
    """How fast a body leaves a spring with a damper that it met at a speed of 1; zeta of at most 1."""
    return float(np.exp(-2.0)) if zeta >= 1.0 else float(np.exp(-2.0 * zeta * np.arccos(zeta) / np.sqrt(1.0 - zeta * zeta)))


def damping_ratio(restitution: float) -> float:
    """The zeta with which it bounces so; 1 where that would need more."""
    low, high = 0.0, 1.0
    if restitution <= bounce(high):
        return high
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if bounce(middle) > restitution else (low, middle)
    return 0.5 * (low + high)


def tree_mass(model: Model, bodies: Sequence[str]) -> float:
    """The mass that two bodies move against each other, each with all that hangs together with it."""
    roots, weights = [], np.array([float(b.inertia.mass) for b in model.bodies])
    for i, body in enumerate(model.bodies):
        roots.append(i if body.parent < 0 else roots[body.parent])
    trees = {roots[model.body_index(name)] for name in bodies if name != WORLD}
    return 1.0 / sum(1.0 / weights[np.array(roots) == root].sum() for root in trees)
