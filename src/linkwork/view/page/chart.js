// Curves over time with a line at the present; a click goes there.

import { cssColour } from "./shades.js";

const TINTS = ["#2f74c0", "#d9822b", "#3f9d63", "#b0559a", "#c2a022", "#3f9aa8"];

export class Chart {
  constructor(canvas, film, onSeek) {
    Object.assign(this, { canvas, film, curves: [] });
    const seek = (event) => {
      if (event.type === "pointermove" && !event.buttons) return;
      const box = canvas.getBoundingClientRect();
      onSeek(film.begin + ((event.clientX - box.left) / box.width) * (film.end - film.begin));
    };
    for (const name of ["pointerdown", "pointermove"]) canvas.addEventListener(name, seek);
  }

  colour(k) {
    return this.curves[k].colour ? cssColour(this.curves[k].colour) : TINTS[k % TINTS.length];
  }

  draw(time) {
    const { canvas, film } = this;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width) return;
    const scale = Math.min(2, devicePixelRatio);
    if (canvas.width !== Math.round(width * scale)) [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    let [low, high] = [Infinity, -Infinity];
    for (const { values } of this.curves) for (const y of values) [low, high] = [Math.min(low, y), Math.max(high, y)];
    if (!(high > low)) [low, high] = [low - 1, low + 1];
    const x = (t) => ((t - film.begin) / (film.end - film.begin || 1)) * width;
    const y = (value) => height - 6 - ((value - low) / (high - low)) * (height - 18);
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = cssColour("--soft");
    pen.strokeStyle = cssColour("--edge");
    for (const value of [low, high]) {
      pen.beginPath();
      pen.moveTo(0, y(value));
      pen.lineTo(width, y(value));
      pen.stroke();
      pen.fillText(short(value), 2, y(value) - 2);
    }
    this.curves.forEach(({ values }, k) => {
      pen.strokeStyle = this.colour(k);
      pen.lineWidth = 1.4;
      pen.beginPath();
      values.forEach((value, f) => pen.lineTo(x(film.t[f]), y(value)));
      pen.stroke();
    });
    pen.strokeStyle = cssColour("--ink");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x(time), 0);
    pen.lineTo(x(time), height);
    pen.stroke();
  }
}

export function short(x) {
  const size = Math.abs(x);
  return size !== 0 && (size < 1e-3 || size >= 1e5) ? x.toExponential(1) : String(+x.toPrecision(3));
}
