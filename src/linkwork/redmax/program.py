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
of ports is *distant*: `dense_program` solves for it. Rows go up and down the same factor as in `reduced.program`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..constraints.targets import any_of
from ..elements.collection import CONES, Collection, Shape, collection
from ..elements.derive import derive, load_slopes
from ..elements.evaluate import port_size
from ..elements.nodes import STILL, law_at
from ..elements.ports import At, joined, starts, values, velocities
from ..joints import Joint
from ..kernel.plans import Plans
from ..kernel.sweep import INERTIA, SCALAR, Field, NodeClass, Step, Tree, each, inward, matrix, outward, vector
from ..model.model import Model
from ..model.rules import inertia_of
from ..reduced import forward
from ..reduced import program as reduced
from ..reduced.program import Rules, ask, correct, free_motion, place, place_rows, pose_rows, refined, row_law_at, solved_rows
from ..reduced.push_out import push_out, push_out_fields
from ..reduced.rules import JointFactor, falling_world, gyroscopic
from ..spatial.articulated import Articulated
from ..spatial.scalar import Vector, array, cross, ldl, ldl_solve, where, zeros
from .dense_program import dense_fields, dense_push_out, dense_rows, solved_densely

OWN, CHILD, PARENT, DISTANT, NONE = "own", "child", "parent", "distant", "none"  # how one port of a force stands to another
Softness = tuple[bool, bool, bool]  # whether forces look at bodies, whether some act between neighbours, or distant bodies
DENSE = 200  # degrees of freedom up to which the dense system is worth its while


