"""Models in other engines, with their conventions turned into ours: v is in our order and axes, and so is what comes back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.spatial.quaternion import from_rotation


def swapped(x: np.ndarray) -> np.ndarray:
    """(linear, angular) from (angular, linear), and back."""
    return np.concatenate([x[3:], x[:3]])


class Pinocchio:
    """Twists are (linear, angular), quaternions xyzw. Joints that it lacks are composites of turns and slides; bodies on
    fixed joints are welded to the body that carries them."""

    def __init__(self, model: lw.Model) -> None:
        self.pin = pin = pytest.importorskip("pinocchio")
        self.model, self.peer = model, pin.Model()
        self.peer.gravity.linear = np.array(model.gravity)
        self.places: list[tuple[int, Any]] = []  # of every body: its joint, and its pose in that joint's frame
        for body in model.bodies:
            joint, pose = (0, pin.SE3.Identity()) if body.parent < 0 else self.places[body.parent]
            pose = pose * pin.SE3(np.array(body.placement.R, float), np.array(body.placement.p, float))
            if body.joint.nv:
                joint = self.peer.addJoint(joint, self._joint(body.joint), pose, body.name)
                pose = pin.SE3.Identity()
            inertia = pin.Inertia(float(body.inertia.mass), body.inertia.com, body.inertia.tensor)
            self.peer.appendBodyToJoint(joint, inertia, pose)
            self.places.append((joint, pose))
        self.order = np.zeros(self.peer.nv, int)  # of our velocities among theirs
        for body, (joint, _) in zip(model.bodies, self.places, strict=True):
            if body.joint.nv:
                ours, at = np.arange(model.nv)[model.v_index(body.name)], self.peer.idx_vs[joint]
                self.order[at : at + len(ours)] = swapped(ours) if isinstance(body.joint, lw.Free) else ours
        self.peer.armature = model.armature[self.order]
        self.data = self.peer.createData()

    def _joint(self, joint: Any) -> Any:
        pin, (x, y, _) = self.pin, np.eye(3)
        if isinstance(joint, lw.Composite):
            return self._row(self._joint(joint.first), self._joint(joint.second))
        if isinstance(joint, lw.SphericalEuler):
            turns = [pin.JointModelRevoluteUnaligned(np.eye(3)["xyz".index(axis)]) for axis in joint.sequences[0]]
            return pin.JointModelSphericalZYX() if joint.sequences[0] == "zyx" else self._row(*turns)
        made = {
            lw.Revolute: lambda: pin.JointModelRevoluteUnaligned(joint.axis),
            lw.Prismatic: lambda: pin.JointModelPrismaticUnaligned(joint.axis),
            lw.Helical: lambda: pin.JointModelHelicalUnaligned(joint.axis, float(joint.pitch)),
            lw.Cylindrical: lambda: self._row(
                pin.JointModelRevoluteUnaligned(joint.axis), pin.JointModelPrismaticUnaligned(joint.axis)
            ),
            lw.Planar: lambda: self._row(pin.JointModelPX(), pin.JointModelPY()),
            lw.Free2D: lambda: self._row(pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()),
            lw.Translational: pin.JointModelTranslation,
            lw.Universal: lambda: pin.JointModelUniversal(x, y),
            lw.Spherical: pin.JointModelSpherical,
            lw.Free: pin.JointModelFreeFlyer,
        }
        return made[type(joint)]()

    def _row(self, *joints: Any) -> Any:
        row = self.pin.JointModelComposite()
        for joint in joints:
            row.addJoint(joint)
        return row

    def move(self, q: np.ndarray, v: np.ndarray) -> None:
        """Set the state."""
        self.q, self.v = np.zeros(self.peer.nq), v[self.order]
        self.lost = (self.model.damping * v)[self.order]
        for body, (joint, _) in zip(self.model.bodies, self.places, strict=True):
            x = q[self.model.q_index(body.name)]
            if body.joint.nq > body.joint.nv and not isinstance(body.joint, lw.SphericalEuler):
                x = np.concatenate([x[:-4], x[-3:], x[-4:-3]])
            if body.joint.nv:
                at = self.peer.idx_qs[joint]
                self.q[at : at + self.peer.nqs[joint]] = x[: self.peer.nqs[joint]]

    def _ours(self, x: np.ndarray) -> np.ndarray:
        out = np.zeros_like(x)
        out[..., self.order] = x
        return out

    def _wrenches(self, external: np.ndarray) -> Any:
        forces = self.pin.StdVec_Force()
        forces.extend([self.pin.Force.Zero() for _ in range(self.peer.njoints)])
        for (joint, pose), f in zip(self.places, external, strict=True):
            forces[joint] = forces[joint] + pose.act(self.pin.Force(f[3:], f[:3]))
        return forces

    def forward(self, tau: np.ndarray, external: np.ndarray) -> np.ndarray:
        given = tau[self.order] - self.lost
        return self._ours(self.pin.aba(self.peer, self.data, self.q, self.v, given, self._wrenches(external)))

    def inverse(self, a: np.ndarray, external: np.ndarray) -> np.ndarray:
        tau = self.pin.rnea(self.peer, self.data, self.q, self.v, a[self.order], self._wrenches(external))
        return self._ours(tau + self.lost)

    def wrenches(self, a: np.ndarray, external: np.ndarray) -> np.ndarray:
        """What the joints transmit (bodies, 6); for a fixed joint, what the joint before it does."""
        self.inverse(a, external)
        return np.array([swapped(self.data.f[joint].vector) for joint, _ in self.places])

    def _square(self, upper: np.ndarray) -> np.ndarray:
        full = np.triu(upper) + np.triu(upper, 1).T
        return self._ours(self._ours(full).T)

    def mass_matrix(self) -> np.ndarray:
        return self._square(self.pin.crba(self.peer, self.data, self.q))

    def inverse_mass_matrix(self) -> np.ndarray:
        return self._square(self.pin.computeMinverse(self.peer, self.data, self.q))

    def jacobian(self) -> np.ndarray:
        """J of all bodies (6 bodies, nv)."""
        self.pin.computeJointJacobians(self.peer, self.data, self.q)
        rows, still = [], np.zeros((6, self.model.nv))  # bodies fixed to the world
        for joint, pose in self.places:
            of_joint = self.pin.getJointJacobian(self.peer, self.data, joint, self.pin.LOCAL) if joint else still
            of_joint = np.reshape(of_joint, (6, self.model.nv))  # of one freedom it comes as a vector
            rows.append(self._ours(np.roll(pose.toActionMatrixInverse() @ of_joint, 3, axis=0)))
        return np.vstack(rows)

    def drifts(self) -> np.ndarray:
        """J_dot v (bodies, 6): the rates of the twists at zero joint accelerations."""
        self.pin.forwardKinematics(self.peer, self.data, self.q, self.v, 0.0 * self.v)
        return np.array([swapped(pose.actInv(self.data.a[joint]).vector) for joint, pose in self.places])


class MuJoCo:
    """A free body has velocities (linear in world axes, angular in its own); wrenches act on centres of mass, in world axes."""

    def __init__(self, model: lw.Model) -> None:
        self.mujoco = pytest.importorskip("mujoco")
        self.model = model
        spec = self.mujoco.MjSpec()
        spec.option.gravity = np.array(model.gravity)
        spec.option.disableflags = self.mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        spec.compiler.inertiafromgeom = False
        made: list[Any] = []
        for body in model.bodies:
            parent = spec.worldbody if body.parent < 0 else made[body.parent]
            made.append(self._body(parent, body))
        self.peer = spec.compile()
        self.data = self.mujoco.MjData(self.peer)
        self.ids = [self.peer.body(body.name).id for body in model.bodies]

    def _body(self, parent: Any, body: Any) -> Any:
        moments, axes = body.inertia.principal()
        made = parent.add_body(name=body.name, pos=np.array(body.placement.p, float), quat=quat(body.placement.R))
        made.explicitinertial, made.mass, made.ipos = True, float(body.inertia.mass), body.inertia.com
        made.inertia, made.iquat = moments, quat(axes)
        kinds = self.mujoco.mjtJoint
        known = {lw.Revolute: "mjJNT_HINGE", lw.Prismatic: "mjJNT_SLIDE", lw.Spherical: "mjJNT_BALL", lw.Free: "mjJNT_FREE"}
        if body.joint.nv:
            joint = made.add_joint(name=body.name, type=getattr(kinds, known[type(body.joint)]))
            if hasattr(body.joint, "axis"):
                joint.axis = body.joint.axis
        return made

    def _parts(self) -> Iterator[tuple[Any, slice, slice, slice]]:
        """Bodies that move, where their q and v are with us, and where their v is there."""
        for body in self.model.bodies:
            if body.joint.nv:
                at = int(self.peer.joint(body.name).dofadr[0])
                yield body, self.model.q_index(body.name), self.model.v_index(body.name), slice(at, at + body.joint.nv)

    def move(self, q: np.ndarray, v: np.ndarray) -> None:
        """Set the state. P maps our velocities to theirs."""
        self.v = v
        self.P = np.zeros((self.model.nv, self.model.nv))
        self.drift = np.zeros(self.model.nv)  # P_dot v
        for body, at_q, at_v, at in self._parts():
            x, start = q[at_q], int(self.peer.joint(body.name).qposadr[0])
            block = np.eye(body.joint.nv)
            if isinstance(body.joint, lw.Free):
                E = np.asarray((body.placement @ body.joint.transform(x)).matrix, float)
                x, block = np.concatenate([E[:3, 3], quat(E[:3, :3])]), np.zeros((6, 6))
                block[:3, 3:], block[3:, :3] = E[:3, :3], np.eye(3)
                self.drift[at.start : at.start + 3] = E[:3, :3] @ np.cross(v[at_v][:3], v[at_v][3:])
            self.data.qpos[start : start + len(x)] = x
            self.P[at, at_v] = block
            self.peer.dof_armature[at] = body.properties.armature
            self.peer.dof_damping[at] = body.properties.damping
        self.data.qvel[:] = self.P @ v
        self.mujoco.mj_forward(self.peer, self.data)

    def _push(self, external: np.ndarray) -> None:
        for i, f in zip(self.ids, external, strict=True):
            R, centre = self.data.xmat[i].reshape(3, 3), self.data.xipos[i] - self.data.xpos[i]
            moment, force = R @ f[:3], R @ f[3:]
            self.data.xfrc_applied[i] = np.concatenate([force, moment - np.cross(centre, force)])

    def forward(self, tau: np.ndarray, external: np.ndarray) -> np.ndarray:
        self._push(external)
        self.data.qfrc_applied[:] = np.linalg.solve(self.P.T, tau)
        self.mujoco.mj_forward(self.peer, self.data)
        return np.linalg.solve(self.P, self.data.qacc - self.drift)

    def inverse(self, a: np.ndarray, external: np.ndarray) -> np.ndarray:
        """MuJoCo's forces are those of the joints and of the wrenches together."""
        self._push(external)
        self.data.qacc[:] = self.P @ a + self.drift
        self.mujoco.mj_inverse(self.peer, self.data)
        pushed = np.zeros(self.model.nv)
        for i in self.ids:
            f = self.data.xfrc_applied[i]
            self.mujoco.mj_applyFT(self.peer, self.data, f[:3], f[3:], self.data.xipos[i], i, pushed)
        return self.P.T @ (self.data.qfrc_inverse - pushed)

    def mass_matrix(self) -> np.ndarray:
        M = np.zeros((self.model.nv, self.model.nv))
        self.mujoco.mj_fullM(self.peer, self.data, M)
        return self.P.T @ M @ self.P

    def jacobian(self) -> np.ndarray:
        """J of all bodies (6 bodies, nv)."""
        rows = []
        for body in self.ids:
            linear, angular = np.zeros((2, 3, self.model.nv))
            self.mujoco.mj_jacBody(self.peer, self.data, linear, angular, body)
            R = self.data.xmat[body].reshape(3, 3)
            rows += [R.T @ angular @ self.P, R.T @ linear @ self.P]
        return np.vstack(rows)


def quat(R: Any) -> np.ndarray:
    """wxyz of a rotation matrix."""
    return np.asarray(from_rotation(np.asarray(R, float)), float)
