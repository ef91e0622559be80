"""`linkwork view`: look at a model, or at a run that was saved."""

from __future__ import annotations

from pathlib import Path

from .app import Flag, Loading, Rest, app, print_json
from .opening import open_page
from .problem import problem_of, refuse_options
from .runs import STREAM, SavedRun, written


@app.command
def view(
    what: str,
    /,
    *rest: Rest,
    loading: Loading = Loading(),  # noqa: B008  frozen
    move: Flag = False,
    out: Path = Path("runs"),
    headless: Flag = False,
    json: Flag = False,
) -> None:
    """Write a page of a model as it stands, or of a run that was saved, and open it in the browser. Nothing is simulated.

    Examples:
        linkwork view robot.urdf
        linkwork view robot.urdf --move
        linkwork view leg
        linkwork view runs/pendulum.lwk
        linkwork view runs/pendulum.html

    Parameters
    ----------
    what
        File of a model (URDF, MJCF, RedMax scene, .lwm), name of a scene, a run that was saved (.lwk), or its page.
    move
        Move one joint after the other through its range.
    out
        Folder for NAME.view.html; created if needed.
    headless
        Write the page without opening a browser.
    json
        Print the path, and the size of the model, as JSON.
    """
    suffix = Path(what).suffix.lower()
    if suffix in (".html", ".htm", STREAM):
        kind = "a saved run" if suffix == STREAM else "a page"
        refuse_options(f"{Path(what).name}: {kind}", loading, rest=[*rest, *["--move"] * move])
    if suffix in (".html", ".htm") and Path(what).is_file():
        page, facts = Path(what), {}
    elif suffix == STREAM:
        saved = SavedRun(Path(what))
        out.mkdir(parents=True, exist_ok=True)
        page, facts = saved.trajectory.save(out / f"{saved.name}.html"), saved.facts()
        if not json:
            print(f"wrote    {page}")
    else:
        from .standing import standing

        problem = problem_of(what, rest, loading)
        out.mkdir(parents=True, exist_ok=True)
        run = standing(problem, move)
        (page,) = written(run, [out / f"{problem.name}.view.html"], True, problem.look)
        facts = {"name": problem.name, "bodies": run.model.nb, "dofs": problem.model.nv}
        if not json:
            print(run.model)
            print(f"wrote    {page}")
    if json:
        print_json(facts | {"files": [page]})
    if not headless:
        open_page(page)
