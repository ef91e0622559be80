"""A step of backward Euler in maximal coordinates as one program: every force implicitly, every row, any number of states.

The unknowns are the new twists y of the bodies, in the axes that they have as the step begins (see `implicit_rules` for the step
itself, its momenta and the stiffness K_geo of the joints' own forces). For a body j with parent p, a = Ad(E_jp) y_p in its axes,
and S, T of its joint,

    A y_j + B^T a - w_j + sum over children k of (B_k y_k + C_k a_k + w_k, moved) = b_j,
    y_j = a + S v_j + zeta_j,         zeta_j = -T T^T gap / h,         S^T w_j = tau_j - R v_j.

A is the inertia with K_geo and what forces on the body add to it; B^T couples it to its parent, where forces join the two; R and
tau_j are what forces on the joint, its drive and its damping do. The joint is closed by the zeta of the step, so that v_j alone
is left to be found: with D = A and all that the children leave,

    N^-1 = S^T D S + R,    U = (D + B) S,    v_j = N (tau + S^T (b - D zeta)) - N U^T a,

and the parent gets D + B + B^T - U N U^T and b - (D + B) zeta - U N (tau + S^T (b - D zeta)). That is the elimination of the body
with its joint as one pivot, symmetric, and nv x nv numbers are inverted. Rows climb through it as through any factor of a tree
(`elements.supports`): u = c + S^T p, p_parent = move(p - U N u); their targets are those of `constraints.targets`.

**Rounds.** A force is linearised where its ports are: impulse h f - C (y - y_0), C = -h df_dv - h^2 df_dq, symmetrised
(`implicit_forces`). Blocks of C between ports that are no neighbours stay beside the factor (`krylov`). After a solve
forces are asked again, where it leads: as long as they do not do there what the step took them to do, they are linearised there,
and solved again (`implicit_rounds`). So it is found which limits and cables act; smooth forces are done after one round.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..elements.collection import Shape
from ..joints.complement import complement
from ..kernel.loops import Lane, loops
from ..kernel.loops import where as chosen
from ..kernel.sweep import INERTIA, MATRIX, SCALAR, Algorithm, Field, Repeat, Routine, Step, each, inward, matrix, outward, vector
from ..model.rules import centre_of, inertia_of, joint_of, placement_of, world_pose
from ..reduced.rules import factor_joint
from ..rows.asked import hold_impacts, hold_under_bounds, keep_unknowns
from ..rows.poisson import impact_fields
from ..rows.pressing import BEGIN, JUDGE, TELL, TURNS, exert, pressing_fields
from ..rows.push_out import push_out, push_out_fields
from ..rows.solved import VELOCITY, Rules, impact_solver, row_fields, rules_of, solved_rows
from ..spatial.inertia import Articulated
from ..spatial.scalar import Vector, array, cross, dot, inv_spd, is_zero, ldl, ldl_solve, maximum, where, zeros
from . import implicit_forces as forces
from . import implicit_rounds as rounds
from .carried import bear_impulses
from .convert import fitted
from .implicit_rules import either, either_pose, pull_stiffness, unforced_turning
from .krylov import begin_at_guess, beside, krylov_fields
from .program import coriolis, correct, displace_bodies, linear, moved, second_look, turning
from .rules import weight_of


# --- where the step begins ---------------------------------------------------------------------------------------------------
def begin(n: Any, parent: Any) -> None:
    """Relative pose, S, the zeta that closes the joint, momentum; the guess is the motion so far."""
    joint = joint_of(n)
    n.E = (parent.poses.inverse() @ n.poses).collapsed()
    Q = joint.motion(n.q_fit, np.zeros(joint.nv))
    S = Q.tangent.S
    n.S, n.S_hat, T = S, S @ inv_spd(S.T @ S), complement(S)
    gap = (Q.with_tangent(None).inverse() @ (placement_of(n).inverse() @ n.E)).log()
    n.zeta = T @ (T.T @ gap) * (-1.0 / n.h)
    n.centre = centre_of(n)
    n.v = n.S_hat.T @ (n.twists - n.E.pull_twist(parent.twists))
    n.spun = n.armature * unforced_drive(n, parent)
    w = unforced_turning(n)
    n.momentum = inertia_of(n) @ np.concatenate([w, n.twists[3:] + cross(n.twists[:3] - w, n.centre)])
    n.given = n.momentum + n.h * (n.external + weight_of(n))
    f, h2 = n.held[3:], n.h * n.h
    n.own_pull, n.pull = h2 * pull_stiffness(-n.centre, f), h2 * pull_stiffness(n.E.p - parent.centre, -n.E.rotate(f))
    n.y = n.trial = n.twists
    n.weighs = n.mass


def unforced_drive(n: Any, parent: Any) -> Vector:
    """The v_j, in the axes of the beginning, of a joint whose rates stay what they are: v + h S^+ Z, with Z of `coriolis`.

    Only what drives weigh feels it. Of its length in their metric the term in h^2 is left out: it would add to their energy.
    """
    if all(is_zero(x) for x in n.armature):
        return n.v
    w, u = np.split(parent.twists, 2)
    turns = turning(n, n.twists) - n.E.unrotate(cross(w, u + cross(w, parent.centre)))
    Z = coriolis(n, n.twists, parent.twists, turns)
    change = n.h * (n.S_hat.T @ Z)
    kept = n.v + change
    length, more = dot(kept, n.armature * kept), dot(change, n.armature * change)
    some = length > 0.0
    return np.sqrt(maximum(1.0 - more / where(some, length, 1.0), 0.0)) * kept


def begin_again(n: Any) -> None:
    """The guess is the motion so far."""
    n.y = n.trial = n.twists


# --- elimination -------------------------------------------------------------------------------------------------------------
NONE = np.zeros((3, 3))


@dataclass(frozen=True, slots=True, eq=False)
class Pivot:
    """N^-1 = L diag(1/d_inv) L^T, and U; what `reduced.rules.JointFactor` is where nothing couples a body to its parent."""

    U: np.ndarray
    L: np.ndarray
    d_inv: Vector

    @property
    def rows(self) -> list[int]:
        """Rows of what is left that are known by hand: none."""
        return []

    def solve(self, u: Vector) -> Vector:
        """N u."""
        return ldl_solve(self.L, self.d_inv, u)


def factor(n: Any, parent: Any) -> None:
    """Eliminate the body with its joint: the matrix."""
    S, drive = n.S, n.armature + n.h * n.damping
    D = inertia_of(n) + n.D + Articulated(n.own_pull, NONE, NONE)
    if n.pressed:
        D = D + n.block
    if n.sprung or n.coupled:
        A, nv = D.matrix, len(drive)
        B = n.couple.T if n.coupled else zeros(6, 6)
        resist = n.resist.reshape(nv, nv) if n.sprung else zeros(nv, nv)
        U = (A + B) @ S
        n.factor = Pivot(U, *ldl(S.T @ (A @ S) + resist + np.diag(drive)))
        n.K = n.factor.solve(U.T)
        Ia = Articulated.of_matrix(A + B + B.T - U @ n.K)
    else:
        n.factor = factor_joint(D, S, drive)
        n.K, Ia = n.factor.K, n.factor.Ia
    n.whole = D
    parent.D = parent.D + n.E.move_inertia(Ia) + Articulated(n.pull, NONE, NONE)


def forward(n: Any, parent: Any) -> None:
    """Eliminate the body with its joint: the right-hand side."""
    forward_under(n, parent, np.zeros(6), np.zeros(len(n.v)))


def forward_under(n: Any, parent: Any, load: Vector, push: Vector) -> None:
    """The same under further impulses."""
    b, tau, S = n.given + n.r + load, n.h * n.tau + n.spun + push, n.S
    if n.pressed:
        b = b + n.load
    if n.sprung:
        tau = tau + n.push
    left = b - n.whole @ n.zeta
    n.sought = n.factor.solve(tau + S.T @ left)
    left = left - n.factor.U @ n.sought
    if n.coupled:
        left = left - n.couple.T @ n.zeta
    left = np.array(left, dtype=object)
    for k, row in enumerate(n.factor.rows):
        left[row] = -S[row, k] * tau[k]  # as S^T U N = 1
    parent.r = parent.r + n.E.move_wrench(array(left))


def forward_late(n: Any, parent: Any) -> None:
    """The same with what distant ports do as the solution so far has it."""
    forward_under(n, parent, n.far_load, n.far_push)


def eliminate(n: Any, parent: Any) -> None:
    """Both at once."""
    factor(n, parent)
    forward(n, parent)


def free_motion(n: Any, parent: Any) -> None:
    """New velocities without rows."""
    a = n.E.pull_twist(parent.free)
    n.free_v = n.sought - n.K @ a
    n.free = a + n.S @ n.free_v + n.zeta
    n.drift = -n.h * linear(turning(n, n.twists))  # a step displaces a body by h (free + drift / 2)


@loops
def keep_rows(rows: int, going: Lane, x: Lane, found: Lane) -> None:
    """The multipliers of lanes that go on."""
    for r in range(rows):
        found[r] = chosen(going[0] > 0.5, x[r], found[r])


@loops
def return_rows(rows: int, x: Lane, found: Lane) -> None:
    """The multipliers of the last solve of every lane."""
    for r in range(rows):
        x[r] = found[r]


# --- the end ----------------------------------------------------------------------------------------------------------------
def begin_loads(n: Any) -> None:
    """Nothing acts but what forces do."""
    n.load = n.met if n.pressed else zeros(6)


def wrench_through(n: Any) -> Vector:
    """The wrench through a joint, by Newton and Euler for the body and all behind it."""
    return (inertia_of(n) @ n.y - n.given) * (1.0 / n.h) - n.load + n.carried


def carry(n: Any, parent: Any) -> None:
    """What the joint carries without work, T lam, by Newton and Euler for the body and all behind it."""
    wrench = wrench_through(n)
    n.carries = wrench - n.S_hat @ (n.S.T @ wrench)
    parent.carried = parent.carried + n.E.move_wrench(wrench)


def carry_pressing(n: Any, parent: Any) -> None:
    """The same, for what rubs under it."""
    carry(n, parent)
    n.reaction = n.h * n.carries
    n.through = n.h * wrench_through(n)


def advance(n: Any) -> None:
    """Bodies move; the joint remembers the force that it carried."""
    n.held = n.carries
    n.poses, n.twists = moved(n, n.poses, n.y)


def advance_pushed(n: Any) -> None:
    """The same from where bodies are pushed out to."""
    n.held = n.carries
    n.poses, n.twists = moved(n, n.poses, n.y, n.body_shift)
    n.body_shift = np.zeros(6)


def advance_settled(n: Any) -> None:
    """The same where the step is not handed over."""
    _advance_settled(n, None)


def advance_settled_pushed(n: Any) -> None:
    """The same from where bodies are pushed out to."""
    _advance_settled(n, n.body_shift)
    n.body_shift = np.zeros(6)


def _advance_settled(n: Any, shift: Vector | None) -> None:
    over, (pose, twist) = n.handed > 0.5, moved(n, n.poses, n.y, shift)
    n.held, n.twists = either(over, n.held, n.carries), either(over, n.twists, twist)
    n.poses = either_pose(over, n.poses, pose)


def take_free(n: Any) -> None:
    """The one solve is the step."""
    n.y = n.free


def refit(n: Any, parent: Any) -> None:
    """The joint coordinate that fits the moved bodies."""
    joint = joint_of(n)
    q = fitted(n, (parent.poses.inverse() @ n.poses).collapsed())
    n.q_fit, _ = joint.rechart(q, np.zeros(joint.nv))


def keep_settled_unknowns(n: Any) -> None:
    """Where Newton's method begins in the next step, where this one is not handed over."""
    n.unknown = either(n.handed > 0.5, n.unknown, n.foot)


