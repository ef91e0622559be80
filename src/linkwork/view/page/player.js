// Playback: a time that runs, and the controls that move it.

import { make } from "./dom.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const TRAIL = 1.2; // s

export class Player {
  // draw(time) shows a moment.
  constructor(film, draw) {
    Object.assign(this, { film, drawAt: draw, time: film.begin, playing: false, speed: 1, loop: true, stamp: null, waiting: false });
  }

  get moves() {
    return this.film.end > this.film.begin;
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame((stamp) => this.tick(stamp));
  }

  tick(stamp) {
    this.waiting = false;
    if (this.playing) {
      if (this.stamp !== null) this.time += (Math.min(100, stamp - this.stamp) / 1000) * this.speed;
      this.stamp = stamp;
      if (this.time > this.film.end) this.arrive();
    }
    this.draw();
    if (this.playing) this.redraw();
  }

  arrive() {
    this.time = this.loop ? this.film.begin : this.film.end;
    if (!this.loop) this.setPlaying(false);
  }

  draw() {
    const { film, time } = this;
    this.slider.value = this.moves ? (time - film.begin) / (film.end - film.begin) : 0;
    this.clock.textContent = `${time.toFixed(2)} / ${film.end.toFixed(2)} s`;
    this.drawAt(time);
  }

  setPlaying(playing) {
    this.playing = playing && this.moves;
    if (this.playing && !this.loop && this.time >= this.film.end) this.time = this.film.begin;
    this.stamp = null;
    this.button.textContent = this.playing ? "Pause" : "Play";
    this.redraw();
  }

  seek(time) {
    this.time = Math.min(this.film.end, Math.max(this.film.begin, time));
    this.redraw();
  }

  // To the next frame, or to the one before.
  step(by) {
    this.setPlaying(false);
    const { f, s } = this.film.at(this.time);
    const next = by < 0 && s > 1e-6 ? f : f + by;
    this.seek(this.film.t[Math.min(this.film.t.length - 1, Math.max(0, next))]);
  }

  build(container, onReset) {
    const button = (id, text, title, act) => {
      const made = make("button", { id, type: "button", textContent: text, title });
      made.addEventListener("click", act);
      return made;
    };
    this.button = button("play", "Play", "Play or pause (space)", () => this.setPlaying(!this.playing));
    this.slider = make("input", { id: "time", type: "range", min: 0, max: 1, step: "any", value: 0, ariaLabel: "Time" });
    this.slider.addEventListener("input", () => this.seek(this.film.begin + this.slider.value * (this.film.end - this.film.begin)));
    this.clock = make("output", { id: "clock" });
    const speed = make("select", { id: "speed", ariaLabel: "Speed" }, ...SPEEDS.map((x) => make("option", { value: x, textContent: `${x}\u00d7`, selected: x === 1 })));
    speed.addEventListener("change", () => (this.speed = +speed.value));
    const loop = button("loop", "Loop", "Start again at the end", () => {
      this.loop = !this.loop;
      loop.ariaPressed = String(this.loop);
    });
    loop.ariaPressed = "true";
    container.append(
      this.button, button("back", "\u2039", "One frame back (left)", () => this.step(-1)), button("forth", "\u203a", "One frame on (right)", () => this.step(1)),
      this.slider, this.clock, speed, loop, button("reset", "View", "Back to the first view", onReset));
    for (const control of container.children) control.hidden = !this.moves && control.id !== "reset"; // a model as it stands
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.target.matches("select, input:not([type=range])") || event.ctrlKey || event.metaKey || event.altKey) return;
    const acts = { " ": () => this.setPlaying(!this.playing), ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1) };
    if (!acts[event.key]) return;
    event.preventDefault();
    if (event.target.matches("button")) event.target.blur();
    acts[event.key]();
  }
}

// Moves a scene to a moment of a film.
export function show(scene, film, time) {
  const { f } = film.at(time);
  film.lines.forEach((line, k) => line && scene.ropes.lay(k, line.numbers.subarray(line.size * f, line.size * (f + 1))));
  film.levels.forEach((values, k) => scene.ropes.level(k, film.value(values, time)));
  if (film.contacts) {
    const { start, points, forces } = film.contacts;
    scene.marks.setContacts(points.subarray(3 * start[f], 3 * start[f + 1]), forces.subarray(3 * start[f], 3 * start[f + 1]), film.strongest);
  }
  film.handles.forEach(({ from, to }, k) => {
    const target = film.point(to, time);
    scene.pull(k, target && film.point(from, time), target);
  });
  scene.trails.update(scene.trails.all.map(({ body, com }) => film.way(body, com, time, TRAIL)));
  scene.pose(film.transforms(time));
  scene.render();
}