# --- the laws ----------------------------------------------------------------------------------------------------------------
class StiffLaws:
    """The laws of a model for these sweeps: forces know how their ports stand to one another."""

    def __init__(self, laws: Collection) -> None:
        self.laws = laws
        nodes, parents = laws.force_nodes, laws.model.parents
        self.relations = [_relations(at, kinds, parents) for at, kinds in zip(nodes.bodies, nodes.kinds, strict=True)]

    def _some(self, wanted: str) -> bool:
        return any(wanted in row for relation in self.relations for row in relation)

    @property
    def solvable(self) -> bool:
        """Whether programs solve for all forces: distant ones in small systems only."""
        return not self._some(DISTANT) or self.laws.model.nv <= DENSE

    @property
    def softness(self) -> Softness:
        return bool(self.laws.forces) and self.laws.force_nodes.on_bodies, self._some(CHILD), self._some(DISTANT)

    @cached_property
    def plan(self) -> Plans:
        """Programs bound to the loaded model, kept."""
        tree, nv = self.laws.tree, self.laws.model.nv
        if not self.laws.forces:
            return self.laws.plan
        force = _related(tree.sets["force"], self.relations, self.laws.force_nodes.kinds)
        counts = tree.counts | {"entry": nv * (nv + 1) // 2, "answer": nv * self.laws.row_count}
        return Plans(replace(tree, sets=tree.sets | {"force": force}, counts=counts, numbers=tree.numbers | {"nv": nv}))


def _relations(at: Sequence[int], kinds: Sequence[Any], parents: np.ndarray) -> tuple[tuple[str, ...], ...]:
    """How every port of a force stands to every other."""
    count = range(len(at))
    return tuple(tuple(_relation(at, kinds, i, j, parents) for j in count) for i in count)


def _relation(at: Sequence[int], kinds: Sequence[Any], i: int, j: int, parents: np.ndarray) -> str:
    if STILL in (kinds[i], kinds[j]):
        return NONE
    if i == j:
        return OWN
    if any(isinstance(kinds[k], Joint) for k in (i, j)):
        return DISTANT
    return CHILD if parents[at[i]] == at[j] else PARENT if parents[at[j]] == at[i] else DISTANT


def _related(tree: Tree, relations: Sequence[Any], kinds: Sequence[Sequence[Any]]) -> Tree:
    """The set of forces with their relations as part of their classes, and room for P."""
    known: dict[Any, NodeClass] = {}
    classes = []
    for own, relation, ports in zip(tree.classes, relations, kinds, strict=True):
        signature = (*own.signature, relation)
        if signature not in known:
            sizes = own.sizes | {"P": sum(map(port_size, ports)) ** 2}
            attributes = own.attributes | {"relation": relation}
            known[signature] = replace(own, signature=signature, attributes=attributes, sizes=sizes)
        classes.append(known[signature])
    return replace(tree, classes=classes)


def stiff_laws(model: Model) -> StiffLaws:
    """The laws of a model, kept with it."""
    return model.keep_as(StiffLaws, lambda: StiffLaws(collection(model)))


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


def linear_loads(n: Any, law: Any, at: Sequence[At]) -> tuple[Vector, np.ndarray]:
    """The loads f + h K v of a force at its time, and P."""
    df_dx, df_dv = (symmetrised(A) for A in load_slopes(law, at, n.force_t, n.u))
    loads = joined(law.loads(at, n.force_t, n.u)) + n.h * (df_dx @ joined(velocities(at)))
    return loads, -n.h * df_dv - (n.h * n.h) * df_dx


def act_stiffly(n: Any, *ports: Any) -> None:
    """One force; P goes to its ports."""
    law, at = law_at(n, ports)
    put_softly(n, ports, at, *linear_loads(n, law, at))


def act_distantly(n: Any, *ports: Any) -> None:
    """The same; P stays with the force."""
    law, at = law_at(n, ports)
    put_loads(n, ports, at, *linear_loads(n, law, at))


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
        if isinstance(kind, Joint):
            port.push = port.push + loads[parts[i]]
            port.soft_joint = port.soft_joint + block.reshape(-1)
            continue
        port.load = port.load + loads[parts[i]]
        port.soft = port.soft + Articulated.of_matrix(block)
        for j, relation in enumerate(n.relation[i]):
            if relation == CHILD:
                port.cross = port.cross + P[parts[i], parts[j]]


# --- the tree ----------------------------------------------------------------------------------------------------------------
def still_motion(n: Any, parent: Any) -> None:
    """Velocities, and the accelerations of bodies at a = 0."""
    forward.velocities(n, parent)
    n.still = n.E.pull_twist(parent.still) + n.zeta


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


def eliminate_joints(n: Any, parent: Any) -> None:
    """Inertia and bias force of the subtree where only joints are soft."""
    eliminate(n, parent, inertia_of(n), None)


def eliminate_bodies(n: Any, parent: Any) -> None:
    """The same where bodies are soft, too."""
    eliminate(n, parent, inertia_of(n) + n.soft, None)


def eliminate_pairs(n: Any, parent: Any) -> None:
    """The same with blocks between neighbours."""
    Q = np.stack([n.E.pull_wrench(row) for row in n.cross], axis=0)
    eliminate(n, parent, inertia_of(n) + n.soft, Q)


def eliminate(n: Any, parent: Any, inertia: Articulated, cross: np.ndarray | None) -> None:
    """See the module's text."""
    own = inertia_of(n)
    n.factor = f = factor_softly(inertia + n.IA, n.S, joint_softness(n), cross)
    pA = own @ n.still + gyroscopic(n.w, n.first_moment, own.J) - n.load + n.pA
    u = n.push - n.S.T @ pA
    n.K, n.y = f.K, f.solve(u)
    parent.IA = parent.IA + n.E.move_inertia(f.Ia)
    parent.pA = parent.pA + n.E.move_wrench(pA + f.K.T @ u)


def free_joints(n: Any, parent: Any) -> None:
    """Velocities after a step without rows, of joints."""
    b = n.E.pull_twist(parent.made)
    a = n.y - n.K @ b
    n.made = b + n.S @ a
    n.free_v = n.v + n.h * a


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
    n.free_v = n.v + n.h * n.side
    n.free = n.E.pull_twist(parent.free) + n.S @ n.free_v
    n.drift = bodies_drift(n)


# --- rows --------------------------------------------------------------------------------------------------------------------
def hold(n: Any, *around: Any) -> None:
    """The rows of one constraint, as `constraints.targets` says; without its terms of second order, but where shapes touch."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t if law.holonomic else n.t + n.h, n.foot)
    asked = zeros(law.size)
    if law.timed:
        later = law.gap_of(values(at), n.t + n.h, n.foot) if law.holonomic else None
        asked = found.given if later is None else (found.residual - array(list(later))) / n.h
    if law.touches:  # what touches rolls
        parts = zip(n.kinds, ports, free_motion(n, ports, at), strict=False)
        turned = [motion if kind == STILL else motion + 0.5 * port.drift for kind, port, motion in parts]
        ask(n, law, found, turned, 0.5 * n.h * found.bias, asked)
    else:
        ask(n, law, found, free_motion(n, ports, at), zeros(law.size), asked)
    place_rows(n, law, found.G, places, n.h)


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
BEGIN = {(False, False): begin_joints, (True, False): begin_bodies, (True, True): begin_pairs}  # by two of the softness
ELIMINATE = {(False, False): eliminate_joints, (True, False): eliminate_bodies, (True, True): eliminate_pairs}
TARGETS: Rules = (reduced.watch_velocities, hold)
PUBLISHED: Rules = (watch_published, hold_published)


def fields(shape: Shape, softness: Softness) -> dict[str, Field]:
    """The fields of the loaded tree, but for q, v and t."""
    bodies, pairs, distant = softness
    found = reduced.fields(shape) | {
        "h": Field("input", "global", SCALAR),
        "force_t": Field("work", "global", SCALAR),
        "soft_joint": Field("work", "vv"),
        "still": Field("shared", codec=vector(6), world=falling_world),
        "made": Field("shared", codec=vector(6)),
    }
    found |= push_out_fields(shape)
    found |= dense_fields(shape) if distant else {}
    found |= {"soft": Field("work", "node", INERTIA)} if bodies else {}
    found |= {"cross": Field("work", "node", matrix(6, 6))} if pairs else {}
    return found | ({"correction": Field("input", "global", SCALAR)} if shape[1] >= 0 else {})


def dynamics(shape: Shape, softness: Softness, rules: Rules) -> list[Step]:
    """The sweeps from q and v to `free_v`, the velocities after a step; with `free`, those of bodies, where rows look at them."""
    forces, rows, on_bodies, kinds = shape
    cones = kinds == CONES
    steps: list[Step] = [outward(still_motion)]
    steps += [outward(place)] if on_bodies else []
    ports = [f"p{i}" for i in range(forces)]
    if softness[2]:
        steps += [each(begin_loads), each(act_distantly, *ports, on="force"), *solved_densely(forces), outward(dense_velocities)]
        return steps + (dense_rows(rows, rules, cones) if rows >= 0 else [])
    steps.append(each(BEGIN[softness[:2]]))
    steps += [each(act_stiffly, *ports, on="force")] if forces >= 0 else []
    steps += [inward(ELIMINATE[softness[:2]]), outward(free_bodies if on_bodies and rows >= 0 else free_joints)]
    return steps + (solved_rows(rows, rules, correct, cones) if rows >= 0 else [])


def pushes_out(shape: Shape, softness: Softness) -> list[Step]:
    """What follows: the displacement `shift` of joints that are too deep."""
    return dense_push_out(shape) if softness[2] else push_out(shape)
