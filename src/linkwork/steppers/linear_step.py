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
from typing import Any

import numpy as np

from ..elements.collection import BOUNDED, CONES, EQUALITIES, collection
from ..kernel.call import Call
from ..kernel.sweep import Algorithm
from ..model import Model, State
from ..reduced.diagonal_changes import DIAGONAL_CHANGES
from ..reduced.dof_tree import dof_plans
from ..reduced.inverse_derivatives import INVERSE_DERIVATIVES
from ..reduced.inverse_mass_matrix import INVERSE_MASS_MATRIX
from ..reduced.law_slopes import SEEN
from ..reduced.port_columns import COLUMNS, PORT_COLUMNS, port_plans
from ..reduced.port_space import PortSpace
from ..reduced.push_out import SOFT as PUSH_SOFT
from ..solvers.box_tangents import ROUNDS, SOFT
from .linear_program import BLOCKS, LinearLaws, linear_program
from .stepper import Stepper, program_of
from .symplectic_euler import SymplecticEuler

METHOD = "reduced"
KINDS = (EQUALITIES, BOUNDED, CONES)
Arrays = dict[str, np.ndarray]


def is_linear_step(model: Model, stepper: Stepper) -> bool:
    """Whether steps of a model have derivatives by recursions."""
    laws = collection(model)
    if not isinstance(stepper, SymplecticEuler) or laws.rubs_inside or laws.told_count or laws.step_shape[3] not in KINDS:
        return False
    return stepper.stabilise != "project" or not laws.rows


class LinearStep:
    """The step of a model, ready for its derivatives."""

    def __init__(self, model: Model, stepper: SymplecticEuler) -> None:
        self.model, self.program = model, program_of(stepper, model, METHOD)
        self.linear = LinearLaws(collection(model))
        self.algorithm = linear_program(self.program.algorithm, self.linear)
        self.middle = stepper.evaluations > 1
        rows, forces = self.linear.rows, self.linear.forces
        self.rows, self.forces = rows, forces
        found = {body for space in (rows, forces) if space is not None for body in space.bodies}
        self.bodies = sorted(found)
        self.ports = port_plans(model, self.bodies) if found else None
        self.damping = np.concatenate([np.zeros(0), *(np.reshape(p["damping"], -1) for p in model.tree.parameters)])
        self.held = rows is not None
        self.out = self.linear.pushes
        self.names = ("a", *(["first_a"] if self.middle else []), *(["held_change"] if self.held else []))
        self.names += ("shift",) if self.out else ()
        self._idle: dict[Any, list[_Memory]] = {}

    def take(self, batch: int, given: tuple[str, ...]) -> _Memory:
        """Memory for so many states with these inputs, which no other call has."""
        try:
            return self._idle[batch, given].pop()
        except LookupError:
            return _Memory(self, batch, given)

    def give_back(self, memory: _Memory) -> None:
        """Let later calls use this memory."""
        self._idle.setdefault(memory.key, []).append(memory)

    def slots(self, space: PortSpace) -> np.ndarray | slice:
        """Where the bodies of a space are among all ports."""
        if space.bodies == self.bodies:
            return slice(None)
        at = {body: k for k, body in enumerate(self.bodies)}
        return np.array([6 * at[body] + k for body in space.bodies for k in range(6)], np.int64)


