"""How another engine writes coordinates, velocities, accelerations and forces of the joints that it shares with a model.

Most joints are written alike: their numbers only move to other places. Those that differ (free joints, quaternions, angles as
cosine and sine) say how in a *form*. Names: `q`, `v`, `a`, `tau` are ours, those of the engine have its letter in the
functions that take them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.model import Model


class Form:
    """How an engine writes one joint. Arrays (..., n) are of this joint alone; accelerations are rates of velocities.

    The base is the joint that is written alike.
    """

    def to_q(self, q: np.ndarray) -> np.ndarray:
        return q

    def from_q(self, x: np.ndarray) -> np.ndarray:
        return x

    def to_v(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return v

    def from_v(self, q: np.ndarray, x: np.ndarray) -> np.ndarray:
        return x

    def to_a(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self.to_v(q, a)

    def from_a(self, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> np.ndarray:
        return self.from_v(q, x)

    def to_tau(self, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Conjugate to velocities: power is the same."""
        return self.to_v(q, tau)

    def from_tau(self, q: np.ndarray, x: np.ndarray) -> np.ndarray:
        return self.from_v(q, x)


@dataclass(frozen=True, eq=False)
class Piece:
    """One joint: its places in our arrays and in the engine's, and its form; None where it is written alike."""

    q: slice
    v: slice
    their_q: slice
    their_v: slice
    form: Form | None = None


class Converter:
    """Arrays of one state or a batch between a model and the same model in another engine.

    model    ours
    nq, nv   sizes of the engine's arrays
    """

    def __init__(self, model: Model, pieces: Sequence[Piece], nq: int, nv: int) -> None:
        self.model, self.nq, self.nv = model, nq, nv
        self._special = [p for p in pieces if p.form is not None]
        alike = [p for p in pieces if p.form is None]
        self._q = _places([(p.q, p.their_q) for p in alike])
        self._v = _places([(p.v, p.their_v) for p in alike])

    def to_q(self, q: Any) -> np.ndarray:
        """The engine's coordinates (..., its nq)."""
        q = self._checked(q, "q", self.model.nq)
        out = self._moved(q, self._q, self.nq)
        for p in self._special:
            out[..., p.their_q] = _form(p).to_q(q[..., p.q])
        return out

    def from_q(self, x: Any) -> np.ndarray:
        """Our coordinates (..., nq)."""
        x = self._checked(x, "q", self.nq)
        out = self._moved(x, self._q[::-1], self.model.nq)
        for p in self._special:
            out[..., p.q] = _form(p).from_q(x[..., p.their_q])
        return out

    def to_v(self, q: Any, v: Any) -> np.ndarray:
        """The engine's velocities (..., its nv) at our q."""
        return self._rates("to_v", q, v, self._v, self.model.nv, self.nv)

    def from_v(self, q: Any, x: Any) -> np.ndarray:
        """Our velocities (..., nv) at our q."""
        return self._rates("from_v", q, x, self._v[::-1], self.nv, self.model.nv)

    def to_tau(self, q: Any, tau: Any) -> np.ndarray:
        """The engine's generalized forces at our q."""
        return self._rates("to_tau", q, tau, self._v, self.model.nv, self.nv)

    def from_tau(self, q: Any, x: Any) -> np.ndarray:
        """Our joint forces at our q."""
        return self._rates("from_tau", q, x, self._v[::-1], self.nv, self.model.nv)

    def to_a(self, q: Any, v: Any, a: Any) -> np.ndarray:
        """The engine's accelerations, the rates of its velocities, at our q and v."""
        return self._rates("to_a", q, a, self._v, self.model.nv, self.nv, v)

    def from_a(self, q: Any, v: Any, x: Any) -> np.ndarray:
        """Our accelerations at our q and v."""
        return self._rates("from_a", q, x, self._v[::-1], self.nv, self.model.nv, v)

    def _rates(
        self, name: str, q: Any, x: Any, places: tuple[np.ndarray, ...], size: int, out_size: int, v: Any = None
    ) -> np.ndarray:
        q, x = self._checked(q, "q", self.model.nq), self._checked(x, name, size)
        given = (q,) if v is None else (q, self._checked(v, "v", self.model.nv))
        out = self._moved(np.broadcast_to(x, (*np.broadcast_shapes(q.shape[:-1], x.shape[:-1]), size)), places, out_size)
        outward = name.startswith("to_")
        for p in self._special:
            source, target = (p.v, p.their_v) if outward else (p.their_v, p.v)
            own = [given[0][..., p.q], *(g[..., p.v] for g in given[1:])]
            out[..., target] = getattr(_form(p), name)(*own, x[..., source])
        return out

    @staticmethod
    def _moved(x: np.ndarray, places: tuple[np.ndarray, ...], size: int) -> np.ndarray:
        out = np.zeros((*x.shape[:-1], size))
        out[..., places[1]] = x[..., places[0]]
        return out

    @staticmethod
    def _checked(x: Any, name: str, size: int) -> np.ndarray:
        a = np.asarray(x, float)
        if a.shape[-1:] != (size,):
            raise InputError(f"{name} has shape {a.shape}; expected (..., {size})")
        return a


def _form(piece: Piece) -> Form:
    assert piece.form is not None
    return piece.form


def _places(pairs: list[tuple[slice, slice]]) -> tuple[np.ndarray, ...]:
    """Indices of ours and of theirs."""
    both = [(np.arange(a.start, a.stop), np.arange(b.start, b.stop)) for a, b in pairs]
    return tuple(np.concatenate([np.zeros(0, int), *side]) for side in (zip(*both, strict=True) if both else ((), ())))
