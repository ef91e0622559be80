"""`linkwork version`."""

from __future__ import annotations

from .. import __version__
from .app import app


@app.command
def version() -> None:
    """Print the version."""
    print(__version__)
