"""What to use instead, where a function of a user asks a traced value for something that only a number has."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from types import TracebackType

import numpy as np

HOME, NUMPY = str(Path(__file__).parents[1]), str(Path(np.__file__).parent)
RENAMED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
RENAMED |= {"atan2": "arctan2", "fabs": "abs", "pow": "power"}
LOOKUP = "lw.samples(x, y) as a parameter, and lw.interp(x, samples)"
PLACE = "table[i] with lw.Table(values) as a parameter"
BRANCH = "lw.math.where(condition, a, b)"
INSTEAD = {
    "math.hypot": "lw.math.norm",
    "np.interp": LOOKUP,
    "np.maximum": "lw.math.maximum",
    "np.fmax": "lw.math.maximum",
    "np.minimum": "lw.math.minimum",
    "np.fmin": "lw.math.minimum",
    "np.clip": "lw.math.clip",
    "np.where": BRANCH,
    "np.heaviside": BRANCH,
    "np.cbrt": "np.sign(x) * np.abs(x) ** (1 / 3)",
    "np.sinc": "np.sin(np.pi * x) / (np.pi * x) away from zero",
    "np.linalg.inv": "lw.math.inv",
    "np.linalg.solve": "lw.math.solve",
    "np.linalg.pinv": "lw.math.solve with the normal equations",
    "np.linalg.det": "cofactors, as lw.math.dot(a, lw.math.cross(b, c))",
    "np.select": BRANCH,
    "np.piecewise": BRANCH,
    "max": f"lw.math.maximum, or {BRANCH}",
    "min": f"lw.math.minimum, or {BRANCH}",
    "int": PLACE,
    "round": PLACE,
    "range": "a number that is no traced value",
    "float": "the value as it is",
}
CALL = re.compile(r"\b((?:math|np|numpy)\.(?:linalg\.)?\w+|max|min|int|round|range|float)\s*\(")


def advice(error: BaseException) -> str:
    """The function that a user's code called, and what takes its place; empty where that is not known."""
    for name in CALL.findall(_failing_code(error.__traceback__)):
        called = name.replace("numpy.", "np.")
        if called in INSTEAD:
            return f"{called} does not take traced values; use {INSTEAD[called]}"
        if called.startswith("math."):
            plain = called.removeprefix("math.")
            return f"{called} does not take traced values; use np.{RENAMED.get(plain, plain)}"
    return ""


def _failing_code(trace: TracebackType | None) -> str:
    """The text of what ran in the last line of a user, as far as it can be found."""
    found = ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith((HOME, NUMPY)):
            at = list(code.co_positions())[trace.tb_lasti // 2]
            line, end_line, column, end = at
            text = linecache.getline(code.co_filename, line or 0)
            same = line == end_line and column is not None
            found = (text.encode()[column:end].decode(errors="replace") if same else text) or _names(code.co_names)
        trace = trace.tb_next
    return found


def _names(names: tuple[str, ...]) -> str:
    """Calls that a function makes, by its names alone, where its text is not at hand."""
    modules = [n for n in names if n in ("math", "np", "numpy")]
    return " ".join(f"{m}.{n}(" for m in modules for n in names if n not in modules) + " ".join(f" {n}(" for n in names)
