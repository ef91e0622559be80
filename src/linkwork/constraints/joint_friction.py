"""Friction inside joints and loops, under what they carry.

With w the wrench that a joint (or the rows of a loop) carries without work, and the pressures alpha = P w of its `bearing`,

    T phi_rel = 0    with a force    |beta_d| <= mu sum over groups g of share_dg |alpha_g|    of every disc d of tangents:

it sticks, or slips against the full force, of any direction alike. The bounds depend on the motion, as w does: steps find both
together (`rows.pressing`). Joints whose surfaces move with their coordinates rub by their velocities (`joint_bearings`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..elements.law import RowLaw
from ..elements.ports import BodyPort, JointPort, Port
from ..errors import ModelError
from ..joints import Cylindrical, Free2D, Helical, Joint, Planar, Prismatic, Revolute, Spherical, SphericalEuler, SphericalExp
from ..joints.higher_pair import HigherPair
from ..model.model import WORLD, Model
from ..spatial.dual import Rate
from ..spatial.gate import number, numbers
from ..spatial.kinds import explained
from ..spatial.scalar import Scalar, Vector, cross, stack
from ..spatial.se3 import SE3, Ad
from .bearings import Bearing, largest, pin, screw, sleeve, slide, socket, surfaces, table
from .closure import Closure
from .constraint import Constraint
from .joint_bearings import Collar, Fitted, check_collar, leaves
from .on_joints import moving_joint

BALLS = (Spherical, SphericalExp, SphericalEuler)
USUAL = (Revolute, Prismatic, Cylindrical, Helical, Planar, Free2D, *BALLS)  # joints whose bearings stay where they are
LIFTED = 1e-9  # m/s, rad/s of a unit motion of a joint: so fast it may leave a surface
SEEDS = range(3)  # of the positions where that is looked at
MECHANISM = "mechanism_"  # before the names of the numbers of a joint


class JointFriction(Constraint):
    """Coulomb friction inside a joint, under the forces that it carries.

    joint      name of a joint (or of its body); or a constraint of the model between two bodies, which closes a loop, or its name
    mu         coefficient
    radius     of a pin, a ball, a sleeve (cylindrical) or a thread (helical), m: where turning slips; of joints that are known by
               their transform alone, of the collar about the origin of the body (or `at`); None: turning does not slip
    length     of a pin, a sleeve, a thread or a guide (prismatic), m: its ends carry what would tilt it; 0: that does not press
    points     where surfaces touch, in the axes of the joint (k, 3), with `normals`: for any joint, instead of the above
    axis       of the pin of a loop, in the axes of its first body; None: that of the joint that closes it, or a ball
    at         where a loop closes on its first body, to which `points` refer; its own point if not given. Of a joint that is
               known by its transform alone, where on the body it rubs; the origin if not given

    `Universal` and `Composite` are their parts in a row, each of which rubs under the whole load.

    >>> rubbing = model.add(lw.JointFriction("upper", mu=0.2, radius=0.02))
    """

    holonomic, bounded, by_reaction = False, True, True
    parameter_names: ClassVar[tuple[str, ...]] = ()
    bodies: tuple[str, ...] = ()

    @explained
    def __init__(
        self,
        joint: str | Constraint,
        mu: float,
        *,
        radius: float | None = None,
        length: float = 0.0,
        points: Any = None,
        normals: Any = None,
        axis: Any = None,
        at: Any = None,
        name: str = "",
    ) -> None:
        self.called(name)
        self.joint = joint
        if isinstance(joint, str):
            self.bodies = (joint,)
        elif isinstance(joint, Constraint) and not joint.bounded:
            self.bodies = joint.bodies[:2]
        else:
            raise ModelError(f"JointFriction: {joint!r} is neither the name of a joint nor a constraint between two bodies")
        self.mu = number(repr(self), "mu", mu, 0.0)
        self.radius = None if radius is None else number(repr(self), "radius", radius, 0.0)
        self.length = number(repr(self), "length", length, 0.0)
        if (points is None) != (normals is None):
            raise ModelError(f"{self!r}: points need normals, and normals points")
        self.points = None if points is None else _vectors(self, "points", points)
        self.normals = None if normals is None else _units(self, "normals", normals)
        if self.points is not None and self.normals is not None and len(self.points) != len(self.normals):
            raise ModelError(f"{self!r}: there are {len(self.points)} points and {len(self.normals)} normals")
        self.axis = None if axis is None else _units(self, "axis", [axis])[0]
        self.at = None if at is None else _vectors(self, "at", [at])[0]

    def __repr__(self) -> str:
        return f"JointFriction({self.joint!r})"

    # --- on a model -----------------------------------------------------------------------------------------------------------
    def check(self, model: Any) -> None:
        self.fitted_to(model)

    def fitted_to(self, model: Model) -> JointFriction:
        """The same with its bodies, its rows and what finds its bounds."""
        loop, place, first_kind = self.closure(model), np.zeros(3), None
        if loop is None:
            i = model.body_index(str(self.joint))
            first = model.bodies[i]
            if self.points is None and not isinstance(first.joint, USUAL):
                return self._on_mechanism(first.name, first.joint)
            first_kind, parent = first.joint, int(model.parents[i])
            bodies = (first.name, WORLD if parent < 0 else model.bodies[parent].name)
        else:
            bodies, place = loop.bodies, self.closes_at(loop)
        bearing = self.bearing(model)
        P, groups, share = bearing.pressing
        found = {"origin": place, "T": bearing.T, "P": P, "limit": self.mu * share}
        structure = {"bodies": bodies, "size": len(share), "pressed_groups": groups, "discs": bearing.discs}
        structure |= {"closes": loop is not None, "is_driven": isinstance(first_kind, Helical)}
        return self.bound({**found, **structure, "parameter_names": tuple(found)})

    def _on_mechanism(self, body: str, joint: Joint) -> JointFriction:
        """The same on a joint whose surfaces move with its coordinates."""
        found: dict[str, Any] = {}
        kinds: list[tuple[int, ...] | None] = []
        for k, leaf in enumerate(leaves(joint, joint.neutral(), np.zeros(joint.nv))):
            if isinstance(leaf.joint, USUAL):
                fitted = Fitted.of(self._usual(leaf.joint, np.eye(3), None), self.mu)
                found |= {f"{k}_T": fitted.T, f"{k}_P": fitted.P, f"{k}_limit": fitted.limit}
                kinds.append(fitted.groups)
            else:
                found |= {
                    f"{k}_mu": np.array(self.mu),
                    f"{k}_at": self._rubs_at(joint),
                    f"{k}_radius": np.array(self.radius or 0.0),
                }
                kinds.append(None)
                check_collar(self, self._collar(found, k), leaf.joint)
        sizes = [len(found[f"{k}_T"]) if kind else 0 for k, kind in enumerate(kinds)]
        parts = [leaf.joint.nv for leaf in leaves(joint, joint.neutral(), np.zeros(joint.nv))]
        discs = tuple(size or nv for size, nv in zip(sizes, parts, strict=True))
        structure = {"bodies": (body,), "size": sum(discs), "discs": discs, "mechanism": joint, "parts": tuple(kinds)}
        names = tuple(f"{MECHANISM}{name}" for name in joint.parameter_names)
        return self.with_parts(rubs=found, _made_with=None, parameter_names=(*found, *names), **structure)

    def _rubs_at(self, joint: Joint) -> np.ndarray:
        """The point of the body where a joint rubs that is known by its transform alone."""
        if not isinstance(joint, HigherPair):
            return np.zeros(3) if self.at is None else self.at
        if joint.b.size or (joint.a.size and self.radius and joint.nv > 6):
            raise ModelError(
                f"{self!r}: where {joint!r} touches moves over the body; JointFriction rubs at one point of it: "
                "use TangentSurfaces or PointOnSurface with friction= instead"
            )
        return np.asarray(joint.b.constant.p, float) if self.at is None else self.at

    def _collar(self, values: dict[str, Any], k: int) -> Collar:
        radius = values[f"{k}_radius"]
        return Collar(values[f"{k}_mu"], radius, values[f"{k}_at"], self.radius is None or self.radius == 0.0)

    def closure(self, model: Model) -> Constraint | None:
        """The constraint of the model that closes the loop; None where the joint is one of the tree."""
        if isinstance(self.joint, str) and self.joint in model.names:
            moving_joint(model, self, self.joint)
            return None
        named = [e for e in model.elements_of(RowLaw) if self.joint in (repr(e), getattr(e, "name", None) or None)]
        found = named if isinstance(self.joint, str) else [e for e in model.elements if e is self.joint]
        if len(found) != 1 or not isinstance(found[0], Constraint):
            what = f"no joint or constraint {self.joint!r}" if not found else f"{len(found)} constraints {self.joint!r}"
            raise ModelError(f"{self!r}: there {'is' if len(found) < 2 else 'are'} {what} in the model")
        return found[0]

    def closes_at(self, loop: Constraint) -> np.ndarray:
        """Where a loop closes, on its first body."""
        if len(loop.bodies) != 2 or loop.bodies[0] == WORLD:
            raise ModelError(f"{self!r}: a loop that rubs joins two bodies, and the first must not be the world")
        own = getattr(loop, "point_a", getattr(loop, "p_a", getattr(loop, "point", None)))
        if self.at is None and own is None:
            raise ModelError(f"{self!r}: it needs `at`, where the loop closes on its first body")
        return np.asarray(own if self.at is None else self.at, float)

    # --- its surfaces ---------------------------------------------------------------------------------------------------------
    def bearing(self, model: Model, q: np.ndarray | None = None) -> Bearing:
        """What presses and rubs, in the axes of the joint; of a loop, in those of its first body, about its place.

        q   where the wrench to be parted holds forces along the freedoms of the joint, too: its configuration
        """
        loop = self.closure(model)
        if loop is None:
            i = model.body_index(str(self.joint))
            kind, X, free = model.bodies[i].joint, np.eye(6), _freedoms(model, i, model.neutral() if q is None else q)
            axis, R = None, np.eye(3)
        else:
            i, axis = model.body_index(loop.bodies[0]), self.axis
            closing = loop.joint if isinstance(loop, Closure) else None
            R = np.eye(3) if closing is None else np.asarray(loop.R_a, float)  # type: ignore[attr-defined]
            kind = closing or (Spherical() if axis is None else Revolute(tuple(axis)))
            X, free = np.asarray(Ad(SE3(p=self.closes_at(loop))), float), []
        if self.points is None or self.normals is None:
            return self._usual(kind, R, axis)
        self._check_surfaces(free)
        M = X.T @ np.asarray(model.bodies[i].inertia.matrix, float) @ X
        return surfaces(self.points, self.normals, free[0] if q is not None and free else np.zeros((6, 0)), M)

    def _usual(self, joint: Joint, R: np.ndarray, axis: np.ndarray | None) -> Bearing:
        """The bearing of a kind of joint, in axes in which those of the joint are R; `axis` instead of its own if given."""
        own = getattr(joint, "axis", None)
        if axis is None and own is not None:
            axis = R @ np.asarray(own, float)
        if isinstance(joint, BALLS):
            return socket(self._radius())
        if isinstance(joint, Planar | Free2D):
            return table(R, self._radius() if isinstance(joint, Free2D) else None)
        if axis is not None:
            axis = axis / np.linalg.norm(axis)
            if isinstance(joint, Revolute):
                return pin(axis, self._radius(), self.length)
            if isinstance(joint, Prismatic):
                return slide(axis, self.length)
            if isinstance(joint, Cylindrical):
                return sleeve(axis, self._radius(), self.length)
            if isinstance(joint, Helical):
                return screw(axis, joint.pitch, self._radius(), self.length)
        raise ModelError(f"{self!r}: {joint!r} closes a loop, where its surfaces are not known; give points and normals")

    def _radius(self) -> float:
        if self.radius is None:
            raise ModelError(f"{self!r}: it needs the radius at which turning slips; give radius=")
        return self.radius

    def _check_surfaces(self, S: Sequence[np.ndarray]) -> None:
        """Raise where a joint by its own motion leaves a surface, or enters it."""
        assert self.points is not None
        assert self.normals is not None
        for k, (x, n) in enumerate(zip(self.points, self.normals, strict=True)):
            row = np.concatenate([np.cross(x, n), n])
            if any(np.abs(row @ s).max(initial=0.0) > LIFTED * max(1.0, float(np.linalg.norm(x))) for s in S):
                raise ModelError(
                    f"{self!r}: the joint's own motion leads point {k} off its surface; normals must be across all slips"
                )

    # --- the law --------------------------------------------------------------------------------------------------------------
    origin: np.ndarray
    closes: bool = False
    is_driven: bool = False  # whether what drives the joint has a part across its slip, which presses nothing
    T: np.ndarray
    P: np.ndarray
    limit: np.ndarray
    pressed_groups: tuple[int, ...] = ()
    mechanism: Joint | None = None
    parts: tuple[tuple[int, ...] | None, ...] = ()  # of a joint in a row: the groups of bearings, None of collars
    rubs: dict[str, Any]  # numbers of these, after the number of the part

    @property
    def ports(self) -> tuple[Port, ...]:
        bodies = tuple(map(BodyPort, self.bodies))
        return bodies if self.mechanism is None else (*bodies, JointPort(self.bodies[0]))

    @property
    def groups(self) -> tuple[int, ...]:
        return tuple(range(self.size)) if max(self.discs, default=1) > 1 else (0,) * self.size

    @property
    def variant(self) -> tuple[Any, ...]:
        if self.mechanism is not None:
            return (self.mechanism.signature, self.parts, self.discs, self.radius is None or self.radius == 0.0)
        return (self.pressed_groups, self.discs, self.closes, self.is_driven)

    def parameters(self) -> dict[str, Any]:
        if self.mechanism is None:
            return super().parameters()
        own = {name: np.asarray(x, float) for name, x in self.rubs.items()}
        return own | {f"{MECHANISM}{name}": x for name, x in self.mechanism.parameters().items()}

    def bound(self, values: dict[str, Any]) -> Any:
        if self.mechanism is None:
            return super().bound(values)
        moved = {name.removeprefix(MECHANISM): x for name, x in values.items() if name.startswith(MECHANISM)}
        own = {name: x for name, x in values.items() if not name.startswith(MECHANISM)}
        return self.with_parts(rubs=self.rubs | own, mechanism=self.mechanism.bound(moved), _made_with=None)

    @property
    def by_whole(self) -> bool:  # type: ignore[override]
        return self.is_driven or self.mechanism is not None

    @property
    def by_coordinates(self) -> bool:  # type: ignore[override]
        return self.mechanism is not None

    def _part(self, k: int) -> Fitted | Collar:
        """How part k of a joint in a row rubs."""
        groups = self.parts[k]
        if groups is None:
            return self._collar(self.rubs, k)
        return Fitted(self.rubs[f"{k}_T"], self.rubs[f"{k}_P"], self.rubs[f"{k}_limit"], groups)

    def slip_of(self, x: Sequence[Any], v: Sequence[Vector], t: Scalar) -> Vector:
        if self.mechanism is None:
            return self.slip(x, v, t)
        q = stack(*(e.x if isinstance(e, Rate) else e for e in x[1]))
        found = [self._part(k).slip(leaf) for k, leaf in enumerate(leaves(self.mechanism, q, v[1]))]
        return np.concatenate(found)

    def slip(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar) -> Vector:
        E_ba = poses[1].inverse() @ poses[0]
        relative = twists[0] - E_ba.pull_twist(twists[1])
        return self.T @ np.concatenate([relative[:3], relative[3:] + cross(relative[:3], self.origin)])

    def bounds(self) -> tuple[Vector, Vector]:
        """None yet: they follow from what is carried."""
        return np.zeros(self.size), np.zeros(self.size)

    def largest(self, wrench: Vector, q: Vector, x: Vector) -> Vector:
        if self.mechanism is None:
            m, f = wrench[:3], wrench[3:]
            return largest(self.limit, self.P, self.pressed_groups, np.concatenate([m - cross(self.origin, f), f]))
        found, first = [], 0
        for k, leaf in enumerate(leaves(self.mechanism, q, np.zeros(self.mechanism.nv))):
            last = first + self.discs[k]
            found.append(self._part(k).largest(leaf, leaf.rest.move_wrench(wrench), x[first:last]))
            first = last
        return np.concatenate(found)


def _freedoms(model: Model, i: int, q: np.ndarray) -> list[np.ndarray]:
    """S of a joint at a configuration, and elsewhere."""
    joint, name = model.bodies[i].joint, model.bodies[i].name
    positions = [q, *(model.random_configuration(seed) for seed in SEEDS)]
    return [np.asarray(joint.motion(q[model.q_index(name)], np.zeros(joint.nv)).tangent.S, float) for q in positions]


def _vectors(owner: object, what: str, x: Any) -> np.ndarray:
    a = np.asarray(x, float)
    if a.ndim != 2 or a.shape[1] != 3 or not len(a):
        raise ModelError(f"{owner!r}: {what} must be vectors of three numbers")
    return numbers(repr(owner), what, a.reshape(-1), a.size).reshape(a.shape)


def _units(owner: object, what: str, x: Any) -> np.ndarray:
    a = _vectors(owner, what, x)
    size = np.linalg.norm(a, axis=1, keepdims=True)
    if not np.all(size > 0.0):
        raise ModelError(f"{owner!r}: {what} must not be zero")
    return a / size
