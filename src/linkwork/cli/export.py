"""`linkwork export`: a run in files of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ..errors import InputError
from .app import Flag, Loading, Rest, Timing, app, print_json
from .runs import run_of, written

FORMATS = {
    "npz": ".npz",
    "csv": ".csv",
    "glb": ".glb",
    "html": ".html",
    "strobe": ".strobe.png",
    "plot": ".png",
    "mp4": ".mp4",
    "gif": ".gif",
}


@app.command
def export(
    what: str,
    /,
    *rest: Rest,
    to: Annotated[tuple[str, ...], Parameter(negative="")] = ("npz", "csv", "glb", "html", "strobe"),
    timing: Timing = Timing(),  # noqa: B008  frozen
    loading: Loading = Loading(),  # noqa: B008
    out: Path = Path("runs"),
    json: Flag = False,
    headless: Flag = False,
) -> None:
    """Simulate and write numbers, animations and pictures for other programs.

    Examples:
        linkwork export pendulum
        linkwork export ragdoll --to glb --to mp4
        linkwork export robot.urdf --floating --height 1 --ground --to fall.glb
        linkwork export elbow --weight 5 --to csv --json

    Parameters
    ----------
    what
        Name of a scene, a file of a model, or a run that was saved (.lwk).
    to
        Format, or path of a file; may be repeated: npz (NumPy arrays), csv (a table), glb (glTF animation for Blender and
        others), html (a page), strobe (a picture of several moments, .strobe.png), plot (curves, .png), mp4 (a film, needs
        ffmpeg), gif, or all.
    out
        Folder for files of which no path is given; created if needed.
    json
        Print size, speed, health and files as JSON.
    headless
        Has no effect: nothing is opened.
    """
    import shutil

    names = list(dict.fromkeys(n for name in to for n in (FORMATS if name == "all" else (name,))))
    if "all" in to and shutil.which("ffmpeg") is None:
        names.remove("mp4")
    for name in names:
        if name not in FORMATS and "." not in name:
            raise InputError(f"export: there is no format {name!r}; choose {', '.join(FORMATS)}, all, or give the path of a file")
    done = run_of(what, rest, timing, loading, json)
    out.mkdir(parents=True, exist_ok=True)
    paths = [out / f"{done.name}{FORMATS[n]}" if n in FORMATS else Path(n) for n in names]
    files = written(done.trajectory, paths, json, done.look)
    if json:
        print_json(done.facts() | {"files": files})
    done.end()
