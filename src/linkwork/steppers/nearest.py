"""The nearest closed configurations of a batch: least d^T W d of the displacement d = q - q0 with g(q) = 0 and gaps >= 0.

Steps along the constraints: in y = L^T dq, W = L L^T, with the rows Y = G L^-T and the gradient c = L^-1 D^T W d (D is the slope
of d, 1 where displacements add),

    Newton:     P (1 + sum lambda_k Hess g_k) P y = -P c,    lambda = -Y^T+ c,    P = 1 - Y+ Y,

then Gauss-Newton steps back to closed (`closing`); a step is halved until the distance falls. The Hessian is that of differences
of G; negative curvature is turned round, so that it ends at minima. Gaps that are closed and push take part as equations; others
are kept open by the way back. Configurations that must move far are closed and moved from STARTS places, and the nearest is
taken; coordinates whose whole turns change nothing are unwound.
"""

from __future__ import annotations

import numpy as np

from ..constraints.rows import constraint_set
from ..constraints.singular import equality_rows
from ..elements.law import RowLaw
from ..model import Model
from ..model.degrees import turning_coordinates
from ..model.kinematics import kinematics
from ..reduced.mass_matrix import mass_matrix
from .closing import STEP, Closing, turning

STARTS = 12  # places from which what must move far is closed, too
FAR = 0.3  # rad, m: a displacement that counts as far
SPREADS = (0.3, 0.8, 1.5), (1.5, 3.0), (3.0,), (3.0,)  # rad: how far those places lie around; after the first if nothing closed
ROUNDS = 60  # steps along the constraints, at most
CUTS = 12  # halvings of such a step
STILL = 1e-10  # of the distance: a slope of it that is nothing
ROUNDING = 1e-13  # of the squared distance: a change that is none
RANK = 1e-7  # of the largest singular value of the rows: smaller ones hold nothing
FLAT = 1e-3  # the least curvature of the distance along the constraints, of that without any
SHIFT = 1e-6  # rad, m: of differences
DENSE = 120  # velocities: larger models take steps without the curvature of their constraints
TOUCHES = 1e-8  # m, rad: a gap that is closed
AT_ONCE = 3000  # places that are closed side by side
NUMBERS = 8_000_000  # of Jacobians that are held at once


def nearest(model: Model, t: float, q: np.ndarray, tolerance: float, iterations: int, weights: np.ndarray | None) -> Closing:
    """The nearest closed configurations to q (batch, nq); what does not close stays where nothing near is better.

    weights   W (nv, nv); the mass matrix at q if None
    """
    found = Closing(model, t, q.copy())
    moved = np.flatnonzero(~found.closed(tolerance))
    if not len(moved) or not iterations:
        return found
    metric = _Metric(model, q[moved], weights)
    best = Closing(model, t, q[moved])
    best.run(tolerance, iterations)
    _approach(best, metric, tolerance)
    for k, spread in enumerate(SPREADS):
        again = ~best.closed(tolerance) | (metric.turned(best.q) > FAR if not k else False)
        _from_around(best, metric, np.flatnonzero(again), spread, k, tolerance, iterations)
    found.take(moved, best, np.arange(len(moved)))
    return found


