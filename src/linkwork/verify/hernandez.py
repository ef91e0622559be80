"""The figures of Hernandez, Garre, Casillas & Otaduy, Linear-Time Dynamics of Characters with Stiff Joints (2011)."""

from __future__ import annotations

import numpy as np

from .. import State, Trajectory, simulate
from ..bench.models import chain as hinge_chain
from ..bench.multiplier_frames import frames
from ..bench.multiplier_routes import matrices, primary_system
from ..bench.multipliers import turning
from ..scenes import ALL_SCENES
from ..scenes.baraff import object_of_figure_2
from ..scenes.hand import hand
from .clock import best_ms
from .item import Family, Outcome, absent
from .pictures import curves, moments

HERNANDEZ = Family(
    "hernandez",
    "Hernandez et al. 2011: characters with stiff joints",
    "Five figures. Times are CPU times of one core of this machine beside those printed, of a processor of 2008.",
)
PRINTED_FRAME = {1000: 22.0, 10000: 285.0}  # ms
PRINTED_HAND = 0.36  # ms


@HERNANDEZ.item("fig1", "The hand with flesh and soft contact", "Figure 1; scene hand has its skeleton: see fig5")
def fig1(quick: bool) -> Outcome:
    return absent(
        "the flesh is a deformable model, which comes with the next release; the skeleton, its springs and limits are fig5"
    )


@HERNANDEZ.item(
    "fig2",
    "Six bodies, five joints: solution by block elimination along the tree beside a dense one; relative error",
    "Figure 2 (the object of Baraff's Figure 2); the root is a body (errata 000-4)",
)
def fig2(quick: bool) -> Outcome:
    assembly = object_of_figure_2()
    system = primary_system(assembly, matrices(assembly, turning(assembly)))
    dense = np.linalg.solve(system.matrix.toarray(), system.b)
    error = np.abs(system.eliminated()() - dense).max() / np.abs(dense).max()
    nodes = assembly.layout.nodes
    return Outcome(float(error), 1e-12, f"{len(nodes)} nodes, {sum(n.parent >= 0 for n in nodes)} edges: no fill-in")


def change_of_posture(run: Trajectory) -> float:
    """The angle by which joints leave the posture of the start, mean over joints and time, in rad."""
    angles = []
    for i, body in enumerate(run.model.bodies):
        if body.parent >= 0:
            relative = np.swapaxes(run.poses[:, body.parent, :3, :3], 1, 2) @ run.poses[:, i, :3, :3]
            trace = np.einsum("tij,ij->t", relative, relative[0])
            angles.append(np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0)))
    return float(np.mean(angles))


@HERNANDEZ.item(
    "fig3",
    "A robot figure dragged by its left hand for 3 s in steps of 1/60 s, joint torques on and off: the change of its "
    "posture with "
    "them over that without",
    "Figure 3; scene drag",
)
def fig3(quick: bool) -> Outcome:
    scene, runs = ALL_SCENES["drag"], {}
    assert scene.inputs is not None
    for stiff in (True, False):
        model, start = scene.build(stiff=stiff)
        runs[stiff] = simulate(model, start, 3.0, scene.dt, scene.methods[0], inputs=scene.inputs(model))
    found = {stiff: change_of_posture(run) for stiff, run in runs.items()}
    note = f"mean angles {found[True]:.3f} rad with, {found[False]:.3f} rad without torques; the picture is with"
    return Outcome(found[True] / found[False], 0.5, note, moments(runs[True], "yz", 6))


def frame_ms(links: int) -> float:
    """Milliseconds of a frame of a hanging chain."""
    model = hinge_chain(links)
    start = State(0.5 * np.random.default_rng(0).normal(size=model.nv), np.zeros(model.nv))
    count = max(1, 2000 // links)
    return best_ms(frames(model, start, 1, count)) / count


@HERNANDEZ.item(
    "fig4",
    "Time per frame of hanging chains of 10 to 10000 links: the largest ratio to the printed ones (22 ms at 1000, 285 "
    "ms at 10000 links)",
    "Figure 4; scene chain, linkwork bench multipliers",
)
def fig4(quick: bool) -> Outcome:
    sizes = (10, 100, 1000) if quick else (10, 100, 1000, 10000)
    times = [frame_ms(links) for links in sizes]
    ratios = [t / PRINTED_FRAME[n] for n, t in zip(sizes, times, strict=True) if n in PRINTED_FRAME]
    growth = times[-1] / times[-2]
    text = ", ".join(f"{t:.3g} ms at {n}" for n, t in zip(sizes, times, strict=True))
    points = {"printed": (list(PRINTED_FRAME), list(PRINTED_FRAME.values()))}
    picture = curves({"linkwork": (sizes, times)}, "links", "ms per frame", points=points, log="xy")
    return Outcome(max(ratios), 1.0, f"{text}; the last factor of ten costs {growth:.1f} times as much (printed 12.95)", picture)


@HERNANDEZ.item(
    "fig5",
    "The skeleton of the hand, 16 bones and 15 joints with springs to a tracked motion and stiff limits: time of a "
    "frame beside 0.36 ms",
    "Figure 5; scene hand, linkwork bench multipliers. Without flesh and its contacts: next release",
)
def fig5(quick: bool) -> Outcome:
    model, start = hand()
    took = best_ms(frames(model, start, 1, 50, 1)) / 50
    scene = ALL_SCENES["hand"]
    assert scene.inputs is not None
    run = simulate(model, start, 2.0, scene.dt, scene.methods[0], inputs=scene.inputs(model))
    beyond = run.health.limits or 0.0
    bones, joints = model.nb, sum(b.parent >= 0 for b in model.bodies)
    assert (bones, joints) == (16, 15)
    return Outcome(
        took / PRINTED_HAND, 1.0, f"{took:.4f} ms; limits are exceeded by {beyond:.2g} rad at most", moments(run, "xz", 4)
    )
