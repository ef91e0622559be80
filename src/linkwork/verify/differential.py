"""Random models beside other engines: trees, loops, shapes, contact problems."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from .. import (
    SE3,
    Box,
    Capsule,
    Sphere,
    State,
    forward_dynamics,
    inverse_dynamics,
    kinematics,
    mass_matrix,
)
from ..bench import contact_peers
from ..bench.contact_problems import problems
from ..contact.pairs import contact_points
from ..interop import mujoco as to_mujoco
from ..interop import pinocchio as to_pinocchio
from ..solvers.coulomb import solve
from .item import Family, Outcome
from .pictures import histogram
from .random_models import COMMON, KINDS, WITHOUT_SLIDES, looped, random_model, random_motion

DIFFERENTIAL = Family(
    "differential",
    "Beside other engines",
    "The same random models in Pinocchio and MuJoCo: a thousand in full runs, tens in quick ones. Errors are relative "
    "to the largest "
    "entry of what is compared, the worst model counts.",
)
MANY, FEW = 1000, 25


def relative(x: Any, y: Any) -> float:
    """The largest difference beside the largest entry."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    return float(np.abs(x - y).max() / max(np.abs(y).max(), 1e-300)) if x.size else 0.0


def counted(quick: bool) -> range:
    return range(FEW if quick else MANY)


@DIFFERENTIAL.item(
    "pinocchio_trees",
    "Poses, forward and inverse dynamics, mass matrices of random trees",
    "Pinocchio: forwardKinematics, aba, rnea, crba",
    needs=("pinocchio",),
)
def pinocchio_trees(quick: bool) -> Outcome:
    pin: Any = importlib.import_module("pinocchio")
    errors = []
    for seed in counted(quick):
        model = random_model(seed, tuple(KINDS))
        peer = to_pinocchio.build(model)
        to, data = to_pinocchio.converter(model, peer), peer.createData()
        q, v, a, tau = random_motion(model, seed)
        q_p, v_p, a_p = to.to_q(q), to.to_v(q, v), to.to_a(q, v, a)
        found = [(forward_dynamics(model, q, v, tau), to.from_a(q, v, pin.aba(peer, data, q_p, v_p, to.to_tau(q, tau))))]
        found.append((inverse_dynamics(model, q, v, a), to.from_tau(q, pin.rnea(peer, data, q_p, v_p, a_p))))
        upper = np.triu(pin.crba(peer, data, q_p))
        found.append((v @ mass_matrix(model, q) @ v, 2 * v_p @ upper @ v_p - v_p**2 @ np.diag(upper)))
        pin.forwardKinematics(peer, data, q_p)
        moving = [(i, peer.getJointId(b.joint_name)) for i, b in enumerate(model.bodies) if b.joint.nv]
        poses = kinematics(model, q).poses
        found += [(poses[i], data.oMi[j].homogeneous) for i, j in moving]
        errors.append(max(relative(x, y) for x, y in found))
    return Outcome(max(errors), 1e-9, f"{len(errors)} models, median {np.median(errors):.0e}", histogram(errors, "error"))


@DIFFERENTIAL.item(
    "mujoco_trees",
    "Poses, forward and inverse dynamics of random trees",
    "MuJoCo: mj_forward, mj_inverse, constraints off",
    needs=("mujoco",),
)
def mujoco_trees(quick: bool) -> Outcome:
    mj: Any = importlib.import_module("mujoco")
    errors = []
    for seed in counted(quick):
        model = random_model(seed + 100000, COMMON)
        peer = to_mujoco.build(model)
        to, data = to_mujoco.converter(model, peer), mj.MjData(peer)
        q, v, a, tau = random_motion(model, seed)
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = to.to_q(q), to.to_v(q, v), to.to_tau(q, tau)
        mj.mj_forward(peer, data)
        found = [(forward_dynamics(model, q, v, tau), to.from_a(q, v, data.qacc))]
        poses = kinematics(model, q).poses
        for i, body in enumerate(model.bodies):
            j = mj.mj_name2id(peer, mj.mjtObj.mjOBJ_BODY, body.name)
            found += [(poses[i, :3, 3], data.xpos[j]), (poses[i, :3, :3], data.xmat[j].reshape(3, 3))]
        data.qacc[:], data.qfrc_applied[:] = to.to_a(q, v, a), 0.0
        mj.mj_inverse(peer, data)
        found.append((inverse_dynamics(model, q, v, a), to.from_tau(q, data.qfrc_inverse)))
        errors.append(max(relative(x, y) for x, y in found))
    return Outcome(max(errors), 1e-9, f"{len(errors)} models, median {np.median(errors):.0e}", histogram(errors, "error"))


