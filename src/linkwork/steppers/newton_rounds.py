"""When Newton's method is done, in every lane by itself: the rounds that several programs repeat.

A round says by how much it changed its unknowns (`change`) and how large they are (`size`). A lane is done when its next change
would be rounding, or when changes are small and shrink no more, and stays as it is. One whose last change was not small is
`stuck`.
"""

from __future__ import annotations

from ..kernel.loops import Lane, loops, maximum, where
from ..kernel.sweep import SCALAR, Field, Repeat, Routine, Step
from ..spatial.scalar import Scalar, Vector, absolute, array
from ..spatial.scalar import maximum as larger
from ..spatial.scalar import where as chosen

ROUNDS = 60  # at most
TIGHT = 1e-16  # of the unknowns: the next change, as far as the last two tell, is rounding
LOOSE = 1e-9  # of the unknowns: small enough where changes shrink no more, or not in time
SLOWER = 0.9  # of the change before: no more progress
UNIT = 1.0  # rad or m, or such per second: unknowns below which changes count by this


@loops
def begin_newton(go: Lane, change: Lane, size: Lane, last: Lane) -> None:
    """All lanes go."""
    go[0] = 1.0
    change[0] = 0.0
    size[0] = UNIT
    last[0] = UNIT


@loops
def judge(change: Lane, size: Lane, last: Lane, go: Lane, far: Lane, rounds: Lane) -> None:
    """Lanes go on while changes are more than rounding. NaN goes on to the end."""
    rounds[0] += go[0]
    small = change[0] <= LOOSE * size[0]
    done = (change[0] * change[0] <= TIGHT * size[0] * last[0]) | (small & (change[0] >= SLOWER * last[0]))
    go[0] = where(done, 0.0, go[0])
    far[0] = where(small, 0.0, go[0])
    last[0] = change[0]
    change[0] = 0.0
    size[0] = UNIT


@loops
def note_stuck(far: Lane, stuck: Lane) -> None:
    """Lanes that were still far were not solved."""
    stuck[0] = maximum(stuck[0], far[0])


def newton_fields() -> dict[str, Field]:
    """What the rounds keep."""
    return {
        "stuck": Field("state", "global", SCALAR),
        "rounds": Field("output", "global", SCALAR),
        **{name: Field("work", "global", SCALAR) for name in ("go", "far", "change", "size", "last")},
    }


def newton(steps: list[Step]) -> list[Step]:
    """Rounds of these steps, in lanes that go."""
    return [
        Routine(begin_newton, ("go", "change", "size", "last")),
        Repeat((*steps, Routine(judge, ("change", "size", "last", "go", "far", "rounds"))), ROUNDS, "go"),
        Routine(note_stuck, ("far", "stuck")),
    ]


def either(condition: Scalar, a: Vector, b: Vector) -> Vector:
    """a where a number is positive, else b."""
    return array([chosen(condition > 0.0, x, y) for x, y in zip(a, b, strict=True)])


def largest(x: Vector, so_far: Scalar) -> Scalar:
    """The largest absolute value among some numbers and one that is known."""
    for value in x:
        so_far = larger(so_far, absolute(value))
    return so_far
