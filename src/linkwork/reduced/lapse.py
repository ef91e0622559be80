"""What was wrong in some of the states of a run: when, how often, and what it was like."""

from __future__ import annotations

from typing import NamedTuple


class Lapse(NamedTuple):
    """When something was so first and last (s), in how many states, and what it was like first."""

    first: float
    last: float
    count: int
    detail: str = ""

    def __add__(self, later: Lapse) -> Lapse:  # type: ignore[override]
        """This one and a later one of the same kind."""
        return Lapse(min(self.first, later.first), max(self.last, later.last), self.count + later.count, self.detail)

    def said(self, what: str) -> str:
        """A line about it."""
        when = f"at t = {self.first:.4g} s" if self.first == self.last else f"from t = {self.first:.4g} to {self.last:.4g} s"
        times = "" if self.count == 1 else f", {self.count} times"
        return f"{what} {when}{times}{': ' if self.detail else ''}{self.detail}"
