"""Keys of loop functions: all that decides a text changes them, and where one is known no text is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwork.kernel import loop_keys, machine, sources
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.loops import Lane, LoopFunction, loops
from linkwork.solvers import boxes, dense, gram

TWO, FOUR = Lanes(2), Lanes(4)


def fresh(function: LoopFunction) -> LoopFunction:
    """The same function, of which nothing is loaded."""
    return type(function)(function.function)


def test_a_key_tells_functions_lanes_and_numbers_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [loop_keys.key(f, lanes) for f in (boxes.gather, gram.spread, boxes.solve_boxes) for lanes in (TWO, FOUR)]
    assert len({*found, None}) == 7
    assert loop_keys.key(boxes.gather, TWO) == found[0]
    name, value = next((name, x) for name, x in vars(boxes).items() if name.isupper() and isinstance(x, float))
    with monkeypatch.context() as changed:
        changed.setattr(boxes, name, 2.0 * value)
        assert loop_keys.key(boxes.solve_boxes, TWO) != found[4]
    monkeypatch.setattr(sources, "digest", lambda modules: "other sources")
    assert loop_keys.key(boxes.gather, TWO) != found[0]


def test_functions_that_a_function_calls_are_part_of_its_key() -> None:
    def made(factor: float, inner: LoopFunction) -> LoopFunction:
        @loops
        def outer(x: Lane) -> None:
            inner(1, x)
            x[0] *= factor

        outer.function.__module__ = boxes.__name__  # as if it stood there
        return outer

    keys = {loop_keys.key(made(factor, f), TWO) for factor in (1.0, 2.0) for f in (boxes.gather, dense.factor)}
    assert len(keys) == 4
    assert loop_keys.key(made(1.0, boxes.gather), TWO) in keys


def test_functions_of_others_have_no_key() -> None:
    @loops
    def mine(x: Lane) -> None:
        x[0] = 1.0

    assert loop_keys.key(mine, TWO) is None
    assert loop_keys.address(mine, TWO) == mine.address(TWO)


def test_no_text_is_written_where_the_object_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path / "cache"))
    first = fresh(boxes.gather)
    address = loop_keys.address(first, TWO)
    with monkeypatch.context() as changed:
        changed.setattr(LoopFunction, "text", lambda *_: pytest.fail("a text is written"))
        assert loop_keys.address(fresh(boxes.gather), TWO) == address
    for file in (tmp_path / "cache").glob("*.lwo"):
        if file.stat().st_size > 1000:
            file.unlink()  # the object; its name stays
    monkeypatch.setattr("linkwork.kernel.loops._addresses", {})
    monkeypatch.setattr(machine.Library, "of_loops", lambda text: pytest.fail("the object is gone"))
    with pytest.raises(BaseException, match="the object is gone"):
        loop_keys.address(fresh(boxes.gather), TWO)
