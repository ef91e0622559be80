"""Forces refuse bad arguments, by name, with the value and the rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw

NAN, INF = float("nan"), float("inf")
SPRING: dict[str, Any] = {"stiffness": 1.0, "rest_length": 1.0}
BENT = lw.SE3(R=2 * np.eye(3))
SKEWED = np.eye(6) + np.eye(6, k=1)


def fails(*_: Any) -> Any:
    raise RuntimeError("no idea")


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "body of no name": (lambda: lw.PointSpring("", stiffness=1.0), "PointSpring: a body must be a name, not ''"),
    "body number": (lambda: lw.BodyDamping(3, 1.0), "BodyDamping: a body must be a name, not 3"),  # type: ignore[arg-type]
    "name": (lambda: lw.BodyDamping("a", 1.0, name=3), "BodyDamping: name must be a name, not 3"),  # type: ignore[arg-type]
    "named": (lambda: lw.BodyDamping("a", -1.0, name="air"), "BodyDamping 'air': damping must be at least 0, not -1.0"),
    "stiffness sign": (lambda: lw.PointSpring("a", stiffness=-1.0), "PointSpring: stiffness must be at least 0, not -1.0"),
    "stiffness nan": (lambda: lw.PointSpring("a", stiffness=NAN), "PointSpring: stiffness must be at least 0, not nan"),
    "stiffness word": (lambda: lw.PointSpring("a", stiffness="x"), "stiffness must be a number, not 'x'"),  # type: ignore[arg-type]
    "point": (lambda: lw.PointSpring("a", point_a=(1, 2), stiffness=1), "point_a must be three finite numbers, not \\(1, 2\\)"),
    "rest length": (lambda: lw.SpringDamper("a", stiffness=1.0, rest_length=0.0), "rest_length must be above 0, not 0.0"),
    "spring damping": (lambda: lw.SpringDamper("a", **SPRING, damping=INF), "damping must be at least 0, not inf"),
    "angular": (lambda: lw.BodyDamping("a", angular=(1, -2, 0)), r"BodyDamping: angular must be at least 0, not \(1, -2, 0\)"),
    "linear": (lambda: lw.BodyDamping("a", linear=(1, 2)), r"linear must be a number or three finite numbers, not \(1, 2\)"),
    "frame": (lambda: lw.BodyDamping("a", 1.0, frame=np.eye(4)), "frame must be an SE3, not ndarray"),  # type: ignore[arg-type]
    "frame rigid": (
        lambda: lw.BodyDamping("a", 1.0, frame=BENT),
        r"the rotation of frame is not a rotation \(R R\^T is off by 3\)",
    ),
    "frame finite": (lambda: lw.Drag("a", 1.0, frame=lw.SE3(p=(NAN, 0, 0))), "Drag: frame is not finite"),
    "drag": (lambda: lw.Drag("a", -1.0), "Drag: linear must be at least 0, not -1.0"),
    "drag of four": (lambda: lw.Drag("a", 0.0, (1, 2, 3, 4)), "Drag: quadratic must be a number or three finite numbers"),
    "flow": (lambda: lw.Drag("a", flow="east"), "Drag: flow must be three finite numbers, not 'east'"),
    "axes": (lambda: lw.PointForce("a", (0, 0, 0), (1, 0, 0), "local"), 'axes must be "world" or "body", not \'local\''),
    "force": (lambda: lw.PointForce("a", (0, 0, 0), (1, NAN, 0)), "PointForce: force must be three finite numbers"),
    "force of time": (lambda: lw.PointForce("a", (0, 0, 0), lambda t: (t, 0)), r"force\(t = 0\) must be three finite numbers"),
    "force fails": (lambda: lw.PointForce("a", (0, 0, 0), fails), r"PointForce: force\(t\) failed for t = 0: no idea"),
    "bushing of five": (lambda: lw.Bushing("a", "b", stiffness=np.ones(5)), "stiffness must be a number or six finite numbers"),
    "bushing sign": (lambda: lw.Bushing("a", "b", stiffness=-1.0), "Bushing: stiffness must be at least 0, not -1.0"),
    "bushing skewed": (lambda: lw.Bushing("a", "b", stiffness=SKEWED), "stiffness must be symmetric; it is off by 1"),
    "bushing negative": (
        lambda: lw.Bushing("a", "b", stiffness=1.0, damping=np.diag([1, 1, 1, 1, 1, -2.0])),
        "Bushing: damping must have no negative eigenvalue, not -2",
    ),
    "bushing shape": (lambda: lw.Bushing("a", "b", stiffness=np.eye(3)), "a number, six numbers or a 6x6 matrix"),
    "handle": (lambda: lw.Handle("a", target=(0, 0), stiffness=1.0), "Handle: target must be three finite numbers"),
    "pose handle": (lambda: lw.PoseHandle("a", target=BENT, stiffness=1.0), "the rotation of target is not a rotation"),
    "nothing": (lambda: lw.force("a"), r"CustomForce: give energy or wrenches, a function"),
    "no function": (lambda: lw.force("a", energy=3), "CustomForce: energy must be a function, not int"),  # type: ignore[arg-type]
    "no body": (lambda: lw.force((), energy=lambda E: 0.0), "CustomForce: it acts on no body; name at least one"),
    "own fails": (
        lambda: lw.force("a", energy=fails, name="odd"),
        "CustomForce 'odd': its function failed: RuntimeError: no idea",
    ),
    "own energy": (lambda: lw.force("a", energy=lambda E: E[0].p), "energy must be one finite number"),
    "own nan": (lambda: lw.force("a", energy=lambda E: E[0].p[0] * NAN), "energy must be one finite number, not nan"),
    "own wrench": (
        lambda: lw.force("a", wrenches=lambda E, phi: [phi[0][:3]]),
        r"a wrench must have 6 entries, not shape \(3,\)",
    ),
    "own count": (lambda: lw.force(("a", "b"), wrenches=lambda E, phi: [phi[0]]), "returned 1 wrenches for 2 bodies"),
    "parameter": (lambda: lw.force("a", energy=lambda E, k: 0.0, parameters={"k": NAN}), "parameter 'k' must be finite, not nan"),
    "parameter word": (lambda: lw.force("a", energy=lambda E, k: 0.0, parameters={"k": "x"}), "parameter 'k' must be numbers"),
    "parameter t": (
        lambda: lw.force("a", energy=lambda E, t: 0.0, parameters={"t": 1}),
        "'t' cannot be a parameter: it is the time",
    ),
    "unused": (
        lambda: lw.force("a", energy=lambda E: 0.0, parameters={"k": 1}),
        "no function has an argument for the parameter 'k'",
    ),
    "inputs": (lambda: lw.force("a", energy=lambda E: 0.0, inputs=[NAN]), r"inputs must be a finite number, not \[nan\]"),
    "inputs sign": (lambda: lw.force("a", energy=lambda E: 0.0, inputs=-1), "CustomForce: inputs must be at least 0, not -1"),
    "joint name": (lambda: lw.JointSpring("", 1.0), "JointSpring: the joint must be a name, not ''"),
    "joint stiffness": (lambda: lw.JointSpring("j", -1.0), r"JointSpring\('j'\): stiffness must be at least 0, not -1.0"),
    "joint damping": (lambda: lw.JointDamping("j", NAN), r"JointDamping\('j'\): damping must be a finite number"),
    "curve": (lambda: lw.TorqueCurve("j", [(0, 1)]), r"TorqueCurve\('j'\): a curve is a function or 2 or more points"),
    "curve order": (lambda: lw.TorqueCurve("j", [(0, 1), (0, 2)]), r"must have increasing q, not \[0.0, 0.0\]"),
    "curve nan": (lambda: lw.TorqueCurve("j", [(0, 1), (1, NAN)]), "finite, not"),
    "curve word": (lambda: lw.TorqueCurve("j", "steep"), "a curve is a function or 2 or more points"),
    "curve fails": (lambda: lw.TorqueCurve("j", fails), r"curve\(q\) failed for q = -0.3: no idea"),
    "curve vector": (lambda: lw.TorqueCurve("j", lambda q: [q, q]), r"curve\(q\) must be a finite number"),
    "curve infinite": (lambda: lw.TorqueCurve("j", lambda q: INF), r"curve\(q\) must be a finite number, not inf at q = -0.3"),
    "limit": (lambda: lw.LimitSpring("j", "x"), r"LimitSpring\('j'\): stiffness must be a finite number, not 'x'"),
    "swing": (lambda: lw.SwingTwistLimit("j", 1.0, swing=0.0), "swing must be above 0, not 0.0"),
    "swing wide": (lambda: lw.SwingTwistLimit("j", 1.0, swing=4.0), "swing must be at most pi, not 4.0"),
    "twist": (lambda: lw.SwingTwistLimit("j", 1.0, twist=(1, -1)), r"twist must be \(lower, upper\) within \[-pi, pi\]"),
    "twist axis": (lambda: lw.SwingTwistLimit("j", 1.0, axis=(0, 3, 4)), "has length 5; give a unit vector"),
    "kp": (lambda: lw.PDController("j", -1.0), r"PDController\('j'\): kp must be at least 0, not -1.0"),
    "effort": (lambda: lw.PDController("j", 1.0, effort=0.0), "effort must be above 0, not 0.0"),
    "effort word": (lambda: lw.PDController("j", 1.0, effort="big"), "effort must be a number or 1, not 'big'"),
    "own joint force": (lambda: lw.joint_force("j"), r"CustomJointForce\('j'\): give energy or force, a function"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_arguments_name_the_rule(what: str) -> None:
    make, rule = REFUSED[what]
    with pytest.raises(lw.ModelError, match=rule):
        make()


MISFITS: dict[str, tuple[Callable[[], Any], str]] = {
    "no such body": (lambda: lw.PointSpring("a", "z", stiffness=1.0), r"PointSpring\('a', 'z'\): there is no body 'z'"),
    "only the world": (lambda: lw.PointSpring("world", "world", stiffness=1.0), "it acts on no body of the model"),
    "no such joint": (lambda: lw.JointDamping("z", 1.0, name="oil"), r"JointDamping\('z', name='oil'\): there is no joint 'z'"),
    "fixed": (lambda: lw.JointDamping("weld", 1.0), r"JointDamping\('weld'\): joint 'weld' is fixed"),
    "stiffness of three": (
        lambda: lw.JointSpring("hinge", (1, 2, 3)),
        r"must be a finite number, not \(1, 2, 3\)",
    ),
    "rest of two": (lambda: lw.JointSpring("hinge", 1.0, (1, 2)), r"rest must be a finite number, not \(1, 2\)"),
    "rest of a ball": (lambda: lw.JointSpring("ball", 1.0, (1, 1, 0, 0)), r"its quaternion \(wxyz\) has norm 1.41421, not 1"),
    "target": (lambda: lw.PDController("hinge", 1.0, target="up"), "target must be a finite number, not 'up'"),
    "gains": (lambda: lw.PDController("ball", (1, 2)), r"PDController\('ball'\): kp must be a number or three finite numbers"),
    "curve": (lambda: lw.TorqueCurve("ball", lambda q: q), "has 3 degrees of freedom; a curve is for joints with one"),
    "no limits": (lambda: lw.LimitSpring("hinge", 1.0), "joint 'hinge' has no limits; give it limits="),
    "limits of a ball": (lambda: lw.LimitSpring("ball", 1.0), "no coordinates to limit one by one; use SwingTwistLimit"),
    "cone of a hinge": (lambda: lw.SwingTwistLimit("hinge", 1.0), "does not turn freely; use LimitSpring"),
    "own force": (lambda: lw.joint_force("ball", force=lambda q, v: v[:1]), r"force must have 3 entries, not shape \(1,\)"),
    "own index": (
        lambda: lw.joint_force("hinge", energy=lambda q: q[5]),
        r"CustomJointForce\('hinge'\): its function failed: Index",
    ),
}


def parts() -> lw.ModelBuilder:
    b = lw.ModelBuilder()
    for name, joint in (("a", lw.Free()), ("hinge", lw.Revolute()), ("ball", lw.Spherical()), ("weld", lw.Fixed())):
        b.body(name, joint=joint, inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    return b


@pytest.mark.parametrize("what", MISFITS)
def test_forces_that_do_not_fit_the_model_name_the_rule(what: str) -> None:
    make, rule = MISFITS[what]
    with pytest.raises(lw.ModelError, match=rule):
        parts().add(make()).build()


BRANCHES: dict[str, Callable[[], Any]] = {
    "force": lambda: lw.force("a", energy=lambda E: E[0].p[2] if E[0].p[2] > 0 else 0.0),
    "point force": lambda: lw.PointForce("a", (0, 0, 0), lambda t: (1.0, 0.0, 0.0) if t > 1 else (0.0, 0.0, 0.0)),
    "curve": lambda: lw.TorqueCurve("hinge", lambda q: q if q > 0 else 0.0),
    "joint force": lambda: lw.joint_force("hinge", force=lambda q, v: [max(v[0], 0.0)]),
}


@pytest.mark.parametrize("what", BRANCHES)
def test_functions_that_branch_in_python_are_told_what_to_use(what: str) -> None:
    model = parts().add(BRANCHES[what]()).build()
    with pytest.raises(lw.SymbolError, match=r"lw\.math\.where"):
        lw.force_set(model)


def test_a_line_says_what_it_lacks() -> None:
    class Rope(lw.Line):
        bodies = ("a",)

    with pytest.raises(TypeError, match=r"Rope must define length\(poses\)"):
        lw.force_set(parts().add(Rope()).build())


def test_forces_show_what_they_are() -> None:
    assert repr(lw.PointSpring("a", stiffness=1.0)) == "PointSpring('a', 'world')"
    assert repr(lw.JointSpring("j", 1.0, name="x")) == "JointSpring('j', name='x')"
