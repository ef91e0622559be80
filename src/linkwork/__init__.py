"""linkwork: dynamics of articulated bodies. A joint, force or constraint is a few lines; everything else is derived.

The public names are those of the stub beside this file, `__init__.pyi`. Each is imported when it is first asked for, so that a
program pays only for what it uses.
"""

from __future__ import annotations

import os as _os

from .lazy import offer_lazily as _offer_lazily

__version__ = "0.2.0"
_PLACES = _offer_lazily(__name__, "__init__.pyi")
if _os.environ.get("LINKWORK_GUARD"):  # from here on, so that the caller's arrays have guards, too
    from .kernel import guard as _guard

    _guard.arm()


def __dir__() -> list[str]:
    """What users use: the public names, and the version."""
    return [*__all__, "__version__"]


def _here() -> list[str]:
    """The public names, without doors to packages that are not installed."""
    from importlib.util import find_spec

    closed = [name for name, (module, own) in _PLACES.items() if module == "doors" and find_spec(own) is None]
    return [name for name in _PLACES if name not in closed]


__all__ = _here()  # pyright: ignore[reportUnsupportedDunderAll]