class _Memory:
    """The arrays of all programs of a step, one feeding the next, and the calls on them."""

    def __init__(self, step: LinearStep, batch: int, given: tuple[str, ...]) -> None:
        self.key, model = (batch, given), step.model
        nv, nb, count = model.nv, model.nb, len(step.names)
        self.v, self.a = np.zeros((batch, count, nv)), np.zeros((batch, count, nv))
        self.external, self.q = np.zeros((batch, count, nb * 6)), np.zeros((batch, count, model.nq))
        self.gravity = np.zeros((batch, count, 3))
        names = [n for n, f in step.algorithm.fields.items() if f.kind == "output" and n not in ("x", "left")]
        if not step.middle:
            names.remove("first_a")
        self.inputs: Arrays = {}
        for name in given:
            self.inputs[name] = np.zeros((batch, step.linear.plans.size(step.algorithm, name)))
        out = {n: np.zeros((batch, step.linear.plans.size(step.algorithm, n))) for n in names}
        out |= {name: self.a[:, k] for k, name in enumerate(step.names)}
        onto = {"held_change": "pressed", "shift": "pressed_out"}
        out |= {onto[n]: self.external[:, k] for k, n in enumerate(step.names) if n in onto}
        self.out = out
        self.step = _call(step.linear.plans, step.algorithm, self.inputs, out, batch)
        square = {name: np.zeros((batch * count, nv * nv)) for name in ("dtau_dq", "dtau_dv")}
        flat = {"q": self.q, "v": self.v, "a": self.a, "external": self.external, "gravity": self.gravity}
        flat = {name: x.reshape(batch * count, -1) for name, x in flat.items()}
        self.tree = _call(dof_plans(model), INVERSE_DERIVATIVES, flat, square, batch * count)
        self.E, self.V = (x.reshape(batch, count, nv, nv) for x in square.values())
        inverse = {"M_inverse": np.zeros((batch, nv * nv))}
        self.inverse = _call(dof_plans(model), INVERSE_MASS_MATRIX, {"q": self.q[:, 0]}, inverse, batch)
        self.M_inverse = inverse["M_inverse"].reshape(batch, nv, nv)
        self.columns = None
        if step.ports is not None:
            self.v_free = np.zeros((batch, nv))
            motions = {"q": self.q[:, 0], "v": self.v[:, 0], "a": self.a[:, 0], "v_start": self.inputs["v"], "v_free": self.v_free}
            at = {name: k for k, name in enumerate(step.names)}
            motions |= {field: self.a[:, at[n]] for field, n in (("v_held", "held_change"), ("v_out", "shift")) if n in at}
            found = {"port_columns": np.zeros((batch, len(COLUMNS) * 6 * len(step.bodies) * nv))}
            self.columns = _call(step.ports, PORT_COLUMNS, motions, found, batch)
            self.at_ports = found["port_columns"].reshape(batch, len(COLUMNS), 6 * len(step.bodies), nv)


def _call(plans: Any, algorithm: Algorithm, inputs: Arrays, outputs: Arrays, batch: int) -> Call:
    absent = [n for n, f in algorithm.fields.items() if f.kind == "input" and n not in inputs]
    absent += [n for n, f in algorithm.fields.items() if f.kind == "output" and n not in outputs]
    return Call(plans(algorithm, plans.lanes(algorithm, batch), ("run",), tuple(absent)), inputs, outputs, batch)


def linear_step(model: Model, stepper: SymplecticEuler) -> LinearStep:
    """Kept with the model."""
    return model.keep_as((LinearStep, stepper), lambda: LinearStep(model, stepper))


def derivatives_of(
    step: LinearStep, state: State, dt: float, given: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray | None]:
    """d(q', v')/d(q, v, tau) (batch, 2 nv, 3 nv), and which rows are at an edge (batch, rows), if there are rows.

    state   (batch, ...)
    given   tau, external, u: (...) of one state, or (batch, ...); None where there is none
    """
    model, batch = step.model, len(state.q)
    told = step.program.given(model, dt) | step.program.entered(model, {"q": state.q, "v": state.v}, float(state.t))
    told |= {"q": state.q, "v": state.v, "t": np.array([float(state.t)])}
    told |= {name: _flat(name, x) for name, x in given.items() if x is not None}
    fields = step.algorithm.fields
    told = {name: x for name, x in told.items() if name in fields and np.size(x)}
    memory = step.take(batch, tuple(told))
    for name, x in told.items():
        memory.inputs[name][...] = x
    memory.step()
    found = _Derivatives(step, memory, dt)
    out, edges = found.matrix(), memory.out["edges"] > 0.0 if step.held else None
    step.give_back(memory)
    return out, edges


