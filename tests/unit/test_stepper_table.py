"""The table of steppers in the docs: every combination runs, or is refused by name, as it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from models import two_links

import linkwork as lw
from linkwork.steppers import ALL_STEPPERS

PAGE = Path(__file__).parents[2] / "docs" / "steppers" / "README.md"
METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")


def table() -> dict[str, dict[str, str]]:
    """The rows by stepper, of the first table of the page."""
    lines = PAGE.read_text().split("\n\n| stepper ", 1)[-1].split("\n\n", 1)[0].splitlines()
    lines = ["| stepper " + lines[0], *(line for line in lines[1:] if line.startswith("| "))]
    head, *rows = ([cell.strip() for cell in line.strip("| ").split("|")] for line in lines if "---" not in line)
    return {row[0]: dict(zip(head, row, strict=True)) for row in rows}


TABLE = table()


BARE = two_links()
BALL, FLOOR = lw.Sphere(0.1, (0.5, 0, 0)), lw.Plane((0, 0, -0.2), (0, 0, 1))
KINDS = {
    "forces": two_links(lw.PointSpring("lower", stiffness=5.0)),
    "constraints": two_links(lw.Coupling("lower", "upper", -1.0, 0.0)),
    "contacts": two_links(lw.Contact("lower", BALL, shape_b=FLOOR)),
    "friction of contacts": two_links(lw.Contact("lower", BALL, shape_b=FLOOR, friction=0.5)),
}
BOUNCING = two_links(lw.Contact("lower", BALL, shape_b=FLOOR, restitution=0.5))
START = lw.State(np.zeros(2), np.zeros(2))


def run(stepper: str, model: lw.Model, method: str, state: lw.State = START) -> lw.Trajectory:
    return lw.simulate(model, state, 0.02, 0.01, method, stepper=stepper)


def test_the_table_has_every_stepper() -> None:
    assert set(TABLE) == set(ALL_STEPPERS)
    assert {name: int(row["order"]) for name, row in TABLE.items()} == {n: c.order for n, c in ALL_STEPPERS.items()}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("stepper", ALL_STEPPERS)
def test_methods(stepper: str, method: str) -> None:
    if method in TABLE[stepper]["methods"].split(", "):
        assert np.isfinite(run(stepper, BARE, method).t).all()
    else:
        with pytest.raises(lw.InputError, match=f"the stepper '{stepper}' does not work with method '{method}'"):
            run(stepper, BARE, method)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stepper", ALL_STEPPERS)
def test_what_they_step(stepper: str, kind: str) -> None:
    for method in TABLE[stepper]["methods"].split(", "):
        if TABLE[stepper][kind] == "yes":
            assert run(stepper, KINDS[kind], method).t[-1] == pytest.approx(0.02)
        else:
            with pytest.raises(lw.InputError, match=f"'{stepper}'"):
                run(stepper, KINDS[kind], method)


@pytest.mark.parametrize("stepper", ALL_STEPPERS)
def test_restitution(stepper: str) -> None:
    for method in TABLE[stepper]["methods"].split(", "):
        said = any("restitution of contacts is not enforced" in note for note in run(stepper, BOUNCING, method).health.notes)
        assert said == (TABLE[stepper]["restitution"] == "no")


@pytest.mark.parametrize("stepper", ALL_STEPPERS)
def test_batches(stepper: str) -> None:
    states = lw.State(np.zeros((3, 2)), np.zeros((3, 2)))
    for method in TABLE[stepper]["methods"].split(", "):
        if TABLE[stepper]["batches"] == "no":
            with pytest.raises(lw.InputError, match="one state at a time"):
                run(stepper, BARE, method, states)
        else:
            assert len(next(iter(run(stepper, BARE, method, states).arrays.values()))) == 3
