"""What joints, loops and contacts exert at given states, and during a run in every formulation: Newton and Euler.

Forces of rows that only push or have a largest force are those that the run recorded. With them as loads, equality rows are
solved for at every record, with the accelerations a; all of these are loads then, and a joint carries what is left:

    w_j = I_j a_j + gyroscopic wrench - loads + sum of move(w_k) over the children k    (`reduced.inverse`).

Runs in maximal coordinates are looked at through the joint coordinates that fit them best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .constraints import Closure, Loop, PointOnCurve, PointOnSurface
from .constraints.constraint import Constraint
from .constraints.rows import constraint_set
from .contact import Contact
from .elements.collection import collection
from .elements.law import RowLaw
from .elements.nodes import STILL
from .elements.ports import BodyPort
from .elements.rows import RowEvaluation
from .errors import InputError
from .forces.set import force_set
from .joints import Joint
from .model import Model
from .model.accepts import takes_model
from .model.entrance import lost_runs
from .model.kinematics import Kinematics, kinematics
from .reduced.inverse import joint_wrenches
from .reduced.loaded import all_rows_dynamics, row_dynamics
from .rows.declared import acting
from .spatial.gate import finite_reals, meant
from .spatial.se3 import SE3

AXES = ("world", "body")


@takes_model
def joint_reactions(
    model: Model,
    q: Any,
    v: Any,
    tau: Any = None,
    external: Any = None,
    *,
    t: Any = 0.0,
    inputs: Any = None,
    axes: str = "world",
    limit_model: str = "hard",
    contact: str = "exact",
) -> np.ndarray:
    """The wrench (moment, force) of every joint on its body, about the body's origin: (bodies, 6) or (batch, bodies, 6).

    All that the joint does to the body, its drive included, as the model moves by itself under its forces and constraints.
    Arguments as of `constrained_dynamics`, and
    axes   "world", or "body": those of each body
    `joint_wrenches` is the same of the bare tree for accelerations that are given, `Trajectory.reactions` that of a run.

    >>> np.round(lw.joint_reactions(model, q, v)[:, 3:], 2)  # what the hinges carry, N
    array([...])
    """
    _check_axes("joint_reactions", axes)
    acts = acting(model, limit_model, contact)
    a, x = all_rows_dynamics("joint_reactions", acts, q, v, tau, external, None, t, inputs)
    lead = a.shape[:-1]
    count = int(np.prod(lead))

    def each(x: Any, *tail: int) -> np.ndarray:
        a = finite_reals("joint_reactions: what is given", x)
        try:
            return np.broadcast_to(a, (*lead, *tail)).reshape(count, *tail)
        except ValueError:
            raise InputError(f"joint_reactions: an array of shape {a.shape} is no {(*lead, *tail)}") from None

    def given(x: Any, *tail: int) -> np.ndarray | None:
        return None if x is None else each(x, *tail)

    found = Reactions(
        acts,
        each(q, model.nq),
        each(v, model.nv),
        np.broadcast_to(np.ravel(np.asarray(t, float)), count),
        given(tau, model.nv),
        given(external, model.nb, 6),
        given(inputs, np.shape(inputs)[-1] if np.ndim(inputs) else 0),
        None,
        (a.reshape(count, -1), x.reshape(count, -1)),
    )
    wrenches = found.joints
    if axes == "world":
        wrenches = np.einsum("rbij,rbkj->rbki", found.bodies.poses[..., :3, :3], wrenches.reshape(-1, model.nb, 2, 3))
    return wrenches.reshape(*lead, model.nb, 6)


def _check_axes(function: str, axes: Any) -> None:
    if axes not in AXES:
        raise InputError(f"{function}: axes must be one of {', '.join(AXES)}, not {axes!r}{meant(axes, AXES)}")


def _touching_point(c: Contact, E: np.ndarray) -> np.ndarray:
    """Where shapes touch at one point, in the axes of the first body, or its origin where at several; E (records, 2, 4, 4)."""
    found = []
    for poses in E:
        a, b = (SE3(R=e[:3, :3], p=e[:3, 3]) for e in poses)
        touches = c.touch((a, b))
        found.append(a.unrotate(touches[0].point - a.p) if len(touches) == 1 else np.zeros(3))
    return np.array(found)


# Where a constraint acts on its first body, in that body's axes; elsewhere it is the body's origin.
POINTS: dict[type, Callable[[Any, np.ndarray], np.ndarray]] = {
    Loop: lambda c, E: c.point_a,
    Closure: lambda c, E: c.p_a,
    PointOnCurve: lambda c, E: c.point,
    PointOnSurface: lambda c, E: c.point,
    Contact: _touching_point,
}


@dataclass(frozen=True, eq=False)
class Reactions:
    """All that acts at some states of a model, one axis `records` first.

    q, v, t    states and their times
    tau        joint forces given (records, nv), or None
    external   wrenches given (records, bodies, 6), or None
    inputs     of forces (records, inputs), or None: their own
    forces     of all rows (records, rows), of which those of rows that only push or have bounds count, or None
    solved     accelerations (records, nv) and the forces of all rows, where they are known
    """

    model: Model
    q: np.ndarray
    v: np.ndarray
    t: np.ndarray
    tau: np.ndarray | None
    external: np.ndarray | None
    inputs: np.ndarray | None
    forces: np.ndarray | None
    solved: tuple[np.ndarray, np.ndarray] | None = None

    def wrench_of(self, name: str | RowLaw, axes: str = "world") -> np.ndarray:
        """See `Trajectory.reactions`."""
        _check_axes("reactions", axes)
        if isinstance(name, str) and name in self.model.names:
            body = self.model.body_index(name)
            wrench, R = self.joints[:, body], self.bodies.poses[:, body, :3, :3]
        else:
            wrench, R = self._constraint(self._index(name))
        return wrench if axes == "body" else np.concatenate([np.einsum("rij,rj->ri", R, x) for x in np.split(wrench, 2, 1)], 1)

    def _index(self, name: str | RowLaw) -> int:
        """Which constraint is meant."""
        own = self.model.elements_of(RowLaw)
        given = sorted(own, key=lambda law: not isinstance(law.ports[0], BodyPort))  # as `collection` has them
        found = [k for k, law in enumerate(given) if name is law or (name and name in (repr(law), getattr(law, "name", None)))]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(f"reactions: {len(found)} constraints are called {name!r}; give the constraint itself")
        known = [*(b.joint_name for b in self.model.bodies), *(getattr(law, "name", "") or repr(law) for law in given)]
        raise InputError(
            f"reactions: there is no joint or constraint {name!r}; there are {', '.join(known[:12])}{meant(name, known)}"
        )

    def _constraint(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The wrench (records, 6) on the first body of a constraint about its point, and the body's R."""
        laws, first = collection(self.model).rows, 0
        law = laws[k]
        if not isinstance(law, Constraint):
            raise InputError(
                f"reactions: {law!r} acts along joints; see the rows of Trajectory.forces, or the reactions of its joints"
            )
        first = sum(c.size for c in laws[:k])
        x = self.rows[:, first : first + law.size]
        wrench = np.einsum("rki,rk->ri", self._blocks[k][:, :, :6], x)
        world = np.broadcast_to(np.eye(4), (len(x), 4, 4))
        at = collection(self.model).row_nodes.bodies[k]
        E = np.stack([world if i < 0 else self.bodies.poses[:, i] for i in at], axis=1)
        point = POINTS[type(law)](law, E) if type(law) in POINTS else np.zeros(3)
        moment, force = np.split(wrench, 2, axis=1)
        return np.concatenate([moment - np.cross(np.broadcast_to(point, force.shape), force), force], axis=1), E[:, 0, :3, :3]

    # --- what acts ------------------------------------------------------------------------------------------------------------
    @cached_property
    @lost_runs()
    def bodies(self) -> Kinematics:
        return kinematics(self.model, self.q, self.v)

    @cached_property
    def _evaluation(self) -> RowEvaluation:
        found = constraint_set(self.model).evaluation
        assert found is not None
        return found

    @cached_property
    def _blocks(self) -> list[np.ndarray]:
        """G of every constraint at all records."""
        return self._evaluation.blocks(self._evaluation.inputs(self.bodies.poses, self.bodies.twists, self.q, self.v, self.t))

    @cached_property
    def _recorded(self) -> np.ndarray:
        """Which rows have the forces that were recorded."""
        laws = collection(self.model).rows
        known = self.forces is not None
        return np.array([known and (c.unilateral or c.bounded) for c in laws for _ in range(c.size)], dtype=bool)

    @cached_property
    def _solved(self) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations (records, nv), and the forces of all rows (records, rows)."""
        if self.solved is not None:
            return self.solved
        laws, keep = collection(self.model).rows, self._recorded
        x = np.zeros((len(self.q), len(keep)))
        tau, external = self.tau, self.external
        model = self.model
        if keep.any():
            assert self.forces is not None
            x[:, keep] = self.forces[:, keep]
            wrenches, along = self._loads(x)
            tau, external = (a if b is None else a + b for a, b in ((along, tau), (wrenches, external)))
            model = model.keep_as(Reactions, lambda: _without_recorded(model))
        if collection(model).told_count:
            parts = [self._dynamics(model, tau, external, slice(k, k + 1)) for k in range(len(self.q))]
            a, found = (np.concatenate([p[i] for p in parts]) for i in range(2))
        else:
            a, found = self._dynamics(model, tau, external, slice(None))
        if laws:
            x[:, ~keep] = found
        return a, x

    def _dynamics(self, model: Model, tau: Any, external: Any, at: slice) -> tuple[np.ndarray, np.ndarray]:
        tau, external, u = (None if x is None else x[at] for x in (tau, external, self.inputs))
        t = self.t[at].reshape(-1, 1)
        return row_dynamics(model, self.q[at], self.v[at], tau, external, t=t, inputs=u)

    @property
    def rows(self) -> np.ndarray:
        """The forces of all rows (records, rows)."""
        return self._solved[1]

    def _loads(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """G^T x: wrenches (records, bodies, 6) and joint forces (records, nv)."""
        model, nodes = self.model, collection(self.model).row_nodes
        wrenches, along, first = np.zeros((len(x), model.nb, 6)), np.zeros((len(x), model.nv)), 0
        starts = model.tree.offsets("v")
        for law, G, at, kinds in zip(nodes.laws, self._blocks if nodes.laws else [], nodes.bodies, nodes.kinds, strict=True):
            pull, column = np.einsum("rki,rk->ri", G, x[:, first : first + law.size]), 0
            first += law.size
            for body, kind in zip(at, kinds, strict=True):
                size = kind.nv if isinstance(kind, Joint) else 6
                part = pull[:, column : column + size]
                column += size
                if isinstance(kind, Joint):
                    along[:, starts[body] : starts[body] + size] += part
                elif kind != STILL:
                    wrenches[:, body] += part
        return wrenches, along

    @cached_property
    def joints(self) -> np.ndarray:
        """The wrench of every joint on its body, about the body's origin in its axes (records, bodies, 6)."""
        a, x = self._solved
        external = force_set(self.model).wrenches(self.bodies.poses, self.bodies.twists, self.t, self.inputs)  # type: ignore[arg-type]
        external = external + self._loads(x)[0]
        if self.external is not None:
            external = external + self.external
        return joint_wrenches(self.model, self.q, self.v, a, external)


def _without_recorded(model: Model) -> Model:
    """The model without rows that only push or have bounds."""
    return model.replace(elements=[e for e in model.elements if not (isinstance(e, RowLaw) and (e.unilateral or e.bounded))])
