"""A step of backward Euler in maximal coordinates, solved: rounds of Newton's method with exact derivatives, in O(n) each.

The end of the step is E = `look_pose`, reached from E_0 = `poses` by R = R_0 exp(h w), x_c = x_c0 + h R u, with (w, u) the twist
of the centre of mass in the axes of E. It solves, body by body and in the axes of E,

    I w - (R_0^T R)^T I w_0 = moments about the centre of mass,     m (u - (R_0^T R)^T u_0) = forces,     T^T gap = 0,

where all forces are those at the end. A round finds twists y that improve E as a step of length h would. The derivatives are
taken in axes that stay where E is (terms that multiply a body's own residual are left out: they vanish at the solution), so a
wrench (m, f) about the origin that the body carries along answers a turn t by

    (t x m - (t x c) x f,  t x f),

and its reaction on the parent changes with the turn of the child that carries it and with the place at which it acts. Where S
moves with the joint, its wrench W = T lam + S^+T tau turns with it, and along S that is -S^+T (dS^T W). T lam is what Newton and
Euler ask for where the guess is (`bear`), in the first round that of the step before.

**Elimination.** With a = Ad(E_jp) y_p, the wrench w_j of the joint on its body, and S^T w_j = tau_j - R v_j,

    A y_j + B a - w_j + sum over children k of (C_k y_k + F_k a_k + w_k, moved) = b_j,      y_j = a + S v_j + zeta_j,

where zeta_j = -T T^T gap / h closes the joint. The matrix is not symmetric (errata 000-3). With D = A and what children leave,

    N^-1 = S^T D S + R,     v_j = N (tau + S^T (b - D zeta)) - N S^T (D + B) a,

and the parent gets D + B + C + F - (D + C) S N S^T (D + B) and b - (D + C) (zeta + S N (tau + S^T (b - D zeta))).

Rows of constraints are in `newton_rows`. Blocks between ports that are no neighbours stay beside the factor (`krylov`). A step
that is not solved is taken in parts (`newton_parts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..elements.collection import Shape
from ..elements.derive import load_slopes
from ..elements.nodes import STILL
from ..elements.ports import starts
from ..joints import Joint
from ..joints.complement import complement, selected_rows
from ..kernel.loops import Lane, loops, maximum
from ..kernel.loops import where as chosen
from ..kernel.sweep import MATRIX, SCALAR, Field, Repeat, Routine, Step, each, inward, matrix, outward, vector
from ..model.rules import centre_of, inertia_of, joint_of, placement_of, world_pose
from ..rows.solved import row_fields, solved_rows
from ..solvers.elimination import back_substitute, eliminate_general, forward_substitute
from ..spatial import so3
from ..spatial.scalar import Vector, absolute, array, cross, inv_spd, lower_solve, numeric, upper_solve, zeros
from ..spatial.scalar import maximum as larger
from ..spatial.se3 import SE3, Ad
from . import newton_rows as rows_of
from .convert import fitted
from .implicit_laws import FAR, SAME, looked_at
from .implicit_rules import central_inertia, either, either_pose
from .krylov import begin_at_rest, beside, krylov_fields
from .program import correct, moved

LOST = 1e6  # rad, m: the first round moves no body by more
SETTING_IN = 1.5  # rounds after the first


# --- where the step begins ---------------------------------------------------------------------------------------------------
def begin(n: Any, parent: Any) -> None:
    """The joint velocity as the step begins; the first guess is that nothing moves."""
    joint = joint_of(n)
    S = joint.motion(n.q_fit, np.zeros(joint.nv)).tangent.S
    E = (parent.poses.inverse() @ n.poses).collapsed()
    n.v = (S @ inv_spd(S.T @ S)).T @ (n.twists - E.pull_twist(parent.twists))
    n.look_pose, n.carries = n.poses, n.held


# --- where a round begins ----------------------------------------------------------------------------------------------------
def travelled(n: Any) -> tuple[Vector, Vector, Vector]:
    """The turn of a body from the start of the step, its angular velocity, and that of its centre of mass, in its axes."""
    c, rate, E_0, E = centre_of(n), 1.0 / n.h, n.poses, n.look_pose
    turn = so3.log(E_0.R.T @ E.R)
    return turn, turn * rate, E.unrotate(E @ c - E_0 @ c) * rate


def look(n: Any, parent: Any) -> None:
    """Twist and momentum of the body where the guess is, relative pose, joint coordinate and velocity, S, T and the gap."""
    joint, h, c = joint_of(n), n.h, centre_of(n)
    X, I = n.poses.R.T @ n.look_pose.R, central_inertia(n)
    turn, w, u = travelled(n)
    w_0, u_0 = n.twists[:3], n.twists[3:] + cross(n.twists[:3], c)
    spin, push = I @ w - X.T @ (I @ w_0), n.mass * (u - X.T @ u_0)
    g = n.look_pose.unrotate(n.gravity)
    n.lacking = h * (n.external + np.concatenate([cross(n.first_moment, g), g * n.mass]))
    n.lacking = n.lacking - np.concatenate([spin + cross(c, push), push])
    A = inertia_of(n).matrix
    A[:3, :3] = A[:3, :3] + I @ so3.right_jacobian_inverse(turn) - I - h * so3.hat(I @ w)
    n.A_own, n.centre = A, c
    n.look_twist = np.concatenate([w, u - cross(w, c)])
    if n.pressed:
        n.twist_slope = twist_slope(n, so3.right_jacobian_inverse(turn), u)
    n.E = (parent.look_pose.inverse() @ n.look_pose).collapsed()
    q = fitted(n, n.E)
    Q = joint.motion(q, np.zeros(joint.nv))
    S = Q.tangent.S
    n.S, n.S_hat, T = S, S @ inv_spd(S.T @ S), complement(S)
    gap = (Q.with_tangent(None).inverse() @ (placement_of(n).inverse() @ n.E)).log()
    n.zeta = T @ (T.T @ gap) * (-1.0 / h)
    n.look_q, n.look_v = q, joint.difference(n.q_fit, q) * (1.0 / h)
    clear(n)


def twist_slope(n: Any, J: np.ndarray, u: Vector) -> np.ndarray:
    """How the twist at the end changes with y: by (J y_w, y_v + (y_w - J y_w) x c - h y_w x u)."""

    def rule(y: Vector) -> Vector:
        w = J @ y[:3]
        return np.concatenate([w, y[3:] + cross(y[:3] - w, centre_of(n)) - n.h * cross(y[:3], u)])

    return columns(rule)


def clear(n: Any) -> None:
    """Nothing acts yet on body and joint."""
    nv = joint_of(n).nv
    n.load, n.push = zeros(6), zeros(nv)
    if n.pressed:
        n.stiff = zeros(6, 6)
    if n.coupled:
        n.couple, n.couple_back = zeros(6, 6), zeros(6, 6)
    if n.sprung:
        n.resist = zeros(nv * nv)


def linearise(n: Any, *ports: Any) -> None:
    """What one force does, and what it adds to the matrix."""
    h = n.h
    law, at = looked_at(n, ports)
    df_dx, df_dv = load_slopes(law, at, n.t + h, n.u)
    first, loads = starts(at), law.loads(at, n.t + h, n.u)
    for i, (kind, port) in enumerate(zip(n.kinds, ports, strict=False)):
        if kind != STILL and not isinstance(kind, Joint):
            own = slice(first[i], first[i + 1])
            df_dv[:, own] = df_dv[:, own] @ port.twist_slope
    A = -h * h * df_dx - h * df_dv
    for kind, port, load in zip(n.kinds, ports, loads, strict=False):
        if isinstance(kind, Joint):
            port.push = port.push + h * load
        elif kind != STILL:
            port.load = port.load + h * load
            port.stiff = port.stiff - (h * h) * carried_along(load, port.centre)
    far = np.zeros(A.shape, dtype=object)
    for i, j, relation in n.relations:
        r, c = slice(first[i], first[i + 1]), slice(first[j], first[j + 1])
        if relation == FAR:
            far[r, c] = A[r, c]
        elif relation != SAME:
            A_pj = Ad((ports[j].look_pose.inverse() @ ports[i].look_pose).collapsed())
            ports[i].couple, ports[i].couple_back = ports[i].couple + A[r, c] @ A_pj, ports[i].couple_back + A_pj.T @ A[c, r]
        elif isinstance(n.kinds[i], Joint):
            ports[i].resist = ports[i].resist + A[r, c].reshape(-1)
        else:
            ports[i].stiff = ports[i].stiff + A[r, c]
    n.far = array(far)


def columns(rule: Any) -> np.ndarray:
    """The matrix (6, 6) of a linear map of twists."""
    return numeric(np.stack([rule(e) for e in np.eye(6)], axis=1))


def carried_along(W: Vector, c: Vector) -> np.ndarray:
    """How a wrench that a body carries changes with the body's twist: see the module's text."""
    m, f = W[:3], W[3:]
    return columns(lambda y: np.concatenate([cross(y[:3], m) - cross(cross(y[:3], c), f), cross(y[:3], f)]))


def bear(n: Any, parent: Any) -> None:
    """T lam of the joint where the guess is, by Newton and Euler for the body and all behind it; the first guess says nothing."""
    wrench = n.carried - n.lacking - n.load
    lam = (wrench - n.S_hat @ (n.S.T @ wrench)) * (1.0 / n.h)
    n.carries = either((n.going > 0.5) & (n.round > 0.5), lam, n.carries)
    parent.carried = parent.carried + n.E.move_wrench(wrench)


def moving_subspace(n: Any, W: Vector) -> np.ndarray:
    """(nv, nv): dS^T W along every coordinate; zero where S does not move."""
    joint = joint_of(n)
    out = zeros(joint.nv, joint.nv)
    if selected_rows(n.S) is None:
        for k, e in enumerate(np.eye(joint.nv)):
            out[:, k] = joint.motion(n.look_q, e).tangent.S_dot.T @ W
    return out


def relative_twist(n: Any, parent: Any) -> Vector:
    """Of a body against its parent where the guess is: the rates that drives have at the end of the step."""
    return n.look_twist - n.E.pull_twist(parent.look_twist)


def join(n: Any, parent: Any) -> None:
    """What the joint does, and the blocks A, B, C, F and R of the module's text."""
    h, nv = n.h, joint_of(n).nv
    n.tau_all = n.push + h * (n.tau - n.damping * n.look_v) - n.armature * (n.S_hat.T @ relative_twist(n, parent) - n.v)
    W = h * n.carries + n.S_hat @ n.tau_all
    n.resists = np.diag(n.armature + h * n.damping) + h * moving_subspace(n, W)
    if n.sprung:
        n.resists = n.resists + n.resist.reshape(nv, nv)
    f, reach = W[3:], n.E.unrotate(parent.centre - n.E.p)  # the parent's centre of mass from the joint, in child axes
    n.A_all = n.A_own - h * carried_along(W + h * n.external, n.centre)
    n.C = h * columns(lambda y: np.concatenate([cross(y[:3], W[:3]) + cross(y[3:], f), cross(y[:3], f)]))
    n.F = -h * columns(lambda a: np.concatenate([cross(a[3:] + cross(a[:3], reach), f), np.zeros(3)]))
    if n.pressed:
        n.A_all = n.A_all + n.stiff
    if n.coupled:
        n.C = n.C + n.couple_back


