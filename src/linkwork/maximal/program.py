"""The loaded tree in maximal coordinates as one program: bodies with multipliers, every force and every row of a model.

**What is solved for** is the change a of a body's twist at its present place: a = (w_dot, a_c - w_dot x c) in body axes, with a_c
the acceleration of the centre of mass c in the world. Linear velocities do not appear in the laws of Newton and Euler then, the
gyroscopic wrench about the origin is (w x J_c w, 0), and gravity is a world that falls upwards. The rate of the twist is
phi_dot = a - (0, w x v_c), and a step h ends with the twist phi' = phi + h a, still in the axes of its beginning.

**Elimination.** For every body j with parent p and forces f on it, and for its joint the freedoms S, their complement T,
Z (`relate`), joint forces tau and the armature A of the drives, Baraff's system is

    M_j a_j - w_j + sum over children k of move(w_k) = f_j,        a_j - pull(a_p) = Z_j + S v_dot_j,
    w_j = T lam_j + F (tau_j - A v_dot_j),                         F = S (S^T S)^-1:   F^T S = 1,  T^T F = 0.

Children come before parents, and a body goes *together with its joint*: one pivot, with R = [T, -F] and C = diag(0, 1/A),

    H_j = [ D    R ]   on (a_j, mu_j),    w_j = F tau_j - R mu_j,    D = M_j and what the children have left.
          [ R^T -C ]

Its inverse may be found through the rows [Baraff, section 7], by D^-1 and (R^T D^-1 R + C)^-1, or through the freedoms: any v_dot
satisfies the rows of T, and S^T times the first line leaves N^-1 v_dot = tau + S^T (f - D (pull(a_p) + Z)), N^-1 = S^T D S + A.
That is the same elimination with the same multipliers; it inverts nv x nv numbers, and no body must resist all motions by itself.
The parent gets D - D X D, where X = S N S^T is the block of H_j^-1 at a_j.

**Rows.** A row G of a law is a wrench on bodies and a force c on joints, which is F c on the body and -move(F c) on its parent:
nothing ever stands on the right-hand side of a joint's own rows, so of every pivot only X matters. With p the wrench that has
climbed to body j,

    u = S^T p + c,   y = N u,   p_parent = move(p - D S y),
    A_rs = G_r H^-1 G_s^T = sum of u_r . y_s over the bodies on both paths,

as (p + F c)^T X (p + F c) = u . N u. (With bodies and joints as pivots of their own the same sum has a positive term of each body
and a negative one of its joint.) H^-1 G^T x comes down from the sums of y x: a_j changes by pull(da_p) + S (sum of y x -
K pull(da_p)), K = N S^T D. These are the formulas of reduced coordinates (`elements.supports`) at the poses that the bodies have,
and the same code.

**A step** moves centres of mass straight with their new velocity and turns bodies with theirs, R' = R exp(h w'): a body is
displaced by log(E^-1 E') = h phi' - h^2 (0, w' x v_c') / 2 + O(h^3). A joint is closed at the end of the step, to O(h^3), if

    T^T phi'_rel = T^T (h Z / 2 - PULL gap / h),      gap = log(Q(q_fit)^-1 E_joint) (`apart`),

with Z at the new twists: Z / 2 - T T^T (phi_rel + PULL gap / h) / h stands for Z. That removes the velocity error of the step
before and a part of the position error, Baumgarte's terms at their strongest, and makes the multipliers those of a constrained
symplectic step (SHAKE). Along S it matters to drives alone, which feel the Z in the middle of the step; elsewhere Z / 2 makes
v + h v_dot the mean velocity of the joint, by which its coordinates move.

Velocity terms without a prediction make spinning bodies gain energy. `last`, the change of the step before, says where the twists
will be at the end of the step (Z) and in its middle (the gyroscopic wrench, drives); `evaluations` says how often they are taken,
the second time where the first leads, on the same factor. Rows pull there as they did in the last step (`pull`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..elements.collection import Shape
from ..joints.base import subspace_fit
from ..joints.complement import complement
from ..kernel.sweep import MATRIX, SCALAR, Field, Routine, Step, each, inward, outward, vector
from ..model.rules import centre_of, inertia_of, joint_of, placement_of, world_pose
from ..reduced import program as reduced
from ..reduced.program import accelerations, act, begin_loads
from ..reduced.rules import JointFactor, factor_joint
from ..rows.noticing import speeds_of
from ..rows.passed_rows import FURTHER, LATER, SecondLook, clear_shift, return_shift, returned
from ..rows.pressing import transmit
from ..rows.push_out import displace, push_out, push_out_fields
from ..rows.solved import ACCELERATION, VELOCITY, note_impacts, rules_of, solved_rows
from ..spatial import so3
from ..spatial.articulated import Articulated
from ..spatial.dual import held
from ..spatial.scalar import Scalar, Vector, absolute, array, cross, dot, is_zero, maximum, where
from ..spatial.se3 import SE3, bracket
from .convert import fitted

FOLLOWING = 2  # Gauss-Newton steps after a step in time: the error is cubed by each
PULL = 0.5  # the part of a joint's gap that one step removes


def linear(x: Vector) -> Vector:
    """The twist (0, x)."""
    return np.concatenate([np.zeros(3), x])


# --- where bodies are --------------------------------------------------------------------------------------------------------
def fit(n: Any, parent: Any) -> None:
    """The joint coordinate that fits the bodies of any state."""
    joint = joint_of(n)
    q = fitted(n, (parent.poses.inverse() @ n.poses).collapsed())
    n.q_fit, _ = joint.rechart(q, np.zeros(joint.nv))


def follow(n: Any, parent: Any) -> None:
    """The same after a step, from where it led: what is left is small."""
    _follow(n, parent, n.h * n.free_v)


def follow_pushed(n: Any, parent: Any) -> None:
    """The same where joints are pushed out, too."""
    _follow(n, parent, n.h * n.free_v + n.shift)
    n.shift = np.zeros(len(n.free_v))


def _follow(n: Any, parent: Any, way: Vector) -> None:
    joint, still = joint_of(n), np.zeros(joint_of(n).nv)
    inboard = placement_of(n).inverse() @ (parent.poses.inverse() @ n.poses).collapsed()
    q = joint.integrate(n.q_fit, way)
    for _ in range(FOLLOWING):
        Q = joint.motion(q, still)
        q = joint.integrate(q, subspace_fit(Q.tangent.S, apart(Q.with_tangent(None).inverse() @ inboard)))
    n.q_fit, _ = joint.rechart(q, still)


def place(n: Any, parent: Any) -> None:
    """Relative pose, S, and the joint velocity v that fits best."""
    joint = joint_of(n)
    n.E = (parent.poses.inverse() @ n.poses).collapsed()
    n.S = joint.motion(n.q_fit, np.zeros(joint.nv)).tangent.S
    n.v = subspace_fit(n.S, n.twists - n.E.pull_twist(parent.twists))
    n.growth = 0.0


def turning(n: Any, phi: Vector) -> Vector:
    """w x v_c at a twist."""
    w = phi[:3]
    return cross(w, phi[3:] + cross(w, centre_of(n)))


def coriolis(n: Any, phi: Vector, phi_p: Vector, turns: Vector) -> Vector:
    """Z = S_dot v + [phi, phi_rel] + (0, w x v_c)_rel at twists of body and parent."""
    relative = phi - n.E.pull_twist(phi_p)
    bias = joint_of(n).motion(n.q_fit, subspace_fit(n.S, relative)).tangent.bias
    return bias + bracket(phi, relative) + linear(turns)


def relate(n: Any, parent: Any) -> None:
    """Where bodies are, and Z, at the velocities now."""
    place(n, parent)
    n.w = n.twists[:3]
    n.turning = turning(n, n.twists)
    n.zeta = coriolis(n, n.twists, parent.twists, n.turning - n.E.unrotate(parent.turning))


def relate_closing(n: Any, parent: Any) -> None:
    """The same with the Z that closes the joint at the end of the step, at the velocities now."""
    close(n, parent)
    predict(n, parent, np.zeros(6))


def relate_predicted(n: Any, parent: Any) -> None:
    """The same, where the change of the last step leads."""
    close(n, parent)
    predict(n, parent, n.last)


def close(n: Any, parent: Any) -> None:
    """Where bodies are, and what of the rate of a joint its rows take away in a step."""
    place(n, parent)
    relative = n.twists - n.E.pull_twist(parent.twists)
    gap = apart(joint_of(n).transform(n.q_fit).inverse() @ placement_of(n).inverse() @ n.E)
    T = complement(n.S)
    n.closing = T @ (T.T @ ((relative + (PULL / n.h) * gap) / n.h))


def predict(n: Any, parent: Any, change: Vector) -> None:
    """Velocity terms where a change of the twists by h leads: Z at the end of the step; drives feel that of the middle."""
    n.middle, n.end = n.twists + 0.5 * n.h * change, n.twists + n.h * change
    n.w = n.middle[:3]
    n.turning, n.end_turning = turning(n, n.middle), turning(n, n.end)
    Z = coriolis(n, n.end, parent.end, n.end_turning - n.E.unrotate(parent.end_turning))
    n.zeta = 0.5 * Z - n.closing
    if not all(is_zero(x) for x in n.armature):
        Z_middle = coriolis(n, n.middle, parent.middle, n.turning - n.E.unrotate(parent.turning))
        n.zeta = n.zeta + n.S @ subspace_fit(n.S, Z_middle - 0.5 * Z)


def apart(E: SE3) -> Vector:
    """log E of a small displacement, to second order; an eighth of the work of the logarithm."""
    R = E.R
    return np.concatenate([0.5 * so3.vee(R - R.T), E.p])


# --- elimination -------------------------------------------------------------------------------------------------------------
def eliminate(n: Any, parent: Any) -> None:
    """Eliminate the body with its joint: D - D X D and what is left of the forces go to the parent."""
    D = inertia_of(n) + n.IA
    f = factor_joint(D, n.S, n.armature)
    n.K, n.factor = f.K, f
    n.growth = maximum(n.growth, growth(f, D, n.S, n.armature))
    parent.IA = parent.IA + n.E.move_inertia(f.Ia)
    pass_forces(n, parent)


def pass_forces(n: Any, parent: Any) -> None:
    """What is left of the forces, on a factor that is known."""
    f = n.factor
    pA = gyroscopic(n, inertia_of(n).J) - n.load + n.pA
    tau = n.push - n.damping * n.v
    n.y = f.solve(tau - n.S.T @ pA)
    left = np.array(pA + f.Ia @ n.zeta + f.U @ n.y, dtype=object)
    for k, row in enumerate(f.rows):
        left[row] = n.S[row, k] * tau[k]  # as (D - U K) S = 0; see `JointFactor`
    parent.pA = parent.pA + n.E.move_wrench(array(left))


def gyroscopic(n: Any, J: np.ndarray) -> Vector:
    """(w x J_c w, 0), with J about the origin: w x J_c w = w x J w + (w . m c) w x c."""
    w = n.w
    return np.concatenate([cross(w, J @ w) + cross(w, centre_of(n)) * dot(w, n.first_moment), np.zeros(3)])


def growth(f: JointFactor, D: Articulated, S: np.ndarray, armature: Vector) -> Scalar:
    """How much larger than its pivots a block is: |w|^2 tr J + |v|^2 tr M + armature of a freedom (w, v) by what is left of it.

    Small numbers are good; it is infinite or NaN where freedoms depend on one another, or nothing resists one.
    """
    found: Scalar = 1.0
    for s, extra, d_inv in zip(S.T, armature, f.d_inv, strict=True):
        size = dot(s[:3], s[:3]) * np.trace(D.J) + dot(s[3:], s[3:]) * np.trace(D.M) + extra
        found = maximum(found, absolute(d_inv) * size)
    return found


# --- free motion -------------------------------------------------------------------------------------------------------------
def change_of(n: Any) -> Vector:
    """The change of a body's twist by h, without rows."""
    return n.acc + linear(n.poses.unrotate(n.gravity))


