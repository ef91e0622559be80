"""A bar that says how far a run is: percent, simulated time, steps a second, time left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 0.1  # between two looks at the bar


@contextmanager
def progress(name: str, steps: float, dt: float, quiet: bool = False) -> Iterator[None]:
    """Shows a bar on stderr, if that is a terminal, while a run inside goes on."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from ..steppers.progress import watched

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[at]:.3g} of {task.fields[end]:.3g} s"),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, refresh_per_second=1 / SECONDS) as bar:
        task = bar.add_task(name, total=steps, at=0.0, end=steps * dt, speed="")

        def listen(done: int) -> None:
            now = bar.tasks[task]
            speed = f"{now.speed:,.0f} steps/s" if now.speed else ""
            bar.update(task, advance=done, at=(now.completed + done) * dt, speed=speed)

        with watched(listen):
            yield
