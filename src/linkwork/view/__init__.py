"""Pictures: plots and the animation in the browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

WRITERS: dict[str, Callable[[Any, Path], None]] = {}
