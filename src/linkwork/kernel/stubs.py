"""Kernels that are compiled when they first run.

Half of the code of a program may stand behind guards, such as solvers of rows that never act. Until a guard lets a kernel run, a
stub stands in the tables of its plan: a function of Python at an address, which compiles the kernel, writes the kernel's address
over its own, and runs the kernel for this once. From then on compiled code calls compiled code, with the same bits.

Python runs while a stub does, other threads too: code that must not be left meanwhile, or that runs in threads of which nobody
asks how they fared, is complete before it begins (`complete`). What goes wrong in a stub is raised by who called (`check`).
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable

import numpy as np

Maker = Callable[[], int]  # of the address of a kernel
KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)  # entries, nodes, bases


class _Making:
    """One kernel at a time is compiled: those of several plans may be the same."""

    def __init__(self) -> None:
        self.lock = threading.RLock()


_making = _Making()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_making.__init__)  # nobody holds the lock in a child


class Stubs:
    """The stubs of a plan.

    tables   of segments, which begin with the address of a kernel
    """

    def __init__(self) -> None:
        self.tables: list[np.ndarray] = []
        self._makers: dict[int, Maker] = {}  # of kernels that did not run yet, by the address of their stub
        self._found: dict[int, int] = {}  # the addresses of the others
        self._functions: list[object] = []  # a thread may be about to call one as long as the plan lives
        self._errors: dict[int, BaseException] = {}  # by thread

    def add(self, make: Maker) -> int:
        """The address of a new stub."""

        def first(entries: int, nodes: int, bases: int) -> None:
            try:
                kernel = KERNEL(self._make(at))
            except BaseException as error:  # nothing can be raised through compiled code
                self._errors[threading.get_ident()] = error
            else:
                kernel(entries, nodes, bases)

        function = KERNEL(first)
        at = ctypes.cast(function, ctypes.c_void_p).value or 0
        self._functions.append(function)
        self._makers[at] = make
        return at

    def _make(self, at: int) -> int:
        """The address of the kernel behind a stub, which stands in the tables afterwards."""
        with _making.lock:
            if at not in self._found:
                self._found[at] = self._makers[at]()
                for table in self.tables:
                    table[table[:, 0] == at, 0] = self._found[at]
                self._makers.pop(at, None)  # a signal handler may have been here meanwhile
            return self._found[at]

    @property
    def waiting(self) -> int:
        """How many kernels did not run yet."""
        return len(self._makers)

    def complete(self) -> None:
        """Compile what has not run yet."""
        while self._makers:
            self._make(next(iter(self._makers)))

    def check(self) -> None:
        """Raise what went wrong in this thread."""
        if self._errors:
            error = self._errors.pop(threading.get_ident(), None)
            if error is not None:
                raise error
