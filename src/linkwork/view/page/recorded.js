// The recorded page: a film, its controls, and what is told about the run.

import { Chart, short } from "./chart.js";
import { byId, card, fail, make } from "./dom.js";
import { Film } from "./film.js";
import { bodiesCard, healthCard, layersCard, nameBodies, themeButton } from "./panels.js";
import { Player, show } from "./player.js";
import { makeScene } from "./scene.js";
import { jsonOf, loadThree } from "./unpack.js";

const MOMENTS = 40; // of the motion, that the camera must see

async function main() {
  const [description, recording, words] = await Promise.all([jsonOf("scene"), jsonOf("recording"), jsonOf("words")]);
  await loadThree();
  const film = new Film(recording, description.bodies.length);
  film.strongest = film.contacts ? strongest(film.contacts.forces) : 1;
  description.contacts = Boolean(film.contacts);
  description.hands = film.handles.length;
  const scene = makeScene(byId("stage"), description);
  scene.frame(film.moments(MOMENTS));
  if (words.strobe) scene.strobe(film.moments(words.strobe));
  const charts = [];
  const player = new Player(film, (time) => {
    show(scene, film, time);
    for (const { chart, write } of charts) {
      chart.draw(time);
      write(time);
    }
  });
  const redraw = () => player.redraw();
  player.build(byId("controls"), () => scene.resetView());
  const seek = (time) => player.seek(time);
  const cards = player.moves ? [energyCard(film, seek, charts), ...curvesCard(film, seek, charts, redraw)] : [];
  if (words.tree) cards.push(card("Model", make("pre", { id: "tree", textContent: words.tree })));
  const health = words.health.length || words.notes.length ? [healthCard(words)] : [];
  byId("side").append(...cards, layersCard(scene, redraw), bodiesCard(scene, redraw), ...health);
  byId("summary").textContent = words.summary;
  byId("scale").textContent = `grid ${short(scene.ground.spacing)} m`;
  nameBodies(scene);
  themeButton(scene, redraw);
  player.draw();
  player.setPlaying(!location.hash.includes("still") && !matchMedia("(prefers-reduced-motion: reduce)").matches);
  window.linkwork = { scene, film, player, show: (time) => show(scene, film, time) };
  document.documentElement.dataset.ready = "yes";
}

function energyCard(film, seek, charts) {
  const canvas = make("canvas", { id: "energy", ariaLabel: "Energy over time" });
  const chart = new Chart(canvas, film, seek);
  chart.curves = film.energy.map((curve) => ({ ...curve, colour: `--${curve.name}` }));
  const { chips, write } = legend(chart, film);
  charts.push({ chart, write });
  return card("Energy (J)", chips, canvas);
}

// Any coordinates that the user chooses; the first few to begin with.
function curvesCard(film, seek, charts, redraw) {
  if (!film.others.length) return [];
  const canvas = make("canvas", { id: "curves", ariaLabel: "Chosen coordinates over time" });
  const chart = new Chart(canvas, film, seek);
  const choice = make("select", { id: "choice", multiple: true, size: Math.min(4, film.others.length), ariaLabel: "Which coordinates" },
    ...film.others.map(({ name, unit }, k) => make("option", { value: k, textContent: unit ? `${name} (${unit})` : name, selected: k < 3 })));
  const holder = make("div");
  const entry = { chart, write: () => {} };
  const choose = () => {
    chart.curves = [...choice.selectedOptions].map(({ value }) => film.others[value]);
    const { chips, write } = legend(chart, film);
    holder.replaceChildren(chips);
    entry.write = write;
    redraw();
  };
  choice.addEventListener("change", choose);
  charts.push(entry);
  choose();
  return [card("Coordinates", holder, canvas, choice)];
}

function legend(chart, film) {
  const texts = chart.curves.map(() => make("span"));
  const swatches = chart.curves.map(() => make("i"));
  const chips = make("div", { className: "chips" }, ...texts.map((text, k) => make("span", {}, swatches[k], text)));
  const write = (time) => chart.curves.forEach(({ name, values }, k) => {
    swatches[k].style.background = chart.colour(k);
    texts[k].textContent = `${name} ${short(film.value(values, time))}`;
  });
  return { chips, write };
}

function strongest(forces) {
  const sizes = [];
  for (let k = 0; k < forces.length; k += 3) sizes.push(Math.hypot(forces[k], forces[k + 1], forces[k + 2]));
  sizes.sort((a, b) => a - b);
  return sizes[Math.floor(0.95 * sizes.length)] || 1;
}

main().catch((error) => fail(byId("stage"), error));
