"""Arrays, numbers and tables of the program of `linear_dense` for a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..reduced.dof_tree import dof_plans
from ..reduced.law_slopes import displaced_rows, pushing
from ..reduced.linear_laws import Part
from ..reduced.port_columns import COLUMNS
from ..reduced.port_space import moving, width
from .linear_pattern import part_tables, pattern_of
from .linear_ports import N_V, OF_Q, OF_V, THREE
from .linear_tables import PLACE, PLACE_ROWS, Place, Ports, Tables, pair_tables, place_table, row_group_tables, row_places

if TYPE_CHECKING:
    from .linear_step import LinearStep

PARTS = ("G_seen", "w_slopes", "out_slopes", "turns")  # of rows, law by law
RUNS = {"runs": "places", "out_runs": "out_places"}  # lists of rows that act at ports, and the tables of all


class DenseLayout:
    """What the matrices of a model's steps are made of and in: how many numbers each array has, and where what is.

    alone   whether every force acts on one degree of freedom
    """

    def __init__(self, step: LinearStep) -> None:
        self.step, self.linear = step, step.linear
        self.ports = Ports(step.model, step.bodies)

    # --- sizes ---------------------------------------------------------------------------------------------------------------
    @cached_property
    def sizes(self) -> dict[str, int]:
        step, model, linear = self.step, self.step.model, self.linear
        n, rows, forces, motions = model.nv, linear.rows, linear.forces, len(step.motions)
        R, S, F = linear.laws.row_count, rows.size if rows else 0, forces.size if forces else 0
        P, Q = len(linear.pushing), len(self.displaced)
        widest = max((width(kinds) for kinds in rows.nodes.kinds), default=0) if rows else 0
        parts = {part.name: sum(a * b for a, b in part.shapes) for part in (*linear.force_parts, *linear.row_parts)}
        return {
            **dict.fromkeys(("E", "V"), motions * n * n),
            **dict.fromkeys(("M_inverse", "K_joints", "D_joints", "pressed_q", "lost"), n * n),
            **dict.fromkeys(("X", "Y", "carried"), max(n, Q) * n),
            **dict.fromkeys(("q_by_q", "q_by_way", "q_by_v", "v_by_q", "v_by_way", "v_by_v"), step.squares),
            **dict.fromkeys(("K_ports", "D_ports"), F * F),
            **dict.fromkeys(("f_ports", "out_f_ports"), S * S),
            **dict.fromkeys(("P_u", "P_x"), R * linear.modal_width),
            **dict.fromkeys(("A", "T", "LU"), R * R),
            **dict.fromkeys(
                ("answered", "answers", "on_middle", "on_accelerations", "unlike_answered", "watched", "rest", "W"), R * n
            ),
            **dict.fromkeys(("out_on_middle", "out_on_accelerations", "out_answered"), Q * n),
            "on_joints": THREE * R * n,
            **dict.fromkeys(("out_on_joints", "out_g"), THREE * Q * n),
            **dict.fromkeys(("soft", "out_free", "out_x", "slow", "edges"), R),
            **dict.fromkeys(PARTS, 0),
            **parts,
            **dict.fromkeys(("acting", "before"), R + 1),
            **dict.fromkeys(("out_acting", "out_before", "out_among", "out_moving"), Q + 1),
            **dict.fromkeys(("pushed", "pushed_before"), P + 1),
            **{name: 1 + PLACE * int(self.tables[of][:, PLACE_ROWS].sum()) for name, of in RUNS.items()},
            "filled": -(-P // step.pushed_lanes.width),
            "awake": len(linear.laws.rows),
            "stacked": THREE * R * max(widest, 6),
            "slid": max(6, widest, model.nv) * n,
            "right": 6 * step.widest * n,
            **dict.fromkeys(("moves", "late"), Q),
            "h": 1,
            **dict.fromkeys(("damping", "damping_left"), n),
            "result": 6 * n * n + R,
            "at_ports": len(COLUMNS) * 6 * len(step.bodies) * n,
            "pushed_q": model.nq,
            "pushed_v": P * n,
            "pushed_wrench": P * model.nb * 6,
            "diagonal_changes": P * n,
            "q": model.nq,
            "v": n,
            "a": n,
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
        n, R = model.nv, linear.laws.row_count
        return {
            "nq": model.nq,
            "nv": n,
            "nb": model.nb,
            "rows": R,
            "modal_width": linear.modal_width,
            "row_ports": linear.rows.size if linear.rows else 0,
            "force_ports": linear.forces.size if linear.forces else 0,
            "ports": len(step.bodies),
            "motions": len(step.motions),
            "middle": int(step.middle),
            "coupled": int(step.forces is not None and not self.alone),
            "forces": len(tables["force_dof"]),
            **self._counts,
            "held_motion": step.at.get("held_change", 0),
            "out_motion": step.at.get("shift", 0),
            "held_columns": COLUMNS.index("N_held"),
            "out_columns": COLUMNS.index("N_out"),
            "velocity_columns": N_V,
            "pushing": len(linear.pushing),
            "displaced": len(self.displaced),
            "lanes": step.pushed_lanes.width,
            "unusual": len(step.unusual),
            **{name: len(tables[f"{name}_a"]) for name in ("force_pair", "row_pair")},
            **{name: len(tables[f"{name}s"]) for name in ("place", "out_place")},
            "groups": len(tables["group_row"]),
            "parts": len(tables["part_at"]),
            "turns_count": len(tables["turn_at"]),
            "wrenches": len(tables["wrench_to"]),
            "none": 0,
            "one": 1,
            "of_q": OF_Q * n,
            "of_v": OF_V * n,
            "three_rows": THREE * n,
            "lower_half": 3 * n * n,
            "lower_velocities": 3 * n * n + n,
            "square": n * n,
        }

    @cached_property
    def displaced(self) -> np.ndarray:
        """The rows that what is pushed out obeys, where something may be."""
        return self.linear.displaced if self.step.out else self.linear.displaced[:0]

    @property
    def alone(self) -> bool:
        """Whether every force acts on one degree of freedom."""
        forces = self.step.forces
        return forces is not None and not forces.bodies and all(len(at) == 1 for at in forces.places)

    @property
    def _squares(self) -> list[Part]:
        """Parts of laws that are put together."""
        rows = [part for part in self.linear.row_parts if part.name not in PARTS]
        return rows if self.alone else [*self.linear.force_parts, *rows]

    @property
    def _counts(self) -> dict[str, float]:
        found = {}
        for part in self._squares:
            found |= {f"{part.whole}_size": part.size, f"{part.whole}_count": sum(len(p) for p in part.places)}
            found |= {f"{part.whole}_laws": len(part.places)}
        return found

    # --- tables --------------------------------------------------------------------------------------------------------------
    @cached_property
    def tables(self) -> Tables:
        step, linear = self.step, self.linear
        laws, R = linear.laws.rows, linear.laws.row_count
        every = [list(range(law.size)) for law in laws]
        held, out = self._places(every), self._places([displaced_rows(law) for law in laws] if step.out else [[] for _ in laws])
        among = {int(r): p for p, r in enumerate(linear.pushing)}
        found: Tables = {
            **self.ports.tables,
            **pair_tables("force_pair", self.ports, linear.forces),
            **pair_tables("row_pair", self.ports, linear.rows),
            "places": place_table(held),
            "out_places": place_table(out),
            **row_group_tables("group", self.ports, held, R),
            "row_first": linear.row_first,
            "row_end": np.repeat(np.cumsum([law.size for law in laws]), [law.size for law in laws]),
            "pushing_rows": linear.pushing,
            "displaced_rows": self.displaced,
            "pushing_among": np.array([among.get(int(r), -1) for r in self.displaced]),
            "unusual_at": np.array([at.start for at, _, _ in step.unusual]),
            "unusual_size": np.array([at.stop - at.start for at, _, _ in step.unusual]),
            "unusual_square": np.array([squares.start for _, squares, _ in step.unusual]),
            "unusual_changes": np.array([changes for _, _, changes in step.unusual]),
        }
        found |= part_tables(self._pattern(found))
        found["force_dof"] = np.concatenate(linear.forces.places) if linear.forces is not None and self.alone else np.zeros(0)
        for part in self._squares:
            found[f"{part.whole}_places"] = np.concatenate(part.places)
            found[f"{part.whole}_starts"] = part.starts
        return found | self._turns() | self._wrenches(held, among)

    def _pattern(self, tables: Tables) -> np.ndarray:
        """Where E, V and what laws add to them have entries."""
        before = dof_plans(self.step.model).tree.tables["dof_before"].tolist()
        seen = []
        for of in ("force_pair", "row_pair"):
            for a, a_size, b, b_size in zip(*(tables[f"{of}_{x}"].tolist() for x in ("a", "a_size", "b", "b_size")), strict=True):
                seen.append((self.ports.seen(a, a_size), self.ports.seen(b, b_size)))
        return pattern_of(before, seen)

    def _places(self, taken: Sequence[Sequence[int]]) -> list[list[Place]]:
        space = self.step.rows
        return [] if space is None else row_places(self.ports, space, taken, [law.size for law in self.linear.laws.rows])

    def _wrenches(self, held: Sequence[Sequence[Place]], among: Mapping[int, int]) -> Tables:
        """Of every row that pushes and body that it pushes: the row's number among them, its entries in G, and the body."""
        found = [(among[p.row], p.G, self.ports.bodies[p.port]) for law in held for p in law if p.row in among and p.port >= 0]
        return {f"wrench_{name}": np.array([x[k] for x in found]) for k, name in enumerate(("push", "from", "to"))}

    def _turns(self) -> Tables:
        """Of every row that pushes and two of its ports: the row's number among them, the ports, and where their entries are."""
        found, number, begin, space = [], 0, 0, self.step.rows
        nodes = space.nodes if space is not None and self.step.out else None
        at = zip(nodes.bodies, nodes.kinds, self.linear.laws.rows, strict=True) if nodes else ()
        for own, kinds, law in at:
            total, count = width(kinds), len(pushing(law))
            units = [(self.ports.port(kinds[i], own[i]), first, size) for i, first, size in moving(kinds)]
            for r in range(count):
                for a, a_first, a_size in units:
                    for b, b_first, b_size in units:
                        place = begin + (r * total + a_first) * total + b_first
                        found.append((number + r, a, a_size, b, b_size, place, total))
            number, begin = number + count, begin + count * total * total
        names = ("push", "a", "a_size", "b", "b_size", "at", "row")
        return {f"turn_{name}": np.array([x[k] for x in found]) for k, name in enumerate(names)}
