"""How well steps in contact are solved, measured alike on paths of linkwork and of MuJoCo.

Contacts that push are those with a normal force. From their forces and the velocities after the step:

    penetration       the deepest gap along the path (m)
    slip              the fastest slip (m/s) of contacts whose friction is inside its cone, which therefore stick
    complementarity   the largest residual of the natural map of the cone problem (m/s): what velocities and impulses of a
                      step violate of Coulomb's law for hard contacts and limits
    energy            how far the energy at the end is from that of the same engine with REFINED times shorter steps, as a part of
                      the largest kinetic energy or change of potential energy
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..constraints.rows import constraint_set
from ..contact import Contact
from ..energy import energy
from ..model import State
from ..model.kinematics import kinematics
from ..solvers.problem import Cones, Problem
from .contact_models import InContact

INSIDE = 0.99  # of the cone: friction below it sticks
REFINED = 16


class Quality(NamedTuple):
    """See the head of this file; `contacts` is the mean number of those that push."""

    contacts: float
    penetration: float
    slip: float
    complementarity: float
    energy: float


def worst(of_runs: Sequence[Quality]) -> Quality:
    """The largest of several runs, of contacts the mean."""
    return Quality(float(np.mean([run.contacts for run in of_runs])), *(max(x) for x in list(zip(*of_runs, strict=True))[1:]))


def ours(case: InContact, q: np.ndarray, v: np.ndarray, steps: int) -> Quality:
    """Of a run of linkwork from one state."""
    run = case.run(q, v, steps, 1)
    fine = case.run(q, v, steps * REFINED, steps * REFINED, case.dt / REFINED)
    gaps, rates, normal, mu = contact_rows(case, run.q, run.v)
    assert run.forces is not None
    forces, slip = run.forces[1:], 0.0
    pushes = forces[:, normal] > 0.0
    for r, at_contact in zip(normal, mu, strict=True):
        if at_contact > 0.0:
            friction = np.hypot(forces[:, r + 1], forces[:, r + 2])
            sticks = (forces[:, r] > 0.0) & (friction < INSIDE * at_contact * forces[:, r])
            slip = max(slip, np.hypot(rates[1:, r + 1], rates[1:, r + 2])[sticks].max(initial=0.0))
    left = float(np.abs(run.left).max(initial=0.0)) if run.left is not None else 0.0
    deep = float(np.maximum(-gaps[:, normal], 0.0).max(initial=0.0))
    return Quality(
        float(pushes.sum(axis=1).mean()), deep, float(slip), left, energy_error(case, run.q, run.v, fine.q[-1], fine.v[-1])
    )


def contact_rows(case: InContact, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Residuals and rates (states, rows) of all rows; the rows of normals of contacts, and their coefficients."""
    laws, poses = constraint_set(case.model), kinematics(case.model, q, v)
    found = laws.records(poses.poses.reshape(len(q), -1), poses.twists.reshape(len(q), -1), q, v, np.zeros(len(q)))
    normal, mu, first = [], [], 0
    for law, size in laws.sizes():
        if isinstance(law, Contact):
            rows = range(first, first + size, law.per_point)
            normal += rows
            mu += [law.friction if law.cones else 0.0 for _ in rows]
        first += size
    return found["residual"], found["rate"], np.array(normal, int), np.array(mu)


def energy_error(case: InContact, q: np.ndarray, v: np.ndarray, q_fine: np.ndarray, v_fine: np.ndarray) -> float:
    path, end = energy(case.model, State(q=q, v=v), case.inputs), energy(case.model, State(q=q_fine, v=v_fine), case.inputs)
    scale = max(float(path.kinetic.max()), float(np.ptp(path.potential)), 1e-300)
    return abs(float(path.total[-1] - end.total)) / scale


