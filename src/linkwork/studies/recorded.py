"""Recorded motion: what was measured at which times, and what acted in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InputError
from ..lagrange.frames import point_jacobian
from ..model import Model, State
from ..model.kinematics import kinematics
from ..spatial.gate import finite_reals, given_reals, point, shown
from ..steppers.tangent_spaces import displacements

Marker = tuple[str, tuple[float, float, float]]


@dataclass(frozen=True, eq=False)
class Recorded:
    """Motion as it was measured; entries that are missing are NaN.

    t          times (T,), evenly spaced
    q, v       coordinates (T, nq) and velocities (T, nv), or None
    markers    {(body, point in its axes): positions in the world (T, 3)}
    sigma      standard deviations of the noise by what is measured: {"q": 1e-3, "v": 1e-2, "markers": 1e-3}, numbers or arrays
               (nv,); 1 for all that is not named
    tau        joint forces that were held from each record to the next (T, nv), or None
    external   wrenches on the bodies, the same (T, bodies, 6), or None
    inputs     of forces (activations), the same (T, inputs), or None

    >>> run = lw.simulate(model, state, 0.1, 0.01)
    >>> seen = lw.Recorded(run.t, q=run.q)
    """

    t: Any
    q: Any = None
    v: Any = None
    markers: Mapping[Marker, Any] = field(default_factory=dict)
    sigma: Mapping[str, Any] = field(default_factory=dict)
    tau: Any = None
    external: Any = None
    inputs: Any = None

    def __post_init__(self) -> None:
        t = given_reals("recorded times", self.t)
        for name in ("markers", "sigma"):
            if not isinstance(getattr(self, name), Mapping):
                raise InputError(f"recorded {name} must be a mapping, not {shown(getattr(self, name))}")
        if t.ndim != 1 or len(t) < 2 or not np.isfinite(t).all():
            raise InputError(f"recorded times must be at least two finite numbers, not an array of shape {t.shape}")
        if not np.allclose(np.diff(t), t[1] - t[0], rtol=1e-6, atol=0) or t[1] <= t[0]:
            raise InputError("recorded times must be evenly spaced and grow; interpolate the motion first")
        for name in ("t", "q", "v", "tau", "external", "inputs"):
            x = getattr(self, name)
            if x is not None:
                object.__setattr__(self, name, _timed(name, x, len(t)))
        for marker in self.markers:
            if not isinstance(marker, tuple) or len(marker) != 2 or not isinstance(marker[0], str):
                raise InputError(f"a marker must be (body, point), not {shown(marker)}")
        own = {
            (body, tuple(point(f"marker on {body!r}", "its point", x).tolist())): _timed(f"marker on {body!r}", found, len(t))
            for (body, x), found in self.markers.items()
        }
        object.__setattr__(self, "markers", own)
        if self.q is None and self.v is None and not own:
            raise InputError("nothing was recorded: give q, v or markers")
        for name, x in self.sigma.items():
            if name not in ("q", "v", "markers"):
                raise InputError(f"sigma has no {name!r}; it is that of q, v or markers")
            if not np.all(finite_reals(f"sigma of {name}", x) > 0):
                raise InputError(f"sigma of {name} must be positive and finite, not {x!r}")

    @property
    def spacing(self) -> float:
        """Seconds between records."""
        return float((self.t[-1] - self.t[0]) / (len(self.t) - 1))

    def check(self, model: Model) -> None:
        """Raise if the motion is not that of a model."""
        tails = {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,), "external": (model.nb, 6)}
        for name, tail in tails.items():
            x = getattr(self, name)
            if x is not None and x.shape[1:] != tail:
                raise InputError(f"recorded {name} has shape {x.shape}; this model needs {(len(self.t), *tail)}")
        for (body, _), x in self.markers.items():
            model.body_index(body)
            if x.shape[1:] != (3,):
                raise InputError(f"the marker on {body!r} has shape {x.shape}; it needs {(len(self.t), 3)}")

    # --- residuals -----------------------------------------------------------------------------------------------------------
    def residuals(self, model: Model, k: np.ndarray, state: State) -> tuple[np.ndarray, np.ndarray]:
        """At records k (n,) and states (n, ...): (predicted - measured) / sigma (n, rows) and its slopes (n, rows, 2 nv).

        What is missing is zero, and so are its slopes.
        """
        found, nv, count = [], model.nv, len(k)
        if self.q is not None:
            x = np.where(np.isfinite(self.q[k]), self.q[k], state.q)
            there = np.isfinite(self.q[k]).all(axis=-1) if model.nq != nv else np.isfinite(self.q[k])
            error = model.difference(x, state.q)
            slopes = np.zeros((count, nv, 2 * nv))
            slopes[..., :nv] = self._difference_slopes(model, x, state.q)
            found.append(_masked(error, slopes, there[:, None] if there.ndim == 1 else there, self.sigma.get("q", 1.0)))
        if self.v is not None:
            there = np.isfinite(self.v[k])
            error = np.where(there, state.v - self.v[k], 0.0)
            slopes = np.zeros((count, nv, 2 * nv))
            slopes[..., nv:] = np.eye(nv)
            found.append(_masked(error, slopes, there, self.sigma.get("v", 1.0)))
        if self.markers:
            poses = kinematics(model, state.q).poses
            for (body, point), measured in self.markers.items():
                E = poses[:, model.body_index(body)]
                there = np.isfinite(measured[k])
                error = np.where(there, E[:, :3, :3] @ np.array(point) + E[:, :3, 3] - measured[k], 0.0)
                slopes = np.zeros((count, 3, 2 * nv))
                slopes[..., :nv] = point_jacobian(model, state.q, body, point)
                found.append(_masked(error, slopes, there, self.sigma.get("markers", 1.0)))
        return np.concatenate([e for e, _ in found], axis=1), np.concatenate([s for _, s in found], axis=1)

    @staticmethod
    def _difference_slopes(model: Model, measured: np.ndarray, q: np.ndarray) -> np.ndarray:
        """How difference(measured, q) changes with displacements of the joints at q, (n, nv, nv)."""
        nv = model.nv
        if model.nq == nv and np.array_equal(displacements(model, q[:1], np.ones((1, nv))), np.ones((1, nv))):
            return np.broadcast_to(np.eye(nv), (len(q), nv, nv))
        h, out = 1e-6, np.empty((len(q), nv, nv))
        for i, unit in enumerate(np.eye(nv)):
            ahead, behind = (model.difference(measured, model.integrate(q, s * h * unit)) for s in (1.0, -1.0))
            out[:, :, i] = (ahead - behind) / (2 * h)
        return out


def _timed(name: str, x: Any, count: int) -> np.ndarray:
    a = given_reals(f"recorded {name}", x)
    if a.shape[:1] != (count,):
        raise InputError(f"recorded {name} has shape {a.shape}; it needs a row for each of the {count} times")
    return a


def _masked(error: np.ndarray, slopes: np.ndarray, there: np.ndarray, sigma: Any) -> tuple[np.ndarray, np.ndarray]:
    weight = there / np.asarray(sigma, float)
    return error * weight, slopes * weight[..., None]
