"""The program of `linear_products` for a model: which of its routines run, on arrays of which sizes.

It runs in one lane, for one state at a time, in the memory of the programs before it: nothing is copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..kernel.plans import Plans
from ..kernel.sweep import SCALAR, Algorithm, Field, NodeClass, Step, Tree
from ..kernel.widths import SCALAR64
from ..kernel.workspace import Workspace, address_of
from ..reduced.law_slopes import SEEN
from ..reduced.pairs import routine
from ..reduced.port_columns import COLUMNS
from ..reduced.port_space import PortSpace
from .linear_products import (
    body_slopes,
    first_accelerations,
    free_changes,
    held_changes,
    joint_slopes,
    no_displacement,
    no_slopes,
    only_accelerations,
    pushed_answers,
    pushed_changes,
    row_answers,
    spread_columns,
    updated,
)

if TYPE_CHECKING:
    from .linear_step import LinearStep


class DenseProgram:
    """The matrices of a model's steps: "free" up to what rows add to v', "out" from there, if something is pushed out or not."""

    def __init__(self, step: LinearStep) -> None:
        self.step, model, linear = step, step.model, step.linear
        nv, rows, forces = model.nv, linear.rows, linear.forces
        R, S, F = linear.laws.row_count, rows.size if rows else 0, forces.size if forces else 0
        P, Q = len(linear.pushing), len(linear.displaced)
        self.sizes = {
            **dict.fromkeys(("E", "V"), len(step.motions) * nv * nv),
            **dict.fromkeys(("M_inverse", "K_joints", "D_joints", "coriolis"), nv * nv),
            **dict.fromkeys(("first", "accelerations", "change"), 3 * nv * nv),
            **dict.fromkeys(("q_by_q", "q_by_way", "q_by_v", "v_by_q", "v_by_way", "v_by_v"), step.squares),
            **dict.fromkeys(("K_ports", "D_ports"), F * F),
            **dict.fromkeys(("P_u", "P_x", "A", "T", "LU"), R * R),
            **dict.fromkeys(("g", "x", "moved", "multipliers", "right_rows", "step", "settled"), 3 * R * nv),
            **dict.fromkeys(("soft", "out_free", "out_x", "slow"), R),
            "rest": max(3 * R * nv, 3 * S),
            "right": max(3 * nv * nv, nv * R, 6 * step.widest * nv),
            "slid": max(2 * R * nv, S * nv, F * nv),
            "h": 1,
            "damping": nv,
            "result": 6 * nv * nv,
            "at_ports": len(COLUMNS) * 6 * len(step.bodies) * nv,
            "columns": len(COLUMNS) * S * nv,
            "force_columns": 2 * F * nv,
            "G_ports": R * S,
            "joint_rows": R * nv,
            "answers": nv * R,
            "w_ports": R * SEEN * S,
            "f_ports": S * S,
            "out_ports": Q * SEEN * S,
            "out_f_ports": S * S,
            "turns_ports": P * S * S,
            "pushed_v": P * nv,
            "pushed_wrench": P * model.nb * 6,
            "diagonal_changes": P * nv,
        }
        self.numbers: dict[str, float] = {
            "nv": nv,
            "nb": model.nb,
            "rows": R,
            "row_ports": S,
            "force_ports": F,
            "ports": 6 * len(step.bodies),
            "middle": int(step.middle),
            "held_motion": step.at.get("held_change", 0),
            "out_motion": step.at.get("shift", 0),
            "pushing": P,
            "displaced": Q,
            "unusual": len(step.unusual),
            "row_kinds": len(COLUMNS),
            "force_kinds": 2,
        }
        among = {int(r): p for p, r in enumerate(linear.pushing)}
        tables = {
            "pushing_rows": linear.pushing,
            "displaced_rows": linear.displaced,
            "pushing_among": np.array([among.get(int(r), -1) for r in linear.displaced]),
            "row_port_of": self._port_of(rows),
            "force_port_of": self._port_of(forces),
            "wrench_at": self._wrench_at(rows),
            "unusual_at": np.array([at.start for at, _ in step.unusual]),
            "unusual_size": np.array([at.stop - at.start for at, _ in step.unusual]),
            "unusual_square": np.array([squares.start for _, squares in step.unusual]),
        }
        phases: dict[str, Sequence[Step]] = {"free": self._free(), "out": self._out(), "rest": self._rest()}
        fields = {name: Field("work", name, SCALAR) for name in self.sizes}
        one = Tree(
            np.array([-1]),
            [NodeClass(("matrices",))],
            [{}],
            counts=self.sizes,
            numbers=self.numbers,
            tables={name: np.ascontiguousarray(x, np.int32) for name, x in tables.items()},
        )
        self.plans = Plans(one)
        self.algorithm = Algorithm(f"linear_products_{'_'.join(phases)}", fields, phases, alone=True)

    def _port_of(self, space: PortSpace | None) -> np.ndarray:
        """Of every place of a space its number among those of all ports, of joints -1 - their degree of freedom."""
        if space is None:
            return np.zeros(0)
        at = {body: k for k, body in enumerate(self.step.bodies)}
        bodies = [6 * at[body] + k for body in space.bodies for k in range(6)]
        return np.array(bodies + [-1 - k for k in range(space.joints)])

    def _wrench_at(self, space: PortSpace | None) -> np.ndarray:
        """Of every place of a space where its body's wrench is, of joints -1."""
        if space is None:
            return np.zeros(0)
        return np.array([6 * body + k for body in space.bodies for k in range(6)] + [-1] * space.joints)

    def _free(self) -> list[Step]:
        step, found = self.step, []
        if step.forces is None:
            found.append(routine(no_slopes))
        elif not step.forces.bodies:
            found.append(routine(joint_slopes))
        else:
            where = {"kinds": "force_kinds", "size": "force_ports", "port_of": "force_port_of", "columns": "force_columns"}
            found += [routine(spread_columns, **where), routine(body_slopes)]
        found += [routine(first_accelerations if step.middle else only_accelerations), routine(free_changes)]
        if step.rows is not None:
            where = {"kinds": "row_kinds", "size": "row_ports", "port_of": "row_port_of"}
            found += [routine(spread_columns, **where), routine(row_answers), routine(held_changes)]
        return [*found, routine(pushed_answers)] if step.out else found

    def _out(self) -> list[Step]:
        return [routine(pushed_changes), routine(updated)] if self.step.out else []

    def _rest(self) -> list[Step]:
        return [routine(no_displacement), routine(updated)]


