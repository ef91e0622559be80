"""Tables: lookups of run-time data by run-time indices, in numbers, jets, kernels of one lane and of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.elements.collection import collection
from linkwork.spatial.jet import Jet

BALL = lw.Inertia.sphere(1.0, 0.1)
X = np.concatenate([np.linspace(-4.0, 4.0, 41), [np.nan, np.inf, -np.inf, 1e300, -1e300, 2.0 - 1e-16, 2.0]])


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape)


def torques(law: Any, q: np.ndarray) -> np.ndarray:
    """The force of a law on a hinge, in a batch; bitwise the same one by one."""
    model = lw.ModelBuilder(gravity=(0, 0, 0)).body("b", joint=lw.Revolute((0, 1, 0)), inertia=BALL).add(law).build()
    forces = lw.force_set(model).joint_forces
    together = forces(q[:, None], np.zeros((len(q), 1)))[:, 0]
    single = [forces(np.array([x]), np.zeros(1))[0] for x in q]
    assert np.array_equal(together, single, equal_nan=True)
    return together


def looking_up(f: Callable[..., Any], **tables: lw.Table) -> Any:
    return lw.joint_force("b", force=lambda q, v, **k: [f(q[0], **{name: k[name] for name in tables})], parameters=tables)


# --- indices ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("rows", [1, 2, 9, 500])
@pytest.mark.parametrize("cyclic", [False, True])
def test_rows(rows: int, cyclic: bool) -> None:
    values = drawn(rows)
    table = lw.Table(values, cyclic=cyclic)
    found = torques(looking_up(lambda q, a: a[2.0 * q], a=table), X)
    for x, y in zip(X, found, strict=True):
        i = np.floor(2.0 * x) if np.isfinite(x) else {np.inf: rows - 1, -np.inf: 0}.get(x, 0)
        if not cyclic:
            assert y == table[2.0 * x] == values[int(np.clip(i, 0, rows - 1))]
        elif abs(x) < 1e10:
            assert y == table[2.0 * x] == values[int(i) % rows]
        else:
            assert y in values  # nothing else is ever read


def test_several_tables_with_cells_and_axes() -> None:
    """Three tables of one law, of different lengths; a height field with two indices, cyclic in one."""
    a, b, c = drawn(7), drawn(4, 2, 3), drawn(5, 6)
    law = looking_up(
        lambda q, a, b, c: a[q] + 10.0 * b[q - 1.0][1, 2] * q + 100.0 * c[q, 3.0 * q],
        a=lw.Table(a),
        b=lw.Table(b),
        c=lw.Table(c, axes=2, cyclic=(False, True)),
    )
    q = np.linspace(-3.0, 8.0, 33)
    i, j, k, m = (np.floor(x).astype(int) for x in (q, q - 1.0, q, 3.0 * q))
    expected = a[i.clip(0, 6)] + 10.0 * b[j.clip(0, 3), 1, 2] * q + 100.0 * c[k.clip(0, 4), m % 6]
    np.testing.assert_allclose(torques(law, q), expected, rtol=1e-14)


@pytest.mark.parametrize("size", [3, 5, 8, 9, 21])
def test_long_rows(size: int) -> None:
    """Rows that lanes load in whole registers and transpose; the last one ends where the data does."""
    values = drawn(6, size)
    law = looking_up(lambda q, a: sum((k + 1.0) * x for k, x in enumerate(a[q])), a=lw.Table(values))
    q = np.linspace(-1.0, 6.5, 37)
    rows = values[np.floor(q).astype(int).clip(0, 5)]
    np.testing.assert_allclose(torques(law, q), rows @ np.arange(1.0, size + 1.0), rtol=1e-13, atol=1e-13)
    assert np.array_equal(torques(law, q)[:7], torques(law, q[:7]))  # other lanes
    single = lw.ModelBuilder().body("b", joint=lw.Revolute((0, 1, 0)), inertia=BALL).add(law).build()
    at = [np.asarray(x, np.float32) for x in (q[:, None], 0 * q[:, None], 0 * q[:, None])]
    found = lw.inverse_dynamics(single, *at)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, lw.inverse_dynamics(single, *(x.astype(float) for x in at)), rtol=2e-5, atol=2e-5)


def test_one_kernel_for_any_length() -> None:
    builder = lw.ModelBuilder()
    for k, rows in enumerate((1, 5, 5, 400)):
        builder.body(f"b{k}", joint=lw.Revolute((0, 1, 0)), inertia=BALL)
        builder.add(lw.joint_force(f"b{k}", force=lambda q, v, a: [a[q[0]]], parameters={"a": lw.Table(drawn(rows))}))
    laws = collection(builder.build())
    assert len({id(c) for c in laws.tree.of("force").classes}) == 1


def test_indices_have_no_slope_and_values_have_theirs() -> None:
    """d/dq of q^2 a[q] is 2 q a[q], exactly; of nested lookups too."""
    table = lw.Table(drawn(6, 2))
    x = Jet(2.3, (1.0,), 0.5, 0.0)
    y = x * x * table[x][1]
    assert y.grad[0] == 2.0 * 2.3 * table.values[2, 1]
    law = looking_up(lambda q, a: q * q * a[q][1] + a[a[q][0]][1] * q, a=table)
    model = lw.ModelBuilder(gravity=(0, 0, 0)).body("b", joint=lw.Revolute((0, 1, 0)), inertia=BALL).add(law).build()
    slope = lw.inverse_dynamics_derivatives(model, np.array([2.3]), np.zeros(1), np.zeros(1))[0]
    inner = table.values[int(np.clip(np.floor(table.values[2, 0]), 0, 5)), 1]
    np.testing.assert_allclose(slope, -(2.0 * 2.3 * table.values[2, 1] + inner), rtol=1e-14)


# --- knots ----------------------------------------------------------------------------------------------------------------------
KNOTS: dict[str, np.ndarray] = {
    "uniform": np.linspace(-2.0, 3.0, 11),
    "two": np.array([0.5, 0.75]),
    "one": np.array([0.3]),
    "random": np.sort(np.random.default_rng(4).uniform(-3, 3, 60)),
    "clustered": np.concatenate([-1.0 - np.geomspace(1, 1e-9, 12), [0.0], 1.0 + np.geomspace(1e-12, 2.0, 12)]),
    "neighbours": np.array([1.0, np.nextafter(1.0, 2.0), np.nextafter(np.nextafter(1.0, 2.0), 2.0), 2.0]),
}


@pytest.mark.parametrize("kind", KNOTS)
def test_knots(kind: str) -> None:
    knots = KNOTS[kind]
    table = lw.Table(np.arange(len(knots) + 1.0), knots=knots)
    x = np.unique(np.concatenate([X[:41], knots, np.nextafter(knots, -9), np.nextafter(knots, 9), [1e300, -1e300]]))
    expected = np.searchsorted(knots, x, side="right")
    assert np.array_equal([table.at(y) for y in x], expected)
    assert np.array_equal(torques(looking_up(lambda q, a: a.at(q), a=table), x), expected)
    assert np.isin(torques(looking_up(lambda q, a: a.at(q), a=table), np.array([np.nan, np.inf, -np.inf])), table.values).all()


def test_samples() -> None:
    rng = np.random.default_rng(2)
    x, y = np.sort(rng.uniform(-3, 3, 15)), rng.normal(size=15)
    q = np.linspace(-4.0, 4.0, 50)
    found = torques(looking_up(lambda q, a: lw.interp(q, a), a=lw.samples(x, y)), q)
    np.testing.assert_allclose(found, np.interp(q, x, y), atol=1e-14)
    from scipy.interpolate import CubicSpline, PchipInterpolator

    inner = np.linspace(x[0], x[-1], 50, endpoint=False)
    for kind, oracle in (("pchip", PchipInterpolator(x, y)), ("cubic", CubicSpline(x, y))):
        curve = lw.samples(x, y, kind)
        found = torques(looking_up(lambda q, a: lw.interp(q, a), a=curve), inner)
        np.testing.assert_allclose(found, oracle(inner), atol=1e-12)
        slopes = [lw.interp(Jet(s, (1.0,), 1.0, 0.0), curve) for s in inner]
        np.testing.assert_allclose([s.grad[0] for s in slopes], oracle(inner, 1), atol=1e-11)
        np.testing.assert_allclose([s.bias for s in slopes], oracle(inner, 2), atol=1e-9)
    both = lw.samples(x, np.stack([y, y**2], axis=1), "cubic")
    np.testing.assert_allclose(lw.interp(0.4, both), [CubicSpline(x, y)(0.4), CubicSpline(x, y**2)(0.4)], atol=1e-13)


def test_tables_in_constraints_and_joints() -> None:
    """A cam whose lift follows a table, as a joint and as a constraint between joints."""
    angle = np.linspace(-3.0, 3.0, 25)
    lift = lw.samples(angle, 0.3 * np.sin(angle), "cubic")
    cam = lw.joint(lambda q, c: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0, 0, lw.interp(q[0], c))), 1, "cam", parameters={"c": lift})
    whole = lw.ModelBuilder().body("cam", joint=cam, inertia=BALL).build()
    pair = lw.ModelBuilder().body("lift", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia(1e-9, tensor=1e-12 * np.eye(3)))
    pair.body("turn", parent="lift", joint=lw.Revolute((0, 0, 1)), inertia=BALL)
    pair.add(lw.joint_constraint(["lift", "turn"], lambda q, c: q[0] - lw.interp(q[1], c), parameters={"c": lift}))
    q, v = 0.7, 1.3
    slope = lw.interp(Jet(q, (1.0,), v, 0.0), lift)
    a = lw.forward_dynamics(whole, np.array([q]), np.array([v]))
    b = lw.forward_dynamics(pair.build(), np.array([lw.interp(q, lift), q]), np.array([slope.rate, v]))
    np.testing.assert_allclose(b[1], a[0], rtol=1e-6)


def test_what_to_use_instead_of_interp() -> None:
    x = np.linspace(0.0, 1.0, 5)
    law = lw.joint_force("b", force=lambda q, v: [np.interp(q[0], x, x)])
    model = lw.ModelBuilder().body("b", joint=lw.Revolute((0, 1, 0)), inertia=BALL).add(law).build()
    with pytest.raises(lw.SymbolError, match=r"lw\.samples\(x, y\).*lw\.interp\(x, samples\)"):
        lw.forward_dynamics(model, np.zeros(1), np.zeros(1))


def test_a_table_must_be_a_parameter() -> None:
    curve = lw.samples([0.0, 1.0], [1.0, 2.0])
    law = lw.joint_force("b", force=lambda q, v: [lw.interp(q[0], curve)])
    model = lw.ModelBuilder().body("b", joint=lw.Revolute((0, 1, 0)), inertia=BALL).add(law).build()
    with pytest.raises(lw.SymbolError, match="must be one of its parameters"):
        lw.forward_dynamics(model, np.zeros(1), np.zeros(1))


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "words": (lambda: lw.Table("abc"), "its values must be an array of finite numbers"),
    "nan": (lambda: lw.Table([1.0, np.nan]), "its values must be an array of finite numbers"),
    "number": (lambda: lw.Table(3.0), "its values must be an array of finite numbers"),
    "empty": (lambda: lw.Table(np.zeros((0, 2))), "axes of its values .* that are not empty"),
    "axes": (lambda: lw.Table(np.zeros((2, 2)), axes=3), "axes must be 1 to 2"),
    "cyclic": (lambda: lw.Table(np.zeros((2, 2)), axes=2, cyclic=(True,)), "cyclic must be True or False, or 2 of these"),
    "knots": (lambda: lw.Table([1.0, 2.0, 3.0], knots=[1.0, 1.0]), "knots must increase, one less than the 3 rows"),
    "knots many": (lambda: lw.Table([1.0, 2.0, 3.0], knots=[1.0, 2.0, 3.0]), "one less than the 3 rows"),
    "at": (lambda: lw.Table([1.0, 2.0]).at(0.5), "needs knots"),
    "indices": (lambda: lw.Table([1.0, 2.0])[0, 1], "looked up by 1 indices, not 2"),
    "samples order": (lambda: lw.samples([1, 0], [1, 2]), r"x must increase, not \[1.0, 0.0\]"),
    "samples size": (lambda: lw.samples([1, 2], [1, 2, 3]), "as many of both"),
    "samples kind": (lambda: lw.samples([1, 2], [1, 2], "quintic"), "kind must be one of 'linear'"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_tables_are_refused(what: str) -> None:
    make, rule = REFUSED[what]
    with pytest.raises(lw.ModelError, match=rule):
        make()
