"""The numbers of a run as a table of text (`.csv`): a column a quantity, a row a record."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..store.files import whole_file
from .labels import Label, coordinate_labels, force_labels, velocity_labels
from .runs import first_run

if TYPE_CHECKING:
    from ..trajectory import Trajectory


def table(trajectory: Trajectory) -> tuple[list[str], np.ndarray]:
    """Headings with units, and the numbers (records, columns): time, q, v, joint forces, constraint forces, energies.

    Of a batch, the first run.
    """
    run, model = first_run(trajectory), trajectory.model
    parts = [
        ([Label("time", "s")], run.t[:, None]),
        ([Label(f"q {x.name}", x.unit) for x in coordinate_labels(model)], run.q),
        ([Label(f"v {x.name}", x.unit) for x in velocity_labels(model)], run.v),
    ]
    if run.tau is not None:
        parts.append(([Label(f"tau {x.name}", "") for x in velocity_labels(model)], run.tau))
    if run.forces is not None and run.forces.size:
        parts.append(([Label(f"force {x.name}", x.unit) for x in force_labels(model)], run.forces))
    energies = np.stack([run.energy.kinetic, run.energy.potential], axis=-1)
    parts.append(([Label("kinetic energy", "J"), Label("potential energy", "J")], energies))
    names = [f"{x.name} ({x.unit})" if x.unit else x.name for labels, _ in parts for x in labels]
    return names, np.concatenate([values for _, values in parts], axis=1)


def write_table(trajectory: Trajectory, path: Path) -> None:
    """Write `table` as `.csv`: numbers as they are, to the last digit."""
    names, values = table(trajectory)
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([repr(x) for x in row] for row in values.tolist())
