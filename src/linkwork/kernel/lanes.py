"""The value type of a kernel: `width` lanes of float64 or float32, as LLVM IR spells it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Lanes:
    """`<width x double>` or `<width x float>`; width 1 is the plain scalar."""

    width: int
    single: bool = False

    @cached_property
    def element(self) -> str:
        return "float" if self.single else "double"

    @cached_property
    def bytes(self) -> int:
        """Size of one element in bytes."""
        return 4 if self.single else 8

    @property
    def dtype(self) -> type:
        return np.float32 if self.single else np.float64

    @cached_property
    def type(self) -> str:
        return self._vector(self.element)

    @property
    def int_element(self) -> str:
        return "i32" if self.single else "i64"

    @property
    def int_type(self) -> str:
        return self._vector(self.int_element)

    @cached_property
    def bool_type(self) -> str:
        return self._vector("i1")

    @cached_property
    def suffix(self) -> str:
        """Of the intrinsics: `f64`, `v8f64`, ..."""
        scalar = "f32" if self.single else "f64"
        return scalar if self.width == 1 else f"v{self.width}{scalar}"

    def constant(self, value: float) -> str:
        """A floating-point constant in every lane, as the exact hexadecimal that LLVM expects."""
        with np.errstate(over="ignore"):  # beyond float32 is infinity there
            x = float(self.dtype(value))
        return self._splat(self.element, f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}")

    def int_constant(self, value: int) -> str:
        return self._splat(self.int_element, str(value))

    def _vector(self, element: str) -> str:
        return element if self.width == 1 else f"<{self.width} x {element}>"

    def _splat(self, element: str, text: str) -> str:
        return text if self.width == 1 else "<" + ", ".join([f"{element} {text}"] * self.width) + ">"
