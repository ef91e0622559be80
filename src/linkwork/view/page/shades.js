// Colours: of the page, of what has none of its own, and of levels from 0 to 1.

export const STONE = [0.62, 0.63, 0.64]; // what belongs to the world
const RAMPS = { muscle: [[0.72, 0.55, 0.55], [0.86, 0.1, 0.1]], cable: [[0.5, 0.52, 0.55], [0.93, 0.55, 0.1]] };

// A colour as three.js computes with it.
export function linear(rgb) {
  return new THREE.Color(rgb[0], rgb[1], rgb[2]).convertSRGBToLinear();
}

export function ramp(kind, level) {
  const [low, high] = RAMPS[kind] || RAMPS.cable;
  return linear(low.map((x, k) => x + (high[k] - x) * Math.min(1, Math.max(0, level))));
}

export function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// "light", "dark" or "auto" for the page.
export function setTheme(theme) {
  const dark = theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

export function otherTheme() {
  return document.documentElement.dataset.theme === "dark" ? "light" : "dark";
}
