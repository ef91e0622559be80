"""Studies: many runs at once, and what they say together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .design import Design
from .fit import Fit, fit
from .recorded import Recorded
from .study import Runs, Study, study
from .verify_redmax import verify

STUDIES: dict[str, Callable[[Path, Path | None, bool], Any]] = {"redmax": verify}

__all__ = ["STUDIES", "Design", "Fit", "Recorded", "Runs", "Study", "fit", "study"]
