"""Derivatives of forward and inverse dynamics, beside Pinocchio's: one state from Python, batches; and how well they agree.

Before anything is timed, derivatives are compared with the same recursions on dual numbers, with central differences and with
Pinocchio's.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from ..errors import LinkworkError
from ..forces import PDController
from ..kernel.directional import directional
from ..kernel.widths import SCALAR64
from ..model import Model, State
from ..reduced import inverse_dynamics_derivatives, linearised_dynamics
from ..reduced.derivatives import FORWARD_RESULTS, INVERSE_RESULTS, columns, square_function
from ..reduced.dof_tree import dof_plans
from ..reduced.forward import FORWARD_DYNAMICS
from ..reduced.forward_derivatives import FORWARD_DERIVATIVES
from ..reduced.inverse import INVERSE_DYNAMICS
from ..reduced.inverse_derivatives import INVERSE_DERIVATIVES
from . import backwards, humanoid_step, models, peers
from .quantities import States
from .report import OURS, Progress, Ratios, missing, publish, require_known, rows_of
from .timing import FULL, QUICK, Contender, measure

BOUNDS = {"central differences": 1e-6, "dual numbers": 1e-10, "pinocchio": 1e-9}
STEP = 1e-5
DRIVEN = "derivatives_under_drives"  # on all joints
NUMBERS = 2**16  # in a batch of one matrix: all three stay in the cache
SPEED: Ratios = {
    "batch64": (("pinocchio", "single", 1), (OURS, "batch64", 1)),
    "single": (("pinocchio", "single", 1), (OURS, "single", 1)),
}
NOTE = (
    "pinocchio has no batch of derivatives: both columns compare with one state from Python. Both return all three matrices, "
    "dq, dv and da or dtau; sizes in flops count rules and pairs of degrees of freedom, a fused multiply-add is two; "
    "steps_backwards is the gradient of a run, a step"
)


@dataclass(frozen=True)
class Quantity:
    """A function that returns derivatives, and where they are in Pinocchio's data."""

    name: str
    function: Callable[..., Any]
    result: str
    given: str
    theirs: str
    data: tuple[str, str, str]

    def ours(self, model: Model, states: States) -> list[np.ndarray]:
        """The three matrices (batch, nv, nv)."""
        return list(self.function(model, states["q"], states["v"], states[self.given]))[-3:]


QUANTITIES = (
    Quantity(
        "forward_dynamics_derivatives", linearised_dynamics, "a", "tau", "computeABADerivatives", ("ddq_dq", "ddq_dv", "Minv")
    ),
    Quantity(
        "inverse_dynamics_derivatives",
        inverse_dynamics_derivatives,
        "tau",
        "a",
        "computeRNEADerivatives",
        ("dtau_dq", "dtau_dv", "M"),
    ),
)
CASES: dict[str, Callable[[], Model]] = {
    "panda": lambda: models.robot("panda"),
    "solo12": lambda: models.robot("solo12"),
    "talos": lambda: models.robot("talos"),
    "chain10": lambda: models.chain(10),
    "chain100": lambda: models.chain(100),
}
SMALL = ("panda", "chain10", "chain100")  # in quick runs


# --- agreement ---------------------------------------------------------------------------------------------------------------
def by_duals(quantity: Quantity, model: Model, states: States) -> list[np.ndarray]:
    """With respect to q and v, by the same recursions on dual numbers."""
    algorithm = directional(FORWARD_DYNAMICS if quantity.result == "a" else INVERSE_DYNAMICS)
    given = {
        "q": states["q"],
        "v": states["v"],
        quantity.given: states[quantity.given],
        "external": None,
        "gravity": model.gravity,
    }

    def call(inputs: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, np.ndarray]:
        return model.call(algorithm, inputs, 1, wanted)

    found = columns(call, model, given, ("q", "v"), (quantity.result,))[quantity.result]
    return [found[:, 0], found[:, 1]]


