"""Joint coordinates and velocities of bodies whose poses and twists are given, and what of them no joint allows.

Every joint is fitted by itself between the bodies that it joins, in O(n): q so that its pose is nearest, v = S^+ (relative twist)
[Liu & Jain, Eq. 66, with translations; errata 003-5]. What is left is the residual: a gap as a twist (rad, m), a twist
(rad/s, m/s).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..joints.base import subspace_fit
from ..kernel.sweep import Algorithm, Field, outward, vector
from ..maximal.convert import fitted
from ..maximal.dynamics import STATE_FIELDS
from ..model.accepts import takes_model
from ..model.model import Model
from ..model.rules import joint_of, placement_of

CLOSED = 1e-12  # rad, m: a gap that is nothing but rounding
STARTS = 8  # configurations from which a joint that is not closed is fitted anew
ROUNDS = 12  # of Gauss-Newton steps from each


def fit_joint(n: Any, parent: Any) -> None:
    """The joint's coordinates and velocities, and what is left."""
    E = (parent.poses.inverse() @ n.poses).collapsed()
    joint = joint_of(n)
    q = fitted(n, E)
    Q = joint.motion(q, np.zeros(joint.nv))
    relative = n.twists - E.pull_twist(parent.twists)
    v = subspace_fit(Q.tangent.S, relative)
    n.q, n.v = q, v
    n.gap = (Q.with_tangent(None).inverse() @ placement_of(n).inverse() @ E).log()
    n.slip = relative - Q.tangent.S @ v


JOINT_FIT = Algorithm(
    "joint_fit",
    {
        **STATE_FIELDS,
        "q": Field("output", "q"),
        "v": Field("output", "v"),
        "gap": Field("output", "node", vector(6)),
        "slip": Field("output", "node", vector(6)),
    },
    {"run": [outward(fit_joint)]},
)


@dataclass(frozen=True, eq=False)
class JointFit:
    """q (..., nq) and v (..., nv) that fit best; gaps and slips (..., bodies, 6) are what joints do not allow of poses and
    twists, (angular, linear) in body axes."""

    q: np.ndarray
    v: np.ndarray
    gaps: np.ndarray
    slips: np.ndarray

    @property
    def pose_residual(self) -> float:
        """The largest gap, rad or m."""
        return float(np.abs(self.gaps).max(initial=0.0))

    @property
    def velocity_residual(self) -> float:
        """The largest slip, rad/s or m/s."""
        return float(np.abs(self.slips).max(initial=0.0))


@takes_model
def joint_fit(model: Model, poses: Any, twists: Any = None, q_near: Any = None) -> JointFit:
    """Fit every joint between bodies with these poses (..., bodies, 4, 4) and body twists (..., bodies, 6).

    q_near   coordinates (..., nq) to start from: they choose the turn, the sign of a quaternion, the branch; neutral if None.
             Joints that do not close from there are tried from others, and the best is kept
    """
    poses = np.asarray(poses, float)
    lead = poses.shape[:-3]
    flat = poses.reshape(-1, model.nb, 4, 4)
    rates = np.zeros((len(flat), model.nb, 6)) if twists is None else np.asarray(twists, float).reshape(-1, model.nb, 6)
    start = np.broadcast_to(model.neutral() if q_near is None else np.asarray(q_near, float), (*lead, model.nq))
    q = _closest(model, flat, start.reshape(-1, model.nq))
    out = model.call(JOINT_FIT, {"poses": flat, "twists": rates, "q_fit": q})
    found = {name: x.reshape(*lead, *x.shape[1:]) for name, x in out.items()}
    return JointFit(found["q"], found["v"], found["gap"], found["slip"])


def _closest(model: Model, poses: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Coordinates from the best of several starts, joint by joint."""
    best, error = _settled(model, poses, start)
    joint_of_q = np.repeat(np.arange(model.nb), np.diff(model.tree.offsets("q")))
    for seed in range(STARTS):
        if (error < CLOSED).all():
            break
        other, left = _settled(model, poses, np.tile(model.random_configuration(seed), (len(poses), 1)))
        better = left < 0.9 * error
        best = np.where(better[:, joint_of_q], other, best)
        error = np.where(better, left, error)
    return best


def _settled(model: Model, poses: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates after rounds of Gauss-Newton steps, and the gap of every joint; infinite where nothing fits."""
    still = np.zeros((len(poses), model.nb, 6))
    joint_of_q = np.repeat(np.arange(model.nb), np.diff(model.tree.offsets("q")))
    best, error = q, np.full((len(poses), model.nb), np.inf)
    for _ in range(ROUNDS):
        with np.errstate(all="ignore"):
            out = model.call(JOINT_FIT, {"poses": poses, "twists": still, "q_fit": q}, wanted=("q", "gap"))
        left = np.linalg.norm(out["gap"], axis=-1)
        left = np.where(np.isfinite(left), left, np.inf)
        better = left < error
        best = np.where(better[:, joint_of_q], out["q"], best)
        settled = (left > 0.5 * error) | (left < CLOSED)
        error, q = np.where(better, left, error), best
        if settled.all():
            break
    return best, error
