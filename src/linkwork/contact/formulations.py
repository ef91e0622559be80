"""How shapes of a model touch: every pair that may (`contact.candidates`) is a law, but for pairs that have one of their own.

    "exact"          Coulomb's law, solved to rounding
    "pyramid"        friction within mu times the normal force along each of two tangents
    "staggered"      the same, by contact and friction in turn
    "single_qp"      contact and friction as one quadratic program: what slides parts with mu times its slip
    "compliant"      a spring, a damper and regularised friction at every point (`contact.compliant`)
    "frictionless"   contacts only push
    "off"            shapes pass through one another

All of them but "exact" also say how every `Contact` of the model itself acts, whether a user added it or the reader of a file
did; "frictionless" and "off" besides every `CompliantContact`. Friction of other gaps (`constraints.rubbing`) is their own:
Coulomb's, or solved in turn with all others. Constraints between surfaces (`TangentSurfaces`, ...) are no contacts, and stay.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elements.law import EXACT, PYRAMID, SINGLE_QP, STAGGERED
from ..errors import InputError
from ..geometry import Convex, Mesh, Plane, Shape
from ..model.model import Model
from ..spatial.gate import meant
from .candidates import candidates
from .compliant import Compliance, CompliantContact, compliant
from .contact import Contact
from .pairs import is_compiled

COMPLIANT, FRICTIONLESS, OFF = "compliant", "frictionless", "off"
CONTACT_MODELS = (EXACT, PYRAMID, STAGGERED, SINGLE_QP, COMPLIANT, FRICTIONLESS, OFF)
MOST_ROWS = 400_000  # of contacts: every pair has its own, and about a kilobyte for each
AS_NEEDED = Compliance()


def touching(model: Model, contact: str, compliance: Compliance = AS_NEEDED, h: float = 1e-3) -> Model:
    """The model with a law for every pair of its shapes that may touch; kept with it.

    compliance, h   of contacts that are compliant: their numbers, and the step that is to be taken
    """
    if not isinstance(contact, str) or contact not in CONTACT_MODELS:
        raise InputError(
            f"contact must be one of {', '.join(map(repr, CONTACT_MODELS))}, not {contact!r}{meant(contact, CONTACT_MODELS)}"
        )
    if contact != COMPLIANT and compliance.given:
        raise InputError(f"stiffness, damping and slip speed are those of contact={COMPLIANT!r}; it is {contact!r}")
    key = (touching, contact, compliance, h) if contact == COMPLIANT else (touching, contact)
    return model.keep_as(key, lambda: _touching(model, contact, compliance, h))


def _touching(model: Model, contact: str, compliance: Compliance, h: float) -> Model:
    if contact == OFF:
        kept = [e for e in model.elements if not isinstance(e, Contact | CompliantContact)]
        return model if len(kept) == len(model.elements) else model.replace(elements=kept)
    laws = model.keep_as(touching, lambda: _contacts(model)) if model_has_shapes(model) else []
    if contact == EXACT:
        return model.add(*laws) if laws else model

    def other(law: Any) -> Any:
        if isinstance(law, CompliantContact):
            return law.without_friction() if contact == FRICTIONLESS else law
        if contact == COMPLIANT and law.looks:
            a, b = (shape.kind for shape in law.shapes)
            raise InputError(
                f"{law!r}: contact of {a} and {b} is found by Coal, which contact={COMPLIANT!r} does not ask; use {EXACT!r}"
            )
        if contact == COMPLIANT:
            return compliant(model, law, compliance, h)
        return law.without_friction() if contact == FRICTIONLESS else law.solved_as(contact)

    if not laws and not any(isinstance(e, Contact | CompliantContact) for e in model.elements):
        return model
    own = [other(law) if isinstance(law, Contact | CompliantContact) else law for law in model.elements]
    return model.replace(elements=[*own, *map(other, laws)])


def model_has_shapes(model: Model) -> bool:
    """Whether a body has any; the world's alone touch nothing."""
    return any(s.group or s.mask for b in model.bodies for s in b.shapes)


def _seen_by(shape: Shape, other: Shape) -> Shape:
    """What another touches of a shape: of a mesh, a plane touches the hull."""
    return (
        Convex(shape.vertices[np.unique(shape.faces)], shape.name) if type(shape) is Mesh and isinstance(other, Plane) else shape
    )


def _asked() -> type[Contact]:
    from .asked import AskedContact  # which few need

    return AskedContact


def _contacts(model: Model) -> list[Contact]:
    own = {tuple(map(id, c.shapes)) for kind in (Contact, CompliantContact) for c in model.elements_of(kind)}
    own |= {(b, a) for a, b in own}
    found = []
    for pair in candidates(model):
        if (id(pair.shape_a), id(pair.shape_b)) not in own:
            a, b = _seen_by(pair.shape_a, pair.shape_b), _seen_by(pair.shape_b, pair.shape_a)
            shapes = pair.body_a, a, pair.body_b, b
            make = Contact if is_compiled(a, b) else _asked()
            found.append(make(*shapes, friction=pair.friction, restitution=pair.restitution))
    rows = sum(law.size for law in found)
    if rows > MOST_ROWS:
        raise InputError(
            f"{len(found)} pairs of shapes may touch, in {rows} rows; at most {MOST_ROWS} fit: exclude pairs, or give groups"
        )
    return found
