"""Rows of constraints outside programs: everything derived at given poses, twists, coordinates and velocities."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..errors import SolverError
from ..joints import Joint
from ..kernel.sweep import Field
from ..model.state import Rows
from ..spatial.scalar import array, zeros
from .derive import derive, nearer
from .evaluate import Evaluation, of_laws, port_size
from .law import RowLaw, guessed_unknowns
from .nodes import STILL, LawNodes, law_at
from .ports import values
from .telling import Telling

RESULTS = ("residual", "rate", "bias", "given")
ITERATIONS = 40
SHORT = 1e-7  # of the unknowns: after a step as short as this, the next is of the order of rounding, and the last


def constrain(n: Any, *ports: Any) -> None:
    """Residual, rate, bias and rows of one constraint."""
    law, at = law_at(n, ports)
    found = derive(law.with_inputs(n.told), at, n.t, n.unknown)
    n.residual, n.rate, n.bias, n.given = found.residual, found.rate, found.bias, found.given
    n.G = found.G.reshape(-1)


def measure(n: Any, *ports: Any) -> None:
    """The residual of one constraint, and nothing else."""
    law, at = law_at(n, ports)
    law = law.with_inputs(n.told)
    seen = law.holonomic and "residual" not in law.unseen
    n.residual = array(list(law.gap_of(values(at), n.t, n.unknown))) if seen else zeros(law.size)


def approach_unknowns(n: Any, *ports: Any) -> None:
    """The unknowns of one constraint after a step of Newton's method."""
    law, at = law_at(n, ports)
    n.better = nearer(law.with_inputs(n.told), values(at), n.t, n.unknown)


def row_fields() -> dict[str, Field]:
    given, out = of_laws("input", unknown="unknown", told="told"), of_laws("output", **dict.fromkeys(RESULTS, "rows"), G="G")
    return given | out


def residual_fields() -> dict[str, Field]:
    return of_laws("input", unknown="unknown", told="told") | of_laws("output", residual="rows")


def unknown_fields() -> dict[str, Field]:
    return of_laws("input", unknown="unknown", told="told") | of_laws("output", better="unknown")


class LawRows(Evaluation):
    """Constraints of a model, in their order."""

    def __init__(self, nodes: LawNodes) -> None:
        self.laws: list[RowLaw] = nodes.laws
        widths = [sum(map(port_size, kinds)) for kinds in nodes.kinds]
        pairs = zip(self.laws, widths, strict=True)
        sizes = [{"rows": c.size, "G": c.size * width, "unknown": c.unknowns, "told": c.inputs} for c, width in pairs]
        super().__init__(nodes, sizes)

    @cached_property
    def _telling(self) -> Telling:
        return Telling(self.laws, self.nodes.bodies)

    def told(self, t: Any, poses: np.ndarray | None = None) -> np.ndarray:
        """The inputs of all constraints at a time, or at each of some times (times, inputs), with bodies at some poses."""
        if np.ndim(t) and any(law.inputs for law in self.laws):
            return np.array([self.told(float(x), None if poses is None else poses[k]) for k, x in enumerate(t)])
        return self._telling(t, poses)

    def residuals(self, given: dict[str, np.ndarray]) -> np.ndarray:
        """The residuals (states, rows) of a batch, see `inputs`."""
        return self.run(self.algorithm(measure, residual_fields), ("residual",), given, given["q"].shape[:1])["residual"]


