"""The response of an implicit step: how new velocities answer impulses, with stiffness between neighbours and across the tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, SolverError
from ..forces.blocks import Blocks
from ..forces.set import ForceSet, force_set
from ..kernel.call import Factored
from ..kernel.sweep import Algorithm
from ..model.model import Model
from ..model.state import MaximalState, Motion, Response, force_arrays
from .dynamics import check_inertias
from .implicit import implicit_response
from .implicit_tree import force_tree


class ImplicitResponse(Response):
    """The answer of a factored step h to impulses: in O(n), by two substitutions.

    free        new twists in the axes that the bodies have where the step was linearised, and joint velocities
    symmetric   one solve per step symmetrises its matrix; a round of Newton's method does not
    """

    def __init__(self, model: Model, algorithm: Algorithm, inputs: dict[str, np.ndarray]) -> None:
        self.model, self._algorithm = model, algorithm
        sizes = {"own_wrench": 6 * model.nb, "own_reaction": 6 * model.nb, "own_rate": 6 * model.nb - model.nv}
        further = {"q_end": model.nq, "twists_end": 6 * model.nb}
        self.found = {k: np.zeros(n) for k, n in (sizes | further).items() if k in algorithm.fields}
        self.symmetric = "q_end" not in self.found
        flat = {k: np.ascontiguousarray(x, float).reshape(-1) for k, x in inputs.items()}
        self._factored = Factored(self._plan, flat, self.found)
        self.free, _ = self.solved()
        if not np.all(np.isfinite(self.free.bodies)):
            i = int(np.flatnonzero(~np.isfinite(self.free.bodies).all(axis=1))[0])
            raise SolverError(f"the implicit system is singular at body {model.bodies[i].name!r}")

    def _plan(self, lanes: Any, phase: str, uniform: tuple[str, ...]) -> Any:
        return force_tree(self.model).plan(self._algorithm, lanes, (phase,), (), uniform)

    def solved(self, wrenches: Any = 0.0, forces: Any = 0.0) -> tuple[Motion, np.ndarray]:
        """The motion with further impulses on bodies (bodies, 6) and joints (nv,), and the impulses T lam of the joints."""
        given = {
            "wrench": self.found["own_wrench"] + np.reshape(wrenches, -1),
            "reaction": self.found["own_reaction"],
            "impulse": np.zeros(self.model.nv) + forces,
            "closing": self.found["own_rate"],
        }
        out = self._factored.apply({k: x.reshape(1, -1) for k, x in given.items()}, ("y_new", "v_new", "reactions"))
        return Motion.of_rows((), out[0][0], out[1][0]), out[2].reshape(-1, 6)

    def reactions(self, motion: Motion, wrenches: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """The impulses T lam of the joints (bodies, 6) in a motion with further impulses."""
        return self.solved(wrenches, forces)[1]

    def apply(self, body_wrenches: Any = None, joint_forces: Any = None) -> Motion:
        forces, lead = force_arrays(self.model, body_wrenches, joint_forces)
        given = {"wrench": forces["wrench"], "impulse": forces["tau"], "reaction": np.zeros_like(forces["wrench"])}
        given["closing"] = np.zeros((len(forces["tau"]), 6 * self.model.nb - self.model.nv))
        return Motion.of_rows(lead, *self._factored.apply(given, ("y_new", "v_new")))


class SoftenedResponse(Response):
    """A response with stiffness C between any bodies besides: (A + P C P^T)^-1 by k columns of A^-1 [Baraff, section 8].

    With R = P^T A^-1 P on the bodies that C touches, the impulse on them is -Z P^T motion, Z = (1 + C R)^-1 C.
    """

    def __init__(self, inner: ImplicitResponse, C: Blocks, impulse: np.ndarray) -> None:
        self.model, self._inner, self.symmetric = inner.model, inner, inner.symmetric
        self._C, self._impulse = C, impulse
        self._bodies = np.unique(C.row)
        k, nb = len(self._bodies), inner.model.nb
        place = np.zeros(nb, int)
        place[self._bodies] = np.arange(k)
        dense = Blocks(place[C.row], place[C.column], C.block).dense(k)
        unit = np.zeros((6 * k, nb, 6))
        unit[:, self._bodies] = np.eye(6 * k).reshape(6 * k, k, 6)
        R = inner.apply(unit).bodies[:, self._bodies].reshape(6 * k, 6 * k).T
        self._Z = np.linalg.solve(np.eye(6 * k) + dense @ R, dense)
        self.free = self._softened(inner.free + inner.apply(impulse))

    def reactions(self, motion: Motion, wrenches: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """See `ImplicitResponse`: the stiffness besides acts as an impulse that is known with the motion."""
        return self._inner.solved(wrenches + self._impulse - self._C @ motion.bodies, forces)[1]

    def _answer(self, motion: Motion) -> np.ndarray:
        """The impulses (..., bodies, 6) with which C answers the motion that there would be without it."""
        seen = motion.bodies[..., self._bodies, :]
        out = np.zeros(motion.bodies.shape)
        out[..., self._bodies, :] = -(seen.reshape(*seen.shape[:-2], -1) @ self._Z.T).reshape(seen.shape)
        return out

    def _softened(self, motion: Motion) -> Motion:
        return motion + self._inner.apply(self._answer(motion))

    def apply(self, body_wrenches: Any = None, joint_forces: Any = None) -> Motion:
        return self._softened(self._inner.apply(body_wrenches, joint_forces))


@dataclass(frozen=True, eq=False)
class DistantForces:
    """The forces of a model that do not join neighbours in its tree; made by `distant_forces`."""

    forces: ForceSet

    def softened(self, inner: ImplicitResponse, poses: Any, twists: Any, t: float, h: float, since: Any) -> SoftenedResponse:
        """A response that has them too, linearised at twists, for a motion that is counted from `since`.

        since   twists that the unknown motion of `inner` adds to: zero, or those of the iterate of Newton's method
        """
        df_dq, df_dv = self.forces.derivatives(poses, twists, t, symmetrised=inner.symmetric)
        C = -h * (df_dv + h * df_dq)
        impulse = h * (self.forces.wrenches(poses, twists, t) - df_dv @ (twists - since))
        return SoftenedResponse(inner, C, impulse)


def distant_forces(model: Model) -> DistantForces | None:
    """The distant forces of a model, kept with it; None if it has none."""

    def made() -> DistantForces | None:
        distant = force_tree(model).distant
        return DistantForces(force_set(model.replace(elements=distant))) if distant else None

    return model.keep_as(DistantForces, made)


def step_inputs(model: Model, state: MaximalState, h: float, tau: Any, external: Any, held: Any) -> dict[str, np.ndarray]:
    """What a step h asks for besides poses, flat; None stands for zeros."""
    if state.twists.shape != (model.nb, 6):
        raise InputError(f"factor: twists have shape {state.twists.shape}; one state is factored at a time, ({model.nb}, 6)")
    given = {"twists": state.twists, "q_fit": state.q_fit, "t": np.full(model.nb, state.t), "h": h, "gravity": model.gravity}
    given |= {"u": force_tree(model).inputs, "tau": np.zeros(model.nv) if tau is None else tau}
    given |= {name: np.zeros((model.nb, 6)) if x is None else x for name, x in (("external", external), ("held", held))}
    return {name: np.ascontiguousarray(x, float).reshape(-1) for name, x in given.items()}


def factor_implicit(
    model: Model, state: MaximalState, dt: float, tau: Any = None, external: Any = None, held: Any = None
) -> ImplicitResponse | SoftenedResponse:
    """The response of one linear solve at velocity level, with every force of the model: free velocities are those after dt.

    held   forces (bodies, 6) that the joints carry, wrenches on their bodies; their stiffness is part of the system
    """
    check_inertias(model)
    inputs = {"poses": state.poses, **step_inputs(model, state, dt, tau, external, held)}
    inner, distant = ImplicitResponse(model, implicit_response(), inputs), distant_forces(model)
    return distant.softened(inner, state.poses, state.twists, state.t + dt, dt, 0.0) if distant else inner
