"""Where paths of muscles and cables are not continuous in a motion, and fibres or activations are out of range.

A path is a function of where bodies are. Where points pass each other behind a sphere, or turn about a cylinder by more than half
a turn from the neutral configuration, its side changes, and moment arms jump; a point inside an obstacle has no path around it.
Fibres shorter than a hundredth of their optimal length are held at that length, whatever the path; fibres of several times their
optimal length, and activations beyond 0 to 1, mean other units.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..elements.collection import collection
from ..forces.muscle import SHORTEST
from ..forces.muscle_path import AlongPath
from ..forces.muscle_set import muscle_set
from ..model.model import Model
from .jacobian import jacobian_transpose_product
from .lapse import Lapse

INSIDE = 0.01  # of the radius: a point deeper inside an obstacle is told; attachments lie on its surface to less
STRETCHED = 5.0  # optimal lengths: no fibres are so long, but in other units than metres
ROUNDING = 1e-9  # of an activation: what interpolation leaves
TOO_SHORT = "the path is shorter than tendon and fibres can be: check tendon_length, path and range of motion"
JUMP = 1e-6  # m: a moment arm that changes less does not jump


def muscle_lapses(
    model: Model, q: np.ndarray, poses: np.ndarray, twists: np.ndarray, t: np.ndarray, u: np.ndarray | None, begins: bool
) -> dict[str, Lapse]:
    """Lapses of all muscles and cables in a motion, by what happened.

    q, poses, twists   (..., T, nq), (..., T, bodies, 4, 4), (..., T, bodies, 6), at times t (T,)
    u                  inputs of all forces (..., T, inputs), or their initial ones
    begins             whether the first state counts; of later pieces of a run it is the last of the piece before
    """
    laws = [law for law in collection(model).forces if isinstance(law, AlongPath)]
    if not laws:
        return {}
    found = dict[str, Lapse]()
    for law in laws:
        found |= dict(_along_path(model, law, q, poses, t, begins))
    return found | dict(_of_fibres(model, poses, twists, t, u, begins))


def _of_fibres(
    model: Model, poses: np.ndarray, twists: np.ndarray, t: np.ndarray, u: np.ndarray | None, begins: bool
) -> Iterator[tuple[str, Lapse]]:
    if not any(hasattr(law, "fibre_length") for law in collection(model).forces):
        return
    muscles, lead = muscle_set(model), poses.shape[:-3]
    times = np.broadcast_to(t, lead).reshape(-1)
    given = None if u is None else np.reshape(u, (len(times), -1))
    flat = poses.reshape(-1, *poses.shape[-3:]), twists.reshape(-1, *twists.shape[-2:])
    seen = muscles.observe(*flat, times, given)[0]
    fibre, active = seen["fibre_length"], seen["activation"]
    stretch = fibre / np.array([float(m.optimal_length) for m in muscles.muscles])
    clamped, long, odd = clamped_fibres(model, fibre), stretch > STRETCHED, np.abs(active - 0.5) > 0.5 + ROUNDING
    for k, muscle in enumerate(muscles.muscles):
        name = _called(muscle)
        longest, farthest = stretch[:, k].max(), active[np.argmax(np.abs(active[:, k] - 0.5)), k]
        kinds = (
            (f"fibres of {name} are clamped at {SHORTEST:g} of their optimal length", clamped, TOO_SHORT),
            (
                f"fibres of {name} are longer than {STRETCHED:g} times their optimal length",
                long,
                f"{longest:.3g} times",
            ),
            (f"the activation of {name} is not from 0 to 1", odd, f"it is {farthest:.3g}"),
        )
        for what, on, detail in kinds:
            states = np.nonzero(on[:, k].reshape(lead)[..., int(not begins) :])[-1] + int(not begins)
            if len(states):
                yield what, Lapse(float(t[states.min()]), float(t[states.max()]), len(states), detail)


def clamped_fibres(model: Model, fibre_length: np.ndarray) -> np.ndarray:
    """Whether fibres of these lengths (..., muscles) are held at the least length along the tendon."""
    muscles = muscle_set(model).muscles
    least, thickness = (np.array(xs, float) for xs in zip(*((m.shortest(), m.thickness) for m in muscles), strict=True))
    return fibre_length <= np.hypot(least, thickness) * (1.0 + 1e-12)


def _along_path(
    model: Model, law: AlongPath, q: np.ndarray, poses: np.ndarray, t: np.ndarray, begins: bool
) -> Iterator[tuple[str, Lapse]]:
    bodies = [-1 if name == "world" else model.body_index(name) for name in law.path.bodies]
    for (i, a), (j, b), wrap in law.path._segments():
        if wrap is None:
            continue
        x, y = (seen_from(poses, bodies[wrap[0]], bodies[k], wrap[1], point) for k, point in ((i, a), (j, b)))
        jumps, depth = wrap[1].sides(x, y)
        obstacle = f"the {type(wrap[1]).__name__} of {law.path.bodies[wrap[0]]!r}"
        if jumps.any():
            places = np.argwhere(jumps)
            first = places[np.argmin(places[:, -1])]
            after = t[1:][places[:, -1]]
            what = f"the path of {_called(law)} changes sides at {obstacle}"
            yield what, Lapse(float(after.min()), float(after.max()), len(places), _jump(model, law, q, poses, tuple(first)))
        deep = depth > INSIDE * float(wrap[1].radius)
        states = np.nonzero(deep[..., int(not begins) :])[-1] + int(not begins)
        if len(states):
            what = f"a point of {_called(law)} is inside {obstacle}"
            yield what, Lapse(float(t[states.min()]), float(t[states.max()]), len(states), f"{depth.max():.3g} m deep")


def seen_from(poses: np.ndarray, owner: int, body: int, wrap: object, point: np.ndarray) -> np.ndarray:
    """A point of a body in the frame of an obstacle (..., T, 3)."""
    frame = wrap.frame  # type: ignore[attr-defined]
    x = np.asarray(point, float) if body < 0 else poses[..., body, :3, :3] @ point + poses[..., body, :3, 3]
    x = np.broadcast_to(x, (*poses.shape[:-3], 3))
    if owner >= 0:
        x = np.einsum("...ji,...j->...i", poses[..., owner, :3, :3], x - poses[..., owner, :3, 3])
    return (x - np.asarray(frame.p, float)) @ np.asarray(frame.R, float)


def _jump(model: Model, law: AlongPath, q: np.ndarray, poses: np.ndarray, before: tuple[int, ...]) -> str:
    """By how much length and moment arm jump."""
    lengths, arms = [], []
    for at in (before, (*before[:-1], before[-1] + 1)):
        length, slopes = law.path.slopes(law.path.poses_at(model, poses[at]))
        wrench = np.zeros((model.nb, 6))
        for name, slope in zip(law.path.bodies, slopes, strict=True):
            if name != "world":
                wrench[model.body_index(name)] += np.asarray(slope, float)
        lengths.append(float(length))
        arms.append(-jacobian_transpose_product(model, q[at], wrench))
    k = int(np.argmax(np.abs(arms[1] - arms[0])))
    joint = next(b.joint_name for b in model.bodies if k in range(model.nv)[model.v_index(b.name)])
    told = [f"its moment arm at joint {joint!r} jumps from {1e3 * arms[0][k]:.3g} to {1e3 * arms[1][k]:.3g} mm"]
    moved = lengths[1] - lengths[0]
    if abs(moved) > 0.5 * np.abs(arms[1] - arms[0]).max() or abs(arms[1][k] - arms[0][k]) <= JUMP:
        told.append(f"its length by {1e3 * moved:.3g} mm")
    return ", ".join(told)


def _called(law: AlongPath) -> str:
    return f"{'cable' if type(law).__name__ == 'Cable' else 'muscle'} {law.name!r}" if law.name else repr(law)
