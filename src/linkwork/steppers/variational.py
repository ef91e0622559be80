"""A variational integrator on Lie groups: the midpoint rule applied to the action, not to the equations of motion. Order 2.

Over a step the joints move with constant velocities v, q_m = integrate(q, h v / 2), and the discrete Lagrangian is h L(q_m, v).
Its derivatives at both ends are the momenta before and after [Marsden & West 2001; on groups, Bou-Rabee & Marsden 2009]. With
xi = h v, A = ad(xi), the body Jacobian J_r(xi) of the exponential, mu = dL/dv and f = dL/dq + forces at (q_m, v):

    w  = J_r(xi)^-T (mu + h/2 J_r(xi/2)^T f)
    p0 = exp(-A)^T w - h exp(-A/2)^T f,     p1 = w

Where coordinates add, A = 0 and this is p = mu -+ h f / 2. The step is symplectic and keeps momenta: the energy of an undamped
system stays near its start for exponentially long times. dL/dq follows from the composite momentum H of every subtree,

    dL/dq_k = H^T (ad(phi) S_k + S_dot_k - S [v, e_k]) + S_k^T (weight and external wrenches of the subtree).

p0 is given, v is unknown: Newton's method with M(q_m) for its matrix, in O(n), a fixed number of rounds; that they were enough is
checked. One pass of the program is one round; the last one moves the state.

"variational4" composes each step of three, of lengths c h, (1 - 2c) h, c h with c = 1 / (2 - 2^(1/3)): order 4 [Yoshida 1990].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np

from ..errors import InputError, SolverError
from ..joints import Joint
from ..kernel.sweep import INERTIA, SCALAR, Algorithm, Field, each, inward, outward, vector
from ..model import Model
from ..model.rules import inertia_of, joint_of, placement_of
from ..reduced.forward import FORWARD_DYNAMICS
from ..reduced.inverse import mass_product
from ..reduced.rules import factor_joint
from ..spatial.scalar import Vector, array, cross, is_zero, maximum, where
from ..spatial.se3 import bracket
from .constrained import is_bare
from .stepper import Program, Stepper
from .tangent import WEIGHTS

ROUNDS = 12
TERMS = 12  # of the series of exponentials; turns are below 1 rad per step
ENOUGH = 1e-9  # of the velocities: the largest last change of any step


def _series(A: np.ndarray, x: Vector, weights: list[float]) -> Vector:
    """sum of weights[k] (A^T)^k x."""
    total, power = weights[0] * x, x
    for weight in weights[1:]:
        power = A.T @ power
        if weight:
            total = total + weight * power
    return total


EXP = [(-1.0) ** k / factorial(k) for k in range(TERMS)]  # exp(-A)
JACOBIAN = [(-1.0) ** k / factorial(k + 1) for k in range(TERMS)]  # J_r
INVERSE = [WEIGHTS[k] if k != 1 else 0.5 for k in range(TERMS)]  # J_r^-1


def momenta(joint: Joint, xi: Vector, h: Any, mu: Vector, f: Vector) -> tuple[Vector, Vector]:
    """p0 and p1 of the module's text."""
    A = np.stack([joint.bracket(xi, e) for e in np.eye(joint.nv)], axis=1) if joint.nv else np.zeros((0, 0))
    if all(is_zero(x) for x in np.asarray(A, dtype=object).flat):
        return mu - 0.5 * h * f, mu + 0.5 * h * f
    w = _series(A, mu + 0.5 * h * _series(0.5 * A, f, JACOBIAN), INVERSE)
    return _series(A, w, EXP) - h * _series(0.5 * A, f, EXP), w


def midpoint(n: Any, parent: Any) -> None:
    """Twists and the direction of gravity at the midpoint."""
    joint = joint_of(n)
    E = placement_of(n) @ joint.motion(joint.integrate(n.q, 0.5 * n.step * n.v), n.v)
    t = E.tangent
    n.phi = E.pull_twist(parent.phi) + t.phi
    n.g = E.unrotate(parent.g)
    n.E, n.S, n.S_dot, n.twist = E.with_tangent(None), t.S, t.S_dot, n.phi


def balance(n: Any, parent: Any) -> None:
    """What is missing of the momentum at the start, and the articulated inertia that answers it."""
    joint, own = joint_of(n), inertia_of(n)
    S, v = n.S, n.v
    weight = np.concatenate([cross(n.first_moment, n.g), n.mass * n.g]) + n.external
    H, W = own @ n.twist + n.H, weight + n.W
    turned = np.stack([bracket(n.twist, S[:, k]) for k in range(joint.nv)], axis=1) if joint.nv else S
    inner = np.stack([joint.bracket(v, e) for e in np.eye(joint.nv)], axis=1) if joint.nv else np.zeros((0, 0))
    slope = turned + n.S_dot - S @ inner
    mu = S.T @ H + n.armature * v
    p0, n.p1 = momenta(joint, n.step * v, n.step, mu, slope.T @ H + S.T @ W + n.tau - n.damping * v)
    f = factor_joint(own + n.IA, S, n.armature)
    u = n.momentum - p0 - S.T @ n.pA
    n.K, n.y = f.K, f.solve(u)
    parent.H, parent.W = parent.H + n.E.move_wrench(H), parent.W + n.E.move_wrench(W)
    parent.IA = parent.IA + n.E.move_inertia(f.Ia)
    parent.pA = parent.pA + n.E.move_wrench(n.pA + f.K.T @ u)


