"""The program of the matrices of `linear_step` for a model: which of the routines of `linear_free`, `linear_rows` and
`linear_out` run, on arrays of which sizes.

It runs in one lane, for one state at a time, in the memory of the programs before it: nothing is copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..kernel.loops import LoopFunction
from ..kernel.plans import Plans
from ..kernel.products import clear
from ..kernel.sequence import Entry
from ..kernel.sweep import SCALAR, Algorithm, Field, NodeClass, Routine, Step, Tree
from ..kernel.widths import SCALAR64
from ..kernel.workspace import Workspace, address_of
from ..reduced.law_slopes import displaced_rows, pushing
from ..reduced.linear_laws import Part, put, put_awake
from ..reduced.pairs import routine
from ..reduced.port_columns import COLUMNS
from ..reduced.port_space import moving, width
from .linear_free import (
    accelerations_of_middle,
    accelerations_of_start,
    clear_slopes,
    diagonal_slopes,
    free_changes,
    lay_motions,
    no_slopes,
    take_pressed,
    take_slopes,
)
from .linear_out import push_rows, pushed_answers, pushed_changes, turning_rows, updated
from .linear_ports import N_V, OF_A, PAIR, add_pairs, add_seen_product, notice_motion, rows_at_positions, rows_in_motion
from .linear_rows import (
    add_first,
    add_unlike,
    answer,
    forget_asleep,
    held_changes,
    hold_rows,
    lay_pressed,
    lay_rows,
    lay_velocities,
    notice_unlike,
    turn_answers,
)
from .linear_tables import Place, Ports, Tables, pair_tables, place_tables, row_group_tables, row_places

if TYPE_CHECKING:
    from .linear_step import LinearStep

PARTS = ("G_seen", "w_slopes", "out_slopes", "turns")  # of rows, law by law


class DenseProgram:
    """The matrices of a model's steps.

    motions   what the tree is asked
    free      up to what rows add to v', and what changes of diagonals of A need
    out       the displacement that pushes out, if there is one
    update    of joints
    """

    def __init__(self, step: LinearStep) -> None:
        self.step, self.linear = step, step.linear
        self.ports = Ports(step.model, step.bodies)
        phases: dict[str, Sequence[Step]] = {
            "motions": [routine(lay_motions)],
            "free": [*self._pressed(), *self._free(), *self._held()] if step.rows is not None else self._free(),
            "out": self._out() if step.out else [],
            "update": [routine(updated)],
        }
        fields = {name: Field("work", name, SCALAR) for name in self.sizes} | {
            name: Field("work", "global", SCALAR) for name in ("moves", "unlike")
        }
        one = Tree(
            np.array([-1]),
            [NodeClass(("matrices",))],
            [{}],
            counts=self.sizes,
            numbers=self.numbers,
            tables={name: np.ascontiguousarray(x, np.int32) for name, x in self.tables.items()},
        )
        self.plans = Plans(one)
        self.algorithm = Algorithm(f"linear_{'_'.join(phases)}", fields, phases, alone=True)

    # --- sizes ---------------------------------------------------------------------------------------------------------------
    @cached_property
    def sizes(self) -> dict[str, int]:
        step, model, linear = self.step, self.step.model, self.linear
        n, rows, forces, motions = model.nv, linear.rows, linear.forces, len(step.motions)
        R, S, F = linear.laws.row_count, rows.size if rows else 0, forces.size if forces else 0
        P, Q = len(linear.pushing), len(linear.displaced)
        widest = max((width(kinds) for kinds in rows.nodes.kinds), default=0) if rows else 0
        parts = {part.name: sum(a * b for a, b in part.shapes) for part in (*linear.force_parts, *linear.row_parts)}
        return {
            **dict.fromkeys(("E", "V"), motions * n * n),
            **dict.fromkeys(("M_inverse", "K_joints", "D_joints", "lag", "carried"), n * n),
            **dict.fromkeys(("pressed_q", "out_change_q"), n * n),
            **dict.fromkeys(("accelerations", "change"), 3 * n * n),
            **dict.fromkeys(("q_by_q", "q_by_way", "q_by_v", "v_by_q", "v_by_way", "v_by_v"), step.squares),
            **dict.fromkeys(("K_ports", "D_ports"), F * F),
            **dict.fromkeys(("f_ports", "out_f_ports"), S * S),
            **dict.fromkeys(("P_u", "P_x", "A", "T", "LU"), R * R),
            **dict.fromkeys(("g", "multipliers", "right_rows", "rest", "step"), 3 * R * n),
            **dict.fromkeys(("out_g", "out_multipliers"), 3 * Q * n),
            **dict.fromkeys(
                ("answered", "answers", "moved", "on_middle", "middle_answered", "unlike_rows", "unlike_answered"), R * n
            ),
            **dict.fromkeys(("soft", "out_free", "out_x", "slow", "edges"), R),
            **dict.fromkeys(PARTS, 0),
            **parts,
            "awake": len(linear.laws.rows),
            **dict.fromkeys(("on_joints", "on_motions"), PAIR * R * n),
            "stacked": PAIR * R * max(widest, 6),
            "slid": max(6, widest, model.nv) * n,
            "right": 6 * step.widest * n,
            "late": Q * R,
            "out_moved": Q * n,
            "out_answers": n * Q,
            "h": 1,
            **dict.fromkeys(("damping", "K_diagonal", "D_diagonal", "damping_left"), n),
            "result": 6 * n * n + R,
            "at_ports": len(COLUMNS) * 6 * len(step.bodies) * n,
            "pushed_q": model.nq,
            "pushed_v": P * n,
            "pushed_wrench": P * model.nb * 6,
            "diagonal_changes": P * n,
            "q": model.nq,
            "v": n,
            "load": 6 * model.nb,
            "tree_q": motions * model.nq,
            "tree_v": motions * n,
            "tree_a": motions * n,
            "tree_external": motions * 6 * model.nb,
            "v_free": n,
        }

    @cached_property
    def numbers(self) -> dict[str, float]:
        step, model, linear, tables = self.step, self.step.model, self.linear, self.tables
        n, R, Q = model.nv, linear.laws.row_count, len(linear.displaced)
        return {
            "nq": model.nq,
            "nv": n,
            "nb": model.nb,
            "rows": R,
            "row_ports": linear.rows.size if linear.rows else 0,
            "force_ports": linear.forces.size if linear.forces else 0,
            "ports": len(step.bodies),
            "motions": len(step.motions),
            "middle": int(step.middle),
            "coupled": int(step.forces is not None and not self._alone),
            "forces": len(tables["force_dof"]),
            **self._counts,
            "held_motion": step.at.get("held_change", 0),
            "out_motion": step.at.get("shift", 0),
            "held_columns": COLUMNS.index("N_held"),
            "out_columns": COLUMNS.index("N_out"),
            "velocity_columns": N_V,
            "pushing": len(linear.pushing),
            "displaced": Q,
            "laws": len(linear.laws.rows),
            "unusual": len(step.unusual),
            **{name: len(tables[f"{name}_a"]) for name in ("force_pair", "row_pair")},
            **{f"{name}s": len(tables[f"{name}_row"]) for name in ("place", "out_place", "group", "out_group")},
            "turns_count": len(tables["turn_at"]),
            "wrenches": len(tables["wrench_to"]),
            "none": 0,
            "of_accelerations": OF_A * n,
            "pair_row": PAIR * n,
            "columns": 3 * n,
            "row_square": R * R,
            "row_numbers": R * n,
            "out_row_numbers": Q * n,
        }

    @property
    def _alone(self) -> bool:
        """Whether every force acts on one degree of freedom."""
        forces = self.step.forces
        return forces is not None and not forces.bodies and all(len(at) == 1 for at in forces.places)

    @property
    def _squares(self) -> list[Part]:
        """Parts of laws that are put together."""
        rows = [part for part in self.linear.row_parts if part.name not in PARTS]
        return rows if self._alone else [*self.linear.force_parts, *rows]

    @property
    def _counts(self) -> dict[str, float]:
        found = {}
        for part in self._squares:
            found |= {f"{part.whole}_size": part.size, f"{part.whole}_count": sum(len(p) for p in part.places)}
        return found

    # --- tables --------------------------------------------------------------------------------------------------------------
    @cached_property
    def tables(self) -> Tables:
        step, linear = self.step, self.linear
        laws, R, Q = linear.laws.rows, linear.laws.row_count, len(linear.displaced)
        every = [list(range(law.size)) for law in laws]
        held, out = self._places(every), self._places([displaced_rows(law) for law in laws] if step.out else [[] for _ in laws])
        among = {int(r): p for p, r in enumerate(linear.pushing)}
        first = np.cumsum([0, *(law.size for law in laws)])
        found: Tables = {
            **self.ports.tables,
            **pair_tables("force_pair", self.ports, linear.forces),
            **pair_tables("row_pair", self.ports, linear.rows),
            **place_tables("place", held),
            **place_tables("out_place", out),
            **row_group_tables("group", self.ports, held, R),
            **row_group_tables("out_group", self.ports, out, Q if step.out else 0),
            "row_first": np.repeat(first[:-1], np.diff(first)),
            "row_end": np.repeat(first[1:], np.diff(first)),
            "pushing_rows": linear.pushing,
            "displaced_rows": linear.displaced,
            "pushing_among": np.array([among.get(int(r), -1) for r in linear.displaced]),
            "unusual_at": np.array([at.start for at, _ in step.unusual]),
            "unusual_size": np.array([at.stop - at.start for at, _ in step.unusual]),
            "unusual_square": np.array([squares.start for _, squares in step.unusual]),
        }
        found["force_dof"] = np.concatenate(linear.forces.places) if linear.forces is not None and self._alone else np.zeros(0)
        for part in self._squares:
            found[f"{part.whole}_places"] = np.concatenate(part.places)
            found[f"{part.whole}_laws"] = np.repeat(np.arange(len(part.places)), [len(p) for p in part.places])
        sizes = {part.name: [a * b for a, b in part.shapes] for part in linear.row_parts}
        found |= {f"{name}_at": np.cumsum([0, *sizes.get(name, [])]) for name in PARTS}
        return found | self._turns(found) | self._wrenches(held, among)

    def _places(self, taken: Sequence[Sequence[int]]) -> list[list[Place]]:
        space = self.step.rows
        return [] if space is None else row_places(self.ports, space, taken, [law.size for law in self.linear.laws.rows])

    def _wrenches(self, held: Sequence[Sequence[Place]], among: Mapping[int, int]) -> Tables:
        """Of every row that pushes and body that it pushes: the row's number among them, its entries in G, and the body."""
        found = [(among[p.row], p.G, self.ports.bodies[p.port]) for law in held for p in law if p.row in among and p.port >= 0]
        return {f"wrench_{name}": np.array([x[k] for x in found]) for k, name in enumerate(("push", "from", "to"))}

    def _turns(self, tables: Tables) -> Tables:
        """Of every row that pushes and two of its ports: the row's number among them, the ports, and where their entries are."""
        found, number, space = [], 0, self.step.rows
        nodes = space.nodes if space is not None and self.step.out else None
        at = zip(nodes.bodies, nodes.kinds, self.linear.laws.rows, strict=True) if nodes else ()
        for k, (own, kinds, law) in enumerate(at):
            total, count = width(kinds), len(pushing(law))
            units = [(self.ports.port(kinds[i], own[i]), first, size) for i, first, size in moving(kinds)]
            for r in range(count):
                for a, a_first, a_size in units:
                    for b, b_first, b_size in units:
                        place = int(tables["turns_at"][k]) + (r * total + a_first) * total + b_first
                        found.append((number + r, a, a_size, b, b_size, place, total))
            number += count
        names = ("push", "a", "a_size", "b", "b_size", "at", "row")
        return {f"turn_{name}": np.array([x[k] for x in found]) for k, name in enumerate(names)}

    # --- phases --------------------------------------------------------------------------------------------------------------
    def _free(self) -> list[Step]:
        step = self.step
        found: list[Step] = [routine(diagonal_slopes if self._alone else no_slopes)]
        if step.forces is not None and not self._alone:
            own = {} if step.forces.bodies else {"K_joints": "K_ports", "D_joints": "D_ports"}
            found += [self._put(part) for part in self.linear.force_parts]
            if step.forces.bodies:
                found += [
                    routine(clear_slopes),
                    self._pairs("force", "K_ports", "none", "K_joints"),
                    self._pairs("force", "D_ports", "velocity_columns", "K_joints"),
                    self._pairs("force", "D_ports", "none", "D_joints"),
                ]
            found.append(routine(take_slopes, **own))
        else:
            own = {}
        if step.middle:
            found.append(routine(accelerations_of_middle, **{k: x for k, x in own.items() if k == "D_joints"}))
        else:
            found.append(routine(accelerations_of_start))
        return [*found, routine(free_changes)]

    def _put(self, part: Part) -> Routine:
        """A part of laws on the space of their ports."""
        names = {name: f"{part.whole}_{name}" for name in ("count", "size", "places", "laws")}
        function = put_awake if part in self.linear.row_parts else put
        return routine(function, **names, part=part.name, whole=part.whole)

    def _pressed(self) -> list[Step]:
        """What rows press, with q."""
        return [
            *(self._put(part) for part in self.linear.row_parts if part.name not in PARTS),
            routine(lay_pressed, motion="held_motion"),
            self._pairs("row", "f_ports", "none", "pressed_q"),
            routine(take_pressed),
        ]

    def _held(self) -> list[Step]:
        parts = PARTS if self.step.out else PARTS[:2]
        found: list[Step] = [routine(forget_asleep, parts_at=f"{name}_at", parts=name) for name in parts]
        found += [
            routine(rows_at_positions, motion="held_columns", G="G_seen", slopes="w_slopes"),
            routine(rows_in_motion, slopes="w_slopes"),
            _cleared("row_numbers", "answered"),
            self._seen("group", "on_joints", "M_inverse", "answered"),
            routine(turn_answers),
            _cleared("row_square", "A"),
            self._seen("group", "on_joints", "answers", "A", "rows"),
            routine(lay_rows),
            *self._moving("group", "rows", "row_numbers", "g"),
            routine(notice_unlike),
            replace(self._seen("group", "unlike_rows", "M_inverse", "unlike_answered", row="nv"), when="unlike"),
            replace(routine(add_unlike), when="unlike"),
            routine(hold_rows),
            routine(held_changes),
        ]
        return [*found, routine(pushed_answers)] if self.step.out else found

    def _moving(self, groups: str, rows: str, numbers: str, g: str) -> list[Routine]:
        """What slopes with what moves at ports add to g."""
        found = [
            routine(lay_velocities, rows=rows, g=g),
            self._seen(groups, "on_motions", "accelerations", g, "columns", "of_accelerations"),
        ]
        if not self.step.middle:
            return found
        return [
            *found,
            _cleared(numbers, "middle_answered"),
            self._seen(groups, "on_middle", "M_inverse", "middle_answered", row="nv"),
            routine(add_first, rows=rows, g=g),
        ]

    def _out(self) -> list[Step]:
        own = {name: f"out_{name}" for name in self.tables if name.startswith("place_")}
        own |= {"places": "out_places", "rows": "displaced", "slopes": "out_slopes", "moved": "out_moved"}
        moving = [routine(rows_in_motion, **own), *self._moving("out_group", "displaced", "out_row_numbers", "out_g")]
        moving = [replace(step, when="moves") for step in moving]
        return [
            routine(rows_at_positions, **own, motion="out_columns", G="G_seen"),
            routine(notice_motion, **own),
            moving[0],
            routine(lay_pressed, motion="out_motion"),
            self._pairs("row", "out_f_ports", "none", "pressed_q"),
            routine(answer, change_q="out_change_q"),
            self._seen("out_group", "on_joints", "out_change_q", "out_moved"),
            routine(lay_rows, rows="displaced", moved="out_moved", g="out_g"),
            *moving[1:],
            routine(turning_rows),
            routine(push_rows),
            routine(pushed_changes),
        ]

    def _pairs(self, of: str, F: str, kind: str, out: str) -> Routine:
        """J^T F X of ports of forces or rows."""
        tables = {name: f"{of}_{name}" for name, _ in add_pairs.parameters if name.startswith("pair_")}
        return routine(add_pairs, **tables, pairs=f"{of}_pair", S=f"{of}_ports", F=F, kind=kind, out=out)

    def _seen(self, groups: str, A: str, B: str, C: str, width: str = "nv", at: str = "none", row: str = "pair_row") -> Routine:
        """C += A B of rows in groups."""
        tables = {name: name.replace("group", groups, 1) for name, _ in add_seen_product.parameters if name.startswith("group")}
        return routine(add_seen_product, **tables, A=A, a=at, A_row=row, B=B, width=width, C=C, C_row=width)


def _cleared(count: str, A: str) -> Routine:
    function: LoopFunction = clear
    return Routine(function, (count, A))


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
            if name in program.sizes:
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
