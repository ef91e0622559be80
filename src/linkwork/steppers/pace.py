"""How much compiled code does at a time: Python is asked in between, at least every tenth of a second.

What Python does then: it sees whether somebody pressed Ctrl-C, and, where all states have come as far, whether the motion is
still finite, and whether records are due on a disk; of many states that may take half a second. The pieces change no bit of a
run: all that a program keeps from step to step goes from each to the next.
"""

from __future__ import annotations

PIECE = 0.06  # seconds of compiled code at a time
PER_BODY = 1e-5  # seconds that a step of a body is guessed to take before one was measured: more than any takes
GROWTH = 4.0  # the most by which a piece may be longer than the one before: steps are not all alike


class Pace:
    """How long steps take.

    seconds   of one state, as far as it is known
    """

    def __init__(self, bodies: int) -> None:
        self.seconds = PER_BODY * max(1, bodies)

    def state_steps(self) -> int:
        """How many steps of one state fit into a piece, one at least."""
        return max(1, int(PIECE / self.seconds))

    def took(self, state_steps: int, seconds: float) -> None:
        """So many steps took so long."""
        self.seconds = max(seconds / state_steps, self.seconds / GROWTH, 1e-12)
