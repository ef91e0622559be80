"""What a machine is to plans: it compiles kernels, and says what their addresses are.

Plans are tables of addresses. On the machine of this process (`host`) these are addresses of loaded code; in a module of
WebAssembly (`wasm`) they are places in its table of functions.
"""

from __future__ import annotations

from typing import Any, Protocol

from .lanes import Lanes


class Code(Protocol):
    """Compiled kernels."""

    def address(self, name: str) -> int: ...


class Backend(Protocol):
    """A machine that kernels are compiled for.

    units   those that are loaded, by their key
    waits   whether kernels may be compiled while others run (`stubs`)
    """

    units: dict[str, Any]
    waits: bool

    def description(self) -> str:
        """Compiled code is valid only where this agrees."""
        ...

    def compile(self, ir: str, patient: bool) -> bytes:
        """A module of kernels, as it is kept."""
        ...

    def load(self, compiled: bytes) -> Code:
        """Compiled kernels, ready to be called."""
        ...

    def routine(self, function: Any, lanes: Lanes) -> int:
        """The address of a loop function."""
        ...

    def driver(self, lanes: Lanes) -> Any:
        """The driver for a value type; `repeat_at` is the address of the kernel that repeats others."""
        ...
