"""Identification of inertial parameters from motion: base parameters by least squares, and bodies that can exist.

Joint forces are Y(q, v, a) pi, with ten parameters of every body. Motion shows only some combinations of them, the *base
parameters*: with W the regressors of many states, one below the other, W = W_b (1 K) in independent columns b and the others, so
beta = pi_b + K pi_d is all that can be found, and it is found by least squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular

from ..errors import InputError, SolverError
from ..lagrange.regressor import inertial_parameters, regressor
from ..model.accepts import takes_model
from ..model.model import Model
from ..spatial.gate import given_count, given_positive
from ..spatial.inertia import Inertia
from ..spatial.rigid import UPPER
from .entrance import many_states

INDEPENDENT = 1e-9  # of the largest column, scaled: a column with less outside the span of others depends on them
STATES = 200  # random ones, from which the structure is found


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Which combinations of parameters show: beta = pi[independent] + K pi[dependent].

    independent, dependent   indices into `inertial_parameters(model)`; of the dependent ones, those that never show have K = 0
    """

    independent: np.ndarray
    dependent: np.ndarray
    K: np.ndarray

    def of(self, parameters: Any) -> np.ndarray:
        """The base parameters of standard ones (10 bodies,)."""
        pi = np.asarray(parameters, float)
        return pi[self.independent] + self.K @ pi[self.dependent]

    def names(self, model: Model) -> list[str]:
        """What each begins with: the parameter and its body."""
        kinds = ("m", "hx", "hy", "hz", "Jxx", "Jxy", "Jxz", "Jyy", "Jyz", "Jzz")
        return [f"{kinds[i % 10]} of {model.bodies[i // 10].name}" for i in self.independent]


@dataclass(frozen=True, eq=False)
class Identified:
    """Base parameters found, the error of the joint forces that they leave, and the condition of the equations."""

    base: BaseParameters
    beta: np.ndarray
    residual: float
    condition: float


@takes_model
def base_parameters(model: Model, seed: int = 0) -> BaseParameters:
    """The structure of a model's base parameters, from regressors of random states: a rank-revealing QR."""

    given_count("seed", seed, 0)

    def make() -> BaseParameters:
        rng = np.random.default_rng(seed)
        q = np.array([model.random_configuration(rng) for _ in range(STATES)])
        v, a = rng.normal(size=(2, STATES, model.nv))
        return _structure(regressor(model, q, v, a).reshape(-1, 10 * model.nb))

    return model.keep_as((base_parameters, seed), make)


def _structure(W: np.ndarray) -> BaseParameters:
    size = np.linalg.norm(W, axis=0)
    unit = np.where(size > INDEPENDENT * size.max(initial=0.0), size, 1.0)
    shown: Any = qr(W / unit, mode="r", pivoting=True)
    R, order = shown
    diagonal = np.abs(np.diagonal(R))
    rank = int((diagonal > INDEPENDENT * diagonal.max(initial=0.0)).sum())
    b, d = order[:rank], order[rank:]
    K = solve_triangular(R[:rank, :rank], R[:rank, rank:]) * unit[d] / unit[b][:, None]
    K = np.where(np.abs(K) > 1e-10 * np.abs(K).max(initial=0.0), K, 0.0)
    first, rest = np.argsort(b), np.argsort(d)
    return BaseParameters(b[first], d[rest], K[np.ix_(first, rest)])


@takes_model
def identify(model: Model, q: Any, v: Any, a: Any, tau: Any) -> Identified:
    """Base parameters of the model's tree from motion (states, ...) and the joint forces `tau` (states, nv) that caused it.

    Kinematics, gravity, armature and damping are the model's; its inertias are not looked at.
    """
    W, wanted = _equations(model, q, v, a, tau)
    base = base_parameters(model)
    Wb = W[:, base.independent]
    size = np.linalg.norm(Wb, axis=0)
    if not size.all():
        raise InputError("the motion does not excite all base parameters: some never act on a joint; move more joints")
    beta, _, rank, values = np.linalg.lstsq(Wb / size, wanted, rcond=1e-12)
    if rank < Wb.shape[1]:
        raise InputError(f"the motion shows {rank} of {Wb.shape[1]} base parameters; record one that excites more")
    residual = float(np.abs(Wb @ (beta / size) - wanted).max(initial=0.0))
    return Identified(base, beta / size, residual, float(values[0] / values[-1]))