def mujocos(case: InContact, q: np.ndarray, v: np.ndarray, steps: int) -> Quality:
    """Of a run of MuJoCo from one of our states."""
    import mujoco

    mj: Any = mujoco
    m, data = case.mujoco, start(mj, case, q, v)
    count, deep, slip, left = 0, 0.0, 0.0, 0.0
    qs, vs = [data.qpos.copy()], [data.qvel.copy()]
    for _ in range(steps):
        mj.mj_step(m, data)
        deep = max([deep, *(-data.contact.dist)])
        pushing, slipping, residual = last_step(mj, m, data)
        count, slip, left = count + pushing, max(slip, slipping), max(left, residual)
        qs.append(data.qpos.copy())
        vs.append(data.qvel.copy())
    h, fine = float(m.opt.timestep), start(mj, case, q, v)
    m.opt.timestep = h / REFINED
    for _ in range(steps * REFINED):
        mj.mj_step(m, fine)
    m.opt.timestep = h
    path, end = as_ours(case, np.array(qs), np.array(vs)), as_ours(case, fine.qpos[None], fine.qvel[None])
    return Quality(count / steps, deep, slip, left, energy_error(case, *path, *(x[0] for x in end)))


def last_step(mj: Any, m: Any, data: Any) -> tuple[int, float, float]:
    """Of MuJoCo's last step how many contacts push, the fastest slip of those that stick, and the residual of its problem."""
    if not data.nefc:
        return 0, 0.0, 0.0
    h, J, M_inv_Jt = float(m.opt.timestep), np.zeros((data.nefc, m.nv)), np.zeros((data.nefc, m.nv))
    if mj.mj_isSparse(m):
        mj.mju_sparse2dense(J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    else:
        J[:] = data.efc_J.reshape(data.nefc, m.nv)
    mj.mj_solveM(m, data, M_inv_Jt, J)
    x, u = h * data.efc_force, J @ data.qvel
    cones, allowed, pushing, slip = Cones.equal(0), np.zeros(data.nefc), 0, 0.0
    first_of = {int(c.efc_address): c for c in data.contact if c.efc_address >= 0}
    i = 0
    while i < data.nefc:
        kind, contact = int(data.efc_type[i]), first_of.get(i)
        if contact is not None and contact.dim > 1:
            mu = float(contact.friction[0])
            cones, allowed[i] = cones + Cones.coulomb([mu]), max(float(contact.dist), 0.0) / h
            pushing += x[i] > 0.0
            if x[i] > 0.0 and np.hypot(*x[i + 1 : i + 3]) < INSIDE * mu * x[i]:
                slip = max(slip, float(np.hypot(*u[i + 1 : i + 3])))
            i += 3
            continue
        if kind == int(mj.mjtConstraint.mjCNSTR_FRICTION_DOF):
            most = h * float(data.efc_frictionloss[i])
            cones = cones + Cones.bounded([-most], [most])
        elif kind == int(mj.mjtConstraint.mjCNSTR_EQUALITY):
            cones = cones + Cones.equal(1)
        else:
            cones, allowed[i] = cones + Cones.push(1), max(float(data.efc_pos[i]), 0.0) / h
            pushing += contact is not None and x[i] > 0.0
        i += 1
    A = J @ M_inv_Jt.T
    return int(pushing), slip, Problem(A, u - A @ x + allowed, cones).residual(x)


def start(mj: Any, case: InContact, q: np.ndarray, v: np.ndarray) -> Any:
    """MuJoCo's data at one of our states, under the controls."""
    data, theirs = mj.MjData(case.mujoco), in_mujoco(case, q[None], v[None])
    data.qpos[:], data.qvel[:], data.ctrl[:] = theirs[0][0], theirs[1][0], case.control
    return data


def in_mujoco(case: InContact, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Our states (states, n) in MuJoCo's layout."""
    theirs = case.peer.layout({"q": q, "v": v, "tau": np.zeros_like(v), "a": np.zeros_like(v)})
    return theirs["q"], theirs["v"]


def as_ours(case: InContact, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """MuJoCo's states (states, n) in our layout: the map of velocities of every state, inverted."""
    n, found = v.shape[1], np.empty_like(v)
    for k in range(len(q)):
        to_theirs = in_mujoco(case, np.repeat(q[k : k + 1], n, axis=0), np.eye(n))[1].T
        found[k] = np.linalg.solve(to_theirs, v[k])
    return q, found