# --- elimination -------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, eq=False)
class Pivot:
    """N for rows that climb, see `reduced.rules.JointFactor`."""

    L: np.ndarray
    d_inv: Vector
    R: np.ndarray

    def solve(self, u: Vector) -> Vector:
        """N u."""
        return upper_solve(self.R, self.d_inv * lower_solve(self.L, u))


def moved_block(E: SE3, A: np.ndarray) -> np.ndarray:
    """Ad(E)^-T A Ad(E)^-1 of any 6x6 matrix."""
    A = np.stack([E.move_wrench(column) for column in A.T], axis=1)
    return np.stack([E.move_wrench(row) for row in A], axis=0)


def eliminate(n: Any, parent: Any) -> None:
    """Eliminate the body with its joint: the matrix, then the right-hand side."""
    S, D = n.S, n.A_all + n.D_all
    right, back = D + n.couple if n.coupled else D, D + n.C
    n.pivot, change = eliminate_general(S.T @ (D @ S) + n.resists, S.T @ right, back @ S)
    n.whole, n.back = D, back
    parent.D_all = parent.D_all + moved_block(n.E, right + n.C + n.F + change)
    forward(n, parent)


def eliminate_for_rows(n: Any, parent: Any) -> None:
    """The same, with what rows climb through."""
    eliminate(n, parent)
    p = n.pivot
    n.factor = Pivot(p.L, p.d_inv, p.R)
    n.K = np.stack([upper_solve(p.R, p.d_inv * column) for column in p.Y.T], axis=1)


