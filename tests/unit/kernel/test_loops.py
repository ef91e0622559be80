"""Loop functions: the language, its errors, and the agreement of Python and compiled code at every width."""

from __future__ import annotations

import contextlib
import ctypes
import re

import numpy as np
import pytest

from linkwork.errors import CompileError, InputError
from linkwork.kernel import cache, machine
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.loop_expressions import FEW
from linkwork.kernel.loops import Arrays, Ints, Lane, Mask, Scratch, Small, Table, all, any, loops, maximum, minimum, sqrt, where

WIDTHS = [Lanes(1), Lanes(8), Lanes(16), Lanes(1, single=True), Lanes(16, single=True)]
EVERY_WIDTH = pytest.mark.parametrize("lanes", WIDTHS, ids=lambda t: t.suffix)
HALF = 0.5
THREE = 3
ON = True
WORDS = "no number"


def agree(function, lanes: Lanes, *arguments) -> list[np.ndarray]:
    """Run a function eagerly and compiled, on copies; every array must come out the same, to rounding. The compiled arrays."""
    eager = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]
    compiled = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]
    function(*eager)
    function.call(lanes, *compiled)
    accuracy = 2e-5 if lanes.single else 1e-12
    for e, c in zip(eager, compiled, strict=True):
        np.testing.assert_allclose(c, e, rtol=accuracy, atol=accuracy)
    return [c for c in compiled if isinstance(c, np.ndarray)]


