"""For PyTorch: dynamics and time steps as functions of its tensors, with gradients.

Forwards, compiled code runs on the memory of the tensors, all leading axes a batch side by side in lanes. Backwards, the same
programs run backwards (`kernel.adjoint`): a gradient costs a few evaluations, whatever the number of coordinates. Coordinates are
differentiated as they are: q is any vector of nq numbers, and a quaternion that is not of unit length is a function like others.

    fd = lw.torch.forward_dynamics(model)            # fd(q, v, tau) -> a
    step = lw.torch.step(model, dt=0.01)             # step(q, v, tau) -> (q', v')
    run = lw.torch.rollout(model, dt=0.01)           # run(q, v, tau) -> (q, v) after every step, tau (..., steps, nv)
"""

# What torch has is not known where types are checked without it.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch  # pyright: ignore[reportMissingImports]

from ..elements.collection import collection
from ..errors import InputError
from ..kernel.adjoint import adjoint, with_reversed_items
from ..kernel.adjoint_names import bar, end
from ..kernel.plans import Plans
from ..kernel.running import run_plan
from ..kernel.sweep import Algorithm
from ..model import Model
from ..reduced.forward import FORWARD_DYNAMICS
from ..reduced.loaded import loaded_dynamics, without_pushes
from ..simulate import chosen_stepper
from ..step_derivatives import METHOD, acting_model
from ..steppers import AdaptiveStepper
from ..steppers.adjoints import step_adjoint


class _Program:
    """An algorithm and its adjoint, as functions of some inputs (or states) that return some results.

    constants   inputs that are the same in all calls, flat
    """

    def __init__(
        self,
        plans: Plans,
        algorithm: Algorithm,
        backwards: Algorithm,
        inputs: tuple[str, ...],
        results: tuple[str, ...],
        constants: Mapping[str, np.ndarray],
    ) -> None:
        self.plans, self.algorithm, self.backwards = plans, algorithm, backwards
        self.inputs, self.results = inputs, results
        self.constants = {name: x for name, x in constants.items() if name in algorithm.fields}
        self.sizes = [plans.size(algorithm, name) for name in inputs]

    def value(self, given: list[np.ndarray]) -> list[np.ndarray]:
        """The results (batch, size) at inputs (batch, size)."""
        found = dict(zip(self.inputs, given, strict=True)) | self.constants
        out = run_plan(self.plans, self.algorithm, found, self.results, len(given[0]), 1, 1)
        return [out[name][:, 0] for name in self.results]

    def gradient(self, given: list[np.ndarray], weights: list[np.ndarray]) -> list[np.ndarray]:
        """The weights of the inputs, given those of the results."""
        found = dict(zip(self.inputs, given, strict=True)) | self.constants
        found |= {end(name): w for name, w in zip(self.results, weights, strict=True)}
        batch, names = len(given[0]), tuple(map(bar, self.inputs))
        states = tuple(name for name, f in self.backwards.fields.items() if f.kind == "state")
        found |= {name: np.zeros((batch, self.plans.size(self.backwards, name))) for name in states}
        others = tuple(name for name in names if name not in states)
        out = run_plan(self.plans, self.backwards, found, others, batch, 1, 1, states)
        return [out[name] if name in states else out[name][:, 0] for name in names]


class _Function(torch.autograd.Function):
    """A program on tensors (batch, size)."""

    @staticmethod
    def forward(ctx: Any, program: _Program, *given: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.program = program
        ctx.save_for_backward(*given)
        return tuple(torch.from_numpy(x) for x in program.value([_array(x) for x in given]))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *weights: torch.Tensor) -> tuple[Any, ...]:
        found = ctx.program.gradient([_array(x) for x in ctx.saved_tensors], [_array(w) for w in weights])
        return (None, *(torch.from_numpy(x) for x in found))


def _array(x: torch.Tensor) -> np.ndarray:
    """The memory of a tensor, copied only if it does not lie in one piece."""
    return np.ascontiguousarray(x.detach().numpy())


def _tensors(arrays: list[Any], names: tuple[str, ...], sizes: list[int]) -> list[torch.Tensor]:
    """What is given as tensors of doubles, whose last axes have these sizes."""
    given = [x if isinstance(x, torch.Tensor) else torch.as_tensor(x, dtype=torch.float64) for x in arrays]
    for x, name, size in zip(given, names, sizes, strict=True):
        if x.dtype is not torch.float64:
            raise InputError(f"{name} is {x.dtype}: linkwork computes in torch.float64")
        if x.shape[-1:] != (size,):
            raise InputError(f"{name} has the shape {tuple(x.shape)}; its last axis has {size} numbers")
    return given


def _called(program: _Program, arrays: list[Any]) -> list[torch.Tensor]:
    """Results (..., size) of tensors (..., size), whose leading axes broadcast."""
    given = _tensors(arrays, program.inputs, program.sizes)
    lead = torch.broadcast_shapes(*(x.shape[:-1] for x in given))
    flat = [x.expand(*lead, x.shape[-1]).reshape(-1, x.shape[-1]) for x in given]
    return [x.reshape(*lead, x.shape[-1]) for x in _Function.apply(program, *flat)]  # pyright: ignore


