"""For CasADi: functions of a model as expressions, which it differentiates as often as it likes and hands to its solvers.

The rules of an algorithm run once on symbols, node by node, and the graph that they leave is written in CasADi's terms: what is
compiled elsewhere is an expression here, unrolled over the bodies. For models of optimal control, of some ten joints.

    f = model.casadi("forward_dynamics")      # f(q, v, tau) -> a, with the forces of the model
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from ..elements.collection import collection
from ..errors import InputError
from ..kernel.eager import EagerRun
from ..kernel.sweep import Algorithm, Tree
from ..kernel.symbol import Symbol, ordered, variable
from ..model import Model
from ..model.kinematics import KINEMATICS
from ..model.manifold import DIFFERENCE, INTEGRATE
from ..reduced.forward import FORWARD_DYNAMICS
from ..reduced.inverse import INVERSE_DYNAMICS
from ..reduced.loaded import loaded_dynamics
from ..reduced.loaded_inverse import loaded_inverse
from ..spatial.gate import meant

NAMES = {"abs": "fabs", "atan2": "atan2"}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "and": ca.logic_and,
    "or": ca.logic_or,
}


def expressions(inputs: dict[Symbol, Any], outputs: list[Any]) -> list[Any]:
    """Outputs of symbols in CasADi's terms, given those of the inputs."""
    known: dict[int, Any] = {id(s): x for s, x in inputs.items()}

    def of(x: Any) -> Any:
        return known[id(x)] if isinstance(x, Symbol) else float(x)

    for s in ordered(inputs, outputs):
        if id(s) in known:
            continue
        if s.op == "const":
            known[id(s)] = float(s.args[0])
        elif s.op in BINARY:
            known[id(s)] = BINARY[s.op](*map(of, s.args))
        elif s.op == "neg":
            known[id(s)] = -of(s.args[0])
        elif s.op == "not":
            known[id(s)] = ca.logic_not(of(s.args[0]))
        elif s.op == "select":
            known[id(s)] = ca.if_else(*map(of, s.args))
        else:
            known[id(s)] = getattr(ca, NAMES.get(s.op, s.op))(*map(of, s.args))
    return [of(x) for x in outputs]


def _function(
    name: str, algorithm: Algorithm, tree: Tree, sizes: dict[str, int], fixed: dict[str, Any], results: dict[str, tuple[int, ...]]
) -> Any:
    """The algorithm as a `casadi.Function` of the inputs whose sizes are given."""
    symbols = {x: [variable(f"{x}{k}") for k in range(n)] for x, n in sizes.items()}
    given = {x: np.array(s, dtype=object) for x, s in symbols.items()} | fixed
    found = EagerRun(algorithm, tree, given, lambda x: x).run()
    own = {x: ca.SX.sym(x, n) for x, n in sizes.items()}
    inputs = {s: own[x][k] for x, group in symbols.items() for k, s in enumerate(group)}
    outputs = []
    for result, shape in results.items():
        written = ca.SX(0, 1) if not found[result].size else ca.vertcat(*expressions(inputs, list(found[result])))
        outputs.append(ca.reshape(written, *reversed(shape)).T if len(shape) == 2 else written)
    return ca.Function(name, list(own.values()), outputs, list(own), list(results))


def _dynamics(model: Model, name: str) -> Any:
    """Forward or inverse dynamics with the forces of the model."""
    laws, nq, nv = collection(model), model.nq, model.nv
    if laws.rows:
        raise InputError(f"{name} for CasADi: constraints are for its solvers; state them there, or leave them out of the model")
    forward = name == "forward_dynamics"
    sizes, result = {"q": nq, "v": nv, ("tau" if forward else "a"): nv}, "a" if forward else "tau"
    fixed: dict[str, Any] = {"gravity": model.gravity}
    if not laws.forces:
        return _function(name, FORWARD_DYNAMICS if forward else INVERSE_DYNAMICS, model.tree, sizes, fixed, {result: (nv,)})
    fixed |= {"t": np.zeros(1), "u": laws.initial_inputs}
    algorithm, shown = (loaded_dynamics(laws.shape), "accelerations") if forward else (loaded_inverse(laws.shape), "tau")
    return _function(name, algorithm, laws.tree, sizes, fixed, {shown: (nv,)})


def casadi_function(model: Model, name: str) -> Any:
    """See `Model.casadi`."""
    nq, nv = model.nq, model.nv
    if name in ("forward_dynamics", "inverse_dynamics"):
        return model.keep_as((casadi_function, name), lambda: _dynamics(model, name))
    known: dict[str, Callable[[], Any]] = {
        "integrate": lambda: _function(name, INTEGRATE, model.tree, {"q": nq, "dv": nv}, {}, {"q_next": (nq,)}),
        "difference": lambda: _function(name, DIFFERENCE, model.tree, {"q": nq, "q_next": nq}, {}, {"dv": (nv,)}),
        "poses": lambda: _function(name, KINEMATICS, model.tree, {"q": nq, "v": nv}, {}, {"poses": (4 * model.nb, 4)}),
    }
    if name not in known:
        raise InputError(
            f"there is no {name!r} for CasADi; choose one of forward_dynamics, inverse_dynamics, {', '.join(known)}"
            f"{meant(name, ('forward_dynamics', 'inverse_dynamics', *known))}"
        )
    return model.keep_as((casadi_function, name), known[name])
