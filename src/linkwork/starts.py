"""How a run can begin: at times, places and speeds that double precision can count, with shapes that are apart.

A time or a number that is out of range is refused. Shapes that start inside each other are pushed apart by the run, which takes
energy from nowhere: that is told before it.
"""

from __future__ import annotations

from math import ulp
from typing import Any

import numpy as np

from .constraints.rows import constraint_set
from .contact.contact import Contact
from .errors import InputError, UnitWarning, warn
from .maximal.convert import to_reduced
from .model import MaximalState, Model, State
from .model.degrees import LOOKS, TURNS, looks_like_degrees, turning_coordinates
from .model.entrance import body_of
from .model.kinematics import kinematics

MOST = 1e12  # m, rad, m/s, rad/s: beyond, neighbouring numbers are more than 0.1 mm apart, and squares of sums lose all of a step
CLOCK = 0.01  # of a step: as far apart as neighbouring numbers may be at the times of a run
DEEP, DEEP_M = 0.1, 0.03  # of the radius of the smaller shape, and m: what starts deeper inside another is told
FEW = 64  # numbers, of which Python finds the largest sooner than NumPy
AT_ONCE = 4_000_000  # numbers of rows of a batch: the states of a larger one are not all looked at


def check_clock(t: float, dt: float, duration: float = 0.0) -> None:
    """Raise if steps of `dt` cannot be counted at the times of a run."""
    apart = ulp(max(abs(t), abs(t + duration)))
    if not apart <= CLOCK * dt:
        raise InputError(
            f"state.t = {t:g} is too large for steps of {dt:g}: numbers there are {apart:.2g} apart, so time would "
            "stand still or run unevenly; start at t = 0"
        )


def check_range(model: Model, state: State | MaximalState) -> None:
    """Raise if a state, or the place of a joint on its body, is beyond all range."""
    model.keep_as(check_range, lambda: _check_places(model))
    for name in ("q", "v") if isinstance(state, State) else ("poses", "twists"):
        a = getattr(state, name)
        most = max(map(abs, a.reshape(-1).tolist()), default=0.0) if a.size <= FEW else abs(a).max()
        if not most < MOST:
            _refuse(model, name, a)
        if name == "q" and most > TURNS and not state.t and state.memory is None:
            warn(_in_degrees(model, a), UnitWarning)


def _check_places(model: Model) -> bool:
    for b in model.bodies:
        if np.abs(b.placement.p).max() >= MOST:
            raise InputError(
                f"body {b.name!r}: its placement is {np.abs(b.placement.p).max():.3g} m away; at most {MOST:g} m can be"
            )
    return True


def _in_degrees(model: Model, q: np.ndarray) -> list[str]:
    """A line for the first hinge whose angle at the start of all time is a whole number of degrees, taken for radians."""
    for b in model.bodies if len(q) else ():
        angles = turning_coordinates(b.joint)
        x = q[..., model.q_index(b.name)][..., angles] if angles.any() else np.zeros(0)
        odd = x[looks_like_degrees(x) & (x == np.round(x))]
        if odd.size:
            return [f"state.q at joint {b.joint_name!r}: {odd[0]:g} rad {LOOKS}"]
    return []


def _refuse(model: Model, name: str, a: np.ndarray) -> None:
    at = np.unravel_index(int(np.argmax(np.abs(a))), a.shape)
    k: Any = body_of(model, name, int(at[-1])) if name in ("q", "v") else at[{"poses": -3, "twists": -2}[name]]
    raise InputError(
        f"state.{name} at joint {model.bodies[k].joint_name!r}: {a[at]:.3g} is out of range; numbers must be below {MOST:g} "
        "(m, rad, m/s, rad/s), beyond which a step is lost in rounding"
    )


def deep_starts(model: Model, start: State | MaximalState) -> tuple[str, ...]:
    """A line for every pair of bodies whose shapes are deep inside each other; the deepest of a batch."""
    contacts, least = model.keep_as(deep_starts, lambda: _contacts(model))
    if not contacts:
        return ()
    kept = model.keep_as((deep_starts, "last"), dict)
    places = start.q if isinstance(start, State) else start.poses
    if kept and kept["t"] == start.t and np.array_equal(kept["places"], places):
        return kept["lines"]
    rows = constraint_set(model)
    q = (start if isinstance(start, State) else to_reduced(model, start)).q
    if q.ndim > 1:
        q = q.reshape(-1, model.nq)[: max(1, AT_ONCE // rows.count)]
    residual = rows.residuals(kinematics(model, q, np.zeros((*q.shape[:-1], model.nv))).poses, q, start.t)
    residual = residual.min(axis=0) if q.ndim > 1 else residual
    deep = np.flatnonzero(residual < least)
    laws = dict.fromkeys(contacts[row] for row in deep)
    lines = [_line(law, float(-residual[[row for row in deep if contacts[row] is law]].min())) for law in laws]
    kept |= {"t": start.t, "places": places.copy(), "lines": tuple(lines)}
    return kept["lines"]


def _contacts(model: Model) -> tuple[dict[int, Contact], np.ndarray]:
    """The contact of every row of one, and the least gap that a row may have at the start; none of rows of other laws."""
    found, least, at = {}, np.full(constraint_set(model).count, -np.inf), 0
    for law, size in constraint_set(model).sizes():
        if isinstance(law, Contact) and not law.looks:
            radii = [r for r in map(float, law.radii()) if r > 0.0]
            least[at : at + size] = -min([DEEP_M, *(DEEP * r for r in radii)])
            found |= dict.fromkeys(range(at, at + size), law)
        at += size
    return found, least


def _line(law: Contact, depth: float) -> str:
    a, b = law.bodies
    return f"{a!r} starts {depth:.3g} m inside {b!r}: the run pushes them apart, with energy from nowhere; start them apart"