def by_differences(quantity: Quantity, model: Model, states: States) -> list[np.ndarray]:
    """With respect to q and v, by central differences of fourth order."""
    algorithm = FORWARD_DYNAMICS if quantity.result == "a" else INVERSE_DYNAMICS
    out = []
    for kind in ("q", "v"):
        total = 0.0
        for far, weight in ((1, 8), (2, -1)):
            for sign in (1, -1):
                q, v, x = (np.repeat(states[name], model.nv, axis=0) for name in ("q", "v", quantity.given))
                moved = np.tile(sign * far * STEP * np.eye(model.nv), (len(states["q"]), 1))
                q, v = (model.integrate(q, moved), v) if kind == "q" else (q, v + moved)
                given = {"q": q, "v": v, quantity.given: x, "external": None, "gravity": model.gravity}
                total = total + sign * weight * model.call(algorithm, given)[quantity.result]
        out.append(np.reshape(total / (12 * STEP), (-1, model.nv, model.nv)).swapaxes(-1, -2))
    return out


def by_pinocchio(quantity: Quantity, peer: peers.Pinocchio, states: States) -> list[np.ndarray]:
    """All three, in our order of velocities."""
    pin: Any = importlib.import_module("pinocchio")
    data, theirs = peer.model.createData(), peer.layout(states)
    back, out = np.argsort(peer.velocity_order), []
    for inputs in zip(*(theirs[name] for name in ("q", "v", quantity.given)), strict=True):
        getattr(pin, quantity.theirs)(peer.model, data, *inputs)
        found = [np.array(getattr(data, name)) for name in quantity.data]
        found[2] = np.triu(found[2]) + np.triu(found[2], 1).T
        out.append([x[np.ix_(back, back)] for x in found])
    return [np.array(x) for x in zip(*out, strict=True)]


