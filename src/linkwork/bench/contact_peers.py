"""Pinocchio's solvers of contact problems, on `Problem`: Coulomb cones alone, tangents before the normal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..solvers.problem import NORMAL, Problem

KINDS: dict[str, tuple[str, dict[str, float]]] = {
    "ADMM": ("ADMM", {}),
    "PGS": ("PGS", {}),
    "PGS, damped": ("PGS", {"over_relaxation": 0.5}),  # as it is, it diverges on many of these problems
}
"""Name -> its class and what differs from its own settings."""
TOLERANCE = 1e-11
ROUNDS = 2000


def solvable(problem: Problem) -> bool:
    """Whether all rows belong to Coulomb cones of three rows."""
    return bool(len(problem.b)) and 3 * len(problem.cones.normals) == len(problem.b)


def solver(pin: Any, kind: str, problem: Problem) -> Callable[[], tuple[np.ndarray, int, float]]:
    """A call that solves from zero and returns x, iterations and microseconds within Pinocchio."""
    family, changed = KINDS[kind]
    normals = np.flatnonzero(problem.cones.rows == NORMAL)
    order = np.concatenate([(i + 1, i + 2, i) for i in normals])
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    models, data = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for i in normals:
        point = pin.PointContactConstraintModel(model, joint, pin.SE3.Identity(), 0, pin.SE3.Identity())
        point.setFriction(float(problem.cones.mu[i + 1]))
        constraint = pin.ConstraintModel(point)
        models.append(constraint)
        data.append(constraint.createData())
    delassus = pin.DelassusOperatorDense(np.ascontiguousarray(problem.A[np.ix_(order, order)]))
    settings = getattr(pin, f"{family}SolverSettings")()
    for name in ("feasibility", "complementarity"):
        setattr(settings, f"absolute_{name}_tol", TOLERANCE)
        setattr(settings, f"relative_{name}_tol", 0.0)
    settings.max_iterations = ROUNDS
    for name, value in changed.items():
        setattr(settings, name, value)
    method, b = getattr(pin, f"{family}ConstraintSolver")(len(order)), np.ascontiguousarray(problem.b[order])

    def run() -> tuple[np.ndarray, int, float]:
        result = getattr(pin, f"{family}SolverResult")()
        start = time.thread_time()
        method.solve(delassus, b, models, data, settings, result)
        us = 1e6 * (time.thread_time() - start)
        x = np.zeros(len(order))
        x[order] = np.array(result.retrieveConstraintImpulses()).reshape(-1)
        return x, int(result.iterations), us

    return run