@DIFFERENTIAL.item(
    "pinocchio_loops",
    "Accelerations of random trees with a point of one body pinned to another, closed at the state, velocities that "
    "keep it closed",
    "Pinocchio: constraintDynamics, CONTACT_3D between two joints",
    needs=("pinocchio",),
)
def pinocchio_loops(quick: bool) -> Outcome:
    pin: Any = importlib.import_module("pinocchio")
    errors = []
    for seed in counted(quick):
        tree = random_model(seed + 200000, WITHOUT_SLIDES)
        q, v, _, tau = random_motion(tree, seed)
        made = looped(tree, State(q, v), seed)
        if made is None:
            continue
        model, state = made
        peer = to_pinocchio.build(tree)
        to, data = to_pinocchio.converter(tree, peer), peer.createData()
        loop = model.elements[-1]
        ids = [peer.getJointId(tree.bodies[tree.body_index(name)].joint_name) for name in loop.bodies]
        places = [pin.SE3(np.eye(3), np.asarray(p, float)) for p in (loop.point_a, loop.point_b)]
        row = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, peer, ids[0], places[0], ids[1], places[1], pin.LOCAL)
        rows, kept = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        rows.append(row)
        kept.append(row.createData())
        pin.initConstraintDynamics(peer, data, rows, kept)
        settings = pin.ProximalSettings(1e-14, 0.0, 1)
        q_p, v_p = to.to_q(state.q), to.to_v(state.q, state.v)
        theirs = pin.constraintDynamics(peer, data, q_p, v_p, to.to_tau(state.q, tau), rows, kept, settings)
        errors.append(relative(forward_dynamics(model, state.q, state.v, tau), to.from_a(state.q, state.v, theirs)))
    return Outcome(max(errors), 1e-9, f"{len(errors)} models, median {np.median(errors):.0e}", histogram(errors, "error"))


# --- contacts -----------------------------------------------------------------------------------------------------------------
SIZES: dict[str, Callable[[Any], Sequence[float]]] = {
    "sphere": lambda s: [s.radius],
    "capsule": lambda s: [s.radius, 0.5 * s.length],
    "box": lambda s: 0.5 * s.size,
}


def random_shape(kind: str, rng: np.random.Generator) -> Any:
    if kind == "sphere":
        return Sphere(rng.uniform(0.05, 0.4))
    if kind == "capsule":
        return Capsule(rng.uniform(0.05, 0.3), rng.uniform(0.1, 0.8))
    return Box(rng.uniform(0.1, 0.8, 3))


@DIFFERENTIAL.item(
    "mujoco_shapes",
    "Distances of random spheres, capsules and boxes that are apart, all six pairs",
    "MuJoCo: mj_geomDistance, its own tolerance 1e-9",
    needs=("mujoco",),
)
def mujoco_shapes(quick: bool) -> Outcome:
    mj: Any = importlib.import_module("mujoco")
    errors, pairs = [], list(combinations_with_replacement(SIZES, 2))
    for seed in counted(quick):
        rng = np.random.default_rng([seed, 21])
        shapes = [random_shape(kind, rng) for kind in pairs[seed % len(pairs)]]
        poses = [SE3.exp(np.concatenate([rng.normal(size=3), rng.uniform(-0.8, 0.8, 3)])).collapsed() for _ in shapes]
        geoms = "".join(
            f'<body><freejoint/><geom type="{s.kind}" size="{" ".join(map(repr, map(float, SIZES[s.kind](s))))}"/></body>'
            for s in shapes
        )
        model = mj.MjModel.from_xml_string(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
        model.opt.ccd_tolerance, model.opt.ccd_iterations = 1e-9, 200
        data = mj.MjData(model)
        mj.mj_forward(model, data)
        for i, E in enumerate(poses):
            data.geom_xpos[i], data.geom_xmat[i] = np.asarray(E.p, float), np.asarray(E.R, float).reshape(-1)
        theirs = mj.mj_geomDistance(model, data, 0, 1, 100.0, np.zeros(6))
        if theirs > 0.0:
            points = contact_points(shapes[0], poses[0], shapes[1], poses[1])
            errors.append(abs(min(float(p.gap) for p in points if p.on > 0.5) - theirs))
    return Outcome(max(errors), 1e-8, f"m; {len(errors)} pairs, median {np.median(errors):.0e}", histogram(errors, "error / m"))


@DIFFERENTIAL.item(
    "pinocchio_contacts",
    "Contact problems with Coulomb friction (standing, landing, soles, fallen, collapsed, pinched, stacked): the share "
    "that stays "
    "unsolved, natural map above 1e-8 m/s",
    "Coulomb's law itself; Pinocchio's ADMM on the same problems for comparison",
    needs=("pinocchio",),
)
def pinocchio_contacts(quick: bool) -> Outcome:
    pin: Any = importlib.import_module("pinocchio")
    families, each = ("standing", "landing", "soles", "fallen", "collapsed", "pinched", "stacked"), 4 if quick else 40
    ours, theirs, apart = [], [], []
    for problem in (p for family in families for p in problems(family, each)):
        x, _ = solve(problem, None)
        ours.append(problem.residual(x))
        if contact_peers.solvable(problem):
            y, _, _ = contact_peers.solver(pin, "ADMM", problem)()
            theirs.append(problem.residual(y))
            if theirs[-1] < 1e-9 and ours[-1] < 1e-9:
                apart.append(np.abs(problem.A @ (x - y)).max())
    unsolved, peers = np.mean(np.array(ours) > 1e-8), np.mean(np.array(theirs) > 1e-8)
    differ = f"velocities differ by {np.median(apart):.0e} m/s in the median"
    note = f"{len(ours)} problems; Pinocchio leaves {100 * peers:.0f} % of {len(theirs)}; {differ}"
    return Outcome(float(unsolved), 0.01, note, histogram(ours, "natural map / (m/s)"))