def _flat(name: str, x: Any) -> np.ndarray:
    x = np.asarray(x, float)
    tail = 2 if name == "external" else 1
    return x.reshape(*x.shape[: x.ndim - tail], -1)


class _Derivatives:
    """The matrices of the module's text, for a batch; columns are those of q, v and tau."""

    def __init__(self, step: LinearStep, memory: _Memory, h: float) -> None:
        self.step, self.memory, self.h, self.nv = step, memory, h, step.model.nv
        self.batch = len(memory.q)
        m, at = memory, {name: k for k, name in enumerate(step.names)}
        self.at = at
        v = m.inputs["v"]
        m.q[...] = m.inputs["q"][:, None]
        m.v[:, 0] = v
        load = m.out.get("load", m.inputs.get("external", 0.0))
        m.external[:, 0], m.gravity[:, 0] = load, step.model.gravity
        if step.middle:
            first = at["first_a"]
            m.v[:, first], m.external[:, first], m.gravity[:, first] = v, load, step.model.gravity
            m.v[:, 0] += 0.5 * h * m.a[:, first]
        m.tree()
        m.inverse()
        if m.columns is not None:
            m.v_free[...] = v + h * m.a[:, 0]
            m.columns()
        self.E, self.V, self.M_inverse = m.E, m.V, m.M_inverse

    # --- free motion -------------------------------------------------------------------------------------------------
    def matrix(self) -> np.ndarray:
        """d(q', v')/d(q, v, tau)."""
        nv, h = self.nv, self.h
        self.first = self._accelerations("first_a") if self.step.middle else None
        self.a = self._accelerations("a")
        dv = h * self.a
        dv[:, range(nv), range(nv, 2 * nv)] += 1.0
        way = None
        if self.step.held:
            change, way = self._held()
            dv += change
        return self._updated(dv, h * dv if way is None else h * dv + way)

    def _accelerations(self, name: str) -> np.ndarray:
        """da1, or da (batch, nv, 3 nv)."""
        nv, k = self.nv, self.at[name]
        right = np.zeros((self.batch, nv, 3 * nv))
        np.negative(self.E[:, k], out=right[..., :nv])
        np.negative(self.V[:, k], out=right[..., nv : 2 * nv])
        right[:, range(nv), range(2 * nv, 3 * nv)] = 1.0
        if self.step.forces is not None:
            K, D = self._forces
            right[..., :nv] += K
            right[..., nv : 2 * nv] += D
        if self.first is not None and name == "a":
            coriolis = self.V[:, k] * (-0.5 * self.h)
            coriolis[:, range(nv), range(nv)] += 0.5 * self.h * self.step.damping
            right += coriolis @ self.first
        return self.M_inverse @ right

    first: np.ndarray | None = None

    @property
    def _forces(self) -> tuple[np.ndarray, np.ndarray]:
        """dQ/dq and dQ/dv (batch, nv, nv), forces that follow their bodies apart."""
        space, out = self.step.forces, self.memory.out
        assert space is not None
        S = space.size
        K, D = (out[name].reshape(self.batch, S, S) for name in ("K_ports", "D_ports"))
        if not space.bodies:
            return K, D
        J, N = self._columns(space, "J"), self._columns(space, "N_v")
        Jt = J.swapaxes(-1, -2)
        return Jt @ (K @ J + D @ N), Jt @ (D @ J)

    def _columns(self, space: PortSpace, name: str) -> np.ndarray:
        """Columns of all ports of a space (batch, size, nv)."""
        nv = self.nv
        if space.bodies:
            found = self.memory.at_ports[:, COLUMNS.index(name)][:, self.step.slots(space)]
        else:
            found = np.zeros((self.batch, 0, nv))
        return space.on_all(found) if name == "J" else space.on_bodies(found)

    # --- rows --------------------------------------------------------------------------------------------------------
    def _held(self) -> tuple[np.ndarray, np.ndarray | None]:
        """What rows add to v', and the displacement that pushes out, if one does."""
        step, out, nv = self.step, self.memory.out, self.nv
        space = step.rows
        assert space is not None
        R, S = step.linear.laws.row_count, space.size
        self.J, self.N_free = self._columns(space, "J"), self._columns(space, "N_free")
        self.seen = np.concatenate([self.J, *(self._columns(space, n) for n in ("N_v", "N_free", "R_q"))], axis=-2)
        self.rates = np.concatenate([self._columns(space, "R_v"), self._columns(space, "R_w")], axis=-1)
        self.G = out["G_ports"].reshape(self.batch, R, S)
        self.rows = self.G @ self.J
        self.answer = self.M_inverse @ self.rows.swapaxes(-1, -2)
        self.A = self.rows @ self.answer
        P_u, P_x = (out[name].reshape(self.batch, R, R) for name in ("P_u", "P_x"))
        change = self._response("f_ports", "held_change")
        g = self._seen("w_ports") + self._moved(change, "N_held")
        x = self._solution(P_u, P_x, P_u @ g)
        change += self.answer @ x
        if not step.out or not (out["deep"] > 0.0).any():
            return change, None
        return change, self._pushed_out(change)

    def _moved(self, change: np.ndarray, name: str) -> np.ndarray:
        """How G (J d) changes with d and the displacements of the ports, G itself apart."""
        space = self.step.rows
        assert space is not None
        found = self.rows @ change
        found[..., : self.nv] += self.G @ self._columns(space, name)
        return found

    def _response(self, name: str, of: str) -> np.ndarray:
        """M^-1 (d(G^T x) - E dq) (batch, nv, 3 nv), multipliers held."""
        nv, S = self.nv, self.J.shape[-2]
        turned = self.step.linear.turning
        F = self.memory.out[name].reshape(self.batch, S, turned, S)
        inner = F[:, :, 0] @ self.J
        Jt = self.J.swapaxes(-1, -2)
        found = np.zeros((self.batch, nv, 3 * nv))
        if turned == 1:
            found[..., :nv] = self.M_inverse @ (Jt @ inner - self.E[:, self.at[of]])
            return found
        found[..., :nv] = Jt @ (inner + F[:, :, 1] @ self.N_free) - self.E[:, self.at[of]]
        free = Jt @ (F[:, :, 1] @ self.J)
        found[..., nv : 2 * nv] += free
        found += self.h * free @ self.a
        return self.M_inverse @ found

    def _seen(self, name: str) -> np.ndarray:
        """How slopes of rows on what ports see become those with q, v and tau (batch, rows, 3 nv)."""
        nv, h, S = self.nv, self.h, self.J.shape[-2]
        W = self.memory.out[name].reshape(self.batch, -1, SEEN, S)
        position, free, velocity, drift = (W[:, :, k] for k in range(SEEN))
        slopes = np.concatenate([position, velocity + drift, free - drift, h * drift], axis=-1)
        found = np.zeros((self.batch, W.shape[1], 3 * nv))
        found[..., :nv] = slopes @ self.seen
        by_free, rates = free @ self.J, (h * drift) @ self.rates
        found[..., nv : 2 * nv] = velocity @ self.J + by_free + rates[..., :nv] + rates[..., nv:]
        found += (h * by_free) @ self.a
        if self.first is not None:
            found += (0.5 * h * rates[..., nv:]) @ self.first
        return found

    def _solution(self, P_u: np.ndarray, P_x: np.ndarray, right: np.ndarray, soft: Any = 0.0) -> np.ndarray:
        """The matrix X with (P_u (A + soft) + P_x) X = -right; rows that others imply share, by proximal rounds."""
        size = np.diagonal(self.A, axis1=-2, axis2=-1)
        T = P_u @ self.A + P_x
        n = range(T.shape[-1])
        diagonal = np.diagonal(P_u, axis1=-2, axis2=-1)
        T[:, n, n] += diagonal * size * soft
        softer = T.copy()
        softer[:, n, n] += SOFT * diagonal * size
        inverse = np.linalg.inv(softer)
        found = -(inverse @ right)
        for _ in range(ROUNDS - 1):
            found -= inverse @ (right + T @ found)
        return found

    # --- what is too deep ----------------------------------------------------------------------------------------------
    def _pushed_out(self, held: np.ndarray) -> np.ndarray:
        """The displacement that pushes out (batch, nv, 3 nv); zero where nothing is too deep."""
        out, pushing = self.memory.out, self.step.linear.pushing
        acts = out["deep"] > 0.0
        free, x = out["out_free"], np.where(acts, out["out_x"], 0.0)
        found = self._response("out_f_ports", "shift")
        g = self._seen("out_ports") + self._moved(found, "N_out")
        g += (self.h * out["slow"])[:, :, None] * self._moved(held, "N_held")
        g[:, pushing, : self.nv] += (PUSH_SOFT * x[:, pushing])[:, :, None] * self._diagonal_changes()
        n = range(len(free[0]))
        P_u, P_x = np.zeros_like(self.A), np.zeros_like(self.A)
        P_u[:, n, n], P_x[:, n, n] = free, 1.0 - free
        soft = np.zeros(len(free[0]))
        soft[pushing] = PUSH_SOFT
        found += self.answer @ self._solution(P_u, P_x, free[:, :, None] * g, soft)
        return np.where(acts[:, :, None], found, 0.0)

    def _diagonal_changes(self) -> np.ndarray:
        """dA_ii (batch, rows that push, nv)."""
        step, pushing, S = self.step, self.step.linear.pushing, self.J.shape[-2]
        space, count, T = step.rows, len(pushing), step.linear.turning
        assert space is not None
        answers = np.ascontiguousarray(self.answer.swapaxes(-1, -2)[:, pushing])
        wrenches = np.zeros((self.batch, count, step.model.nb, 6))
        wrenches[:, :, space.bodies] = self.G[:, pushing, : 6 * len(space.bodies)].reshape(self.batch, count, -1, 6)
        given = {
            "q": np.repeat(self.memory.inputs["q"], count, axis=0),
            "v": answers.reshape(self.batch * count, -1),
            "external": wrenches.reshape(self.batch * count, -1),
        }
        found = {"change": np.empty((self.batch * count, self.nv))}
        _call(step.model.plan, DIAGONAL_CHANGES, given, found, self.batch * count)()
        turns = self.memory.out["turns_ports"].reshape(self.batch, count, S, T, S)
        motions = self.J @ self.answer[:, :, pushing]
        turned = np.matmul(motions.swapaxes(-1, -2)[:, :, None, :], turns.reshape(self.batch, count, S, T * S))[:, :, 0]
        own = turned[..., :S] @ self.J
        if T > 1:
            own += turned[..., S:] @ self.N_free
        return found["change"].reshape(self.batch, count, -1) + 2.0 * own

    # --- update --------------------------------------------------------------------------------------------------------
    def _updated(self, dv: np.ndarray, way: np.ndarray) -> np.ndarray:
        """d(q', v')/d(q, v, tau), given those of v' and of the way."""
        nv = self.nv
        found = np.empty((self.batch, 2 * nv, 3 * nv))
        dq = found[:, :nv]
        dq[...], found[:, nv:] = way, dv
        dq[:, range(nv), range(nv)] += 1.0
        starts, squares = self.step.model.tree.offsets("v"), 0
        sizes = np.diff(starts)
        begin = np.concatenate([[0], np.cumsum(sizes**2)])
        for body in self.step.linear.unusual.tolist():
            at, n = slice(starts[body], starts[body + 1]), int(sizes[body])
            if n:
                squares = slice(begin[body], begin[body + 1])
                own = {name: self.memory.out[name][:, squares].reshape(-1, n, n) for name in BLOCKS}
                for of, first in (("q", 0), ("v", nv)):
                    rows = own[f"{of}_by_way"] @ way[:, at] + own[f"{of}_by_v"] @ dv[:, at]
                    rows[..., at] += own[f"{of}_by_q"]
                    found[:, first + at.start : first + at.stop] = rows
        return found
