"""Joints refuse bad arguments, by name and with the rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from models import SPLINES

import linkwork as lw
from linkwork.joints import ALL_JOINTS

NAN, INF = float("nan"), float("inf")
BALL, RING, PIPE = lw.Sphere(1.0), lw.Torus(1.0, 0.2), lw.Cylinder(0.1, 1.0)
HOOP = lw.Curve(lambda u: (np.cos(u), np.sin(u), 0.0), (-3, 3))
WITH_AXIS = [lw.Revolute, lw.Prismatic, lw.Cylindrical, lw.Helical]
BAD_AXES: dict[str, tuple[Any, str]] = {
    "zero": ((0, 0, 0), r"the axis \[0.0, 0.0, 0.0\] has length 0; give a unit vector"),
    "long": ((0, 3, 4), r"the axis .* has length 5; give a unit vector"),
    "almost": ((0, 0, 1.00001), "the axis .* has length 1.00001; give a unit vector"),
    "nan": ((0, NAN, 1), "the axis .* is not finite"),
    "infinite": ((INF, 0, 0), "the axis .* is not finite"),
    "two": ((0, 1), r"the axis must have 3 entries, not shape \(2,\)"),
    "matrix": (np.eye(3), r"the axis must have 3 entries, not shape \(3, 3\)"),
    "number": (1.0, r"the axis must have 3 entries, not shape \(\)"),
}


@pytest.mark.parametrize("cls", WITH_AXIS)
@pytest.mark.parametrize("what", BAD_AXES)
def test_axes(cls: Any, what: str) -> None:
    axis, rule = BAD_AXES[what]
    with pytest.raises(lw.ModelError, match=f"{cls.__name__}: {rule}"):
        cls(axis)


@pytest.mark.parametrize("cls", WITH_AXIS)
def test_axes_that_are_unit_but_for_rounding_become_unit(cls: Any) -> None:
    rough = np.array([0.6, 0.0, 0.8]) * (1 + 3e-7)
    assert np.linalg.norm(cls(rough).axis) == pytest.approx(1.0, abs=1e-15)
    assert cls((0, 0, -1)).axis.tolist() == [0, 0, -1]


def failing(q: Any) -> lw.SE3:
    raise RuntimeError("no idea")


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "Helical pitch nan": (lambda: lw.Helical(pitch=NAN), "Helical: the pitch nan is not finite"),
    "Helical pitch inf": (lambda: lw.Helical(pitch=INF), "Helical: the pitch inf is not finite"),
    "SphericalExp small": (lambda: lw.SphericalExp(3.0), "SphericalExp: the radius 3.0 must lie between pi and 2 pi"),
    "SphericalExp large": (lambda: lw.SphericalExp(7.0), "SphericalExp: the radius 7.0 must lie between pi and 2 pi"),
    "SphericalExp edge": (lambda: lw.SphericalExp(2 * np.pi), "must lie between pi and 2 pi"),
    "SphericalExp nan": (lambda: lw.SphericalExp(NAN), "SphericalExp: the radius nan"),
    "FreeExp order": (lambda: lw.FreeExp("XY"), 'FreeExp: the order must be "TR" or "RT", not \'XY\''),
    "FreeExp case": (lambda: lw.FreeExp("tr"), 'FreeExp: the order must be "TR" or "RT"'),
    "FreeExp radius": (lambda: lw.FreeExp("RT", radius=1.0), "the radius 1.0 must lie between pi and 2 pi"),
    "Euler short": (lambda: lw.SphericalEuler("xy"), "SphericalEuler: 'xy' is not a sequence of three axes"),
    "Euler long": (lambda: lw.SphericalEuler("xyzx"), "'xyzx' is not a sequence of three axes"),
    "Euler letters": (lambda: lw.SphericalEuler("abc"), "'abc' is not a sequence of three axes"),
    "Euler neighbours": (lambda: lw.SphericalEuler("xxy"), "'xxy' is not a sequence of three axes, neighbours different"),
    "Euler number": (lambda: lw.SphericalEuler(3), "3 is not a sequence of three axes"),  # type: ignore[arg-type]
    "Euler alternate": (lambda: lw.SphericalEuler("xyz", "zz"), "'zz' is not a sequence of three axes"),
    "Euler both three": (lambda: lw.SphericalEuler("xyz", "zyx"), "'xyz' and 'zyx' lock together; pair a sequence"),
    "Euler both repeat": (lambda: lw.SphericalEuler("xyx", "zyz"), "'xyx' and 'zyz' lock together"),
    "Euler threshold": (lambda: lw.SphericalEuler("xyz", "xzx", 0.8), "the threshold 0.8 must lie between 0 and 0.7"),
    "Euler threshold 0": (lambda: lw.SphericalEuler("xyz", "xzx", 0.0), "the threshold 0.0 must lie between 0 and 0.7"),
    "Euler threshold nan": (lambda: lw.SphericalEuler("xyz", "xzx", NAN), "the threshold nan is not finite"),
    "joint function": (lambda: lw.joint(3, 1), "joint 'custom': transform must be a function of q, not int"),  # type: ignore[arg-type]
    "joint nv 0": (lambda: lw.joint(lambda q: lw.SE3(), 0), "joint 'custom': nv must be an integer from 1 to 6, not 0"),
    "joint nv 7": (lambda: lw.joint(lambda q: lw.SE3(), 7), "nv must be an integer from 1 to 6, not 7"),
    "joint nv float": (lambda: lw.joint(lambda q: lw.SE3(), 1.0), "nv must be an integer from 1 to 6, not 1.0"),  # type: ignore[arg-type]
    "joint result": (lambda: lw.joint(lambda q: q, 1, "odd"), "joint 'odd': .* must return an SE3, not ndarray"),  # type: ignore[arg-type, return-value]
    "joint none": (lambda: lw.joint(lambda q: None, 1), "must return an SE3, not NoneType"),  # type: ignore[arg-type, return-value]
    "joint raises": (lambda: lw.joint(failing, 2, "odd"), r"joint 'odd': transform\(q\) failed for q = \[0.1, 0.1\]: no idea"),
    "joint index": (lambda: lw.joint(lambda q: lw.SE3.rot_z(q[1]), 1), r"transform\(q\) failed for q = \[0.1\]: index 1"),
    "joint stretches": (lambda: lw.joint(lambda q: lw.SE3(R=2 * np.eye(3)), 1), "is not a rigid transform"),
    "joint nan": (lambda: lw.joint(lambda q: lw.SE3(p=(NAN, 0, 0)), 1), "is not a rigid transform"),
    "joint nan angle": (lambda: lw.joint(lambda q: lw.SE3.rot_z(q[0] * NAN), 1), "is not a rigid transform"),
    "pair word": (lambda: lw.SurfaceSurface(BALL, BALL, "free"), "turning must be 'aligned' or 'spin', not 'free'"),
    "pair side": (lambda: lw.SurfaceSurface(BALL, RING, side="left"), "side must be 'outside' or 'inside', not 'left'"),
    "pair angle": (lambda: lw.SurfaceSurface(BALL, RING, angle=NAN), "SurfaceSurface: the angle nan is not finite"),
    "pair of points": (
        lambda: lw.SurfacePoint((0, 0, 0), (0, 0, 1)),
        "SurfacePoint: it needs a point and a surface or a surface and a point, not a point and a point",
    ),
    "pair of curve": (lambda: lw.SurfaceSurface(BALL, HOOP), "it needs a surface and a surface, not a surface and a curve"),
    "pair of implicit": (lambda: lw.SurfacePoint(lw.torus(1.0, 0.2)), "an ImplicitSurface has no coordinates; give"),
    "pair of box": (lambda: lw.SurfacePoint(lw.Box((1, 1, 1))), "a Sphere, Ellipsoid, Torus, .* is needed, not Box"),
    "pair of nothing": (lambda: lw.CurvePoint(None), "CurvePoint: a Sphere, .* Curve or a point is needed, not None"),
    "pair in line": (
        lambda: lw.SurfaceSurface(PIPE, PIPE),
        "Cylinder.: its 4 coordinates do not move it independently",
    ),
    "pair that fits": (lambda: lw.SurfaceSurface(BALL, BALL, side="inside"), "do not move it independently"),
    "four-bar points": (lambda: lw.FourBar((0, 0), ((0, 0), (1, 1))), r"parent must be two points \(x, z\), not \(0, 0\)"),
    "four-bar short": (lambda: lw.FourBar(((0, 0), (1, 0)), ((0, 0), (1, 1))), "a link has no length"),
    "four-bar in line": (lambda: lw.FourBar(((0, 0), (3, 0)), ((1, 0), (2, 0))), "its links are in line at q = 0"),
    "Bezier one": (lambda: lw.bezier_curve([(0, 0, 0)]), r"the control points must be numbers \(n, 3\), two or more"),
    "Bezier flat": (lambda: lw.bezier_curve([(0, 0), (1, 1)]), r"\(n, 3\), two or more each way, not of shape \(2, 2\)"),
    "Bezier nan": (lambda: lw.bezier_curve([(0, 0, NAN), (1, 1, 1)]), "the control points must be finite"),
    "Bezier still": (lambda: lw.bezier_curve(np.zeros((4, 3))), "does not move at u = 0"),
    "Bezier row": (lambda: lw.bezier_surface(np.zeros((1, 4, 3))), r"\(m, n, 3\), two or more each way"),
    "Bezier folded": (lambda: lw.SurfacePoint(lw.bezier_surface(np.zeros((3, 3, 3)))), "it has no normal at u = "),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_arguments_name_the_rule(what: str) -> None:
    make, rule = REFUSED[what]
    with pytest.raises(lw.ModelError, match=rule):
        make()


def test_a_joint_that_branches_in_python_is_told_what_to_use() -> None:
    joint = lw.joint(lambda q: lw.SE3.rot_z(q[0]) if q[0] > 0 else lw.SE3(), nv=1)
    with pytest.raises(lw.SymbolError, match=r"lw\.math\.where"):
        _ = joint.signature


# What is refused with whatever linkwork error fits best.
ALSO_REFUSED: dict[str, Callable[[], object]] = {
    "axis of letters": lambda: lw.Revolute("z"),
    "axis ragged": lambda: lw.Revolute(((1,), 0, 0)),
    "pitch of letters": lambda: lw.Helical(pitch="a"),  # type: ignore[arg-type]
    "pitch list": lambda: lw.Helical(pitch=[1, 2]),  # type: ignore[arg-type]
    "radius none": lambda: lw.SphericalExp(None),  # type: ignore[arg-type]
    "threshold of letters": lambda: lw.SphericalEuler(threshold="a"),  # type: ignore[arg-type]
    "sequence none": lambda: lw.SphericalEuler(None),  # type: ignore[arg-type]
    "composite of a class": lambda: lw.Composite(lw.Revolute, lw.Revolute()),  # type: ignore[arg-type]
    "composite of none": lambda: lw.Composite(None, lw.Revolute()),  # type: ignore[arg-type]
    "seven degrees of freedom": lambda: lw.Composite(lw.Free(), lw.Revolute()),
    "custom joint that never moves": lambda: lw.joint(lambda q: lw.SE3(), 1),
    "custom joint that mirrors": lambda: lw.joint(lambda q: lw.SE3(R=np.diag([1.0, 1.0, -1.0])), 1),
    "nv true": lambda: lw.joint(lambda q: lw.SE3.rot_z(q[0]), True),
}


@pytest.mark.parametrize("what", ALSO_REFUSED)
def test_nonsense_is_refused_in_our_own_words(what: str) -> None:
    with pytest.raises(lw.LinkworkError):
        ALSO_REFUSED[what]()


def test_euler_sequences_in_either_case_pair_alike() -> None:
    assert lw.SphericalEuler("XYZ", "xzX").sequences == lw.SphericalEuler("xyz", "xzx").sequences


def test_joints_of_two_classes_with_one_name_do_not_share_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWORK_CACHE", "off")

    def slide(factor: float) -> lw.Joint:
        class Slide(lw.Joint):
            nq = nv = 1

            def transform(self, q: Any) -> lw.SE3:
                return lw.SE3(p=(factor * q[0], 0, 0))

        return Slide()

    models = [lw.ModelBuilder().body("a", joint=slide(k), inertia=lw.Inertia(1.0)).build() for k in (1.0, 3.0)]
    masses = [float(lw.mass_matrix(model, np.array([0.3]))[0, 0]) for model in models]
    assert masses == pytest.approx([1.0, 9.0])


ARGUMENTS: dict[type[lw.Joint], tuple[Any, ...]] = {
    lw.SurfaceSurface: (lw.Sphere(1.0), lw.Torus(1.0, 0.2)),
    lw.SurfacePoint: (lw.Sphere(1.0),),
    lw.SurfaceCurve: (lw.Sphere(1.0), HOOP),
    lw.CurveCurve: (HOOP, lw.Curve(lambda u: (2 * np.cos(u), 2 * np.sin(u), 0.0), (-3, 3))),
    lw.CurvePoint: (HOOP,),
    lw.FourBar: (((-0.1, 0.2), (0.1, 0.1)), ((0.1, -0.1), (-0.2, -0.1))),
}


def test_every_registered_joint_can_be_made_and_shown() -> None:
    given: dict[str, Callable[[], lw.Joint]] = {
        "Composite": lambda: lw.Composite(lw.Revolute(), lw.Prismatic()),
        "SplineCurve": lambda: SPLINES["spline"],
        "SplineSurface": lambda: SPLINES["surface of two"],
    }
    for name, cls in ALL_JOINTS.items():
        joint = given[name]() if name in given else cls(*ARGUMENTS.get(cls, ()))
        assert name in repr(joint)
        assert joint.neutral().shape == (joint.nq,)


@pytest.mark.parametrize(
    ("sequence", "alternate"), [("xzy", "zxz"), ("xyz", "yzy"), ("xyz", "zyx"), ("xyx", "zyz"), ("zxz", "xzy")]
)
def test_sequences_that_lock_together_are_refused(sequence: str, alternate: str) -> None:
    with pytest.raises(lw.ModelError, match=f"{sequence!r} and {alternate!r} lock together"):
        lw.SphericalEuler(sequence, alternate)


def test_parts_of_a_composite_must_be_independent() -> None:
    with pytest.raises(lw.ModelError, match="are not independent: some are the same"):
        lw.Composite(lw.Revolute(), lw.Spherical())
    with pytest.raises(lw.ModelError, match="are not independent"):
        lw.Composite(lw.Prismatic((0, 0, 1)), lw.Prismatic((0, 0, 1)))
    assert lw.Composite(lw.Fixed(), lw.Fixed()).nv == 0


def test_pairs_find_their_coordinates_and_name_what_does_not_touch() -> None:
    pair = lw.SurfaceSurface(BALL, RING, "spin")
    q = np.array([0.3, 0.4, -0.5, 1.1, 2.0])
    found = pair.coordinates_at(pair.transform(q))
    assert np.abs(pair.transform(found).matrix - pair.transform(q).matrix).max() < 1e-9
    apart = pair.transform(q) @ lw.SE3(p=(0.0, 0.0, 0.25))
    with pytest.raises(lw.ModelError, match=r"SurfaceSurface\(Sphere, Torus\): they do not touch as declared at this pose"):
        pair.coordinates_at(apart)


def test_a_start_at_two_poles_names_the_joint() -> None:
    """Both longitudes turn about the common normal there."""
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.SurfaceSurface(BALL, lw.Ellipsoid((1, 2, 3))), inertia=lw.Inertia.sphere(1.0, 0.1), joint_name="roll")
    model = b.build()
    with pytest.raises(lw.InputError, match="motion subspace of joint 'roll' has a rank below 4"):
        lw.simulate(model, lw.State(np.array([0.0, np.pi / 2, 0.0, np.pi / 2]), np.zeros(4)), 0.1, 1e-3)


def test_a_run_off_the_end_of_a_curve_names_the_joint() -> None:
    b = lw.ModelBuilder()
    slope = lw.bezier_curve([(0, 0, 1), (1, 0, 0.5), (2, 0, 0)])
    b.body("bead", joint=lw.CurvePoint(slope), inertia=lw.Inertia.sphere(1.0, 0.1), joint_name="slide")
    with pytest.raises(lw.SolverError, match="joint 'slide' left its domain"):
        lw.simulate(b.build(), lw.State(np.array([0.1]), np.array([0.5])), 3.0, 1e-2)
