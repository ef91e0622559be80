"""Runs on disk: written while they run, read afterwards, continued after a kill. See docs/reliability/streams.md."""

from .loaded import load
from .resume import resume
from .stream import stream

__all__ = ["load", "resume", "stream"]