@loops
def advance_time(t: Lane, h: Lane) -> None:
    """The time after a step."""
    t[0] += h[0]


@loops
def advance_settled_time(t: Lane, h: Lane, handed: Lane) -> None:
    """The same where it is not handed over."""
    t[0] += chosen(handed[0] > 0.5, 0.0, h[0])


# --- the program -------------------------------------------------------------------------------------------------------------
def fields(shape: Shape, distant: bool) -> dict[str, Field]:
    """The fields of a step.

    poses, twists, q_fit   the state
    held                   the force that every joint carried in the step before, for the stiffness of it; zeros at first
    y                      the guess, and in the end the new twists
    """
    six = vector(6)
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
        "pose": Field("work", "node", MATRIX, alias="poses"),
        "twist": Field("work", "node", six, alias="twists"),
        "q": Field("work", "q", alias="q_fit"),
        "v": Field("work", "v"),
        "spun": Field("work", "v"),
        "y": Field("work", "node", six),
        "free": Field("work", "node", six),
        "drift": Field("work", "node", six),
        "free_v": Field("work", "v"),
        "centre": Field("work", "node", vector(3)),
        "load": Field("work", "node", six),
        "D": Field("gathered", codec=INERTIA),
        "r": Field("gathered", codec=six),
        "carried": Field("gathered", codec=six),
    }
    if shape[0] >= 0:
        found |= force_fields() | (krylov_fields() if distant else {})
    if shape[1] >= 0:
        found |= (
            row_fields(shape[3])
            | push_out_fields(shape)
            | {
                "correction": Field("input", "global", SCALAR),
                "unknown": Field("state", "unknown", of="constraint"),
                "x_found": Field("work", "rows", of="constraint"),
            }
        )
        found |= {name: Field("work", "node", six) for name in ("body_shift", "body_shift_done")} if shape[3] else {}
    return found


