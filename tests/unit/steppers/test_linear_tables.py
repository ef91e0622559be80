"""Tables of what is not zero: segments of degrees of freedom, groups of rows, places of slopes at even distances."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.elements.collection import collection
from linkwork.reduced.port_space import PortSpace
from linkwork.steppers.linear_lists import list_runs
from linkwork.steppers.linear_tables import G_STEP, PLACE, PLACE_ROWS, Ports, place_table, row_group_tables, row_places, segments


def legged() -> lw.Model:
    """A base with two legs of two links, a loop between them, and two contacts under each."""
    rod = lw.Inertia.cuboid(1.0, (0.1, 0.1, 0.4))
    b = lw.ModelBuilder()
    b.body("base", joint=lw.Free(), inertia=rod)
    for side in "lr":
        b.body(f"{side}0", parent="base", joint=lw.Revolute((0, 1, 0)), inertia=rod)
        b.body(f"{side}1", parent=f"{side}0", joint=lw.Revolute((0, 1, 0)), inertia=rod)
    floor = lw.Plane((0, 0, 0), (0, 0, 1))
    feet = [(side, lw.Sphere(0.05, (x, 0.0, -0.2))) for side in "lr" for x in (-0.1, 0.1)]
    return b.build().add(
        lw.Loop("l1", "r1"), *(lw.Contact(f"{side}1", ball, "world", floor, friction=0.5) for side, ball in feet)
    )


def test_segments() -> None:
    assert segments([]) == []
    assert segments([5, 0, 1, 2, 6, 9]) == [(0, 3), (5, 2), (9, 1)]


def test_rows_of_one_foot_are_done_at_once() -> None:
    laws = collection(legged())
    space = PortSpace(laws.row_nodes)
    ports = Ports(laws.model, space.bodies)
    assert [segments(s) for s in ports.supports] == [[(0, 8)], [(0, 6), (8, 2)]]
    sizes = [law.size for law in laws.rows]
    assert sizes == [3, 3, 3, 3, 3]
    places = row_places(ports, space, [list(range(n)) for n in sizes], sizes)
    contacts = [[3, 6, 0, 6, 6, 36, 6, 144, 24], [9, 6, 1, 6, 6, 72, 6, 288, 24]]
    loop = [[0, 3, 0, 6, 12, 0, 12, 0, 48], [0, 3, 1, 6, 12, 6, 12, 6, 48]]
    assert sorted(place_table(places).tolist()) == sorted([*contacts, *loop])
    normals = place_table(row_places(ports, space, [[], [0], [0], [0], [0]], sizes))
    assert normals[:, [PLACE_ROWS, G_STEP]].tolist() == [[2, 18], [2, 18]]
    groups = row_group_tables("group", ports, places, sum(sizes))
    assert groups["group_row"].tolist() == [0, 3, 9]
    assert groups["group_rows"].tolist() == [3, 6, 6]
    assert groups["group_segments"].tolist() == [0, 1, 2, 4]
    assert list(zip(groups["group_at"].tolist(), groups["group_size"].tolist(), strict=True)) == [(0, 10), (0, 8), (0, 6), (8, 2)]


def test_runs_of_rows_that_act() -> None:
    """Of six rows at even distances the first, third and fourth act, of three others none: two runs, numbered among what acts."""
    places = np.array([[3, 6, 1, 6, 6, 36, 6, 144, 24], [9, 3, 2, 6, 6, 72, 6, 288, 24]])
    acts = np.array([1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0])
    before, runs = np.concatenate([[0], np.cumsum(acts)]), np.zeros(1 + 9 * PLACE, np.int64)
    list_runs(len(places), places.reshape(-1), before, runs)
    assert runs[0] == 2
    found = runs[1 : 1 + 2 * PLACE].reshape(2, PLACE).tolist()
    assert found == [[1, 1, 1, 6, 6, 36, 6, 144, 24], [2, 2, 1, 6, 6, 48, 6, 192, 24]]
