"""The application that the commands join, and the kinds of options they share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Group, Parameter

from .. import __version__

EXIT_CODES = "Exit codes: 0 all is well, 1 a check found something, 2 wrong command or file, 3 a run broke down, 130 stopped."
app = App(
    name="linkwork",
    help=f"Simulate articulated bodies and look at them.\n\n{EXIT_CODES}",
    version=__version__,
    help_format="plaintext",
    default_parameter=Parameter(negative_iterable=(), negative_none=()),
    suppress_keyboard_interrupt=False,  # `main` says what was stopped
)
app.register_install_completion_command()

FOUND, WRONG, BROKEN, STOPPED = 1, 2, 3, 130  # exit codes
Flag = Annotated[bool, Parameter(negative="", show_default=False)]
Names = Annotated[tuple[str, ...], Parameter(negative="")]
Rest = Annotated[str, Parameter(show=False, allow_leading_hyphen=True)]  # options of scenes: `problem.scene_options` reads them
Method = Literal["reduced", "maximal", "maximal-implicit", "redmax"]
FILES = Group("Options for files", sort_key=10)


@Parameter(name="*")
@dataclass(frozen=True)
class Timing:
    """How to step.

    method     joint coordinates (reduced), bodies held together by forces (maximal), the same with stiff forces and large steps
               (maximal-implicit), or the dense implicit system (redmax); the scene's own if not given
    stepper    time discretisation; the method's own if not given
    duration   simulated time in seconds; the scene's own if not given
    dt         time step in seconds; the scene's own if not given
    """

    method: Annotated[
        Method | None,
        Parameter(
            help="Joint coordinates (reduced), bodies held together by forces (maximal), the same with stiff forces and large "
            "steps (maximal-implicit), or the dense implicit system (redmax); the scene's own if not given."
        ),
    ] = None
    stepper: Annotated[str | None, Parameter(help="Time discretisation; the method's own if not given.")] = None
    duration: Annotated[float | None, Parameter(help="Simulated time in seconds; the scene's own if not given.")] = None
    dt: Annotated[float | None, Parameter(help="Time step in seconds; the scene's own if not given.")] = None


@Parameter(name="*", group=FILES)
@dataclass(frozen=True)
class Loading:
    """How to read a robot's file; see `linkwork.load`."""

    floating: Annotated[Flag, Parameter(help="Let the root link of a URDF move freely.")] = False
    inertia: Annotated[Literal["strict", "repair", "accept"], Parameter(help="What to do with inertias that no body has.")] = (
        "strict"
    )
    mimic: Annotated[Literal["couple", "independent"], Parameter(help="What to do with joints that follow others.")] = "couple"
    gravity: Annotated[tuple[float, float, float] | None, Parameter(help="Acceleration, m/s^2.")] = None
    allow: Annotated[Names, Parameter(help="What an MJCF file may have that linkwork leaves out; may be repeated.")] = ()
    keyframe: Annotated[str | None, Parameter(help="Name of a state in the file to start from.")] = None
    height: Annotated[float | None, Parameter(help="Metres to lift a floating robot by at the start.")] = None
    ground: Annotated[Flag, Parameter(help="Put a floor at z = 0, which its collision shapes touch with friction 0.8.")] = False


def given_of(options: Any) -> dict[str, Any]:
    """The fields of a record of options that differ from their defaults."""
    return {f.name: x for f in fields(options) if (x := getattr(options, f.name)) != f.default}


def print_json(value: Any) -> None:
    """One JSON value on stdout; numbers that are not finite become null."""
    import json

    def plain(x: Any) -> Any:
        if isinstance(x, dict):
            return {str(k): plain(v) for k, v in x.items()}
        if isinstance(x, list | tuple):
            return [plain(v) for v in x]
        if isinstance(x, Path):
            return str(x)
        return None if isinstance(x, float) and x - x != 0 else x

    print(json.dumps(plain(value), indent=1))