def force_fields() -> dict[str, Field]:
    """Those of forces and rounds.

    going   1 where a lane did not come to an end in its rounds, else 0
    round   rounds besides the first
    """
    six, scalar = vector(6), Field("work", "node", SCALAR)
    return {
        "u": Field("input", "u", of="force"),
        "block": Field("work", "node", INERTIA),
        "couple": Field("work", "node", matrix(6, 6)),
        "push": Field("work", "v"),
        "resist": Field("work", "vv"),
        "look_pose": Field("work", "node", MATRIX, world=world_pose),
        "look_q": Field("work", "q"),
        **{name: Field("work", "node", six) for name in ("met", "look_twist", "trial", "way")},
        **{name: Field("work", "v") for name in ("look_v", "way_v")},
        "curve_own": scalar,
        "weighs": scalar,
        **{name: replace(scalar, of="force") for name in ("curve", "slope", "miss", "astray", "size")},
        **{name: Field("work", "global", SCALAR) for name in (*rounds.SEARCH, "handed")},
        **{name: Field("output", "global", SCALAR) for name in ("going", "round")},
    }


def solved(shape: Shape, rules: Rules, *elimination: Step) -> list[Step]:
    """The motion with all rows."""
    rows, kinds = shape[1], shape[3]
    impacts, look = impact_solver(rules[1]), second_look(free_motion)
    held = solved_rows(rows, rules, correct, kinds=kinds, impacts=impacts, look=look) if rows >= 0 else []
    return [*elimination, outward(free_motion), *held]


