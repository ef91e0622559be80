"""The way from the root to a frame: its Jacobian, the rate of that, and products, for as many bodies as the way is long.

J     = (... Ad(E_wj) S_j ...)   for the joints on the way, zero elsewhere       [Liu & Jain, Eqs. 28-31, 51, 57]
J_dot = (... ad(V_j) c_j + Ad(E_wj) S_dot_j ...)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernel.sweep import POSE, SCALAR, Algorithm, Field, Step, over, vector
from ..model.rules import motion_of
from ..spatial.scalar import Vector, cross, dot, stack, zeros
from ..spatial.se3 import SE3, bracket
from .rules import flat, moving_columns, rooted, still_of, sum_of, vectors, world_columns

BODY, WORLD, ALIGNED = "body", "world", "aligned"
AXES = (BODY, WORLD, ALIGNED)


# --- along the way ---------------------------------------------------------------------------------------------------------
def reach(n: Any, carrier: Any) -> None:
    """Pose and columns."""
    E, S = still_of(n)
    carrier.pose = rooted(n, carrier, E)
    n.columns = flat(world_columns(carrier.pose, S))


def reach_from_origin(n: Any, carrier: Any) -> None:
    """The same, seen from the world's origin."""
    E, S = still_of(n)
    carrier.pose = E.collapsed() if n.is_root else (carrier.pose @ E).collapsed()
    n.columns = flat(world_columns(carrier.pose, S))


def reach_moving(n: Any, carrier: Any) -> None:
    """Pose, twist, columns and their rates."""
    pose, V, C, C_dot = moving_columns(n, carrier)
    carrier.base = motion_of(n).p if n.is_root else carrier.base
    carrier.pose, carrier.V = pose, V
    n.columns, n.rates = flat(C), flat(C_dot)


def reach_accelerating(n: Any, carrier: Any) -> None:
    """Pose, twist and its rate: A = A_p + C a + C_dot v."""
    pose, V, C, C_dot = moving_columns(n, carrier)
    start = zeros(6) if n.is_root else carrier.A
    carrier.base = motion_of(n).p if n.is_root else carrier.base
    carrier.pose, carrier.V = pose, V
    carrier.A = sum_of(C_dot, n.v, sum_of(C, n.a, start))


def arrive(n: Any, carrier: Any) -> None:
    """The pose of the frame itself."""
    carrier.frame = (carrier.pose @ n.tip).collapsed()


# --- axes ---------------------------------------------------------------------------------------------------------------------
def shifted(x: Vector, p: Vector) -> Vector:
    """A twist in the same axes about another point: (w, v + w x p)."""
    return flat([x[:3], x[3:] + cross(x[:3], p)])


def column_in(axes: str, frame: SE3, c: Vector) -> Vector:
    """A column as the frame sees it: in its own axes, or in world axes about its origin."""
    return frame.pull_twist(c) if axes == BODY else shifted(c, frame.p)


def rate_in(axes: str, carrier: Any, c: Vector, c_dot: Vector) -> Vector:
    """The time derivative of what `column_in` returns; about the world's origin for "world"."""
    V = carrier.V
    if axes == BODY:
        return carrier.frame.pull_twist(c_dot - bracket(V, c))
    if axes == WORLD:
        return shifted(c_dot, -carrier.base)
    p = carrier.frame.p
    p_dot = V[3:] + cross(V[:3], p)
    moved = shifted(c_dot, p)
    return flat([moved[:3], moved[3:] + cross(c[:3], p_dot)])


def _finish(axes: str) -> Callable[..., None]:
    def finish(n: Any, carrier: Any) -> None:
        n.columns = flat([column_in(axes, carrier.frame, c) for c in vectors(n.columns, 6)])

    return finish


def _finish_rates(axes: str) -> Callable[..., None]:
    def finish_rates(n: Any, carrier: Any) -> None:
        pairs = zip(vectors(n.columns, 6), vectors(n.rates, 6), strict=True)
        n.rates = flat([rate_in(axes, carrier, c, c_dot) for c, c_dot in pairs])

    return finish_rates


def _finish_motion(axes: str) -> Callable[..., None]:
    def finish_motion(n: Any, carrier: Any) -> None:
        V = carrier.V
        carrier.velocity = shifted(V, -carrier.base) if axes == WORLD else column_in(axes, carrier.frame, V)
        carrier.acceleration = rate_in(axes, carrier, V, carrier.A)

    return finish_motion


def _push(axes: str) -> Callable[..., None]:
    def push(n: Any, carrier: Any) -> None:
        held = _about_root(axes, carrier.frame, n.wrench)
        n.tau = stack(*(dot(c, held) for c in vectors(n.columns, 6)))

    return push


def _about_root(axes: str, frame: SE3, f: Vector) -> Vector:
    """A wrench on the frame, in world axes about where its columns are."""
    if axes == BODY:
        return frame.move_wrench(f)
    return f if axes == WORLD else flat([f[:3] + cross(frame.p, f[3:]), f[3:]])


# --- programs -------------------------------------------------------------------------------------------------------------------
def _fields(**more: Field) -> dict[str, Field]:
    return {
        "q": Field("input", "q"),
        "tip": Field("input", "global", POSE),
        "pose": Field("work", "carrier", POSE),
        "frame": Field("work", "carrier", POSE),
        **more,
    }


def _moving(**more: Field) -> dict[str, Field]:
    carried = {"V": Field("work", "carrier", vector(6)), "base": Field("work", "carrier", vector(3))}
    return _fields(v=Field("input", "v"), **carried, **more)


def _along(rule: Callable[..., None]) -> Step:
    return over("path", rule, "carrier")


ARRIVE = over("tip", arrive, "carrier")


def _jacobian(axes: str) -> Algorithm:
    fields = _fields(J=Field("output", "J6", SCALAR), columns=Field("work", "columns", alias="J"))
    steps = [_along(reach_from_origin)] if axes == WORLD else [_along(reach), ARRIVE, _along(_finish(axes))]
    return Algorithm(f"frame_jacobian_{axes}", fields, {"run": steps})


def _jacobian_dot(axes: str) -> Algorithm:
    fields = _moving(
        J_dot=Field("output", "J6", SCALAR),
        rates=Field("work", "columns", alias="J_dot"),
        columns=Field("work", "columns"),
    )
    steps = [_along(reach_moving), ARRIVE, _along(_finish_rates(axes))]
    return Algorithm(f"frame_jacobian_dot_{axes}", fields, {"run": steps})


def _motion(axes: str) -> Algorithm:
    six = vector(6)
    fields = _moving(
        a=Field("input", "v"),
        A=Field("work", "carrier", six),
        velocity=Field("output", "carrier", six),
        acceleration=Field("output", "carrier", six),
    )
    steps = [_along(reach_accelerating), ARRIVE, over("tip", _finish_motion(axes), "carrier")]
    return Algorithm(f"frame_motion_{axes}", fields, {"run": steps})


def _forces(axes: str) -> Algorithm:
    fields = _fields(columns=Field("work", "columns"), wrench=Field("input", "global", vector(6)), tau=Field("output", "v"))
    steps = [_along(reach_from_origin if axes == WORLD else reach), ARRIVE, _along(_push(axes))]
    return Algorithm(f"frame_forces_{axes}", fields, {"run": steps})


JACOBIAN = {axes: _jacobian(axes) for axes in AXES}
JACOBIAN_DOT = {axes: _jacobian_dot(axes) for axes in AXES}
MOTION = {axes: _motion(axes) for axes in AXES}
FORCES = {axes: _forces(axes) for axes in AXES}
