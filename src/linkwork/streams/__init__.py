"""Runs on disk: written while they run, read afterwards, continued after a kill. See docs/reliability/streams.md."""

from .loaded import load
from .resuming import resume
from .steps import StepStream, taken_up
from .writing import stream

__all__ = ["StepStream", "load", "resume", "stream", "taken_up"]
