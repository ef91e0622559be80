"""Contact: detection and the problems it poses."""

from typing import TYPE_CHECKING

from ..lazy import offer_lazily

if TYPE_CHECKING:
    from .compliant import CompliantContact
    from .contact import Contact

offer_lazily(__name__)
__all__ = [
    "CompliantContact",
    "Contact",
]