def forward(n: Any, parent: Any) -> None:
    """The right-hand side."""
    f = n.lacking + n.load + n.r
    n.sought, above = forward_substitute(n.pivot, n.tau_all + n.S.T @ (f - n.whole @ n.zeta))
    parent.r = parent.r + n.E.move_wrench(f - n.back @ n.zeta + above)


def forward_late(n: Any, parent: Any) -> None:
    """The same with what distant ports do as the solution so far has it."""
    f = n.lacking + n.load + n.far_load + n.r
    n.sought, above = forward_substitute(n.pivot, n.tau_all + n.far_push + n.S.T @ (f - n.whole @ n.zeta))
    parent.r = parent.r + n.E.move_wrench(f - n.back @ n.zeta + above)


def free_twists(n: Any, parent: Any) -> None:
    """The improvement without rows."""
    a = n.E.pull_twist(parent.free)
    n.free_v = back_substitute(n.pivot, n.sought, a)
    n.free = a + n.S @ n.free_v + n.zeta


# --- the end ----------------------------------------------------------------------------------------------------------------
def carry(n: Any, parent: Any) -> None:
    """T lam of the joint where the round leads, to first order."""
    carry_under(n, parent, n.load)


def carry_late(n: Any, parent: Any) -> None:
    """The same with what distant ports do."""
    carry_under(n, parent, n.load + n.far_load)


