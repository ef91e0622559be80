"""The loaded tree with its stiffness taken implicitly, in O(n): the step of [Sueda, Eq. 2.79; errata 004-6, 22, 23] as sweeps.

Put in the acceleration a = (v' - v) / h, the linearly implicit step is

    (M + P) a = f + h K v + G^T x / h,      P = h D - h^2 K,      K = df/dq,  D = -df/dv, symmetrised,

with everything at the old state and forces at the new time. K and D sit on the ports of forces: blocks of joints, of bodies, and
between bodies. With b = J a, the part of the bodies' accelerations that a makes, and b_j = pull(b_parent) + S_j a_j, elimination
goes as in `forward`; what is there at a = 0 (`still`, gravity and velocity terms) acts as a wrench:

    pA = I still + gyroscopic - load + sum of the children's,      IA = I + P_jj + sum of the children's
    D_j = S^T IA S + armature + h damping + P of the joint,        K_j = D_j^-1 S^T (IA + Q)
    to the parent:  IA + Q + Q^T - K_j^T D_j K_j  and  pA + K_j^T u,  u = tau - damping v - S^T pA,  moved by E_pj
    a = D_j^-1 u - K_j pull(b_parent).

Q = P_jp Ad(E_pj) is the block between a body and its parent: forces between neighbours are exact, too. What couples other pairs
of ports is *distant*: `dense_program` solves for it, in large systems `gradients`. Rows go up and
down the same factor as in `reduced.program`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..constraints.targets import any_of
from ..elements.collection import Shape
from ..elements.derive import derive, load_slopes
from ..elements.nodes import STILL, law_at
from ..elements.ports import At, joined, starts, values, velocities
from ..errors import InputError
from ..joints import Joint
from ..kernel.sweep import INERTIA, SCALAR, Field, Step, each, inward, matrix, outward, vector
from ..model.rules import inertia_of
from ..reduced import forward
from ..reduced import program as reduced
from ..reduced.program import correct, place
from ..reduced.rules import JointFactor, falling_world, gyroscopic
from ..rows.asked import (
    ask,
    ask_twice,
    bend_in,
    foreseen,
    free_motion,
    place_rows,
    pose_rows,
    refined,
    row_law_at,
    watch_velocities,
    way_left,
)
from ..rows.passed_rows import FURTHER, LATER, SecondLook, clear_shift, drive, return_shift
from ..rows.poisson import COUPLED_IMPACTS, solved_impacts
from ..rows.push_out import push_out, push_out_fields
from ..rows.solved import Rules, solved_rows
from ..spatial.articulated import Articulated
from ..spatial.scalar import Vector, array, cross, ldl, ldl_solve, where, zeros
from .definite import definite_fields, definite_slopes, measured_slopes
from .dense_program import (
    answered_densely,
    collect,
    coupled_push_out,
    coupled_rows,
    factored_densely,
    matrix_fields,
    product_fields,
    solved_densely,
)
from .gradients import answered_by_gradients, gradient_fields, solved_by_gradients
from .laws import CHILD, DENSE, GRADIENTS, OWN, RECURSIVE, Softness
from .pressing import CARRY, carry_coupled, coupled_motion

Rule = Callable[..., None]
Loads = Callable[[Any, Any, Sequence[At], np.ndarray], Vector]  # of a node, its law, its ports, and df_dx


# --- forces ------------------------------------------------------------------------------------------------------------------
def begin_joints(n: Any) -> None:
    """What the caller gives, joint damping, and no stiffness; forces add to all."""
    n.load, n.push, n.soft_joint = n.external, n.tau - n.damping * n.v, zeros(len(n.tau) ** 2)


def begin_bodies(n: Any) -> None:
    """The same where forces look at bodies."""
    begin_joints(n)
    n.soft = Articulated.of_matrix(zeros(6, 6))


def begin_pairs(n: Any) -> None:
    """The same where forces act between neighbours."""
    begin_bodies(n)
    n.cross = zeros(6, 6)


def begin_loads(n: Any) -> None:
    """The same where P stays with the forces."""
    n.load, n.push = n.external, n.tau - n.damping * n.v


def symmetrised(A: np.ndarray) -> np.ndarray:
    """(A + A^T) / 2."""
    return 0.5 * (A + A.T)


def exact_slopes(n: Any, law: Any, at: Sequence[At]) -> tuple[np.ndarray, np.ndarray]:
    """df_dx and df_dv of a force, symmetrised."""
    df_dx, df_dv = load_slopes(law, at, n.force_t, n.u)
    return symmetrised(df_dx), symmetrised(df_dv)


def linear_loads(n: Any, law: Any, at: Sequence[At], df_dx: np.ndarray) -> Vector:
    """The loads f + h K v of a force."""
    return joined(law.loads(at, n.force_t, n.u)) + n.h * (df_dx @ joined(velocities(at)))


def acting(loads: Loads, softness: Softness) -> Rule:
    """The rule of one force: its loads, and P where the way to the solution wants it."""
    slopes, put = measured_slopes if softness.definite else exact_slopes, PUT[softness.way]

    def rule(n: Any, *ports: Any) -> None:
        law, at = law_at(n, ports)
        df_dx, df_dv = slopes(n, law, at)
        put(n, ports, at, loads(n, law, at, df_dx), -n.h * df_dv - (n.h * n.h) * df_dx)

    return rule


def put_loads(n: Any, ports: Sequence[Any], at: Sequence[At], loads: Vector, P: np.ndarray) -> None:
    """Add loads to the ports of a force, and keep P."""
    n.P = P.reshape(-1)
    for kind, port, (first, last) in zip(n.kinds, ports, pairwise(starts(at)), strict=False):
        if isinstance(kind, Joint):
            port.push = port.push + loads[first:last]
        elif kind != STILL:
            port.load = port.load + loads[first:last]


def put_softly(n: Any, ports: Sequence[Any], at: Sequence[At], loads: Vector, P: np.ndarray) -> None:
    """Add loads and the blocks of P to the ports of a force."""
    parts = [slice(first, last) for first, last in pairwise(starts(at))]
    for i, (kind, port) in enumerate(zip(n.kinds, ports, strict=False)):
        if kind == STILL:
            continue
        block = P[parts[i], parts[i]]
        for j, relation in enumerate(n.relation[i]):
            if relation == OWN and j != i:  # another port on the same body or joint, whose own turn brings the transpose
                block = block + symmetrised(P[parts[i], parts[j]])
        if isinstance(kind, Joint):
            port.push = port.push + loads[parts[i]]
            port.soft_joint = port.soft_joint + block.reshape(-1)
            continue
        port.load = port.load + loads[parts[i]]
        port.soft = port.soft + Articulated.of_matrix(block)
        for j, relation in enumerate(n.relation[i]):
            if relation == CHILD:
                port.cross = port.cross + P[parts[i], parts[j]]


def put_both(n: Any, ports: Sequence[Any], at: Sequence[At], loads: Vector, P: np.ndarray) -> None:
    """The same, and keep P."""
    n.P = P.reshape(-1)
    put_softly(n, ports, at, loads, P)


PUT: dict[int, Callable[..., None]] = {RECURSIVE: put_softly, DENSE: put_loads, GRADIENTS: put_both}


# --- the tree ----------------------------------------------------------------------------------------------------------------
def still_by(velocities: Rule) -> Rule:
    """The rule of velocity terms, and of the accelerations of bodies at a = 0 that follow from them."""

    def rule(n: Any, parent: Any) -> None:
        velocities(n, parent)
        n.still = n.E.pull_twist(parent.still) + n.zeta

    return rule


def factor_softly(IA: Articulated, S: np.ndarray, soft: np.ndarray, cross: np.ndarray | None) -> JointFactor:
    """See `JointFactor`, with a block on the joint, and one between the body and its parent."""
    U = IA.matrix @ S
    W = U if cross is None else U + cross.T @ S
    L, d_inv = ldl(np.array(S.T @ U + soft, dtype=object))
    K = array(ldl_solve(L, d_inv, W.T))
    left = IA.matrix - W @ K
    left = left if cross is None else left + cross + cross.T
    return JointFactor(W, L, d_inv, K, Articulated.of_matrix(left), [])


def joint_softness(n: Any) -> np.ndarray:
    """Armature + h damping + P of a joint."""
    nv = len(n.v)
    return array(n.soft_joint).reshape(nv, nv) + np.diag(n.armature + n.h * n.damping)


def factor_joints(n: Any, parent: Any) -> None:
    """Articulated inertia of the subtree where only joints are soft."""
    factor_node(n, parent, inertia_of(n), None)


def factor_bodies(n: Any, parent: Any) -> None:
    """The same where bodies are soft, too."""
    factor_node(n, parent, inertia_of(n) + n.soft, None)


def factor_pairs(n: Any, parent: Any) -> None:
    """The same with blocks between neighbours."""
    Q = np.stack([n.E.pull_wrench(row) for row in n.cross], axis=0)
    factor_node(n, parent, inertia_of(n) + n.soft, Q)


def factor_node(n: Any, parent: Any, inertia: Articulated, cross: np.ndarray | None) -> None:
    """See the module's text."""
    n.factor = f = factor_softly(inertia + n.IA, n.S, joint_softness(n), cross)
    n.K = f.K
    parent.IA = parent.IA + n.E.move_inertia(f.Ia)


