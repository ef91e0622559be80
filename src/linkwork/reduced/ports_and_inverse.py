"""The columns at ports (`port_columns`) and the inverse of the mass matrix (`inverse_by_chains`) of one state, which place its
bodies once; accelerations are those of a step (`Joint.steady_motion`)."""

from __future__ import annotations

from typing import Any

from ..kernel.sweep import Algorithm, inward, outward
from .inverse_by_chains import INVERSE, inverse_by_chains
from .inverse_mass_matrix import articulate
from .pairs import routine
from .port_columns import PORT_COLUMNS, columns_at_ports, columns_of
from .root_frame import motion_in_step, place_in_root


def place_all(n: Any, parent: Any) -> None:
    """Every body with its columns, and its inertia, in the frame of its root."""
    at = place_in_root(n, parent, motion_in_step)
    n.own = at.inertia
    columns_of(n, parent, at, motion_in_step)


PORTS_AND_INVERSE = Algorithm(
    "ports_and_inverse",
    INVERSE | PORT_COLUMNS.fields,
    {
        "run": [
            outward(place_all),
            inward(articulate),
            routine(inverse_by_chains),
            routine(columns_at_ports),
        ]
    },
)
