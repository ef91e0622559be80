"""SO(3), SE(3) and inertia, for numbers and symbols alike."""

from .inertia import Articulated, Inertia
from .se3 import SE3, Ad, Tangent, ad

__all__ = ["SE3", "Ad", "Articulated", "Inertia", "Tangent", "ad"]