def carry_under(n: Any, parent: Any, load: Vector) -> None:
    """The same under a load."""
    a = n.E.pull_twist(parent.free)
    wrench = n.carried_on + n.A_all @ n.free - n.lacking - load
    if n.coupled:
        wrench = wrench + n.couple @ a
    lam = (wrench - n.S_hat @ (n.S.T @ wrench)) * (1.0 / n.h)
    n.carries = either(n.going > 0.5, lam, n.carries)
    parent.carried_on = parent.carried_on + n.E.move_wrench(wrench + n.C @ n.free + n.F @ a)


def improve(n: Any) -> None:
    """The guess moves by the twist that was found, in lanes that go on."""
    going = n.going > 0.5
    y, (pose, _) = either(going, n.free, np.zeros(6)), moved(n, n.look_pose, n.free)
    n.look_pose = either_pose(going, pose, n.look_pose)
    n.far_moved = 0.0
    for x in y:
        n.far_moved = larger(n.far_moved, absolute(n.h * x))


@loops
def begin_rounds(trying: Lane, going: Lane, round: Lane, change: Lane, before: Lane) -> None:
    """Lanes that try go."""
    going[0] = trying[0]
    round[0] = 0.0
    change[0] = 0.0
    before[0] = LOST


@loops
def judge(bodies: int, far_moved: Lane, tolerance: Lane, going: Lane, round: Lane, change: Lane, before: Lane) -> None:
    """Which lanes go on: those in which a body still moves, but less far than in the round before.

    Rounds that go farther lead to another solution, or to none: where springs may be turned inside out, there are many. While
    limits set in or let go, in the first rounds, it is enough to go less far than in the first.
    """
    most = 0.0 * tolerance[0]
    lost = 0.0 * tolerance[0]
    for i in range(bodies):
        most = maximum(most, far_moved[i])
        lost = chosen(far_moved[i] < before[0], lost, 1.0)  # nor if it is not a number
    change[0] = chosen(going[0] > 0.5, chosen(lost > 0.5, LOST, most), change[0])
    before[0] = chosen((round[0] < 0.5) | (round[0] > SETTING_IN), most + tolerance[0], before[0])
    going[0] = chosen((change[0] > tolerance[0]) & (change[0] < LOST), going[0], 0.0)
    round[0] += going[0]


