"""The command line as tests call it."""

from __future__ import annotations

from linkwork import cli


def called(*arguments: str) -> int:
    """The exit code of the command line."""
    try:
        cli.main(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    return 0
