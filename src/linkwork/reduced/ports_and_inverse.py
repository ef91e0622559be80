"""The columns at ports (`port_columns`) and the inverse of the mass matrix (`inverse_mass_matrix`) of one state, which place its
bodies once."""

from __future__ import annotations

from typing import Any

from ..kernel.sweep import Algorithm, inward, outward
from .forward_pairs import answers
from .inverse_mass_matrix import INVERSE_MASS_MATRIX, UNUSED, articulate, begin_answers
from .pairs import routine
from .port_columns import PORT_COLUMNS, columns_at_ports, columns_of
from .root_frame import place_in_root


def place_all(n: Any, parent: Any) -> None:
    """Every body with its columns, and its inertia, in the frame of its root."""
    at = place_in_root(n, parent)
    n.own = at.inertia
    columns_of(n, parent, at)


PORTS_AND_INVERSE = Algorithm(
    "ports_and_inverse",
    INVERSE_MASS_MATRIX.fields | PORT_COLUMNS.fields,
    {
        "run": [
            outward(place_all),
            inward(articulate),
            outward(begin_answers),
            routine(answers, **UNUSED),
            routine(columns_at_ports),
        ]
    },
)
