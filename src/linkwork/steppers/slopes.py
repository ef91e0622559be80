"""The differential equation of a step, (u, v)_dot with q = integrate(q0, u), of any model as one compiled call.

For methods that are driven from Python: where a control, events or inputs that change are part of the equation.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..elements.collection import Shape, collection
from ..kernel.call import Call
from ..kernel.sweep import SCALAR, Algorithm, Field, each, vector
from ..kernel.widths import SCALAR64
from ..model import Model
from ..model.rules import joint_of
from ..reduced.program import dynamics, fields
from ..rows.solved import ACCELERATION
from .adaptive import WATCH, WATCH_MODES, hold_pulled
from .modes import hold_modes
from .tangent import TERMS, tangent_rate


def slope(n: Any) -> None:
    """The rate of the move."""
    n.slope = tangent_rate(joint_of(n), n.shift, n.v, TERMS)


@functools.cache
def slope_program(shape: Shape) -> Algorithm:
    """The slopes of models with such laws."""
    found = fields(shape) | {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "t": Field("input", "global", SCALAR),
        "shift": Field("input", "v"),
        "baumgarte": Field("input", "global", vector(2)),
        "slope": Field("output", "v"),
        "free_v": Field("output", "v"),
    }
    hold, watch = (hold_modes, WATCH_MODES) if shape[3] else (hold_pulled, WATCH)
    steps = dynamics(shape, ACCELERATION, hold=hold, watch=watch)
    if shape[3]:
        found["step_mode"] = Field("input", "rows", of="constraint")
        found["lowest"] = Field("work", "rows", of="constraint")
    if shape[1] >= 0:
        found["unknown"] = Field("input", "unknown", of="constraint")
        found["foot"] = Field("output", "unknown", of="constraint")
    return Algorithm(f"slopes_{'_'.join(map(str, map(int, shape)))}", found, {"run": [*steps, each(slope)]})


class Slopes:
    """The equation of one model, with arrays of its own; constraints obey g_ddot = -2 b g_dot - c^2 g."""

    def __init__(self, model: Model, external: Any, baumgarte: tuple[float, float] = (0.0, 0.0)) -> None:
        self.model, self.laws, self.external, nv = model, collection(model), external, model.nv
        b, c = baumgarte
        sizes = {"q": model.nq, "v": nv, "shift": nv, "tau": nv, "t": 1}
        self._in = {name: np.zeros((1, n)) for name, n in sizes.items()}
        given = {"gravity": model.gravity, "baumgarte": np.array([2.0 * b, c * c])}
        given |= {} if external is None else {"external": np.ascontiguousarray(external, float).reshape(-1)}
        self._out = {"slope": np.zeros((1, nv)), "free_v": np.zeros((1, nv))}
        if self.laws.forces:
            self._in["u"] = self.laws.initial_inputs.reshape(1, -1).copy()
        if self.laws.rows:
            self._in["told"] = np.zeros((1, self.laws.told_count))
            self._in["unknown"], self._out["foot"] = np.zeros((2, 1, sum(c.unknowns for c in self.laws.rows)))
            if self.laws.shape[3]:
                self._in["step_mode"] = np.zeros((1, self.laws.row_count))
            self._out |= {"x": np.zeros((1, self.laws.row_count)), "left": np.zeros((1, 1))}
        absent = ("external",) if external is None else ()
        plan = self.laws.plan(slope_program(self.laws.shape), SCALAR64, ("run",), absent)
        self._call = Call(plan, self._in | given, self._out, 1)

    def begin(self, q: np.ndarray) -> None:
        """Constraints look for their unknowns from here on."""
        if self.laws.rows:
            self._in["unknown"][:] = self.laws.first_unknowns(q.reshape(1, -1))

    def keep(self) -> None:
        """Constraints look for their unknowns from where they were found last: there a good step has ended."""
        if self.laws.rows:
            self._in["unknown"][:] = self._out["foot"]

    def __call__(
        self,
        q: np.ndarray,
        u: np.ndarray | None,
        v: np.ndarray,
        t: float,
        tau: Any = None,
        inputs: Any = None,
        modes: np.ndarray | None = None,
    ) -> np.ndarray:
        """(u_dot, v_dot) at q, which the move u (nv,) of a step has reached, and at velocities v; u = 0 if None.

        modes   of all rows that only push or have a largest force (see `modes`), if they are others than at the last call
        """
        given = self._in
        given["q"][0], given["v"][0], given["t"][0] = q, v, t
        given["shift"][0] = 0.0 if u is None else u
        given["tau"][0] = 0.0 if tau is None else tau
        if inputs is not None:
            given["u"][0] = inputs
        if modes is not None:
            given["step_mode"][0] = modes
        if self.laws.told_count:
            given["told"][0] = self.laws.told_at(t)
        self._call()
        return np.concatenate([self._out["slope"][0], self._out["free_v"][0]])

    @property
    def memory(self) -> np.ndarray:
        """What it remembers from one step to the next: where constraints look for their unknowns."""
        return self._in["unknown"] if self.laws.rows else np.zeros((1, 0))

    @property
    def multipliers(self) -> np.ndarray:
        """The forces of all rows where it was last asked."""
        return self._out["x"][0].copy() if self.laws.rows else np.zeros(0)
