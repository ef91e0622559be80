"""RedMax scenes: what their reader says, with the line of the part that it means."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from ...errors import LinkworkError
from ..redmax import read_scene
from .findings import DOUBT, ERROR, Finding, found_in
from .models import check_model

NAMED = re.compile(r"\[\d+\] '([^']+)'")
POSITION = re.compile(r"line (\d+) column")


def check_scene(file: Path) -> list[Finding]:
    """All findings about a scene file."""
    try:
        scene = read_scene(file)
        problems = [scene.problem(run) for run in scene.runs]
    except LinkworkError as error:
        message = str(error)
        names, text = NAMED.findall(message), file.read_text(encoding="utf-8", errors="replace")
        place = POSITION.search(message)
        line = int(place[1]) if place else _line(text, names[-1]) if names else None
        return [replace(found_in(message, "correct the file; docs/redmax tells its schema"), line=line)]
    if not problems:
        return [Finding(ERROR, "no integrator has a published energy, so there is nothing to run", "add one to 'integrators'")]
    unread = [
        Finding(DOUBT, line.removeprefix(file.name).lstrip(":, "), "correct its name, or leave it out") for line in scene.unread
    ]
    return [*unread, *check_model(problems[0].model, {})]


def _line(text: str, name: str) -> int | None:
    at = re.search(rf'"name"\s*:\s*"{re.escape(name)}"', text)
    return None if at is None else text.count("\n", 0, at.start()) + 1
