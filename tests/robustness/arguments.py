"""Every public callable of `lw` with legal arguments, and values that no argument takes: `python tests/robustness/arguments.py`
prints what each call gives.

Arguments that have a default are tried, too, whether or not the tables name them.
"""

from __future__ import annotations

import inspect
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from cases import at_rest, plain, two
from junk import CALLED, LAWS, MADE

import linkwork as lw

SECONDS = 10  # a call of these small models takes at most
P, Z2, NAN = (0.0, 0.0, 0.0), np.zeros(2), float("nan")
FRAMES = [lw.SE3(p=(0.1 * k, 0.01 * k * k, 0.0)) for k in range(5)]
GRID = [[[0.3 * i, 0.3 * j, 0.1 * i * j] for j in range(5)] for i in range(5)]
BAD: dict[str, Any] = {
    "None": None,
    "nan": NAN,
    "inf": float("inf"),
    "negative": -1.0,
    "zero": 0,
    "huge": 1e300,
    "huge integer": 10**400,
    "text": "no such thing",
    "empty text": "",
    "surrogate": "a\ud800",
    "empty": [],
    "nans": [NAN, NAN],
    "wrong shape": np.zeros((3, 5)),
    "ragged": [[1.0], [1.0, 2.0]],
    "object": object(),
    "mapping": {"no such thing": NAN},
    "truth": True,
    "complex": 1j,
    "function": lambda: None,
    "class": lw.Model,
}
TETRAHEDRON = lw.Mesh(np.vstack([np.zeros(3), np.eye(3)]), [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
LINE = lw.Curve(lambda u: [u, u * u, 0.0])
SHEET = np.zeros((6, 5, 5))
SHEET[3], SHEET[4] = np.meshgrid(np.arange(5.0), np.arange(5.0), indexing="ij")
FOLDER = Path(tempfile.mkdtemp())


@cache
def muscled() -> lw.Model:
    return two(lw.Muscle([("upper", (0.1, 0, 0)), ("lower", (0.5, 0, 0))], 100.0, 0.5, 0.5))


def _bowl(u: Any) -> list[Any]:
    return [u[0], u[1], 0.1 * u[0] * u[0]]


USUAL: dict[str, Any] = {
    "model": plain(),
    "q": Z2,
    "v": Z2,
    "a": Z2,
    "tau": Z2,
    "x": Z2,
    "t": 0.0,
    "dt": 1e-3,
    "frame": "lower",
    "wrench": np.zeros(6),
    "wrenches": np.zeros((2, 6)),
    "weights": Z2,
    "prescribed": "elbow",
    "parameters": {"upper": ["mass"]},
    "state": at_rest(plain()),
    "states": lw.State(np.zeros((2, 2)), np.zeros((2, 2))),
    "controls": np.zeros((2, 3, 2)),
    "points": np.eye(3),
    "name": "it",
    "radius": 0.1,
    "body": "upper",
    "joint": "elbow",
    "axes": "world",
    "stiffness": 1.0,
}
MORE: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Ad": (lw.Ad, {"E": lw.SE3()}),
    "Assembly": (lw.Assembly, {}),
    "BezierCurve": (lw.BezierCurve, {}),
    "BezierSurface": (lw.BezierSurface, {"points": GRID}),
    "bezier_surface": (lw.bezier_surface, {"points": GRID}),
    "Curve": (lw.Curve, {"x": lambda u: [u, u * u, 0.0]}),
    "CurveCurve": (lw.CurveCurve, {"a": lw.bezier_curve(np.eye(3)), "b": lw.bezier_curve(np.eye(3))}),
    "CurvePoint": (lw.CurvePoint, {"a": lw.bezier_curve(np.eye(3))}),
    "Cylindrical": (lw.Cylindrical, {}),
    "Design": (lw.Design, {"columns": {"dt": [1.0, 2.0]}}),
    "Design.grid": (lambda columns: lw.Design.grid(columns), {"columns": {"mass": [1.0, 2.0]}}),
    "ElasticMuscle": (
        lw.ElasticMuscle,
        {"path": [("upper", P), ("lower", P)], "max_force": 1.0, "optimal_length": 1.0, "tendon_length": 1.0},
    ),
    "FibreMuscle": (
        lw.FibreMuscle,
        {"path": [("upper", P), ("lower", P)], "max_force": 1.0, "optimal_length": 1.0, "tendon_length": 1.0},
    ),
    "FourBar": (lw.FourBar, {"parent": ((0, 0), (1, 0)), "child": ((0, 0.5), (0.8, 0.7))}),
    "HyperReduced": (lw.HyperReduced, {"model": plain(), "function": lambda r: [r[0], r[0]], "nr": 1}),
    "ImplicitSurface": (lw.ImplicitSurface, {"f": lambda x: x[0] ** 2 + x[1] ** 2 + x[2] ** 2 - 1.0}),
    "LimitSpring": (lw.LimitSpring, {}),
    "MassSpringChain": (
        lw.MassSpringChain,
        {"name": "c", "start": P, "end": (1, 0, 0), "nodes": 3, "mass": 1.0, "stiffness": 1.0},
    ),
    "MassSpringNet": (
        lw.MassSpringNet,
        {"name": "n", "corner": P, "along": (1, 0, 0), "across": (0, 1, 0), "shape": (2, 2), "stiffness": 1.0, "mass": 1.0},
    ),
    "MassSprings": (
        lw.MassSprings,
        {"name": "m", "points": [P, (1, 0, 0)], "springs": [(0, 1)], "mass": 1.0, "stiffness": 1.0},
    ),
    "MeshFile": (lw.MeshFile, {"path": "part.stl"}),
    "MuscleDrive": (lambda **k: lw.MuscleDrive(**k), {"model": muscled(), "excitation": [0.5]}),
    "MusclePath": (lambda item: lw.MusclePath(("upper", P), item), {"item": ("lower", P)}),
    "ParametricSurface": (lw.ParametricSurface, {"x": _bowl}),
    "PiecewiseCurve": (lw.PiecewiseCurve, {"knots": [0.0, 1.0], "coefficients": [[0.0, 1.0, 0.0, 0.0]]}),
    "PointOnCurve": (lw.PointOnCurve, {"body": "upper", "point": P, "curve": lw.bezier_curve(np.eye(3))}),
    "PointOnSurface": (lw.PointOnSurface, {"body": "upper", "point": P, "surface": lw.Sphere(1.0)}),
    "PrescribedTwist": (lw.PrescribedTwist, {"body": "upper", "motion": lambda t: (np.zeros(6), np.zeros(6))}),
    "Recorded": (lw.Recorded, {"t": [0.0, 0.1, 0.2], "q": np.zeros((3, 2))}),
    "Revolute": (lw.Revolute, {}),
    "SplineCurve": (lw.SplineCurve, {"frames": FRAMES}),
    "SplineSurface": (lw.SplineSurface, {"values": SHEET}),
    "SurfaceCurve": (lw.SurfaceCurve, {"a": lw.Sphere(1.0), "b": lw.bezier_curve(np.eye(3))}),
    "SurfacePair": (lw.SurfacePair, {"a": lw.Sphere(1.0), "b": lw.Sphere(0.5)}),
    "SurfacePoint": (lw.SurfacePoint, {"a": lw.Sphere(1.0)}),
    "SurfaceSurface": (lw.SurfaceSurface, {"a": lw.Sphere(1.0), "b": lw.Sphere(0.5)}),
    "SwingTwistLimit": (lw.SwingTwistLimit, {"joint": "elbow", "stiffness": 1.0}),
    "TangentCurves": (lw.TangentCurves, {"body_a": "upper", "curve_a": LINE, "curve_b": LINE}),
    "TangentSurfaces": (lw.TangentSurfaces, {"body_a": "upper", "surface_a": lw.Sphere(1.0), "surface_b": lw.Sphere(1.0)}),
    "WrapCylinder": (lw.WrapCylinder, {"body": "upper", "axis": (0, 0, 1), "radius": 0.1}),
    "WrapSphere": (lw.WrapSphere, {"body": "upper", "radius": 0.1}),
    "constraint": (lw.constraint, {"bodies": "lower", "residual": lambda E: E[0].p[2]}),
    "joint_constraint": (lw.joint_constraint, {"joints": "elbow", "residual": lambda q: q[0] - 0.1}),
    "cubic_curve": (lw.cubic_curve, {"knots": [0.0, 1.0], "conditions": [(0, 0, 0), (1, 0, 1), (0, 1, 0), (1, 1, 0)]}),
    "ellipsoid": (lw.ellipsoid, {"radii": (1, 1, 1)}),
    "torus": (lw.torus, {"ring": 1.0, "tube": 0.1}),
    "interp": (lw.interp, {"x": 0.5, "table": lw.samples([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])}),
    "fit": (lw.fit, {"motion": lw.Recorded([0.0, 0.01, 0.02], np.zeros((3, 2))), "numbers": ["upper.mass"], "dt": 0.01}),
    "from_cartesian": (lw.from_cartesian, {"state": lw.to_cartesian(plain(), Z2, Z2, Z2)}),
    "maximal_dynamics": (lw.maximal_dynamics, {"state": lw.to_maximal(plain(), at_rest(plain()))}),
    "to_reduced": (lw.to_reduced, {"state": lw.to_maximal(plain(), at_rest(plain()))}),
    "tree_maximal_dynamics": (lw.tree_maximal_dynamics, {"state": lw.to_maximal(plain(), at_rest(plain()))}),
    "mesh_inertia": (lw.mesh_inertia, {"mesh": TETRAHEDRON, "density": 1.0}),
    "muscle_states": (lw.muscle_states, {"model": muscled()}),
    "rollout": (lw.rollout, {}),
    "rollout_gradient": (lw.rollout_gradient, {"dq": np.ones((2, 2))}),
    "step_gradient": (lw.step_gradient, {"dq": Z2}),
    "step_product": (lw.step_product, {"dq": Z2}),
    "save_live": (lw.save_live, {"path": FOLDER / "page.html"}),
    "study": (lw.study, {"design": {"upper.mass": [1.0, 2.0]}, "duration": 0.01}),
    "resume": (lw.resume, {"path": FOLDER / "no.lwk"}),
    "Trajectory.load": (lw.Trajectory.load, {"path": FOLDER / "no.lwk"}),
    "Trajectory.save": (lambda path: _run().save(path), {"path": FOLDER / "run.csv"}),
    "Model.save": (lambda path: plain().save(path), {"path": FOLDER / "m.lwm"}),
    "Model.add": (lambda item: plain().add(item), {"item": lw.Plane()}),
    "Model.frame": (
        lambda **k: lw.ModelBuilder().body("a", joint=lw.Revolute(), inertia=lw.Inertia(1.0)).frame(**k),
        {"name": "f", "body": "a"},
    ),
    "Simulator.reset": (lambda state: lw.Simulator(plain()).reset(state), {"state": at_rest(plain())}),
}


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


MADE_BY_THE_LIBRARY = _names(
    """Account Body Cartesian ConstraintReport ContactArrays ContactRecord DynamicsDerivatives DynamicsGradient Energy Event Fit
    EnergyHessian Health Kinematics Model Motion MuscleStates Response Rows Runs StepDerivatives StepGradient Study Trajectory"""
)  # what calls return
BASES = _names("Constraint Force Joint JointConstraint JointForce Line MuscleCurve Shape SplineBasis")  # to derive from
PLACED = _names(
    """FibreMuscle ElasticMuscle PointOnCurve PointOnSurface PrescribedTwist TangentCurves TangentSurfaces constraint
    joint_constraint"""
)  # laws that are made and put into a model


@cache
def _run() -> lw.Trajectory:
    return lw.simulate(plain(), at_rest(plain()), 0.01, 1e-3)


def table() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """All public callables by name, with all their arguments: those of the tables, and those that have a default."""
    known = {**MADE, **LAWS, **CALLED, **MORE}
    for name in lw.__all__:
        thing = getattr(lw, name)
        exempt = name in MADE_BY_THE_LIBRARY | BASES or (isinstance(thing, type) and issubclass(thing, BaseException))
        if callable(thing) and not inspect.ismodule(thing) and name not in known and not exempt:
            known[name] = (thing, {})
    found = {name: (function, _all_arguments(function, given)) for name, (function, given) in known.items()}
    found |= {
        name: (_in_model(function), found[name][1]) for name, (function, _) in known.items() if name in LAWS or name in PLACED
    }
    found["study"][1].pop("cluster")  # an address: it waits for the network
    return found


def _in_model(law: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a law and puts it into a model, which looks at the names in it."""
    return lambda **given: two(law(**given))


def _all_arguments(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    named = dict(given)
    for p in inspect.signature(function).parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or p.name in named:
            continue
        if p.default is not p.empty:
            named[p.name] = p.default
        elif p.name in USUAL:
            named[p.name] = USUAL[p.name]
        else:
            raise KeyError(f"{function.__qualname__}: give it a row in MORE, with legal arguments")
    return named


class HangError(Exception):
    """A call that takes too long."""


def _late(*_: Any) -> None:
    raise HangError


def outcome(function: Callable[..., Any], arguments: dict[str, Any], value: Any = None) -> tuple[str, str]:
    """What a call gives: "refused" by an error of the library in one line, "accepted", "foreign" or "hangs", and the message."""
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(**arguments)
        return "accepted", ""
    except lw.LinkworkError as error:
        return ("refused" if "\n" not in str(error) and str(error) else "foreign"), str(error)
    except HangError:
        return "hangs", ""
    except Exception as error:
        return "foreign", f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)


def tried(names: Callable[[str], bool] = lambda name: True) -> Iterator[tuple[str, str, str, str, str]]:
    """Name, argument, kind of value, outcome and message of every call."""
    for name, (function, given) in table().items():
        if not names(name):
            continue
        for argument in given:
            for kind, value in BAD.items():
                yield name, argument, kind, *outcome(function, {**given, argument: value})


def main() -> None:
    """Print what is not refused; with an argument, all of the callables that contain it."""
    import time

    counts: Counter[str] = Counter()
    start = time.time()
    arguments = set()
    for name, argument, kind, what, text in tried(lambda name: len(sys.argv) < 2 or sys.argv[1] in name):
        counts[what] += 1
        arguments.add((name, argument))
        if what in ("foreign", "hangs") or len(sys.argv) > 1 or (what == "accepted" and kind in ("nan", "nans", "object")):
            print(f"{what:9} {name:30} {argument:16} {kind:14} {text[:150]!r}")
    print(dict(counts), len(arguments), "arguments", f"{time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
