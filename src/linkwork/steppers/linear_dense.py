"""The program of the matrices of `linear_step` for a model: which of the routines of `linear_free`, `linear_rows`,
`linear_out` and `linear_moving` run, on arrays of which sizes.

It runs in one lane, for one state at a time, in the memory of the programs before it: nothing is copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..kernel.plans import Plans
from ..kernel.products import clear
from ..kernel.sequence import Entry
from ..kernel.sweep import SCALAR, Algorithm, Field, NodeClass, Routine, Step, Tree
from ..kernel.widths import SCALAR64
from ..kernel.workspace import Workspace, address_of
from ..reduced.linear_laws import Part, put, put_awake
from ..reduced.pairs import routine
from .linear_free import (
    add_first_answers,
    add_velocities,
    carry_to_middle,
    clear_slopes,
    forces_on_velocities,
    lay_answers,
    lay_motions,
    no_slopes,
    take_diagonal_slopes,
    take_slopes,
)
from .linear_layout import PARTS, DenseLayout
from .linear_lists import list_acting, list_pushed, list_runs
from .linear_moving import add_late, add_moving, answer_motion, notice_open
from .linear_out import add_displacement, lay_ways, pushed_answers, turning_rows, updated, watch_displaced
from .linear_ports import (
    add_pairs,
    add_watched_product,
    notice_motion,
    notice_unlike,
    rows_at_positions,
    rows_in_acceleration,
    rows_in_motion,
)
from .linear_rows import (
    answer_rows,
    answer_unlike,
    forces_through_rows,
    forces_unlike,
    lay_pressed,
    take_pressed,
    take_unlike,
    watch_rows,
)

if TYPE_CHECKING:
    from .linear_step import LinearStep

# what displaced rows have of their own of what all rows have
OF_DISPLACED = ("place", "places", "acting", "before", "runs", "slopes", "on_joints", "on_middle", "on_accelerations")


class DenseProgram:
    """The matrices of a model's steps.

    motions   what the tree is asked
    free      up to what rows add to v', and what changes of diagonals of A need
    out       the displacement that pushes out, if there is one
    update    of joints
    """

    def __init__(self, step: LinearStep) -> None:
        self.step, self.linear, self.layout = step, step.linear, DenseLayout(step)
        layout = self.layout
        phases: dict[str, Sequence[Step]] = {
            "motions": [routine(lay_motions)],
            "free": [*self._slopes(), *(self._rows() if step.rows is not None else []), *self._velocities()],
            "out": self._out() if step.out else [],
            "update": [routine(updated)],
        }
        fields = {name: Field("work", name, SCALAR) for name in layout.sizes} | {
            name: Field("work", "global", SCALAR) for name in ("moving", "unlike")
        }
        one = Tree(
            np.array([-1]),
            [NodeClass(("matrices",))],
            [{}],
            counts=layout.sizes,
            numbers=layout.numbers,
            tables={name: np.ascontiguousarray(x, np.int32) for name, x in layout.tables.items()},
        )
        self.plans = Plans(one)
        self.algorithm = Algorithm(f"linear_{'_'.join(phases)}", fields, phases, alone=True)

    # --- phases --------------------------------------------------------------------------------------------------------------
    def _slopes(self) -> list[Step]:
        """Of forces."""
        step = self.step
        found: list[Step] = [routine(take_diagonal_slopes if self.layout.alone else no_slopes)]
        if step.forces is None or self.layout.alone:
            return found
        found += [self._put(part) for part in self.linear.force_parts]
        if step.forces.bodies:
            found += [
                routine(clear_slopes),
                self._pairs("force", "K_ports", "none", "K_joints"),
                self._pairs("force", "D_ports", "velocity_columns", "K_joints"),
                self._pairs("force", "D_ports", "none", "D_joints"),
            ]
        return [*found, routine(take_slopes, **self._of_joints)]

    @property
    def _of_joints(self) -> dict[str, str]:
        """The slopes of forces on joints alone are where they are put together."""
        forces = self.step.forces
        alone = forces is not None and not self.layout.alone and not forces.bodies
        return {"K_joints": "K_ports", "D_joints": "D_ports"} if alone else {}

    def _velocities(self) -> list[Step]:
        """v', and the ways of joints."""
        step = self.step
        held = step.rows is not None
        of = {"rows": "nv", "out": "result", "o": "lower_half"}
        found: list[Step] = [routine(forces_on_velocities)]
        if held:
            found += [routine(forces_through_rows), replace(routine(forces_unlike), when="unlike")]
        found.append(routine(lay_answers, **of))
        if step.middle:
            own = {k: x for k, x in self._of_joints.items() if k == "D_joints"}
            found.append(routine(carry_to_middle, **of, **own))
            found += [self._watched("on_middle", "none", "nv", "carried", "none", "nv")] if held else []
            found.append(routine(add_first_answers, **of))
        if held:
            found += [
                replace(routine(take_unlike, **of, X="lost"), when="unlike"),
                self._watched("on_joints", "of_q", "three_rows", "result", "lower_half", "three_rows"),
                self._watched("on_joints", "of_v", "three_rows", "result", "lower_velocities", "three_rows"),
            ]
        found += [routine(add_velocities), routine(lay_ways)]
        return [*found, routine(list_pushed), routine(pushed_answers)] if step.out else found

    def _put(self, part: Part) -> Routine:
        """A part of laws on the space of their ports."""
        names = {name: f"{part.whole}_{name}" for name in ("count", "size", "places", "laws", "starts")}
        function = put_awake if part in self.linear.row_parts else put
        return routine(function, **names, part=part.name, whole=part.whole)

    def _pressed(self, F: str, motion: str, when: str | None = None) -> list[Routine]:
        """What rows press, with q, multipliers held."""
        found = [routine(lay_pressed, motion=motion), self._pairs("row", F, "none", "pressed_q")]
        return [replace(step, when=when) for step in found]

    def _rows(self) -> list[Step]:
        """Which rows act, what they see, and what that does to v'."""
        of: dict[str, str] = {"G": "G_seen", "slopes": "w_slopes"}
        return [
            *(self._put(part) for part in self.linear.row_parts if part.name not in PARTS),
            routine(list_acting),
            routine(list_runs),
            Routine(clear, ("square", "pressed_q")),
            self._pairs("row", "f_ports", "none", "pressed_q"),
            routine(take_pressed),
            routine(rows_at_positions, **of, motion="held_columns"),
            routine(rows_in_motion, **of),
            routine(answer_rows),
            routine(watch_rows),
            routine(notice_unlike, **of),
            *self._unlike(of),
        ]

    def _unlike(self, of: dict[str, str]) -> list[Step]:
        """Rows that see accelerations otherwise than what is pressed, if there are some."""
        found: list[Routine] = [routine(rows_in_acceleration, **of, like="one"), routine(answer_unlike)]
        return [*(replace(step, when="unlike") for step in found), *self._pressed("f_ports", "held_motion", "unlike")]

    def _out(self) -> list[Step]:
        own = {name: f"out_{name}" for name in OF_DISPLACED} | {"G": "G_seen"}
        return [
            routine(list_runs, **own),
            routine(rows_at_positions, **own, motion="out_columns"),
            *self._moving(own),
            *self._pressed("out_f_ports", "out_motion"),
            routine(turning_rows),
            routine(watch_displaced),
            routine(add_displacement),
            replace(routine(add_moving), when="moving"),
        ]

    def _moving(self, own: dict[str, str]) -> list[Step]:
        """What moves at ports, as far as displaced rows see it, in out_g: nothing as a rule."""
        joints = {k: x for k, x in self._of_joints.items() if k == "D_joints"}
        found = [routine(rows_in_motion, **own), routine(rows_in_acceleration, **own, like="none")]
        return [
            routine(notice_motion, **own),
            routine(notice_open),
            *(replace(step, when="moving") for step in found),
            *self._pressed("f_ports", "held_motion", "moving"),
            *(replace(step, when="moving") for step in (routine(answer_motion, **joints), routine(add_late))),
        ]

    def _pairs(self, of: str, F: str, kind: str, out: str) -> Routine:
        """J^T F X of ports of forces or rows."""
        tables = {name: f"{of}_{name}" for name, _ in add_pairs.parameters if name.startswith("pair_")}
        return routine(add_pairs, **tables, pairs=f"{of}_pair", S=f"{of}_ports", F=F, kind=kind, out=out)

    def _watched(self, A: str, a: str, A_row: str, C: str, c: str, C_row: str) -> Routine:
        """C += W^T A of rows in groups."""
        return routine(add_watched_product, A=A, a=a, A_row=A_row, C=C, c=c, C_row=C_row)


