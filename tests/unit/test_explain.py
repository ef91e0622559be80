"""`lw.explain`: equations in symbols are those that the kernels compute, and read like a textbook's."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.spatial.trigonometric import Trigonometric, symbol

ROD = lw.Inertia.cuboid(1.3, (1, 0.1, 0.2), com=(0.5, 0.1, 0))
TILTED = lw.SE3(R=lw.SE3.rot_axis(np.array([0.6, 0.0, 0.8]), 0.7).R, p=(0.3, 0.0, 0.2))


def chain(*joints: lw.Joint, placement: lw.SE3 | None = None) -> lw.Model:
    b = lw.ModelBuilder(gravity=(0, 0, -9.81))
    for k, joint in enumerate(joints):
        here = (placement or lw.SE3(p=(1, 0, 0))) if k else lw.SE3()
        drive = {"damping": 0.2, "armature": 0.05} if joint.nv == 1 else {}
        b.body(f"b{k}", parent=f"b{k - 1}" if k else "world", joint=joint, placement=here, inertia=ROD, **drive)
    return b.build()


MODELS = {
    "double pendulum": chain(lw.Revolute((0, 1, 0)), lw.Revolute((0, 1, 0))),
    "cart and pole": chain(lw.Prismatic((1, 0, 0)), lw.Revolute((0, -1, 0))),
    "oblique": chain(lw.Revolute((0.6, 0, 0.8)), lw.Revolute((0, 1, 0)), placement=TILTED),
    "universal": chain(lw.Universal(), lw.Revolute((1, 0, 0))),
    "euler": chain(lw.SphericalEuler("xyz")),
    "in the plane": chain(lw.Free2D(), lw.Cylindrical((0, 1, 0))),
    "screw": chain(lw.Helical((0, 0, 1), pitch=0.1)),
    "ball": chain(lw.Spherical()),
}


def values(model: lw.Model, found: lw.lagrange.Explanation, q: np.ndarray, v: np.ndarray) -> dict[str, float]:
    moving = {f"q{k + 1}": float(x) for k, x in enumerate(q)} | {f"v{k + 1}": float(x) for k, x in enumerate(v)}
    return found.values | moving


@pytest.mark.parametrize("parameters", ["symbols", "numbers"])
@pytest.mark.parametrize("name", MODELS)
def test_the_equations_are_those_of_the_kernels(name: str, parameters: str) -> None:
    model = MODELS[name]
    found = lw.explain(model, parameters)
    q, v = model.random_configuration(3), np.random.default_rng(3).normal(size=model.nv)
    at = values(model, found, q, v)
    number = np.vectorize(lambda x: x.value(at) if isinstance(x, Trigonometric) else float(x), otypes=[float])
    assert np.abs(number(found.M) - lw.mass_matrix(model, q)).max() < 1e-12
    assert np.abs(number(found.coriolis) - lw.coriolis_forces(model, q, v)).max() < 1e-12
    assert np.abs(number(found.gravity) - lw.gravity_forces(model, q)).max() < 1e-12
    assert np.abs(number(found.damping) - model.damping * v).max() < 1e-12


def test_it_reads_like_a_textbook() -> None:
    b = lw.ModelBuilder(gravity=(0, 0, -9.81))
    rod = lw.Inertia.cuboid(1.0, (1, 0.1, 0.1), com=(0.5, 0, 0))
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=rod)
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(1, 0, 0)), inertia=rod)
    found = lw.explain(b.build())
    lines = found.text.splitlines()
    assert "M[2, 1] = m_b*c_b_x^2 + I_b_yy + m_b*l_b_x*c_b_x*cos(q2)" in lines
    assert "C[2] = m_b*l_b_x*c_b_x*q1'^2*sin(q2)" in lines
    assert "g[2] = -m_b*c_b_x*g*cos(q1 + q2)" in lines
    assert str(found) == repr(found) == found.text
    assert r"M_{21} &= m_{b}\,c_{b,x}^{2} + I_{b,\mathrm{yy}} + m_{b}\,l_{b,x}\,c_{b,x}\,\cos q_{2} \\" in found.latex
    assert found._repr_latex_().startswith("$$\n\\begin{aligned}")


def test_what_is_not_written_is_said() -> None:
    model = MODELS["double pendulum"].add(lw.JointSpring("b0", 3.0))
    assert lw.explain(model).legend[-1] == "not written: JointSpring"
    with pytest.raises(lw.InputError, match="SphericalExp"):
        lw.explain(chain(lw.SphericalExp()))
    with pytest.raises(lw.InputError, match="12 at most"):
        lw.explain(chain(*[lw.Revolute((0, 1, 0))] * 13))
    with pytest.raises(lw.InputError, match="parameters"):
        lw.explain(MODELS["ball"], "letters")


def test_normal_form() -> None:
    """Equal expressions are equal: identities hold without being asked for."""
    a, b = symbol("a"), symbol("b")
    assert a.cos() * a.cos() + a.sin() * a.sin() == 1.0
    left, right = a.cos() * b.cos() - a.sin() * b.sin(), (a + b).cos()
    assert left.terms == right.terms
    assert (a - a) == 0.0
    assert ((2.0 * a + 0.3).sin()).value({"a": 0.7}) == pytest.approx(np.sin(1.7))
    assert (a**3).value({"a": 2.0}) == 8.0
    with pytest.raises(lw.SymbolError, match="divides"):
        1.0 / a
    with pytest.raises(lw.SymbolError, match="cosine"):
        (a * b).cos()
