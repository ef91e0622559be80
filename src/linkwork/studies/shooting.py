"""Multiple shooting: a recorded motion, cut into windows that are simulated side by side, with exact derivatives.

The ends of windows must meet the starts of the next. These conditions, linearised, give the later starts in terms of the
first and of the fitted numbers p, so what is left is a small least-squares problem in (first state, p): the condensing of Bock &
Plitt.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, SolverError
from ..model import Model, State
from ..simulate import chosen_stepper
from ..spatial.gate import given_positive
from ..step_derivatives import METHOD, acting_model, step_derivatives, step_parameter_derivatives
from ..steppers.varied import packs, varied_runs
from .recorded import Recorded
from .unknowns import Unknowns

RECORDS = 20  # of a window, about


class Shots:
    """One recording, cut into windows that are simulated side by side."""

    def __init__(
        self,
        model: Model,
        unknowns: Unknowns,
        motion: Recorded,
        dt: float,
        start: State | None,
        windows: int | None,
        stepper: str,
        options: dict[str, Any],
    ) -> None:
        if not isinstance(motion, Recorded):
            raise InputError(f"motion must be lw.Recorded, not {type(motion).__name__}")
        motion.check(model)
        if not packs(model, chosen_stepper(model, METHOD, stepper, {}), METHOD):
            raise InputError(f"motion is fitted with symplectic_euler or rk4, not {stepper!r}; laws with own unknowns cannot be")
        self.motion, self.unknowns, self.dt, self.stepper, self.options = motion, unknowns, dt, stepper, options
        self.steps = round(motion.spacing / given_positive("fit: dt", dt))
        if self.steps < 1 or abs(self.steps * dt - motion.spacing) > 1e-6 * motion.spacing:
            raise InputError(f"the spacing {motion.spacing:g} of the records is not a whole number of steps dt = {dt:g}")
        pieces = len(motion.t) - 1
        count = max(1, round(pieces / RECORDS)) if windows is None else windows
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= pieces:
            raise InputError(f"windows must be from 1 to {pieces}, the pieces between records, not {windows!r}")
        edges = np.round(np.linspace(0, pieces, count + 1)).astype(int)
        self.firsts, self.lengths = edges[:-1], np.diff(edges)
        self.starts = self._guess(model, start)

    def _guess(self, model: Model, start: State | None) -> State:
        """Where the windows start, as far as that was recorded."""
        own = State(model.neutral(), np.zeros(model.nv)) if start is None else start
        q, v = (np.array(np.broadcast_to(getattr(own, n), (len(self.firsts), getattr(own, n).shape[-1]))) for n in ("q", "v"))
        m = self.motion
        if m.q is not None:
            there = np.isfinite(m.q[self.firsts]).all(axis=-1)
            q[there] = m.q[self.firsts][there]
            if m.v is None:
                known = np.isfinite(m.q).all(axis=-1)
                following = np.minimum(self.firsts + 1, len(m.t) - 1)
                both = known[self.firsts] & known[following]
                v[both] = model.difference(m.q[self.firsts[both]], m.q[following[both]]) / m.spacing
        if m.v is not None:
            there = np.isfinite(m.v[self.firsts])
            v[there] = m.v[self.firsts][there]
        if start is not None:
            q[0], v[0] = np.asarray(start.q, float), np.asarray(start.v, float)
        return State(q, v, float(m.t[0]))

    def _given(self, at: np.ndarray) -> dict[str, Any]:
        m = self.motion
        return {name: x[at] for name, x in (("tau", m.tau), ("external", m.external), ("inputs", m.inputs)) if x is not None}

    def run(self, model: Model, starts: State) -> tuple[np.ndarray, np.ndarray]:
        """States at all records of all windows, (windows, 1 + longest, size); those after the end of a window are its end."""
        longest, batch = int(self.lengths.max()), len(self.firsts)
        q, v = (np.empty((batch, longest + 1, x.shape[-1])) for x in (starts.q, starts.v))
        q[:, 0], v[:, 0] = starts.q, starts.v
        for j in range(longest):
            on = np.flatnonzero(self.lengths > j)
            q[:, j + 1], v[:, j + 1] = q[:, j], v[:, j]
            done = self._step(model, State(q[on, j], v[on, j]), self._given(self.firsts[on] + j))
            q[on, j + 1], v[on, j + 1] = done
        return q, v

    def _step(self, model: Model, state: State, given: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """From records to the next ones."""
        own = dict(self.options)
        limit_model, contact = own.pop("limit_model", "hard"), own.pop("contact", "exact")
        acting = acting_model(model, self.dt, self.stepper, limit_model, contact, own)
        runs = varied_runs(acting, chosen_stepper(acting, METHOD, self.stepper, own), {})
        held = {"u" if name == "inputs" else name: x.reshape(len(x), -1) for name, x in given.items()}
        found = runs.run(state, held, self.dt, 1, self.steps)
        return found.q[:, -1], found.v[:, -1]

    def slopes(self, model: Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of every piece: A (windows, longest, 2 nv, 2 nv) and P (windows, longest, 2 nv, names)."""
        longest = int(self.lengths.max())
        window, piece = np.nonzero(np.arange(longest) < self.lengths[:, None])
        state = State(q[window, piece], v[window, piece])
        given = self._given(self.firsts[window] + piece)
        own = {"stepper": self.stepper, "steps": self.steps, **self.options}
        A = step_derivatives(model, state, self.dt, **given, **own).A
        P = step_parameter_derivatives(model, state, self.dt, self.unknowns.asked, **given, **own)
        shape = (len(self.firsts), longest)
        out_A = np.tile(np.eye(A.shape[-1]), (*shape, 1, 1))
        out_P = np.zeros((*shape, A.shape[-1], len(self.unknowns.names)))
        out_A[window, piece], out_P[window, piece] = A, self.unknowns.chained(model, P)
        return out_A, out_P

    # --- one round --------------------------------------------------------------------------------------------------------------
    def evaluated(self, model: Model, starts: State) -> tuple[np.ndarray, np.ndarray, Any]:
        """Residuals (T, rows), gaps between windows (windows - 1, 2 nv), and the states."""
        q, v = self.run(model, starts)
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            raise SolverError("the motion is not finite with these numbers")
        window, piece = self._records()
        r, s = self.motion.residuals(model, self.firsts[window] + piece, State(q[window, piece], v[window, piece]))
        ends = np.arange(len(self.firsts)), self.lengths
        last = State(q[ends], v[ends])
        gaps = np.concatenate([model.difference(starts.q[1:], last.q[:-1]), last.v[:-1] - starts.v[1:]], axis=-1)
        return r, gaps.reshape(len(self.firsts) - 1, 2 * model.nv), (q, v, s)

    def _records(self) -> tuple[np.ndarray, np.ndarray]:
        """The window and the place in it of every record; one where two windows meet is that of the second."""
        window = np.minimum(np.searchsorted(self.firsts, np.arange(len(self.motion.t)), "right") - 1, len(self.firsts) - 1)
        return window, np.arange(len(self.motion.t)) - self.firsts[window]

    def condensed(self, model: Model, r: np.ndarray, gaps: np.ndarray, inside: Any) -> tuple[np.ndarray, np.ndarray, Any]:
        """The linear least-squares problem in (first state, p): matrix and right-hand side, and how later starts follow."""
        q, v, s = inside
        A, P = self.slopes(model, q, v)
        n, count, windows = 2 * model.nv, len(self.unknowns.names), len(self.firsts)
        # d(state)/d(start of its window, p) at every record of every window
        longest = A.shape[1]
        X, Y = np.empty((windows, longest + 1, n, n)), np.empty((windows, longest + 1, n, count))
        X[:, 0], Y[:, 0] = np.eye(n), 0.0
        for j in range(longest):
            X[:, j + 1], Y[:, j + 1] = A[:, j] @ X[:, j], A[:, j] @ Y[:, j] + P[:, j]
        # every start as F dx + f, x = (first state, p)
        F, f = np.zeros((windows, n, n + count)), np.zeros((windows, n))
        F[0, :, :n] = np.eye(n)
        for w in range(windows - 1):
            end = self.lengths[w]
            F[w + 1] = X[w, end] @ F[w]
            F[w + 1, :, n:] += Y[w, end]
            f[w + 1] = X[w, end] @ f[w] + gaps[w]
        window, piece = self._records()
        to_state = X[window, piece] @ F[window]
        to_state[..., n:] += Y[window, piece]
        shift = np.einsum("kij,kj->ki", X[window, piece], f[window])
        J = np.einsum("kri,kij->krj", s, to_state).reshape(-1, n + count)
        b = (r + np.einsum("kri,ki->kr", s, shift)).reshape(-1)
        return J, b, (F, f)

    def moved(self, model: Model, starts: State, dx: np.ndarray, follow: Any, share: float) -> State:
        """The starts after a share of a step."""
        F, f = follow
        d, nv = share * (F @ dx + f), model.nv
        return State(model.integrate(starts.q, d[:, :nv]), starts.v + d[:, nv:], starts.t)