def look_again(n: Any, parent: Any) -> None:
    """Velocity terms where the first evaluation leads."""
    accelerations(n, parent)
    predict(n, parent, change_of(n))


def look_again_held(n: Any, parent: Any) -> None:
    """The same where rows pull: as they did in the last step."""
    accelerations(n, parent)
    predict(n, parent, change_of(n) + n.pull)


def free_twists(n: Any, parent: Any) -> None:
    """Velocities after a step without rows: of joints, and of bodies at their present places."""
    accelerations(n, parent)
    n.free_v = n.v + n.h * n.a
    n.free = n.twists + n.h * change_of(n)
    n.drift = -n.h * linear(turning(n, n.twists))  # a step displaces a body by h (free + drift / 2)


def free_rates(n: Any, parent: Any) -> None:
    """Joint accelerations and rates of twists without rows."""
    accelerations(n, parent)
    n.free_v = n.a
    n.free = n.acc + linear(n.poses.unrotate(n.gravity) - n.turning)


def correct(n: Any, parent: Any) -> None:
    """Add H^-1 G^T x to the motion of joints and bodies."""
    reduced.correct(n, parent)
    n.free = n.free + n.jump


def drive_body(n: Any) -> None:
    """The motion of a body in a step, by its velocity and its displacement."""
    n.driven = held(n.free + n.body_shift / n.h)
    n.driven_speeds = speeds_of(n.driven)