def take(n: Any, parent: Any) -> None:
    """The end of the step in lanes that solved it."""
    solved = n.solved > 0.5
    _, w, u = travelled(n)
    joint = joint_of(n)
    q, _ = joint.rechart(fitted(n, (parent.look_pose.inverse() @ n.look_pose).collapsed()), np.zeros(joint.nv))
    n.twists = either(solved, np.concatenate([w, u - cross(w, centre_of(n))]), n.twists)
    n.poses, n.held = either_pose(solved, n.look_pose, n.poses), either(solved, n.carries, n.held)
    n.q_fit = either(solved, q, n.q_fit)


# --- the program -------------------------------------------------------------------------------------------------------------
def newton_fields(shape: Shape, distant: bool) -> dict[str, Field]:
    """The fields of a step.

    poses, twists, q_fit   the state
    held                   the force that every joint carried in the step before; zeros at first
    unsolved               where a step was not solved, how far its last round moved a body
    look_...               the guess of the end
    """
    six, block, scalar = vector(6), matrix(6, 6), Field("work", "global", SCALAR)
    found = {
        "poses": Field("state", "node", MATRIX, world=world_pose),
        "twists": Field("state", "node", six),
        "q_fit": Field("state", "q"),
        "held": Field("state", "node", six),
        "t": Field("state", "global", SCALAR),
        "tau": Field("input", "v"),
        "external": Field("input", "node", six),
        "gravity": Field("input", "global", vector(3)),
        "h": Field("input", "global", SCALAR),
        "v": Field("work", "v"),
        "free": Field("work", "node", six),
        "free_v": Field("work", "v"),
        "centre": Field("work", "node", vector(3)),
        "load": Field("work", "node", six),
        "r": Field("gathered", codec=six),
        "carried": Field("gathered", codec=six),
        "carried_on": Field("gathered", codec=six),
        "look_pose": Field("work", "node", MATRIX, world=world_pose),
        "look_twist": Field("work", "node", six),
        "carries": Field("work", "node", six),
        "look_q": Field("work", "q"),
        "look_v": Field("work", "v"),
        "push": Field("work", "v"),
        "far_moved": Field("work", "node", SCALAR),
        "D_all": Field("gathered", codec=block),
        "tolerance": Field("input", "global", SCALAR),
        "unsolved": Field("state", "global", SCALAR),
        **dict.fromkeys(("going", "round", "trying", "solved", "handed", "change", "before", "span", "rest"), scalar),
    }
    if shape[0] >= 0:
        found |= {"stiff": Field("work", "node", block), "couple_back": Field("work", "node", block)}
        found["twist_slope"] = Field("work", "node", block)
        found |= {"couple": Field("work", "node", block), "resist": Field("work", "vv"), "u": Field("input", "u", of="force")}
    found |= krylov_fields() if distant else {}
    if shape[1] >= 0:
        found |= row_fields() | {"unknown": Field("state", "unknown", of="constraint")}
        found |= {name: Field("work", "rows", of="constraint") for name in ("x_total", "x_step")}
    return found


def rounds(ports: int, rows: int, distant: bool, most: int) -> list[Step]:
    """From the start of a step to where it leads, in lanes that try, in so many rounds at most; what is left is `change`."""
    at, held = [f"p{i}" for i in range(ports)], [f"p{i}" for i in range(rows)]
    solve_rows = solved_rows(rows, (rows_of.watch, rows_of.hold), correct) if rows >= 0 else []
    a_round: list[Step] = [
        outward(look),
        *([each(linearise, *at, on="force")] if ports >= 0 else []),
        *([each(rows_of.push_rows, *held, on="constraint")] if rows >= 0 else []),
        inward(bear),
        outward(join),
        inward(eliminate_for_rows if rows >= 0 else eliminate),
    ]
    if distant:
        a_round += beside(at, begin_at_rest, [inward(forward_late), outward(free_twists), *solve_rows])
    else:
        a_round += [outward(free_twists), *solve_rows]
    a_round += [each(rows_of.add_impulses, on="constraint")] if rows >= 0 else []
    a_round += [inward(carry_late if distant else carry), each(improve)]
    a_round += [Routine(judge, ("bodies", "far_moved", "tolerance", "going", "round", "change", "before"))]
    return [
        outward(begin),
        *([each(rows_of.begin_rows, on="constraint")] if rows >= 0 else []),
        Routine(begin_rounds, ("trying", "going", "round", "change", "before")),
        Repeat(tuple(a_round), most, "going"),
    ]
