"""Runs that a command made, or that were saved: what they were, how they went, and their files."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..look import Look
from .app import BROKEN, Loading, Timing
from .problem import Problem, problem_of, refuse_options
from .progress import progress
from .tables import health_json, print_health, print_verdict

if TYPE_CHECKING:
    from ..trajectory import Trajectory

STREAM = ".lwk"


def run_of(what: str, rest: Sequence[str], timing: Timing, loading: Loading, quiet: bool) -> Run | SavedRun:
    """A run that was saved as a stream, or a new one of a scene or a file."""
    if Path(what).suffix.lower() == STREAM:
        refuse_options(f"{Path(what).name}: a saved run", timing, loading, rest=rest)
        return SavedRun(Path(what))
    return Run(problem_of(what, rest, loading), timing, quiet)


class SavedRun:
    """A run in a stream, as far as it is whole."""

    def __init__(self, path: Path) -> None:
        from ..errors import InputError
        from ..trajectory import Trajectory

        if not path.is_file():
            raise InputError(f"there is no file {str(path)!r}")
        self.name, self.look = path.stem, None
        self.trajectory: Trajectory = Trajectory.load(path)

    def facts(self) -> dict[str, Any]:
        """Size and health as plain values."""
        run = self.trajectory
        span = {"start": float(run.t[0]), "end": float(run.t[-1]), "records": len(run)}
        sizes = {"bodies": run.model.nb, "dofs": run.model.nv}
        return {"name": self.name, "stepper": run.stepper, **sizes, **span, "health": health_json(run.health)}

    def end(self) -> None:
        """Say why results are doubtful, if they are."""
        print_verdict(self.trajectory.health)


class Run:
    """A run that was made, how long it took, and what broke it, if something did.

    A first step of its own keeps compilation out of the measured speed.

    stream   file to which records go while it runs
    """

    def __init__(self, problem: Problem, timing: Timing, quiet: bool = False, stream: Path | None = None) -> None:
        from rich.console import Console

        from ..errors import SolverError, StartWarning

        self.problem, self.name, self.look, self.failure = problem, problem.name, problem.look, ""
        streamed = {} if stream is None else {"out": stream}
        self.dt = problem.dt if timing.dt is None else timing.dt
        self.duration = problem.duration if timing.duration is None else timing.duration
        self.method = timing.method or problem.methods[0]
        start = time.perf_counter()
        with Console(stderr=True).status(f"Preparing {problem.name} ..."), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", StartWarning)
            problem.simulate(timing, duration=self.dt)
        for line in dict.fromkeys(str(w.message) for w in told):
            print(f"linkwork: warning: {line}", file=sys.stderr)
        self.prepared = time.perf_counter() - start
        start = time.perf_counter()
        try:
            with progress(problem.name, self.duration / self.dt, self.dt, quiet), warnings.catch_warnings():
                warnings.simplefilter("ignore", StartWarning)  # they were told
                self.trajectory: Trajectory = problem.simulate(timing, **streamed)
        except SolverError as error:
            if error.trajectory is None or len(error.trajectory) < 1:
                raise
            self.trajectory, self.failure = error.trajectory, " ".join(str(error).split())
        self.seconds = time.perf_counter() - start

    @property
    def steps(self) -> int:
        """How many steps were made."""
        return max(1, round((self.trajectory.t[-1] - self.trajectory.t[0]) / self.dt))

    def facts(self) -> dict[str, Any]:
        """Size, speed and health as plain values."""
        model = self.trajectory.model
        return {
            "name": self.problem.name,
            "method": self.method,
            "stepper": self.trajectory.stepper,
            "bodies": model.nb,
            "dofs": self.problem.model.nv,
            "steps": self.steps,
            "dt": self.dt,
            "seconds": self.seconds,
            "prepared": self.prepared,
            "real_time": self.steps * self.dt / self.seconds,
            "failure": self.failure or None,
            "health": health_json(self.trajectory.health),
        }

    def tell(self) -> None:
        """Print the same."""
        from ..model import Model

        facts, model = self.facts(), self.problem.model
        where = "the joints" if isinstance(model, Model) else "hyper-reduced coordinates"
        print(f"scene    {self.problem.name}, {self.method} coordinates")
        print(f"bodies   {facts['bodies']}")
        print(f"dofs     {model.nv} in {where}")
        print(
            f"steps    {self.steps} of {self.dt:g} s in {self.seconds:.3g} s: {self.steps / self.seconds:,.0f} steps/s, "
            f"{_times(facts['real_time'])} real time (prepared in {self.prepared:.2g} s)"
        )
        for note in getattr(model, "notes", ())[:5]:
            print(f"note     {note}")
        print_health(self.trajectory.health)

    def end(self) -> None:
        """Say why the run broke down, and leave with a code of its own; else why results are doubtful, if they are. What was
        computed is written by then."""
        if not self.failure:
            print_verdict(self.trajectory.health)
        else:
            print(f"linkwork: {self.failure}", file=sys.stderr)
            sys.exit(BROKEN)


def _times(x: float) -> str:
    return f"{x:,.0f} times" if x >= 10 else f"{x:.2g} times"


SEEN = (".html", ".mp4", ".gif", ".strobe.png")  # files in which a run is looked at


def written(trajectory: Trajectory, paths: Sequence[Path], quiet: bool = False, look: Look | None = None) -> list[Path]:
    """Write a run to files by their suffixes and say where."""
    from rich.console import Console

    def options(path: Path) -> dict[str, Any]:
        return {"look": look} if look is not None and path.name.lower().endswith(SEEN) else {}

    with Console(stderr=True).status("Writing ..."):
        paths = [trajectory.save(path, **options(path)) for path in paths]
    if not quiet:
        for path in paths:
            print(f"wrote    {path}")
    return list(paths)
