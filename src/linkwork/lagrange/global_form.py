"""The equations of motion of a whole tree in block matrices, for reading and as an oracle [Si & Guenter, Appendix A; errata 002].

    Gamma   blocks Ad(E_jp) at (link, parent)                              (43)
    G       (1 - Gamma)^-1: twists of all links are G S v                  (41), (44), (45), (59)
    M       S^T G^T J G S                                                  (51)
    C       S^T G^T (J G ad_S Gamma G S + J G S_dot + ad_v J G S)          (52), with ad*_v for the printed ad*_v_dot
    phi     S^T G^T f_e, f_e = -(weights)                                  (53), every block negative
    M^-1    (1 - S^T Y Pi)^T Omega^-1 (1 - S^T Y Pi)                       (58), Y = (1 - blocks of (29))^-1, Ad* in (30)

so that M v_dot + C v + phi are the joint forces of the bare tree, without armature and damping.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from ..errors import InputError
from ..model.accepts import takes_model
from ..model.kinematics import kinematics
from ..model.model import Model
from ..spatial.se3 import Ad, ad


@dataclass(frozen=True, eq=False)
class GlobalForm:
    """Block matrices of one state, named as in the paper; a link has six rows, a joint its freedoms."""

    model: Model
    S: np.ndarray
    S_dot: np.ndarray
    J: np.ndarray
    Gamma: np.ndarray
    ad_S: np.ndarray
    ad_v: np.ndarray
    f_e: np.ndarray

    @cached_property
    def G(self) -> np.ndarray:
        """(1 - Gamma)^-1 = 1 + Gamma + Gamma^2 + ... (45); Gamma G = G - 1 (60)."""
        return np.linalg.inv(np.eye(len(self.Gamma)) - self.Gamma)

    @property
    def M(self) -> np.ndarray:
        """The mass matrix (51)."""
        GS = self.G @ self.S
        return GS.T @ self.J @ GS

    @property
    def C(self) -> np.ndarray:
        """A Coriolis matrix (52)."""
        GS = self.G @ self.S
        inner = self.J @ self.G @ (self.ad_S @ self.Gamma @ GS + self.S_dot) + self.ad_v @ self.J @ GS
        return GS.T @ inner

    @property
    def phi(self) -> np.ndarray:
        """The joint forces that carry the weights (53)."""
        return (self.G @ self.S).T @ self.f_e

    @cached_property
    def _factors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Y, Pi and Omega^-1 of (27) to (30)."""
        model, n = self.model, self.model.nb
        Y, Pi, inverses = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, model.nv)), []
        inertia = [self.J[6 * i : 6 * i + 6, 6 * i : 6 * i + 6].copy() for i in range(n)]
        for k in reversed(range(n)):
            rows, at, p = slice(6 * k, 6 * k + 6), model.v_index(model.bodies[k].name), int(model.parents[k])
            S = self.S[rows, at]
            JS = inertia[k] @ S
            inverse = np.linalg.inv(S.T @ JS)
            inverses.append(inverse)
            if p >= 0:
                parent = slice(6 * p, 6 * p + 6)
                A = self.Gamma[rows, parent]
                Y[parent, rows] = A.T @ (np.eye(6) - JS @ inverse @ S.T)
                Pi[parent, at] = A.T @ JS @ inverse
                inertia[p] += A.T @ (inertia[k] - JS @ inverse @ JS.T) @ A
        return np.linalg.inv(np.eye(6 * n) - Y), Pi, np.asarray(block_diag(*reversed(inverses)))

    @property
    def M_inverse(self) -> np.ndarray:
        """The inverse mass matrix from its square factors (58)."""
        Y, Pi, inverse = self._factors
        half = np.eye(self.model.nv) - self.S.T @ Y @ Pi
        return half.T @ inverse @ half


@takes_model
def global_form(model: Model, q: Any, v: Any) -> GlobalForm:
    """The block matrices of one state.

    >>> found = lw.global_form(model, q, v)
    """
    q, v = np.asarray(q, float), np.asarray(v, float)
    if q.ndim != 1 or v.ndim != 1:
        raise InputError("global_form takes one state: it is for reading; the recursions take batches")
    n, k = model.nb, kinematics(model, q, v)
    S, S_dot, ad_S, ad_v, f_e = [], [], [], [], []
    Gamma = np.zeros((6 * n, 6 * n))
    for i, body in enumerate(model.bodies):
        at = model.v_index(body.name)
        E = body.placement @ body.joint.motion(q[model.q_index(body.name)], v[at])
        t = E.tangent
        S.append(np.asarray(t.S, float))
        S_dot.append(np.asarray(t.S_dot, float))
        ad_S.append(-ad(t.phi))
        ad_v.append(-ad(k.twists[i]).T)
        if body.parent >= 0:
            back = E.with_tangent(None).inverse()
            Gamma[6 * i : 6 * i + 6, 6 * body.parent : 6 * body.parent + 6] = np.asarray(Ad(back), float)
        weight = k.poses[i, :3, :3].T @ model.gravity * float(body.inertia.mass)
        f_e.append(-np.concatenate([np.cross(body.inertia.com, weight), weight]))
    big = [np.asarray(block_diag(*x), float).reshape(6 * n, -1) for x in (S, S_dot)]
    inertia, ad_S, ad_v = (np.asarray(block_diag(*x), float) for x in ([b.inertia.matrix for b in model.bodies], ad_S, ad_v))
    return GlobalForm(model, big[0], big[1], inertia, Gamma, ad_S, ad_v, np.concatenate(f_e))
