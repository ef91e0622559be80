// The live page: a simulation that runs here, a hand that takes hold of it, and sliders.

import { makeClock } from "./clock.js";
import { makeControls } from "./controls.js";
import { byId, card, fail, make } from "./dom.js";
import { makeGrip } from "./grip.js";
import { Hand } from "./hand.js";
import { bodiesCard, layersCard, nameBodies, themeButton } from "./panels.js";
import { makeScene } from "./scene.js";
import { makeSimulation } from "./simulation.js";
import { transformsOf } from "./transforms.js";
import { bytesIn, jsonOf, loadThree } from "./unpack.js";
import { lineOf } from "./wraps.js";

const PACES = [0.1, 0.25, 0.5, 1, 2];
const AHEAD = { seconds: 3, moments: 24, budget: 400 }; // of the motion, that the camera should see; ms to look at it
const WAY = 60; // points

async function main() {
  const [description, manifest, words] = await Promise.all([jsonOf("scene"), jsonOf("manifest"), jsonOf("words")]);
  const [wasm, image] = await Promise.all([bytesIn("module"), bytesIn("image")]);
  const [simulation] = await Promise.all([makeSimulation(wasm, image, manifest), loadThree()]);
  description.contacts = false;
  const scene = makeScene(byId("stage"), description);
  scene.frame(momentsAhead(simulation));
  byId("stage").append(make("p", { id: "force", className: "tag force", hidden: true }));
  const page = new LivePage(simulation, scene);
  page.build(words);
  page.draw();
  page.setRunning(!location.hash.includes("still"));
  window.linkwork = page;
  document.documentElement.dataset.ready = "yes";
}

// The start, and where the bodies will be soon: what the camera should see, as of a recording.
function momentsAhead(simulation) {
  const first = transformsOf(simulation.poses).slice();
  const found = [first];
  const { dt } = simulation.manifest;
  const end = performance.now() + AHEAD.budget;
  const steps = Math.max(1, Math.round(AHEAD.seconds / AHEAD.moments / dt));
  try {
    while (found.length <= AHEAD.moments) {
      for (let done = 0; done < steps && performance.now() < end; done++) simulation.go(1);
      if (performance.now() >= end) break;
      simulation.look();
      const moment = transformsOf(simulation.poses).slice();
      if (!moment.every(Number.isFinite)) break;
      found.push(moment);
    }
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error; // a motion that is lost: the camera looks at the start
  }
  simulation.reset();
  return found;
}

class LivePage {
  constructor(simulation, scene) {
    Object.assign(this, { simulation, scene, running: false, stamp: null, waiting: false, failed: "" });
    this.controls = makeControls(simulation);
    this.clock = makeClock(simulation);
    this.grip = makeGrip(simulation);
    this.hand = new Hand(scene, this.grip, () => this.redraw());
    this.ways = scene.trails.all.map(() => []);
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame((stamp) => this.tick(stamp));
  }

  tick(stamp) {
    this.waiting = false;
    if (this.running) {
      if (this.stamp !== null) this.advance((stamp - this.stamp) / 1000);
      this.stamp = stamp;
    }
    this.draw();
    if (this.running) this.redraw();
  }

  // Go on for a time; a motion that is lost stops, and can be reset.
  advance(seconds) {
    try {
      this.clock.advance(seconds);
      if (!this.simulation.finite) this.fail("the motion is not finite: reset, and pull less, or use less stiffness");
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      this.fail("the motion is lost: reset, and pull less, or use less stiffness");
    }
  }

  fail(message) {
    this.failed = message;
    this.setRunning(false);
  }

  draw() {
    const { simulation, scene, clock } = this;
    if (!this.failed) {
      this.layPaths();
      scene.pose(transformsOf(simulation.poses));
      this.drawTrails();
      this.hand.place();
    }
    scene.render();
    const speed = clock.factor === null || clock.factor > 0.95 * clock.pace ? "" : ` (${clock.factor.toFixed(2)}\u00d7 real time)`;
    this.time.textContent = this.failed || `${simulation.time.toFixed(2)} s${speed}`;
  }

  // Muscles around their obstacles, coloured by their activation.
  layPaths() {
    const { simulation, scene } = this;
    simulation.manifest.paths.forEach(({ level, segments }, k) => {
      if (level !== null) scene.ropes.level(k, simulation.numbers(level, 1)[0]);
      if (segments) scene.ropes.lay(k, lineOf(segments, simulation.poses));
    });
  }

