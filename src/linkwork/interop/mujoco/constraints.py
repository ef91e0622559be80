"""Constraints of a model as MuJoCo has them: limits, dry friction, connections, welds, couplings; others are refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ...constraints import Closure, Coupling, DryFriction, Limit, Loop
from ...elements.law import RowLaw
from ...joints import Fixed, Spherical, SphericalEuler, SphericalExp
from ...model.model import WORLD
from .draft import Draft, text
from .tree import has_stages, stage_name

SOFT = "equalities are soft in MuJoCo (solref, solimp): they give way under load, here they are exact"
BALLS = (Spherical, SphericalExp, SphericalEuler)


def add_constraint(draft: Draft, law: RowLaw) -> None:
    """A constraint that is no contact."""
    convert = CONVERTERS.get(type(law))
    if convert is None:
        draft.refusals.refuse("constraints", repr(law))
    else:
        convert(draft, law)


def clear_declared(draft: Draft, laws: Any) -> None:
    """Take from joints what laws of their own say instead: `Limit`, `DryFriction`, springs at limits."""
    for law in laws:
        if isinstance(law, Limit) and has_stages(draft.body(law.joint).joint):
            own = draft.joints[draft.body(law.joint).name]
            own.lower, own.upper = np.full_like(own.lower, -np.inf), np.full_like(own.upper, np.inf)
        elif isinstance(law, DryFriction):
            draft.joints[draft.body(law.joint).name].friction[:] = 0.0


def _limit(draft: Draft, law: Limit) -> None:
    body = draft.body(law.joint)
    if not has_stages(body.joint):
        draft.refusals.refuse("constraints", repr(law))
        return
    own = draft.joints[body.name]
    own.lower, own.upper = np.maximum(own.lower, law.lower), np.minimum(own.upper, law.upper)


def _dry_friction(draft: Draft, law: DryFriction) -> None:
    draft.joints[draft.body(law.joint).name].friction += law.friction


def _loop(draft: Draft, law: Loop) -> None:
    _equality(draft, "connect", law, law.point_a, law.point_b)


def _closure(draft: Draft, law: Closure) -> None:
    if type(law.joint) in BALLS:
        _equality(draft, "connect", law, law.p_a, law.p_b)
    elif type(law.joint) is Fixed:
        _equality(draft, "weld", law, law.p_a, law.p_b, law.R_a, law.R_b)
    else:
        draft.refusals.refuse("constraints", repr(law))


def _equality(draft: Draft, kind: str, law: Any, p_a: Any, p_b: Any, R_a: Any = None, R_b: Any = None) -> None:
    """Two sites that are held together."""
    bodies = [WORLD if name == WORLD else draft.body(name).name for name in law.bodies]
    first, second = draft.site(bodies[0], p_a, R_a), draft.site(bodies[1], p_b, R_b)
    draft.add("equality", f"<{kind}{_named(draft, law)} site1={first} site2={second}/>")
    draft.refusals.note(SOFT)


def _coupling(draft: Draft, law: Coupling) -> None:
    bodies = [draft.body(name) for name in law.joints]
    if not all(has_stages(body.joint) for body in bodies):
        draft.refusals.refuse("constraints", repr(law))
        return
    first, second = (quoteattr(stage_name(body, 0)) for body in bodies)
    ratio = text([law.offset, law.ratio, 0.0, 0.0, 0.0])
    draft.add("equality", f'<joint{_named(draft, law)} joint1={first} joint2={second} polycoef="{ratio}"/>')
    draft.refusals.note(SOFT)


def _named(draft: Draft, law: Any) -> str:
    return f" name={quoteattr(draft.new(law.name))}" if law.name else ""


CONVERTERS: dict[type, Callable[[Draft, Any], None]] = {
    Limit: _limit,
    DryFriction: _dry_friction,
    Loop: _loop,
    Closure: _closure,
    Coupling: _coupling,
}
"""Classes of constraints with their counterparts; subclasses, which may compute something else, have none."""

__all__ = ["CONVERTERS", "add_constraint", "clear_declared"]