def eliminating(factor: Rule) -> Rule:
    """The rule that passes on the bias force of the subtree besides."""

    def rule(n: Any, parent: Any) -> None:
        factor(n, parent)
        pass_forces(n, parent)

    return rule


def pass_forces(n: Any, parent: Any) -> None:
    """The bias force of the subtree, on the factor that there is."""
    own = inertia_of(n)
    pA = own @ n.still + gyroscopic(n.w, n.first_moment, own.J) - n.load + n.pA
    u = n.push + n.armature * n.bend - n.S.T @ pA
    n.y = n.factor.solve(u)
    parent.pA = parent.pA + n.E.move_wrench(pA + n.K.T @ u)


def free_joints(n: Any, parent: Any) -> None:
    """Velocities after a step without rows, of joints."""
    b = n.E.pull_twist(parent.made)
    n.a = n.y - n.K @ b
    n.made = b + n.S @ n.a
    n.free_v = n.v + n.h * n.a


def free_bodies(n: Any, parent: Any) -> None:
    """The same, of bodies too."""
    free_joints(n, parent)
    n.free = n.E.pull_twist(parent.free) + n.S @ n.free_v
    n.drift = bodies_drift(n)


def bodies_drift(n: Any) -> Vector:
    """h J_dot v, which turns J in the step: the rate of the twist at a = 0, less the fall of the world."""
    fall, w = n.pose.unrotate(n.gravity), n.twist[:3]
    return n.h * np.concatenate([n.still[:3], n.still[3:] + fall - cross(w, n.twist[3:])])