def _equations(model: Model, q: Any, v: Any, a: Any, tau: Any) -> tuple[np.ndarray, np.ndarray]:
    q = many_states("q", q, model.nq)
    v, a, tau = (many_states(name, x, model.nv, len(q)) for name, x in (("v", v), ("a", a), ("tau", tau)))
    W = regressor(model, q, v, a).reshape(-1, 10 * model.nb)
    return W, (tau - model.damping * v - model.armature * a).reshape(-1)


@takes_model
def identify_consistent(model: Model, q: Any, v: Any, a: Any, tau: Any, weight: float = 1e-8) -> Model:
    """The model with inertias of bodies that can exist, which explain the motion best, and of these the nearest to its own.

    Every body's pseudo-inertia [[tr(J) / 2 - J, h], [h^T, m]] is kept positive semidefinite: that there is a distribution of
    mass with these parameters [Wensing, Kim, Slotine 2018]. A semidefinite program (Clarabel).

    weight   of the distance from the model's own parameters, beside the squares of the joint forces' errors
    """
    W, wanted = _equations(model, q, v, a, tau)
    weight = given_positive("weight", weight)
    own = inertial_parameters(model)
    unit = np.maximum(np.abs(own), 1e-3 * np.tile(np.abs(own).reshape(-1, 10).max(axis=1), (10, 1)).T.reshape(-1))
    A = W * unit / max(np.linalg.norm(wanted), 1e-300)
    b = wanted / max(np.linalg.norm(wanted), 1e-300)
    H = A.T @ A + weight * np.eye(len(own))
    f = -(A.T @ b + weight * own / unit)
    x = _semidefinite(H, f, unit, model.nb)
    inertias = [_inertia(p) for p in (x * unit).reshape(-1, 10)]
    changes = {
        body.name: {"mass": i.mass, "com": i.com, "tensor": i.tensor} for body, i in zip(model.bodies, inertias, strict=True)
    }
    return model.with_parameters(changes)


def pseudo_inertia(parameters: np.ndarray) -> np.ndarray:
    """[[tr(J) / 2 - J, h], [h^T, m]] (..., 4, 4) of ten parameters (..., 10): positive definite for a body that can exist."""
    J = np.zeros((*parameters.shape[:-1], 3, 3))
    for k, (r, c) in enumerate(UPPER):
        J[..., r, c] = J[..., c, r] = parameters[..., 4 + k]
    out = np.zeros((*parameters.shape[:-1], 4, 4))
    out[..., :3, :3] = 0.5 * np.trace(J, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - J
    out[..., :3, 3] = out[..., 3, :3] = parameters[..., 1:4]
    out[..., 3, 3] = parameters[..., 0]
    return out


def _semidefinite(H: np.ndarray, f: np.ndarray, unit: np.ndarray, bodies: int) -> np.ndarray:
    """x that minimises x^T H x / 2 + f^T x with every body's pseudo-inertia of x unit semidefinite."""
    import importlib

    from scipy import sparse

    clarabel: Any = importlib.import_module("clarabel")

    basis = pseudo_inertia(np.eye(10))
    upper = [(r, c) for c in range(4) for r in range(c + 1)]
    block = np.array([[basis[k, r, c] * (1.0 if r == c else np.sqrt(2.0)) for k in range(10)] for r, c in upper])
    C = sparse.csc_matrix(sparse.block_diag([block * unit[10 * i : 10 * i + 10] for i in range(bodies)]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.PSDTriangleConeT(4)] * bodies
    solver = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(H)), f, -C, np.zeros(10 * bodies), cones, settings)
    found = solver.solve()
    if "Solved" not in str(found.status):
        raise SolverError(f"the program for consistent inertias ended with {found.status}")
    return np.array(found.x)


def _inertia(p: np.ndarray) -> Inertia:
    """The body of ten parameters; what rounding leaves outside is moved inside."""
    values, vectors = np.linalg.eigh(pseudo_inertia(p))
    P = (vectors * np.maximum(values, 1e-10 * values.max())) @ vectors.T
    m, h, second = P[3, 3], P[:3, 3], P[:3, :3] - np.outer(P[:3, 3], P[:3, 3]) / P[3, 3]
    return Inertia(m, h / m, np.trace(second) * np.eye(3) - second)
