"""The machine that runs this process, as plans see it."""

from __future__ import annotations

from typing import Any

from . import machine
from .backend import Code
from .driver import Driver, driver
from .lanes import Lanes


class Host:
    """Kernels are loaded for good, and addresses are those of this process."""

    def __init__(self) -> None:
        self.units: dict[str, Any] = {}

    def description(self) -> str:
        return machine.description()

    def compile(self, ir: str, patient: bool) -> bytes:
        return machine.compile_object(ir, patient)

    def load(self, compiled: bytes) -> Code:
        return machine.Library.shared(compiled)

    def routine(self, function: Any, lanes: Lanes) -> int:
        return function.address(lanes)

    def driver(self, lanes: Lanes) -> Driver:
        return driver(lanes)


HOST = Host()
