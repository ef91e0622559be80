"""Values that are not what was asked for, and calls of the library that they go into: what every public name is called with."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from cases import ROD, at_rest, ball, free, plain, two
from hypothesis import strategies as st

import linkwork as lw

NUMBERS = st.one_of(
    st.floats(),
    st.sampled_from(
        [0, 1, -1, 0.0, -0.0, 1e-320, 1e-12, 1e308, -1e308, float("nan"), float("inf"), 2**63, 10**400, Fraction(1, 3)]
    ),
)
ODD = st.sampled_from(
    [
        None,
        True,
        "",
        "x",
        "1",
        b"1",
        1j,
        Decimal("1"),
        {},
        {"a": 1},
        set(),
        object(),
        ...,
        datetime(2020, 1, 1, tzinfo=UTC),
        np.array(["2020-01-01"], "M8[D]"),
        np.array([1], "m8[s]"),
        np.array([1j]),
        np.array([True]),
        np.array(["a"]),
        np.array([None]),
        np.ma.array([1.0, 2.0], mask=[True, False]),
        np.zeros(2, [("x", float)]),
        lw.SE3(),
        lw.Revolute(),
        lw.Inertia(1.0),
    ]
)
SHAPES = st.sampled_from(
    [(), (0,), (1,), (2,), (3,), (4,), (6,), (7,), (0, 2), (1, 2), (2, 2), (3, 3), (4, 4), (2, 6), (2, 4, 4)]
)


@st.composite
def arrays(draw: Any) -> Any:
    """Arrays of any shape and kind of number, filled with numbers of any size."""
    shape, kind = draw(SHAPES), draw(st.sampled_from([float, np.float32, int, object]))
    fill = draw(st.sampled_from([0.0, 1.0, -1.0, 1e-9, 1e200, 1e308]))
    a = np.full(shape, fill if kind is not int else int(min(fill, 9.0)), dtype=kind)
    if a.size and draw(st.booleans()) and kind is not int:
        a.flat[draw(st.integers(0, a.size - 1))] = draw(st.sampled_from([np.nan, np.inf, -np.inf, 0.5]))
    return a if draw(st.booleans()) else a.tolist()


JUNK = st.one_of(NUMBERS, ODD, arrays(), st.lists(NUMBERS, max_size=4), st.text(max_size=3))
Z2, P = np.zeros(2), (0.0, 0.0, 0.0)


def moved() -> lw.Model:
    """Two links with a spring, a loop that is closed, and a limit."""
    return two(
        lw.SpringDamper("lower", "world", (1, 0, 0), (2, 0, 1), stiffness=1.0, rest_length=0.5), lw.Limit("elbow", -1.0, 1.0)
    )


MOVED = moved()
MADE: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Inertia": (lw.Inertia, {"mass": 1.0, "com": P, "tensor": np.eye(3)}),
    "Inertia.cuboid": (lw.Inertia.cuboid, {"mass": 1.0, "size": (1, 1, 1), "com": P}),
    "Inertia.capsule": (lw.Inertia.capsule, {"mass": 1.0, "radius": 0.1, "length": 1.0, "axis": (0, 0, 1), "com": P}),
    "Inertia.from_moments": (lw.Inertia.from_moments, {"mass": 1.0, "com": P, "moments": (1, 1, 1), "R": np.eye(3)}),
    "SE3": (lw.SE3, {"R": np.eye(3), "p": P}),
    "SE3.rot_axis": (lw.SE3.rot_axis, {"axis": (0, 0, 1), "angle": 0.3}),
    "SE3.rot_x": (lw.SE3.rot_x, {"angle": 0.3}),
    "SE3.rot_quat": (lw.SE3.rot_quat, {"quat_wxyz": (1, 0, 0, 0)}),
    "SE3.rot_exp": (lw.SE3.rot_exp, {"w": P}),
    "SE3.exp": (lw.SE3.exp, {"xi": np.zeros(6)}),
    "ad": (lw.ad, {"phi": np.zeros(6)}),
    "Revolute": (lw.Revolute, {"axis": (0, 0, 1)}),
    "Prismatic": (lw.Prismatic, {"axis": (0, 0, 1)}),
    "Helical": (lw.Helical, {"axis": (0, 0, 1), "pitch": 0.1}),
    "SphericalEuler": (lw.SphericalEuler, {"sequence": "xyz"}),
    "SphericalExp": (lw.SphericalExp, {"radius": 4.0}),
    "FreeExp": (lw.FreeExp, {"order": "TR", "radius": 4.0}),
    "Composite": (lw.Composite, {"first": lw.Revolute(), "second": lw.Prismatic(), "between": lw.SE3()}),
    "joint": (lw.joint, {"transform": lambda q: lw.SE3.rot_y(q[0]), "nv": 1, "name": "cam", "domain": (-1, 1)}),
    "Sphere": (
        lw.Sphere,
        {"radius": 1.0, "center": P, "friction": 0.5, "restitution": 0.1, "density": 1.0, "group": 1},
    ),
    "Box": (lw.Box, {"size": (1, 1, 1), "pose": lw.SE3(), "mass": 1.0, "color": (1, 0, 0), "mask": 3}),
    "Capsule": (lw.Capsule, {"radius": 1.0, "length": 1.0}),
    "Cylinder": (lw.Cylinder, {"radius": 1.0, "length": 1.0}),
    "Ellipsoid": (lw.Ellipsoid, {"radii": (1, 1, 1)}),
    "Torus": (lw.Torus, {"ring": 1.0, "tube": 0.1}),
    "Plane": (lw.Plane, {"point": P, "normal": (0, 0, 1)}),
    "Convex": (lw.Convex, {"points": np.vstack([np.zeros(3), np.eye(3)])}),
    "Mesh": (lw.Mesh, {"vertices": np.vstack([np.zeros(3), np.eye(3)]), "faces": [[0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 2, 3]]}),
    "HeightField": (lw.HeightField, {"heights": np.zeros((2, 2)), "size": (1, 1), "base": 1.0}),
    "ModelBuilder": (lw.ModelBuilder, {"gravity": (0, 0, -9.81)}),
    "body": (
        lambda **k: lw.ModelBuilder().body(**k).build(),
        {
            "name": "a",
            "parent": "world",
            "joint": lw.Revolute(),
            "inertia": ROD,
            "placement": lw.SE3(),
            "joint_name": "j",
            "limits": (-1, 1),
            "armature": 0.1,
            "damping": 0.1,
            "friction": 0.1,
            "effort": 1.0,
            "speed": 1.0,
            "shapes": (),
        },
    ),
    "State": (lw.State, {"q": Z2, "v": Z2, "t": 0.0}),
    "MaximalState": (lw.MaximalState, {"poses": np.zeros((2, 4, 4)), "twists": np.zeros((2, 6)), "q_fit": Z2, "t": 0.0}),
    "samples": (lw.samples, {"x": [0, 1, 2], "y": [0, 1, 2], "kind": "linear"}),
    "Table": (lw.Table, {"values": [0, 1, 2]}),
    "Schedule": (lw.Schedule, {"times": [0, 1], "values": [0, 1]}),
    "ActivationDynamics": (lw.ActivationDynamics, {"tau_act": 0.01, "tau_deact": 0.05}),
    "tendon_curve": (lw.tendon_curve, {"strain": 0.05}),
    "bezier_curve": (lw.bezier_curve, {"points": np.eye(3), "domain": (0, 1)}),
}
LAWS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "PointSpring": (lw.PointSpring, {"body_a": "upper", "body_b": "lower", "point_a": P, "stiffness": 1.0, "name": "s"}),
    "SpringDamper": (
        lw.SpringDamper,
        {"body_a": "upper", "stiffness": 1.0, "rest_length": 1.0, "damping": 0.1},
    ),
    "Cable": (lw.Cable, {"points": [("upper", P), ("lower", (1, 0, 0))], "stiffness": 1.0, "damping": 0.1, "rest_length": 1.0}),
    "Bushing": (lw.Bushing, {"body_a": "upper", "body_b": "lower", "frame_a": lw.SE3(), "stiffness": 1.0, "damping": 0.1}),
    "BodyDamping": (lw.BodyDamping, {"body": "upper", "damping": 1.0, "angular": (1, 1, 1), "frame": lw.SE3()}),
    "Drag": (lw.Drag, {"body": "upper", "linear": 1.0, "quadratic": 1.0, "flow": P}),
    "PointForce": (lw.PointForce, {"body": "upper", "point": P, "force": (1, 0, 0), "axes": "world"}),
    "Handle": (lw.Handle, {"body": "upper", "point": P, "target": P, "stiffness": 1.0, "damping": 0.1}),
    "Grip": (lw.Grip, {"body": "upper", "name": "hand"}),
    "PoseHandle": (lw.PoseHandle, {"body": "upper", "frame": lw.SE3(), "target": lw.SE3(), "stiffness": 1.0, "damping": 0.1}),
    "JointSpring": (lw.JointSpring, {"joint": "elbow", "stiffness": 1.0, "rest": [0.1], "damping": 0.1}),
    "JointDamping": (lw.JointDamping, {"joint": "elbow", "damping": 1.0}),
    "PDController": (lw.PDController, {"joint": "elbow", "kp": 1.0, "kd": 0.1, "target": [0.1], "effort": 1.0}),
    "Actuator": (
        lw.Actuator,
        {"joint": "elbow", "gain": 1.0, "bias": P, "gear": 1.0, "coordinate": 0, "control_range": (-1, 1), "control": 0.5},
    ),
    "TorqueCurve": (lw.TorqueCurve, {"joint": "elbow", "curve": [(0, 0), (1, 1)]}),
    "Muscle": (
        lw.Muscle,
        {
            "path": [("upper", (0.1, 0, 0)), ("lower", (0.5, 0, 0))],
            "max_force": 100.0,
            "optimal_length": 0.5,
            "tendon_length": 0.5,
            "pennation": 0.1,
            "damping": 0.1,
            "activation": 0.5,
        },
    ),
    "Loop": (lw.Loop, {"body_a": "upper", "body_b": "world", "point_a": P, "point_b": P}),
    "Closure": (
        lw.Closure,
        {"joint": lw.Spherical(), "body_a": "upper", "frame_a": lw.SE3(), "frame_b": lw.SE3()},
    ),
    "Coupling": (lw.Coupling, {"follower": "elbow", "leader": "shoulder", "ratio": 1.0, "offset": 0.0}),
    "Gear": (
        lw.Gear,
        {"wheel_a": "upper", "wheel_b": "lower", "ratio": 2.0, "carrier": "world", "axis_a": (0, 1, 0)},
    ),
    "Limit": (lw.Limit, {"joint": "elbow", "lower": -1.0, "upper": 1.0}),
    "DryFriction": (lw.DryFriction, {"joint": "elbow", "friction": 1.0}),
    "JointFriction": (lw.JointFriction, {"joint": "elbow", "mu": 0.1, "radius": 0.1, "length": 0.1}),
    "PrescribedJoint": (lw.PrescribedJoint, {"joint": "elbow", "motion": lambda t: (0.0 * t, 0.0, 0.0)}),
    "Contact": (
        lw.Contact,
        {"body_a": "lower", "shape_a": lw.Sphere(0.1), "body_b": "world", "shape_b": lw.Plane(), "friction": 0.5, "rolling": 0.1},
    ),
    "CompliantContact": (
        lw.CompliantContact,
        {"body_a": "lower", "shape_a": lw.Sphere(0.1), "stiffness": 1.0, "damping": 0.1, "friction": 0.1, "slip_speed": 0.01},
    ),
    "joint_force": (lw.joint_force, {"joint": "elbow", "force": lambda q, v: [-q[0]], "inputs": 0, "name": "f"}),
    "force": (lw.force, {"bodies": "lower", "energy": lambda E: E[0].p[2], "inputs": 0, "name": "f"}),
}
RUN = {
    "duration": 0.004,
    "dt": 1e-3,
    "method": "reduced",
    "stepper": "rk4",
    "tau": Z2,
    "every": 2,
    "threads": 1,
    "contact": "exact",
}
RUN |= {
    "contact": "exact",
    "external": np.zeros((2, 6)),
    "limit_model": "hard",
    "open_loops": "refuse",
    "inputs": None,
    "control": None,
}
CALLED: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "forward_dynamics": (lw.forward_dynamics, {"model": plain(), "q": Z2, "v": Z2, "tau": Z2, "external": np.zeros((2, 6))}),
    "forward_dynamics, ball": (lw.forward_dynamics, {"model": ball(), "q": [1, 0, 0, 0], "v": P, "tau": P}),
    "forward_dynamics, free": (lw.forward_dynamics, {"model": free(), "q": [0, 0, 0, 1, 0, 0, 0], "v": np.zeros(6)}),
    "forward_dynamics, loaded": (lw.forward_dynamics, {"model": MOVED, "q": Z2, "v": Z2, "tau": Z2, "t": 0.0}),
    "inverse_dynamics": (lw.inverse_dynamics, {"model": plain(), "q": Z2, "v": Z2, "a": Z2}),
    "inverse_dynamics, loaded": (lw.inverse_dynamics, {"model": MOVED, "q": Z2, "v": Z2, "a": Z2}),
    "hybrid_dynamics": (lw.hybrid_dynamics, {"model": plain(), "q": Z2, "v": Z2, "tau": Z2, "a": Z2, "prescribed": "elbow"}),
    "mass_matrix": (lw.mass_matrix, {"model": plain(), "q": Z2}),
    "inverse_mass_matrix": (lw.inverse_mass_matrix, {"model": plain(), "q": Z2}),
    "bias_forces": (lw.bias_forces, {"model": plain(), "q": Z2, "v": Z2}),
    "gravity_forces": (lw.gravity_forces, {"model": plain(), "q": Z2}),
    "kinematics": (lw.kinematics, {"model": plain(), "q": Z2, "v": Z2}),
    "jacobian": (lw.jacobian, {"model": plain(), "q": Z2, "frame": "lower"}),
    "frame_jacobian": (lw.frame_jacobian, {"model": plain(), "q": Z2, "frame": "lower", "axes": "aligned", "point": P}),
    "jacobian_product": (lw.jacobian_product, {"model": plain(), "q": Z2, "x": Z2}),
    "inverse_inertia_product": (lw.inverse_inertia_product, {"model": plain(), "q": Z2, "x": Z2}),
    "forward_dynamics_derivatives": (lw.forward_dynamics_derivatives, {"model": plain(), "q": Z2, "v": Z2, "tau": Z2}),
    "center_of_mass": (lw.center_of_mass, {"model": plain(), "q": Z2}),
    "momentum": (lw.momentum, {"model": plain(), "q": Z2, "v": Z2, "about": np.zeros(3)}),
    "joint_reactions": (lw.joint_reactions, {"model": plain(), "q": Z2, "v": Z2, "tau": Z2, "axes": "world"}),
    "external_wrenches": (lw.convert.external_wrenches, {"model": plain(), "q": Z2, "forces": np.zeros((2, 3))}),
    "regressor": (lw.regressor, {"model": plain(), "q": Z2, "v": Z2, "a": Z2}),
    "coriolis_matrix": (lw.coriolis_matrix, {"model": plain(), "q": Z2, "v": Z2}),
    "factor": (lw.factor, {"model": plain(), "q": Z2, "v": Z2, "tau": Z2, "dt": 0.01}),
    "energy": (lw.energy, {"model": plain(), "state": at_rest(plain())}),
    "to_maximal": (lw.to_maximal, {"model": plain(), "state": at_rest(plain())}),
    "to_cartesian": (lw.to_cartesian, {"model": plain(), "q": Z2, "v": Z2, "tau": Z2}),
    "integrate": (plain().integrate, {"q": Z2, "dv": Z2}),
    "integrate, ball": (ball().integrate, {"q": np.array([1.0, 0, 0, 0]), "dv": np.zeros(3)}),
    "difference": (plain().difference, {"q0": Z2, "q1": Z2}),
    "q_index": (plain().q_index, {"name": "elbow"}),
    "random_configuration": (plain().random_configuration, {"seed": 0}),
    "with_parameters": (
        lambda **k: plain().with_parameters({"upper": k}),
        {"mass": 1.0, "com": P, "tensor": np.eye(3), "damping": 0.1, "armature": 0.1},
    ),
    "replace": (plain().replace, {"gravity": P}),
    "simulate": (lw.simulate, {"model": plain(), "state": at_rest(plain()), **RUN}),
    "simulate, loaded": (lw.simulate, {"model": MOVED, "state": at_rest(MOVED), **RUN, "stepper": "symplectic_euler"}),
    "step": (lambda **k: lw.Simulator(plain()).step(**k), {"steps": 1, "tau": Z2, "external": np.zeros((2, 6))}),
    "Simulator": (lw.Simulator, {"model": plain(), "state": at_rest(plain()), "dt": 1e-3, "method": "reduced", "stepper": "rk4"}),
    "assemble": (lw.assemble, {"model": MOVED, "state": at_rest(MOVED), "tolerance": 1e-9, "iterations": 5}),
    "constraint_report": (lw.constraint_report, {"model": MOVED, "q": Z2, "t": 0.0}),
    "load": (lw.load, {"path": "no.urdf", "inertia": "strict", "mimic": "couple", "floating": False, "gravity": P}),
}
