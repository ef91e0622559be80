"""A finding: where, how bad, what, and what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass

ERROR, DOUBT, NOTE = LEVELS = ("error", "doubt", "note")
PLACE = re.compile(r"^(?:load: )?[^,:]+(?:, line (\d+))?(?:, column \d+)?: ")
MUJOCO = re.compile(r"line (\d+)")


@dataclass(frozen=True)
class Finding:
    """Something about a model file.

    level     "error" (cannot be, or cannot be simulated), "doubt" (possible, but hardly meant) or "note"
    remedy    what to do; empty for notes
    line      of the file, where it is known
    """

    level: str
    message: str
    remedy: str = ""
    line: int | None = None

    def text(self, file: str) -> str:
        """In one line, as compilers write it."""
        place = file if self.line is None else f"{file}:{self.line}"
        return f"{place}: {self.level}: {self.message}{f'; {self.remedy}' if self.remedy else ''}"


def found_in(message: str, remedy: str) -> Finding:
    """An error of a reader as a finding: its place is taken out of its message."""
    place = PLACE.match(message)
    line = place[1] if place and place[1] else (MUJOCO.search(message) or [None, None])[1]
    text = message[place.end() :] if place else message
    what, _, advice = text.rpartition("; ")
    return Finding(ERROR, what or text, advice if what else remedy, int(line) if line else None)
