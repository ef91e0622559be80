"use strict";
// Energies over time, with a cursor at the current time.

const ENERGIES = ["kinetic", "potential", "total"];

class EnergyPlot {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.t = data.t;
    const total = data.kinetic.map((x, k) => x + data.potential[k]);
    this.curves = { kinetic: data.kinetic, potential: data.potential, total };
    const all = Object.values(this.curves).flat();
    const [low, high] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
    const margin = 0.06 * (high - low) || Math.abs(high) || 1;
    [this.low, this.high] = [low - margin, high + margin];
  }

  frame(width, height) {
    const [t0, t1] = [this.t[0], this.t[this.t.length - 1]];
    const box = { left: 58, right: width - 14, top: 6, bottom: height - 22 };
    const across = (box.right - box.left) / (t1 - t0 || 1);
    return {
      ...box,
      x: (t) => box.left + (t - t0) * across,
      y: (e) => box.bottom - ((e - this.low) * (box.bottom - box.top)) / (this.high - this.low),
      time: (x) => Math.min(t1, Math.max(t0, t0 + (x - box.left) / across)),
    };
  }

  draw(time) {
    const { context, width, height } = fitted(this.canvas);
    const colours = readColours();
    const frame = this.frame(width, height);
    context.clearRect(0, 0, width, height);
    this.drawAxes(context, colours, frame);
    ENERGIES.forEach((name) => {
      context.strokeStyle = colours[`--${name}`];
      context.lineWidth = 1.6;
      context.setLineDash(name === "total" ? [6, 4] : []);
      context.beginPath();
      this.curves[name].forEach((e, k) => context.lineTo(frame.x(this.t[k]), frame.y(e)));
      context.stroke();
    });
    context.setLineDash([]);
    context.strokeStyle = colours["--ink"];
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(frame.x(time), frame.top);
    context.lineTo(frame.x(time), frame.bottom);
    context.stroke();
  }

  drawAxes(context, colours, frame) {
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = colours["--soft"];
    context.strokeStyle = colours["--line"];
    context.lineWidth = 1;
    const line = (x0, y0, x1, y1) => {
      context.beginPath();
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
      context.stroke();
    };
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const e of ticks(this.low, this.high, 4)) {
      line(frame.left, frame.y(e), frame.right, frame.y(e));
      context.fillText(short(e), frame.left - 7, frame.y(e));
    }
    context.textBaseline = "top";
    const last = this.t[this.t.length - 1];
    for (const t of ticks(this.t[0], last, frame.right > 500 ? 10 : 5)) {
      context.textAlign = frame.x(t) > frame.right - 20 ? "right" : "center";
      line(frame.x(t), frame.bottom, frame.x(t), frame.bottom + 4);
      context.fillText(`${short(t)} s`, frame.x(t), frame.bottom + 7);
    }
  }

  // The energies at a time, interpolated.
  at(time) {
    let k = this.t.findIndex((t) => t >= time);
    if (k < 0) k = this.t.length - 1;
    const before = Math.max(0, k - 1);
    const s = k > before ? (time - this.t[before]) / (this.t[k] - this.t[before]) : 0;
    return ENERGIES.map((name) => this.curves[name][before] * (1 - s) + this.curves[name][k] * s);
  }
}

// About `count` round numbers in an interval.
function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const step = roundStep((high - low) / count);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

// A number for people: four digits at most.
const short = (x) => String(Number(x.toPrecision(4))).replace("-", "\u2212");