def _from_around(
    best: Closing, metric: _Metric, states: np.ndarray, spread: tuple[float, ...], seed: int, tolerance: float, iterations: int
) -> None:
    """Close some states from several places around, too, and keep what is nearest."""
    size = max(1, AT_ONCE // STARTS)
    for some in (states[k : k + size] for k in range(0, len(states), size)):
        part = metric.part(np.repeat(some, STARTS))
        other = Closing(best.model, best.t, part.around(spread, seed))
        other.run(tolerance, iterations)
        _approach(other, part, tolerance)
        distance = np.where(other.closed(tolerance), part.distance(other.q), np.inf).reshape(-1, STARTS)
        own = np.where(best.closed(tolerance), metric.distance(best.q), np.inf)[some]
        first = np.argmin(distance, axis=1)
        nearer = distance[np.arange(len(some)), first] < own * (1.0 - 1e-9)
        best.take(some[nearer], other, (np.arange(len(some)) * STARTS + first)[nearer])


class _Metric:
    """The distance from configurations q0 (batch, nq)."""

    def __init__(self, model: Model, q0: np.ndarray, weights: np.ndarray | None) -> None:
        self.model, self.q0 = model, q0
        W = mass_matrix(model, q0) if weights is None else np.tile(weights, (len(q0), 1, 1))
        self.W, self.L = W, np.linalg.cholesky(W)
        self.flat = all(b.joint.coordinates_add for b in model.bodies)

    def part(self, states: np.ndarray) -> _Metric:
        made = object.__new__(_Metric)
        made.model, made.flat = self.model, self.flat
        made.q0, made.W, made.L = self.q0[states], self.W[states], self.L[states]
        return made

    def away(self, q: np.ndarray) -> np.ndarray:
        """The displacement d (batch, nv)."""
        return q - self.q0 if self.flat else self.model.difference(self.q0, q)

    def distance(self, q: np.ndarray) -> np.ndarray:
        """d^T W d (batch,)."""
        d = self.away(q)
        return np.einsum("si,sij,sj->s", d, self.W, d)

    def turned(self, q: np.ndarray) -> np.ndarray:
        """The largest displacement of a joint (batch,)."""
        return np.abs(self.away(q)).max(axis=1, initial=0.0)

    def gradient(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """D^T W d (batch, nv) and D^T W D (batch, nv, nv) of a step from q."""
        d = self.away(q)
        D = self._slope(q, d)
        return np.einsum("sji,sjk,sk->si", D, self.W, d), D.swapaxes(1, 2) @ self.W @ D

    def _slope(self, q: np.ndarray, d: np.ndarray) -> np.ndarray:
        states, nv = d.shape
        if self.flat:
            return np.broadcast_to(np.eye(nv), (states, nv, nv))
        q0, q1 = (np.repeat(x, nv, axis=0) for x in (self.q0, q))
        units = SHIFT * np.tile(np.eye(nv), (states, 1))
        ends = [self.model.difference(q0, self.model.integrate(q1, s * units)) for s in (1.0, -1.0)]
        return ((ends[0] - ends[1]) / (2.0 * SHIFT)).reshape(states, nv, nv).swapaxes(1, 2)

    def around(self, spread: tuple[float, ...], seed: int) -> np.ndarray:
        """Places near, of STARTS equal ones in a row each at another one: the same displacements for all."""
        ways = np.random.default_rng(seed).normal(size=(STARTS, self.model.nv)) * turning(self.model)
        ways *= np.resize(spread, STARTS)[:, None]
        return self.model.integrate(self.q0, np.tile(ways, (len(self.q0) // STARTS, 1)))


def _approach(at: Closing, metric: _Metric, tolerance: float) -> None:
    """Move closed configurations along their constraints to where the distance is least."""
    _unwind(at, metric, tolerance)
    active = at.closed(tolerance)
    for _ in range(ROUNDS):
        states = np.flatnonzero(active)
        if not len(states):
            break
        part = metric.part(states)
        steps, promised = _steps(at, part, states)
        d2 = part.distance(at.q[states])
        going = promised > np.maximum(STILL * STILL * d2, ROUNDING * d2)
        active[states[~going]] = False
        moved = _advance(at, metric, states[going], steps[going], promised[going], d2[going], tolerance)
        active[states[going][~moved]] = False
    _unwind(at, metric, tolerance)


def _advance(
    at: Closing, metric: _Metric, states: np.ndarray, steps: np.ndarray, promised: np.ndarray, d2: np.ndarray, tolerance: float
) -> np.ndarray:
    """Take steps (states, nv) as far as the distance falls; whether each was taken."""
    longest = np.abs(steps).max(axis=1, initial=0.0)
    share, moved = np.minimum(1.0, STEP / np.maximum(longest, 1e-300)), np.zeros(len(states), bool)
    for _ in range(CUTS):
        waiting = np.flatnonzero(~moved)
        if not len(waiting):
            break
        some = states[waiting]
        trial = Closing(at.model, at.t, at.model.integrate(at.q[some], share[waiting, None] * steps[waiting]))
        trial.run(tolerance, 12)
        fall = d2[waiting] - metric.part(some).distance(trial.q)
        better = trial.closed(tolerance) & (fall > 1e-4 * share[waiting] * promised[waiting])
        at.take(some[better], trial, better.nonzero()[0])
        moved[waiting[better]] = True
        share[waiting[~better]] *= 0.5
    return moved


def _steps(at: Closing, metric: _Metric, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Newton steps (states, nv) along the constraints, and by how much the squared distance falls to first order."""
    model, nv = at.model, at.model.nv
    size = max(1, NUMBERS // max(1, nv * nv * model.nb * 6))
    found, falls = np.zeros((len(states), nv)), np.zeros(len(states))
    for first in range(0, len(states), size):
        chunk = slice(first, first + size)
        own = metric.part(np.arange(len(states))[chunk])
        found[chunk], falls[chunk] = _newton(model, at.t, at.q[states[chunk]], own)
    return found, falls


def _newton(model: Model, t: float, q: np.ndarray, metric: _Metric) -> tuple[np.ndarray, np.ndarray]:
    """See `_steps`."""
    g, H = metric.gradient(q)
    back = np.linalg.inv(metric.L)  # y = L^T dq
    G, pushes, closed = _rows(model, t, q)
    c = np.einsum("sij,sj->si", back, g)
    on = ~pushes | closed
    for _ in range(2):
        rows = np.where(on[:, :, None], G, 0.0)
        Y = rows @ back.swapaxes(1, 2)
        lam, P = _multipliers(Y, c)
        on = on & (~pushes | (lam < 0.0))  # g grows with the distance: what would pull lets go
    rows = np.where(on[:, :, None], G, 0.0)
    lam, P = _multipliers(rows @ back.swapaxes(1, 2), c)
    slope = np.einsum("sij,sj->si", P, c)
    if model.nv <= DENSE:
        H = H + _curvature(model, t, q, np.where(on, lam, 0.0))
    B = P @ (back @ H @ back.swapaxes(1, 2)) @ P + (np.eye(model.nv) - P)
    values, vectors = np.linalg.eigh(0.5 * (B + B.swapaxes(1, 2)))
    inverse = 1.0 / np.maximum(np.abs(values), FLAT)
    y = -np.einsum("sij,sj,skj,sk->si", vectors, inverse, vectors, slope)
    y = np.einsum("sij,sj->si", P, y)
    return np.einsum("sji,sj->si", back, y), -2.0 * np.einsum("si,si->s", y, c)


def _multipliers(Y: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """lambda = -Y^T+ c (states, rows) and P = 1 - Y+ Y (states, nv, nv)."""
    U, s, V = np.linalg.svd(Y, full_matrices=False)
    kept = s > RANK * s.max(axis=1, initial=1e-300, keepdims=True)
    V = np.where(kept[:, :, None], V, 0.0)
    lam = -np.einsum("srk,sk,ski,si->sr", U, np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0), V, c)
    return lam, np.eye(Y.shape[2]) - V.swapaxes(1, 2) @ V


def _plain(law: RowLaw) -> bool:
    """Whether rows of a constraint on positions take part in steps: equations, and gaps that are the same rows everywhere."""
    return law.holonomic and not (law.bounded or law.looks or law.cones or law.touches)


def _rows(model: Model, t: float, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """G (states, rows, nv) of the constraints, which of the rows only push (rows,), and whether their gaps are closed."""
    c = constraint_set(model)
    G, _, lengths = equality_rows(model, q, np.full(len(q), t), _plain)
    some = np.array([_plain(law) for law, n in c.sizes() for _ in range(n)], bool)
    residual = c.residuals(kinematics(model, q).poses, q, t)[:, some]
    return G * lengths[:, None], c.unilateral[some], residual < TOUCHES


def _curvature(model: Model, t: float, q: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """sum lambda_k Hess g_k (states, nv, nv), by differences of G."""
    states, nv = len(q), model.nv
    found = []
    for sign in (1.0, -1.0):
        moved = model.integrate(np.repeat(q, nv, axis=0), sign * SHIFT * np.tile(np.eye(nv), (states, 1)))
        G, _, lengths = equality_rows(model, moved, np.full(len(moved), t), _plain)
        found.append(np.einsum("sri,sr->si", G * lengths[:, None], np.repeat(lam, nv, axis=0)))
    H = ((found[0] - found[1]) / (2.0 * SHIFT)).reshape(states, nv, nv)
    return 0.5 * (H + H.swapaxes(1, 2))


def _unwind(at: Closing, metric: _Metric, tolerance: float) -> None:
    """Take whole turns from coordinates where that is nearer, nothing moves, all constraints stay closed, and limits are kept."""
    model = at.model
    if not (np.abs(metric.away(at.q)).max(initial=0.0) > np.pi):
        return
    for body in model.bodies:
        angles, place = turning_coordinates(body.joint), model.q_index(body.name)
        for k in np.flatnonzero(angles):
            i = range(model.nq)[place][k]
            turns = np.round((at.q[:, i] - metric.q0[:, i]) / (2.0 * np.pi))
            moved = at.q.copy()
            moved[:, i] -= 2.0 * np.pi * turns
            p = body.properties
            some = np.flatnonzero((turns != 0.0) & (moved[:, i] >= p.lower[k]) & (moved[:, i] <= p.upper[k]))
            if not len(some):
                continue
            other = Closing(model, at.t, moved[some])
            there = np.abs(kinematics(model, other.q).poses - kinematics(model, at.q[some]).poses).max(axis=(1, 2, 3)) < 1e-9
            part = metric.part(some)
            good = there & (other.closed(tolerance) | ~at.closed(tolerance)[some])
            good &= part.distance(other.q) < part.distance(at.q[some])
            at.take(some[good], other, good.nonzero()[0])
