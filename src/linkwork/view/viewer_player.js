"use strict";
// The page: text, playback, and the camera under mouse, touch and keys.

const element = (id) => document.getElementById(id);
const data = JSON.parse(element("data").textContent);
const scene = new Scene(element("scene"), data);
const plot = new EnergyPlot(element("energy"), data);
const [begin, end] = [data.t[0], data.t[data.t.length - 1]];
const player = { time: begin, playing: false, speed: 1, stamp: null };

function writeText() {
  element("summary").textContent = data.summary;
  for (const { name, value, meaning } of data.health) {
    const row = [["dt", name, ""], ["dd", value, value === "no" || value === "nan" ? "value bad" : "value"], ["dd", meaning, "meaning"]];
    for (const [tag, text, kind] of row) {
      const cell = document.createElement(tag);
      cell.textContent = text;
      cell.className = kind;
      element("health").append(cell);
    }
  }
  for (const note of data.notes) {
    const item = document.createElement("li");
    item.textContent = note;
    element("notes").append(item);
  }
  for (const name of ENERGIES) {
    const [entry, swatch, text] = [document.createElement("span"), document.createElement("i"), document.createElement("span")];
    swatch.style.background = `var(--${name})`;
    text.id = `now-${name}`;
    entry.append(swatch, text);
    element("legend").append(entry);
  }
}

function draw() {
  const { time } = player;
  scene.draw(time);
  plot.draw(time);
  element("time").value = end > begin ? (time - begin) / (end - begin) : 0;
  element("clock").textContent = `${time.toFixed(2)} / ${end.toFixed(2)} s`;
  element("scale").textContent = `grid ${short(scene.spacing)} m`;
  plot.at(time).forEach((e, k) => (element(`now-${ENERGIES[k]}`).textContent = `${ENERGIES[k]} ${short(e)}`));
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(tick);
}

function tick(stamp) {
  waiting = false;
  if (player.playing) {
    if (player.stamp !== null) player.time += (Math.min(100, stamp - player.stamp) / 1000) * player.speed;
    player.stamp = stamp;
    if (player.time > end) player.time = begin;
  }
  draw();
  if (player.playing) redraw();
}

function setPlaying(playing) {
  player.playing = playing && end > begin;
  player.stamp = null;
  element("play").textContent = player.playing ? "Pause" : "Play";
  redraw();
}

function seek(time) {
  player.time = Math.min(end, Math.max(begin, time));
  redraw();
}

function listenToControls() {
  element("play").addEventListener("click", () => setPlaying(!player.playing));
  element("time").addEventListener("input", (e) => seek(begin + Number(e.target.value) * (end - begin)));
  element("speed").addEventListener("change", (e) => (player.speed = Number(e.target.value)));
  element("reset").addEventListener("click", () => {
    scene.reset();
    redraw();
  });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "SELECT") return;
    const step = ((end - begin) / Math.max(1, data.t.length - 1)) * (e.key === "ArrowLeft" ? -1 : 1);
    if (e.key === " ") setPlaying(!player.playing);
    else if (e.key === "ArrowLeft" || e.key === "ArrowRight") seek(player.time + step);
    else return;
    e.preventDefault();
  });
  document.addEventListener("keyup", (e) => {
    if (e.key === " " && e.target.tagName === "BUTTON") e.preventDefault(); // a focused button must not act a second time
  });
  const scrub = (e) => e.buttons && seek(plot.frame(e.target.clientWidth, e.target.clientHeight).time(e.offsetX));
  element("energy").addEventListener("pointerdown", scrub);
  element("energy").addEventListener("pointermove", scrub);
}

// One pointer orbits (with shift or another button: pans), two zoom.
function listenToCamera() {
  const canvas = element("scene");
  const held = new Map();
  const gap = () => {
    const [a, b] = [...held.values()];
    return Math.hypot(a.x - b.x, a.y - b.y) || 1;
  };
  const zoom = (factor) => {
    scene.view.zoomed = true;
    scene.view.distance = Math.min(50 * scene.extent, Math.max(0.02 * scene.extent, scene.view.distance * factor));
    redraw();
  };
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    held.set(e.pointerId, { x: e.clientX, y: e.clientY });
    canvas.classList.add("held");
  });
  canvas.addEventListener("pointermove", (e) => {
    const old = held.get(e.pointerId);
    if (!old) return showName(e);
    const [dx, dy] = [e.clientX - old.x, e.clientY - old.y];
    const before = held.size === 2 ? gap() : 1;
    held.set(e.pointerId, { x: e.clientX, y: e.clientY });
    if (held.size === 2) zoom(before / gap());
    else if (e.shiftKey || e.buttons > 1) pan(dx, dy);
    else orbit(dx, dy);
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(kind, (e) => {
      held.delete(e.pointerId);
      canvas.classList.toggle("held", held.size > 0);
    });
  }
  canvas.addEventListener("pointerleave", () => (element("hover").hidden = true));
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    zoom(Math.exp(Math.max(-0.3, Math.min(0.3, e.deltaY * 0.0015))));
  }, { passive: false });
}

function orbit(dx, dy) {
  scene.view.azimuth -= 0.008 * dx;
  scene.view.elevation = Math.max(-1.5, Math.min(1.5, scene.view.elevation + 0.008 * dy));
  redraw();
}

function pan(dx, dy) {
  const camera = scene.camera(scene.canvas.clientWidth, scene.canvas.clientHeight);
  const size = camera.distance / camera.scale;
  scene.view.target = add(scene.view.target, add(times(camera.right, -dx * size), times(camera.up, dy * size)));
  redraw();
}

function showName(e) {
  const name = scene.nameAt(e.offsetX, e.offsetY);
  element("hover").hidden = name === null;
  element("hover").textContent = name || "";
}

writeText();
listenToControls();
listenToCamera();
new ResizeObserver(redraw).observe(element("scene"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
const asked = /^#t=([\d.]+)$/.exec(location.hash); // page.html#t=1.5 stops there
if (asked) seek(Number(asked[1]));
setPlaying(!asked && !matchMedia("(prefers-reduced-motion: reduce)").matches);
