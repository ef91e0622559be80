"""The command line: one module a command; importing it here makes it one.

What is heavy (the simulator's compiler, plots, benchmarks) is imported inside the commands, so that help comes at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..errors import LinkworkError
from . import bench, run, scenes, study, verify, version  # noqa: F401  the commands
from .app import app


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point: errors that the user can mend are one line on stderr and exit code 2."""
    try:
        app(arguments)
    except (LinkworkError, OSError) as error:
        print(f"linkwork: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("linkwork: stopped", file=sys.stderr)
        sys.exit(130)
