"""Angles that look like degrees: hinges turn by radians, and a number that is meant otherwise is told, not believed.

A hinge may turn more than once, so a large angle is no error: the model keeps a line in its notes, and warns (`UnitWarning`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..joints import Joint

if TYPE_CHECKING:
    from .model import Body

TURNS = 4.0 * np.pi  # rad: larger angles of a hinge that somebody writes down are degrees, as a rule
DEGREES = 3600.0  # larger ones are no degrees either: files write them where nothing is limited
SLIGHT = 1e-9  # rad per unit of a coordinate: one that turns its body less is a length
LOOKS = "looks like degrees; angles are in radians: write np.deg2rad(...), and if it is meant, ignore lw.UnitWarning"


def turning_velocities(joint: Joint) -> np.ndarray:
    """Whether each velocity (nv,) of a joint turns its body, in the neutral position."""
    single = joint.one_chart()
    tangent = single.motion(single.neutral(), np.zeros(joint.nv)).tangent if joint.nv else None
    S = np.zeros((6, joint.nv)) if tangent is None else np.asarray(tangent.S, float)
    return np.linalg.norm(S[:3], axis=0) > SLIGHT


def turning_coordinates(joint: Joint) -> np.ndarray:
    """Whether each coordinate (nq,) is an angle of its own; none of joints whose coordinates do not add."""
    return turning_velocities(joint) if joint.one_chart().coordinates_add else np.zeros(joint.nq, bool)


def looks_like_degrees(angles: np.ndarray) -> np.ndarray:
    """Whether each of some angles of hinges (rad) was meant in degrees."""
    return (np.abs(angles) > TURNS) & (np.abs(angles) <= DEGREES)


def angles_in_degrees(bodies: Sequence[Body], elements: Iterable[Any]) -> tuple[str, ...]:
    """A line for every joint and every element with an angle that looks like degrees.

    An element says which coordinates it is given by `given_coordinates`: (joint, name of the argument, values) each.
    """
    return tuple(line for line in (*_of_limits(bodies), *_of_elements(bodies, elements)))


def _of_limits(bodies: Sequence[Body]) -> Iterator[str]:
    for body in bodies:
        p = body.properties
        bounds = np.concatenate([p.lower, p.upper])
        large = looks_like_degrees(bounds)
        if large.any() and (large & np.tile(turning_coordinates(body.joint), 2)).any():
            shown = ", ".join(f"{x:g}" for x in bounds[large])
            yield f"joint {body.joint_name!r}: a limit of {shown} rad {LOOKS}"


def _of_elements(bodies: Sequence[Body], elements: Iterable[Any]) -> Iterator[str]:
    known: dict[str, Joint] | None = None
    for element in elements:
        given = getattr(element, "given_coordinates", None)
        for name, what, values in given() if given is not None else ():
            x = np.atleast_1d(np.asarray(values, float))
            large = looks_like_degrees(x)
            if not large.any():
                continue
            if known is None:
                known = {key: b.joint for b in bodies for key in (b.name, b.joint_name)}
            turning = turning_coordinates(known[name]) if name in known else np.zeros(0, bool)
            if turning.size and (large & np.resize(turning, x.shape)).any():
                yield f"{element!r}: {what} of {', '.join(f'{e:g}' for e in x[large])} rad {LOOKS}"
