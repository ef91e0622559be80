"""Problems that others published with their solutions."""

from __future__ import annotations

import numpy as np
from scipy.special import ellipj

from .. import Inertia, ModelBuilder, Revolute, Trajectory, simulate
from . import car_axis as axis
from . import iftomm, squeezer
from .item import Family, Outcome
from .pictures import curves, moments
from .states import state

PUBLISHED = Family(
    "published",
    "Published problems",
    "The IFToMM library of multibody benchmarks (A01 to A05) and the car axis of the Bari test set. Figures are the largest "
    "errors relative to the size of the mechanism, over the whole run where the reference is a motion.",
)
LIBRARY = "IFToMM library of computational multibody benchmarks, problem"
SIZE = 1.0  # m, of the mechanisms of the library


@PUBLISHED.item(
    "A01_pendulum",
    "Point mass on a bar of 1 m let go from horizontal, 10 s: places of the mass",
    f"{LIBRARY} A01; its reference is the closed form, x = -cos(angle) by Jacobi's functions. Stepper rk4, 1 ms",
)
def simple_pendulum(quick: bool) -> Outcome:
    model = ModelBuilder().body("bar", joint=Revolute((0, -1, 0)), inertia=Inertia(1.0, (1, 0, 0), np.zeros((3, 3)))).build()
    run = simulate(model, state([np.pi], [0.0]), 10.0, 1e-3, stepper="rk4", every=10)
    _, cn, dn, _ = ellipj(np.sqrt(9.81) * run.t, 0.5)
    hanging = 2.0 * np.arcsin(np.sqrt(0.5) * cn / dn)  # from the vertical
    exact = np.stack([-np.sin(hanging), -np.cos(hanging)], axis=1)
    found = np.stack([np.cos(run.q[:, 0]), np.sin(run.q[:, 0])], axis=1)
    error = np.abs(found - exact).max()
    lines = {"x": (run.t, found[:, 0]), "y": (run.t, found[:, 1])}
    return Outcome(error, 1e-6, "m, over 10 s", curves(lines, "t / s", "m", points={"exact": (run.t[::25], exact[::25, 0])}))


# Published at t = 10 s by Exudyn [Gerstmayr 2021, test model fourBarMechanismIftomm], of the top of the first post, with steps of
# 0.25 and 0.125 ms; its error is of order 2, so their extrapolation is (0.32845810, 0.94451854).
EXUDYN = np.array([[0.3284552113, 0.9445195467], [0.3284573768, 0.9445187937]])


@PUBLISHED.item(
    "A02_windows",
    "Two four-bar windows through their singular positions, 10 s: the top of the first post",
    f"{LIBRARY} A02; reference: as one freedom is left, an ODE of the angle, solved apart by SciPy to 1e-13. Stepper rk4 with "
    "stabilise='project', 1 ms",
)
def n_four_bar(quick: bool) -> Outcome:
    model, start = iftomm.windows(2)
    run = simulate(model, start, 10.0, 1e-3, stepper="rk4", stabilise="project", every=20)
    angle = iftomm.angle_of_windows(2, run.t)
    posts = [model.q_index(f"post{i}").start for i in range(3)]
    error = np.abs(run.q[:, posts] - angle[:, None]).max()
    flat = int(np.sum(np.diff(np.floor(angle / np.pi - 0.5)) != 0))
    note = f"rad; {flat} passages through flat; all posts stay on the branch"
    points = {"one freedom": (run.t[::10], np.sin(angle)[::10])}
    return Outcome(error, 1e-6, note, curves({"x of the top": (run.t, np.sin(run.q[:, posts[0]]))}, "t / s", "m", points=points))


@PUBLISHED.item(
    "A02_exudyn",
    "The same at t = 10 s beside numbers that another engine published",
    "Exudyn 2021, test model fourBarMechanismIftomm: steps of 0.25 and 0.125 ms, extrapolated (order 2)",
)
def n_four_bar_elsewhere(quick: bool) -> Outcome:
    model, start = iftomm.windows(2)
    angle = simulate(model, start, 10.0, 1e-3, stepper="rk4", stabilise="project", every=10000).q[-1, 0]
    there = (4.0 * EXUDYN[1] - EXUDYN[0]) / 3.0
    error = np.abs([np.sin(angle), np.cos(angle)] - there).max()
    return Outcome(error, 1e-6, f"m; found ({np.sin(angle):.8f}, {np.cos(angle):.8f}), there ({there[0]:.8f}, {there[1]:.8f})")


@PUBLISHED.item(
    "A02_energy",
    "Energy of the windows over 10 s beside that of the start",
    f"{LIBRARY} A02, which asks for the change of energy",
)
def windows_energy(quick: bool) -> Outcome:
    run = simulate(*iftomm.windows(2), 10.0, 1e-3, stepper="rk4", stabilise="project", every=10)
    change = np.abs(run.energy.total - run.energy.total[0]).max() / run.energy.kinetic.max()
    return Outcome(change, 1e-6, "relative to the largest kinetic energy", moments(run, "xz", 10))