def dense_velocities(n: Any, parent: Any) -> None:
    """Velocities after a step without rows, of joints and bodies, from the solution of the dense system."""
    n.a = n.side
    n.free_v = n.v + n.h * n.a
    n.free = n.E.pull_twist(parent.free) + n.S @ n.free_v
    n.drift = bodies_drift(n)


def free_again(n: Any) -> None:
    """The velocities of joints once more, before rows changed them."""
    n.free_v = n.v + n.h * n.a


# --- rows --------------------------------------------------------------------------------------------------------------------
def hold(n: Any, *around: Any) -> None:
    """The rows of one constraint, as `constraints.targets` says; without its terms of second order, but where shapes touch."""
    hold_by(ask, n, around)


def hold_impacts(n: Any, *around: Any) -> None:
    """The same with impacts by Poisson's law (see `rows.poisson`)."""
    hold_by(ask_twice, n, around)


def hold_by(ask: Rule, n: Any, around: Sequence[Any]) -> None:
    """The same, with what says what rows ask for."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t if law.holonomic else n.t + n.h, n.foot)
    asked = zeros(law.size)
    if law.timed:
        later = law.gap_of(values(at), n.t + n.h, n.foot) if law.holonomic else None
        asked = found.given if later is None else (found.residual - array(list(later))) / n.h
    motion = free_motion(n, ports, at)
    if law.touches or law.cones:  # what touches rolls
        parts = zip(n.kinds, ports, motion, strict=False)
        share = 0.5 * way_left(n, law)
        turned = [free if kind == STILL else free + share * port.drift for kind, port, free in parts]
        ahead = foreseen(n, law, at, motion, found) if law.curved else found
        ask(n, law, ahead, motion, turned, bend_in(n, law, at, found, ahead.G, share), asked)
    else:
        ahead = found
        ask(n, law, found, motion, motion, zeros(law.size), asked)
    place_rows(n, law, ahead.G, places, n.h)


def watch_published(n: Any, *ports: Any) -> None:
    """Which rows take part in a step of RedMax: equalities, and what touches at the new time."""
    law, at = row_law_at(n, ports)
    n.foot = refined(law, at, n.t + n.h, n.unknown)
    n.on = array([1.0] * law.size)
    if law.unilateral:
        gap = derive(law, at, n.t + n.h, n.foot).residual
        n.on = array([where(g <= 0.0, 1.0, 0.0) for g in gap])
    n.awake = any_of(n.on)


def hold_published(n: Any, *around: Any) -> None:
    """The rows of one constraint as RedMax asks: G v' = given - correction g, all at the new time; the correction is a rate."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t + n.h, n.foot)
    pose_rows(n, law, found.G, free_motion(n, ports, at), found.given - n.correction * found.residual, places, n.h)