def clear_shifts(n: Any) -> None:
    """No displacement of joints and bodies."""
    clear_shift(n)
    n.body_shift_done, n.body_shift = n.body_shift, np.zeros(6)


def return_shifts(n: Any) -> None:
    """Displacements of lanes that need no further solve are as they were."""
    return_shift(n)
    n.body_shift = returned(n, n.body_shift, n.body_shift_done)


def displace_bodies(n: Any, parent: Any) -> None:
    """What pushes out displaces joints and bodies."""
    displace(n, parent)
    n.body_shift = n.jump


def carry_in_step(n: Any, parent: Any) -> None:
    """Newton and Euler for one body under all loads and rows, with what its children carry: see `rows.pressing`."""
    own, rate = inertia_of(n), 1.0 / n.h
    wrench = own @ (n.acc + rate * n.jump) + gyroscopic(n, own.J) - n.load - rate * n.row_load + n.held_up
    transmit(n, parent, wrench)


# --- a step ------------------------------------------------------------------------------------------------------------------
def moved(n: Any, E: SE3, y: Vector, shift: Vector | None = None) -> tuple[SE3, Vector]:
    """The pose after a step with twist y from a pose, in which the body is pushed out by a shift, and the twist in the new axes:
    in the world the velocity of the centre is the same."""
    c, w = centre_of(n), y[:3]
    v_c = y[3:] + cross(w, c)
    turn, centre = so3.exp(turn_of(n, y, shift)), c + n.h * v_c
    if shift is not None:
        centre = centre + shift[3:] + cross(shift[:3], c)
    R = E.R @ turn
    return SE3(R=R, p=E.p + E.rotate(centre) - R @ c), np.concatenate([w, turn.T @ v_c - cross(w, c)])