@PUBLISHED.item(
    "A03_squeezer",
    "Andrews' squeezer mechanism: all seven angles at t = 0.03 s, each relative to itself",
    f"Test Set for IVP Solvers [Mazzia & Magherini 2008], 16 printed digits; {LIBRARY} A03. lw.Assembly, steps of 2.5 us",
)
def andrews(quick: bool) -> Outcome:
    mechanism = squeezer.driven_squeezer()
    dt = 1e-5 if quick else 2.5e-6
    run = mechanism.simulate(0.03, dt, every=round(1.5e-4 / dt))
    found = squeezer.angles(mechanism, run.q[-1])
    errors = {name: abs(found[name] / value - 1.0) for name, value in squeezer.REFERENCE.items()}
    far = max(abs(found[name] - value) for name, value in squeezer.REFERENCE.items())
    motion = [squeezer.angles(mechanism, q) for q in run.q]
    lines = {name: (run.times, [x[name] for x in motion]) for name in ("gamma", "phi", "delta", "epsilon")}
    ends = [squeezer.REFERENCE[name] for name in lines]
    picture = curves(lines, "t / s", "angle / rad", points={"published": ([0.03] * 4, ends)})
    worst = max(errors, key=errors.__getitem__)
    note = f"of {worst}; smaller steps leave {far:.1e} rad, which is the accuracy of the printed digits"
    return Outcome(max(errors.values()), 1e-8, note, picture)


def third_corner(run: Trajectory) -> np.ndarray:
    """P3 (times, 3)."""
    return run.poses[:, 1, :3, :3] @ iftomm.BARS[1] + run.poses[:, 1, :3, 3]


@PUBLISHED.item(
    "A04_bricard",
    "Bricard's mechanism, five bars and six hinges with one redundant row, 10 s: places of P3",
    f"{LIBRARY} A04; its reference is a plot, so the motion is computed again without linkwork: free bars, 30 rows, dense "
    "multipliers of least norm, SciPy's DOP853. Stepper rk4 with stabilise='project', 1 ms",
)
def bricard(quick: bool) -> Outcome:
    model, start = iftomm.bricard()
    duration = 3.0 if quick else 10.0
    run = simulate(model, start, duration, 1e-3, stepper="rk4", stabilise="project", every=100)
    found, other = third_corner(run), iftomm.bricard_by_hand(run.t)
    error = np.abs(found - other).max()
    drift = np.ptp(run.energy.total)
    lines = {axis: (run.t, found[:, k]) for k, axis in enumerate("xyz")}
    picture = curves(lines, "t / s", "P3 / m", points={"second route": (run.t, other[:, 1])})
    return Outcome(error, 1e-6, f"m, over {duration:g} s; energy changes by {drift:.1e} J", picture)


@PUBLISHED.item(
    "A05_governor",
    "Stiff flyball governor (springs of 8e5 N/m, dampers of 4e4 N s/m), 10 s: height of the slider",
    f"{LIBRARY} A05; its reference is a plot, so the motion is computed again without linkwork: Lagrange's equations of the "
    "symmetric motion by hand, SciPy's Radau to 1e-10. Stepper sdirk2, 0.2 ms",
)
def flyball(quick: bool) -> Outcome:
    model, start = iftomm.governor()
    duration, dt = (2.0, 2e-4) if quick else (10.0, 2e-4)
    run = simulate(model, start, duration, dt, stepper="sdirk2", every=round(0.05 / dt))
    other = iftomm.slider_by_hand(run.t)
    error = np.abs(run.q[:, 1] - other).max() / SIZE
    picture = curves({"height": (run.t, run.q[:, 1])}, "t / s", "m", points={"second route": (run.t[::2], other[::2])})
    return Outcome(error, 1e-5, f"m, over {duration:g} s", picture)


@PUBLISHED.item(
    "car_axis",
    "Car axis: both masses at t = 3 s, relative to the length of the axle",
    "Test Set for IVP Solvers [Mazzia & Magherini 2008], 16 printed digits. Stepper dop853, rtol 1e-11",
)
def car_axis(quick: bool) -> Outcome:
    run = simulate(*axis.car_axis(), axis.END, axis.END / 300, stepper="dop853", rtol=1e-11, atol=1e-13)
    places, rates = run.q[-1, [0, 2, 3, 5]], run.v[-1, [0, 2, 3, 5]]
    error, of_rates = np.abs(places - axis.PLACES).max() / axis.LENGTH, np.abs(rates - axis.RATES).max()
    lines = {"x left": (run.t, run.q[:, 0]), "z right": (run.t, run.q[:, 5])}
    picture = curves(lines, "t / s", "m", points={"published": ([axis.END] * 2, axis.PLACES[[0, 3]])})
    return Outcome(error, 1e-8, f"rates to {of_rates:.1e}", picture)
