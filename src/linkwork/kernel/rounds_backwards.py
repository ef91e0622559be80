"""Rounds that repeat until they stand still, on the way back: the implicit function theorem, by the same rounds transposed.

Rounds x' = F(x, p) end at x = F(x, p). Weights g of x there are weights h of F with h = g + F_x^T h, and p has F_p^T h: one
round, recorded where rounds have ended, is run backwards again and again, each time with what the last left of the weights of x,
and the weights of p add up. It ends as soon as rounds do: where these are Newton's method with the exact matrix, at once. Lanes
that are done carry on with weights of zero, which change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .loops import Lane, LoopFunction, loops, maximum, where
from .sweep import SCALAR, Field, Repeat, Routine, Step, Sweep

ROUNDING = 1e-16  # of the largest weight there was: what is left is none
MOST = 100  # rounds backwards
WIDTH = "rounds_width"  # the number of a tree: of weights that rounds carry
FIELDS = {name: Field("work", "global", SCALAR) for name in ("back_first", "back_go")}

_CARRIED: dict[int, tuple[str, str]] = {}
_TIMES: dict[int, int] = {}


def rounds_begin(function: LoopFunction, carried: str, going: str) -> None:
    """What this routine begins are rounds; they carry one field (of space "v") in lanes that are going."""
    _CARRIED[id(function)] = (carried, going)


def runs_at_most(function: LoopFunction, times: int) -> None:
    """What begins with this routine is repeated so often at most, or is left unfinished."""
    _TIMES[id(function)] = times


@dataclass(frozen=True)
class Rounds:
    """Rounds in a program: what begins them, and what they carry."""

    begin: Routine
    repeat: Repeat
    carried: str
    going: str

    @property
    def sweeps(self) -> list[Sweep]:
        """The rules of one round; what says when rounds end, the last step, is left out."""
        return [step for step in self.repeat.steps if isinstance(step, Sweep)]

    def simple(self) -> bool:
        """Whether a round is made of rules at nodes, and one routine that judges it."""
        return all(isinstance(step, Sweep) and step.items is None for step in self.repeat.steps[:-1])


def rounds_of(before: Step | None, step: Step) -> Rounds | None:
    """The rounds that two steps are, one after the other."""
    if not isinstance(before, Routine) or not isinstance(step, Repeat) or id(before.function) not in _CARRIED:
        return None
    return Rounds(before, step, *_CARRIED[id(before.function)])


def times_of(step: Repeat) -> int | None:
    """How often steps are repeated, if that is known."""
    if step.until is None:
        return step.most
    first = step.steps[0]
    return _TIMES.get(id(first.function)) if isinstance(first, Routine) else None


def flags(steps: Sequence[Step]) -> tuple[str, ...]:
    """The global fields that are not zero in the end where something was left unfinished."""
    found: list[str] = []
    for step in steps:
        if isinstance(step, Repeat):
            if step.until is not None and (step.again or times_of(step) is not None):
                found.append(step.until)
            found += flags(step.steps)
    return tuple(dict.fromkeys(found))


@loops
def begin_back(back_first: Lane, back_go: Lane) -> None:
    """All lanes go."""
    back_first[0] = 0.0
    back_go[0] = 1.0


@loops
def judge_back(rounds_width: int, going: Lane, bar_x: Lane, back_first: Lane, back_go: Lane) -> None:
    """Lanes go on while rounds hand on more than rounding. In others that had rounds, nothing is left."""
    size = 0.0 * back_first[0]
    for i in range(rounds_width):
        size = maximum(size, abs(bar_x[i]))
    back_first[0] = maximum(back_first[0], size)
    done = (size <= ROUNDING * back_first[0]) | (going[0] <= 0.0)
    back_go[0] = where(done, 0.0, back_go[0])
    for i in range(rounds_width):
        bar_x[i] = where(done & (going[0] > 0.0), 0.0, bar_x[i])


@loops
def keep_going(going: Lane, had_rounds: Lane) -> None:
    """Which lanes had these rounds; others may follow."""
    had_rounds[0] = going[0]


def kept_going(rounds: Rounds, field: str) -> Step:
    """Keeps for the way back, in a global field, which lanes had these rounds."""
    return Routine(keep_going, (rounds.going, field))


def rounds_backwards(rounds: Rounds, body: list[Step], bar: Callable[[str], str], field: str) -> list[Step]:
    """The rounds of a transposed round, in lanes that had such."""
    judged = Routine(judge_back, (WIDTH, field, bar(rounds.carried), "back_first", "back_go"))
    return [Routine(begin_back, ("back_first", "back_go")), Repeat((*body, judged), MOST, "back_go")]
