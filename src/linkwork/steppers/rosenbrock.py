"""A linearly implicit method of order 2 for stiff joints, in O(n): Verwer's ROS2 as a W-method. L-stable.

[Verwer, Spee, Blom & Hundsdorfer 1999.] For y = (q, v) and any matrix A near the Jacobian of y' = F(y), with g = 1 - 1/sqrt(2),

    (1 - g h A) k1 = F(y),   (1 - g h A) k2 = F(y + h k1) - 2 k1,   y' = y + h (3 k1 + k2) / 2.

Here A holds the stiffness K and damping D of the joints at the start of the step, the part that makes systems stiff; order 2
needs no more. In the velocities each stage is a solve with M + g h D + g^2 h^2 K: forward dynamics with more armature, linear
in the number of bodies. The second stage adds to the plain acceleration a at y + h k1 the x of

    (M + g h D + g^2 h^2 K) x = -g h K r_q - (g h D + g^2 h^2 K) r_v,     r = F(y + h k1) - 2 k1.

A step of a tree with springs and dampers on its joints (`JointSpring`, `JointDamping`, and the damping of the joints
themselves) is a program, run N times inside compiled code, for one state or a batch. What A leaves out must not be stiff: very
large forces that turn with the bodies need an implicit method with the whole Jacobian (`bdf2`).

With other forces or equality constraints a step is two solves of `redmax.operator`, where K and D come from all forces. Put in
velocities w instead of accelerations, kv = (w - r_q) / g h, both stages have one form,

    (M + g h D + g^2 h^2 K) w = M (r_q + g h r_v) + g h D r_q + G^T x,     G w = G (r_q + g h r_v),     kq = w,

where the first has r_q = v and M r_v = f, and G r_v is what the constraints ask of accelerations: they act on F, and A is the
Jacobian across them, so that order 2 stays. `stabilise` says what holds their positions: "project" puts the state back
after every step, as in `post_stabilised`; with "none" they drift like the error of the method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..forces import JointDamping, JointSpring
from ..forces.force import Force
from ..forces.joint import JointForce, is_flat
from ..kernel.sweep import INERTIA, SCALAR, Algorithm, Field, inward, outward, vector
from ..model import MaximalState, Model, Motion, State
from ..model.rules import inertia_of, joint_of
from ..redmax.operator import ImplicitOperator
from ..redmax.system import dynamics
from ..reduced.forward import FORWARD_DYNAMICS
from ..reduced.inverse import mass_product
from ..reduced.jacobian import jacobian_product
from ..reduced.rules import factor_joint, falling_world, gyroscopic, velocity_step
from ..spatial.scalar import Vector, ldl_solve
from .post_stabilised import check_choice, post_stabilised
from .stages import renamed
from .stepper import Program, StepInfo, Stepper
from .tangent import recharted, tangent_rate, tangent_rates

GAMMA = 1.0 - np.sqrt(0.5)


def offset(n: Any, q: Vector) -> Vector:
    """How far a joint is from the rest of its spring; joints on groups have none."""
    return q - n.rest if is_flat(n.joint) else np.zeros(n.joint.nv)


def first_velocities(n: Any, parent: Any) -> None:
    """Outward, at the start of the step."""
    n.E, n.S, n.w, n.zeta = velocity_step(n, parent.w)


def first_inertia(n: Any, parent: Any) -> None:
    """Inward: the matrix of both stages, factored, and the right-hand side of the first."""
    own, gh = inertia_of(n), GAMMA * n.h
    pA = gyroscopic(n.w, n.first_moment, own.J) - n.external + n.pA
    damping = n.damping + n.joint_damping
    tau = n.tau - n.stiffness * (offset(n, n.q) + gh * n.v) - damping * n.v
    n.soft = gh * (damping + gh * n.stiffness)
    f = factor_joint(own + n.IA, n.S, n.armature + n.soft)
    u = tau - n.S.T @ pA
    n.K, n.L, n.d_inv, n.y = f.K, f.L, f.d_inv, f.solve(u)
    parent.IA = parent.IA + n.E.move_inertia(f.Ia)
    parent.pA = parent.pA + n.E.move_wrench(pA + f.Ia @ n.zeta + f.U @ n.y)


def first_slopes(n: Any, parent: Any) -> None:
    """Outward: k1, and the state of the second stage."""
    a = n.E.pull_twist(parent.acc) + n.zeta
    kv = n.y - n.K @ a
    n.acc = a + n.S @ kv
    n.kv = kv
    n.kq = n.v + GAMMA * n.h * kv
    n.move = n.h * n.kq
    n.q2, n.v2 = joint_of(n).integrate(n.q, n.move), n.v + n.h * kv
    n.tau2 = n.tau - n.stiffness * offset(n, n.q2) - n.joint_damping * n.v2


def second_side(n: Any, parent: Any) -> None:
    """Inward: the right-hand side of x, gathered."""
    n.rq = tangent_rate(joint_of(n), n.move, n.v2, 1) - 2.0 * n.kq
    n.rv = n.a - 2.0 * n.kv
    u = -GAMMA * n.h * n.stiffness * n.rq - n.soft * n.rv - n.S.T @ n.pX
    n.yx = ldl_solve(n.L, n.d_inv, u)
    parent.pX = parent.pX + n.E.move_wrench(n.pX + n.K.T @ u)


def second_slopes(n: Any, parent: Any) -> None:
    """Outward: k2, and the state after the step."""
    a = n.E.pull_twist(parent.accx)
    x = n.yx - n.K @ a
    n.accx = a + n.S @ x
    kv = n.rv + x
    kq = n.rq + GAMMA * n.h * kv
    joint = joint_of(n)
    v = n.v + n.h * (1.5 * n.kv + 0.5 * kv)
    n.q, n.v = joint.rechart(joint.integrate(n.q, n.h * (1.5 * n.kq + 0.5 * kq)), v)


SECOND = {"q": "q2", "v": "v2", "tau": "tau2", "E": "E2", "S": "S2", "w": "w2", "zeta": "zeta2"}
SECOND |= {"IA": "IA2", "pA": "pA2", "K": "K2", "y": "y2", "acc": "acc2"}


def _program() -> Program:
    shared, falling = Field("shared", codec=vector(6)), Field("shared", codec=vector(6), world=falling_world)
    turning, sums = Field("shared", codec=vector(3)), Field("gathered", codec=vector(6))
    fields = {
        "q": Field("state", "q"),
        "v": Field("state", "v"),
        "tau": Field("input", "v"),
        "stiffness": Field("input", "v"),
        "rest": Field("input", "v"),
        "joint_damping": Field("input", "v"),
        "external": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),
        "h": Field("input", "global", SCALAR),
        "w": turning,
        "w2": turning,
        "acc": falling,
        "acc2": falling,
        "accx": shared,
        "IA": Field("gathered", codec=INERTIA),
        "IA2": Field("gathered", codec=INERTIA),
        "pA": sums,
        "pA2": sums,
        "pX": sums,
    }
    plain = [renamed(sweep, SECOND) for sweep in FORWARD_DYNAMICS.phases["run"]]
    first = [outward(first_velocities), inward(first_inertia), outward(first_slopes)]
    sweeps = [*first, *plain, inward(second_side), outward(second_slopes)]
    return Program(Algorithm("reduced_rosenbrock", fields, {"run": sweeps}), ("q", "v"), inputs=joint_terms)


def joint_terms(model: Model) -> dict[str, np.ndarray]:
    """Stiffness, rest and damping of the springs and dampers on all joints, (nv,) each."""
    out = {name: np.zeros(model.nv) for name in ("stiffness", "rest", "joint_damping")}
    pull = np.zeros(model.nv)
    for f in model.elements_of(JointForce):
        at, body = model.v_index(f.joint), model.bodies[model.body_index(f.joint)]
        mine = f.fitted(body)
        out["joint_damping"][at] += mine.damping
        if isinstance(f, JointSpring):
            out["stiffness"][at] += mine.stiffness
            pull[at] += mine.stiffness * mine.rest
    stiff = out["stiffness"] > 0
    out["rest"][stiff] = pull[stiff] / out["stiffness"][stiff]  # springs in parallel are one spring
    return out


def linear_step(model: Model, state: State, h: float, tau: Any, external: Any) -> tuple[State, np.ndarray]:
    """A step with any forces and equality constraints, before anything is put back, and the forces of the constraints."""
    gh, now = GAMMA * h, dynamics(model, state, tau, external)
    operator, c = ImplicitOperator(now, gh), now.constraints
    fell = c.rows @ Motion(now.motion.twists_dot, np.zeros(model.nv))  # G J_dot v

    def rows_on(y: np.ndarray) -> np.ndarray:
        return c.rows @ Motion(jacobian_product(model, state.q, y), y)

    kq, first = operator.constrained(operator.right_side(), c.rows, rows_on(state.v) - gh * (c.bias + fell), c.unilateral)
    kv = (kq - state.v) / gh
    end = State(model.integrate(state.q, h * kq), state.v + h * kv, state.t + h)
    later = dynamics(model, end, tau, external)
    a, forces = later.recursive_accelerations(-later.constraints.bias)
    r_q, r_v = tangent_rates(model, h * kq, end.v) - 2.0 * kq, a - 2.0 * kv
    moved = r_q + gh * r_v
    damped = operator.damped(r_q, jacobian_product(model, state.q, r_q))
    w, _ = operator.constrained(mass_product(model, state.q, moved) + gh * damped, c.rows, rows_on(moved), c.unilateral)
    move, gain = 1.5 * kq + 0.5 * w, 1.5 * kv + 0.5 * (w - r_q) / gh
    q, v = recharted(model, model.integrate(state.q, h * move), state.v + h * gain)
    return State(q, v, state.t + h), 0.5 * (first / gh + forces)


@dataclass(frozen=True)
class Rosenbrock(Stepper):
    """See the module's text."""

    stabilise: str = "project"

    name = "rosenbrock"
    order = 2
    programs = {"reduced": _program()}

    def __post_init__(self) -> None:
        check_choice(self.name, self.stabilise, ("none", "project"))

    def compiles(self, model: Model, method: str) -> bool:
        """Trees with springs and dampers on joints whose velocities are rates of coordinates."""
        joints = [(f, model.bodies[model.body_index(f.joint)].joint) for f in model.elements_of(JointForce)]
        local = all(isinstance(f, (JointSpring, JointDamping)) and is_flat(joint) for f, joint in joints)
        return local and not constraint_set(model).count and not model.elements_of(Force)

    def constrained_step(
        self, model: Model, state: State | MaximalState, h: float, tau: Any, external: Any
    ) -> tuple[State | MaximalState, StepInfo]:
        assert isinstance(state, State)
        end, forces = linear_step(model, state, h, tau, external)
        return (post_stabilised(model, end) if self.stabilise == "project" else end), StepInfo(forces)
