"""The equations of motion of a small model in symbols: M(q) q'' + C(q, q') + g(q) = tau.

The rules of inverse dynamics run as they stand, on expressions instead of numbers. Accelerations, velocities and gravity are
symbols like masses and lengths, so the terms with each of them are M, C and g.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..errors import InputError, SymbolError
from ..model.accepts import takes_model
from ..model.model import Model
from ..reduced.inverse import body_wrenches, transmitted
from ..reduced.rules import falling_world
from ..spatial.gate import meant
from ..spatial.rigid import UPPER
from ..spatial.scalar import array, zeros
from ..spatial.trigonometric import Powers, Trigonometric, symbol
from .written import Style, latex_style, sum_in, text_style

LARGEST = 12  # degrees of freedom: more is no equation to read


@dataclass(frozen=True, eq=False)
class Explanation:
    """The equations of motion of a model; printed as text, shown as mathematics in a notebook.

    M           (nv, nv) expressions
    coriolis    (nv,)
    gravity     (nv,)
    damping     (nv,)
    values      of all symbols but coordinates and velocities
    legend      what stands for what, a line each
    """

    M: np.ndarray
    coriolis: np.ndarray
    gravity: np.ndarray
    damping: np.ndarray
    values: dict[str, float]
    legend: tuple[str, ...]

    @property
    def text(self) -> str:
        """All equations, one entry a line."""
        return "\n".join([*self._lines(text_style()), "", *self.legend])

    @property
    def latex(self) -> str:
        r"""The same as an `aligned` block of LaTeX."""
        rows = [line.replace(" = ", " &= ", 1) for line in self._lines(latex_style())]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def _lines(self, style: Style) -> list[str]:
        n, lines = len(self.M), [style.equation]
        for i in range(n):
            for j in range(i + 1):
                lines.append(f"{style.entry('M', i, j)} = {sum_in(style, self.M[i, j])}")
        for name, vector in (("C", self.coriolis), ("g", self.gravity), ("d", self.damping)):
            lines += [f"{style.entry(name, i)} = {sum_in(style, x)}" for i, x in enumerate(vector)]
        return lines

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex}\n$$"


@takes_model
def explain(model: Model, parameters: str = "symbols") -> Explanation:
    """The equations of motion of the bare tree of a small model, in symbols.

    parameters   "symbols": masses, centres, inertias, lengths and gravity have names (zeros stay zeros);
                 "numbers": they are what they are in the model

    Joints turn, slide, or are made of both; a ball joint is written in its quaternion. The mass matrix is symmetric: its
    lower half is printed. Forces and constraints of the model are named in the legend, not written.

    >>> "M[2, 2] = m_lower*c_lower_x^2 + I_lower_yy" in str(lw.explain(model))
    True
    """
    if parameters not in ("symbols", "numbers"):
        known = ("symbols", "numbers")
        raise InputError(f'parameters must be "symbols" or "numbers", not {parameters!r}{meant(parameters, known)}')
    if model.nv > LARGEST:
        raise InputError(f"a model with {model.nv} degrees of freedom has no equations to read; {LARGEST} at most")
    names = _Names(model, parameters == "symbols")
    try:
        tau = _inverse_dynamics(model, names)
    except (SymbolError, TypeError) as error:
        kinds = ", ".join(sorted({type(b.joint).__name__ for b in model.bodies}))
        raise InputError(
            f"this model has a joint without closed form among {kinds}; explain writes those that turn and slide: {error}"
        ) from error
    n = model.nv
    M = np.array([[_coefficient(tau[i], f"a{j + 1}") for j in range(n)] for i in range(n)], dtype=object).reshape(n, n)
    rest = [_part(x, lambda p: not any(re.fullmatch(r"a\d+", name) for name, _ in p)) for x in tau]
    gravity = array([_part(x, _has_gravity) for x in rest])
    damping = array([_part(x, _has_damping) for x in rest])
    coriolis = array([_part(x, lambda p: not _has_gravity(p) and not _has_damping(p)) for x in rest])
    return Explanation(M, coriolis, gravity, damping, names.values, (*names.legend, *_left_out(model)))


def _part(x: Any, wanted: Any) -> Any:
    return x.part(wanted) if isinstance(x, Trigonometric) else (x if wanted(()) else 0.0)


def _has_gravity(p: Powers) -> bool:
    return any(name == "g" or name.startswith("g_") for name, _ in p)


def _has_damping(p: Powers) -> bool:
    return any(name.startswith("d_") for name, _ in p)


def _coefficient(x: Any, name: str) -> Any:
    found = _part(x, lambda p: dict(p).get(name) == 1)
    return found.without(name) if isinstance(found, Trigonometric) else 0.0


def _left_out(model: Model) -> list[str]:
    kinds = sorted({type(e).__name__ for e in model.elements})
    return [f"not written: {', '.join(kinds)}"] if kinds else []


class _Names:
    """Symbols for the numbers of a model, or the numbers themselves."""

    def __init__(self, model: Model, named: bool) -> None:
        self.named, self.values, self.legend = named, {}, []
        self.short = {b.name: re.sub(r"\W", "", b.name) for b in model.bodies}
        axes = "xyz"
        several = np.count_nonzero(model.gravity) != 1
        self.gravity = zeros(3)
        for k, x in enumerate(model.gravity):
            if x:  # always a symbol: it tells gravity's terms from others
                name = f"g_{axes[k]}" if several else "g"
                size = x if several else abs(x)
                self.values[name] = float(size)
                self.gravity[k] = symbol(name) * (1.0 if several else float(np.sign(x)))
        self.legend.append("g: gravity, " + ", ".join(f"{k} = {v:g}" for k, v in self.values.items()))

    def number(self, name: str, x: float) -> Any:
        """A symbol for a number; zero is zero."""
        if x == 0.0 or not self.named:
            return float(x)
        self.values[name] = float(x)
        return symbol(name)

    def vector(self, name: str, x: Any) -> np.ndarray:
        return array([self.number(f"{name}{axis}", float(v)) for axis, v in zip("xyz", x, strict=True)])


def _inverse_dynamics(model: Model, names: _Names) -> list[Any]:
    """Joint forces at symbolic q, v and a, by the rules of `reduced.inverse`."""
    nodes: list[Any] = []
    for i, body in enumerate(model.bodies):
        nodes.append(_node(model, names, i))
        own = f"q{model.q_index(body.name).start + 1}" if body.joint.nq == 1 else None
        places = own or f"q{model.q_index(body.name).start + 1}..q{model.q_index(body.name).stop}"
        if body.joint.nv:
            names.legend.append(f"{places}: {body.joint_name}, {type(body.joint).__name__}")
    if names.named:
        names.legend.append(
            "m, c, I, l: mass, centre of mass, inertia about it, and place of the joint in the parent, of each body"
        )
    world = SimpleNamespace(w=np.zeros(3), acc=falling_world(SimpleNamespace(gravity=names.gravity)), below=np.zeros(6))
    parents = [world if b.parent < 0 else nodes[b.parent] for b in model.bodies]
    for n, parent in zip(nodes, parents, strict=True):
        body_wrenches(n, parent)
    for n, parent in reversed(list(zip(nodes, parents, strict=True))):
        transmitted(n, parent)
    return [x for n in nodes for x in n.tau]


def _node(model: Model, names: _Names, i: int) -> Any:
    """One body as the rules see it."""
    body = model.bodies[i]
    short, nv = names.short[body.name], body.joint.nv
    q, v = model.q_index(body.name), model.v_index(body.name)
    mass, com = names.number(f"m_{short}", float(body.inertia.mass)), names.vector(f"c_{short}_", body.inertia.com)
    tensor = body.inertia.tensor
    I = {(r, c): names.number(f"I_{short}_{'xyz'[r]}{'xyz'[c]}", float(tensor[r, c])) for r, c in UPPER}
    square = sum((x * x for x in com), 0.0)
    J = [I[r, c] + mass * ((square if r == c else 0.0) - com[r] * com[c]) for r, c in UPPER]
    own = body.properties
    armature, damping = zeros(nv), zeros(nv)
    for k in range(nv):
        tail = short if nv == 1 else f"{short}_{k + 1}"
        armature[k] = names.number(f"b_{tail}", float(own.armature[k]))
        if own.damping[k]:  # always a symbol: it tells its terms from others
            names.values[f"d_{tail}"] = float(own.damping[k])
            damping[k] = symbol(f"d_{tail}")
    return SimpleNamespace(
        joint=body.joint,
        **{f"joint_{name}": value for name, value in body.joint.parameters().items()},
        R=np.asarray(body.placement.R, float),
        p=names.vector(f"l_{short}_", np.asarray(body.placement.p, float)),
        q=array([symbol(f"q{k + 1}") for k in range(q.start, q.stop)]),
        v=array([symbol(f"v{k + 1}") for k in range(v.start, v.stop)]),
        a=array([symbol(f"a{k + 1}") for k in range(v.start, v.stop)]),
        mass=mass,
        first_moment=com * mass,
        J=array(J),
        armature=array(armature),
        damping=array(damping),
        external=np.zeros(6),
        gravity=names.gravity,
        below=np.zeros(6),
    )