# --- the program -------------------------------------------------------------------------------------------------------------
BEGIN = {(False, False): begin_joints, (True, False): begin_bodies, (True, True): begin_pairs}  # by what is near
FACTOR = {(False, False): factor_joints, (True, False): factor_bodies, (True, True): factor_pairs}
TARGETS: Rules = (watch_velocities, hold)
PUBLISHED: Rules = (watch_published, hold_published)
IMPACTS: Rules = (watch_velocities, hold_impacts)


def fields(shape: Shape, softness: Softness) -> dict[str, Field]:
    """The fields of the loaded tree, but for q, v and t."""
    found = reduced.fields(shape) | {
        "h": Field("input", "global", SCALAR),
        "force_t": Field("work", "global", SCALAR),
        "soft_joint": Field("work", "vv"),
        "still": Field("shared", codec=vector(6), world=falling_world),
        "made": Field("shared", codec=vector(6)),
    }
    found |= push_out_fields(shape)
    found |= {"soft": Field("work", "node", INERTIA)} if softness.bodies else {}
    found |= {"cross": Field("work", "node", matrix(6, 6))} if softness.pairs else {}
    found |= product_fields(shape) if softness.way else {}
    found |= matrix_fields() if softness.way == DENSE else gradient_fields() if softness.way == GRADIENTS else {}
    found |= definite_fields() if softness.definite else {}
    return found | ({"correction": Field("input", "global", SCALAR)} if shape[1] >= 0 else {})


def loaded(shape: Shape, softness: Softness, loads: Loads, *more: Step) -> list[Step]:
    """From the place of all bodies to what acts on them, with P; `more` steps follow those that begin."""
    forces = shape[0]
    begin = begin_loads if softness.way == DENSE else BEGIN[softness.near]
    steps: list[Step] = [each(begin), *more]
    if forces >= 0:
        steps += definite_slopes(forces) if softness.definite else []
        steps.append(each(acting(loads, softness), *(f"p{i}" for i in range(forces)), on="force"))
    return steps