def random(lanes: Lanes, size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((size, lanes.width)).astype(lanes.dtype)


def zeros(lanes: Lanes, size: int) -> np.ndarray:
    return np.zeros((size, lanes.width), lanes.dtype)


# The language


@loops
def arithmetic(n: int, a: float, x: Lane, y: Lane, out: Lane) -> None:
    """All operators and functions of lane values."""
    for i in range(n):
        k = 10 * i
        out[k] = x[i] + a * y[i] - 2 * x[i] / (1.5 + abs(y[i]))
        out[k + 1] = sqrt(abs(x[i])) * -y[i]
        out[k + 2] = minimum(x[i], y[i]) - maximum(x[i], HALF)
        out[k + 3] = where((x[i] > 0) & ~(y[i] >= x[i]) | (x[i] < -1.0), x[i], i)
        out[k + 4] = float(i) / THREE
        out[k + 5] = x[i] * y[i] - a
        out[k + 6] = n / 4
        s = 1.0
        s += x[i]
        s *= y[i]
        s -= x[i] * y[i]
        s /= 3.0
        out[k + 7] = s
        out[k + 8] += x[i] * s
        out[k + 9] = where(ON, -a, where(x[i] != x[i], 1, where(x[i] == y[i], 2, where(x[i] <= 0.0, 3, 4))))


@EVERY_WIDTH
def test_arithmetic_of_lanes(lanes: Lanes) -> None:
    agree(arithmetic, lanes, 7, 0.3, random(lanes, 7), random(lanes, 7, 1), random(lanes, 70, 2))


@loops
def opposite(go: float, out: Lane) -> None:
    """Not of a comparison of numbers."""
    if all(~(go > 0.0)):
        out[0] = 1.0
    out[1] = where(~(go > 0.0), 3.0, 2.0)


@pytest.mark.parametrize("go", [1.0, 0.0, float("nan")])
def test_the_opposite_of_a_comparison_of_numbers(go: float) -> None:
    """Where Python's own `~True` would be -2, which counts as true."""
    out = agree(opposite, Lanes(1), go, zeros(Lanes(1), 2))[0]
    assert out[:, 0].tolist() == ([0.0, 2.0] if go > 0.0 else [1.0, 3.0])


def test_constants_of_the_module_are_those_of_the_text() -> None:
    assert f"{Lanes(1).constant(HALF)}" in arithmetic.text(Lanes(1))[1]


@loops
def own_records(n: int, at: Lane, x: Lane, out: Lane) -> None:
    """Every lane reads and writes records of its own."""
    for i in range(n):
        out[at[i]] = x[at[n - 1 - i]] + 2.0 * x[i]
        out[minimum(at[i], 2.0)] += x[at[i]]


@EVERY_WIDTH
def test_lanes_have_records_of_their_own(lanes: Lanes) -> None:
    rng, n = np.random.default_rng(4), 9
    at = np.stack([rng.permutation(n) for _ in range(lanes.width)], axis=-1).astype(lanes.dtype)
    agree(own_records, lanes, n, at, random(lanes, n), zeros(lanes, n))


@loops
def whole_numbers(table: Table, n: int, out: Ints) -> None:
    for i in range(n):
        a = table[2 * i]
        b = table[2 * i + 1]
        k = 14 * i
        out[k] = a + b * 3 - -a
        out[k + 1] = a // b
        out[k + 2] = a % b
        out[k + 3] = a // 4
        out[k + 4] = a % 4
        out[k + 5] = a // -4
        out[k + 6] = abs(a) + min(a, b) * max(a, b)
        if a < b:
            out[k + 7] = 1
        elif a == b:
            out[k + 7] = 2
        else:
            out[k + 7] = 3
        if not a <= b or (a != 5 and b >= 0):
            out[k + 8] = 1
        if (a > 0) and (b > 0):
            out[k + 9] += 7
        out[k + 10] -= a
        out[k + 11] *= b
        out[k + 12] //= 3
        out[k + 13] %= 3


@pytest.mark.parametrize("lanes", [Lanes(1), Lanes(8)], ids=lambda t: t.suffix)
def test_arithmetic_of_whole_numbers_is_that_of_python(lanes: Lanes) -> None:
    pairs = np.array([(a, b) for a in range(-9, 10, 2) for b in (-4, -3, -1, 1, 2, 5, 7)], np.int32)
    out = np.arange(14 * len(pairs), dtype=np.int64) - 100
    agree(whole_numbers, lanes, pairs.ravel(), len(pairs), out)


@loops
def ranges(n: int, out: Ints) -> None:
    """What is left behind is compared: the order of the loops, their ends, and jumps."""
    k = 0
    for i in range(n):
        out[k] = i
        k += 1
    for i in range(2, n):
        out[k] = i
        k += 1
    for i in range(n, -2, -3):
        if i == 4:
            continue
        i = i + 100
        out[k] = i
        k += 1
    for i in range(0, n, 2):
        for j in range(i, n):
            if j > i + 2:
                break
            if j == i + 1:
                continue
            out[k] = 10 * i + j
            k += 1
        if i > 5:
            break
    while True:
        k += 1
        if k % 5 == 0:
            break
        if k % 2 == 0:
            continue
        out[k] = -k
    for i in range(n):  # the bounds are those at the start
        n = 0
        out[k + i] = n - i
    pass


@pytest.mark.parametrize("n", [0, 1, 2, 5, 10])
def test_loops_count_as_those_of_python(n: int) -> None:
    agree(ranges, Lanes(1), n, np.full(200, 999))
    agree(ranges, Lanes(8), n, np.full(200, 999))


@loops
def roots(n: int, x: Lane, count: Ints) -> None:
    """Newton's method for the root of x, until every lane is done; done lanes keep their value."""
    for i in range(n):
        a = abs(x[i]) + 1.0
        y = a
        going = y == y
        count[i] = 0
        while any(going) and count[i] < 50:
            better = HALF * (y + a / y)
            y = where(going, better, y)
            going = going & (abs(y * y - a) > 1e-5 * a)
            count[i] += 1
        if all(~going):
            x[i] = y
        else:
            x[i] = 0.0


@EVERY_WIDTH
def test_loops_run_until_all_lanes_are_done(lanes: Lanes) -> None:
    x = 100 * random(lanes, 5)
    (y, count) = agree(roots, lanes, 5, x, np.zeros(5, np.int64))
    np.testing.assert_allclose(y, np.sqrt(np.abs(x) + 1.0), rtol=1e-5)
    assert (count > 2).all()
    assert (count < 50).all()


@loops
def guarded(n: int, table: Table, out: Ints) -> None:
    k = n - 1
    while k >= 0 and table[k] > 3:
        k -= 1
    out[0] = k
    k = 0
    while not (k == n or table[k] > 3):
        k += 1
    out[1] = k


@pytest.mark.parametrize("entries", [[], [5], [1], [5, 1, 4, 6], [1, 2, 3], [4, 5]])
def test_conditions_are_evaluated_as_far_as_needed(entries: list[int]) -> None:
    table = np.array(entries, np.int32)
    agree(guarded, Lanes(8), len(entries), table, np.zeros(2, np.int64))


# Calls


@loops
def largest(n: int, x: Lane) -> float:
    best = x[0]
    for i in range(1, n):
        best = maximum(best, x[i])
    return best


@loops
def first_above(n: int, level: float, x: Lane) -> int:
    for i in range(n):
        if any(x[i] > level):
            return i
    return n


@loops
def outside(x: float, inner: Mask) -> Mask:
    return (abs(x) > HALF) & ~inner


@loops
def crowded(mask: Mask, needed: bool) -> bool:
    return needed and all(mask)


@loops
def scale(n: int, factor: float, x: Lane) -> None:
    if n == 0:
        return
    for i in range(n):
        x[i] *= factor


@loops
def calls(n: int, x: Lane, out: Lane, where_from: Ints) -> None:
    m = n // 2
    scale(m, largest(n - m, x[m:]), x)
    scale(n - m, -2.0, x[m:])
    scale(0, 3.0, x)
    out[0] = largest(n, x)
    where_from[0] = first_above(n, 0.5, x)
    note(where_from[1:], where_from[0])
    for i in range(n):
        far = outside(x[i], x[i] > 2)
        out[i + 1] = where(far, x[i] - x[i] * largest(1, x[i:]), 0.0)
        if crowded(far | ON, n > 2):
            out[i + 1] += 1


@loops
def note(book: Ints, value: int) -> None:
    book[0] = value * 2


@EVERY_WIDTH
def test_loop_functions_call_one_another(lanes: Lanes) -> None:
    agree(calls, lanes, 9, random(lanes, 9), zeros(lanes, 10), np.zeros(2, np.int64))


def test_shared_functions_are_written_once() -> None:
    text = calls.text(Lanes(8))[1]
    assert text.count("@largest.") == text.count("call <8 x double> @largest.") + 1
    assert text.count("define ") == 8


@loops
def aliases(x: Lane) -> None:
    a = x[0]
    b = a
    a -= x[1]
    x[0] = x[1]
    x[1] = b
    x[2] = a
    x[3] += 1.0


def test_records_are_values_not_views() -> None:
    """In Python as compiled: `a -= ...` changes neither the array nor other names of the value."""
    x = random(Lanes(8), 4)
    (y,) = agree(aliases, Lanes(8), x)
    np.testing.assert_array_equal(y, [x[1], x[0], x[0] - x[1], x[3] + 1.0])
    agree(aliases, Lanes(1), x[:, 0].copy())


def test_records_before_the_first_are_refused_in_python() -> None:
    @loops
    def before(x: Lane) -> None:
        x[0] = x[0 - 1]

    @loops
    def shifted(x: Lane) -> None:
        scale(1, 2.0, x[0 - 1 :])

    for function in (before, shifted):
        with pytest.raises(IndexError, match="index -1 is before the first record"):
            function(np.zeros((2, 1)))


# Rounding


@loops
def fused(x: Lane, out: Lane) -> None:
    a = x[0]
    out[0] = -1.0 + a * a
    out[1] = 1.0 - a * a
    out[2] = a * a - 1.0
    out[3] = a * a + 1.0
    out[4] = a * a - a * a
    out[5] = 1.0
    out[5] -= a * a
    p = a * a
    out[6] = p - 1.0


@pytest.mark.parametrize("lanes", [Lanes(1), Lanes(8)], ids=lambda t: t.suffix)
def test_products_are_rounded_with_their_sum(lanes: Lanes) -> None:
    """(1 + e)^2 - 1 = 2 e + e^2 keeps e^2 only if the product is not rounded first; a named product is."""
    e = 2.0**-30
    out = zeros(lanes, 7)
    fused.call(lanes, np.full((1, lanes.width), 1 + e), out)
    exact = 2 * e + e * e
    assert (out == np.array([[exact, -exact, exact, 2 + 2 * e, -e * e, -exact, 2 * e]]).T).all()


@loops
def mixed(n: int, A: Lane, x: Lane) -> None:
    """A few of everything that rounds."""
    for _ in range(3):
        for i in range(n):
            s = x[i]
            for k in range(n):
                s -= A[i * n + k] * x[k] / (1.0 + x[k] * x[k])
            x[i] = where(s > 0, sqrt(abs(s)) + A[i] * HALF, s * THREE - A[i] * A[i])


@pytest.mark.parametrize("single", [False, True])
def test_all_widths_agree_to_the_bit(single: bool) -> None:
    n, dtype = 6, np.float32 if single else np.float64
    A, x = (np.random.default_rng(k).standard_normal((size, 16)).astype(dtype) for k, size in enumerate((n * n, n)))
    found = {}
    for width in (1, 8, 16):
        parts = [x[:, k : k + width].copy() for k in range(0, 16, width)]
        for k, part in enumerate(parts):
            mixed.call(Lanes(width, single), n, A[:, k * width : (k + 1) * width].copy(), part)
        found[width] = np.hstack(parts)
    assert np.isfinite(found[1]).all()
    assert found[1].tobytes() == found[8].tobytes() == found[16].tobytes()
    mixed(n, A, x)
    np.testing.assert_allclose(found[1], x, rtol=1e-3 if single else 1e-11)


# Kernels


def test_entries_say_where_arrays_begin() -> None:
    """Arrays of one workspace: a kernel finds them by base and first record."""
    lanes, work, count = Lanes(8), random(Lanes(8), 12), np.zeros(5, np.int64)
    entries = roots.entries(2, (1, 10), (0, 3))
    assert entries.tolist() == [2, 0, 1, 10, 0, 3]
    bases = np.array([count.ctypes.data, work.ctypes.data])
    expected = work.copy()
    roots(2, expected[10:], np.zeros(2, np.int64))
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(roots.address(lanes))
    run(entries.ctypes.data, 1, bases.ctypes.data)
    np.testing.assert_allclose(work, expected, rtol=1e-12)
    assert (count[:3] == 0).all()
    assert (count[3:] > 0).all()


def test_entries_of_numbers_and_tables() -> None:
    assert scale.entries(3, 1.5, (0, 0)).tolist() == [3, 0, np.float64(1.5).view(np.int64), 0, 0, 0]
    assert guarded.entries(1, 4096, (2, 7)).tolist() == [1, 0, 4096, 0, 2, 7]
    assert whole_numbers.parameters == [("table", "Table"), ("n", "int"), ("out", "Ints")]
    assert arithmetic.parameters[1:3] == [("a", "float"), ("x", "Lane")]


def test_a_kernel_is_compiled_once_for_a_text(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path / "cache"))

    def one():
        @loops
        def cached_once(x: Lane) -> None:
            x[0] += 1.0

        return cached_once

    first, second = one(), one()
    assert first.address(Lanes(2)) == second.address(Lanes(2)) == first.address(Lanes(2))
    assert first.address(Lanes(4)) != first.address(Lanes(2))
    assert len(list((tmp_path / "cache").glob("*.lwo"))) == 2
    compiled = []
    monkeypatch.setattr(machine, "optimise_object", lambda ir: compiled.append(ir))
    assert cache.folder() is not None
    machine.Library.of_loops(first.text(Lanes(2))[1])  # from the folder
    assert not compiled


