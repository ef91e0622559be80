"""Redundant and contradictory constraints are named."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.scenes.loop import BASE, HEIGHT, ROCKER, four_bar


def test_a_planar_loop_has_one_redundant_row() -> None:
    model, state = four_bar()
    report = lw.constraint_report(model, state.q)
    assert (report.rows, report.rank) == (3, 2)
    assert report.redundant == ("Loop('rocker', 'world') row 1",)
    assert report.inconsistent == ()
    assert report.residual < 1e-12


def test_the_same_loop_twice() -> None:
    model, state = four_bar()
    loop = lw.Loop("rocker", "world", (ROCKER, 0, 0), (BASE, 0, HEIGHT))
    report = lw.constraint_report(model.replace(elements=[loop, loop]), state.q)
    assert (report.rows, report.rank, len(report.redundant)) == (6, 2, 4)
    assert report.inconsistent == ()


def test_contradictions() -> None:
    model, state = four_bar()
    loops = [lw.Loop("rocker", "world", (ROCKER, 0, 0), (BASE + x, 0, HEIGHT)) for x in (0.0, 0.02)]
    report = lw.constraint_report(model.replace(elements=loops), state.q)
    assert report.rank == 2
    assert report.inconsistent == tuple(f"Loop('rocker', 'world') row {k}" for k in (0, 0))
    assert abs(report.residual - 0.01) < 1e-9
    aside = model.replace(elements=[lw.Loop("rocker", "world", (ROCKER, 0, 0), (BASE, 0.03, HEIGHT))])
    report = lw.constraint_report(aside, state.q)
    assert report.inconsistent == ("Loop('rocker', 'world') row 1",)
    assert abs(report.residual - 0.03) < 1e-12


def test_couplings_limits_and_nothing() -> None:
    model, state = four_bar()
    coupled = model.replace(
        elements=[lw.Coupling("coupler", "crank", 2.0), lw.Coupling("crank", "coupler", 0.5), lw.Limit("crank", upper=9.0)]
    )
    report = lw.constraint_report(coupled, np.zeros(3))
    assert (report.rows, report.rank) == (2, 1)
    assert report.redundant == ("Coupling('crank', 'coupler', ratio=0.5, offset=0) row 0",)
    bare = lw.constraint_report(model.replace(elements=[]), state.q)
    assert (bare.rows, bare.rank, bare.redundant, bare.inconsistent, bare.residual) == (0, 0, (), (), 0.0)
