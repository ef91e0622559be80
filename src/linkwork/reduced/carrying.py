"""What joints carry in an explicit step in reduced coordinates, for friction inside them (`rows.pressing`)."""

from __future__ import annotations

from typing import Any

from ..model.rules import inertia_of
from ..rows.pressing import transmit
from ..spatial.scalar import Vector
from .rules import gyroscopic


def carry_loaded(n: Any, parent: Any) -> None:
    """Newton and Euler for one body under all loads, with what its children carry."""
    _carry(n, parent, n.load)


def carry(n: Any, parent: Any) -> None:
    """The same where no forces act."""
    _carry(n, parent, n.external)


def _carry(n: Any, parent: Any, load: Vector) -> None:
    own, rate = inertia_of(n), 1.0 / n.h
    wrench = own @ (n.acc + rate * n.jump) + gyroscopic(n.w, n.first_moment, own.J) - load - rate * n.row_load + n.held_up
    transmit(n, parent, wrench)