def test_a_function_keeps_its_name_and_docstring() -> None:
    assert arithmetic.__name__ == "arithmetic"
    assert arithmetic.__doc__ == "All operators and functions of lane values."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 1.0), r"scale takes 3 arguments \(n: int, factor: float, x: Lane\); 2 are given"),
        ((2, 1.0, [1.0]), "x must be a contiguous array of float64"),
        ((2, 1.0, np.zeros((3, 8), np.float32)), "x must be a contiguous array of float64"),
        ((2, 1.0, np.zeros((8, 3)).T), "x must be a contiguous array of float64"),
        ((2, 1.0, np.zeros((3, 4))), r"x must have the shape \('size', 8\); it has \(3, 4\)"),
        ((2, 1.0, np.zeros(8)), r"x must have the shape \('size', 8\); it has \(8,\)"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(InputError, match=message):
        scale.call(Lanes(8), *arguments)


# Errors


def refused(function, message: str) -> None:
    """The compiler refuses the function, and says so with its name and a line of this file."""
    with pytest.raises(CompileError, match=message) as info:
        function.text(Lanes(8))
    assert re.match(rf"{function.name} \(test_loops\.py, line \d+\): ", str(info.value))


# Bodies of `f(n: int, a: float, x: Lane, t: Table, k: Ints)` that are refused, and the reason that is given.
REFUSED = {
    "n = 1.5": r"n, by its first assignment, is an int; this is a lane value",
    "s = 0\n    s = s + x[0]": "s, by its first assignment, is an int; this is a lane value",
    "m = x[0] > 0\n    m = x[0]": "m, by its first assignment, is a condition of lanes; this is a lane value",
    "x = 0": r"x is a Lane array and stays it; records are assigned, x\[i\] = ...",
    "i = j = 0": "one name, or one record A\\[i\\], is assigned at a time",
    "i, j = 0, 1": "one name, or one record",
    "n.real = 1": "one name, or one record",
    "n.real += 1": "one name, or one record",
    "y = x": "x is a Lane array: read a record",
    "y = x[1:]": "a shifted array, A\\[i:\\], is an argument of a loop function",
    "y = n[0]": "only arrays that are parameters have records",
    "x[0.5] = 1": "an index is an int; this is a lane value",
    "t[0] = 1": "Tables are only read",
    "k[0] = 1.5": "a record of an Ints array is an int; this is a lane value",
    "x[0] = x[0] > 1": "a record of a Lane array is a lane value; this is a condition of lanes",
    "y = x[0] // 2": "FloorDiv of a lane value and an int: lane values have",
    "y = x[0] ** 2": "Pow of a lane value and an int: lane values have",
    "y = n ** 2": "Pow of ints: they have",
    "y = n & 1": "what & and | take is a condition of lanes; this is an int",
    "y = (x[0] > 1) + 1": "an operand is a lane value; this is a condition of lanes",
    "y = ~n": "~ is for conditions of lanes; this is an int",
    "y = ~(n > 1)": "~ is for conditions of lanes; this is a uniform condition",
    "y = +n": "- is for ints and lane values",
    "y = -(n > 1)": "- is for ints and lane values",
    "y = not x[0] > 1": "what `not` takes is a uniform condition; this is a condition of lanes; any",
    "y = n and a > 1": "what `and` takes is a uniform condition; this is an int; compare it",
    "y = 0 < n < 2": "comparisons are < <= > >= == != of two",
    "y = n is 1": "comparisons are",
    "y = (n > 1) == (n > 2)": "what is compared with a lane value is a lane value; this is a uniform condition",
    "y = n if a else 2": r"n if a else 2 \(IfExp\) is not in the language. Expressions: numbers",
    "y = [1]": r"\(List\) is not in the language",
    "y = 'text'": "constants are numbers; this is 'text'",
    "y = WORDS": "constants are numbers; this is 'no number'",
    "y = nowhere": "nowhere has no value",
    "n + 1": "n \\+ 1 has no effect; only calls",
    "if x[0] > 1:\n        pass": "what `if` and `while` ask for is a uniform condition; this is a condition of lanes; any",
    "while n:\n        n -= 1": "what `if` and `while` ask for is a uniform condition; this is an int; compare",
    "for i in t:\n        pass": r"loops run over range\(end\), range\(start, end\) or range\(start, end, step\), not t",
    "for i in range(1, 2, 3, 4):\n        pass": "loops run over range",
    "for i in range(0, n, 0):\n        pass": "the step of a range is a whole number as it stands, and not 0; this is 0",
    "for i in range(0, n, n):\n        pass": "the step of a range is .*; this is n",
    "for i in range(a):\n        pass": "a bound of range is an int; this is a lane value",
    "for x[0] in range(n):\n        pass": "a loop counts with one name",
    "for i in range(n):\n        pass\n    else:\n        pass": "loops have no else",
    "if n > 1:\n        y = 1\n    k[0] = y": "y may have no value here",
    "for i in range(n):\n        y = 1\n    k[0] = y": "y may have no value here",
    "for i in range(n):\n        pass\n    k[0] = i": "i may have no value here",
    "while n > 1:\n        y = 1\n        break\n    k[0] = y": "y may have no value here",
    "return n": "the function returns nothing, as its annotation says",
    "with n:\n        pass": "With is not in the language. Statements: assignments",
    "import math": "Import is not in the language",
    "y: int = 1": "AnnAssign is not in the language",
    "assert n > 1": "Assert is not in the language",
    "y = np.sqrt(a)": "np.sqrt cannot be called: functions are called by their plain names",
    "y = n(1)": "n cannot be called",
    "y = len(x)": "len is no loop function. Known are loop functions and abs, sqrt",
    "y = sqrt(a, a)": "sqrt takes 1 arguments; 2 are given",
    "y = sqrt(x[0] > 1)": "an argument is a lane value; this is a condition of lanes",
    "y = min(a, 1)": "an argument is an int; this is a lane value",
    "y = any(x[0])": "the argument is a condition of lanes; this is a lane value",
    "y = where(x[0], 1, 2)": "what where asks for is a condition of lanes; this is a lane value",
    "y = where(x[0] > 1, x[0] > 1, 2)": "what where chooses is a lane value; this is a condition of lanes",
    "y = float(x[0] > 1)": "what float gives is a lane value; this is a condition",
    "scale(n, x=x)": "scale: arguments are given by position",
    "scale(*n)": "scale: arguments are given by position",
    "scale(n, a)": r"scale takes 3 arguments \(n, factor, x\); 2 are given",
    "scale(a, a, x)": "n of scale is an int; this is a lane value",
    "scale(n, a, k)": "x of scale is a Lane array; k is an Ints array",
    "scale(n, a, x[0])": "x of scale is a Lane array: give a parameter A, or A\\[i:\\]",
    "scale(n, a, x[:n])": "arrays are shifted as A\\[i:\\]",
    "scale(n, a, x[a:])": "a shift is an int; this is a lane value",
    "y = scale(n, a, x)": "scale returns nothing",
}


@pytest.mark.parametrize("body", REFUSED, ids=lambda b: " ".join(b.split()))
def test_what_the_language_does_not_have_is_named(body: str, tmp_path) -> None:
    text = f"@loops\ndef f(n: int, a: float, x: Lane, t: Table, k: Ints) -> None:\n    n = n\n    {body}\n"
    file = tmp_path / "refused.py"
    file.write_text(text)
    names = dict(globals())
    with pytest.warns(SyntaxWarning) if " is 1" in body else contextlib.nullcontext():
        exec(compile(text, str(file), "exec"), names)
    with pytest.raises(CompileError, match=REFUSED[body]) as info:
        names["f"].text(Lanes(8))
    line = int(re.match(r"f \(refused\.py, line (\d+)\): ", str(info.value))[1])
    assert 4 <= line < 4 + 1 + body.count("\n")


def test_functions_that_return_end_in_return() -> None:
    @loops
    def sometimes(n: int) -> int:
        if n > 1:
            return 2

    @loops
    def user(k: Ints) -> None:
        k[0] = sometimes(2)

    with pytest.raises(
        CompileError, match=r"sometimes \(test_loops.py, line \d+\): it returns an int, so every path must end in"
    ):
        user.text(Lanes(1))

    @loops
    def wrong(n: int) -> float:
        return n > 1

    @loops
    def other(x: Lane) -> None:
        x[0] = wrong(2)

    with pytest.raises(CompileError, match="what is returned, as the annotation says, is a lane value; this is a uniform cond"):
        other.text(Lanes(1))


def test_loop_functions_do_not_recur() -> None:
    @loops
    def around(n: int) -> None:
        around(n - 1)

    refused(around, "around is being called already; loop functions do not recur")


def test_annotations_say_what_parameters_are() -> None:
    @loops
    def bare(n) -> None:
        pass

    @loops
    def default(n: int = 1) -> None:
        pass

    @loops
    def strange(n: str) -> None:
        pass

    @loops
    def unknown(n: Nowhere) -> None:  # noqa: F821  # pyright: ignore
        pass

    @loops
    def result() -> Lane:
        pass

    for function in (bare, default, strange):
        with pytest.raises(CompileError, match=rf"{function.name}: parameter n needs one of the annotations int, float, Lane"):
            function.text(Lanes(1))
    with pytest.raises(CompileError, match="unknown: an annotation is unknown: name 'Nowhere'"):
        unknown.text(Lanes(1))
    with pytest.raises(CompileError, match="result: it may return None, int, float"):
        result.text(Lanes(1))
    for function in (largest, crowded, outside):
        with pytest.raises(CompileError, match=f"{function.name} is for loop functions to call"):
            function.address(Lanes(1))


def test_a_function_without_source_is_refused() -> None:
    names = {"loops": loops}
    exec("@loops\ndef f(n: int) -> None:\n    pass\n", names)
    with pytest.raises(CompileError, match="f: its source is not at hand"):
        names["f"].text(Lanes(1))  # pyright: ignore
    unnamed = loops(lambda: None)
    with pytest.raises(CompileError, match="a loop function is written with `def`"):
        unnamed.text(Lanes(1))


# Code of its own for small sizes


@loops
def running_sum(n: int, x: Lane, y: Lane) -> None:
    """y_i is the sum of x_0 to x_i; the last two in one go."""
    total = 0.0 * x[0]
    for i in range(n - n % 2):
        if i == 7:
            continue
        total += x[i]
        y[i] = total
    if n % 2 == 1:
        y[n - 1] = total + x[n - 1]


@loops
def small_products(n: Small, rounds: int, x: Lane, out: Lane, A: Scratch, y: Scratch) -> None:
    """Outer products, added up in a packed matrix, with loops of every kind over known and unknown ranges."""
    for i in range(n):
        for k in range(i + 1):
            A[i * (i + 1) // 2 + k] = 0.0
    for r in range(rounds):
        running_sum(n, x, y)
        for i in range(n - 1, -1, -1):
            a = i * (i + 1) // 2
            for k in range(i + 1):
                A[a + k] += y[i] * y[k] / (r + 1)
        if any(y[0] > 1e9):
            break
    for i in range(n):
        for k in range(1 - -i):
            out[i * (i + 1) // 2 + k] = A[i * (i + 1) // 2 + k]


@loops
def products_of(sizes: Ints, rounds: int, x: Lane, out: Lane, A: Lane, y: Lane) -> None:
    """Sizes that are known when it runs."""
    small_products(sizes[0], rounds, x, out, A, y)


@EVERY_WIDTH
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9])
def test_small_sizes_have_code_of_their_own(lanes: Lanes, n: int) -> None:
    x, out, A, y = (random(lanes, size, seed) for seed, size in enumerate((n, n * (n + 1) // 2, n * (n + 1) // 2, n)))
    eager = np.copy(out)
    products_of(np.array([n]), 3, x, eager, np.copy(A), np.copy(y))
    compiled, scratch = np.copy(out), np.copy(A)
    products_of.call(lanes, np.array([n]), 3, x, compiled, scratch, np.copy(y))
    np.testing.assert_allclose(compiled, eager, rtol=2e-5 if lanes.single else 1e-12)
    assert np.array_equal(scratch, A) == (n <= FEW)  # registers
    alone = Lanes(1, lanes.single)
    for lane in range(lanes.width):
        one = np.ascontiguousarray(out[:, lane])
        rest = [np.ascontiguousarray(a[:, lane]) for a in (A, y)]
        products_of.call(alone, np.array([n]), 3, np.ascontiguousarray(x[:, lane]), one, *rest)
        assert np.array_equal(one, compiled[:, lane])


@loops
def changes_its_size(n: Small, x: Lane) -> None:
    n = n + 1
    x[n] = 0.0


@loops
def calls_it(sizes: Ints, x: Lane) -> None:
    changes_its_size(sizes[0], x)


def test_a_small_size_stays_as_it_is() -> None:
    with pytest.raises(CompileError, match="n stays as it is given"):
        calls_it.address(Lanes(1))


# Arrays that go together


class Pair(Arrays):
    """A vector, and which of its records are meant."""

    x: Lane
    chosen: Ints


class Reversed(Arrays):
    """The same in another order."""

    chosen: Ints
    x: Lane


@loops
def add_chosen(n: int, pair: Pair, total: Lane) -> None:
    """total += the chosen records, each of which is doubled."""
    for i in range(n):
        total[0] += pair.x[pair.chosen[i]]
        pair.x[pair.chosen[i]] *= 2.0


@loops
def add_chosen_of_three(n: int, y: Lane, pair: Pair, total: Lane) -> None:
    """The same of a pair, of a part of it, and of a pair that is put together."""
    add_chosen(n, pair, total)
    add_chosen(n - 1, Pair(pair.x, pair.chosen[1:]), total)
    add_chosen(n, Pair(y, pair.chosen), total)


@EVERY_WIDTH
def test_arrays_that_go_together(lanes: Lanes) -> None:
    chosen = np.array([4, 0, 2])
    y, x, total = random(lanes, 5), random(lanes, 5, 1), zeros(lanes, 1)
    out = agree(add_chosen_of_three, lanes, 3, y, x, chosen, total)
    wanted = x[chosen].sum(0) + 2.0 * x[chosen[1:]].sum(0) + y[chosen].sum(0)
    np.testing.assert_allclose(out[-1][0], wanted, rtol=1e-5)
    assert add_chosen_of_three.parameters == [("n", "int"), ("y", "Lane"), ("x", "Lane"), ("chosen", "Ints"), ("total", "Lane")]


def test_arrays_are_given_together_or_one_by_one() -> None:
    x, chosen = np.arange(5.0), np.array([3, 1])
    first, second = np.zeros(1), np.zeros(1)
    add_chosen(2, Pair(x.copy(), chosen), first)
    add_chosen(2, x.copy(), chosen, second)
    assert first[0] == second[0] == 4.0


def test_arrays_that_do_not_fit_together_are_named() -> None:
    @loops
    def other_order(n: int, pair: Reversed, total: Lane) -> None:
        add_chosen(n, pair, total)

    @loops
    def too_few(n: int, pair: Pair, total: Lane) -> None:
        add_chosen(n, Pair(pair.x), total)  # type: ignore[call-arg]

    @loops
    def unknown(n: int, pair: Pair, total: Lane) -> None:
        total[0] = pair.y[n]  # type: ignore[attr-defined]

    @loops
    def twice(n: int, pair: Pair, other: Pair) -> None:
        pair.x[n] = other.x[n]

    for function, message in (
        (other_order, "add_chosen takes x, chosen here; pair stands for chosen, x"),
        (too_few, r"add_chosen takes x, chosen here; Pair\(pair.x\) stands for x, chosen"),
        (unknown, r"pair.y\[n\]: only arrays that are parameters have records"),
        (twice, "twice: the names of all its arrays differ"),
    ):
        with pytest.raises(CompileError, match=message):
            function.text(Lanes(1))
