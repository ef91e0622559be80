"""Singular positions: where equality rows G(q) of a model have a smaller rank than elsewhere on its way.

There constraints hold motions back to second order only, and forces that must hold them grow without bound nearby. Two kinds:

    crossings   branches of motion meet (a parallelogram that is flat): a run goes on along its own
    locks       no branch leads away (two links pinned straight at both ends): for some sum of rows with lambda^T G = 0, the
                second derivative lambda^T g_ddot has one sign for all motions with G v = 0

Rows of one group are scaled by their largest length on the way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..elements.law import RowLaw
from ..elements.nodes import STILL
from ..errors import SolverError
from ..joints import Joint
from ..model.kinematics import kinematics
from ..model.model import Model
from ..model.state import Motion
from .rows import ConstraintSet, constraint_set

RANK = 3e-5  # of the largest singular value: a smaller one is none, the square of it is one of G M^-1 G^T
NEAR = 0.05  # of what it is at most: where a singular value may be on its way to zero between two records
MOST = 20_000_000  # numbers to look at: longer runs are looked at in fewer records
LARGE = 60  # velocities: larger models are not checked for locks
DEFINITE = 3e-5  # of the largest second derivative along any joint: less is an error of the position, which is closed to 1e-6

NEARBY = 15  # steps around a singular position
JUMP = 0.05  # of the largest velocity: a step that changes velocities by more near a singular position may have left its branch
STEEP = 5.0  # times what steps change farther away: the same

Crossing = tuple[float, tuple[str, ...]]


def is_equality(law: RowLaw) -> bool:
    """Whether a constraint is an equation between positions."""
    return law.holonomic and not law.unilateral


def equality_rows(
    model: Model, q: np.ndarray, t: np.ndarray, some: Callable[[RowLaw], bool] = is_equality
) -> tuple[np.ndarray, list[str], np.ndarray]:
    """G (states, rows, nv) of the equality constraints on positions, or of some others, at configurations (states, nq), whose
    each row is, and by what each was divided (rows,)."""
    c, states, nv = constraint_set(model), len(q), model.nv
    assert c.evaluation is not None
    still = np.zeros((states, nv))
    poses = kinematics(model, q).poses
    blocks = c.evaluation.blocks(c.evaluation.inputs(poses, np.zeros((states, model.nb, 6)), q, still, t))
    units = np.tile(np.eye(nv), (states, 1))
    J = kinematics(model, np.repeat(q, nv, axis=0), units).twists.reshape(states, nv, model.nb, 6)
    starts, nodes = model.tree.offsets("v"), c.evaluation.nodes
    found, names, lengths = [np.zeros((states, 0, nv))], [], [np.zeros(0)]
    for law, G, at, kinds in zip(nodes.laws, blocks, nodes.bodies, nodes.kinds, strict=True):
        if not some(law):
            continue
        rows, column = np.zeros((states, law.size, nv)), 0
        for body, kind in zip(at, kinds, strict=True):
            size = kind.nv if isinstance(kind, Joint) else 6
            part = G[:, :, column : column + size]
            column += size
            if isinstance(kind, Joint):
                rows[:, :, starts[body] : starts[body] + size] += part
            elif kind != STILL:
                rows += np.einsum("ski,svi->skv", part, J[:, :, body])
        lengths.append(_lengths(rows, np.array(law.groups)))
        found.append(rows / lengths[-1][:, None])
        names += [repr(law)] * law.size
    return np.concatenate(found, axis=1), names, np.concatenate(lengths)


def _lengths(rows: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Of every row the largest length in its group; 1 where all of them vanish."""
    out = np.ones(len(groups))
    for group in set(groups.tolist()):
        own = groups == group
        out[own] = float(np.sqrt(np.sum(rows[:, own] ** 2, axis=2)).max(initial=0.0)) or 1.0
    return out


def check_slopes(G: np.ndarray, names: list[str]) -> None:
    """Raise where rows (rows, nv) are not finite, with the names of their constraints."""
    bad = ~np.isfinite(G).all(axis=1)
    if bad.any():
        raise SolverError(
            f"the slope of {names[int(np.argmax(bad))]} is not finite at this position, as that of a distance at zero; start "
            "elsewhere, or hold every component instead"
        )


