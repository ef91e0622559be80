"""Joints of scene files, by their type."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...joints import (
    Composite,
    Fixed,
    Free2D,
    FreeExp,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    SphericalEuler,
    SphericalExp,
    Translational,
    Universal,
)
from ...joints.euler_charts import SEQUENCES, EulerCharts
from ...spatial.gate import meant
from .published_joints import PublishedSplineCurve, PublishedSplineSurface
from .record import Record

RADIUS = 1.5 * np.pi  # |r| at which the published steps with fixed length change rotation vectors


def axis_of(record: Record) -> np.ndarray:
    """The axis of a joint, of unit length."""
    axis = record.vector("axis")
    length = np.linalg.norm(axis)
    if length == 0.0:
        raise record.error("'axis' must not be zero")
    return axis / length


def _chart(record: Record) -> str:
    chart = record.text("chart", "XYZ").lower()
    if chart not in SEQUENCES:
        raise record.error(f"'chart' must be one of {', '.join(SEQUENCES)} (in capitals), not {chart.upper()!r}")
    return chart


def _parts(record: Record) -> list[Record]:
    """The two joints of a composite one: the objects in it, or in a list of it, that say what joint they are."""
    found: list[Record] = []
    for key, value in record.data.items():
        for x in value if isinstance(value, list) else [value]:
            kind = next((k for k in x.values() if isinstance(k, str) and k in KINDS), None) if isinstance(x, dict) else None
            if kind is not None:
                found.append(Record({**x, "type": kind}, f"{record.where}, {key}"))
            elif key != "type" and isinstance(x, str) and x in KINDS:
                found.append(Record({**record.data, "type": x}, f"{record.where}, {key}"))
    if len(found) != 2:
        raise record.unsupported(f"a composite joint of two parts that say their type; this one has {len(found)}")
    return found


def _composite(record: Record, radius: float) -> Joint:
    first, second = (joint_of(part, radius) for part in _parts(record))
    return Composite(first, second)


def _spline_surface(record: Record) -> Joint:
    """Control values as six grids, or as a grid of six; coordinates run from 0 to 1 in every patch, and beyond."""
    C = np.asarray(record.get("control_values"), dtype=object)
    C = record.array("control_values", (-1,) * C.ndim)
    values = C if len(C) == 6 and C.shape[-1:] != (6,) else np.moveaxis(C, -1, 0)
    if len(values) != 6 or C.ndim not in (2, 3, 4):
        raise record.error(f"'control_values' must be six grids of one to three axes, or grids of six, not of shape {C.shape}")
    return PublishedSplineSurface(values, domain=(None, None))


KINDS: dict[str, Callable[[Record, float], Joint]] = {
    "fixed": lambda r, _: Fixed(),
    "revolute": lambda r, _: Revolute(axis_of(r)),
    "prismatic": lambda r, _: Prismatic(axis_of(r)),
    "planar": lambda r, _: Planar(),
    "translational": lambda r, _: Translational(),
    "universal": lambda r, _: Universal(),
    "free2d": lambda r, _: Free2D(),
    "spherical_exp": lambda r, radius: SphericalExp(radius),
    "free3d_exp": lambda r, radius: FreeExp("TR", radius),
    "free_ST": lambda r, radius: FreeExp("RT", radius),
    "spherical_euler": lambda r, _: EulerCharts(_chart(r)),
    "free3d_euler": lambda r, _: Composite(Translational(), SphericalEuler(_chart(r))),
    "composite": _composite,
    "spline_curve": lambda r, _: PublishedSplineCurve(r.array("control_frames", (-1, 4, 4)), cyclic=True),
    "spline_surface": lambda r, _: _spline_surface(r),
}


def joint_of(record: Record, radius: float = RADIUS) -> Joint:
    """The joint of a record; rotation vectors change their chart beyond `radius`."""
    kind = record.text("type")
    if kind not in KINDS:
        raise record.unsupported(f"joints of type {kind!r}; there are {', '.join(KINDS)}{meant(kind, KINDS)}")
    return KINDS[kind](record, radius)


def start_of(record: Record, joint: Joint) -> tuple[np.ndarray, np.ndarray]:
    """q and v of a joint at the start; what is given for a fixed one has no effect."""
    q, v = record.array("q0", (-1,), []), record.array("qd0", (-1,), [])
    if not joint.nv:
        return np.zeros(0), np.zeros(0)
    for key, x in (("q0", q), ("qd0", v)):
        if len(x) != joint.nv:
            raise record.error(f"{key!r} must have {joint.nv} numbers, not {len(x)}")
    return _with_charts(joint, q), v


def _with_charts(joint: Joint, q: np.ndarray) -> np.ndarray:
    """Coordinates as the joint has them: with the number of the chart where there are several."""
    if isinstance(joint, Composite):
        n = joint.first.nv
        return np.concatenate([_with_charts(joint.first, q[:n]), _with_charts(joint.second, q[n:])])
    return np.append(q, float(joint.start)) if isinstance(joint, EulerCharts) else q