def turn_of(n: Any, y: Vector, shift: Vector | None) -> Vector:
    """By what a body turns in a step."""
    return n.h * y[:3] if shift is None else n.h * y[:3] + shift[:3]


def move(n: Any) -> None:
    """New poses and twists from `free`; `last` is the change of the twist by h, in the new axes."""
    n.last = in_new_axes(n, (n.free - n.twists) / n.h)
    n.poses, n.twists = moved(n, n.poses, n.free)


def move_held(n: Any) -> None:
    """The same where there are rows: what they had to do with it."""
    free = in_new_axes(n, change_of(n))
    move(n)
    n.pull = n.last - free


def move_after_pushes(n: Any) -> None:
    """The same where rows may push, and push out: an impact is no acceleration."""
    free = in_new_axes(n, change_of(n), n.body_shift)
    n.last = in_new_axes(n, (n.free - n.twists) / n.h, n.body_shift)
    n.poses, n.twists = moved(n, n.poses, n.free, n.body_shift)
    n.body_shift = np.zeros(6)
    n.last = array([where(n.struck > 0.0, a, b) for a, b in zip(free, n.last, strict=True)])
    n.pull = n.last - free


def in_new_axes(n: Any, change: Vector, shift: Vector | None = None) -> Vector:
    """A change of a twist as the twist itself goes to the axes after the step: a body turns about its own angular velocity."""
    return np.concatenate([change[:3], so3.exp(turn_of(n, n.free, shift)).T @ change[3:]])


# --- the program -------------------------------------------------------------------------------------------------------------
FREE = {VELOCITY: free_twists, ACCELERATION: free_rates}