def crossings(model: Model, q: np.ndarray, t: np.ndarray) -> tuple[Crossing, ...]:
    """The singular positions of a run: times, and the constraints that lose their grip there.

    q, t   records (states, nq) and their times; a position between two records is found where a singular value makes for zero
    """
    every = max(1, int(len(q) * model.nv * model.nb * 6 // MOST))
    q, t = q[::every], t[::every]
    G, names, _ = equality_rows(model, q, t)
    if not G.size or not np.all(np.isfinite(G)):
        return ()
    U, s, _ = np.linalg.svd(G, full_matrices=False)
    rank = int((s > RANK * s.max()).sum(axis=1).max())
    if not rank:
        return ()
    least = s[:, rank - 1]
    found: list[Crossing] = []
    for k in zeros_passed(least / least.max()):
        share = np.abs(U[k][:, rank - 1 :]).max(axis=1)
        owners = dict.fromkeys(name for name, x in zip(names, share, strict=True) if x > 0.1)
        found.append((float(t[k]), tuple(owners)))
    return tuple(found)


def zeros_passed(s: np.ndarray) -> list[int]:
    """Where a positive sequence has zeros, or passes them between two of its members: one of each run of small ones."""
    falls = np.concatenate([[0.0], s[:-1] - s[1:]])
    rises = np.concatenate([s[1:] - s[:-1], [0.0]])
    passes = (falls > 0) & (rises > 0) & (s < NEAR) & (s <= np.maximum(falls, rises))
    hits = np.flatnonzero((s < RANK) | passes)
    groups = np.split(hits, np.flatnonzero(np.diff(hits) > 1) + 1)
    return [int(g[np.argmin(s[g])]) for g in groups if len(g)]


def jumps(v: np.ndarray, t: np.ndarray, passed: tuple[Crossing, ...]) -> list[tuple[float, float]]:
    """Where velocities (states, nv) jump as a run passes singular positions: the times, and by how much.

    A mechanism goes on along its branch there. A step that leaves the branch, or loses energy as its rows answer nothing, changes
    velocities within a few steps by many times what they change before and after. Records that are far apart tell nothing.
    """
    change, fastest = np.abs(np.diff(v, axis=0)).max(axis=1, initial=0.0), float(np.abs(v).max(initial=0.0))
    found, at = [], np.arange(len(change))
    for time, _ in passed:
        apart = np.abs(at + 0.5 - np.searchsorted(t, time))
        near, beside = change[apart < NEARBY], change[(apart > 2 * NEARBY) & (apart < 6 * NEARBY)]
        size = float(near.max(initial=0.0))
        if len(beside) >= NEARBY and size > JUMP * fastest and size > STEEP * float(np.median(beside)):
            found.append((time, size))
    return found


def locks(model: Model, q: np.ndarray, t: float) -> tuple[str, ...]:
    """The constraints that lock a position (nq,) to second order only; none where they do not."""
    if not constraint_set(model).count or model.nv > LARGE:
        return ()
    rows, names, lengths = equality_rows(model, q[None], np.array([t]))
    G = rows[0]
    if not G.size:
        return ()
    check_slopes(G, names)
    U, s, Vt = np.linalg.svd(G)
    rank = int((s > RANK * max(float(s.max(initial=0.0)), 1e-300)).sum())
    free, idle = Vt[rank:], U[:, rank:].T
    if not len(free) or not len(idle):
        return ()
    second = _second_derivatives(model, q, t, free) / lengths[:, None, None]
    largest = max(float(np.abs(second).max()), float(np.abs(_along_joints(model, q, t) / lengths).max()))
    for weights in idle:
        eigenvalues = np.linalg.eigvalsh(np.einsum("r,rij->ij", weights, second))
        if largest and np.abs(eigenvalues).min() > DEFINITE * largest and np.ptp(np.sign(eigenvalues)) == 0:
            return tuple(dict.fromkeys(name for name, x in zip(names, np.abs(weights), strict=True) if x > 0.1))
    return ()


def _along_joints(model: Model, q: np.ndarray, t: float) -> np.ndarray:
    """g_ddot of the equality rows at unit velocity of every joint coordinate by itself (nv, rows), without accelerations: how
    large second derivatives are that may cancel in a motion of the whole mechanism."""
    c = constraint_set(model)
    keep = ~c.unilateral & c.holonomic
    rest = bends(c, model, q, t, np.zeros(model.nv))
    return np.array([(bends(c, model, q, t, v) - rest)[keep] for v in np.eye(model.nv)])


def _second_derivatives(model: Model, q: np.ndarray, t: float, motions: np.ndarray) -> np.ndarray:
    """g_ddot of the equality rows as a form (rows, n, n) in velocities along n motions, without accelerations."""
    c, n = constraint_set(model), len(motions)
    keep = ~c.unilateral & c.holonomic

    def along(v: np.ndarray) -> np.ndarray:
        return bends(c, model, q, t, v)[keep] - rest

    rest = np.zeros(int(keep.sum()))
    rest = along(np.zeros(model.nv))  # what moves with time alone
    single = [along(v) for v in motions]
    out = np.zeros((len(rest), n, n))
    for i in range(n):
        out[:, i, i] = single[i]
        for j in range(i):
            out[:, i, j] = out[:, j, i] = 0.5 * (along(motions[i] + motions[j]) - single[i] - single[j])
    return out


def bends(c: ConstraintSet, model: Model, q: np.ndarray, t: float, v: np.ndarray) -> np.ndarray:
    """G a + bias (rows,) of all rows at a state whose joints do not accelerate."""
    still = np.zeros(model.nv)
    k = kinematics(model, q, v, still)
    found = c.look(k.poses, k.twists, q, v, t)
    return found.rows @ Motion(k.twists_dot, still) + found.bias