def disagreement(ours: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> float:
    """The largest difference, relative to the largest number of each matrix."""
    pairs = zip(ours, others, strict=False)
    return max(float(np.abs(x - y).max() / max(1.0, np.abs(y).max())) for x, y in pairs)


def agreement(name: str, model: Model, peer: peers.Pinocchio | None, out: Table) -> None:
    """Compare with all that is at hand; raise where it is not the same."""
    states = models.random_states(model, 3, seed=11)
    for quantity in QUANTITIES:
        ours = quantity.ours(model, states)
        found = {
            "central differences": disagreement(ours, by_differences(quantity, model, states)),
            "dual numbers": disagreement(ours, by_duals(quantity, model, states)),
        }
        if peer is not None:
            found["pinocchio"] = disagreement(ours, by_pinocchio(quantity, peer, states))
        for other, error in found.items():
            if not error <= BOUNDS[other]:
                raise LinkworkError(f"{quantity.name} of {name} and {other} differ by {error:.2g}, more than {BOUNDS[other]:g}")
        out.add_row(name, quantity.name, *(f"{found[k]:.1e}" if k in found else "-" for k in BOUNDS))


# --- time --------------------------------------------------------------------------------------------------------------------
def contenders(name: str, model: Model, peer: peers.Pinocchio | None) -> Iterator[Contender]:
    """Both quantities, ours and Pinocchio's."""
    batch = int(np.clip(NUMBERS // model.nv**2 // 16 * 16, 16, 1024))
    states = models.random_states(model, batch)
    for quantity in QUANTITIES:
        inputs = [states[key] for key in ("q", "v", quantity.given)]
        one = [x[0].copy() for x in inputs]
        yield Contender(name, quantity.name, OURS, "batch64", 1, partial(quantity.function, model, *inputs), batch)
        yield Contender(name, quantity.name, OURS, "single", 1, partial(quantity.function, model, *one), 1)
        if peer is not None:
            pin: Any = importlib.import_module("pinocchio")
            theirs = [peer.layout(states)[key][0].copy() for key in ("q", "v", quantity.given)]
            call = partial(getattr(pin, quantity.theirs), peer.model, peer.model.createData(), *theirs)
            yield Contender(name, quantity.name, "pinocchio", "single", 1, call, 1)
    if all(b.joint.nv == 1 for b in model.bodies if b.joint.nv):
        drives = model.add(*(PDController(b.name, 100.0, 5.0, target=[0.0]) for b in model.bodies if b.joint.nv))
        inputs = [states[key] for key in ("q", "v", "tau")]
        one = [x[0].copy() for x in inputs]
        yield Contender(name, DRIVEN, OURS, "batch64", 1, partial(linearised_dynamics, drives, *inputs), batch)
        yield Contender(name, DRIVEN, OURS, "single", 1, partial(linearised_dynamics, drives, *one), 1)


def _pinocchio_on(model: Model) -> Contender:
    """Its derivatives of the bare tree, beside those of a step."""
    pin: Any = importlib.import_module("pinocchio")
    peer, states = peers.Pinocchio(model), models.random_states(model, 1)
    theirs = [peer.layout(states)[key][0].copy() for key in ("q", "v", "tau")]
    call = partial(pin.computeABADerivatives, peer.model, peer.model.createData(), *theirs)
    return Contender(humanoid_step.CASE, humanoid_step.QUANTITIES["off"], "pinocchio", "single", 1, call, 1)


def flops(model: Model) -> dict[str, int]:
    """Sums and products per state: of rules, and of pairs as `inverse_pairs`, `answers` and `descents` have them."""
    tables, nv = dof_plans(model).tree.tables, model.nv
    before, end, count, forks = (tables[f"dof_{name}"].astype(int) for name in ("before", "end", "count", "forks"))
    carries = int(sum(end - np.arange(nv) - 1))
    pairs = carries - sum(c * (c - 1) // 2 for c in count.tolist())  # of different joints
    cross = climbs = 0
    for i in range(nv):
        child, a = i, int(before[i])
        while forks[i] >= 0 and a >= forks[i]:
            branches = (child - a - 1) + (end[a] - end[child])
            cross, climbs = cross + int(branches), climbs + 24 + 72 * bool(branches)
            child, a = a, int(before[a])
    forward = square_function(model, FORWARD_DERIVATIVES, ("q", "v", "tau"), FORWARD_RESULTS).plan(SCALAR64).flops
    inverse = square_function(model, INVERSE_DERIVATIVES, ("q", "v", "a"), INVERSE_RESULTS).plan(SCALAR64).flops
    return {
        "forward_dynamics_derivatives": forward + 48 * (carries + cross) + 60 * pairs + climbs,
        "inverse_dynamics_derivatives": inverse + 72 * pairs,
    }


def ready(model: Model) -> float:
    """Seconds until the first derivatives of a model: what its kernels take to load or compile."""
    begin, state = time.perf_counter(), models.random_states(model, 1)
    linearised_dynamics(model, state["q"][0], state["v"][0], state["tau"][0])
    return time.perf_counter() - begin


def run(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Compare and time the cases, and publish the rows."""
    require_known(cases, (*CASES, humanoid_step.CASE))
    rows: list[dict[str, Any]] = []
    notes, work = [NOTE], {}
    table = Table(title="derivatives: largest differences, relative to the largest number of a matrix")
    for column in ("case", "quantity", *BOUNDS):
        table.add_column(column)
    chosen = list(cases or (SMALL if quick else (*CASES, humanoid_step.CASE)))
    if models.robots_folder() is None:
        lost = [name for name in chosen if name in (*models.ROBOTS, humanoid_step.CASE)]
        chosen = [name for name in chosen if name not in lost]
        notes += [missing(models.ROBOTS_PACKAGE, f"no {', '.join(lost)}")] if lost else []
    if peers.module("pinocchio") is None:
        notes.append(missing("pin"))
    progress = Progress()
    for name in [name for name in chosen if name == humanoid_step.CASE]:
        with progress.line(name):
            progress.say("building and comparing")
            group, found = humanoid_step.contenders(_pinocchio_on)
            notes += found
            progress.say("measuring")
            rows += rows_of(group, measure(group, QUICK if quick else FULL))
    for name in [name for name in chosen if name in CASES]:
        with progress.line(name):
            progress.say("building")
            model = CASES[name]()
            notes.append(f"{name}: ready for derivatives in {ready(model):.2f} s, from the cache if it was there")
            peer = peers.Pinocchio(model) if peers.module("pinocchio") is not None else None
            progress.say("comparing")
            agreement(name, model, peer, table)
            work |= {(name, quantity): n for quantity, n in flops(model).items()}
            group = list(contenders(name, model, peer))
            begin = models.random_states(model, 1)
            group += backwards.contenders(name, model, State(q=begin["q"][0], v=begin["v"][0]))
            progress.say(f"measuring {len(group)} functions")
            rows += rows_of(group, measure(group, QUICK if quick else FULL))
    return publish("derivatives", rows, json, notes, work, SPEED, tables=[table])
