"""Derivatives of forward dynamics of the loaded tree: the recursions of the bare tree under all loads, and the slopes of laws on
their ports (`law_slopes`).

With the wrenches and joint forces that laws put on bodies and joints held in their axes, the tree says how accelerations change
(`forward_derivatives`); that these forces change, too, is dQ = J^T (K J dq + D (J dv + N_v dq)). Rows r = G a + bias stay zero
where they hold:

    da = da_tree + M^-1 (dQ + d(G^T x) + G^T dx),      G da + dr = 0,      dr from the slopes of r on ports

Rows that others imply share what they have. Friction that slips keeps its force; where it sticks, it is a row like others.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..elements.collection import Collection, collection
from ..kernel.sweep import Algorithm, Field, Step, each, outward, vector
from ..model.arrays import Interface
from ..model.model import Model
from ..rows.solved import ACCELERATION
from .contradictions import check_rows_meet
from .derivatives import DynamicsDerivatives, square_interface
from .driven_derivatives import DrivenDerivatives, driven_derivatives, takes_joints_alone
from .forward import velocities
from .forward_derivatives import FORWARD_DERIVATIVES
from .held_rows import holding, row_inverse
from .law_slopes import SEEN, accelerating_row_slopes, force_slopes
from .linear_laws import LinearLaws, put_together
from .loaded import given_laws, law_tails, without_pushes
from .loaded_derivatives import derivatives_on_duals
from .port_columns import COLUMNS, PORT_COLUMNS, port_plans
from .port_space import PortSpace
from .program import act, begin_loads, dynamics, fields, place

RESULTS = ("a", "da_dq", "da_dv", "da_dtau")


class LoadedSlopes:
    """The laws of a model, ready for derivatives of its accelerations."""

    def __init__(self, laws: Collection) -> None:
        self.laws, self.model, self.linear = laws, laws.model, LinearLaws(laws)
        spaces = (self.linear.forces, self.linear.rows)
        self.bodies = sorted({body for space in spaces if space is not None for body in space.bodies})

    @cached_property
    def ports(self) -> Interface | None:
        """The columns at bodies as a function of arrays."""
        tails = {"port_columns": (len(COLUMNS), 6 * len(self.bodies), self.model.nv)}
        return Interface(self.model, PORT_COLUMNS, port_plans(self.model, self.bodies), tails) if self.bodies else None

    @cached_property
    def program(self) -> Algorithm:
        """Loads, forces of rows, and slopes."""
        laws, shape = self.laws, self.laws.shape
        found = fields(shape) | {"q": Field("input", "q"), "v": Field("input", "v")}
        found |= {"load": Field("output", "node", vector(6)), "push": Field("output", "v")}
        forces = [each(act, *(f"p{i}" for i in range(shape[0])), on="force")] if laws.forces else []
        if laws.rows:
            steps: list[Step] = [*([] if laws.forces else [each(begin_loads)]), *dynamics(shape, ACCELERATION)]
            found |= {"jump": Field("work", "node", vector(6))}
        else:
            steps = [*([outward(velocities), outward(place)] if shape[2] else []), each(begin_loads), *forces]
        if laws.forces:
            steps.append(each(force_slopes, *(f"p{i}" for i in range(shape[0])), on="force"))
        if laws.rows:
            ports = [f"p{i}" for i in range(shape[1])]
            steps.append(each(accelerating_row_slopes, *ports, on="constraint", when=("own", "awake")))
        steps += put_together(self.linear.force_parts, "force", found)
        steps += put_together(self.linear.row_parts[:3], "constraint", found)
        return Algorithm(f"forward_dynamics_derivatives_{'_'.join(map(str, map(int, shape)))}", found, {"run": steps})

    @cached_property
    def interface(self) -> Interface:
        """The program as a function of arrays."""
        R = self.laws.row_count
        tails = law_tails(self.laws)
        if self.linear.forces is not None:
            tails |= dict.fromkeys(("K_ports", "D_ports"), (self.linear.forces.size,) * 2)
        if self.linear.rows is not None:
            S = self.linear.rows.size
            tails |= {"G_ports": (R, S), "w_ports": (R, SEEN, S), "f_ports": (S, S)}
        return Interface(self.model, self.program, self.linear.plans, tails)

    def derivatives(self, q: Any, v: Any, tau: Any, external: Any, t: Any, inputs: Any) -> DynamicsDerivatives:
        """Of one state or a batch."""
        given = {"q": q, "v": v, "tau": tau, "external": external, "gravity": self.model.gravity}
        given |= given_laws(self.laws, q, t, inputs, bool(self.laws.rows))
        names = tuple(n for n, f in self.program.fields.items() if f.kind == "output")
        out = self.interface(given, 1, names)
        tree = square_interface(self.model, FORWARD_DERIVATIVES)
        told = {"q": q, "v": v, "tau": out["push"], "external": out["load"], "gravity": self.model.gravity}
        a, da_dq, da_dv, M_inverse = tree(told, 1, RESULTS).values()
        if self.laws.rows:
            check_rows_meet("forward_dynamics_derivatives", self.model, out | {"accelerations": a}, q, v, t)
        columns = self._columns(q, v, a)
        slopes_q, slopes_v = self._loads(out, columns)
        if slopes_q is not None:
            da_dq = da_dq + M_inverse @ slopes_q
        if slopes_v is not None:
            da_dv = da_dv + M_inverse @ slopes_v
        if self.linear.rows is None:
            return DynamicsDerivatives(a, da_dq, da_dv, M_inverse)
        return DynamicsDerivatives(a, *self._held(out, columns, self.linear.rows, (da_dq, da_dv, M_inverse)))

    def _columns(self, q: Any, v: Any, a: np.ndarray) -> dict[str, np.ndarray]:
        """Columns at all ports that are bodies (..., 6 bodies, nv)."""
        if self.ports is None:
            return {}
        given = {"q": q, "v": v, "a": a, "v_start": v, "gravity": None} | dict.fromkeys(("v_free", "v_held", "v_out"))
        found = self.ports(given, 1, ("port_columns",))["port_columns"]
        return {name: found[..., k, :, :] for k, name in enumerate(COLUMNS)}

    def _at(self, space: PortSpace, columns: dict[str, np.ndarray], name: str, lead: tuple[int, ...]) -> np.ndarray:
        """Columns at the ports of a space."""
        if not space.bodies:
            found = np.zeros((*lead, 0, self.model.nv))
        elif space.bodies == self.bodies:
            found = columns[name]
        else:
            at = {body: k for k, body in enumerate(self.bodies)}
            found = columns[name][..., [6 * at[body] + k for body in space.bodies for k in range(6)], :]
        return space.on_all(found) if name == "J" else space.on_bodies(found)

    def _loads(self, out: dict[str, Any], columns: dict[str, np.ndarray]) -> tuple[np.ndarray | None, np.ndarray | None]:
        """dQ/dq and dQ/dv, the forces of rows included."""
        slopes_q, slopes_v, lead = None, None, out["push"].shape[:-1]
        if (space := self.linear.forces) is not None:
            K, D = out["K_ports"], out["D_ports"]
            if not space.bodies:
                slopes_q, slopes_v = K, D
            else:
                J, N = (self._at(space, columns, name, lead) for name in ("J", "N_v"))
                Jt = J.swapaxes(-1, -2)
                slopes_q, slopes_v = Jt @ (K @ J + D @ N), Jt @ (D @ J)
        if (space := self.linear.rows) is not None:
            J = self._at(space, columns, "J", lead)
            of_rows = J.swapaxes(-1, -2) @ (out["f_ports"] @ J)
            slopes_q = of_rows if slopes_q is None else slopes_q + of_rows
        return slopes_q, slopes_v

    def _held(
        self, out: dict[str, Any], columns: dict[str, np.ndarray], space: PortSpace, da: tuple[np.ndarray, np.ndarray, np.ndarray]
    ) -> list[np.ndarray]:
        """Changes of accelerations under rows that hold."""
        lead, M_inverse = out["push"].shape[:-1], da[2]
        J, N, R_q, R_v, R_w = (self._at(space, columns, name, lead) for name in ("J", "N_v", "R_q", "R_v", "R_w"))
        position, velocity, _, rate = (out["w_ports"][..., k, :] for k in range(SEEN))
        G = np.where(holding(self.laws, out["x"])[..., None], out["G_ports"] @ J, 0.0)
        dr = (position @ J + velocity @ N + rate @ R_q, velocity @ J + rate @ (R_v + R_w), 0.0)
        answer = M_inverse @ G.swapaxes(-1, -2)
        held = answer @ row_inverse(G @ answer)
        return [free - held @ (own + G @ free) for free, own in zip(da, dr, strict=True)]


def loaded_slopes(model: Model) -> LoadedSlopes:
    """Kept with the model."""
    return model.keep_as(LoadedSlopes, lambda: LoadedSlopes(collection(model)))


def loaded_dynamics_derivatives(
    model: Model, q: Any, v: Any, tau: Any, external: Any, t: Any, inputs: Any, threads: int | None
) -> DynamicsDerivatives:
    """See `linearised_dynamics`."""
    known: DrivenDerivatives | None = model.keep_as(loaded_dynamics_derivatives, lambda: _driven(without_pushes(model)))
    if known is not None:
        return DynamicsDerivatives(*known(q, v, tau, external, t, inputs, threads))
    smooth = without_pushes(model)
    if any(law.swept for law in collection(smooth).forces):
        return derivatives_on_duals(model, q, v, tau, external, t, inputs)
    return loaded_slopes(smooth).derivatives(q, v, tau, external, t, inputs)


def _driven(model: Model) -> DrivenDerivatives | None:
    laws = collection(model)
    alone = takes_joints_alone(laws) and not any(law.swept for law in laws.forces)
    return driven_derivatives(model, laws) if alone else None