def fields(shape: Shape) -> dict[str, Field]:
    """The fields of the loaded tree; those of `reduced.program` where they mean the same.

    poses, twists, q_fit   the state
    last                   the change of the twists in the last step by h; zeros at first
    growth                 the largest of `growth`, to be looked at: beyond 1e12 pivots mean nothing
    """
    return {
        **reduced.fields(shape),
        "poses": Field("state", "node", MATRIX, world=world_pose),
        "twists": Field("state", "node", vector(6)),
        "q_fit": Field("state", "q"),
        "pose": Field("work", "node", MATRIX, alias="poses"),
        "twist": Field("work", "node", vector(6), alias="twists"),
        "q": Field("work", "q", alias="q_fit"),
        "v": Field("work", "v"),
        "turning": Field("shared", codec=vector(3)),
        "growth": Field("output", "global", SCALAR),
    }


def step_fields(shape: Shape) -> dict[str, Field]:
    """Those of a step."""
    return {
        **fields(shape),
        **push_out_fields(shape),
        **({name: Field("work", "node", vector(6)) for name in ("body_shift", "body_shift_done")} if shape[3] else {}),
        **({"pull": Field("state", "node", vector(6))} if shape[1] >= 0 else {}),
        "t": Field("state", "global", SCALAR),
        "h": Field("input", "global", SCALAR),
        "correction": Field("input", "global", SCALAR),
        "struck": Field("work", "global", SCALAR),
        "last": Field("state", "node", vector(6)),
        "middle": Field("shared", codec=vector(6)),
        "end": Field("shared", codec=vector(6)),
        "end_turning": Field("shared", codec=vector(3)),
    }


def dynamics(
    shape: Shape,
    level: str,
    evaluations: int = 0,
    hold: Callable[..., None] | None = None,
    carried: Callable[..., None] | None = None,
    displaced: Sequence[Step] = (),
) -> list[Step]:
    """The sweeps of the loaded tree, from poses, twists and q_fit (see `fit`) to `free` (bodies) and `free_v` (joints).

    Velocities after a step, bodies at their present places; or rates of twists and joint accelerations.

    evaluations   0: velocity terms at the twists; else where the change `last` of the step before leads and, with 2, once more
                  where that leads; where there are rows, `pull` is the part that they had in `last`
    hold, carried see `rows.solved.solved_rows`
    displaced     what makes displacements, in steps with rows that only push
    """
    forces, rows, _, kinds = shape
    begin = relate if level == ACCELERATION else relate_predicted if evaluations else relate_closing
    steps: list[Step] = [outward(begin), each(begin_loads)]
    if forces >= 0:
        steps.append(each(act, *(f"p{i}" for i in range(forces)), on="force"))
    steps.append(inward(eliminate))
    if evaluations > 1:
        steps += [outward(look_again_held if rows >= 0 else look_again), inward(pass_forces)]
    steps.append(outward(FREE[level]))
    if rows >= 0:
        impacts = reduced.impact_solver(hold)
        rules = rules_of(level, hold)
        look = second_look(free_twists, displaced) if level == VELOCITY else None
        steps += solved_rows(rows, rules, correct, kinds=kinds, carried=carried, impacts=impacts, look=look)
    return steps


def second_look(free: Callable[..., None], displaced: Sequence[Step] = ()) -> SecondLook:
    """How rows are found that the motion with multipliers would pass, after a rule that makes the free motion."""
    restore = [outward(free, when=FURTHER), each(clear_shifts, when=LATER)]
    return SecondLook(restore, [each(drive_body)], displaced, [each(return_shifts, when=LATER)])


def step(
    shape: Shape,
    evaluations: int,
    carried: Callable[..., None] | None = None,
    hold: Callable[..., None] | None = None,
) -> list[Step]:
    """One step of symplectic Euler, but for the time; with rows that may push, `struck` tells if one strikes."""
    steps = dynamics(shape, VELOCITY, evaluations, hold, carried, push_out(shape, displace_bodies))
    if not shape[3]:
        return [*steps, each(move_held if shape[1] >= 0 else move), outward(follow)]
    impacts = Routine(note_impacts, ("active", "lower", "x", "strikes", "struck"))
    return [*steps, impacts, each(move_after_pushes), outward(follow_pushed)]
