"""Every kind of bad input is refused: by an error of the library, in one line that names element, value and rule."""

from __future__ import annotations

import warnings

import pytest
from kinds import KINDS

import linkwork as lw


@pytest.mark.parametrize("name", KINDS)
def test_refused(name: str) -> None:
    kind = KINDS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of functions of users that overflow
        with pytest.raises(lw.LinkworkError) as found:
            kind.do()
    text = str(found.value)
    assert "\n" not in text
    for part in kind.said:
        assert part in text, f"{text!r} does not name {part!r}"


def test_there_are_many() -> None:
    assert len(KINDS) >= 120