def forward_dynamics(model: Model) -> Callable[..., torch.Tensor]:
    """a(q, v, tau) (..., nv) with all forces and equality constraints of the model; tau may be left out.

    Functions of time and inputs of forces stand as at t = 0.
    """

    def make() -> _Program:
        if not model.elements:
            tree, algorithm, result, given = model.tree, FORWARD_DYNAMICS, "a", {}
        else:
            laws = collection(without_pushes(model))
            if any(c.unknowns for c in laws.rows) or laws.told_count:
                raise InputError("lw.torch: constraints with unknowns, and motions that only Python knows, are left out")
            tree, algorithm, result = laws.tree, loaded_dynamics(laws.shape), "accelerations"
            given = {"t": np.zeros(1), **({"u": laws.initial_inputs} if laws.forces else {})}
        plans, constants = Plans(with_reversed_items(tree)), {"gravity": model.gravity, **given}
        return _Program(plans, algorithm, adjoint(algorithm), ("q", "v", "tau"), (result,), constants)

    program = model.keep_as((_Program, "forward_dynamics"), make)
    none = torch.zeros(model.nv, dtype=torch.float64)
    return lambda q, v, tau=None: _called(program, [q, v, none if tau is None else tau])[0]


class _Steps:
    """The steps of `simulate` by a stepper of fixed steps, and back; see `StepAdjoint`."""

    def __init__(
        self, model: Model, dt: float, stepper: str | None, limit_model: str, contact: str, options: dict[str, Any]
    ) -> None:
        acting = acting_model(model, dt, stepper, limit_model, contact, options)
        chosen = chosen_stepper(acting, METHOD, stepper, options)
        if isinstance(chosen, AdaptiveStepper):
            raise InputError(f"{chosen.name} chooses its steps; lw.torch takes those of one length")
        self.model, self.acting, self.adjoint = model, acting, step_adjoint(acting, chosen)
        self.fixed = {name: np.reshape(x, -1) for name, x in self.adjoint.program.given(acting, dt).items()}

    def first(self, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
        """What the program keeps (batch, size) at the start of a run."""
        kept = self.adjoint.program.entered(self.acting, {"q": q, "v": v}, 0.0)
        return {"t": np.zeros((len(q), 1))} | {name: np.asarray(x, float) for name, x in kept.items()}

    def run(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> dict[str, np.ndarray]:
        """All that the program keeps after every step (batch, steps, size)."""
        return self.adjoint.forwards(self.first(q, v), self.fixed | {"tau": tau}, tau.shape[1], 1)


class _Run(torch.autograd.Function):
    """A run on tensors q (batch, nq), v (batch, nv), tau (batch, steps, nv): the states after every step."""

    @staticmethod
    def forward(
        ctx: Any, steps: _Steps, q: torch.Tensor, v: torch.Tensor, tau: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.steps, ctx.after = steps, steps.run(_array(q), _array(v), _array(tau))
        ctx.save_for_backward(q, v, tau)
        return torch.from_numpy(ctx.after["q"].copy()), torch.from_numpy(ctx.after["v"].copy())

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, weights_q: torch.Tensor, weights_v: torch.Tensor) -> tuple[Any, ...]:
        q, v, tau = (_array(x) for x in ctx.saved_tensors)
        steps, bars = ctx.steps, ctx.steps.adjoint.first_bars(len(q))
        first = steps.first(q, v)
        starts = {name: np.concatenate([first[name][:, None], x[:, :-1]], axis=1) for name, x in ctx.after.items()}
        ends = {end("q"): _array(weights_q), end("v"): _array(weights_v)}
        found = steps.adjoint.backwards(bars, starts, steps.fixed | {"tau": tau}, ends, ("tau",))
        results = (bars[bar("q")], bars[bar("v")], np.ascontiguousarray(found["tau"]))
        return (None, *(torch.from_numpy(x) for x in results))


def rollout(
    model: Model, dt: float, stepper: str | None = None, *, limit_model: str = "hard", contact: str = "exact", **options: Any
) -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    """(q, v)(q0, v0, tau): states (..., steps, nq), (..., steps, nv) after every step of `simulate` under tau (..., steps, nv).

    All steps are one call of compiled code, forwards and backwards. Other arguments as `step` has them.
    """
    steps = _Steps(model, dt, stepper, limit_model, contact, options)

    def run(q: Any, v: Any, tau: Any) -> tuple[torch.Tensor, torch.Tensor]:
        q, v, tau = _tensors([q, v, tau], ("q", "v", "tau"), [model.nq, model.nv, model.nv])
        lead = torch.broadcast_shapes(q.shape[:-1], v.shape[:-1], tau.shape[:-2])
        flat = [x.expand(*lead, x.shape[-1]).reshape(-1, x.shape[-1]) for x in (q, v)]
        forces = tau.expand(*lead, *tau.shape[-2:]).reshape(-1, *tau.shape[-2:])
        q_new, v_new = _Run.apply(steps, *flat, forces)  # pyright: ignore
        return q_new.reshape(*lead, *q_new.shape[1:]), v_new.reshape(*lead, *v_new.shape[1:])

    return run


def step(
    model: Model, dt: float, stepper: str | None = None, *, limit_model: str = "hard", contact: str = "exact", **options: Any
) -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    """(q', v')(q, v, tau) (..., nq), (..., nv) after one step of `simulate` from rest of its memory; tau may be left out.

    Its arguments as `step_derivatives` has them. Functions of time and inputs of forces stand as at t = 0.
    """
    steps = _Steps(model, dt, stepper, limit_model, contact, options)
    own, first = steps.adjoint, steps.first(model.neutral()[None], np.zeros((1, model.nv)))
    constants = {name: x[0] for name, x in first.items() if name not in ("q", "v")} | steps.fixed
    program = _Program(own.plans, own.program.algorithm, own.algorithm, ("q", "v", "tau"), ("q", "v"), constants)
    none = torch.zeros(model.nv, dtype=torch.float64)

    def take(q: Any, v: Any, tau: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
        q_new, v_new = _called(program, [q, v, none if tau is None else tau])
        return q_new, v_new

    return take
