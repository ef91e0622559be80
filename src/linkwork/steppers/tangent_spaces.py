"""How states of a formulation change: displacements, of joints or of bodies, and velocities; n numbers each.

reduced, redmax             q moves to integrate(q, e), v to v + d: n = nv
maximal, maximal-implicit   every body by a twist in its own axes, E to E exp(e), its twist to phi + d: n = 6 bodies. The joint
                            coordinates that fit best, which a maximal state holds besides, follow the bodies
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..kernel.directional import companion, directional
from ..maximal.convert import FIT
from ..model import MaximalState, Model, State
from ..model.manifold import DIFFERENCE
from ..model.weights import coordinate_weights, displacement_weights
from ..reduced.derivatives import coordinate_columns

Parts = Mapping[str, np.ndarray]
DIFFERENCE_DIRECTIONAL, FIT_DIRECTIONAL = directional(DIFFERENCE), directional(FIT)
SKEW = ((2, 1), (0, 2), (1, 0))  # where the components of w stand in [w]


def displacements(model: Model, q: np.ndarray, d_q: np.ndarray) -> np.ndarray:
    """Changes of coordinates (count, nq) at q as displacements of the joints (count, nv)."""
    return model.quick(DIFFERENCE_DIRECTIONAL, ("q", "q_next", "d_q_next"), ("d_dv",))(q, q, d_q)[0]


class JointSpace:
    """States (q, v)."""

    positions, velocities = "q", "v"

    def size(self, model: Model) -> int:
        """n."""
        return model.nv

    def parts(self, state: Any) -> dict[str, np.ndarray]:
        """Of a state, or of a batch, as arrays (batch, size)."""
        assert isinstance(state, State)
        return {"q": state.q.reshape(-1, state.q.shape[-1]), "v": state.v.reshape(-1, state.v.shape[-1])}

    def lead(self, state: Any) -> tuple[int, ...]:
        """The leading axes of a state."""
        return state.q.shape[:-1]

    def columns(self, model: Model, parts: Parts) -> dict[str, np.ndarray]:
        """How positions change along unit displacements, (batch, n, size) each."""
        return {"q": coordinate_columns(model, parts["q"])}

    def displacements(self, model: Model, x: np.ndarray, d_x: np.ndarray) -> np.ndarray:
        """Changes of positions (count, size) as displacements (count, n)."""
        return displacements(model, x, d_x)

    def position_weights(self, model: Model, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Weights of displacements (count, n) at positions, as weights of these."""
        return coordinate_weights(model, x, weights)

    def displacement_weights(self, model: Model, parts: Parts, weights: Parts) -> np.ndarray:
        """Weights of positions (batch, size) as weights of displacements (batch, n)."""
        return displacement_weights(model, parts["q"], weights["q"])


class BodySpace:
    """States (poses, twists), with `q_fit`."""

    positions, velocities = "poses", "twists"

    def size(self, model: Model) -> int:
        return 6 * model.nb

    def parts(self, state: Any) -> dict[str, np.ndarray]:
        assert isinstance(state, MaximalState)
        batch = int(np.prod(self.lead(state)))
        return {name: getattr(state, name).reshape(batch, -1) for name in ("poses", "twists", "q_fit")}

    def lead(self, state: Any) -> tuple[int, ...]:
        return state.q_fit.shape[:-1]

    def columns(self, model: Model, parts: Parts) -> dict[str, np.ndarray]:
        poses = parts["poses"].reshape(-1, model.nb, 4, 4)
        batch, nb = poses.shape[:2]
        moved = np.zeros((batch, nb, 6, nb, 4, 4))
        for b in range(nb):
            R = poses[:, b, :3, :3]
            for k, (r, c) in enumerate(SKEW):
                moved[:, b, k, b, :3, c], moved[:, b, k, b, :3, r] = R[..., r], -R[..., c]
                moved[:, b, 3 + k, b, :3, 3] = R[..., k]
        d_poses = moved.reshape(batch, 6 * nb, 16 * nb)
        rows = [np.repeat(parts[name], 6 * nb, axis=0) for name in ("poses", "twists", "q_fit")]
        call = model.quick(FIT_DIRECTIONAL, ("poses", "twists", "q_fit", companion("poses")), (companion("q"),))
        fitted = call(*rows, d_poses.reshape(-1, 16 * nb))[0]
        return {"poses": d_poses, "q_fit": fitted.reshape(batch, 6 * nb, -1)}

    def displacements(self, model: Model, x: np.ndarray, d_x: np.ndarray) -> np.ndarray:
        R, change = x.reshape(-1, model.nb, 4, 4)[..., :3, :3], d_x.reshape(-1, model.nb, 4, 4)[..., :3, :]
        turned = np.einsum("xbji,xbjk->xbik", R, change)
        twist = [0.5 * (turned[..., r, c] - turned[..., c, r]) for r, c in SKEW]
        return np.concatenate([np.stack(twist, axis=-1), turned[..., 3]], axis=-1).reshape(len(d_x), -1)

    def position_weights(self, model: Model, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        R, w = x.reshape(-1, model.nb, 4, 4)[..., :3, :3], weights.reshape(-1, model.nb, 6)
        turned = np.zeros((*R.shape[:2], 4, 4))
        for k, (r, c) in enumerate(SKEW):
            turned[..., r, c], turned[..., c, r] = 0.5 * w[..., k], -0.5 * w[..., k]
        turned[..., :3, 3] = w[..., 3:]
        turned[..., :3, :] = np.einsum("xbij,xbjk->xbik", R, turned[..., :3, :])
        return turned.reshape(len(weights), -1)

    def displacement_weights(self, model: Model, parts: Parts, weights: Parts) -> np.ndarray:
        columns = self.columns(model, parts)
        return sum((np.einsum("bns,bs->bn", x, weights[name]) for name, x in columns.items()), start=np.zeros(()))


Space = JointSpace | BodySpace
SPACES: dict[str, Space] = {
    "reduced": JointSpace(),
    "redmax": JointSpace(),
    "maximal": BodySpace(),
    "maximal-implicit": BodySpace(),
}
