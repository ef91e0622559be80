"""Joints, one small file per family."""

from .custom import CustomJoint, joint
from .free import Free
from .joint import Joint
from .revolute import Revolute
from .spherical import Spherical

__all__ = ["CustomJoint", "Free", "Joint", "Revolute", "Spherical", "joint"]
