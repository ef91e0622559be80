"""The application that the commands join, and the kinds of options they share."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from .. import __version__

app = App(
    name="linkwork",
    help="Simulate articulated bodies and look at them.",
    version=__version__,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,  # `main` says what was stopped
)
Flag = Annotated[bool, Parameter(negative="")]
Names = Annotated[tuple[str, ...], Parameter(negative="")]
