"""Elementary moves: a turn about a coordinate axis, any rotation, a shift.

A rigid transform is a product of such stages. Vectors and inertias pass through it stage by stage, which costs far fewer
operations than one dense product: turning a symmetric 3x3 matrix about an axis takes 8 multiplications instead of 45.
All functions accept numbers or symbols; "move" maps coordinates of the inner frame to the outer, "pull" the way back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from .scalar import Scalar, Vector, array, is_number, is_one, is_zero, numeric, zeros

ROUND = 1e-6  # of R R^T, in files


@dataclass(frozen=True, slots=True)
class Turn:
    """Rotation about coordinate axis 0, 1 or 2 by the angle with cosine c and sine s."""

    axis: int
    c: Scalar
    s: Scalar
    is_record: ClassVar[bool] = True

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Turn:
        """The turn that a file says."""
        axis, c, s = (state[name] for name in ("axis", "c", "s"))
        numbers = all(isinstance(x, (float, np.floating)) for x in (c, s))
        if (
            len(state) != 3
            or axis not in (0, 1, 2)
            or isinstance(axis, bool)
            or not (numbers and abs(c * c + s * s - 1.0) <= ROUND)
        ):
            raise ModelError(f"a turn is about axis 0, 1 or 2, by a cosine and a sine, not {axis!r}, {c!r}, {s!r}")
        return cls(axis, c, s)

    def inverse(self) -> Turn:
        return Turn(self.axis, self.c, -self.s)


@dataclass(frozen=True, slots=True)
class Rotation:
    """Rotation by the matrix R."""

    R: np.ndarray
    is_record: ClassVar[bool] = True

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Rotation:
        """The rotation that a file says."""
        R = state["R"]
        good = len(state) == 1 and isinstance(R, np.ndarray) and R.dtype == float and R.shape == (3, 3)
        if not good or not np.abs(R @ R.T - np.eye(3)).max() <= ROUND or np.linalg.det(R) < 0.0:
            raise ModelError("a rotation is a matrix (3, 3), orthonormal and right-handed")
        return cls(R)

    def inverse(self) -> Rotation:
        return Rotation(self.R.T)


@dataclass(frozen=True, slots=True)
class Shift:
    """Translation by p."""

    p: Vector
    is_record: ClassVar[bool] = True

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Shift:
        """The translation that a file says."""
        p = state["p"]
        good = len(state) == 1 and isinstance(p, np.ndarray) and p.dtype == float and p.shape == (3,)
        if not good or not np.isfinite(p).all():
            raise ModelError("a translation is three finite numbers")
        return cls(p)

    def inverse(self) -> Shift:
        return Shift(-self.p)


Stage = Turn | Rotation | Shift


def rotation_stages(R: np.ndarray) -> tuple[Stage, ...]:
    """The cheapest stages for a rotation matrix: none for the identity, a turn where R keeps a coordinate axis."""
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if is_one(R[k, k]) and all(is_zero(x) for x in (R[i, k], R[j, k], R[k, i], R[k, j])):
            if all(is_number(x) for x in R.flat) and not (R[i, i] == R[j, j] and R[i, j] == -R[j, i]):
                break  # not exactly a turn: keep every entry, for whoever checks them
            identity = is_one(R[i, i]) and is_zero(R[j, i]) and is_zero(R[i, j]) and is_one(R[j, j])
            return () if identity else (Turn(k, R[i, i], R[j, i]),)
    return (Rotation(R),)


def shift_stages(p: Vector) -> tuple[Stage, ...]:
    """A shift, or nothing for the zero vector."""
    return () if all(is_zero(x) for x in p) else (Shift(p),)


def move_vector(stage: Stage, x: Vector) -> Vector:
    """R x: a free vector from inner to outer axes."""
    if isinstance(stage, Turn):
        i, j = (stage.axis + 1) % 3, (stage.axis + 2) % 3
        out = np.array(x, dtype=object)
        out[i] = stage.c * x[i] - stage.s * x[j]
        out[j] = stage.s * x[i] + stage.c * x[j]
        return numeric(out)
    return stage.R @ x if isinstance(stage, Rotation) else x


def pull_vector(stage: Stage, x: Vector) -> Vector:
    """R^T x: a free vector from outer to inner axes."""
    if isinstance(stage, Turn):
        i, j = (stage.axis + 1) % 3, (stage.axis + 2) % 3
        out = np.array(x, dtype=object)
        out[i] = stage.c * x[i] + stage.s * x[j]
        out[j] = stage.c * x[j] - stage.s * x[i]
        return numeric(out)
    return stage.R.T @ x if isinstance(stage, Rotation) else x


def move_symmetric(stage: Stage, M: np.ndarray) -> np.ndarray:
    """R M R^T for a symmetric M; only the upper triangle is computed, the lower mirrors it."""
    if isinstance(stage, Shift):
        return M
    if isinstance(stage, Rotation) or quarter_turns(stage):
        R = rotation_matrix(stage)
        A = R @ M
        out = zeros(3, 3)
        for i in range(3):
            for j in range(i, 3):
                out[i, j] = out[j, i] = A[i] @ R[j]
        return array(out)
    k, c, s = stage.axis, stage.c, stage.s
    i, j = (k + 1) % 3, (k + 2) % 3
    w = s * (M[i, i] - M[j, j]) + c * (M[i, j] + M[i, j])
    out = np.array(M, dtype=object)
    out[i, i] = M[i, i] - s * w
    out[j, j] = M[j, j] + s * w
    out[i, j] = out[j, i] = c * w - M[i, j]
    out[i, k] = out[k, i] = c * M[i, k] - s * M[j, k]
    out[j, k] = out[k, j] = s * M[i, k] + c * M[j, k]
    return numeric(out)


def move_matrix(stage: Stage, H: np.ndarray) -> np.ndarray:
    """R H R^T for any H."""
    if isinstance(stage, Shift):
        return H
    if isinstance(stage, Rotation) or quarter_turns(stage):
        R = rotation_matrix(stage)
        return R @ H @ R.T
    k, c, s = stage.axis, stage.c, stage.s
    i, j = (k + 1) % 3, (k + 2) % 3
    w = s * (H[i, i] - H[j, j]) + c * (H[i, j] + H[j, i])
    out = np.array(H, dtype=object)
    out[i, i] = H[i, i] - s * w
    out[j, j] = H[j, j] + s * w
    out[i, j] = c * w - H[j, i]
    out[j, i] = c * w - H[i, j]
    out[i, k], out[j, k] = c * H[i, k] - s * H[j, k], s * H[i, k] + c * H[j, k]
    out[k, i], out[k, j] = c * H[k, i] - s * H[k, j], s * H[k, i] + c * H[k, j]
    return numeric(out)


def quarter_turns(stage: Turn) -> bool:
    """Whether a turn is known to be by right angles: then entries only change places and signs, and no sum rounds them."""
    return is_zero(stage.c) or is_zero(stage.s)


def rotation_matrix(stage: Stage) -> np.ndarray:
    """The matrix of a stage's rotation."""
    if isinstance(stage, Rotation):
        return stage.R
    out = zeros(3, 3)
    out[0, 0] = out[1, 1] = out[2, 2] = 1.0
    if isinstance(stage, Turn):
        i, j = (stage.axis + 1) % 3, (stage.axis + 2) % 3
        out[i, i] = out[j, j] = stage.c
        out[i, j], out[j, i] = -stage.s, stage.s
    return array(out)


def skew(p: Vector) -> np.ndarray:
    """[p] with [p] x = p x x."""
    return array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])
