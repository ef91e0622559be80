"""Loops over rows: plain Python functions whose sizes are known only when they run, compiled to kernels over lanes.

    @loops
    def axpy(n: int, a: float, x: Lane, y: Lane) -> None:
        for i in range(n):
            y[i] += a * x[i]

Called, the function runs as it stands, on NumPy arrays: the reference. `axpy.address(lanes)` is the same as a kernel of the
driver, which does all lanes at once.

Parameters, by annotation: `int`; `float`, a number that is the same in all lanes; `Lane`, an array of lane values; `Ints`, an
array of int64 for all lanes; `Table`, an array of int32 that is only read; `Strided`, a `Lane` of which functions that go lane by
lane (`lane_by_lane`) see their own lane. Functions for others to call may also take and
return lane values (`float`), conditions of lanes (`Mask`) and uniform conditions (`bool`). A class of `Arrays` is a parameter
that stands for several arrays, which go together.

A function for others to call may have an int n of the kind `Small`: calls of it choose code of its own for n up to `FEW`, in
which loops of known length are written out, and those of its Lane arrays that are `Scratch` (at most n (n + 1) / 2 records, which
say nothing before or afterwards) are registers.

The language: assignments to names and records, `for` over `range`, `while`, `if`, `break`, `continue`, `return`; + - * // %
of ints; + - * / of lane values, with which ints and constants of the module mix; `abs`, `sqrt`, `minimum`, `maximum`, `where`;
comparisons of lane values give conditions of lanes, which & | ~ combine and `any` and `all` make uniform; only uniform
conditions steer. A[x] with a lane value x, a whole number, is of every lane its own record. Records are never negative, and no
divisor of ints is 0: compiled code does not check.

x + a b, x - a b and a b - x round once when compiled, at every width alike: lanes of all widths agree to the bit, and with the
Python function to rounding.
"""

from __future__ import annotations

import ast
import builtins
import ctypes
import functools
import inspect
import itertools
import struct
import textwrap
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CompileError, InputError
from . import cache, machine
from .lanes import Lanes
from .loop_eager import Arrays, Ints, Lane, Mask, Scratch, Small, Strided, Table, all, any, maximum, minimum, records, sqrt, where
from .loop_expressions import METADATA
from .loop_statements import Statements
from .loop_writer import ARRAYS, Kind, Known, Lines, Signature, plain

__all__ = [
    "Arrays",
    "Ints",
    "Lane",
    "LoopFunction",
    "Mask",
    "Scratch",
    "Small",
    "Strided",
    "Table",
    "all",
    "any",
    "loops",
    "maximum",
    "minimum",
    "sqrt",
    "where",
]

Parameters = tuple[tuple[str, Kind], ...]
KINDS = {
    int: Kind.INT,
    float: Kind.VALUE,
    bool: Kind.FLAG,
    Mask: Kind.MASK,
    Lane: Kind.LANES,
    Small: Kind.INT,
    Scratch: Kind.LANES,
    Strided: Kind.STRIDED,
    Ints: Kind.INTS,
    Table: Kind.TABLE,
    type(None): Kind.NOTHING,
}
NAMES = {  # of kernels
    Kind.INT: "int",
    Kind.VALUE: "float",
    Kind.LANES: "Lane",
    Kind.STRIDED: "Lane",
    Kind.INTS: "Ints",
    Kind.TABLE: "Table",
}
STRIDE = 2  # entries per parameter
HEAD = "define void @KERNEL(ptr noalias %entries, i64 %count, ptr noalias %bases) #0 {"
ATTRIBUTES = 'attributes #0 = { nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" }'