def advance(n: Any, parent: Any) -> None:
    """Better velocities; after the last round the state moves."""
    joint = joint_of(n)
    acc = n.E.pull_twist(parent.acc)
    change = n.y - n.K @ acc
    n.acc = acc + n.S @ change
    v = n.v + change
    last = n.round >= ROUNDS - 1.5
    q = joint.integrate(n.q, n.step * v)
    n.q = array([where(last, a, b) for a, b in zip(q, n.q, strict=True)])
    n.momentum = array([where(last, a, b) for a, b in zip(n.p1, n.momentum, strict=True)])
    n.error = array([where(last, maximum(abs(a), b), b) for a, b in zip(change, n.error, strict=True)])
    n.v = v
    n.part = where(last, n.part + 1.0, n.part)
    n.round = where(last, 0.0, n.round + 1.0)


def begin(parts: tuple[float, ...]) -> Callable[[Any], None]:
    """The length of the present part of the step."""

    def rule(n: Any) -> None:
        n.part = where(n.part > len(parts) - 0.5, 0.0, n.part)
        length = parts[0]
        for k, x in enumerate(parts[1:]):
            length = where(n.part > k + 0.5, x, length)
        n.step = n.h * length

    return rule


def _algorithm(name: str, parts: tuple[float, ...]) -> Algorithm:
    fields = {
        "q": Field("state", "q"),
        "momentum": Field("state", "v"),
        "v": Field("state", "v"),
        "error": Field("state", "v"),
        "round": Field("state", "node", SCALAR),
        "part": Field("state", "node", SCALAR),
        "tau": Field("input", "v"),
        "external": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),
        "h": Field("input", "global", SCALAR),
        "phi": Field("shared", codec=vector(6)),
        "g": Field("shared", codec=vector(3), world=lambda n: n.gravity),
        "acc": Field("shared", codec=vector(6)),
        "IA": Field("gathered", codec=INERTIA),
        "pA": Field("gathered", codec=vector(6)),
        "H": Field("gathered", codec=vector(6)),
        "W": Field("gathered", codec=vector(6)),
    }
    return Algorithm(name, fields, {"run": [each(begin(parts)), outward(midpoint), inward(balance), outward(advance)]})


def enter(model: Model, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the program keeps of a batch of states (batch, size): momenta instead of velocities."""
    q, v = given["q"], given["v"]
    p = mass_product(model, q, v)
    counts = {name: np.zeros((len(q), model.nb)) for name in ("round", "part")}
    return {"q": q, "momentum": p, "v": v.copy(), "error": np.zeros_like(v), **counts}


def leave(model: Model, kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The states of the records (batch, records, size)."""
    q, p = kept["q"], kept["momentum"]
    change, scale = kept["error"].max(initial=0.0), 1.0 + np.abs(kept["v"]).max(initial=0.0)
    if not change <= ENOUGH * scale:
        raise SolverError(
            f"a variational step did not converge: its velocities still changed by {change:.2g} in the last of {ROUNDS} rounds; "
            "take a smaller dt"
        )
    flat = q.reshape(-1, model.nq), p.reshape(-1, model.nv)
    at_rest = {"q": flat[0], "v": None, "tau": flat[1], "external": None, "gravity": None}  # then a is M^-1 tau
    return {"q": q, "v": model.call(FORWARD_DYNAMICS, at_rest)["a"].reshape(p.shape)}


def _program(name: str, parts: tuple[float, ...]) -> Program:
    states = ("q", "momentum", "v", "error", "round", "part")
    return Program(_algorithm(name, parts), states, ROUNDS * len(parts), enter, leave)


OUTER = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))


@dataclass(frozen=True)
class Variational(Stepper):
    """See the module's text."""

    name = "variational"
    order = 2
    programs = {"reduced": _program("reduced_variational", (1.0,))}

    def check(self, model: Model) -> None:
        if not is_bare(model):
            raise InputError(f"the stepper {self.name!r} steps trees without forces and constraints; use another, or remove them")
        for b in model.bodies:
            if b.joint.charted:
                raise InputError(
                    f"the stepper {self.name!r} cannot change charts, which joint {b.joint_name!r} ({type(b.joint).__name__}) "
                    "does; use Spherical or Free instead"
                )


@dataclass(frozen=True)
class Variational4(Variational):
    """See the module's text."""

    name = "variational4"
    order = 4
    programs = {"reduced": _program("reduced_variational4", (OUTER, 1.0 - 2.0 * OUTER, OUTER))}
