"""Every argument of every public callable, with values that it does not take: refused by the library in one line, or legal."""

from __future__ import annotations

import inspect

import pytest
from arguments import BAD, NAN, outcome, table

import linkwork as lw

TABLE = table()
NEEDS_A_FILE = ("load", "resume", "Trajectory.load")
RECORDS = {  # may hold what is not finite, as records of lost runs do, or what a run remembers
    ("State", "q"),
    ("State", "v"),
    ("State", "memory"),
    ("MaximalState", "poses"),
    ("MaximalState", "twists"),
    ("MaximalState", "q_fit"),
    ("MaximalState", "memory"),
    ("interp", "x"),  # a function of numbers: NaN of NaN
}
NEVER_LEGAL = ("nan", "nans", "object")
FUNCTIONS = {("ElasticMuscle", "tendon")}  # are called in a model, where errors of users' functions pass


@pytest.mark.parametrize("name", TABLE)
def test_bad_values_are_refused_by_the_library(name: str) -> None:
    function, legal = TABLE[name]
    wrong = []
    for argument in legal:
        for kind, value in BAD.items():
            what, text = outcome(function, {**legal, argument: value})
            silent = what == "accepted" and kind in NEVER_LEGAL and (name, argument) not in RECORDS
            called = kind in ("function", "class") and (name, argument) in FUNCTIONS
            if silent or (what in ("foreign", "hangs") and not called):
                wrong.append(f"{argument} = {kind}: {what} {text[:200]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", TABLE)
def test_legal_values_are_taken(name: str) -> None:
    """So that what is refused is refused for what was changed."""
    function, legal = TABLE[name]
    assert name in NEEDS_A_FILE or outcome(function, legal)[0] == "accepted"


def test_there_are_many() -> None:
    assert sum(len(legal) for _, legal in TABLE.values()) >= 1000


def test_errors_name_the_argument_and_its_kind() -> None:
    model = TABLE["mass_matrix"][1]["model"]
    with pytest.raises(lw.InputError, match=r"jacobian_derivatives: q must be numbers of shape \(\.\.\., 2\), not \[1.0"):
        lw.jacobian_derivatives(model, [1.0, 2.0, 3.0], "lower")
    with pytest.raises(lw.InputError, match="parameter_derivatives: v must be finite numbers, not 'x'"):
        lw.parameter_derivatives(model, [0.0, 0.0], "x", {"upper": ["mass"]})
    with pytest.raises(lw.InputError, match="potential_hessian: model must be a Model, not None"):
        lw.potential_hessian(None, [0.0, 0.0])  # type: ignore[arg-type]
    with pytest.raises(lw.InputError, match=r"fit: start must be a State, not 3"):
        lw.fit(model, lw.Recorded([0, 1, 2], [[0, 0]] * 3), ["upper.mass"], dt=1.0, start=3)  # type: ignore[arg-type]
    with pytest.raises(lw.InputError, match="study: measure is called with other arguments than it takes"):
        lw.study(model, {"upper.mass": [1.0]}, lambda: 0.0, duration=0.01)


def test_errors_of_users_functions_pass() -> None:
    model = TABLE["mass_matrix"][1]["model"]

    def control(t: float, state: lw.State) -> list[float]:
        return [0.0, {}["torque"]]

    with pytest.raises(KeyError, match="torque"):
        lw.simulate(model, TABLE["simulate"][1]["state"], 0.01, 1e-3, control=control)


def test_what_is_explained_keeps_its_signature() -> None:
    assert list(inspect.signature(lw.Table).parameters) == ["values", "axes", "cyclic", "knots"]
    assert str(NAN) == "nan"