def keep(rows: int, lanes: str) -> list[Step]:
    """Remember the multipliers of some lanes."""
    return [Routine(keep_rows, ("rows", lanes, "x", "x_found"))] if rows >= 0 else []


def solved_beside(shape: Shape, rules: Rules, ports: list[str]) -> list[Step]:
    """The same with distant forces; see `krylov`."""
    late = [*solved(shape, rules, inward(forward_late)), *keep(shape[1], "lagging")]
    return [inward(factor), *beside(ports, begin_at_guess, late)]


def in_rounds(shape: Shape, rules: Rules, ports: list[str], on_bodies: bool, distant: bool, solves: int) -> list[Step]:
    """The new twists y under all forces; see `implicit_rounds`."""
    look = forces.look_at_bodies if on_bodies else forces.look_at_joints
    ahead = forces.look_ahead_at_bodies if on_bodies else forces.look_ahead_at_joints
    sums, search = ("bodies", "forces", "curve_own", "curve"), ("seeking", "tries", "s", "low")
    near = [*solved(shape, rules, inward(eliminate)), *keep(shape[1], "going")]
    a_trial = [
        outward(ahead),
        each(forces.compare, *ports, on="force"),
        Routine(rounds.seek, (*sums, "slope", "round", *search, "low_slope", "high", "high_slope")),
    ]
    a_round = [
        each(forces.clear),
        each(forces.linearise, *ports, on="force"),
        each(forces.push, *ports, on="force"),
        *(solved_beside(shape, rules, ports) if distant else near),
        outward(rounds.aim),
        Routine(rounds.first_trial, ("going", *search, "high", "high_slope")),
        Repeat(tuple(a_trial), rounds.TRIES + 1, "seeking"),
        each(rounds.settle),
        each(forces.meet, *ports, on="force"),
        Routine(rounds.judge, (*sums, "miss", "astray", "size", "s", "first", "going", "round", "handed")),
    ]
    again = [Routine(return_rows, ("rows", "x", "x_found"))] if shape[1] >= 0 else []
    begin = Routine(rounds.first_round, ("going", "round", "handed"))
    return [each(look), begin, Repeat(tuple(a_round), solves, "going"), *again]


