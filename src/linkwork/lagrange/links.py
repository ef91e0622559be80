"""Links seen from the world: centres of mass, rotations, velocities and Jacobians of all bodies at once [Liu & Jain, sections
4, 5].

V_k = (v_k, omega_k) is the velocity of link k's centre of mass and its angular velocity, both in world axes: linear first, as in
the tutorial. Everything is for one state or a batch; compiled code finds the motion of every freedom, array products do the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernel.sweep import POSE, SCALAR, Algorithm, Field, outward, vector
from ..model.kinematics import kinematics
from ..model.model import Model
from ..spatial.scalar import cross
from .rules import flat, moving_columns
from .spaces import interface, paths, plans_of, world_tree


def move_links(n: Any, parent: Any) -> None:
    """Columns and their rates; centre of mass and its velocity, from where the root is."""
    n.pose, n.V, C, C_dot = moving_columns(n, parent)
    n.columns, n.rates = flat(C), flat(C_dot)
    x = n.pose.rotate(n.com) + n.pose.p
    n.x, n.x_dot = x, n.V[3:] + cross(n.V[:3], x)


LINK_COLUMNS = Algorithm(
    "link_columns",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "com": Field("input", "node", vector(3)),
        "pose": Field("shared", codec=POSE),
        "V": Field("shared", codec=vector(6)),
        "C": Field("output", "J6", SCALAR),
        "C_dot": Field("output", "J6", SCALAR),
        "columns": Field("work", "columns", alias="C"),
        "rates": Field("work", "columns", alias="C_dot"),
        "x": Field("output", "node", vector(3)),
        "x_dot": Field("output", "node", vector(3)),
    },
    {"run": [outward(move_links)]},
)


@dataclass(frozen=True, eq=False)
class LinkJacobians:
    """linear (..., links, 3, nv) of the centres of mass and angular (..., links, 3, nv), in world axes."""

    linear: np.ndarray
    angular: np.ndarray

    @property
    def stacked(self) -> np.ndarray:
        """J (..., 6 links, nv): all linear rows, then all angular ones [Liu & Jain, Eq. 60]."""
        both = np.concatenate([self.linear, self.angular], axis=-3)
        return both.reshape(*both.shape[:-3], -1, both.shape[-1])


def link_jacobians(model: Model, q: Any) -> LinkJacobians:
    """J_vk and J_wk of every link [Liu & Jain, Eqs. 28-31, 50, 51, 57, 58]."""
    C, x = _columns(model, ("q",), ("C", "x"))(q, _centres(model))
    return _of_points(model, C, x)


def link_jacobians_dot(model: Model, q: Any, v: Any) -> LinkJacobians:
    """Their time derivatives along v: the J_dot of [Liu & Jain, Eqs. 44-48]."""
    C, C_dot, x, x_dot = _columns(model, ("q", "v"), ("C", "C_dot", "x", "x_dot"))(q, v, _centres(model))
    moved = _of_points(model, C_dot, x)
    turned = _mask(model) * _crossed(C[..., None, :3, :], x_dot[..., None])
    return LinkJacobians(moved.linear + turned, moved.angular)


def _of_points(model: Model, C: np.ndarray, x: np.ndarray) -> LinkJacobians:
    """u_j + w_j x x_k and w_j for the freedoms j on the way to link k, zero for the others."""
    w, u = C[..., None, :3, :], C[..., None, 3:, :]
    mask = _mask(model)
    return LinkJacobians(mask * (u + _crossed(w, x[..., None])), mask * w)


def _crossed(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """w x x along the axis before the last."""
    return np.cross(w, x, axis=-2)


def _mask(model: Model) -> np.ndarray:
    return paths(model)[:, None, :]


def _centres(model: Model) -> np.ndarray:
    return model.keep_as(_centres, lambda: np.array([b.inertia.com for b in model.bodies]))


def _columns(model: Model, names: tuple[str, ...], wanted: tuple[str, ...]) -> Any:
    def make() -> Any:
        known = interface(model, LINK_COLUMNS, plans_of(model, world_tree, lambda: world_tree(model)), {})
        return known.function((*names, "com"), wanted, () if "v" in names else ("v",))

    return model.keep_as((_columns, names), make)


# --- states ------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Links:
    """Centres of mass and rotations of all links, (..., links, 3) and (..., links, 3, 3), in the world."""

    positions: np.ndarray
    rotations: np.ndarray


def links(model: Model, q: Any) -> Links:
    """x_k = W_k c_k and R_k of every link [Liu & Jain, section 5.1]."""
    return of_poses(model, kinematics(model, q).poses)


def of_poses(model: Model, poses: np.ndarray) -> Links:
    """The same from poses of the bodies (..., links, 4, 4)."""
    R = poses[..., :3, :3]
    return Links(poses[..., :3, 3] + np.einsum("...kij,kj->...ki", R, _centres(model)), R)


def link_velocities(model: Model, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
    """v_k of the centres of mass and omega_k, (..., links, 3) each, in world axes, without Jacobians: O(n)."""
    k = kinematics(model, q, v)
    return of_twists(model, k.poses, k.twists)


def of_twists(model: Model, poses: np.ndarray, twists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same from body twists (..., links, 6)."""
    w, u = twists[..., :3], twists[..., 3:]
    turned = np.einsum("...kij,...skj->...ski", poses[..., :3, :3], np.stack([u + np.cross(w, _centres(model)), w], axis=-3))
    return turned[..., 0, :, :], turned[..., 1, :, :]


def link_inertias(model: Model, q: Any) -> np.ndarray:
    """M_ck = blockdiag(m 1, R I_0 R^T) of every link, (..., links, 6, 6) [Liu & Jain, Eqs. 21, 27]."""
    R = links(model, q).rotations
    masses, tensors = _inertias(model)
    out = np.zeros((*R.shape[:-2], 6, 6))
    out[..., [0, 1, 2], [0, 1, 2]] = masses[:, None]
    out[..., 3:, 3:] = R @ tensors @ R.swapaxes(-1, -2)
    return out


def _inertias(model: Model) -> tuple[np.ndarray, np.ndarray]:
    make = lambda: (np.array([b.inertia.mass for b in model.bodies]), np.array([b.inertia.tensor for b in model.bodies]))  # noqa: E731
    return model.keep_as(_inertias, make)
