"""Derivatives of one step of symplectic Euler by recursions: d(q', v')/d(q, v, tau) from the tree's own derivatives, the slopes
of laws on their ports, and one linear system of the rows in force.

With velocity terms C taken at the middle of the step, w = v + h/2 a1, forces Q and rows G of what the ports see,

    M a1 = tau + Q(q, v) - C(q, v)            v' = v + h a + d,    M d = G^T x,
    M a  = tau + Q(q, v) - C(q, w)            u = b + G (J d),    u and x as the modes of rows say (`solvers.modal`),

so that with E = d(inverse dynamics)/dq under the motion and the forces of each line, of which recursions make a matrix at once,

    da1 = M^-1 (dtau + dQ - E1 dq - C_v dv),                    dd = M^-1 (d(G^T x) - E_d dq + G^T dx),
    da  = M^-1 (dtau + dQ - E_a dq - C_v(w) (dv + h/2 da1)),    du = slopes of u on ports, times their columns, + G (J dd).

They are not found column by column: what all right-hand sides do to v' comes first, rows included (`linear_free`,
`linear_rows`). What is pushed out follows from its own multipliers. `steppers.derivatives` runs the whole step on dual numbers
instead, for any stepper and number of steps: the same numbers, by another way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from sys import getrefcount
from typing import Any

import numpy as np

from ..elements.collection import BOUNDED, CONES, EQUALITIES, Collection, collection
from ..kernel import python
from ..kernel.call import Call
from ..kernel.function import FLOAT64, SPARE, fresh
from ..kernel.lanes import Lanes
from ..kernel.plans import Plans
from ..kernel.sequence import Entry, JobSequence
from ..kernel.sequence_call import of_vectors
from ..kernel.sweep import Algorithm
from ..model import Model
from ..model.entrance import quaternions
from ..reduced.diagonal_changes import DIAGONAL_CHANGES
from ..reduced.dof_tree import dof_plans
from ..reduced.inverse_by_chains import INVERSE_BY_CHAINS
from ..reduced.inverse_derivatives import INVERSE_SLOPES
from ..reduced.linear_laws import LinearLaws
from ..reduced.port_columns import COLUMNS, port_plans
from ..reduced.ports_and_inverse import PORTS_AND_INVERSE
from .linear_dense import DenseCall, DenseProgram
from .linear_program import linear_program
from .stepper import Stepper, program_of
from .symplectic_euler import SymplecticEuler

METHOD = "reduced"
KINDS = (EQUALITIES, BOUNDED, CONES)
FEW = Lanes(4)  # for the motions of one state: half as wide as those of batches, twice as fast
CHUNK = 64  # states at a time: so much memory is enough
PUSHED = 8  # rows at a time: of many that may push, few do
Arrays = dict[str, np.ndarray]
Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


def is_linear_step(model: Model, stepper: Stepper) -> bool:
    """Whether steps of a model have derivatives by recursions.

    Not where a shape that is no plane meets another: such rows are made where they meet in the step, and what touches takes too
    long to compile along all that two bodies see.
    """
    return model.keep_as((is_linear_step, stepper), lambda: _is_linear_step(collection(model), stepper))


def _is_linear_step(laws: Collection, stepper: Stepper) -> bool:
    if not laws.model.nv or not isinstance(stepper, SymplecticEuler) or laws.rubs_inside or laws.told_count:
        return False
    if laws.step_shape[3] not in KINDS:
        return False
    return not any(law.swept for law in (*laws.forces, *laws.rows)) and (stepper.stabilise != "project" or not laws.rows)


class LinearStep:
    """The step of a model, ready for its derivatives.

    motions   of which the tree's derivatives are needed: the free one, the first guess of it, what rows add, what is pushed out
    """

    def __init__(self, model: Model, stepper: SymplecticEuler) -> None:
        self.model, self.program = model, program_of(stepper, model, METHOD)
        self.linear = LinearLaws(collection(model))
        self.algorithm = linear_program(self.program.algorithm, self.linear)
        self.rows, self.forces = self.linear.rows, self.linear.forces
        self.middle, self.out = stepper.evaluations > 1, self.linear.pushes
        self.bodies = sorted({body for space in (self.rows, self.forces) if space is not None for body in space.bodies})
        self.ports = port_plans(model, self.bodies) if self.bodies else None
        motions = {"a": True, "first_a": self.middle, "held_change": self.rows is not None, "shift": self.out}
        self.motions = tuple(name for name, wanted in motions.items() if wanted)
        self.at = {name: k for k, name in enumerate(self.motions)}
        self.damping = np.concatenate([np.zeros(0), *(np.reshape(p["damping"], -1) for p in model.tree.parameters)])
        self._alone: list[Memory] = []  # for single states to which nothing else is given
        self._idle: dict[Any, list[Memory]] = {(1, ()): self._alone}

    @cached_property
    def dense(self) -> DenseProgram:
        """The matrices."""
        return DenseProgram(self)

    @cached_property
    def pushed_lanes(self) -> Lanes:
        """The rows that push that are done side by side, see `Memory._changes`."""
        return self.model.plan.lanes(DIAGONAL_CHANGES, min(max(len(self.linear.pushing), 1), PUSHED))

    @cached_property
    def follows(self) -> bool:
        """Whether constraints have unknowns."""
        return "unknown" in self.algorithm.fields and self.linear.plans.size(self.algorithm, "unknown") > 0

    @cached_property
    def size(self) -> int:
        """The numbers of a result: those of the matrix, and of rows whether they are at an edge."""
        return 6 * self.model.nv**2 + self.linear.laws.row_count

    @cached_property
    def squares(self) -> int:
        """The numbers of the squares of all joints."""
        return int((np.diff(self.model.tree.offsets("v")) ** 2).sum())

    @cached_property
    def widest(self) -> int:
        """The most degrees of freedom of a joint."""
        return max((b.joint.nv for b in self.model.bodies), default=0)

    @cached_property
    def unusual(self) -> list[tuple[slice, slice, bool]]:
        """Of joints that do not just add their way, where their velocities are, and their squares, and whether they change them:
        others keep their velocities."""
        starts = self.model.tree.offsets("v").tolist()
        squares = np.concatenate([[0], np.cumsum(np.diff(starts) ** 2)]).tolist()
        bodies = (i for i in self.linear.unusual.tolist() if starts[i + 1] > starts[i])
        joints = ((i, not self.model.bodies[i].joint.keeps_velocities) for i in bodies)
        return [(slice(starts[i], starts[i + 1]), slice(squares[i], squares[i + 1]), changes) for i, changes in joints]

    def constants(self, batch: int) -> Arrays:
        """Inputs of the program that are the same in all calls: of steps from rest, without a memory of steps before."""
        told = self.program.given(self.model, 1.0)
        none = {"q": np.repeat(self.model.neutral()[None], batch, axis=0), "v": np.zeros((batch, self.model.nv))}
        told |= self.program.entered(self.model, none, 0.0)
        return {name: x for name, x in told.items() if name in self.algorithm.fields and np.size(x)}

    def take(self, batch: int, given: tuple[str, ...]) -> Memory:
        """Memory for so many states with these inputs besides the state, which no other call has."""
        try:
            return self._idle[batch, given].pop()
        except LookupError:
            return Memory(self, batch, given)

    @cached_property
    def is_quick(self) -> bool:
        """Whether compiled code looks at single states itself, and their results are kept for the next: see `of_one`."""
        return python.available() and not self.follows and 8 * self.size <= SPARE

    def of_one(self, q: np.ndarray, v: np.ndarray, t: float, dt: float) -> Parts | None:
        """A and B of `step_derivatives` and marks of one state, given nothing else; None if it needs a closer look."""
        try:
            memory = self._alone.pop()
        except IndexError:
            memory = Memory(self, 1, ())
        found = memory.of_one(q, v, t, dt)
        self._alone.append(memory)
        return found

    def give_back(self, memory: Memory) -> None:
        """Let later calls use this memory."""
        self._idle.setdefault(memory.key, []).append(memory)


class Memory:
    """The arrays of all programs of a step for a batch, one feeding the next, and the calls on them."""

    def __init__(self, step: LinearStep, batch: int, given: tuple[str, ...]) -> None:
        self.key, self.batch = (batch, given), batch
        self._shape = (batch, step.size)
        model, plans, algorithm, count = step.model, step.linear.plans, step.algorithm, len(step.motions)
        nv = model.nv
        shapes = {"q": model.nq, "v": nv, "a": nv, "external": 6 * model.nb, "gravity": 3}
        self.motions: Arrays = {name: np.zeros((batch, count, size)) for name, size in shapes.items()}
        self.motions["gravity"][:, : 1 + step.middle] = model.gravity
        a, external = self.motions["a"], self.motions["external"]
        self.inputs = self._inputs(step, given)
        self.q, self.v = self.inputs["q"], self.inputs["v"]
        self.t, self.h = (self.inputs.get(name, np.zeros((batch, 1))) for name in ("t", "h"))
        unwanted = ("x", "left", *(() if step.middle else ("first_a",)))
        names = [name for name, f in algorithm.fields.items() if f.kind == "output" and name not in unwanted]
        self.out: Arrays = {name: np.zeros((batch, plans.size(algorithm, name))) for name in names}
        self.out |= {name: a[:, k] for name, k in step.at.items() if name != "a"}
        under = {"held_change": "pressed", "shift": "pressed_out"}
        self.out |= {under[name]: external[:, k] for name, k in step.at.items() if name in under}
        forward = _call(plans, algorithm, self.inputs, self.out, batch)
        squares = {name: np.zeros((batch * count, nv * nv)) for name in ("dtau_dq", "dtau_dv")}
        flat = {name: x.reshape(batch * count, -1) for name, x in self.motions.items()}
        tree = _call(dof_plans(model), INVERSE_SLOPES, flat, squares, batch * count, FEW if batch * count <= FEW.width else None)
        found = {name: x.reshape(batch, -1) for name, x in zip(("E", "V"), squares.values(), strict=True)}
        found["M_inverse"] = np.zeros((batch, nv * nv))
        self._free = np.zeros((batch, nv))
        if step.ports is None:
            own = {"q": self.inputs["q"]}
            inverse = _call(dof_plans(model), INVERSE_BY_CHAINS, own, {"M_inverse": found["M_inverse"]}, batch)
        else:
            found["at_ports"] = np.zeros((batch, len(COLUMNS) * 6 * len(step.bodies) * nv))
            out = {"port_columns": found["at_ports"], "M_inverse": found["M_inverse"]}
            inverse = _call(step.ports, PORTS_AND_INVERSE, self._at_ports(step), out, batch)
        self._spares: Arrays = {}
        self._last_h = self.last_t = 0.0
        kept = {"h": self.h, "damping": step.damping}
        changes = self._changes(step, kept) if step.out else []
        self._matrices = DenseCall(step.dense, self._given() | found, kept, batch)
        entries = [forward.entry, *(self._matrices.entry("motions", k) for k in range(batch))]
        entries += [tree.entry, inverse.entry]
        for k in range(batch):
            entries.append(self._matrices.entry("free", k))
            if step.out:
                entries += [*changes, self._matrices.entry("out", k, self.out["deep"][k])]
            entries.append(self._matrices.entry("update", k))
        self._run, self._calls = JobSequence(entries), (forward, tree, inverse)
        if batch == 1 and not given and step.is_quick:
            self._of_vectors = of_vectors(self._run, (self.q, self.v), [(0, at) for at in quaternions(model)])
            self._left, self._right = (slice(None), slice(0, 2 * nv)), (slice(None), slice(2 * nv, 3 * nv))
            self._new_result(nv)

    def _inputs(self, step: LinearStep, given: tuple[str, ...]) -> Arrays:
        """Of the program of the step."""
        told = step.constants(self.batch)
        names = {*told, "t", *given} & set(step.algorithm.fields)
        found = {name: np.zeros((self.batch, step.linear.plans.size(step.algorithm, name))) for name in sorted(names)}
        for name, x in told.items():
            found[name][...] = x
        return found

    def _given(self) -> Arrays:
        """Arrays that the matrices are made of, besides derivatives of the tree."""
        given = self.out | {f"tree_{name}": x for name, x in self.motions.items()}
        given |= {"q": self.inputs["q"], "v": self.inputs["v"], "v_free": self._free}
        return {"load": self.inputs["external"]} | given if "external" in self.inputs else given

    def _at_ports(self, step: LinearStep) -> Arrays:
        """The motions whose columns at ports are asked for."""
        motions = self.motions
        told = {"q": self.inputs["q"], "v": motions["v"][:, 0], "a": self.out["a"]}
        told |= {"v_start": self.inputs["v"], "v_free": self._free}
        further = {"v_held": "held_change", "v_out": "shift"}
        return told | {name: motions["a"][:, step.at[of]] for name, of in further.items() if of in step.at}

    def _changes(self, step: LinearStep, kept: Arrays) -> list[Entry]:
        """How the diagonal of A changes with rows that push, between phases of the matrices: calls of as many of them as go side
        by side, each passed over where it has none, in one memory."""
        model, pushing, lanes = step.model, len(step.linear.pushing), step.pushed_lanes
        told = {"q": np.zeros(model.nq), "v": np.zeros((pushing, model.nv)), "external": np.zeros((pushing, 6 * model.nb))}
        changes, filled = np.zeros((pushing, model.nv)), np.zeros((-(-pushing // lanes.width), 1))
        kept |= {"pushed_q": told["q"], "pushed_v": told["v"], "pushed_wrench": told["external"], "diagonal_changes": changes}
        kept["filled"] = filled
        self._pushed: list[Call] = []
        for first in range(0, pushing, lanes.width):
            some = slice(first, min(first + lanes.width, pushing))
            own = {name: x if x.ndim == 1 else x[some] for name, x in told.items()}
            out, beside = {"change": changes[some]}, self._pushed[0] if self._pushed else None
            self._pushed.append(_call(model.plan, DIAGONAL_CHANGES, own, out, len(changes[some]), lanes, beside))
        return [replace(call.entry, flag=flag) for call, flag in zip(self._pushed, filled, strict=True)]

    def _new_result(self, nv: int) -> None:
        """An array for the numbers of one state, and what it consists of: no caller has these, who may change their shapes."""
        self._numbers = np.empty(self._shape[1])
        self._whole, self._marks = self._numbers[: 6 * nv * nv].reshape(2 * nv, 3 * nv), self._numbers[6 * nv * nv :]
        self._unseen = getrefcount(self._numbers)
        self._matrices.write_to(self._numbers[None])

    def of_one(self, q: np.ndarray, v: np.ndarray, t: float, h: float) -> Parts | None:
        """A, B and marks of one state, in the memory of those before if the caller has dropped all views of it (see
        `kernel.function.fresh`); None if q or v are not vectors of float64 of their size, or not sound."""
        if h != self._last_h:
            self._last_h = self.h[...] = h
        if t != self.last_t:
            self.t[0] = self.last_t = t
        if getrefcount(self._numbers) != self._unseen:
            self._new_result(self.v.size)
        if self._of_vectors(q, v) is None:
            return None
        whole = self._whole
        return whole[self._left], whole[self._right], self._marks[:]

    def run(self, h: float) -> np.ndarray:
        """d(q', v')/d(q, v, tau) of the inputs, and marks of rows at an edge: (batch, size)."""
        if h != self._last_h:
            self._last_h = self.h[...] = h
        result = fresh(self._spares, "result", self._shape, FLOAT64)
        self._matrices.write_to(result)
        self._unseen = 0  # the next state alone is written elsewhere
        self._run()
        return result


def _call(
    plans: Plans,
    algorithm: Algorithm,
    inputs: Arrays,
    outputs: Arrays,
    batch: int,
    lanes: Lanes | None = None,
    beside: Call | None = None,
) -> Call:
    """An algorithm on these arrays; inputs that are not given are zero. Outputs of one state in one lane are where they go."""
    absent = [n for n, f in algorithm.fields.items() if f.kind == "input" and n not in inputs]
    absent += [n for n, f in algorithm.fields.items() if f.kind == "output" and n not in outputs]
    plan = plans(algorithm, lanes or plans.lanes(algorithm, batch), ("run",), tuple(absent))
    there = {name: x for name, x in outputs.items() if plan.lanes.width == batch == 1 and name not in plan.maps}
    call = Call(plan, inputs, {name: x for name, x in outputs.items() if name not in there}, batch, beside=beside)
    call.point(there)
    return call


def linear_step(model: Model, stepper: SymplecticEuler) -> LinearStep:
    """Kept with the model."""
    return model.keep_as((LinearStep, stepper), lambda: LinearStep(model, stepper))


def step_jacobian(
    step: LinearStep, q: np.ndarray, v: np.ndarray, t: float, dt: float, given: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray | None]:
    """d(q', v')/d(q, v, tau) (batch, 2 nv, 3 nv), and marks (batch, rows), if there are rows: positive where one is at an edge.

    q, v    (batch, ...)
    given   tau, external, u: (...) of one state, or (batch, ...); None where there is none
    """
    batch, nv = len(q), step.model.nv
    named = {name: _flat(name, x) for name, x in given.items() if x is not None and name in step.algorithm.fields}
    told = {name: x for name, x in named.items() if x.size}  # an input without numbers is none: the same code runs with it
    if step.follows:
        told["unknown"] = step.linear.laws.first_unknowns(q)
    if batch <= CHUNK:
        found = _chunk(step, q, v, t, dt, told)
    else:
        found = np.empty((batch, step.size))
        for first in range(0, batch, CHUNK):
            some = slice(first, min(first + CHUNK, batch))
            own = {name: x[some] if x.ndim > 1 and len(x) == batch else x for name, x in told.items()}
            found[some] = _chunk(step, q[some], v[some], t, dt, own)
    count = 6 * nv * nv
    return found[:, :count].reshape(batch, 2 * nv, 3 * nv), None if step.rows is None else found[:, count:]


def _chunk(step: LinearStep, q: np.ndarray, v: np.ndarray, t: float, dt: float, told: Arrays) -> np.ndarray:
    """The numbers of so many states as are done at a time (batch, size)."""
    memory = step.take(len(q), tuple(told))
    memory.q[...], memory.v[...], memory.t[...], memory.last_t = q, v, t, t
    for name, x in told.items():
        memory.inputs[name][...] = x
    found = memory.run(dt)
    step.give_back(memory)
    return found


def _flat(name: str, x: Any) -> np.ndarray:
    x = np.asarray(x, float)
    tail = 2 if name == "external" else 1
    return x.reshape(*x.shape[: x.ndim - tail], -1)
