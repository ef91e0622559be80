"""States, arguments and options of calls that cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
from cases import INF, NAN, at_rest, bad, ball, free, plain, run, two

import linkwork as lw

Q, Z = [0.1, 0.2], [0.0, 0.0]
ONES = [1.0, 1.0, 1.0, 1.0]  # a quaternion of norm 2
BENT = np.tile(np.diag([2.0, 2.0, 2.0, 1.0]), (2, 1, 1))


def fd(q: Any = Q, v: Any = Z, tau: Any = Z, **rest: Any) -> Any:
    return lw.forward_dynamics(plain(), q, v, tau, **rest)


def loaded() -> lw.Model:
    return two(lw.SpringDamper("lower", "world", (1, 0, 0), (2, 0, 1), stiffness=1.0, rest_length=0.5))


def maximal(**changes: Any) -> Any:
    start = lw.to_maximal(plain(), at_rest(plain()))
    given = {"poses": start.poses, "twists": start.twists, "q_fit": start.q_fit} | changes
    return lw.simulate(plain(), lw.MaximalState(**given), 0.01, 1e-3, "maximal")


def looped() -> lw.Model:
    return two(lw.Loop("lower", "world", (1, 0, 0), (0.5, 0, 0.5)))


def sim(**changes: Any) -> lw.Simulator:
    return lw.Simulator(plain(), **changes)


CALLS = {
    # --- arrays of the quick functions
    "q nan": bad(lambda: fd([NAN, 0]), "q", "shoulder", "nan", "finite"),
    "q inf": bad(lambda: fd([0, INF]), "q", "elbow", "inf", "finite"),
    "v nan": bad(lambda: fd(v=[0, NAN]), "v", "elbow", "nan", "finite"),
    "tau nan": bad(lambda: fd(tau=[NAN, 0]), "tau", "shoulder", "nan", "finite"),
    "tau inf array": bad(lambda: fd(np.array(Q), np.array(Z), np.array([INF, 0])), "tau", "shoulder", "inf", "finite"),
    "q nan in a batch": bad(
        lambda: fd(np.array([Q, [NAN, 0], Q]), np.zeros((3, 2)), np.zeros((3, 2))), "q", "shoulder", "1", "nan"
    ),
    "q nan in threads": bad(
        lambda: fd(np.array([Q, [NAN, 0], Q] * 50), np.zeros((150, 2)), np.zeros((150, 2)), threads=2), "q", "shoulder", "nan"
    ),
    "q nan in float32": bad(lambda: fd(np.array([NAN, 0], np.float32)), "q", "shoulder", "nan"),
    "q nan of the mass matrix": bad(lambda: lw.mass_matrix(plain(), [NAN, 0]), "q", "shoulder", "nan"),
    "q nan of kinematics": bad(lambda: lw.kinematics(plain(), [NAN, 0]), "q", "shoulder", "nan"),
    "q nan of inverse dynamics": bad(lambda: lw.inverse_dynamics(plain(), [NAN, 0], Z, Z), "q", "shoulder", "nan"),
    "a nan": bad(lambda: lw.inverse_dynamics(plain(), Q, Z, [0, NAN]), "a", "elbow", "nan"),
    "external nan": bad(lambda: fd(external=[[0] * 6, [NAN] * 6]), "external", "lower", "nan"),
    "external shape": bad(lambda: fd(external=np.zeros((2, 5))), "external", "(2, 5)", "(2, 6)"),
    "q short": bad(lambda: fd([0.1]), "q", "(1,)", "(2)"),
    "q scalar": bad(lambda: fd(0.1), "q", "()", "(2)"),
    "q of three axes": bad(lambda: fd(np.zeros((1, 1, 2))), "q", "(1, 1, 2)"),
    "batches that differ": bad(lambda: fd(np.zeros((3, 2)), np.zeros((4, 2)), np.zeros((3, 2))), "batch", "3", "4"),
    "q text": bad(lambda: fd("left"), "q", "number"),
    "q of texts of numbers": bad(lambda: fd(["0.1", "0.2"]), "q", "number"),
    "q complex": bad(lambda: fd(np.array([1j, 0])), "q", "number"),
    "q bool": bad(lambda: fd([True, False]), "q", "number"),
    "q dates": bad(lambda: fd(np.array(["2020-01-01"] * 2, "M8[D]")), "q", "number"),
    "q durations": bad(lambda: fd(np.array([1, 2], "m8[s]")), "q", "number"),
    "q ragged": bad(lambda: fd([[0.1], [0.1, 0.2]]), "q", "number"),
    "q dictionary": bad(lambda: fd({"shoulder": 0.1, "elbow": 0.2}), "q", "number"),
    "q set": bad(lambda: fd({0.1, 0.2}), "q", "number"),
    "q none": bad(lambda: fd(None), "q"),
    "q bytes": bad(lambda: fd(b"01"), "q", "number"),
    "q structured": bad(lambda: fd(np.zeros(2, [("x", float)])), "q", "number"),
    "q masked": bad(lambda: fd(np.ma.array(Q, mask=[True, False])), "q", "mask"),
    "q generator": bad(lambda: fd(x for x in Q), "q", "number"),
    "q state": bad(lambda: fd(at_rest(plain())), "q", "number"),
    "model none": bad(lambda: lw.forward_dynamics(None, Q, Z), "model", "NoneType"),  # type: ignore[arg-type]
    "model path": bad(lambda: lw.forward_dynamics("robot.urdf", Q, Z), "model", "lw.load"),  # type: ignore[arg-type]
    "model builder": bad(lambda: lw.forward_dynamics(lw.ModelBuilder(), Q, Z), "model", "build()"),  # type: ignore[arg-type]
    "threads 0": bad(lambda: fd(np.zeros((4, 2)), np.zeros((4, 2)), np.zeros((4, 2)), threads=0), "threads", "0"),
    "threads text": bad(lambda: fd(np.zeros((4, 2)), np.zeros((4, 2)), np.zeros((4, 2)), threads="all"), "threads", "'all'"),
    "threads float": bad(lambda: fd(np.zeros((4, 2)), np.zeros((4, 2)), np.zeros((4, 2)), threads=1.5), "threads", "1.5"),
    "time nan": bad(lambda: lw.forward_dynamics(loaded(), Q, Z, t=NAN), "t", "nan"),
    "time text": bad(lambda: lw.forward_dynamics(loaded(), Q, Z, t="now"), "t", "number"),
    "loaded q nan": bad(lambda: lw.forward_dynamics(loaded(), [NAN, 0], Z), "q", "shoulder", "nan"),
    "loaded tau nan": bad(lambda: lw.forward_dynamics(loaded(), Q, Z, [0, NAN]), "tau", "elbow", "nan"),
    "loaded inverse nan": bad(lambda: lw.inverse_dynamics(loaded(), Q, [NAN, 0], Z), "v", "shoulder", "nan"),
    "inputs of no force": bad(lambda: lw.forward_dynamics(loaded(), Q, Z, inputs=[1.0]), "inputs", "(1,)"),
    "inputs by name": bad(lambda: lw.forward_dynamics(loaded(), Q, Z, inputs={"spring": 1.0}), "inputs", "number"),
    "derivatives nan": bad(lambda: lw.forward_dynamics_derivatives(plain(), [NAN, 0], Z), "q", "shoulder", "nan"),
    "jacobian of no frame": bad(lambda: lw.jacobian(plain(), Q, "lowr"), "'lowr'", "did you mean 'lower'"),
    "frame axes": bad(lambda: lw.frame_jacobian(plain(), Q, "lower", "algned"), "'algned'", "did you mean 'aligned'"),
    "frame point": bad(lambda: lw.point_jacobian(plain(), Q, "lower", (0, NAN, 0)), "point", "nan"),
    "point of two": bad(lambda: lw.point_jacobian(plain(), Q, "lower", (0, 1)), "point", "(2,)"),
    "hybrid joint": bad(lambda: lw.hybrid_dynamics(plain(), Q, Z, Z, Z, "elbw"), "'elbw'", "did you mean 'elbow'"),
    "hybrid number": bad(lambda: lw.hybrid_dynamics(plain(), Q, Z, Z, Z, 3), "prescribed", "3"),  # type: ignore[arg-type]
    "integrate nan": bad(lambda: plain().integrate(np.array(Q), np.array([NAN, 0])), "shoulder", "nan"),
    "integrate shape": bad(lambda: plain().integrate(np.zeros(3), np.zeros(2)), "q", "(3,)"),
    "difference nan": bad(lambda: plain().difference(np.array([NAN, 0]), np.array(Q)), "shoulder", "nan"),
    "random seed": bad(lambda: plain().random_configuration("seven"), "seed", "seven"),  # type: ignore[arg-type]
    "random seed negative": bad(lambda: plain().random_configuration(-1), "seed", "-1"),
    # --- quaternions
    "quaternion of norm 2": bad(lambda: lw.forward_dynamics(ball(), ONES, [0, 0, 0], [0, 0, 0]), "hip", "norm 2", "not 1"),
    "quaternion of norm 2, arrays": bad(
        lambda: lw.forward_dynamics(ball(), np.array(ONES), np.zeros(3), np.zeros(3)), "hip", "norm 2", "not 1"
    ),
    "quaternion of norm 2, mass matrix": bad(lambda: lw.mass_matrix(ball(), ONES), "hip", "norm 2", "not 1"),
    "quaternion of norm 2, kinematics": bad(lambda: lw.kinematics(ball(), ONES), "hip", "norm 2", "not 1"),
    "quaternion of norm 2, inverse": bad(
        lambda: lw.inverse_dynamics(ball(), ONES, [*Z, 0.0], [0, 0, 0]), "hip", "norm 2", "not 1"
    ),
    "quaternion zero": bad(lambda: lw.forward_dynamics(ball(), [0, 0, 0, 0], [0, 0, 0]), "hip", "norm 0", "not 1"),
    "quaternion in a batch": bad(
        lambda: lw.forward_dynamics(ball(), np.array([[1.0, 0, 0, 0], ONES]), np.zeros((2, 3)), np.zeros((2, 3))), "hip", "norm 2"
    ),
    "quaternion xyzw of a free body": bad(
        lambda: lw.energy(free(), lw.State([0, 0, 0, 0, 0, 0, 2], np.zeros(6))), "box", "norm 2"
    ),
    "quaternion, simulated": bad(lambda: run(ball(), state=lw.State(ONES, np.zeros(3))), "hip", "norm 2", "not 1"),
    "quaternion of a Simulator": bad(lambda: lw.Simulator(ball(), lw.State(ONES, np.zeros(3))), "hip", "norm 2", "not 1"),
    "quaternion, to_maximal": bad(lambda: lw.to_maximal(ball(), lw.State(ONES, np.zeros(3))), "hip", "norm 2", "not 1"),
    "quaternion, factor": bad(lambda: lw.factor(ball(), ONES), "hip", "norm 2", "not 1"),
    "quaternion, derivatives": bad(lambda: lw.forward_dynamics_derivatives(ball(), ONES, np.zeros(3)), "hip", "norm 2", "not 1"),
    # --- states
    "state nan": bad(lambda: run(state=lw.State([NAN, 0], Z)), "q", "shoulder", "finite"),
    "state short": bad(lambda: run(state=lw.State([0.1], Z)), "q", "(1,)", "(2,)"),
    "state text": bad(lambda: lw.State("rest", Z), "q", "number"),  # type: ignore[arg-type]
    "state of texts of numbers": bad(lambda: lw.State(["0", "1"], Z), "q", "number"),  # type: ignore[arg-type]
    "state complex": bad(lambda: lw.State(np.array([1j, 0]), Z), "q", "number"),  # type: ignore[arg-type]
    "state dates": bad(lambda: lw.State(np.array(["2020-01-01"] * 2, "M8[D]"), Z), "q", "number"),  # type: ignore[arg-type]
    "state dictionary": bad(lambda: lw.State({"a": 1}, Z), "q", "number"),  # type: ignore[arg-type]
    "state ragged": bad(lambda: lw.State([[0], [1, 2]], Z), "q", "number"),  # type: ignore[arg-type]
    "state time nan": bad(lambda: run(state=lw.State(Q, Z, NAN)), "t", "nan", "finite"),
    "state time text": bad(lambda: lw.State(Q, Z, "now"), "t", "'now'"),  # type: ignore[arg-type,call-arg]
    "state tuple": bad(lambda: run(state=(Q, Z)), "State", "tuple"),
    "state none": bad(lambda: run(state=None), "State", "NoneType"),
    "state batches that differ": bad(lambda: run(state=lw.State(np.zeros((3, 2)), np.zeros((4, 2)))), "3", "4"),
    "state of three axes": bad(lambda: run(state=lw.State(np.zeros((3, 1, 2)), np.zeros((3, 1, 2)))), "q", "(3, 1, 2)"),
    "state of a batch of none": bad(lambda: run(state=lw.State(np.zeros((0, 2)), np.zeros((0, 2)))), "batch", "0"),
    "state with the loop open": bad(lambda: run(looped()), "loop"),
    "maximal poses stretched": bad(lambda: maximal(poses=BENT), "poses", "upper", "rotation"),
    "maximal poses nan": bad(lambda: maximal(poses=np.full((2, 4, 4), NAN)), "poses", "finite"),
    "maximal poses last row": bad(lambda: maximal(poses=np.tile(np.diag([1.0, 1, 1, 5]), (2, 1, 1))), "poses", "last row"),
    "maximal poses mirrored": bad(lambda: maximal(poses=np.tile(np.diag([1.0, 1, -1, 1]), (2, 1, 1))), "poses", "rotation"),
    "maximal twists shape": bad(lambda: maximal(twists=np.zeros((2, 5))), "twists", "(2, 5)"),
    "maximal text": bad(lambda: maximal(poses="here"), "poses", "number"),
    "maximal q_fit nan": bad(lambda: maximal(q_fit=[NAN, 0]), "q_fit", "finite"),
    "maximal time inf": bad(lambda: maximal(t=INF), "t", "inf"),
    "to_reduced of a stretched pose": bad(
        lambda: lw.to_reduced(plain(), lw.MaximalState(BENT, np.zeros((2, 6)), np.zeros(2))), "poses", "rotation"
    ),
    "maximal dynamics of nan": bad(
        lambda: lw.maximal_dynamics(plain(), lw.MaximalState(np.full((2, 4, 4), NAN), np.zeros((2, 6)), np.zeros(2))), "poses"
    ),
    "to_maximal shape": bad(lambda: lw.to_maximal(plain(), lw.State([0.0], Z)), "q", "(1,)"),
    "energy nan": bad(lambda: lw.energy(plain(), lw.State([NAN, 0], Z)), "q", "shoulder"),
    "energy of a tuple": bad(lambda: lw.energy(plain(), (Q, Z)), "State", "tuple"),  # type: ignore[arg-type]
    # --- time, steps, options
    "dt zero": bad(lambda: run(dt=0.0), "dt", "0", "positive"),
    "dt negative": bad(lambda: run(dt=-1e-3), "dt", "-0.001", "positive"),
    "dt nan": bad(lambda: run(dt=NAN), "dt", "nan"),
    "dt inf": bad(lambda: run(dt=INF), "dt", "inf"),
    "dt text": bad(lambda: run(dt="1ms"), "dt", "'1ms'", "number"),
    "dt none": bad(lambda: run(dt=None), "dt", "None", "number"),
    "dt array": bad(lambda: run(dt=np.array([1e-3, 1e-3])), "dt", "number"),
    "dt bool": bad(lambda: run(dt=True, duration=2.0), "dt", "True", "number"),
    "dt complex": bad(lambda: run(dt=1e-3 + 0j), "dt", "number"),
    "dt above duration": bad(lambda: run(dt=1.0), "dt", "duration", "0.01", "1"),
    "dt absurdly small": bad(lambda: run(dt=1e-300), "dt", "1e-300", "steps"),
    "duration nan": bad(lambda: run(duration=NAN), "duration", "nan"),
    "duration negative": bad(lambda: run(duration=-1.0), "duration", "-1", "positive"),
    "duration no multiple": bad(lambda: run(duration=0.0105), "0.0105", "0.001", "whole number"),
    "duration text": bad(lambda: run(duration="1s"), "duration", "'1s'", "number"),
    "duration inf": bad(lambda: run(duration=INF), "duration", "inf"),
    "every zero": bad(lambda: run(every=0), "every", "0"),
    "every float": bad(lambda: run(every=2.0), "every", "2.0"),
    "every bool": bad(lambda: run(every=True), "every", "True"),
    "every no divisor": bad(lambda: run(every=3), "every", "3", "10"),
    "method misspelt": bad(lambda: run(method="reducd"), "'reducd'", "did you mean 'reduced'"),
    "method none": bad(lambda: run(method=None), "method", "None"),
    "method list": bad(lambda: run(method=["reduced"]), "method", "reduced"),
    "stepper misspelt": bad(lambda: run(stepper="rk5"), "'rk5'", "did you mean 'rk4'"),
    "stepper number": bad(lambda: run(stepper=4), "stepper", "4"),
    "stepper of another method": bad(lambda: run(method="maximal", stepper="bdf2"), "bdf2", "maximal", "redmax"),
    "option misspelt": bad(lambda: run(evaluation=1), "'evaluation'", "did you mean 'evaluations'"),
    "argument misspelt": bad(lambda: run(treads=2), "'treads'", "did you mean 'threads'"),
    "option value": bad(lambda: run(evaluations=7), "evaluations", "7"),
    "contact misspelt": bad(lambda: run(contact="exakt"), "'exakt'", "did you mean 'exact'"),
    "limit model misspelt": bad(lambda: run(limit_model="sprin"), "'sprin'", "did you mean 'spring'"),
    "open loops misspelt": bad(lambda: run(open_loops="alow"), "'alow'", "did you mean 'allow'"),
    "contact stiffness negative": bad(lambda: run(contact="compliant", contact_stiffness=-1.0), "stiffness", "-1"),
    "contact stiffness text": bad(lambda: run(contact="compliant", contact_stiffness="hard"), "stiffness", "'hard'"),
    "contact damping without": bad(lambda: run(contact="compliant", contact_damping=NAN), "damping", "nan"),
    "threads of a run": bad(lambda: run(threads=0), "threads", "0"),
    "tau shape": bad(lambda: run(tau=[1.0]), "tau", "(1,)", "(2,)"),
    "tau nan of a run": bad(lambda: run(tau=[0, NAN]), "tau", "finite"),
    "tau text": bad(lambda: run(tau="full"), "tau", "number"),
    "tau of texts of numbers": bad(lambda: run(tau=["1", "2"]), "tau", "number"),
    "tau complex": bad(lambda: run(tau=np.array([1j, 0])), "tau", "number"),
    "tau and control": bad(lambda: run(tau=[0, 0], control=lambda t, s: Z), "tau", "control"),
    "external of a run": bad(lambda: run(external=np.zeros(6)), "external", "(6,)", "(2, 6)"),
    "rtol negative": bad(lambda: run(stepper="dop853", rtol=-1.0), "rtol", "-1"),
    "rtol text": bad(lambda: run(stepper="dop853", rtol="tight"), "rtol", "'tight'"),
    "atol nan": bad(lambda: run(stepper="dop853", atol=NAN), "atol", "nan"),
    "max step zero": bad(lambda: run(stepper="ode45", max_step=0.0), "max_step", "0"),
    "tolerance text": bad(lambda: run(method="redmax", stepper="bdf1", tolerance="small"), "tolerance", "'small'"),
    "iterations zero": bad(lambda: run(method="redmax", stepper="bdf1", iterations=0), "iterations", "0"),
    "events not callable": bad(lambda: run(stepper="dop853", events=[3]), "events", "function"),
    # --- controls and inputs
    "control none": bad(lambda: run(control=lambda t, s: None), "control", "None", "t = 0"),
    "control shape": bad(lambda: run(control=lambda t, s: [1.0]), "control", "(1,)", "(2,)"),
    "control nan": bad(lambda: run(control=lambda t, s: [NAN, 0]), "control", "finite", "t = 0"),
    "control text": bad(lambda: run(control=lambda t, s: "go"), "control", "number"),
    "control of texts of numbers": bad(lambda: run(control=lambda t, s: ["1", "2"]), "control", "number"),
    "control complex": bad(lambda: run(control=lambda t, s: np.array([1j, 0])), "control", "number"),
    "control no function": bad(lambda: run(control=[0, 0]), "control", "function", "list"),
    "control of one argument": bad(lambda: run(control=lambda t: Z), "control", "(t, state)"),
    "control nan of dop853": bad(lambda: run(stepper="dop853", control=lambda t, s: [NAN, 0]), "control", "finite"),
    "control none of dop853": bad(lambda: run(stepper="dop853", control=lambda t, s: None), "control", "None"),
    "control text of redmax": bad(lambda: run(method="redmax", control=lambda t, s: "go"), "control", "number"),
    "control of a batch": bad(
        lambda: run(state=lw.State(np.zeros((3, 2)), np.zeros((3, 2))), control=lambda t, s: np.zeros((2, 2))),
        "control",
        "(2, 2)",
    ),
    "inputs without forces": bad(lambda: run(inputs=[1.0]), "inputs"),
    "inputs text": bad(lambda: run(inputs="on"), "inputs"),
    "inputs of a function, shape": bad(lambda: run(inputs=lambda t: [1, 2, 3]), "inputs", "(3,)"),
    # --- Simulator
    "simulator dt": bad(lambda: sim(dt=0.0), "dt", "0", "positive"),
    "simulator dt text": bad(lambda: sim(dt="1ms"), "dt", "'1ms'", "number"),
    "simulator method": bad(lambda: sim(method="maximl"), "'maximl'", "did you mean 'maximal'"),
    "simulator steps": bad(lambda: sim().step(steps=-1), "steps", "-1"),
    "simulator steps float": bad(lambda: sim().step(steps=2.5), "steps", "2.5"),  # type: ignore[arg-type]
    "simulator steps text": bad(lambda: sim().step(steps="two"), "steps", "'two'"),  # type: ignore[arg-type]
    "simulator tau nan": bad(lambda: sim().step(tau=np.array([NAN, 0.0])), "tau", "finite"),
    "simulator tau shape": bad(lambda: sim().step(tau=[1.0]), "tau", "(1,)"),
    "simulator tau text": bad(lambda: sim().step(tau="up"), "tau", "number"),
    "simulator model": bad(lambda: lw.Simulator("robot.urdf"), "model", "lw.load"),  # type: ignore[arg-type]
    "simulate model": bad(lambda: lw.simulate(lw.ModelBuilder(), lw.State(Q, Z), 1.0), "model", "build()"),  # type: ignore[arg-type]
    "simulator reset": bad(lambda: sim().reset(lw.State([0.0], Z)), "q", "(1,)"),
    "simulator option": bad(lambda: sim(evaluation=1), "'evaluation'", "did you mean 'evaluations'"),
    # --- other functions
    "assemble tolerance": bad(lambda: lw.assemble(plain(), at_rest(plain()), tolerance=NAN), "tolerance", "nan"),
    "assemble iterations": bad(lambda: lw.assemble(plain(), at_rest(plain()), iterations=-1), "iterations", "-1"),
    "assemble nan": bad(lambda: lw.assemble(looped(), lw.State([NAN, 0], Z)), "q", "shoulder"),
    "step derivatives dt": bad(lambda: lw.step_derivatives(plain(), at_rest(plain()), 0.0), "dt", "0"),
    "step derivatives nan": bad(lambda: lw.step_derivatives(plain(), lw.State([NAN, 0], Z), 1e-3), "q", "shoulder"),
    "step derivatives stepper": bad(
        lambda: lw.step_derivatives(plain(), at_rest(plain()), 1e-3, stepper="rk5"), "'rk5'", "did you mean 'rk4'"
    ),
    "step derivatives steps": bad(lambda: lw.step_derivatives(plain(), at_rest(plain()), 1e-3, steps=0), "steps", "0"),
    "factor dt": bad(lambda: lw.factor(plain(), Q, dt=-1.0), "dt", "-1"),
    "factor nan": bad(lambda: lw.factor(plain(), [NAN, 0]), "q", "nan"),
    "cartesian nan": bad(lambda: lw.to_cartesian(plain(), [NAN, 0]), "q", "shoulder"),
    "regressor nan": bad(lambda: lw.regressor(plain(), Q, [NAN, 0], Z), "v", "shoulder"),
    "constraint report nan": bad(lambda: lw.constraint_report(looped(), [NAN, 0]), "q", "nan"),
    "contact forces nan": bad(lambda: lw.contact_forces(plain(), [NAN, 0], Z), "q", "nan"),
    "inverse inertia of nan": bad(lambda: lw.inverse_inertia_product(plain(), Q, [NAN, 0]), "x", "nan"),
    "jacobian product of nan": bad(lambda: lw.jacobian_product(plain(), Q, [NAN, 0]), "nan"),
    "link dynamics nan": bad(lambda: lw.link_dynamics(plain(), Q, Z, [NAN, 0]), "a", "shoulder"),
    "explain parameters": bad(lambda: lw.explain(plain(), "symbol"), "'symbol'", "did you mean 'symbols'"),
    "samples not rising": bad(lambda: lw.samples([0, 0, 1], [1, 2, 3]), "samples", "0"),
    "samples nan": bad(lambda: lw.samples([0, 1], [NAN, 1]), "samples", "nan"),
    "samples kind": bad(lambda: lw.samples([0, 1], [0, 1], "linea"), "'linea'", "did you mean 'linear'"),
    "table text": bad(lambda: lw.Table(["a", "b"]), "Table", "number"),
    "ad of two": bad(lambda: lw.ad((1, 2)), "6"),  # type: ignore[arg-type]
}
