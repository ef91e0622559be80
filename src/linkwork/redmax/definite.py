"""Stiffness without its destabilising part, for long steps with stiff springs [Baraff & Witkin 1998; Choi & Ko 2002].

A spring that is compressed pushes sideways once it turns: its df_dq has a positive eigenvalue, and M + h D - h^2 K is no longer
positive definite when steps are long. A linearly implicit step then gains energy, and conjugate gradients fail. Of the
derivatives of every force, in the twists of its bodies, this keeps the part with eigenvalues <= 0. Forces themselves, and so
states at rest, are the same.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property

import numpy as np

from ..forces.blocks import Blocks, JointBlocks
from ..forces.set import force_set
from ..model.model import WORLD, Model
from .system import Dynamics


class DefiniteDynamics(Dynamics):
    """`Dynamics` whose derivatives of forces never destabilise; made by `definite`."""

    @cached_property
    def force_derivatives(self) -> tuple[tuple[Blocks, Blocks], tuple[JointBlocks, JointBlocks]]:
        (dq, dv), (joint_dq, joint_dv) = Dynamics.force_derivatives.func(self)
        sizes = _sizes(self.model)
        return (_stable(dq, sizes), _stable(dv, sizes)), (_stable_joints(joint_dq), _stable_joints(joint_dv))


def definite(now: Dynamics) -> DefiniteDynamics:
    """The same state with the derivatives of the module's text."""
    return DefiniteDynamics(*(getattr(now, f.name) for f in fields(Dynamics)))


def nonpositive(A: np.ndarray) -> np.ndarray:
    """The nearest matrices (..., n, n) without positive eigenvalues, of symmetric ones."""
    values, vectors = np.linalg.eigh(A)
    return (vectors * np.minimum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)


def _sizes(model: Model) -> np.ndarray:
    """On how many bodies every force acts: its blocks follow one another, all pairs of them."""
    return np.array([sum(body != WORLD for body in f.bodies) for f in force_set(model).forces], int)


def _stable(blocks: Blocks, sizes: np.ndarray) -> Blocks:
    """The blocks of all forces, force by force without positive eigenvalues; forces on as many bodies at once."""
    out, first = np.empty_like(blocks.block), np.cumsum(sizes**2) - sizes**2
    for k in np.unique(sizes):
        at = first[sizes == k][:, None] + np.arange(k * k)
        whole = blocks.block[at].reshape(-1, k, k, 6, 6).transpose(0, 1, 3, 2, 4).reshape(-1, 6 * k, 6 * k)
        out[at] = nonpositive(whole).reshape(-1, k, 6, k, 6).transpose(0, 1, 3, 2, 4).reshape(-1, k * k, 6, 6)
    return Blocks(blocks.row, blocks.column, out)


def _stable_joints(blocks: JointBlocks) -> JointBlocks:
    return JointBlocks(blocks.nv, blocks.start, tuple(nonpositive(B) for B in blocks.block))
