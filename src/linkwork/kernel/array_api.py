"""Functions of NumPy's C interface, by their numbers in its table, which stay the same from version to version."""

from __future__ import annotations

import ctypes
import functools
import importlib
from typing import Any

NEW_COPY, NEW_LIKE, SET_HANDLER = 85, 277, 304  # PyArray_NewCopy, PyArray_NewLikeArray, PyDataMem_SetHandler


@functools.cache
def _table() -> int:
    try:
        module: Any = importlib.import_module("numpy._core._multiarray_umath")
    except ImportError:  # NumPy 1
        module = importlib.import_module("numpy.core._multiarray_umath")
    find = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    return find(module._ARRAY_API, None)


def address(number: int) -> int:
    """Where a function of the table begins."""
    return ctypes.c_void_p.from_address(_table() + number * ctypes.sizeof(ctypes.c_void_p)).value or 0
