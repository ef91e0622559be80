"""Any values in any public constructor or function: a result of finite numbers, or an error of the library; never another exception.

In CI some hundred examples, always the same. `LINKWORK_FUZZ=600 pytest tests/robustness/test_any_input.py` goes on for 600 seconds
with new ones; what it finds becomes a case of the tables.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from cases import two
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from junk import CALLED, JUNK, LAWS, MADE
from survey import finite

import linkwork as lw

SECONDS = float(os.environ.get("LINKWORK_FUZZ", "0"))
EXAMPLES = 150
CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@st.composite
def calls(draw: Any, table: dict[str, tuple[Callable[..., Any], dict[str, Any]]]) -> tuple[str, dict[str, Any]]:
    """A name of the table, and its arguments with one to three of them replaced."""
    name = draw(st.sampled_from(sorted(table)))
    arguments = dict(table[name][1])
    for key in draw(st.lists(st.sampled_from(sorted(arguments)), min_size=1, max_size=3, unique=True)):
        arguments[key] = draw(JUNK)
    return name, arguments


def outcome(do: Callable[[], Any]) -> Any:
    """What a call gives, or None where the library refuses it in one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return do()
        except lw.LinkworkError as error:
            assert str(error)
            assert "\n" not in str(error)
            return None


def driven(check: Callable[..., None], *strategies: Any) -> None:
    """Run a check on many examples: a fixed number of fixed ones, or new ones for as long as asked."""
    end, k = time.monotonic() + SECONDS, 0
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
