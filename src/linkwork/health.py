"""How healthy a run was: what it should have kept, and how far it strayed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .account import Account
from .constraints.singular import Crossing

UNITS = {
    "joint_gap": "m or rad",
    "constraint_residual": "m",
    "constraint_rate": "m/s",
    "penetration": "m",
    "limits": "m or rad",
    "complementarity": "m/s",
}


@dataclass(frozen=True, repr=False)
class Health:
    """What a run should have kept, and how far it strayed; None where a quantity does not apply.

    energy_drift          largest |E - E(0) - work| over the run, relative to the energy that moved; see `account`
    joint_gap             maximal coordinates: largest distance (m or rad) by which bodies left their joints
    constraint_residual   largest residual of the equality constraints, in `residual_unit`
    constraint_rate       largest rate at which velocities break equality constraints after the start, in `rate_unit`; of those
                          on velocities alone (gears, rolling) the only measure
    penetration           largest depth (m) of contacts and of other constraints between bodies that only push
    finite                whether every number of the run is finite
    work                  largest |work| (J) that energy_drift allows for, see `Trajectory.work`
    work_of               what did that work
    limits                largest distance (m or rad) by which a coordinate was beyond a limit of its joint, declared or a `Limit`
    beyond                the same by unit, "m" and "rad"
    complementarity       largest rest of its conditions that the solver of the constraints left
    clipped               how many steps asked a joint for more force than its effort, by its name; in runs that choose their own
                          steps, how often it was asked
    speeding              largest speed, by name, of joints that were faster at a record than the speed that they declare
    notes                 a line for everything that joints declare and the run did not enforce, and for `flaws`
    singular              singular positions on the way: the time, and the constraints that lose their grip or the joints whose
                          subspaces lose rank there; multipliers and velocities mean little nearby
    account               where the energy went: what came in, what went out, what is unexplained
    flaws                 a line for everything else that makes results doubtful: bodies that start inside each other, ...
    ok                    whether nothing of this makes results doubtful, see `reasons`

    >>> run = lw.simulate(model, state, 0.1)
    >>> run.health.energy_drift < 0.01
    True
    >>> print(run.health)
    energy drift ...
    """

    energy_drift: float | None
    joint_gap: float | None
    constraint_residual: float | None
    penetration: float | None
    finite: bool
    work: float | None = None
    work_of: tuple[str, ...] = ()
    limits: float | None = None
    complementarity: float | None = None
    clipped: Mapping[str, int] = field(default_factory=dict)
    speeding: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    singular: tuple[Crossing, ...] = ()
    account: Account | None = None
    beyond: Mapping[str, float] = field(default_factory=dict)
    residual_unit: str = "m"
    constraint_rate: float | None = None
    rate_unit: str = "m/s"
    flaws: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the results: numbers are finite, at most 5 % of the energy that moved, in the whole run
        and in every part of it, is unexplained, and there are no flaws.

        >>> run.health.ok
        True
        """
        return not self.reasons

    @property
    def reasons(self) -> tuple[str, ...]:
        """A line for everything that makes results doubtful; none if the run is `ok`."""
        lost = () if self.finite else ("numbers are not finite",)
        return (*lost, *(self.account.doubts if self.account and self.finite else ()), *self.flaws)

    @property
    def numbers(self) -> dict[str, float]:
        """All quantities that apply, by name."""
        names = ("energy_drift", *UNITS)
        return {name: x for name in names if (x := getattr(self, name)) is not None}

    def shown(self, name: str, digits: int = 3) -> str:
        """A quantity with its unit; a distance beyond limits in radians, or in metres, or both."""
        if name == "limits" and self.beyond:
            most = {unit: x for unit, x in self.beyond.items() if x or not self.limits}
            return " and ".join(f"{x:.{digits}g} {unit}" for unit, x in most.items())
        own = {"constraint_residual": self.residual_unit, "constraint_rate": self.rate_unit}
        unit = own.get(name, UNITS.get(name, ""))
        return f"{getattr(self, name):.{digits}g} {unit}".rstrip()

    def words(self) -> tuple[str, ...]:
        """The same in lines to read: what makes results doubtful, the energy, errors in metres, then what was not enforced."""
        lines = [f"DOUBTFUL: {reason}" for reason in self.reasons] if self.finite else ["NOT FINITE"]
        if self.energy_drift is not None:
            lines.append(f"energy drift {self.energy_drift:.3g}")
        lines += self.account.words() if self.account else ()
        lines += [f"{name.replace('_', ' ')} {self.shown(name)}" for name in self.numbers if name in UNITS]
        if self.clipped:
            lines.append("efforts clipped " + ", ".join(f"at {name!r} in {n} steps" for name, n in self.clipped.items()))
        if self.speeding:
            lines.append("too fast " + ", ".join(f"{name!r} at {speed:.3g}" for name, speed in self.speeding.items()))
        lines += (note for note in self.notes if note not in self.flaws)
        if self.singular:
            first, names = self.singular[0]
            more = f" and {len(self.singular) - 1} more" if len(self.singular) > 1 else ""
            lines.append(f"singular at t = {first:.4g} ({', '.join(names)}){more}")
        return tuple(lines) or ("finite",)

    def __str__(self) -> str:
        return "\n".join(self.words())

    def __repr__(self) -> str:
        inside = [f"{name}={x:.3g}" for name, x in self.numbers.items()] + ["finite=False"] * (not self.finite)
        return f"Health({', '.join(inside)})"
