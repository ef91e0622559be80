"""`linkwork study`: many runs of a model, measured."""

from __future__ import annotations

from pathlib import Path

from .app import Flag, app


@app.command
def study(
    file: Path,
    *,
    out: Path | None = None,
    processes: int = 1,
    threads: int | None = None,
    cluster: str | None = None,
    plot: Path | None = None,
    headless: Flag = False,
) -> None:
    """Simulate a model many times, as a file says, and write what was measured of every run.

    A study that was stopped goes on where it was when it is started again.

    Examples:
        linkwork study springs.py
        linkwork study sweep.toml --out sweep.parquet --processes 4

    Parameters
    ----------
    file
        Python that defines model, design and duration, and perhaps measure, state, control, dt, ... as lw.study takes them;
        or TOML with model = "robot.urdf" or scene = "chain", duration, and a table [grid], [sobol], [latin] or [random].
    out
        The Parquet file; the name of the study file with .parquet if not given.
    processes
        Processes of this machine, for controls and measures that take long in Python.
    threads
        For the compiled code; all cores if not given.
    cluster
        Address of a Ray cluster; 'local' starts one here.
    plot
        A picture of every measure against every column (PNG, SVG or PDF).
    headless
        No progress bar.
    """
    from ..studies import study as studied
    from ..studies.files import study_file

    asked = study_file(file)
    where = file.with_suffix(".parquet") if out is None else out
    place = True if cluster == "local" else cluster or False
    found = studied(**asked, out=where, processes=processes, threads=threads, cluster=place, progress=False if headless else None)
    print(f"study    {len(found)} runs over {', '.join(found.design)}")
    for name in found.measures:
        x = found[name]
        if x.ndim == 1:
            print(f"measure  {name}: {_least(x):.6g} to {-_least(-x):.6g}")
    if len(found.failed):
        first = int(found.failed[0])
        print(f"failed   {len(found.failed)} runs; the first is run {first}: {found['failure'][first]}")
    print(f"wrote    {where}")
    if plot is not None:
        found.plot().savefig(plot, dpi=150)
        print(f"wrote    {plot}")


def _least(x: object) -> float:
    import numpy as np

    return float(np.nanmin(np.asarray(x, float)))
