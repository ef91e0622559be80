"""Runs that go on after a kill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import InputError
from ..prepared import delivered
from ..simulate import prepared
from ..spatial.gate import given_path, known_keywords
from ..store.blocks import BlockWriter
from ..trajectory import Trajectory
from .checks import check_clipped, check_place
from .file import StreamFile
from .head import ASKED, BY_STEPS, EVENTS, call_of, check_versions, read_from
from .loaded import StreamedTrajectory
from .writing import written


@known_keywords
def resume(
    path: str | Path,
    *,
    model: Any = None,
    control: Any = None,
    inputs: Any = None,
    events: Any = None,
    elsewhere: str = "refuse",
) -> Trajectory:
    """Continue a run that was killed or stopped to its end: the trajectory of all of it.

    path       of the stream that `simulate(out=...)` began; it is written on
    model      where the stream does not hold its own (laws of classes that are not part of linkwork): the same again
    control, inputs   where the run had some that are functions: the same again. If they have `state()` and `restore(state)`,
               what they remembered is restored
    events     where the run had some: the same functions again
    elsewhere  "refuse": a run goes on with the versions and the kind of processor that began it, so that its end is that of a run
               that was never stopped, to the bit;  "allow": anywhere
    A run that is at its end is returned as it is.

    >>> run = lw.resume("run.lwk")  # doctest: +SKIP
    """
    if elsewhere not in ("refuse", "allow"):
        raise InputError(f"elsewhere must be 'refuse' or 'allow', not {elsewhere!r}")
    path = given_path("resume: path", path)
    file = StreamFile(path)
    if file.head.text.get(BY_STEPS):
        raise InputError(f"{path} holds the steps of a Simulator; lw.Simulator.resume(path) goes on from there")
    if file.end is not None:
        return delivered(StreamedTrajectory(path, model), file.end["failure"])
    asked = {"control": control, "inputs": inputs}
    for name in ASKED:
        if file.head.text["asked"][name] and not callable(asked[name]):
            raise InputError(f"the run in {path} asked a function for its {name}; pass the same again as {name}=")
        if asked[name] is not None and not file.head.text["asked"][name]:
            raise InputError(f"the run in {path} asked no function for its {name}; leave {name}= out")
    if bool(events) != bool(file.head.text["asked"].get(EVENTS)):
        had = "looked for events; pass the same functions again as events=" if not events else "had no events; leave events= out"
        raise InputError(f"the run in {path} {had}")
    check_versions(path, file.head.text["ran_on"], elsewhere)
    call = call_of(path, file.head.text, file.head.arrays, model, **asked, events=events)
    with read_from(path):
        ready = prepared(**call)
        check_clipped(ready, file.clipped)
        if file.place is not None and not ready.adaptive:
            check_place(ready, file.place)
    ready.efforts.clipped = file.clipped if file.clipped is not None else ready.efforts.clipped
    for name, state in file.states.items():
        if not callable(getattr(call[name], "restore", None)):
            raise InputError(f"the {name} of the run in {path} had a state; this one has no restore(state)")
        call[name].restore(state)
    writer = BlockWriter(path, *file.whole_to)
    try:
        return written(ready, writer, call, file.place)
    finally:
        writer.close()
