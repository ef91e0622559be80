"""`linkwork plot`: curves of a run."""

from __future__ import annotations

from pathlib import Path

from .app import Flag, Loading, Names, Rest, Timing, app, print_json
from .opening import open_page
from .runs import run_of


@app.command
def plot(
    what: str,
    /,
    *rest: Rest,
    show: Names = (),
    joint: Names = (),
    timing: Timing = Timing(),  # noqa: B008  frozen
    loading: Loading = Loading(),  # noqa: B008
    out: Path | None = None,
    headless: Flag = False,
    json: Flag = False,
) -> None:
    """Simulate and draw curves: coordinates, velocities, energy, forces, residuals, reactions, phase portraits.

    Examples:
        linkwork plot pendulum
        linkwork plot leg --show reactions --show energy
        linkwork plot pendulum --show phase --joint link1 --out phase.svg

    Parameters
    ----------
    what
        Name of a scene, a file of a model, or a run that was saved (.lwk).
    show
        coordinates, velocities, energy, forces, residuals, reactions or phase; may be repeated. The first four if not given.
    joint
        Name of a joint to show alone; may be repeated.
    out
        File, .png, .svg or .pdf; runs/NAME.plot.png if not given.
    headless
        Write the file without opening it.
    json
        Print size, speed, health and the file as JSON.
    """
    done = run_of(what, rest, timing, loading, json)
    path = Path("runs") / f"{done.name}.plot.png" if out is None else out
    path.parent.mkdir(parents=True, exist_ok=True)
    done.trajectory.plot(*show, joints=joint, path=path)
    if json:
        print_json(done.facts() | {"files": [path]})
    else:
        print(f"wrote    {path}")
    if not headless:
        open_page(path)
    done.end()
