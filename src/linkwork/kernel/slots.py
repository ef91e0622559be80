"""Where private values lie in the record of their node: as few numbers as are in use at a time, so that memory stays near.

A value is in use from the kernel that stores it to the last one that loads it, or to the end of what is repeated around that one.
Its place is another's afterwards, but not in the same kernel, which would have to store last what it could store at once. What
another phase loads stays where it is: phases run as often as somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .sweep import Algorithm, Repeat, flat

if TYPE_CHECKING:
    from .trace import Kernel, Place

ALWAYS = 1 << 60


def renumbered(algorithm: Algorithm, kernels: Sequence[Kernel | None]) -> tuple[dict[Place, Place], dict[str, int]]:
    """The places of all private values that kernels load, and of every phase how many numbers that takes."""
    phases = [phase for phase, _ in algorithm.steps()]
    ends = _ends_of_use(phases, list(_ends_of_steps(algorithm)), kernels)
    moved: dict[Place, Place] = {}
    counts = dict.fromkeys(algorithm.phases, 0)
    free: dict[str, list[int]] = {phase: [] for phase in algorithm.phases}
    leaving: dict[int, list[Place]] = {}
    for k, kernel in enumerate(kernels):
        for place in leaving.pop(k, ()):
            free[_phase_of(place)].append(moved[place][2])
        for _, place in kernel.stores if kernel is not None else ():
            if place in ends:
                phase = _phase_of(place)
                if not free[phase]:
                    free[phase].append(counts[phase])
                    counts[phase] += 1
                moved[place] = (place[0], "own", free[phase].pop())
                leaving.setdefault(ends[place] + 1, []).append(place)
    return moved, counts


def is_private(place: Place) -> bool:
    """Whether a private value lies there."""
    return place[0].startswith("private:")


def _phase_of(place: Place) -> str:
    return place[0].removeprefix("private:").partition("@")[0]


def _ends_of_use(phases: Sequence[str], ends: Sequence[int], kernels: Sequence[Kernel | None]) -> dict[Place, int]:
    """Of every private value that is loaded, the number of the last step in which it may be."""
    found: dict[Place, int] = {}
    for k, kernel in enumerate(kernels):
        for _, place in kernel.loads if kernel is not None else ():
            if is_private(place):
                end = ends[k] if phases[k] == _phase_of(place) else ALWAYS
                found[place] = max(found.get(place, 0), end)
    return found


def _ends_of_steps(algorithm: Algorithm) -> Iterator[int]:
    """Of every step its number, or that of the last step that is repeated with it."""
    number = 0
    for steps in algorithm.phases.values():
        for step in steps:
            count = len(flat([step]))
            yield from [number + count - 1] * count if isinstance(step, Repeat) else [number]
            number += count