  drawTrails() {
    const { scene } = this;
    scene.trails.all.forEach(({ body, com }, k) => {
      if (this.running) this.ways[k].push(com.clone().applyMatrix4(scene.matrices[body]));
      if (this.ways[k].length > WAY) this.ways[k].shift();
    });
    scene.trails.update(this.ways);
  }

  setRunning(running) {
    this.running = running && !this.failed;
    this.stamp = null;
    this.button.textContent = this.running ? "Pause" : "Run";
    this.redraw();
  }

  step() {
    this.setRunning(false);
    if (!this.failed) this.simulation.step(1);
    this.redraw();
  }

  // Back to the start; sliders stay where they are, and so does the hand.
  reset() {
    this.failed = "";
    this.simulation.reset(() => {
      this.controls.apply();
      this.grip.apply();
    });
    this.clock.reset();
    this.ways.forEach((way) => way.splice(0));
    this.redraw();
  }

  build(words) {
    const button = (id, text, title, act) => {
      const made = make("button", { id, type: "button", textContent: text, title });
      made.addEventListener("click", act);
      return made;
    };
    this.button = button("run", "Run", "Run or pause (space)", () => this.setRunning(!this.running));
    this.time = make("output", { id: "clock" });
    const pace = make("select", { id: "speed", ariaLabel: "Speed" },
      ...PACES.map((x) => make("option", { value: x, textContent: `${x}\u00d7`, selected: x === 1 })));
    pace.addEventListener("change", () => (this.clock.pace = +pace.value));
    const step = button("step", "Step", "One step (right)", () => this.step());
    const reset = button("reset", "Reset", "Back to the start (r)", () => this.reset());
    const view = button("view", "View", "Back to the first view", () => this.scene.resetView());
    byId("controls").append(this.button, step, reset, this.time, pace, view);
    const redraw = () => this.redraw();
    byId("side").append(
      card("Change", controlRows(this.controls, redraw)), layersCard(this.scene, redraw), bodiesCard(this.scene, redraw), aboutCard(words));
    byId("summary").textContent = words.summary;
    nameBodies(this.scene);
    themeButton(this.scene, redraw);
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.target.matches("select, input") || event.ctrlKey || event.metaKey || event.altKey) return;
    const acts = { " ": () => this.setRunning(!this.running), ArrowRight: () => this.step(), r: () => this.reset() };
    if (!acts[event.key]) return;
    event.preventDefault();
    if (event.target.matches("button")) event.target.blur();
    acts[event.key]();
  }
}

// A row for every slider and switch.
function controlRows(controls, redraw) {
  const rows = make("div", { className: "sliders" });
  const inputs = controls.list.map((control, k) => {
    const id = `control-${k}`;
    if (control.kind === "switch") {
      const box = make("input", { id, type: "checkbox", checked: control.value });
      box.addEventListener("change", () => { controls.set(control.label, box.checked); redraw(); });
      rows.append(make("label", { htmlFor: id }, box, ` ${control.label}`));
      return () => (box.checked = control.value);
    }
    const { low, high, label, unit } = control;
    const text = make("output");
    const write = () => (text.textContent = `${round(control.value)}${unit ? ` ${unit}` : ""}`);
    const input = make("input", { id, type: "range", min: low, max: high, step: "any", value: control.value, title: label });
    input.addEventListener("input", () => { controls.set(label, +input.value); write(); redraw(); });
    rows.append(make("label", { htmlFor: id }, make("span", { textContent: label }), text), input);
    write();
    return () => { input.value = control.value; write(); };
  });
  const back = make("button", { id: "restore", type: "button", textContent: "As at the start" });
  back.addEventListener("click", () => { controls.restore(); inputs.forEach((update) => update()); redraw(); });
  if (inputs.length) rows.append(back);
  return rows;
}

function round(x) {
  return Math.abs(x) >= 100 ? x.toFixed(0) : String(+x.toPrecision(3));
}

function aboutCard({ notes }) {
  return card("About", make("ul", { className: "notes" }, ...notes.map((note) => make("li", { textContent: note }))));
}

main().catch((error) => fail(byId("stage"), error));