def solved(shape: Shape, softness: Softness, free: Rule, coupled_free: Rule) -> list[Step]:
    """From what acts to the free motion: of the recursion `free`, else `coupled_free`, which takes it from `side`."""
    if softness.way == RECURSIVE:
        return [inward(eliminating(FACTOR[softness.near])), outward(free)]
    factored = factored_densely(shape[0]) if softness.way == DENSE else [inward(FACTOR[softness.near])]
    return [inward(collect), *factored, *solved_again(shape, softness), outward(coupled_free)]


def solved_at_middle(shape: Shape, softness: Softness, free: Rule) -> list[Step]:
    """The same once more, with velocity terms at the middle that it leads to, on the same factor."""
    middle = outward(still_by(reduced.held_middle_velocities if shape[1] >= 0 else reduced.middle_velocities))
    if softness.way == RECURSIVE:
        return [middle, inward(pass_forces), outward(free)]
    return [middle, inward(collect), *solved_again(shape, softness), outward(dense_velocities)]


def solved_again(shape: Shape, softness: Softness) -> list[Step]:
    """A^-1 side in place of `side`, where there is no recursion."""
    return solved_densely() if softness.way == DENSE else solved_by_gradients(shape[0])


def held(shape: Shape, softness: Softness, rules: Rules, rubs_inside: bool = False, look: SecondLook | None = None) -> list[Step]:
    """From the free motion to the one that rows allow; `rubs_inside`: with friction inside joints; `look`: see `passed_rows`."""
    forces, rows, _, kinds = shape
    if rows < 0:
        return []
    if softness.way == RECURSIVE:
        carried = CARRY[softness.near] if rubs_inside else None
        impacts = solved_impacts if rules is IMPACTS else None
        return solved_rows(rows, rules, correct, kinds=kinds, carried=carried, impacts=impacts, look=look)
    if rules is IMPACTS:
        raise InputError(COUPLED_IMPACTS)
    answered = answered_densely() if softness.way == DENSE else answered_by_gradients(forces)
    if rubs_inside:
        return coupled_rows(rows, rules, answered, kinds, coupled_motion(forces), carry_coupled, look)
    return coupled_rows(rows, rules, answered, kinds, look=look)


def second_look(shape: Shape, softness: Softness, free: Rule) -> SecondLook:
    """How rows are found that the motion with multipliers would pass, after a rule that makes the free motion."""
    again = [outward(free, when=FURTHER)] if softness.way == RECURSIVE else [each(free_again, when=LATER)]
    restore, driving = [*again, each(clear_shift, when=LATER)], [outward(drive)] if shape[2] else []
    return SecondLook(restore, driving, pushes_out(shape, softness), [each(return_shift, when=LATER)])


def pushes_out(shape: Shape, softness: Softness) -> list[Step]:
    """What follows: the displacement `shift` of joints that are too deep."""
    return push_out(shape) if softness.way == RECURSIVE else coupled_push_out(shape)


def dynamics(
    shape: Shape, softness: Softness, rules: Rules, rubs_inside: bool = False, evaluations: int | None = None
) -> list[Step]:
    """The sweeps from q and v to `free_v`, the velocities after a step; with `free`, those of bodies, where rows look at them.

    evaluations   of the velocity terms at the middle of the step, as in `reduced.program.dynamics`; 0: at its start, where
                  accelerations are those of `Joint.advance`, too; None: there, and they are v_dot
    """
    _, rows, on_bodies, _ = shape
    free = free_bodies if on_bodies and rows >= 0 else free_joints
    in_step = reduced.predicted_velocities if evaluations else reduced.starting_velocities
    return [
        outward(still_by(forward.velocities if evaluations is None else in_step)),
        *([outward(place)] if on_bodies else []),
        *loaded(shape, softness, linear_loads),
        *solved(shape, softness, free, dense_velocities),
        *(solved_at_middle(shape, softness, free) if evaluations == 2 else []),
        *held(shape, softness, rules, rubs_inside, second_look(shape, softness, free) if rules is not PUBLISHED else None),
    ]
