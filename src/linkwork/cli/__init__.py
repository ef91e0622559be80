"""The command line: one module a command; importing it here makes it one.

What is heavy (the simulator's compiler, plots, benchmarks) is imported inside the commands, so that help comes at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import CycloptsError

from ..errors import LinkworkError, SolverError
from . import (  # noqa: F401  the commands
    bench,
    cache,
    check,
    compare,
    demo,
    export,
    plot,
    resume,
    run,
    scenes,
    session,
    study,
    verify,
    version,
    view,
)
from .app import BROKEN, STOPPED, WRONG, app


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point: errors that the user can mend are one line on stderr and exit code 2."""
    try:
        app(arguments, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        chain = " ".join(("linkwork", *(error.command_chain or ())))
        _leave(f"{str(error).removesuffix('...').rstrip('., ')}; '{chain} --help' says more", WRONG)
    except (LinkworkError, OSError) as error:
        _leave(str(error), BROKEN if isinstance(error, SolverError) else WRONG)
    except KeyboardInterrupt as stop:
        _leave(str(stop) or "stopped", STOPPED)


def _leave(message: str, code: int) -> None:
    print(f"linkwork: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)
