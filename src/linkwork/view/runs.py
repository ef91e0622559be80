"""What of a run is shown: one run of a batch, a choice of its records."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..constraints import Constraint
from ..elements.collection import collection

if TYPE_CHECKING:
    from ..trajectory import Trajectory


SEEN = 1e12  # larger numbers are those of a run that breaks down


def batch_size(trajectory: Trajectory) -> int | None:
    """The number of runs of a batch; None for a single run."""
    a = trajectory.arrays["q" if trajectory.kind == "reduced" else "q_fit"]
    return len(a) if a.ndim == 3 else None


def first_run(trajectory: Trajectory) -> Trajectory:
    """The first run of a batch; a single run as it is."""
    from ..trajectory import Trajectory

    if batch_size(trajectory) is None:
        return trajectory
    arrays = {name: a[0] for name, a in trajectory.arrays.items()}
    tau, forces, left, external = trajectory.tau, trajectory.forces, trajectory.left, trajectory.external
    first = {"tau": tau, "rows": forces, "left": left, "external": external if external is None or external.ndim > 2 else None}
    rest = {name: a[0] for name, a in first.items() if a is not None}
    whole: dict[str, Any] = {f.name: getattr(trajectory, f.name) for f in fields(trajectory)}
    whole.update(rest, arrays=arrays, steps=trajectory.first_steps)
    return Trajectory(**whole)


def finite_records(trajectory: Trajectory) -> int:
    """How many records of a single run come before the first that is not finite, or so large that nothing can be seen."""
    ok = np.ones(len(trajectory), dtype=bool)
    for a in trajectory.arrays.values():
        ok &= (np.abs(a) < SEEN).reshape(len(trajectory), -1).all(axis=1)
    return len(ok) if ok.all() else int(np.argmin(ok))


def spread(count: int, most: int) -> np.ndarray:
    """At most `most` of `count` indices, evenly spread, the first and the last among them."""
    if count <= most:
        return np.arange(count)
    return np.round(np.linspace(0, count - 1, most)).astype(int)


def summary(trajectory: Trajectory) -> str:
    """The size of a run in one line."""
    model, t = trajectory.model, trajectory.t
    parts = [counted(model.nb, "body", "bodies"), f"{counted(model.nv, 'joint degree')} of freedom"]
    rows = sum(c.size for c in collection(model).rows if isinstance(c, Constraint))
    if rows:
        parts.append(counted(rows, "constraint row"))
    if len(t) == 1:
        return ", ".join(parts)
    return f"{', '.join(parts)}, {trajectory.kind} coordinates, {t[-1] - t[0]:.6g} s in {counted(len(t), 'record')}"


def counted(n: int, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{n} {one if n == 1 else many or one + 's'}"
