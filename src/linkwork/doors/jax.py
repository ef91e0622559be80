"""For JAX: dynamics and time steps as functions of its arrays, with `jit`, `vmap`, `scan`, `jvp` and `grad`.

XLA calls our compiled code with the addresses of its buffers (`kernel.foreign`): no Python inside `jit`, no copies; `vmap` puts
states side by side in lanes. Derivatives are ours, exact: a function has a rule that multiplies its Jacobian with tangents, and
JAX turns that around for gradients. Coordinates are differentiated as they are: for quaternions along the sphere of unit ones.

    import jax
    jax.config.update("jax_enable_x64", True)        # float64 throughout
    fd = lw.jax.forward_dynamics(model)              # fd(q, v, tau) -> a
    step = lw.jax.step(model, dt=0.01)               # step(q, v, tau) -> (q', v')
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..elements.collection import collection
from ..errors import InputError
from ..kernel.directional import companion, directional
from ..kernel.foreign import ForeignFunction
from ..kernel.plans import Plans
from ..kernel.sweep import Algorithm
from ..model import Model
from ..model.charts import CHARTS, chart_places, is_flat
from ..reduced.derivatives import FORWARD_RESULTS, INVERSE_RESULTS
from ..reduced.dof_tree import dof_plans
from ..reduced.forward import FORWARD_DYNAMICS
from ..reduced.forward_derivatives import FORWARD_DERIVATIVES
from ..reduced.inverse import INVERSE_DYNAMICS
from ..reduced.inverse_derivatives import INVERSE_DERIVATIVES
from ..reduced.loaded import loaded_dynamics, without_pushes
from ..simulate import chosen_stepper
from ..step_derivatives import METHOD, acting_model
from ..steppers import AdaptiveStepper
from ..steppers.derivatives import step_tangent
from ..steppers.stepper import program_of

_numbers = itertools.count()


class _Call:
    """A function of arrays (..., size) that XLA calls; leading axes are a batch."""

    def __init__(
        self,
        plans: Plans,
        algorithm: Algorithm,
        inputs: tuple[str, ...],
        outputs: tuple[str, ...],
        constants: Mapping[str, np.ndarray],
        absent: tuple[str, ...],
    ) -> None:
        self._function = ForeignFunction(plans, algorithm, inputs, outputs, absent, constants)
        self._name = f"linkwork_{algorithm.name}_{next(_numbers)}"
        self._sizes = [self._function.sizes[name] for name in outputs]
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        jax.ffi.register_ffi_target(self._name, make(self._function.address, None, None), platform="cpu")

    def __call__(self, *arrays: Any) -> list[Any]:
        given = _floats(*arrays)
        shapes = [jax.ShapeDtypeStruct((size,), jnp.float64) for size in self._sizes]
        return list(jax.ffi.ffi_call(self._name, shapes, vmap_method="broadcast_all")(*given))


def _call(
    model: Model,
    plans: Plans,
    algorithm: Algorithm,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    constants: Mapping[str, np.ndarray] | None = None,
) -> _Call:
    """Kept with the model; inputs that are not named are zero, and gravity is the model's."""
    fields = algorithm.fields
    fixed = {"gravity": model.gravity, **(constants or {})}
    fixed = {name: x for name, x in fixed.items() if name in fields}
    unused = tuple(name for name, f in fields.items() if f.kind == "input" and name not in (*inputs, *fixed))
    spare = tuple(name for name in algorithm.results if name not in outputs and fields[name].kind == "output")

    def make() -> _Call:
        return _Call(plans, algorithm, inputs, outputs, fixed, unused + spare)

    return model.keep_as((_Call, algorithm.name, inputs, outputs, tuple(sorted((k, tuple(x)) for k, x in fixed.items()))), make)


# --- coordinates ---------------------------------------------------------------------------------------------------------------
class _Charts:
    """Matrices between changes of coordinates and displacements of joints, at one q."""

    def __init__(self, model: Model) -> None:
        self.model, self.flat = model, is_flat(model)
        if not self.flat:
            self._places = chart_places(model)
            self._call = _call(model, model.plan, CHARTS, ("q",), ("from_displacements", "to_displacements"))

    def __call__(self, q: Any) -> tuple[Any, Any]:
        """T (nq, nv) and P (nv, nq)."""
        nq, nv = self.model.nq, self.model.nv
        if self.flat:
            return jnp.eye(nq), jnp.eye(nq)
        T, P = self._call(q)
        return jnp.zeros((nq, nv)).at[self._places[0]].set(T), jnp.zeros((nv, nq)).at[self._places[1]].set(P)


