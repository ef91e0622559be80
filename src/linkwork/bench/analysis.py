"""Quantities of analysis beside Pinocchio's functions of the same meaning: batches, and one state from Python.

Centroidal momentum matrix, Jacobians of the centre of mass and of a frame, Coriolis matrix, regressor. Both engines get the same
states; that they give the same answers is checked first.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import LinkworkError
from ..interop.pinocchio import build, converter
from ..lagrange import (
    centroidal_momentum_matrix,
    com_jacobian,
    coriolis_matrix,
    frame_jacobian,
    regressor,
    regressor_blocks,
    regressor_pairs,
)
from ..lagrange.frames import prepared_frame_jacobian
from ..model.model import Model
from . import models, peers
from .report import PINOCCHIO_RATIOS, Progress, missing, publish, require_known, rows_of
from .timing import FULL, QUICK, Contender, measure

CASES = ("panda", "solo12", "anymal", "talos")
QUICK_CASES = ("panda", "solo12")
STATES, NUMBERS = 1024, 2**19  # in a batch: states, and numbers of a result, 4 MB
AGREEMENT = 1e-9
FRAME = "linkwork_tip"
NOTES = (
    "pinocchio has no functions for batches of these: its batch64 is a loop of calls in Python, with the cost of the calls, that "
    "keeps no result; linkwork's batch64 returns all of them",
    "a dense regressor is mostly zeros, and writing them takes much of its time; regressor_blocks are the others",
    "frame_jacobian is that of the last body in world axes about its origin (LOCAL_WORLD_ALIGNED)",
    f"states in a batch: {STATES}, or as many as have {NUMBERS:,} numbers in the result",
)


@dataclass(frozen=True, eq=False)
class Quantity:
    """A function of some of q, v and a, here and in Pinocchio; `ours` makes a result of theirs look like ours."""

    name: str
    inputs: str
    here: Callable[..., np.ndarray]
    there: Callable[..., np.ndarray]
    ours: Callable[[np.ndarray], np.ndarray]
    prepared: Callable[..., np.ndarray] | None = None


def quantities(model: Model, peer: Any, data: Any) -> list[Quantity]:
    """All five, of a model and the same in Pinocchio."""
    pin: Any = importlib.import_module("pinocchio")
    to = converter(model, peer)
    columns = to.to_v(model.neutral(), np.arange(model.nv)).astype(int)  # ours, in their order
    back = np.argsort(columns)
    tip, frame = model.bodies[-1].name, peer.getFrameId(FRAME)
    aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    blocks = np.concatenate([10 * k + np.array([0, 1, 2, 3, 4, 5, 7, 6, 8, 9]) for k in range(model.nb)])

    pairs = regressor_pairs(model)

    def twisted(A: np.ndarray) -> np.ndarray:
        return np.roll(A[:, back], 3, axis=0)

    return [
        Quantity(
            "centroidal_momentum_matrix",
            "q",
            partial(centroidal_momentum_matrix, model),
            partial(pin.computeCentroidalMap, peer, data),
            twisted,
        ),
        Quantity(
            "com_jacobian",
            "q",
            partial(com_jacobian, model),
            lambda q: pin.jacobianCenterOfMass(peer, data, q, False),
            lambda J: J[:, back],
        ),
        Quantity(
            "frame_jacobian",
            "q",
            lambda q: frame_jacobian(model, q, tip),
            lambda q: pin.computeFrameJacobian(peer, data, q, frame, aligned),
            twisted,
            prepared_frame_jacobian(model, tip),
        ),
        Quantity(
            "coriolis_matrix",
            "qv",
            partial(coriolis_matrix, model),
            partial(pin.computeCoriolisMatrix, peer, data),
            lambda C: C[np.ix_(back, back)],
        ),
        Quantity(
            "regressor",
            "qva",
            partial(regressor, model),
            partial(pin.computeJointTorqueRegressor, peer, data),
            lambda Y: Y[back][:, blocks],
        ),
        Quantity(
            "regressor_blocks",
            "qva",
            partial(regressor_blocks, model),
            partial(pin.computeJointTorqueRegressor, peer, data),
            lambda Y: Y[back][:, blocks].reshape(model.nv, model.nb, 10)[pairs],
        ),
    ]


def _each(function: Callable[..., Any], rows: list[tuple[np.ndarray, ...]]) -> None:
    for row in rows:
        function(*row)


def contenders(name: str) -> list[Contender]:
    """All that is timed for a robot."""
    pin: Any = importlib.import_module("pinocchio")
    model = models.robot(name)
    peer = build(model, allow=("all",))
    peer.addFrame(pin.Frame(FRAME, peer.njoints - 1, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    data, to = peer.createData(), converter(model, peer)
    states = models.random_states(model, STATES)
    theirs = peers.written(to, states)
    out = []
    for x in quantities(model, peer, data):
        ours, other = ([s[k] for k in x.inputs] for s in (states, theirs))
        one, their_one = ([np.array(a[0]) for a in given] for given in (ours, other))
        _require_agreement(name, x, one, their_one)
        count = min(STATES, NUMBERS // x.here(*one).size // 16 * 16)
        rows = list(zip(*(a[:count] for a in other), strict=True))
        many = [np.ascontiguousarray(a[:count]) for a in ours]
        out += [
            Contender(name, x.name, "linkwork", "batch64", 1, partial(x.here, *many), count),
            Contender(name, x.name, "linkwork", "single", 1, partial(x.here, *one), 1),
            Contender(name, x.name, "pinocchio", "batch64", 1, partial(_each, x.there, rows), count),
            Contender(name, x.name, "pinocchio", "single", 1, partial(x.there, *their_one), 1),
        ]
        if x.prepared is not None:
            out.append(Contender(name, x.name, "linkwork", "prepared", 1, partial(x.prepared, *one), 1))
    return out


def _require_agreement(name: str, x: Quantity, one: list[np.ndarray], their_one: list[np.ndarray]) -> None:
    """Raise unless both engines compute the same."""
    ours, theirs = x.here(*one), x.ours(np.array(x.there(*their_one)))
    error = np.abs(ours - theirs).max() / max(1.0, np.abs(ours).max())
    if not error <= AGREEMENT:
        raise LinkworkError(
            f"{name}: {x.name} of Pinocchio and linkwork differ by {error:.2g} (relative), more than {AGREEMENT:g}"
        )


def run(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Time the cases and publish the rows."""
    require_known(cases, CASES)
    if peers.module("pinocchio") is None or models.robots_folder() is None:
        return publish("analysis", [], json, [missing("pinocchio and example-robot-data", "nothing is measured")])
    rows: list[dict[str, Any]] = []
    progress = Progress()
    for name in dict.fromkeys(cases or (QUICK_CASES if quick else CASES)):
        with progress.line(name):
            progress.say("building")
            group = contenders(name)
            progress.say(f"measuring {len(group)} functions")
            rows += rows_of(group, measure(group, QUICK if quick else FULL))
    ratios = {k: PINOCCHIO_RATIOS[k] for k in ("batch64", "single", "prepared")}
    return publish("analysis", rows, json, NOTES, None, ratios)
