"""The number of threads of the linear algebra that NumPy and SciPy bring along, so that rivals are measured on one core, too."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

PLACES = ("numpy.libs", "scipy.libs")
SUFFIXES = ("64_", "")  # of libraries with long integers, and of others


@contextlib.contextmanager
def one_blas_thread() -> Iterator[bool]:
    """One thread inside, as many as before afterwards; it yields whether the libraries were found."""
    found = list(_libraries())
    before = [count() for count, _ in found]
    for _, choose in found:
        choose(1)
    try:
        yield bool(found)
    finally:
        for (_, choose), n in zip(found, before, strict=True):
            choose(n)


def _libraries() -> Iterator[tuple[Callable[[], int], Callable[[int], None]]]:
    """How many threads each library uses, and the function that changes it."""
    packages = Path(np.__file__).parent.parent
    for file in (f for place in PLACES for f in sorted((packages / place).glob("*openblas*"))):
        library = ctypes.CDLL(str(file))  # loaded already: the same one again
        for suffix in SUFFIXES:
            with contextlib.suppress(AttributeError):
                yield (
                    getattr(library, f"scipy_openblas_get_num_threads{suffix}"),
                    getattr(library, f"scipy_openblas_set_num_threads{suffix}"),
                )
