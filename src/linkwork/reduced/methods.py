"""Three ways to compile the forward dynamics of a model [Si & Guenter, §4]; `model.compile` chooses one.

"whole"     Method I of the paper: all six recursions traced over the whole model, one kernel of straight-line code, in which
            all numbers of the model are constants
"mixed"     Method II: recursions 1 to 3 as in Method I, 4 to 6 by loops over dense matrices, which serve every model
"classes"   the library's own: a kernel for every class of joint, called body by body; new models of known classes compile
            nothing. This is what `forward_dynamics` uses
"fastest"   "whole" for models of so few coordinates that straight-line code is both faster and soon compiled, else "classes"
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, ModelError
from ..kernel import cache
from ..kernel.function import Function
from ..kernel.plans import Plans
from ..kernel.sweep import Algorithm, Field, NodeClass, Routine, Tree, each, vector
from ..model import Model
from ..model.arrays import usual_function
from ..model.model import node_parameters
from ..spatial.gate import meant
from .dense_recursions import adjoints, dense_inward, dense_outward
from .forward import USUAL
from .recursions import forward_dynamics_of_the_paper, known_forces

METHODS = ("fastest", "classes", "whole", "mixed")
SMALL = 12  # velocities: beyond, straight-line code leaves the instruction cache and takes long to compile
INPUTS = {"q": Field("input", "q"), "v": Field("input", "v"), "tau": Field("input", "v")}
GRAVITY = {"gravity": Field("input", "global", vector(3))}


def whole_model(n: Any) -> None:
    """All recursions, on the one node that a model is here."""
    n.a = forward_dynamics_of_the_paper(n.model, n.q, n.v, n.tau, n.gravity)


def first_half(n: Any) -> None:
    """Recursions 1 to 3, and what the others need to know of every joint."""
    links = known_forces(n.model, n.q, n.v, n.tau, n.gravity)
    n.poses = [x for link in links for x in (*link.f.R.flat, *link.f.p)]
    n.subspaces = [x for link in links for x in link.S.T.flat]
    n.left = [x for link in links for x in link.tau_bar]


WHOLE = Algorithm(
    "whole_model_dynamics", {**INPUTS, **GRAVITY, "a": Field("output", "v")}, {"run": [each(whole_model)]}, patient=True
)
SCRATCH = {  # spaces, see `_one_node`
    "poses": "poses",
    "subspaces": "columns",
    "left": "v",
    "Ad": "matrices",
    "Jbar": "matrices",
    "U": "columns",
    "K": "columns",
    "Omega": "small",
    "moved": "small",
    "z": "vectors",
    "eta": "vectors",
    "c": "v",
}
INWARD = ("bodies", "up", "first", "Ad", "subspaces", "inertias", "drive", "left", "Jbar", "U", "K", "Omega", "moved", "z", "c")
MIXED = Algorithm(
    "mixed_dynamics",
    {
        **INPUTS,
        **GRAVITY,
        "inertias": Field("input", "matrices"),
        "drive": Field("input", "v"),
        **{name: Field("work", space) for name, space in SCRATCH.items()},
        "a": Field("output", "v"),
    },
    {
        "run": [
            each(first_half),
            Routine(adjoints, ("bodies", "poses", "Ad")),
            Routine(dense_inward, INWARD),
            Routine(dense_outward, ("bodies", "up", "first", "Ad", "subspaces", "K", "c", "eta", "a")),
        ]
    },
    patient=True,
)


@dataclass(frozen=True, eq=False)
class CompiledDynamics:
    """Forward dynamics of one model, compiled: `(q, v, tau)` of one state or a batch to accelerations, as `forward_dynamics`.

    method    how it was compiled
    seconds   how long that took, for one state at a time
    """

    model: Model
    method: str
    function: Function
    seconds: float

    def __call__(self, q: Any, v: Any, tau: Any = None, threads: int | None = 1) -> np.ndarray:
        """Accelerations (nv,) or (batch, nv)."""
        q, v = np.asarray(q, float), np.asarray(v, float)
        return self.function(q, v, np.zeros_like(v) if tau is None else tau, threads=threads)[0]


def compiled(model: Model, method: str = "fastest") -> CompiledDynamics:
    """See the module's text; models with forces or constraints have the class kernels of their programs alone."""
    if method not in METHODS:
        raise InputError(f"compile: the method must be one of {', '.join(METHODS)}, not {method!r}{meant(method, METHODS)}")
    if model.elements:
        raise ModelError("compile: a model with forces, constraints or contacts has its own program; use forward_dynamics")
    if method == "fastest":
        method = "whole" if model.nv <= SMALL else "classes"
    start = time.perf_counter()
    function = usual_function(model, *USUAL) if method == "classes" else _function(model, MIXED if method == "mixed" else WHOLE)
    neutral, still = model.neutral(), np.zeros(model.nv)
    function(neutral, still, still)
    return CompiledDynamics(model, method, function, time.perf_counter() - start)


def _function(model: Model, algorithm: Algorithm) -> Function:
    constants = {"gravity": model.gravity}
    if algorithm is MIXED:
        constants["inertias"] = np.concatenate([b.inertia.matrix.reshape(-1) for b in model.bodies])
        constants["drive"] = model.armature
    tails = {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,)}
    return Function(Plans(_one_node(model)), algorithm, tails, {"a": (model.nv,)}, constants=constants)


def _one_node(model: Model) -> Tree:
    """The model as one node, whose numbers are part of its class."""
    numbers = [(b.parent, b.joint.signature, sorted((k, repr(x)) for k, x in _numbers(b).items())) for b in model.bodies]
    sizes = {
        "q": model.nq,
        "v": model.nv,
        "poses": 12 * model.nb,
        "columns": 6 * model.nv,
        "matrices": 36 * model.nb,
        "vectors": 6 * model.nb,
        "small": 72,
    }
    node = NodeClass(("model", cache.digest(*map(repr, numbers))), {"model": model}, {}, sizes)
    first = np.array([*(model.v_index(b.name).start for b in model.bodies), model.nv], np.int32)
    tables = {"up": model.parents.astype(np.int32), "first": first}
    return Tree(np.array([-1]), [node], [{}], tables=tables, numbers={"bodies": model.nb})


def _numbers(body: Any) -> dict[str, Any]:
    """All numbers of a body, to the last bit."""
    return {name: np.asarray(x, float).tobytes() for name, x in node_parameters(body).items()}