class DenseCall:
    """The program on arrays, state by state; `kept` are those of its own that others look at."""

    def __init__(
        self, program: DenseProgram, given: Mapping[str, np.ndarray], result: np.ndarray, kept: Mapping[str, np.ndarray]
    ) -> None:
        self._runs = {}
        for phase in program.algorithm.phases:
            plan = program.plans(program.algorithm, SCALAR64, (phase,))
            self._runs[phase] = plan.driver.batch, plan.workspace()
        spaces = [work for _, work in self._runs.values()]
        first: Workspace = spaces[0]
        names = first.plan.arrays
        rows = {name: x for name, x in given.items() if name in program.sizes} | {"result": result}
        self._starts = first.bases.copy()
        self._steps = np.zeros(len(names), np.int64)
        for name, x in (rows | dict(kept)).items():
            k = names.index(name)
            self._starts[k] = address_of(x)
            self._steps[k] = x.strides[0] if name in rows else 0
        self._alive = (given, result, kept)
        for work in spaces:
            work.job({}, {}, 1)

    def __call__(self, phase: str, state: int) -> None:
        """One phase for one state."""
        run, work = self._runs[phase]
        work.bases[:] = self._starts + state * self._steps
        work.buffer[:8] = bytes(8)  # no state is done yet
        run(work.job_at)
