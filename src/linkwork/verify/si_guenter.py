"""The figures and the table of Si & Guenter, Linear-Time Dynamics for Multibody Systems with General Joint Models (2010)."""

from __future__ import annotations

import numpy as np

from .. import Model, State, Trajectory, mass_matrix, simulate, tree_dynamics, tree_inverse_dynamics
from ..bench.models import random_states
from ..bench.table1 import PUBLISHED, SCENES, model_of, native
from ..reduced import methods  # noqa: F401  Model.compile
from ..scenes import ALL_SCENES
from .clock import best_ms
from .item import Family, Outcome
from .pictures import curves, moments

SI_GUENTER = Family(
    "si_guenter",
    "Si & Guenter 2010: general joints",
    "Four figures and Table 1. A figure is reproduced where accelerations by recursion are those of dense matrices and "
    "the run keeps its "
    "energy; how its bodies are shaped, the paper does not say.",
)
DOFS = {"RC20": 20, "RC50": 50, "RC100": 100, "TC10": 38, "TC20": 78, "WM": 73}


def run_of(scene: str, **options: int) -> Trajectory:
    """One second of a scene, exactly."""
    model, start = ALL_SCENES[scene].build(**options)
    return simulate(model, start, 1.0, 0.05, stepper="dop853", rtol=1e-9, atol=1e-10)


def recursion_error(model: Model, at: State) -> float:
    """Accelerations of the tree by recursion beside those by the dense mass matrix."""
    dense = np.linalg.solve(mass_matrix(model, at.q), -tree_inverse_dynamics(model, at.q, at.v, np.zeros(model.nv)))
    return float(np.abs(tree_dynamics(model, at.q, at.v) - dense).max() / np.abs(dense).max())


def scene_outcome(run: Trajectory, plane: str, count: str) -> Outcome:
    """The larger of both errors."""
    change = float(np.ptp(run.energy.total) / max(run.energy.kinetic.max(), 1e-300))
    end = run.final
    assert isinstance(end, State)
    error = recursion_error(run.model, end)
    note = f"{count}; recursion beside matrices {error:.0e}, energy over 1 s {change:.0e}"
    return Outcome(max(change, error), 1e-7, note, moments(run, plane, 5))


@SI_GUENTER.item("fig1", "A chain of 20 tori on surface-surface joints", "Figure 1; scene torus_chain")
def fig1(quick: bool) -> Outcome:
    run = run_of("torus_chain", links=4 if quick else 20)
    return scene_outcome(run, "xz", f"{run.model.nb} tori, {run.model.nv} freedoms")


@SI_GUENTER.item("fig2", "A windmill of spheres, ellipsoids and tori on all five pairs of the paper", "Figure 2; scene windmill")
def fig2(quick: bool) -> Outcome:
    run = run_of("windmill")
    return scene_outcome(run, "xz", f"{run.model.nb} bodies, {run.model.nv} freedoms")


@SI_GUENTER.item("fig3", "A chain of tori that slides on a Bezier curve of seven points", "Figure 3; scene tori_on_spline")
def fig3(quick: bool) -> Outcome:
    run = run_of("tori_on_spline", links=3 if quick else 6)
    return scene_outcome(run, "xz", f"{run.model.nb} tori, {run.model.nv} freedoms")


@SI_GUENTER.item("fig4", "A board that slides on a Bezier surface of 25 points, tangent to it", "Figure 4; scene board")
def fig4(quick: bool) -> Outcome:
    run = run_of("board")
    return scene_outcome(run, "xz", f"{run.model.nb} bodies, {run.model.nv} freedoms")


def state_us(name: str) -> float:
    """Microseconds of forward dynamics of a model of the table, one state at a time in a compiled loop."""
    model = model_of(name)
    assert model.nv == DOFS[name]
    return 1e3 * best_ms(native(model.compile("classes"), random_states(model, 64))) / 64


@SI_GUENTER.item(
    "table1",
    "Forward dynamics of RC20, RC50, RC100, TC10, TC20 and WM: the largest ratio of the time of a state to that of Method I",
    "Table 1 (2.67 GHz Core 2 Quad); linkwork bench table1",
)
def table1(quick: bool) -> Outcome:
    names = ("RC20", "TC10") if quick else tuple(SCENES)
    ours = [state_us(name) for name in names]
    printed = [PUBLISHED[name][0] for name in names]
    ratios = [a / b for a, b in zip(ours, printed, strict=True)]
    text = ", ".join(f"{name} {us:.2f}" for name, us in zip(names, ours, strict=True))
    picture = curves({"linkwork": (names, ours), "Method I, printed": (names, printed)}, "model", "us", log="y")
    return Outcome(max(ratios), 1.0, f"us, one state at a time in a compiled loop: {text}", picture)
