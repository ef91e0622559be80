"""`linkwork resume`: continue a run that was killed or stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .app import Flag, app
from .runs import written


@app.command
def resume(file: Path, *, headless: Flag = False) -> None:
    """Continue a run that was killed or stopped to its end, and write its animation, plots and numbers beside it.

    Examples:
        linkwork resume runs/pendulum.lwk

    Parameters
    ----------
    file
        The stream, FILE.lwk, that 'linkwork run' or simulate(out=...) began.
    headless
        Has no effect: nothing is opened.
    """
    from ..streams import resume as resumed
    from .tables import print_health, print_verdict

    trajectory = resumed(file, inputs=_inputs(file))
    print(f"steps    to t = {trajectory.t[-1]:g} s, {len(trajectory)} records")
    print_health(trajectory.health)
    written(trajectory, [file.with_suffix(suffix) for suffix in (".html", ".png", ".npz")])
    print_verdict(trajectory.health)


def _inputs(file: Path) -> Any:
    """What the scene after which a stream is named tells its forces, if the run asked for it."""
    from ..model import Model
    from ..scenes import ALL_SCENES
    from ..store.reading import read
    from ..streams.file import StreamFile
    from ..streams.head import part_of

    found, scene = StreamFile(file), ALL_SCENES.get(file.stem)
    head = found.head
    if found.end is not None or not head.text["asked"]["inputs"] or scene is None or scene.inputs is None:
        return None
    model = None if head.text["model"] is None else read(part_of(head.text, head.arrays, "model"))
    return scene.inputs(model) if isinstance(model, Model) else None
