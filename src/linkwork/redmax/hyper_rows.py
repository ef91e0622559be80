"""Rows of constraints on hyper-reduced coordinates q = f(r), and the end of a step: see `hyper_program`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..elements.collection import Shape
from ..joints import Joint
from ..kernel.loops import Ints, Lane, Table, loops
from ..kernel.sweep import SCALAR, Field, Routine, Step, each, outward
from ..rows.asked import ask, hold_rows, row_law_at
from ..rows.passed_rows import FURTHER, LATER, SecondLook, drive, returned
from ..rows.push_out import push_out_fields, pushed_out
from ..rows.solved import NOTE_IMPACTS, carrying_up
from ..solvers.boxes import gather
from ..spatial.scalar import Vector, stack, where, zeros
from .dense_program import add_answers, climb_freely, solve_dense


# --- rows --------------------------------------------------------------------------------------------------------------------
def hold_velocities(n: Any, *around: Any) -> None:
    """The rows of one constraint at velocity level, where joints change their velocity also at r_ddot = 0."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    hold_rows(ask, n, *row_law_at(n, ports), ports, places, drift_of)


def drift_of(kind: Any, port: Any) -> Vector:
    """The change of the motion of a port in a step at r_ddot = 0."""
    return port.joint_drift if isinstance(kind, Joint) else port.drift


@loops
def solve_rows(
    active: Ints,
    nr: int,
    starts: Table,
    places: Table,
    freedoms: Table,
    v_at: Table,
    u: Lane,
    J: Lane,
    H: Lane,
    d: Lane,
    G: Lane,
    Y: Lane,
    A: Lane,
) -> None:
    """G J and Y of the rows in the list, and the packed matrix G J Y."""
    for i in range(active[0]):
        r = active[i + 1]
        for k in range(nr):
            G[i * nr + k] = 0.0
        for a in range(starts[r], starts[r + 1]):
            for f in range(freedoms[a]):
                for k in range(nr):
                    G[i * nr + k] += u[places[a] + f] * J[(v_at[a] + f) * nr + k]
        for k in range(nr):
            Y[i * nr + k] = G[i * nr + k]
        solve_dense(nr, H, d, i * nr, Y)
        for j in range(i + 1):
            total = 0.0 * u[0]
            for k in range(nr):
                total += G[j * nr + k] * Y[i * nr + k]
            A[i * (i + 1) // 2 + j] = total


def climbed(most: int, hold: Callable[..., None]) -> list[Step]:
    """Rows of constraints with so many ports at most, on their way to the root."""
    return carrying_up(hold, [f"p{i}" for i in range(most)], climb_freely)


def solved(solver: Sequence[Step], x: str = "x", left: str = "left", when: str = "busy") -> list[Step]:
    """From rows at the root to their multipliers by a solver, and what these do to `gain`."""
    tables = ("starts", "places", "freedoms", "v_at")
    return [
        Routine(gather, ("rows", "on", x, "busy", left, "active")),
        Routine(solve_rows, ("active", "nr", *tables, "u_rows", "J_map", "H", "d_H", "G_map", "Y", "A"), when=when),
        *solver,
        Routine(add_answers, ("active", "nr", "Y", x, "gain"), when=when),
    ]


@loops
def multiply_rows(active: Ints, nr: int, G: Lane, Y: Lane, A: Lane) -> None:
    """The packed matrix G J Y of rows that are solved for."""
    for i in range(active[0]):
        for j in range(i + 1):
            total = 0.0 * A[0]
            for k in range(nr):
                total += G[j * nr + k] * Y[i * nr + k]
            A[i * (i + 1) // 2 + j] = total


def mapped_push_out(shape: Shape) -> list[Step]:
    """The displacement `slide` of r that takes out what is too deep; see `rows.push_out`."""
    matrix = Routine(multiply_rows, ("active", "nr", "G_map", "Y", "A"), when="deep")
    return pushed_out(shape, matrix, [Routine(add_answers, ("active", "nr", "Y", "out_x", "slide"), when="deep")])


# --- a second look -----------------------------------------------------------------------------------------------------------
@loops
def expand_driven(nv: int, nr: int, h: Lane, J: Lane, gain: Lane, slide: Lane, joint_drift: Lane, v: Lane, free_v: Lane) -> None:
    """The mean velocities of joints in a step in which r_dot changes by `gain` and r by `slide` besides."""
    for i in range(nv):
        free_v[i] = v[i] + 0.5 * joint_drift[i]
        for k in range(nr):
            free_v[i] += J[i * nr + k] * (gain[k] + slide[k] / h[0])


def free_again(n: Any) -> None:
    """The change of r_dot before rows, and no displacement."""
    n.gain, n.slide_done, n.slide = n.h * n.free_r, n.slide, zeros(len(n.r))


def return_slide(n: Any) -> None:
    """Displacements of lanes that need no further solve are as they were."""
    n.slide = returned(n, n.slide, n.slide_done)


@loops
def expand_again(nv: int, nr: int, J: Lane, gain: Lane, v: Lane, free_v: Lane) -> None:
    """Joint velocities before rows."""
    for i in range(nv):
        free_v[i] = v[i]
        for k in range(nr):
            free_v[i] += J[i * nr + k] * gain[k]


def second_look(shape: Shape) -> SecondLook:
    """How rows are found that the motion with multipliers would pass: see `rows.passed_rows`."""
    names = ("J_map", "gain", "slide", "joint_drift", "v", "free_v")
    restore = [
        each(free_again, on="map", when=LATER),
        Routine(expand_again, ("nv", "nr", "J_map", "gain", "v", "free_v"), when=FURTHER),
    ]
    joints = Routine(expand_driven, ("nv", "nr", "h", *names))
    driving = [joints, outward(drive)]
    return SecondLook(restore, driving, mapped_push_out(shape), [each(return_slide, on="map", when=LATER)])


# --- the end of a step -------------------------------------------------------------------------------------------------------
def step_on(n: Any) -> None:
    """r_dot' = r_dot + gain, r' = r + h r_dot'."""
    n.r_dot = n.stage_r_dot = n.r_dot + n.gain
    n.r = n.stage_r = n.r + n.h * n.r_dot


def step_forward(n: Any) -> None:
    """The same, with the acceleration that predicts the next middle."""
    n.last_r = n.gain / n.h
    step_on(n)


def step_held(n: Any) -> None:
    """The same where there are rows: what they had to do with that acceleration."""
    step_forward(n)
    n.pull_r = n.last_r - n.free_r


def step_after_pushes(n: Any) -> None:
    """The same where rows may push, and push out: an impact is no acceleration."""
    last = [where(n.struck > 0.0, a, x / n.h) for a, x in zip(n.free_r, n.gain, strict=True)]
    step_on(n)
    n.r = n.stage_r = n.r + n.slide
    n.slide = zeros(len(n.r))
    n.last_r = stack(*last)
    n.pull_r = n.last_r - n.free_r


def stepped(shape: Shape) -> list[Step]:
    """From `gain` to the state after a step of velocities with evaluations at its middle."""
    if shape[3]:
        return [NOTE_IMPACTS, each(step_after_pushes, on="map")]
    return [each(step_held if shape[1] >= 0 else step_forward, on="map")]


def step_fields(shape: Shape) -> dict[str, Field]:
    """The fields of `stepped`."""
    found = {name: Field("state", "r", of="map") for name in ("last_r", *(["pull_r"] if shape[1] >= 0 else []))}
    found |= push_out_fields(shape) | {"struck": Field("work", "global", SCALAR)}
    return found | ({name: Field("work", "r", of="map") for name in ("slide", "slide_done")} if shape[3] else {})