def _differentiable(value: Callable[..., Any], with_jacobians: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays whose derivative is J_1 dx_1 + J_2 dx_2 + ...; `with_jacobians` returns its value and the J."""
    own = jax.custom_jvp(value)

    def rule(primals: Any, tangents: Any) -> Any:
        y, jacobians = with_jacobians(*primals)
        return y, sum(J @ dx for J, dx in zip(jacobians, tangents, strict=True))

    own.defjvp(rule)
    return own


def forward_dynamics(model: Model) -> Callable[..., Any]:
    """a(q, v, tau) (nv,) with all forces and equality constraints of the model; tau may be left out.

    Functions of time and inputs of forces stand as at t = 0.
    """
    own = _tree_dynamics(model) if not model.elements else _loaded_dynamics(model)
    return lambda q, v, tau=None: own(*_floats(q, v, jnp.zeros(model.nv) if tau is None else tau))


def _tree_dynamics(model: Model) -> Callable[..., Any]:
    charts = _Charts(model)
    call = _call(model, model.plan, FORWARD_DYNAMICS, ("q", "v", "tau"), ("a",))
    more = _call(model, dof_plans(model), FORWARD_DERIVATIVES, ("q", "v", "tau"), FORWARD_RESULTS)
    square = (model.nv, model.nv)

    def with_jacobians(q: Any, v: Any, tau: Any) -> Any:
        a, dq, dv, dtau = more(q, v, tau)
        return a, (dq.reshape(square) @ charts(q)[1], dv.reshape(square), dtau.reshape(square))

    return _differentiable(lambda q, v, tau: call(q, v, tau)[0], with_jacobians)


def _loaded_dynamics(model: Model) -> Callable[..., Any]:
    """By the program of the loaded model, and the same on dual numbers."""
    laws, charts = collection(without_pushes(model)), _Charts(model)
    if any(c.unknowns for c in laws.rows) or laws.told_count:
        raise InputError("lw.jax: constraints with unknowns of their own, and motions that only Python can compute, are left out")
    algorithm = loaded_dynamics(laws.shape)
    given = {"t": np.zeros(1), **({"u": laws.initial_inputs} if laws.forces else {})}
    inputs, moved = ("q", "v", "tau"), ("d_q", "d_v", "d_tau")
    call = _call(laws.model, laws.plan, algorithm, inputs, ("accelerations",), given)
    more = _call(laws.model, laws.plan, directional(algorithm), inputs + moved, ("accelerations", "d_accelerations"), given)
    units = _Units(model, charts)

    def with_jacobians(q: Any, v: Any, tau: Any) -> Any:
        a, d_a = jax.vmap(lambda *along: more(q, v, tau, *along))(*units.directions(q))
        return a[0], units.jacobians(q, d_a.T)

    return _differentiable(lambda q, v, tau: call(q, v, tau)[0], with_jacobians)


class _Units:
    """Unit directions: 3 nv displacements, velocities and joint forces, one after the other."""

    def __init__(self, model: Model, charts: _Charts) -> None:
        nv = model.nv
        self._nv, self._charts, self._rest = nv, charts, jnp.zeros((2 * nv, model.nq))
        self._v, self._tau = jnp.eye(3 * nv, nv, -nv), jnp.eye(3 * nv, nv, -2 * nv)

    def directions(self, q: Any) -> tuple[Any, Any, Any]:
        """Changes of q, v and tau (3 nv, ...)."""
        return jnp.concatenate([self._charts(q)[0].T, self._rest]), self._v, self._tau

    def jacobians(self, q: Any, columns: Any) -> tuple[Any, Any, Any]:
        """With respect to coordinates q, v and tau, of columns (size, 3 nv) along the directions."""
        n = self._nv
        return columns[:, :n] @ self._charts(q)[1], columns[:, n : 2 * n], columns[:, 2 * n :]


def inverse_dynamics(model: Model) -> Callable[..., Any]:
    """tau(q, v, a) (nv,) of the bare tree."""
    _require_tree(model, "inverse_dynamics")
    charts = _Charts(model)
    call = _call(model, model.plan, INVERSE_DYNAMICS, ("q", "v", "a"), ("tau",))
    more = _call(model, dof_plans(model), INVERSE_DERIVATIVES, ("q", "v", "a"), INVERSE_RESULTS)
    square = (model.nv, model.nv)

    def with_jacobians(q: Any, v: Any, a: Any) -> Any:
        dq, dv, da = (x.reshape(square) for x in more(q, v, a))
        return call(q, v, a)[0], (dq @ charts(q)[1], dv, da)

    own = _differentiable(lambda q, v, a: call(q, v, a)[0], with_jacobians)
    return lambda q, v, a: own(*_floats(q, v, a))


def step(
    model: Model, dt: float, stepper: str | None = None, *, limit_model: str = "hard", contact: str = "exact", **options: Any
) -> Callable[..., tuple[Any, Any]]:
    """(q', v')(q, v, tau) after one step of `simulate` from rest of its memory; tau may be left out.

    Its arguments as `step_derivatives` has them. Functions of time and inputs of forces stand as at t = 0.
    """
    acting = acting_model(model, dt, stepper, limit_model, contact, options)
    chosen = chosen_stepper(acting, METHOD, stepper, options)
    if isinstance(chosen, AdaptiveStepper):
        raise InputError(f"{chosen.name} chooses its steps; lw.jax.step takes those of one length")
    program, tangent, charts = program_of(chosen, acting, METHOD), step_tangent(acting, chosen), _Charts(model)
    if collection(acting).told_count or program.passes != 1:
        raise InputError(f"lw.jax.step: {chosen.name} on this model is not one pass of compiled code")
    nq, nv = model.nq, model.nv
    given = {name: np.asarray(x, float) for name, x in program.given(acting, dt).items() if name != "gravity"}
    plans = program.bind(acting) if program.bind else acting.plan
    memory = [name for name in program.algorithm.results if name not in ("q", "v") and _is_state(program.algorithm, name)]
    kept = program.entered(acting, {"q": model.neutral()[None], "v": np.zeros((1, nv))}, 0.0)
    start = {name: np.asarray(kept.get(name, np.zeros((1, 1)))[0], float) for name in memory}
    inputs = ("q", "v", "tau", *memory)
    call = _call(acting, plans, program.algorithm, inputs, ("q", "v"), given)
    moved = tuple(companion(name) for name in ("q", "v", "tau", *memory))
    more = _call(acting, tangent.plans, tangent.algorithm, (*inputs, *moved), ("q", "v", "d_q", "d_v"), given)
    first, still = [jnp.asarray(start[name]) for name in memory], [jnp.zeros(len(start[name])) for name in memory]
    units = _Units(model, charts)

    def value(q: Any, v: Any, tau: Any) -> Any:
        return jnp.concatenate(call(q, v, tau, *first))

    def with_jacobians(q: Any, v: Any, tau: Any) -> Any:
        along = jax.vmap(lambda *change: more(q, v, tau, *first, *change, *still))
        q_new, v_new, dq_new, dv_new = along(*units.directions(q))
        return jnp.concatenate([q_new[0], v_new[0]]), units.jacobians(q, jnp.concatenate([dq_new, dv_new], axis=1).T)

    own = _differentiable(value, with_jacobians)

    def take(q: Any, v: Any, tau: Any = None) -> tuple[Any, Any]:
        end = own(*_floats(q, v, jnp.zeros(nv) if tau is None else tau))
        return end[:nq], end[nq:]

    return take


def _is_state(algorithm: Algorithm, name: str) -> bool:
    return algorithm.fields[name].kind == "state"


def _floats(*arrays: Any) -> list[Any]:
    if not jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
        raise InputError('linkwork computes in float64: jax.config.update("jax_enable_x64", True) first')
    return [jnp.asarray(x, jnp.float64) for x in arrays]


def _require_tree(model: Model, what: str) -> None:
    if model.elements:
        raise InputError(f"lw.jax.{what} is that of the bare tree; this model has forces or constraints")
