"""Contact: detection and the problems it poses."""

from .compliant import CompliantContact
from .contact import Contact

__all__ = ["CompliantContact", "Contact"]
