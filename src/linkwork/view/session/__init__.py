"""Live from Python: a simulation that runs in Python, with Python controllers in the loop, in a page of viser."""

from .controls import Slider, Target
from .session import Session, live

__all__ = ["Session", "Slider", "Target", "live"]
