"""How firmly a hand pulls a body that it holds."""

from __future__ import annotations

from ..model import Model

SWING = 12.0  # rad/s, of all bodies on a hand
DAMPED = 0.5  # of that swing, as a part of the critical damping
STABLE = 0.3  # of the step: how far an explicit step may go into the period, and into the decay, of a body on a hand


def firmness(model: Model, body: str, dt: float, stiff: bool) -> tuple[float, float]:
    """Stiffness (N/m) and damping (N s/m) of a hand on a body.

    All bodies together would swing on it at SWING rad/s. Steps that take forces as they are at their start bear no more than a
    part of what the body's own inertia allows: a point at its end has about a quarter of its mass.

    stiff   whether steps take stiff forces implicitly
    """
    total = max(sum(b.inertia.mass for b in model.bodies), 1e-6)
    own = max(model.bodies[model.body_index(body)].inertia.mass, 1e-3 * total) / 4.0
    stiffness, damping = SWING**2 * total, 2.0 * DAMPED * SWING * total
    if stiff:
        return stiffness, damping
    return min(stiffness, own * (STABLE / dt) ** 2), min(damping, own * STABLE / dt)
