"""The health of a run in plain words, for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..trajectory import Trajectory

MEANINGS = {
    "energy_drift": "change of total energy not explained by the work of forces, relative to the energy that moved; "
    "impacts count too",
    "joint_gap": "largest distance (m or rad) between the two sides of a joint",
    "constraint_residual": "largest violation of an equality constraint (m)",
    "penetration": "largest depth of a contact (m)",
    "complementarity": "largest error that the solver left in the laws of contact and friction (m/s)",
    "limits": "largest distance (m or rad) of a coordinate beyond a limit of its joint",
    "work": "largest work (J) done by what the energy does not hold; it is no drift",
}


def health_rows(trajectory: Trajectory) -> list[dict[str, str]]:
    """Name, value and meaning of everything that the run should have kept."""
    health = trajectory.health
    rows = [
        {"name": name.replace("_", " "), "value": f"{value:.3g}", "meaning": MEANINGS.get(name, "")}
        for name, value in vars(health).items()
        if isinstance(value, float)
    ]
    rows += [{"name": "note", "value": "", "meaning": line} for line in health.notes]
    finite = "every number of the run is finite" if health.finite else "the run broke down: it holds infinities or NaN"
    return [*rows, {"name": "finite", "value": "yes" if health.finite else "no", "meaning": finite}]