class DenseCall:
    """The program on arrays, state by state.

    given    (batch, ...), a row of each state
    kept     arrays of its own that others look at
    result   where it writes to: (batch, 6 nv nv + rows), told before every run
    """

    def __init__(
        self, program: DenseProgram, given: Mapping[str, np.ndarray], kept: Mapping[str, np.ndarray], batch: int
    ) -> None:
        plans = {phase: program.plans(program.algorithm, SCALAR64, (phase,)) for phase in program.algorithm.phases}
        first = plans["free"].workspace()
        self._works = {phase: first if phase == "free" else Workspace(plan, first) for phase, plan in plans.items()}
        names = first.plan.arrays
        self._bases = np.repeat(first.bases[None], batch, axis=0)
        for name, x in {**given, **kept}.items():
            if name in program.layout.sizes:
                steps = np.arange(batch) * (x.strides[0] if name in given else 0)
                self._bases[:, names.index(name)] = address_of(x) + steps
        self._result, self._at = names.index("result"), 0
        self._alive = (given, kept)
        for work in self._works.values():
            work.job({}, {}, 1)

    def entry(self, phase: str, state: int, flag: np.ndarray | None = None) -> Entry:
        """One phase for one state, as a part of a sequence."""
        return Entry(self._works[phase], self._bases[state], flag)

    def write_to(self, result: np.ndarray) -> None:
        """Where the next result goes."""
        at = address_of(result)
        if at != self._at:
            self._bases[:, self._result] = at + result.strides[0] * np.arange(len(result))
            self._at = at
