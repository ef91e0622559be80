"""The machine that runs this process, as plans see it."""

from __future__ import annotations

from typing import Any

from . import loop_keys, machine
from .backend import Code
from .driver import Driver, driver
from .lanes import Lanes


class Host:
    """Kernels are loaded for good, and addresses are those of this process."""

    waits = True

    def __init__(self) -> None:
        self.units: dict[str, Any] = {}

    def description(self) -> str:
        return machine.description()

    def compile(self, ir: str, patient: bool) -> bytes:
        return machine.compile_object(ir, patient)

    def load(self, compiled: bytes) -> Code:
        return machine.Library.shared(compiled)

    def routine(self, function: Any, lanes: Lanes) -> int:
        return loop_keys.address(function, lanes)

    def driver(self, lanes: Lanes) -> Driver:
        return driver(lanes)


HOST = Host()
