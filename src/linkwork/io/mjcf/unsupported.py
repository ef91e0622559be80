"""What a compiled MuJoCo model has and linkwork has not: an error where it changes the motion, unless allowed; else a note."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from ...errors import ModelError
from ...geometry.mesh_file import NOT_DRAWN
from .bodies import BALL, HINGE, SLIDE

ALLOWED = ("actuators", "equality", "flex", "fluid", "gravcomp", "plugins", "tendons", "wind", "all")  # what `allow` may name
AFFINE = 1  # mjtBias
ON_JOINT = (0, 1)  # mjtTrn: joint, and joint in its parent's axes, which is the same for hinges and slides


def check_supported(m: Any, file: str, allow: Collection[str], note: Callable[[str], object]) -> None:
    """Raise for what changes the motion and is not allowed; a line for what is."""
    for what, text in _changes(m):
        if what not in allow and "all" not in allow:
            raise ModelError(f"{file}: {text}, which linkwork does not read; load it with allow=[{what!r}] to leave it out")
        note(f"left out, as allowed: {text}")
    for text in _harmless(m):
        note(text)


def _changes(m: Any) -> Iterator[tuple[str, str]]:
    """Names for `allow`, and what they mean in this model."""
    acting = np.any([m.tendon_stiffness, m.tendon_damping, m.tendon_frictionloss, m.tendon_limited], axis=0)
    if np.any(acting):
        yield "tendons", f"{np.count_nonzero(acting)} of its {m.ntendon} tendons have springs, dampers, friction or limits"
    if m.opt.density or m.opt.viscosity:
        yield "fluid", f"it moves in a fluid (density {m.opt.density:g}, viscosity {m.opt.viscosity:g})"
    if np.any(m.opt.wind):
        yield "wind", f"it has wind {m.opt.wind.tolist()}"
    if np.any(m.body_gravcomp):
        yield "gravcomp", f"{int(np.count_nonzero(m.body_gravcomp))} bodies have their weight compensated"
    if m.nflex:
        yield "flex", f"it has {m.nflex} deformable bodies"
    if m.nplugin:
        yield "plugins", f"it has {m.nplugin} plugins"
    odd = [e for e in range(m.neq) if m.eq_active0[e] and m.eq_type[e] > 2]
    if odd:
        yield "equality", f"{len(odd)} of its equalities are on tendons, flexes or distances"
    for a in range(m.nu):
        why = _odd_actuator(m, a)
        if why:
            yield "actuators", f"actuator {m.actuator(a).name or a!r} {why}"
            return


def _odd_actuator(m: Any, a: int) -> str | None:
    if m.actuator_trntype[a] not in ON_JOINT:
        return "drives no joint but a tendon, site or body"
    if m.jnt_type[m.actuator_trnid[a, 0]] not in (SLIDE, HINGE):
        return "drives a free or ball joint"
    if m.actuator_dyntype[a] != 0:
        return "has a state of its own (an integrator, filter or muscle)"
    if m.actuator_gaintype[a] != 0 or m.actuator_biastype[a] > AFFINE:
        return "has a gain or bias that is not affine"
    return None


def _harmless(m: Any) -> Iterator[str]:
    if m.ntendon:
        yield f"ignored: {m.ntendon} tendons"
    if m.nskin:
        yield f"{NOT_DRAWN}{m.nskin} skins, which bend with several bodies"
    if m.nsensor:
        yield f"ignored: {m.nsensor} sensors"
    balls = [j for j in range(m.njnt) if m.jnt_type[j] == BALL and m.jnt_limited[j]]
    if balls:
        names = ", ".join(repr(m.joint(j).name or j) for j in balls[:3]) + ", ..." * (len(balls) > 3)
        widest = max(float(m.jnt_range[j][1]) for j in balls)
        yield (
            f"limits of {len(balls)} ball joints ({names}; angles up to {widest:g} rad) do not act: linkwork has none of the "
            "whole angle; add lw.SwingTwistLimit(joint, stiffness, swing=...)"
        )
    if m.ncam or m.nlight:
        yield f"ignored: {m.ncam} cameras and {m.nlight} lights"
    if m.nmocap:
        yield f"{m.nmocap} mocap bodies stand still as part of the world"
    yield f"its timestep {m.opt.timestep:g} s and integrator are not used; give `dt` and `stepper` to simulate"
