"""Joints of surfaces that lose their contact, because the curvatures of the surfaces agree there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.sweep import SCALAR, Algorithm, Field, each
from .model import Body, Model
from .rules import joint_of

LOST_CONTACT = "loses its contact"


def _measure(n: Any) -> None:
    n.curvature = joint_of(n).relative_curvature(n.q) if n.joint.may_part else 1.0


RELATIVE_CURVATURE = Algorithm(
    "relative_curvature",
    {"q": Field("input", "q"), "curvature": Field("output", "node", SCALAR)},
    {"run": [each(_measure)]},
)


def may_part(model: Model) -> bool:
    """Whether the curvatures of some joint's surfaces may agree."""
    return model.keep_as(may_part, lambda: any(b.joint.may_part for b in model.bodies))


def relative_curvatures(model: Model, q: np.ndarray) -> np.ndarray:
    """`Joint.relative_curvature` of all joints at configurations (..., nq): (..., bodies); NaN at those that are not finite."""
    given = np.reshape(q, (-1, model.nq))
    finite = np.isfinite(given).all(axis=1)
    found = np.full((len(given), model.nb), np.nan)
    if finite.any():
        found[finite] = model.call(RELATIVE_CURVATURE, {"q": given[finite]})["curvature"][..., 0]
    return found.reshape(*np.shape(q)[:-1], model.nb)


def lost_contact(body: Body) -> str:
    """What to say of a joint that loses its contact."""
    return (
        f"joint {body.joint_name!r} ({body.joint!r}) {LOST_CONTACT}: the curvatures of its surfaces agree there, so that its "
        "point of contact jumps; use surfaces that curve apart, or contacts of shapes, which may part"
    )
