"""Contact: detection and the problems it poses."""

from .contact import Contact

__all__ = ["Contact"]