class RowEvaluation(LawRows):
    """Their rows at one state."""

    def __init__(self, nodes: LawNodes) -> None:
        super().__init__(nodes)
        self.count = sum(law.size for law in self.laws)
        own = [law for law in self.laws if law.unknowns]
        self.unknowns = Unknowns(LawNodes(nodes.model, own)) if own else None
        self._find_blocks()

    def _find_blocks(self) -> None:
        at, row, model = 0, 0, self.nodes.model
        starts = model.tree.offsets("v")
        bodies: list[tuple[int, int, int]] = []
        joints: list[tuple[int, int, int]] = []
        for law, ports, kinds in zip(self.laws, self.nodes.bodies, self.nodes.kinds, strict=True):
            for r in range(row, row + law.size):
                for body, kind in zip(ports, kinds, strict=True):
                    if isinstance(kind, Joint):
                        joints += [(r, int(starts[body]) + k, at + k) for k in range(kind.nv)]
                    elif kind != STILL:
                        bodies.append((r, body, at))
                    at += port_size(kind)
            row += law.size
        self._body, self._joint = (np.array(x, int).reshape(-1, 3).T for x in (bodies, joints))
        self._body_entries = self._body[2][:, None] + np.arange(6)

    def inputs(self, poses: np.ndarray, twists: np.ndarray, q: np.ndarray, v: np.ndarray, t: Any) -> dict[str, np.ndarray]:
        """What the rows are functions of, with the unknowns solved; of one state, or of many (states, ...) at times (states,)."""
        lead = np.shape(t)
        given = {
            "pose": np.reshape(poses, (*lead, -1)),
            "twist": np.reshape(twists, (*lead, -1)),
            "q": np.asarray(q, float),
            "v": np.asarray(v, float),
            "t": np.reshape(np.asarray(t, float), (*lead, 1)),
            "told": self.told(t, np.reshape(poses, (*lead, -1, 4, 4))),
        }
        unknown = np.zeros(0) if self.unknowns is None else self.unknowns.solved(given, t)
        return given | {"unknown": unknown}

    def look(self, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Residual, rate, bias and what is given (states, rows), of many states at once."""
        return self.run(self.algorithm(constrain, row_fields), RESULTS, given, given["t"].shape[:-1])

    def at(self, given: dict[str, np.ndarray]) -> tuple[Rows, dict[str, np.ndarray]]:
        """G, and by name residual, rate, bias and what is given (rows,)."""
        out = self.run(self.algorithm(constrain, row_fields), (*RESULTS, "G"), given)
        G = out.pop("G")
        row, body, _ = self._body
        joint_row, joint, place = self._joint
        return Rows(self.count, row, body, G[self._body_entries], joint_row, joint, G[place]), out

    def blocks(self, given: dict[str, np.ndarray]) -> list[np.ndarray]:
        """Of every constraint its rows (states, size, velocities of all ports) in a batch, see `inputs`."""
        lead = given["q"].shape[:1]
        G = self.run(self.algorithm(constrain, row_fields), (*RESULTS, "G"), given, lead)["G"]
        widths = [sum(map(port_size, kinds)) for kinds in self.nodes.kinds]
        cuts = np.cumsum([c.size * width for c, width in zip(self.laws, widths, strict=True)])[:-1]
        return [x.reshape(*lead, c.size, -1) for c, x in zip(self.laws, np.split(G, cuts, axis=1), strict=True)]


class Unknowns(LawRows):
    """The unknowns of constraints that have any: where a point is nearest to a curve. Newton's method, to rounding."""

    def solved(self, given: dict[str, np.ndarray], t: Any, first: np.ndarray | None = None) -> np.ndarray:
        """The unknowns of all, one after the other: at one time, or (times, unknowns).

        first   where Newton's method begins; each law's own guess if it is not said
        """
        lead = np.shape(t)
        unknown = self.guessed(given, lead) if first is None else first
        algorithm, given = self.algorithm(approach_unknowns, unknown_fields), given | {"told": self.told(t)}
        far, ends = np.ones(len(self.laws), dtype=bool), np.cumsum([law.unknowns for law in self.laws])[:-1]
        for _ in range(ITERATIONS):
            before, unknown = unknown, self.run(algorithm, ("better",), given | {"unknown": unknown}, lead)["better"]
            if not np.all(np.isfinite(unknown)):
                far = np.array([not np.all(np.isfinite(x)) for x in np.split(unknown, ends, axis=-1)])
                break
            if not far.any():
                return unknown
            steps = np.abs(unknown - before) / (1.0 + np.abs(unknown).max(axis=-1, keepdims=True))
            far = np.array([step.max() > SHORT for step in np.split(steps, ends, axis=-1)])
        raise SolverError(
            f"{self.laws[int(np.argmax(far))]!r}: its nearest points were not found; start closer to where it holds, where "
            "curvatures leave one nearest point"
        )

    def guessed(self, given: dict[str, np.ndarray], lead: tuple[int, ...]) -> np.ndarray:
        """Where Newton's method begins at given poses, (..., unknowns)."""
        return guessed_unknowns(self.laws, self.nodes.bodies, given["pose"].reshape(*lead, -1, 4, 4))
