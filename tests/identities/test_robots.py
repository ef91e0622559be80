"""The robots of the package example-robot-data, read from their files: parameters and accelerations agree with Pinocchio's.

Every file loads, or is refused for a reason that this test finds in the file by itself.
"""

from __future__ import annotations

import importlib.metadata
import re
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.io import load

pin = pytest.importorskip("pinocchio")
pytestmark = pytest.mark.slow


def robots() -> list[Path]:
    """The URDF files of the installed package, or none."""
    try:
        package = importlib.metadata.distribution("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        return []
    return sorted(Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots"))).rglob("*.urdf"))


FILES = robots()
if not FILES:
    pytest.skip("example-robot-data is not installed", allow_module_level=True)

# What cannot be loaded on a fixed base, or at all.
EMPTY = {"ur3.urdf": "the robot has no links"}
STILL = {"quadrotor_base.urdf": "nothing in this robot moves", "iris_simple.urdf": "nothing in this robot moves"}
# Links without mass at the ends of their trees: M is singular, and only the inverse dynamics can be compared.
SINGULAR = {"romeo.urdf", "romeo_laas_small.urdf"}
# Joints that follow joints which do not exist.
LEADERLESS = {"alex_psyonic_hands.urdf": "joint 'Left_index_q2' mimics 'index_q1', which does not exist"}


def name_of(path: Path) -> str:
    return f"{path.parts[-3].removesuffix('_description')}/{path.name}"


files = pytest.mark.parametrize("path", FILES, ids=name_of)
on_bases = pytest.mark.parametrize(
    ("path", "floating"),
    [*((path, False) for path in FILES), *((path, True) for path in FILES[::3])],
    ids=lambda x: name_of(x) if isinstance(x, Path) else "floating" if x else "fixed",
)


@cache
def loaded(path: Path, floating: bool) -> lw.Model:
    return load(path, inertia="accept", mimic="independent", floating=floating)


def peer_of(path: Path, floating: bool, mimic: bool = False) -> Any:
    if floating:
        return pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer(), mimic)
    return pin.buildModelFromUrdf(str(path), mimic)


class Peer:
    """A robot in both libraries. Pinocchio's free joint has (linear, angular) velocities and quaternions xyzw; its
    continuous joints have the coordinates cosine and sine."""

    def __init__(self, model: lw.Model, peer: Any) -> None:
        self.model, self.peer, self.data = model, peer, peer.createData()
        self.order = np.zeros(peer.nv, int)
        for j in range(1, peer.njoints):
            s = model.v_index(peer.names[j])
            indices = np.arange(s.start, s.stop)
            self.order[self.range_of(j, "v")] = np.roll(indices, 3) if len(indices) == 6 else indices

    def range_of(self, j: int, space: str) -> slice:
        joint = self.peer.joints[j]
        start, size = (joint.idx_q, joint.nq) if space == "q" else (joint.idx_v, joint.nv)
        return slice(start, start + size)

    def configuration(self, q: np.ndarray) -> np.ndarray:
        out = np.zeros(self.peer.nq)
        for j in range(1, self.peer.njoints):
            x = q[self.model.q_index(self.peer.names[j])]
            if self.peer.joints[j].nq == 7:
                x = np.concatenate([x[:3], x[4:], x[3:4]])
            elif self.peer.joints[j].nq == 2:
                x = np.array([np.cos(x[0]), np.sin(x[0])])
            out[self.range_of(j, "q")] = x
        return out

    def ours(self, x: np.ndarray) -> np.ndarray:
        """Velocities, forces or accelerations of Pinocchio in our order."""
        out = np.zeros(self.model.nv)
        out[self.order] = x
        return out

    def forward(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        tau = tau - self.model.damping * v  # Pinocchio keeps the damping of the file and does not apply it
        return self.ours(pin.aba(self.peer, self.data, self.configuration(q), v[self.order], tau[self.order]))

    def condition(self, q: np.ndarray) -> float:
        M = np.triu(pin.crba(self.peer, self.data, self.configuration(q)))
        return float(np.linalg.cond(M + np.triu(M, 1).T))

    def inverse(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        tau = pin.rnea(self.peer, self.data, self.configuration(q), v[self.order], a[self.order])
        return self.ours(tau) + self.model.damping * v


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / max(1e-300, np.abs(b).max()))


@on_bases
def test_dynamics_agree(path: Path, floating: bool) -> None:
    refused = EMPTY.get(path.name) or (None if floating else STILL.get(path.name))
    if refused:
        with pytest.raises(lw.ModelError, match=refused):
            load(path, inertia="accept", floating=floating)
        return
    model = loaded(path, floating)
    peer = Peer(model, peer_of(path, floating))
    assert model.nv == peer.peer.nv
    rng = np.random.default_rng(len(path.name))
    for _ in range(2):
        q, v, tau = model.random_configuration(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
        expected = peer.forward(q, v, tau)
        if path.name in SINGULAR:
            assert not np.all(np.isfinite(expected))
            assert relative(lw.inverse_dynamics(model, q, v, tau), peer.inverse(q, v, tau)) < 1e-10
        else:
            # Links of iCub are points of mass: in some states M is singular but for rounding, and no better can be asked.
            bound = max(1e-8, np.finfo(float).eps * peer.condition(q))
            assert relative(lw.forward_dynamics(model, q, v, tau), expected) < bound


@on_bases
def test_parameters_agree(path: Path, floating: bool) -> None:
    """Placements and inertias of all bodies, and the poses of all links and fixed joints that were merged into them."""
    if path.name in EMPTY or (path.name in STILL and not floating):
        return
    model, peer = loaded(path, floating), peer_of(path, floating)
    for body in model.bodies:
        j = peer.getJointId(body.joint_name)
        Y, placement = peer.inertias[j], peer.jointPlacements[j]
        scale = max(np.abs(Y.inertia).max(), Y.mass * (Y.lever @ Y.lever))
        assert body.inertia.mass == pytest.approx(Y.mass, rel=1e-12)
        np.testing.assert_allclose(body.inertia.com if Y.mass else Y.lever, Y.lever, rtol=0, atol=1e-9)
        np.testing.assert_allclose(body.inertia.tensor, Y.inertia, rtol=0, atol=1e-9 * scale)
        np.testing.assert_allclose(np.asarray(body.placement.matrix, float), placement.homogeneous, rtol=0, atol=1e-9)
    renamed = dict(re.findall(r"'(\S+)' has the name of .*; it is called '(\S+)'", "\n".join(model.notes)))
    carriers = {b.name: b.joint_name for b in model.bodies} | {"world": "universe"}
    checked = set()
    for frame in peer.frames:
        kind = frame.type
        name = renamed.get(frame.name, frame.name) if kind == pin.FrameType.BODY else frame.name
        if kind not in (pin.FrameType.BODY, pin.FrameType.FIXED_JOINT) or name in carriers or frame.name == "universe":
            continue
        found = model.frames[name]
        checked.add(name)
        assert carriers[found.body] == peer.names[frame.parentJoint]
        np.testing.assert_allclose(np.asarray(found.placement.matrix, float), frame.placement.homogeneous, rtol=0, atol=1e-9)
    assert checked == set(model.frames)


def impossible(Y: Any) -> bool:
    """Whether no body is like this one of Pinocchio's, which has merged fixed links: by its mass or its principal moments."""
    a, b, c = np.linalg.eigvalsh(Y.inertia)
    known = c > 1e-15 * Y.mass
    return Y.mass <= 0 or (known and (a < -1e-9 * c or a + b < (1 - 1e-9) * c))


@files
def test_strict_refuses_what_is_impossible(path: Path) -> None:
    """Links that no body has do no harm where they are fixed to others and the whole is possible."""
    if path.name in EMPTY:
        return
    peer = peer_of(path, True)
    bad = {peer.names[j] for j in range(1, peer.njoints) if impossible(peer.inertias[j])}
    if not bad:
        load(path, floating=True, mimic="independent")
        return
    with pytest.raises(
        lw.ModelError, match=r"(link|body) '\S+'.*(no body has them|negative principal moment|has no mass)"
    ) as caught:
        load(path, floating=True, mimic="independent")
    found = re.search(r"(?:link|body) '(\S+)'", str(caught.value))
    model = loaded(path, True)
    assert found is not None
    assert model.bodies[model.body_index(found[1])].joint_name in bad


@files
def test_repair_makes_every_body_possible(path: Path) -> None:
    if path.name in EMPTY:
        return
    for body in load(path, floating=True, inertia="repair", mimic="independent").bodies:
        lw.Inertia(body.inertia.mass, body.inertia.com, body.inertia.tensor)


@files
def test_mimic_joints_are_coupled(path: Path) -> None:
    if path.name in EMPTY:
        return
    if path.name in LEADERLESS:
        with pytest.raises(lw.ModelError, match=LEADERLESS[path.name]):
            load(path, floating=True, inertia="accept")
        return
    joints = ET.parse(path).getroot().findall("joint")
    followers = {j.get("name") for j in joints if j.find("mimic") is not None and j.get("type") != "fixed"}
    model = load(path, floating=True, inertia="accept")
    assert {c.follower for c in model.elements_of(lw.Coupling)} == followers


def test_coupled_dynamics_agree() -> None:
    """The Panda's second finger follows the first: M a = tau - h of Pinocchio's model, which has one finger joint."""
    path = next(p for p in FILES if p.name == "panda.urdf")
    model, mimic = load(path), peer_of(path, False, mimic=True)
    assert mimic.nv == model.nv - 1
    data = mimic.createData()
    rng = np.random.default_rng(4)
    names = [mimic.names[j] for j in range(1, mimic.njoints) if mimic.joints[j].nv]
    index = [model.v_index(name).start for name in names]
    follower, leader = (model.v_index(f"panda_finger_joint{k}").start for k in (2, 1))
    q, v, tau = (rng.normal(size=model.nv) for _ in range(3))
    for x in (q, v):
        x[follower] = x[leader]
    own = tau.copy()
    own[leader] += tau[follower]
    M = np.triu(pin.crba(mimic, data, q[index]))
    M = M + np.triu(M, 1).T
    h = pin.nonLinearEffects(mimic, data, q[index], v[index])
    lost = model.damping * v
    lost[leader] += lost[follower]
    expected = np.linalg.solve(M, (own - lost)[index] - h)
    a = lw.forward_dynamics(model, q, v, tau)
    assert relative(a[index], expected) < 1e-10
    assert a[follower] == pytest.approx(a[leader], rel=1e-10)


@pytest.mark.parametrize("path", FILES[::4], ids=name_of)
def test_robots_load_with_their_collisions(path: Path) -> None:
    if path.name in EMPTY:
        pytest.skip(EMPTY[path.name])
    model = load(path, inertia="accept", mimic="independent", floating=True, collisions="touch")
    assert not [note for note in model.notes if "no hull" in note]
