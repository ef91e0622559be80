"""The health of a run in plain words, for a page: a story of its energy, what held and what did not, and the numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..trajectory import Trajectory

MEANINGS = {
    "energy_drift": "change of total energy not explained by the work of forces, relative to the energy that moved; "
    "impacts count too",
    "joint_gap": "largest distance (m or rad) between the two sides of a joint",
    "constraint_residual": "largest violation of an equality constraint (m, or rad for angles)",
    "constraint_rate": "largest rate at which velocities break an equality constraint after the start (m/s or rad/s)",
    "penetration": "largest depth of a contact (m)",
    "complementarity": "largest error that the solver left in the laws of contact and friction (m/s)",
    "limits": "largest distance (m or rad) of a coordinate beyond a limit of its joint",
    "work": "largest work (J) done by what the energy does not hold; it is no drift",
}


HELD = {
    "joint_gap": "Joints were open by at most {}.",
    "constraint_residual": "Loops and other constraints were off by at most {}.",
    "penetration": "What touches was at most {} deep in each other.",
    "limits": "Coordinates went beyond their limits by at most {}.",
}


def story(trajectory: Trajectory) -> list[str]:
    """Sentences: what energy came in, what went out, what is unexplained; how far laws were broken; what was not enforced."""
    health, found = trajectory.health, []
    if not health.finite:
        found.append("The run broke down: it holds numbers that are not finite.")
    else:
        found += [f"Results are doubtful: {reason}." for reason in health.reasons]
    account = health.account
    if account is not None and health.finite:
        found.append(f"The model had {account.start:.4g} J at the start and {account.end:.4g} J at the end.")
        for words, works in (("came in", account.came_in), ("went out", account.went_out)):
            if works:
                parts = ", ".join(f"{x:.3g} J by {name}" for name, x in sorted(works.items(), key=lambda pair: -pair[1]))
                found.append(f"{sum(works.values()):.3g} J {words}: {parts}.")
        found.append(f"{account.rest[:1].upper()}{account.rest[1:]}.")
    for name, words in HELD.items():
        if name in health.numbers:
            found.append(words.format(health.shown(name, 2)))
    for name, count in health.clipped.items():
        found.append(f"Joint {name!r} was asked for more force than its effort in {count} steps, and got its effort.")
    for name, speed in health.speeding.items():
        found.append(f"Joint {name!r} was faster than it declares: {speed:.3g}.")
    if health.singular:
        first, names = health.singular[0]
        found.append(f"The model passed a singular position at t = {first:.4g} s ({', '.join(names)}).")
    return found + [f"{note[:1].upper()}{note[1:]}" for note in health.notes if note not in health.flaws]


def flows(trajectory: Trajectory) -> list[dict[str, Any]]:
    """What brought energy and what took it, in joules; the unexplained rest last."""
    account = trajectory.health.account
    if account is None:
        return []
    names = [*account.came_in, *(name for name in account.went_out if name not in account.came_in)]
    found = [{"name": n, "in": account.came_in.get(n, 0.0), "out": account.went_out.get(n, 0.0)} for n in names]
    rest = account.unexplained
    found.append({"name": "unexplained", "in": max(rest, 0.0), "out": max(-rest, 0.0)})
    return found if all(math.isfinite(flow[way]) for flow in found for way in ("in", "out")) else []


def health_rows(trajectory: Trajectory) -> list[dict[str, str]]:
    """Name, value and meaning of everything that the run should have kept."""
    health = trajectory.health
    rows = [
        {"name": name.replace("_", " "), "value": f"{value:.3g}", "meaning": MEANINGS.get(name, "")}
        for name, value in vars(health).items()
        if isinstance(value, float)
    ]
    finite = "every number of the run is finite" if health.finite else "the run broke down: it holds infinities or NaN"
    rows.append({"name": "verdict", "value": "sound" if health.ok else "doubtful", "meaning": "; ".join(health.reasons)})
    return [*rows, {"name": "finite", "value": "yes" if health.finite else "no", "meaning": finite}]
