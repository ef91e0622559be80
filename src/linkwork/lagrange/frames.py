"""Jacobians of bodies, frames and points in chosen axes, their rates and their products.

A twist is (angular, linear). Axes say in which coordinates, and about which point:

    "body"      the frame's own axes, its origin            Pinocchio's LOCAL
    "aligned"   world axes, the frame's origin              LOCAL_WORLD_ALIGNED
    "world"     world axes, the world's origin              WORLD

`frame` names a body or a frame; `point` (3,) is an offset from it, in its axes. Only joints between root and frame are looked at.
Arrays have the batch axis first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel.sweep import Algorithm
from ..model.accepts import check_model, takes_model
from ..model.model import Model
from ..spatial.gate import given_reals, meant
from ..spatial.se3 import SE3
from .frame_programs import ALIGNED, AXES, FORCES, JACOBIAN, JACOBIAN_DOT, MOTION
from .spaces import interface, path_tree, plans_of


def frame_jacobian(
    model: Model, q: Any, frame: str, axes: str = ALIGNED, point: Any = None, threads: int | None = 1
) -> np.ndarray:
    """J (6, nv) or (batch, 6, nv): the twist of the frame is J v [Liu & Jain, Eqs. 28-31, 51, 57, 58].

    >>> lw.frame_jacobian(model, q, "hand", axes="aligned").shape
    (6, 2)
    """
    if type(model) is not Model:
        check_model(model)
    if point is None and type(threads) is int and threads == 1:
        short = model.shortest_calls.get((frame, axes))
        if short is not None and (found := short(q)) is not None:
            return found
    return _run(model, JACOBIAN, axes, frame, point, {"q": q}, "J", (6, model.nv), threads)


def prepared_frame_jacobian(model: Model, frame: str, axes: str = ALIGNED) -> Callable[[np.ndarray], np.ndarray]:
    """`frame_jacobian` as a function of one q with the least overhead: see `model.function`, whose rules hold here, too."""
    frame_jacobian(model, model.neutral(), frame, axes)
    found = model.usual_functions.get((frame, axes))
    return found.prepared() if found is not None else lambda q: np.zeros((6, model.nv))


@takes_model
def frame_jacobian_dot(
    model: Model, q: Any, v: Any, frame: str, axes: str = ALIGNED, point: Any = None, threads: int | None = 1
) -> np.ndarray:
    """The time derivative of `frame_jacobian` along v: (6, nv) or (batch, 6, nv).

    >>> lw.frame_jacobian_dot(model, q, v, "hand").shape
    (6, 2)
    """
    return _run(model, JACOBIAN_DOT, axes, frame, point, {"q": q, "v": v}, "J_dot", (6, model.nv), threads)


def frame_velocity(
    model: Model, q: Any, v: Any, frame: str, axes: str = ALIGNED, point: Any = None, threads: int | None = 1
) -> np.ndarray:
    """J v (6,) or (batch, 6), without J.

    >>> lw.frame_velocity(model, q, v, "hand").shape
    (6,)
    """
    if type(model) is not Model:
        check_model(model)
    return _run(model, MOTION, axes, frame, point, {"q": q, "v": v}, "velocity", (6,), threads)


@takes_model
def frame_acceleration(
    model: Model, q: Any, v: Any, a: Any, frame: str, axes: str = ALIGNED, point: Any = None, threads: int | None = 1
) -> np.ndarray:
    """J a + J_dot v (6,) or (batch, 6): the rate of the components of `frame_velocity`; J_dot v where `a` is None.

    In "aligned" axes that is the angular acceleration and the acceleration of the point.

    >>> lw.frame_acceleration(model, q, v, lw.forward_dynamics(model, q, v), "hand").shape
    (6,)
    """
    given = {"q": q, "v": v} if a is None else {"q": q, "v": v, "a": a}
    return _run(model, MOTION, axes, frame, point, given, "acceleration", (6,), threads)


@takes_model
def frame_forces(
    model: Model, q: Any, wrench: Any, frame: str, axes: str = ALIGNED, point: Any = None, threads: int | None = 1
) -> np.ndarray:
    """J^T f (nv,) or (batch, nv): the joint forces that a wrench (moment, force) on the frame amounts to [Liu & Jain, Eq. 3].

    >>> lw.frame_forces(model, q, [0, 0, 0, 0, 0, 10.0], "hand").shape
    (2,)
    """
    return _run(model, FORCES, axes, frame, point, {"q": q, "wrench": wrench}, "tau", (model.nv,), threads)


@takes_model
def point_jacobian(model: Model, q: Any, frame: str, point: Any = (0.0, 0.0, 0.0), threads: int | None = 1) -> np.ndarray:
    """dr/dq (3, nv) or (batch, 3, nv) of a point of a body, in world axes [Liu & Jain, Eqs. 15, 67].

    >>> lw.point_jacobian(model, q, "lower", (1, 0, 0)).shape
    (3, 2)
    """
    return frame_jacobian(model, q, frame, ALIGNED, point, threads)[..., 3:, :]


def _run(
    model: Model,
    programs: dict[str, Algorithm],
    axes: str,
    frame: str,
    point: Any,
    given: dict[str, Any],
    result: str,
    shape: tuple[int, ...],
    threads: int | None,
) -> np.ndarray:
    """A result of the program on the way to a frame; zero where the frame stands on the world."""
    if not isinstance(axes, str) or axes not in AXES:
        raise InputError(f"axes must be one of {', '.join(map(repr, AXES))}, not {axes!r}{meant(axes, AXES)}")
    body, E = model.frame(frame)
    if body < 0:
        return np.zeros((*max((np.shape(x)[:-1] for x in given.values()), key=len), *shape))
    if point is not None:
        given = {**given, "tip": _entries(E @ SE3(p=_point(point)))}
    key = (frame, axes) if point is None and result == "J" else (programs[axes].name, result, frame, *given)
    known = model.usual_functions.get(key)
    if known is None:
        plans = plans_of(model, ("way", body), lambda: path_tree(model, body))
        inputs = [n for n, f in programs[axes].fields.items() if f.kind == "input"]
        absent = tuple(n for n in inputs if n not in (*given, "tip"))
        program = interface(model, programs[axes], plans, {"velocity": (6,), "acceleration": (6,)})
        known = program.function(tuple(given), (result,), absent, {} if "tip" in given else {"tip": _entries(E)})
        model.usual_functions[key] = known
    found = known.first(threads, *given.values())
    if len(key) == 2 and (short := known.shortest()) is not None:
        model.shortest_calls[key] = short
    return found


def _entries(E: SE3) -> np.ndarray:
    return np.concatenate([np.asarray(E.R, float).reshape(-1), np.asarray(E.p, float)])


def _point(point: Any) -> np.ndarray:
    x = given_reals("point", point)
    if x.shape != (3,):
        raise InputError(f"a point has three coordinates, not shape {x.shape}")
    return x
