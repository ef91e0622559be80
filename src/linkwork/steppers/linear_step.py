"""Derivatives of one step of symplectic Euler by recursions: d(q', v')/d(q, v, tau) from the tree's own derivatives, the slopes
of laws on their ports, and one linear system of the rows in force.

With velocity terms C taken at the middle of the step, w = v + h/2 a1, forces Q and rows G of what the ports see,

    M a1 = tau + Q(q, v) - C(q, v)            v' = v + h a + d,    M d = G^T x,
    M a  = tau + Q(q, v) - C(q, w)            u = b + G (J d),    u and x as the modes of rows say (`solvers.modal`),

so that with E = d(inverse dynamics)/dq under the motion and the forces of each line, of which recursions make a matrix at once,

    da1 = M^-1 (dtau + dQ - E1 dq - C_v dv),                    dd = M^-1 (d(G^T x) - E_d dq + G^T dx),
    da  = M^-1 (dtau + dQ - E_a dq - C_v(w) (dv + h/2 da1)),    du = slopes of u on ports, times their columns, + G (J dd).

What is pushed out follows in the same way from its own multipliers. `steppers.derivatives` runs the whole step on dual numbers
instead, for any stepper and number of steps: the same numbers, by another way.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..elements.collection import BOUNDED, CONES, EQUALITIES, Collection, collection
from ..kernel.call import Call
from ..kernel.plans import Plans
from ..kernel.sweep import Algorithm
from ..model import Model, State
from ..reduced.diagonal_changes import DIAGONAL_CHANGES
from ..reduced.dof_tree import dof_plans
from ..reduced.inverse_derivatives import INVERSE_DERIVATIVES
from ..reduced.inverse_mass_matrix import INVERSE_MASS_MATRIX
from ..reduced.linear_laws import LinearLaws
from ..reduced.port_columns import COLUMNS, PORT_COLUMNS, port_plans
from .linear_dense import DenseCall, DenseProgram
from .linear_program import linear_program
from .stepper import Stepper, program_of
from .symplectic_euler import SymplecticEuler

METHOD = "reduced"
KINDS = (EQUALITIES, BOUNDED, CONES)
CHUNK = 64  # states at a time: so much memory is enough
Arrays = dict[str, np.ndarray]


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
        self._idle: dict[Any, list[Memory]] = {}

    @cached_property
    def dense(self) -> DenseProgram:
        """The matrices."""
        return DenseProgram(self)

    @cached_property
    def squares(self) -> int:
        """The numbers of the squares of all joints."""
        return int((np.diff(self.model.tree.offsets("v")) ** 2).sum())

    @cached_property
    def widest(self) -> int:
        """The most degrees of freedom of a joint."""
        return max((b.joint.nv for b in self.model.bodies), default=0)

    @cached_property
    def unusual(self) -> list[tuple[slice, slice]]:
        """Of joints that do not just add their way, where their velocities are, and their squares."""
        starts = self.model.tree.offsets("v").tolist()
        squares = np.concatenate([[0], np.cumsum(np.diff(starts) ** 2)]).tolist()
        bodies = (i for i in self.linear.unusual.tolist() if starts[i + 1] > starts[i])
        return [(slice(starts[i], starts[i + 1]), slice(squares[i], squares[i + 1])) for i in bodies]

    def take(self, batch: int, given: tuple[str, ...]) -> Memory:
        """Memory for so many states with these inputs, which no other call has."""
        try:
            return self._idle[batch, given].pop()
        except LookupError:
            return Memory(self, batch, given)

    def give_back(self, memory: Memory) -> None:
        """Let later calls use this memory."""
        self._idle.setdefault(memory.key, []).append(memory)


class Memory:
    """The arrays of all programs of a step for a batch, one feeding the next, and the calls on them."""

    def __init__(self, step: LinearStep, batch: int, given: tuple[str, ...]) -> None:
        self.key, self.linear_step, self.batch = (batch, given), step, batch
        model, plans, algorithm, count = step.model, step.linear.plans, step.algorithm, len(step.motions)
        nv = model.nv
        shapes = {"q": model.nq, "v": nv, "a": nv, "external": 6 * model.nb, "gravity": 3}
        self.motions: Arrays = {name: np.zeros((batch, count, size)) for name, size in shapes.items()}
        self.motions["gravity"][:, : 1 + step.middle] = model.gravity
        a, external = self.motions["a"], self.motions["external"]
        self.inputs: Arrays = {name: np.zeros((batch, plans.size(algorithm, name))) for name in given}
        unwanted = ("x", "left", *(() if step.middle else ("first_a",)))
        names = [name for name, f in algorithm.fields.items() if f.kind == "output" and name not in unwanted]
        self.out: Arrays = {name: np.zeros((batch, plans.size(algorithm, name))) for name in names}
        self.out |= {name: a[:, k] for name, k in step.at.items()}
        under = {"held_change": "pressed", "shift": "pressed_out"}
        self.out |= {under[name]: external[:, k] for name, k in step.at.items() if name in under}
        self._step = _call(plans, algorithm, self.inputs, self.out, batch)
        squares = {name: np.zeros((batch * count, nv * nv)) for name in ("dtau_dq", "dtau_dv")}
        flat = {name: x.reshape(batch * count, -1) for name, x in self.motions.items()}
        self._tree = _call(dof_plans(model), INVERSE_DERIVATIVES, flat, squares, batch * count)
        inverse, at_ports = np.zeros((batch, nv * nv)), self._port_columns(step)
        first_q = {"q": self.motions["q"][:, 0]}
        self._inverse = _call(dof_plans(model), INVERSE_MASS_MATRIX, first_q, {"M_inverse": inverse}, batch)
        found = {name: x.reshape(batch, -1) for name, x in zip(("E", "V"), squares.values(), strict=True)}
        self._dense(step, found | at_ports | {"M_inverse": inverse})

    def _port_columns(self, step: LinearStep) -> Arrays:
        nv, batch, motions = step.model.nv, self.batch, self.motions
        self._free, self._ports = np.zeros((batch, nv)), None
        if step.ports is None:
            return {}
        told = {"q": motions["q"][:, 0], "v": motions["v"][:, 0], "a": motions["a"][:, 0]}
        told |= {"v_start": self.inputs["v"], "v_free": self._free}
        further = {"v_held": "held_change", "v_out": "shift"}
        told |= {name: motions["a"][:, step.at[of]] for name, of in further.items() if of in step.at}
        found = np.zeros((batch, len(COLUMNS) * 6 * len(step.bodies) * nv))
        self._ports = _call(step.ports, PORT_COLUMNS, told, {"port_columns": found}, batch)
        return {"at_ports": found}

    def _dense(self, step: LinearStep, found: Arrays) -> None:
        """The matrices, and between their phases how the diagonal of A changes with rows that push."""
        model, pushing = step.model, len(step.linear.pushing)
        nv = model.nv
        self.result = np.zeros((self.batch, 2 * nv, 3 * nv))
        given = self.out | found | {f"tree_{name}": x for name, x in self.motions.items()}
        given |= {"q": self.inputs["q"], "v": self.inputs["v"], "v_free": self._free}
        given |= {"load": self.inputs["external"]} if "load" not in given and "external" in self.inputs else {}
        self._h = np.zeros(1)
        kept = {"h": self._h, "damping": step.damping}
        self._changes = None
        if step.out:
            told = {"q": np.zeros(model.nq), "v": np.zeros((pushing, nv)), "external": np.zeros((pushing, 6 * model.nb))}
            changes = np.zeros((pushing, nv))
            kept |= {"pushed_q": told["q"], "pushed_v": told["v"], "pushed_wrench": told["external"], "diagonal_changes": changes}
            self._changes = _call(model.plan, DIAGONAL_CHANGES, told, {"change": changes}, pushing)
        self._matrices = DenseCall(step.dense, given, self.result, kept)

    def run(self, h: float) -> np.ndarray:
        """d(q', v')/d(q, v, tau) (batch, 2 nv, 3 nv) of the inputs; it changes with the next run."""
        self._h[0] = h
        self._step()
        for state in range(self.batch):
            self._matrices("motions", state)
        self._tree()
        self._inverse()
        if self._ports is not None:
            self._ports()
        deep = self.out["deep"][:, 0].tolist() if self._changes is not None else [0.0] * self.batch
        for state in range(self.batch):
            self._matrices("free", state)
            if self._changes is not None and deep[state] > 0.0:
                self._changes()
                self._matrices("out", state)
            self._matrices("update", state)
        return self.result


def _call(plans: Plans, algorithm: Algorithm, inputs: Arrays, outputs: Arrays, batch: int) -> Call:
    """An algorithm on these arrays; inputs that are not given are zero."""
    absent = [n for n, f in algorithm.fields.items() if f.kind == "input" and n not in inputs]
    absent += [n for n, f in algorithm.fields.items() if f.kind == "output" and n not in outputs]
    return Call(plans(algorithm, plans.lanes(algorithm, batch), ("run",), tuple(absent)), inputs, outputs, batch)


def linear_step(model: Model, stepper: SymplecticEuler) -> LinearStep:
    """Kept with the model."""
    return model.keep_as((LinearStep, stepper), lambda: LinearStep(model, stepper))


def step_jacobian(step: LinearStep, state: State, dt: float, given: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray | None]:
    """d(q', v')/d(q, v, tau) (batch, 2 nv, 3 nv), and which rows are at an edge (batch, rows), if there are rows.

    state   (batch, ...)
    given   tau, external, u: (...) of one state, or (batch, ...); None where there is none
    """
    batch, nv, fields = len(state.q), step.model.nv, step.algorithm.fields
    told = step.program.given(step.model, dt) | step.program.entered(step.model, {"q": state.q, "v": state.v}, float(state.t))
    told |= {"q": state.q, "v": state.v, "t": np.array([float(state.t)])}
    told |= {name: _flat(name, x) for name, x in given.items() if x is not None}
    told = {name: x for name, x in told.items() if name in fields and np.size(x)}
    found = np.empty((batch, 2 * nv, 3 * nv))
    edges = np.empty((batch, step.linear.laws.row_count), bool) if step.rows is not None else None
    for first in range(0, batch, CHUNK):
        some = slice(first, min(first + CHUNK, batch))
        memory = step.take(some.stop - first, tuple(told))
        for name, x in told.items():
            memory.inputs[name][...] = x[some] if x.ndim > 1 and len(x) == batch else x
        found[some] = memory.run(dt)
        if edges is not None:
            np.greater(memory.out["edges"], 0.0, out=edges[some])
        step.give_back(memory)
    return found, edges


def _flat(name: str, x: Any) -> np.ndarray:
    x = np.asarray(x, float)
    tail = 2 if name == "external" else 1
    return x.reshape(*x.shape[: x.ndim - tail], -1)
