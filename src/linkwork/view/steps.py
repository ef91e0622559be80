"""What a stepper is like: its error over the length of the step, and its energy over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import Model, State
from ..model.kinematics import kinematics
from ..scenes.loop import four_bar
from ..scenes.pendulum import pendulum
from ..simulate import simulate
from ..steppers import ALL_STEPPERS, AdaptiveStepper
from ..store.files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..trajectory import Trajectory

TIGHT = {"stepper": "dop853", "rtol": 1e-13, "atol": 1e-14}
DURATION, COUNTS = 0.24, (6, 12, 24, 48, 96)  # s, steps
LONG, DT = 10.0, 0.01  # s
ALLOWED = 1e6  # a tolerance that every step meets
ROUNDING = 1e-12


def step_errors(stepper: str, model: Model, state: State, counts: tuple[int, ...] = COUNTS) -> np.ndarray:
    """How far poses and twists are from an accurate run after 0.24 s in so many equal steps."""
    truth = _ends(simulate(model, state, DURATION, DURATION, **TIGHT))
    return np.array([np.linalg.norm(_ends(_run(stepper, model, state, n)) - truth) for n in counts])


def step_plot(stepper: str) -> Figure:
    """Errors of a double pendulum and of a four-bar linkage over the step, and the energy of the pendulum for 10 s."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 2.7), layout="constrained")
    left, right = figure.subplots(1, 2)
    cases = {"double pendulum": pendulum(links=2), "four-bar loop": four_bar()}
    h = DURATION / np.array(COUNTS)
    for (name, case), colour in zip(cases.items(), ("C0", "C1"), strict=True):
        errors = step_errors(stepper, *case)
        left.loglog(1e3 * h, errors, "o-", color=colour, lw=1.2, ms=4, label=name)
        _slope(left, 1e3 * h, errors, ALL_STEPPERS[stepper].order)
    left.set(xlabel="step (ms)", ylabel="error after 0.24 s")
    left.set_xticks(1e3 * h, [f"{x:g}" for x in 1e3 * h], minor=False)
    left.minorticks_off()
    run = simulate(*cases["double pendulum"], LONG, DT, _method(stepper), stepper=stepper)
    e = run.energy
    right.plot(run.t, (e.total - e.total[0]) / np.ptp(e.potential), color="C0", lw=1.0)
    right.set(xlabel="time (s)", ylabel="energy error, relative")
    for ax in (left, right):
        ax.grid(alpha=0.25, lw=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    left.legend(fontsize=8, frameon=False)
    return figure


def write_step_plot(stepper: str, path: Path) -> None:
    """Write `step_plot` as a PNG."""
    with whole_file(path) as part:
        step_plot(stepper).savefig(part, format="png", dpi=100)


def _slope(ax: Axes, h: np.ndarray, errors: np.ndarray, order: int) -> None:
    """The line of a method of this order, through the middle of the errors that rounding has not reached."""
    k = min(len(h) // 2, max(0, int(np.sum(errors > ROUNDING)) - 1))
    line = errors[k] * (h / h[k]) ** order
    shown = line > 0.01 * ROUNDING
    ax.loglog(h[shown], line[shown], color="0.6", lw=0.8, ls="--", zorder=0)


def _method(stepper: str) -> str:
    return ALL_STEPPERS[stepper]().methods[0]


def _run(stepper: str, model: Model, state: State, n: int) -> Trajectory:
    """A run of n equal steps."""
    h = DURATION / n
    options: dict[str, Any] = {"stepper": stepper, "method": _method(stepper)}
    if not issubclass(ALL_STEPPERS[stepper], AdaptiveStepper):
        return simulate(model, state, DURATION, h, every=n, **options)
    options |= {"rtol": ALLOWED, "atol": ALLOWED, "max_step": h} | ({"first_step": h} if stepper == "dop853" else {})
    return simulate(model, state, DURATION, DURATION, **options)


def _ends(run: Trajectory) -> np.ndarray:
    """All entries of poses and twists at the end."""
    end = run.final
    k = kinematics(run.model, end.q, end.v) if isinstance(end, State) else end
    return np.concatenate([k.poses.ravel(), k.twists.ravel()])
