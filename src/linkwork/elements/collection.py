"""All laws of a model as sets of nodes beside its tree: what programs of the loaded model run on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel.plans import Plans
from ..kernel.sweep import Items, Tree
from ..model.kinematics import kinematics
from ..model.model import Model
from ..solvers.dense_islands import MATRIX_ROOM
from ..solvers.gram_text import WIDE
from ..solvers.islands import SETTINGS
from ..solvers.problem import BOUNDS, NORMAL
from ..solvers.single_qp import RAYS
from ..spatial.scalar import is_zero
from .law import SINGLE_QP, STAGGERED, ForceLaw, RowLaw, guessed_unknowns
from .nodes import LawNodes
from .ports import BodyPort
from .supports import Supports
from .swept import SweptShapes
from .telling import Telling
from .touch import lever_numbers

EQUALITIES, BOUNDED, CONES, IN_TURNS, CROWD, ONE_PROGRAM = 0, 1, 2, 3, 4, 5
CROWD_ROWS = 500  # more rows, some of which only push, are a crowd to steps that can take one: most of them do not act
DENSE_ROWS = 3000  # more of them are no dense matrix: a crowd to all
REMEMBERED = 48  # multipliers of a crowd for every body, that are recorded, and from which the next step starts
REMEMBERED_LEAST = 2048  # the same of all bodies together: a robot of few bodies may lie on the ground with all its shapes
ACTING = 2  # for every velocity: rows that act at once, of those that may be off, as a rule
GUESSES = 4  # configurations whose unknowns are remembered
Shape = tuple[int, int, bool, int]  # see `Collection.shape`


@dataclass(frozen=True, eq=False)
class Collection:
    """The forces and constraints of a model; those on bodies first, as inputs and rows are numbered.

    forces   with their numbers as the joints need them
    rows     the constraints
    """

    model: Model
    forces: tuple[ForceLaw, ...]
    rows: tuple[RowLaw, ...]

    @cached_property
    def force_nodes(self) -> LawNodes:
        return LawNodes(self.model, self.forces)

    @cached_property
    def row_nodes(self) -> LawNodes:
        return LawNodes(self.model, self.rows)

    @cached_property
    def row_count(self) -> int:
        return sum(c.size for c in self.rows)

    @cached_property
    def shape(self) -> Shape:
        """What the sweeps of a program depend on: the most ports of a force, those of a constraint (-1 where there are none),
        whether a law looks at the poses of bodies, and what rows are: EQUALITIES, BOUNDED (some only push),
        CONES, IN_TURNS (cones by staggered projections), ONE_PROGRAM (by one quadratic program), or CROWD (bounds and cones, too
        many for a matrix)."""
        forces = self.force_nodes.most if self.forces else -1
        rows = self.row_nodes.most if self.rows else -1
        on_bodies = self.force_nodes.on_bodies or self.row_nodes.on_bodies
        return forces, rows, on_bodies, self._kinds(DENSE_ROWS)

    @cached_property
    def step_shape(self) -> Shape:
        """The same for steps that take a crowd."""
        return self.shape if self.rubs_inside else (*self.shape[:3], self._kinds(CROWD_ROWS))

    def _kinds(self, most: int) -> int:
        """What rows are, where more than so many are a crowd."""
        kinds = max(map(_kind, self.rows), default=EQUALITIES)
        if kinds == ONE_PROGRAM and (bounded := next((c for c in self.rows if min(c.row_kinds, default=0) < 0), None)):
            raise InputError(
                f"{bounded!r}: a row that another one bounds is no part of one quadratic program; give all contacts of the model "
                f"friction_model={SINGLE_QP!r}, without spinning or rolling"
            )
        return CROWD if kinds in (BOUNDED, CONES) and self.row_count > most else kinds

    @property
    def _ray_count(self) -> int:
        """Unknowns of one quadratic program of all rows."""
        return sum({BOUNDS: 1, NORMAL: RAYS}.get(kind, 0) for c in self.rows for kind in c.row_kinds)

    @property
    def rubs(self) -> bool:
        """Whether some contacts have friction."""
        return any(c.cones for c in self.rows)

    @property
    def bounces(self) -> bool:
        """Whether some contacts have restitution."""
        return any(law.unilateral and not is_zero(law.grip()[1]) for law in self.rows)

    @property
    def rubs_inside(self) -> bool:
        """Whether some joints have friction under what they carry."""
        return any(law.by_reaction for law in self.rows)

    @cached_property
    def carriers(self) -> np.ndarray:
        """Of every constraint which one carries what its bounds follow from; 0 where that is a joint, or nothing."""
        given = _on_bodies_first(self.model.elements_of(RowLaw))
        closures = [law.closure(self.model) if law.by_reaction else None for law in given]
        return np.array([next((k for k, law in enumerate(given) if law is c), 0) for c in closures], np.int64)

    @cached_property
    def initial_inputs(self) -> np.ndarray:
        """The inputs of all forces where nothing else is said."""
        return np.concatenate([np.zeros(0), *(f.initial_inputs() for f in self.forces)])

    @cached_property
    def told_count(self) -> int:
        """Numbers that constraints must be told at every step, as Python alone can compute them."""
        return sum(c.inputs for c in self.rows)

    @cached_property
    def looks(self) -> bool:
        """Whether some of these follow from where bodies are."""
        return any(c.looks for c in self.rows)

    @cached_property
    def telling(self) -> Telling:
        """Who finds them."""
        return Telling(self.rows, self.row_nodes.bodies if self.told_count else [()] * len(self.rows))

    def told_at(self, t: float, poses: Any = None, twists: Any = None, time: float = 0.0) -> np.ndarray:
        """These numbers at a time, of bodies at some poses (see `Telling`)."""
        return self.telling(t, poses, twists, time)

    @cached_property
    def _unknown(self) -> bool:
        """Whether any constraint has unknowns of its own."""
        return any(c.unknowns for c in self.rows)

    @cached_property
    def _guesses(self) -> dict[bytes, np.ndarray]:
        """Unknowns at the configurations that were asked for last: a run asks several times where it begins, and to look for the
        coordinates of a closure takes milliseconds."""
        return {}

    def first_unknowns(self, q: np.ndarray) -> np.ndarray:
        """Where the unknowns of constraints begin at configurations (batch, nq); programs go on from there."""
        if not self._unknown:
            return np.zeros((len(q), 0))
        key = np.ascontiguousarray(q, float).tobytes()
        found = self._guesses.get(key)
        if found is None:
            found = guessed_unknowns(self.rows, self.row_nodes.bodies, kinematics(self.model, q).poses)
            if len(self._guesses) >= GUESSES:
                self._guesses.clear()
            self._guesses[key] = found
        return found.copy()

    @cached_property
    def tree(self) -> Tree:
        """The bodies with the sets "force", "constraint" and "place"."""
        tree = self.model.tree
        sets = {"force": self.force_nodes.tree([{"u": f.inputs} for f in self.forces])} if self.forces else {}
        if not self.rows:
            return replace(tree, sets=sets)
        supports, R = Supports.of(self.row_nodes, [c.size for c in self.rows]), self.row_count
        sizes = [{"rows": c.size, "unknown": c.unknowns, "told": c.inputs, "levers": lever_numbers(c)} for c in self.rows]
        roles, role_sizes = supports.roles()
        roles |= {"carrier": self.carriers} if self.rubs_inside else {}
        swept, laws = SweptShapes(self.row_nodes), self.row_nodes.tree(sizes, roles, role_sizes)
        sets |= {"constraint": laws, "place": supports.tree(), "shape": swept.tree()}
        counts = {**tree.counts, "row": R, "list": R + 1, "pair": R * (R + 1) // 2, "column": WIDE * self.model.nv}
        counts |= {"square": R * R} if self.shape[3] == CONES else {}
        if self.shape[3] == ONE_PROGRAM:
            n = self._ray_count
            counts |= {"ray": n, "ray_list": n + 1, "ray_pair": n * (n + 1) // 2}
        most = R if self.shape[3] == EQUALITIES else min(R, ACTING * self.model.nv)
        items = tree.items | supports.climbs() | {"looked_at": lambda: Items(self.row_nodes.bodies_looked_at, {})}
        found = replace(
            tree,
            sets=sets,
            counts=counts,
            usual={"pair": most * (most + 1) // 2, "square": most * most},
            items=items,
            apart=supports.climbs_apart(),
            tables=supports.tables() | swept.tables,
            numbers={**tree.numbers, "rows": R, "laws": len(laws), "shapes": len(swept.shapes)},
        )
        return self._with_crowd(found, swept) if self.step_shape[3] == CROWD else found

    def _with_crowd(self, tree: Tree, swept: SweptShapes) -> Tree:
        """The same with what sweep and prune looks at, and the sizes of problems without a matrix."""
        nb, laws = self.model.nb, tree.sets["constraint"]
        sets = tree.sets | {"constraint": replace(laws, items={"others": lambda: swept.others(laws.roles)})}
        counts = tree.counts | {
            "remembered": min(self.row_count, max(REMEMBERED * nb, REMEMBERED_LEAST)),
            "crowd_joint": nb,
            "crowd_list": nb + 1,
            "crowd_pair": nb * nb,
            "crowd_matrix": MATRIX_ROOM,
            "crowd_entry": len(tree.sets["place"]),
            "shape_list": len(tree.sets["shape"]) + 1,
            "law_list": len(laws) + 1,
        }
        if self.shape[3] == CROWD:  # programs that put equalities back have a matrix of these alone
            equal = sum(c.size for c in self.rows if not c.unilateral)
            counts["pair"] = equal * (equal + 1) // 2
        numbers = {"joint_count": nb, "remembered_count": counts["remembered"]} | tree.numbers | SETTINGS
        tables = tree.tables | swept.swept_tables | {"no_cones": np.zeros(self.row_count, np.int64)}
        return replace(tree, sets=sets, counts=counts, tables=tables, numbers=numbers)

    @cached_property
    def plan(self) -> Plans:
        """Programs bound to the loaded model, kept."""
        return Plans(self.tree)


def _kind(law: RowLaw) -> int:
    if law.cones:
        return {STAGGERED: IN_TURNS, SINGLE_QP: ONE_PROGRAM}.get(law.friction_model, CONES)
    return BOUNDED if law.unilateral or law.bounded else EQUALITIES


def collection(model: Model) -> Collection:
    """The laws of a model, kept with it."""
    return model.keep_as(Collection, lambda: _collected(model))


def _collected(model: Model) -> Collection:
    forces, rows = (_on_bodies_first(law.fitted_to(model) for law in model.elements_of(kind)) for kind in (ForceLaw, RowLaw))
    return Collection(model, tuple(forces), tuple(rows))


def _on_bodies_first(laws: Iterable[Any]) -> list[Any]:
    return sorted(laws, key=lambda law: not isinstance(law.ports[0], BodyPort))
