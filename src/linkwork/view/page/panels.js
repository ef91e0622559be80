// Cards beside the scene that every page has: layers, bodies, notes; and names under the mouse.

import { byId, card, make } from "./dom.js";
import { otherTheme, setTheme } from "./shades.js";

const LAYERS = {
  shapes: "bodies", joints: "joint axes", limits: "limits", frames: "frames", paths: "muscles, springs, hands", guides: "ways of joints",
  trails: "trails", contacts: "contact forces", collision: "collision shapes",
};

export function layersCard(scene, redraw) {
  const { description } = scene;
  const there = {
    shapes: true, joints: description.joints.length || description.loops.length, limits: description.joints.some((j) => j.limits), frames: true,
    paths: description.paths.length || description.hands, guides: description.guides.length, trails: description.trails.length, contacts: description.contacts !== false,
    collision: description.shapes.some((s) => s.layer === "collision"),
  };
  const boxes = Object.keys(LAYERS).filter((name) => there[name]).map((name) => {
    const box = make("input", { type: "checkbox", checked: description.layers[name], id: `layer-${name}` });
    box.addEventListener("change", () => {
      description.layers[name] = box.checked;
      scene.setLayer(name, box.checked);
      redraw();
    });
    return make("label", {}, box, ` ${LAYERS[name]}`);
  });
  const follow = make("input", { type: "checkbox", checked: scene.follow, id: "follow" });
  follow.addEventListener("change", () => {
    scene.follow = follow.checked;
    scene.keepUp();
    redraw();
  });
  return card("Show", make("div", { className: "layers" }, ...boxes, make("label", {}, follow, " follow the bodies")));
}

// Every body with a button that hides it and one that shows it alone.
export function bodiesCard(scene, redraw) {
  const list = make("ul", { className: "bodies", id: "bodies" });
  let alone = null;
  scene.description.bodies.forEach(({ name }, body) => {
    const hide = make("button", { type: "button", textContent: "hide", title: `Hide ${name}` });
    const only = make("button", { type: "button", textContent: "only", title: `Show ${name} alone` });
    const row = make("li", {}, make("span", { textContent: name, title: name }), hide, only);
    hide.addEventListener("click", () => {
      const off = row.classList.toggle("off");
      hide.textContent = off ? "show" : "hide";
      scene.setHidden(body, off);
      redraw();
    });
    only.addEventListener("click", () => {
      alone = alone === body ? null : body;
      for (const button of list.querySelectorAll("button:last-child")) button.ariaPressed = String(button === only && alone !== null);
      scene.isolate(alone === null ? null : [alone]);
      redraw();
    });
    list.append(row);
  });
  return card("Bodies", list);
}

// What happened to the energy, what held and what did not, in sentences; numbers for those who ask.
export function healthCard({ story = [], flows = [], health, notes }) {
  const rows = health.flatMap(({ name, value, meaning }) => [
    make("dt", { textContent: name }),
    make("dd", { textContent: value, className: ["no", "nan", "doubtful"].includes(value) ? "bad" : "" }),
    make("dd", { textContent: meaning, className: "meaning" }),
  ]);
  const sentences = make("div", { id: "story", className: "story" }, ...story.map((text) => make("p", { textContent: text, className: text.startsWith("Results are doubtful") ? "bad" : "" })));
  const numbers = make("details", { open: !story.length, hidden: !health.length }, make("summary", { textContent: "numbers" }), make("dl", { id: "health" }, ...rows));
  const lines = notes.map((note) => make("li", { textContent: note }));
  return card(health.length ? "Health" : "Notes", sentences, flowBars(flows), numbers, make("ul", { className: "notes" }, ...lines));
}

// What brought energy to the right, what took it to the left.
function flowBars(flows) {
  const most = Math.max(...flows.flatMap((flow) => [flow.in, flow.out]), 0);
  if (!most) return make("div");
  const bar = (side, x) => make("span", { className: side }, make("i", { style: `width: ${((100 * x) / most).toFixed(1)}%` }));
  const rows = flows.map((flow) => make("div", { className: "flow", title: `${flow.in.toPrecision(3)} J in, ${flow.out.toPrecision(3)} J out` },
    bar("out", flow.out), bar("in", flow.in), make("b", { textContent: flow.name })));
  const head = make("div", { className: "flow head" }, make("span", { textContent: "went out" }), make("span", { textContent: "came in" }), make("b"));
  return make("div", { id: "flows" }, head, ...rows);
}

// The name of the body under the mouse, beside it.
export function nameBodies(scene) {
  const tag = byId("hover");
  let last = null;
  scene.canvas.addEventListener("pointermove", (event) => {
    if (last === null) requestAnimationFrame(show);
    last = event;
  });
  scene.canvas.addEventListener("pointerleave", () => (tag.hidden = true));
  function show() {
    const { clientX, clientY } = last;
    last = null;
    const found = scene.orbit.dragging ? null : scene.pick(clientX, clientY);
    tag.hidden = !found;
    if (!found) return;
    const box = scene.container.getBoundingClientRect();
    tag.textContent = found.name;
    tag.style.left = `${clientX - box.left + 14}px`;
    tag.style.top = `${clientY - box.top + 10}px`;
  }
}

export function themeButton(scene, redraw) {
  byId("theme").addEventListener("click", () => {
    setTheme(otherTheme());
    scene.repaint();
    redraw();
  });
}
