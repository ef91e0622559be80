"""Any values in any public constructor or function: a result of finite numbers, or an error of the library in one line.

In CI some hundred examples, always the same. `LINKWORK_FUZZ=600 pytest tests/robustness/test_any_input.py` goes on with new ones
for 600 seconds, shared by its tests; what it finds becomes a case of the tables.
"""

from __future__ import annotations

import os
import re
import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bad_files import ROBOT, SCENE, SWING, problems, text_of
from cases import two
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from junk import CALLED, JUNK, LAWS, MADE
from survey import finite

import linkwork as lw
from linkwork.io.redmax import read_scene

SECONDS = float(os.environ.get("LINKWORK_FUZZ", "0"))
EXAMPLES = 100
TESTS = 4  # that share the time
LONG = ("dt", "duration", "steps", "threads")  # numbers of which are asked for runs of hours, legally
CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def legal_number(x: Any) -> bool:
    """Whether it is a number, or numbers, that a long run may be asked for with."""
    return isinstance(x, np.ndarray) or (isinstance(x, int | float | Fraction) and 0 < x < 10**300)


@st.composite
def calls(draw: Any, table: dict[str, tuple[Callable[..., Any], dict[str, Any]]]) -> tuple[str, dict[str, Any]]:
    """A name of the table, and its arguments with one to three of them replaced."""
    name = draw(st.sampled_from(sorted(table)))
    arguments = dict(table[name][1])
    for key in draw(st.lists(st.sampled_from(sorted(arguments)), min_size=1, max_size=3, unique=True)):
        arguments[key] = draw(JUNK if key not in LONG else JUNK.filter(lambda x: not legal_number(x)))
    return name, arguments


def outcome(do: Callable[[], Any]) -> Any:
    """What a call gives, or None where the library refuses it in one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return do()
        except lw.LinkworkError as error:
            text = str(error)
    assert text
    assert "\n" not in text
    return None


def driven(check: Callable[..., None], *strategies: Any) -> None:
    """Run a check on many examples: a fixed number of fixed ones, or new ones for as long as asked."""
    end, k = time.monotonic() + SECONDS / TESTS, 0
    while True:
        fixed = settings(
            max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=CHECKS, derandomize=not SECONDS
        )
        run = fixed(given(*strategies)(check))
        (seed(k)(run) if SECONDS else run)()
        k += 1
        if time.monotonic() >= end:
            return


def test_constructors() -> None:
    def check(call: tuple[str, dict[str, Any]]) -> None:
        name, arguments = call
        outcome(lambda: MADE[name][0](**arguments))

    driven(check, calls(MADE))


def test_laws() -> None:
    """Made, put into a model, and asked for an acceleration."""

    def check(call: tuple[str, dict[str, Any]]) -> None:
        name, arguments = call

        def acceleration() -> Any:
            model = two(LAWS[name][0](**arguments))
            return model.elements

        outcome(acceleration)

    driven(check, calls(LAWS))


def test_files() -> None:
    """A file with pieces cut, doubled, or replaced: a model whose accelerations are finite, or an error of the library."""

    def check(file: tuple[str, str]) -> None:
        suffix, text = file
        model = outcome(lambda: loaded(suffix, text))
        if isinstance(model, lw.Model):
            outcome(lambda: sound(lw.forward_dynamics(model, model.neutral(), np.zeros(model.nv), np.zeros(model.nv))))

    driven(check, files())


def sound(a: np.ndarray) -> None:
    assert np.isfinite(a).all()


def loaded(suffix: str, text: str) -> Any:
    if suffix == ".json":
        problems(read_scene(text_of("any.json", text)))
        return None
    return lw.load(text_of(f"any{suffix}", text))


PIECES = st.sampled_from(
    ["nan", "inf", "-1", "0", "1e999", "", "x", "<", ">", '"', "&", "/>", "[", "{", "null", "true", "\x00", "é"]
)


@st.composite
def files(draw: Any) -> tuple[str, str]:
    """A robot, scene of MuJoCo or scene of RedMax in which one to three pieces are changed."""
    suffix, text = draw(st.sampled_from([(".urdf", ROBOT), (".xml", SCENE), (".json", SWING.read_text())]))
    for _ in range(draw(st.integers(1, 3))):
        words = [m.span() for m in re.finditer(r"[-\w.]+|[^\w\s]", text)]
        if not words:
            break
        first, last = words[draw(st.integers(0, len(words) - 1))]
        piece = draw(st.one_of(PIECES, st.just(text[first:last] * 2), st.just(text[: max(first, 1)][-40:])))
        text = text[:first] + piece + text[last:]
    return suffix, text


def test_functions() -> None:
    def check(call: tuple[str, dict[str, Any]]) -> None:
        name, arguments = call
        found = outcome(lambda: CALLED[name][0](**arguments))
        assert found is None or finite(found), f"{name} gives {found}"

    driven(check, calls(CALLED))


@pytest.mark.parametrize("table", [MADE, LAWS, CALLED], ids=["made", "laws", "called"])
def test_legal_values_are_taken(table: dict[str, tuple[Callable[..., Any], dict[str, Any]]]) -> None:
    """The tables' own values are all legal, so that what is refused is refused for what was changed."""
    for name, (function, arguments) in table.items():
        if name not in ("load",):
            function(**arguments)