class LoopFunction:
    """A Python function and the kernels made of it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function, self.name = function, function.__name__
        self._kernels: dict[Lanes, tuple[str, str]] = {}  # the name of each, and the key of its object

    def __call__(self, *arguments: Any) -> Any:
        """Run the Python function on NumPy arrays: Lane arrays are (size, W) or (size,), the others (size,).

        Arrays that go together may be given as such, or all of them one by one.
        """
        if self.together and not builtins.any(isinstance(a, Arrays) for a in arguments):
            rest = iter(arguments)
            names = inspect.signature(self.function).parameters
            groups = [(self.together.get(name), len(self._fields(name))) for name in names]
            arguments = tuple(of(*itertools.islice(rest, n)) if of else next(rest) for of, n in groups)
        with np.errstate(all="ignore"):  # as compiled code: NaN and infinity are values
            return self.function(*(records(a) for a in arguments))

    @functools.cached_property
    def _hints(self) -> dict[str, Any]:
        try:
            return typing.get_type_hints(self.function, include_extras=True)
        except NameError as error:
            raise CompileError(f"{self.name}: an annotation is unknown: {error}") from error

    @functools.cached_property
    def together(self) -> dict[str, type[Arrays]]:
        """The parameters that stand for several arrays."""
        hints = ((name, hint) for name, hint in self._hints.items() if name != "return")
        return {name: hint for name, hint in hints if isinstance(hint, type) and issubclass(hint, Arrays)}

    def _fields(self, name: str) -> dict[str, Any]:
        """What a parameter stands for, each with its annotation."""
        if name not in self.together:
            return {name: self._hints.get(name)}
        return {f"{name}.{field}": hint for field, hint in self.together[name].listed().items()}

    def of_kind(self, annotation: Any) -> list[str]:
        """The parameters with an annotation."""
        names = [name for name in self._hints if name != "return"]
        return [field for name in names for field, hint in self._fields(name).items() if hint == annotation]

    @functools.cached_property
    def signature(self) -> tuple[tuple[tuple[str, Kind], ...], Kind]:
        """Parameters and result, by their annotations."""
        hints, found = self._hints, []
        for name, p in inspect.signature(self.function).parameters.items():
            fields = {field: KINDS.get(hint) for field, hint in self._fields(name).items()}
            kinds = set(fields.values())
            wrong = kinds - set(ARRAYS) if name in self.together else kinds & {None, Kind.NOTHING}
            if wrong or p.default is not p.empty or p.kind is not p.POSITIONAL_OR_KEYWORD:
                allowed = "int, float, Lane, Ints, Table, or Arrays of these (bool, Mask in functions that others call)"
                raise CompileError(f"{self.name}: parameter {name} needs one of the annotations {allowed}, and no default")
            found += fields.items()
        result = KINDS.get(hints.get("return", type(None)))
        if result not in (Kind.NOTHING, Kind.INT, Kind.VALUE, Kind.FLAG, Kind.MASK):
            raise CompileError(f"{self.name}: it may return None, int, float (a lane value), bool or Mask")
        return tuple(found), result

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """Names and kinds (int, float, Lane, Ints, Table) of what the kernel reads."""
        parameters, result = self.signature
        if result is not Kind.NOTHING or {kind for _, kind in parameters} - set(NAMES):
            raise CompileError(f"{self.name} is for loop functions to call: a kernel has no bool, no Mask and no result")
        found = [(plain(name), NAMES[kind]) for name, kind in parameters]
        if len(dict(found)) < len(found):
            raise CompileError(f"{self.name}: the names of all its arrays differ, also of those that are given together")
        return found

    def written(self, lanes: Lanes, symbol: str, stride: int) -> str | None:
        """A text of its own in IR, or None where the Python function is what is compiled; see `Module`."""
        return None

    def text(self, lanes: Lanes) -> tuple[str, str]:
        """The name of the kernel, and its module."""
        text = "\n\n".join([*self.written_kernel(lanes), ATTRIBUTES, METADATA])
        symbol = f"{self.name}_{cache.digest(text)[:24]}"
        return symbol, text.replace("@KERNEL(", f"@{symbol}(", 1)

    def written_kernel(self, lanes: Lanes) -> list[str]:
        """All functions of the kernel, which is called KERNEL, as IR."""
        module = Module(lanes)
        body = module.signature(self)
        assert body is not None
        return [*module.functions, _kernel(lanes, body.symbol, [kind for _, kind in self.parameters])]

    def address(self, lanes: Lanes) -> int:
        """Where the compiled kernel `void kernel(ptr entries, i64 count, ptr bases)` is; see `entries`. The count is not read."""
        if lanes not in self._kernels:
            symbol, text = self.text(lanes)
            self._kernels[lanes] = symbol, machine.Library.loops_key(text)
            if symbol not in _addresses:
                _addresses[symbol] = machine.Library.of_loops(text).address(symbol)
        return _addresses[self._kernels[lanes][0]]

    def is_loaded(self, lanes: Lanes) -> bool:
        """Whether `address` is at hand."""
        return lanes in self._kernels

    def loaded_from(self, lanes: Lanes) -> dict[str, str]:
        """What `load` needs in another process."""
        return dict(zip(("symbol", "object_key"), self._kernels[lanes], strict=True))

    def load(self, lanes: Lanes, symbol: str, object_key: str) -> bool:
        """Take the kernel from an object of the cache, and say whether it is there."""
        if symbol not in _addresses:
            library = machine.Library.kept(object_key)
            if library is None:
                return False
            _addresses[symbol] = library.address(symbol)
        self._kernels[lanes] = symbol, object_key
        return True

    def entries(self, *values: Any) -> np.ndarray:
        """What the kernel reads first, two numbers a parameter.

        For `int` the value, for `float` its bits, for a `Table` its address, each before a 0; for `Lane` and `Ints` a pair:
        which of the bases it is, and the number of its first record there.
        """
        if len(values) != len(self.parameters):
            listed = ", ".join(f"{name}: {kind}" for name, kind in self.parameters)
            raise InputError(f"{self.name} takes {len(self.parameters)} arguments ({listed}); {len(values)} are given")
        out = np.zeros((len(values), STRIDE), np.int64)
        for row, value, (_, kind) in zip(out, values, self.parameters, strict=True):
            if kind in ("Lane", "Ints"):
                row[:] = value
            elif kind == "float":
                row[0] = struct.unpack("<q", struct.pack("<d", value))[0]
            else:
                row[0] = value
        return out.reshape(-1)

    def call(self, lanes: Lanes, *arguments: Any) -> None:
        """Run the compiled kernel in place: Lane arrays (size, W), or (size,) in one lane; Ints int64; Tables int32."""
        values, bases = list(arguments), []
        for k, (name, kind) in enumerate(self.parameters[: len(values)]):
            if kind in ("int", "float"):
                continue
            start = self._memory(lanes, name, kind, values[k])
            values[k] = start if kind == "Table" else (len(bases), 0)
            bases += [] if kind == "Table" else [start]
        entries, base = self.entries(*values), np.array(bases, np.int64)
        run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)(self.address(lanes))
        run(entries.ctypes.data, 1, base.ctypes.data)

    def _memory(self, lanes: Lanes, name: str, kind: str, array: Any) -> int:
        """The address of an array that is laid out as the kernel reads it."""
        dtype = np.dtype({"Lane": lanes.dtype, "Ints": np.int64, "Table": np.int32}[kind])
        record = (lanes.width,) if kind == "Lane" else ()
        records = {record, ()} if lanes.width == 1 else {record}
        if not isinstance(array, np.ndarray) or array.dtype != dtype or not array.flags.c_contiguous:
            raise InputError(f"{self.name}: {name} must be a contiguous array of {dtype}")
        if not array.ndim or array.shape[1:] not in records:
            raise InputError(f"{self.name}: {name} must have the shape {('size', *record)}; it has {array.shape}")
        return array.ctypes.data


_addresses: dict[str, int] = {}  # of kernels by name: functions of one text share it, as names must be unique in the process


def loops(function: Callable[..., Any]) -> LoopFunction:
    """A function of loops over arrays, that runs as it stands and compiles to kernels."""
    return LoopFunction(function)


class Module:
    """The functions that one kernel needs, each written once.

    stride   numbers from one record of a Strided array to the next
    name     what their names end in
    """

    def __init__(self, lanes: Lanes, stride: int = 0, name: str = "") -> None:
        self.lanes, self.stride, self._name = lanes, stride or lanes.width, name
        self.functions: list[str] = []
        self._known: dict[tuple[int, Known], Signature | None] = {}  # by identity; None while a function is being written

    def signature(self, function: LoopFunction, known: Known = ()) -> Signature | None:
        """How to call a loop function, which is written now if it was not yet; None if that has not ended.

        known   values of parameters, for which it has code of its own
        """
        key = (id(function), known)
        if key not in self._known:
            self._known[key] = None
            symbol = f"{function.name}.{len(self._known)}{self._name}"
            text = function.written(self.lanes, symbol, self.stride)
            own = (*function.of_kind(Small), ""), frozenset(function.of_kind(Scratch)), known if text is None else ()
            signature = Signature(symbol, *self._seen(*function.signature), own[0][0], *own[1:], self.stride)
            if text is None:
                source = Source(function, self)
                text = Statements(source, self.lanes, signature).function(source.tree)
            self.functions.append(text)
            self._known[key] = signature
        return self._known[key]

    def _seen(self, parameters: Parameters, result: Kind) -> tuple[Parameters, Kind]:
        """Parameters as this module sees them: where records are as wide as the lanes, a Strided array is one of lanes."""
        if self.stride == self.lanes.width:
            parameters = tuple((name, Kind.LANES if kind is Kind.STRIDED else kind) for name, kind in parameters)
        return parameters, result


class Source:
    """The text of a function, and what names outside it mean."""

    def __init__(self, owner: LoopFunction, module: Module) -> None:
        self._function, self._module, self._code = owner.function, module, owner.function.__code__
        try:
            text = textwrap.dedent(inspect.getsource(owner.function))
        except OSError as error:
            raise CompileError(f"{owner.name}: its source is not at hand ({error})") from error
        tree = ast.parse(text).body[0]
        if not isinstance(tree, ast.FunctionDef):
            raise CompileError(f"{owner.name}: a loop function is written with `def`")
        self.tree = tree

    def lookup(self, name: str) -> Any:
        cells = self._function.__closure__ or ()
        around = {n: cell.cell_contents for n, cell in zip(self._code.co_freevars, cells, strict=True)}
        for names in (around, self._function.__globals__, vars(builtins)):
            if name in names:
                return names[name]
        raise KeyError(name)

    def signature(self, found: Any, node: ast.AST, known: Known = ()) -> Signature | None:
        if not isinstance(found, LoopFunction):
            return None
        signature = self._module.signature(found, known)
        if signature is None:
            raise CompileError(f"{self.place(node)}: {found.name} is being called already; loop functions do not recur")
        return signature

    def place(self, node: ast.AST) -> str:
        line = self._code.co_firstlineno + getattr(node, "lineno", 1) - 1
        return f"{self._function.__name__} ({Path(self._code.co_filename).name}, line {line})"


def _kernel(t: Lanes, body: str, kinds: list[str]) -> str:
    """The kernel that reads the entries and calls the function."""
    w = Lines(t)
    given = ", ".join(f"{kind} {x}" for kind, x in read_entries(w, t, kinds))
    return "\n".join([HEAD, *w.lines, f"  call void @{body}({given})", "  ret void", "}"])


def read_entries(w: Lines, t: Lanes, kinds: list[str]) -> list[tuple[str, str]]:
    """Types and names of the arguments that the entries tell; records of Lane arrays are of t, numbers are of the lines."""
    given, types = [], {"int": "i64", "float": w.t.type}
    for k, kind in enumerate(kinds):
        at = w.emit(f"getelementptr i64, ptr %entries, i64 {STRIDE * k}")
        if kind == "int":
            x = w.emit(f"load i64, ptr {at}")
        elif kind == "Table":
            x = w.emit(f"load ptr, ptr {at}")
        elif kind == "float":
            x = w.emit(f"load double, ptr {at}")
            x = w.splat(t.element, w.emit(f"fptrunc double {x} to float") if t.single else x)
        else:
            size = t.width * t.bytes if kind == "Lane" else 8
            place = w.emit(f"load i64, ptr {at}")
            base = w.emit(f"load ptr, ptr {w.emit(f'getelementptr ptr, ptr %bases, i64 {place}')}")
            first = w.emit(f"load i64, ptr {w.emit(f'getelementptr i64, ptr {at}, i64 1')}")
            x = w.emit(f"getelementptr i8, ptr {base}, i64 {w.emit(f'mul i64 {first}, {size}')}")
        given.append((types.get(kind, "ptr"), x))
    return given