def implicit_step(
    shape: Shape, on_bodies: bool, distant: bool, solves: int, guarded: bool, rubs_inside: bool = False, impacts: bool = False
) -> list[Step]:
    """A step of models with laws of a shape, of so many rounds at most.

    on_bodies     whether forces look at bodies
    distant       whether some join ports that are no neighbours
    guarded       whether lanes in which forces on bodies lead astray are left for others to step: they are `handed` over
    rubs_inside   whether joints rub under what they carry
    impacts       whether they are those of Poisson's law
    """
    ports, rows = shape[:2]
    rules = rules_of(VELOCITY, hold_under_bounds if rubs_inside else hold_impacts if impacts else None)
    if ports >= 0:
        motion = in_rounds(shape, rules, [f"p{i}" for i in range(ports)], on_bodies, distant, solves)
    else:
        motion = [*solved(shape, rules, inward(eliminate)), each(take_free)]
    loads: list[Step] = [each(begin_loads)]
    if rows >= 0:
        loads.append(each(bear_impulses, *(f"p{i}" for i in range(rows)), on="constraint"))
    steps: list[Step] = [outward(begin)]
    if rubs_inside:
        turn = [each(begin_again), *motion, *loads, each(exert, on="constraint"), inward(carry_pressing), *JUDGE]
        steps += [BEGIN, Repeat(tuple(turn), TURNS, "pressing"), TELL, *push_out(shape, displace_bodies)]
    else:
        steps += [*motion, *push_out(shape, displace_bodies), *loads, inward(carry)]
    if guarded:
        settled = advance_settled_pushed if shape[3] else advance_settled
        steps += [each(settled), outward(refit), Routine(advance_settled_time, ("t", "h", "handed"))]
    else:
        steps += [each(advance_pushed if shape[3] else advance), outward(refit), Routine(advance_time, ("t", "h"))]
    if rows >= 0:
        steps.append(each(keep_settled_unknowns if guarded else keep_unknowns, on="constraint"))
    return steps


@functools.cache
def implicit_program(
    shape: Shape, on_bodies: bool, distant: bool, solves: int, rubs_inside: bool = False, impacts: bool = False
) -> Algorithm:
    """The step as it is, whether forces lead astray or not."""
    name = f"maximal_backward_euler_{'_'.join(map(str, map(int, shape)))}_{int(on_bodies)}{int(distant)}_{solves}"
    name += "_rubbing" * rubs_inside + "_poisson" * impacts
    found = fields(shape, distant) | (pressing_fields() if rubs_inside else {}) | (impact_fields(shape[3]) if impacts else {})
    return Algorithm(name, found, {"run": implicit_step(shape, on_bodies, distant, solves, False, rubs_inside, impacts)})
