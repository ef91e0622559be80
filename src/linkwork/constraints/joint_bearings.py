"""Bearings of joints whose surfaces move with their coordinates: those in a row, and those known by their transform alone.

A joint in a row (`Composite`, `Universal`) consists of parts that carry one wrench. Each rubs by itself: as a `Bearing` if it is
a pin, a guide, a ball or the like, else as a collar at a point of the body, about which only the motion subspace S of the
transform is known. With r the radius of the collar and D = diag(r^2, r^2, r^2, 1, 1, 1), S about its point,

    slip         L^T v,   S^T D S = L L^T:    its square is that of the velocity of the point plus (r times the turn)^2,
    carries      w' = w - D S (S^T D S)^-1 S^T w:    what is left of the wrench w without drives and friction,
    pressing     |(f', m' / r)|,   of moments those about axes about which the joint turns: others tilt it.

A bead on a wire (r = 0) so feels the force across the wire, against its way along it; a screw written as a transform that across
its thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ModelError
from ..joints import Composite, Joint, Revolute, Universal
from ..spatial.scalar import Scalar, Vector, array, cross, dot, inv_spd, ldl, zeros
from ..spatial.se3 import SE3
from .bearings import Bearing, largest, length

SEEDS = range(3)  # of the positions where a collar is looked at
SLIPPING = 1e-12  # of the largest eigenvalue of S^T D S, and of the length of a force: less is none
EPS = 1e-13  # relative to the turns of a joint: what keeps axes that are none apart from others
TINY = 1e-250  # rad^2: the same of a joint that does not turn


@dataclass(frozen=True, eq=False)
class Leaf:
    """A part of a joint where it is: its coordinates, its velocities, and the pose of the body in the frame that it moves."""

    joint: Joint
    q: Vector
    v: Vector
    rest: SE3

    @property
    def S(self) -> np.ndarray:
        """Its motion subspace (6, nv), in the axes of the frame that it moves."""
        return self.joint.motion(self.q, zeros(self.joint.nv)).tangent.S


def leaves(joint: Joint, q: Vector, v: Vector, rest: SE3 | None = None) -> Iterator[Leaf]:
    """The parts of a joint, from the parent to the body."""
    rest = SE3() if rest is None else rest
    if type(joint) is Universal:
        joint = Composite(Revolute((1.0, 0.0, 0.0)), Revolute((0.0, 1.0, 0.0)))
    if type(joint) is Composite:
        first, second, n, m = joint.first, joint.second, joint.first.nq, joint.first.nv
        after = second.transform(q[n:]) if joint.between is None else joint.between @ second.transform(q[n:])
        yield from leaves(first, q[:n], v[:m], after @ rest)
        yield from leaves(second, q[n:], v[m:], rest)
    elif joint.nv:
        yield Leaf(joint, q, v, rest)


@dataclass(frozen=True, eq=False)
class Fitted:
    """How a bearing rubs: its tangents T (m, 6), largest forces limit |P w| by groups."""

    T: np.ndarray
    P: np.ndarray
    limit: np.ndarray
    groups: tuple[int, ...]

    @staticmethod
    def of(bearing: Bearing, mu: float) -> Fitted:
        P, groups, share = bearing.pressing
        return Fitted(bearing.T, P, mu * share, groups)

    def slip(self, leaf: Leaf) -> Vector:
        return self.T @ (leaf.S @ leaf.v)

    def largest(self, leaf: Leaf, wrench: Vector, x: Vector) -> Vector:
        """The largest friction of every tangent under the wrench through the joint, with what friction x does to it."""
        return largest(self.limit, self.P, self.groups, wrench - self.T.T @ x)


@dataclass(frozen=True, eq=False)
class Collar:
    """A bearing about a point of the body, known by the transform of its joint alone; see the module's text."""

    mu: Scalar
    radius: Scalar
    at: Vector
    is_thin: bool  # of no radius

    def about(self, S: np.ndarray) -> np.ndarray:
        """S about the point."""
        return array([[*S[:3, k], *(S[3:, k] + cross(S[:3, k], self.at))] for k in range(S.shape[1])]).T

    def slips(self, S: np.ndarray) -> np.ndarray:
        """D S, of S about the point."""
        return np.concatenate([self.radius * self.radius * S[:3], S[3:]])

    def slip(self, leaf: Leaf) -> Vector:
        S = self.about(leaf.S)
        L, d_inv = ldl(S.T @ self.slips(S))
        return (L.T @ leaf.v) * array([1.0 / np.sqrt(d) for d in d_inv])

    def largest(self, leaf: Leaf, wrench: Vector, x: Vector) -> Vector:
        """The largest friction, of every tangent alike."""
        S = self.about(leaf.S)
        DS = self.slips(S)
        w = np.concatenate([wrench[:3] - cross(self.at, wrench[3:]), wrench[3:]])
        w = w - DS @ (inv_spd(S.T @ DS) @ (S.T @ w))
        square = dot(w[3:], w[3:])
        if not self.is_thin:
            turns = S[:3]
            about = turns.T @ w[:3]
            gram = turns.T @ turns
            some = EPS * sum((gram[k, k] for k in range(len(gram))), TINY)
            square = square + dot(about, inv_spd(gram + some * np.eye(len(gram))) @ about) / (self.radius * self.radius)
        return array([self.mu * length(square)] * S.shape[1])


def check_collar(owner: Any, collar: Collar, joint: Joint) -> None:
    """Raise if a motion of a joint is no slip at its collar, or nothing can press there."""
    rng, presses = np.random.default_rng(0), False
    for q in (joint.neutral(), *(joint.random(rng) for _ in SEEDS)):
        if joint.bounded and not joint.inside(q):
            continue
        S = np.asarray(collar.about(np.asarray(joint.motion(q, np.zeros(joint.nv)).tangent.S, float)), float)
        sizes = np.linalg.eigvalsh(np.asarray(S.T @ collar.slips(S), float))
        if not sizes[0] > SLIPPING * max(sizes[-1], 1e-300) or not sizes[-1] > 0.0:
            raise ModelError(f"{owner!r}: {joint!r} turns about the point where it rubs; give the radius at which that slips")
        _, s, V = np.linalg.svd(S.T)
        free = V[int(np.sum(s > SLIPPING * s.max())) :]
        presses = presses or any(
            float(np.max(np.asarray(collar.largest(Leaf(joint, q, np.zeros(joint.nv), SE3()), w, np.zeros(joint.nv)), float)))
            > SLIPPING * max(float(collar.mu), 1e-300)
            for w in free
        )
    if not presses and float(collar.mu):
        raise ModelError(f"{owner!r}: {joint!r} carries no force that could press; give points and normals where surfaces touch")
