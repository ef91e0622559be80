// A recording: what everything is at a time.

import { between, setMatrix } from "./poses.js";
import { numbersOf } from "./unpack.js";

export class Film {
  constructor(recording, bodies) {
    this.t = numbersOf(recording.t);
    this.poses = numbersOf(recording.poses);
    this.bodies = bodies;
    this.width = recording.poses.shape[2];
    this.curves = [...recording.energy, ...recording.curves].map((curve) => ({ ...curve, values: numbersOf(curve.values) }));
    this.energy = this.curves.slice(0, recording.energy.length);
    this.others = this.curves.slice(recording.energy.length);
    this.levels = recording.levels.map(numbersOf);
    this.lines = recording.lines.map((line) => line && { numbers: numbersOf(line), size: 3 * line.shape[1] });
    const { contacts } = recording;
    this.contacts = contacts && { start: numbersOf(contacts.start), points: numbersOf(contacts.points), forces: numbersOf(contacts.forces) };
    this.handles = (recording.handles || []).map(({ name, from, to }) => ({ name, from: numbersOf(from), to: numbersOf(to) }));
    this.now = new Float32Array(this.width * bodies);
  }

  get begin() {
    return this.t[0];
  }

  get end() {
    return this.t[this.t.length - 1];
  }

  // The frame at or before a time, and how far it is to the next one (0 to 1).
  at(time) {
    const { t } = this;
    let [f, last] = [0, t.length - 1];
    while (last - f > 1) {
      const half = (f + last) >> 1;
      if (t[half] <= time) f = half;
      else last = half;
    }
    if (last > f && time >= t[last]) return { f: last, s: 0 };
    return { f, s: last > f ? Math.min(1, Math.max(0, (time - t[f]) / (t[last] - t[f]))) : 0 };
  }

  frame(f) {
    const size = this.width * this.bodies;
    return this.poses.subarray(size * f, size * (f + 1));
  }

  transforms(time) {
    const { f, s } = this.at(time);
    return s === 0 ? this.frame(f) : between(this.now, this.frame(f), this.frame(f + 1), s, this.width);
  }

  value(values, time) {
    const { f, s } = this.at(time);
    return s === 0 ? values[f] : values[f] + s * (values[f + 1] - values[f]);
  }

  // Three numbers at a time; null where there are none.
  point(numbers, time) {
    const { f, s } = this.at(time);
    const found = [0, 1, 2].map((k) => (s === 0 ? numbers[3 * f + k] : (1 - s) * numbers[3 * f + k] + s * numbers[3 * f + 3 + k]));
    return found.some(Number.isNaN) ? null : found;
  }

  // So many moments, evenly spread, the first and the last among them.
  moments(count) {
    const last = this.t.length - 1;
    const n = Math.min(count, last + 1);
    return Array.from({ length: n }, (_, k) => this.frame(n > 1 ? Math.round((last * k) / (n - 1)) : 0));
  }

  // The way of a point of a body during the seconds before a time.
  way(body, point, time, seconds) {
    const found = [];
    const matrix = new THREE.Matrix4();
    const place = (row) => found.push(point.clone().applyMatrix4(setMatrix(matrix, row, body, this.width)));
    const { f } = this.at(time);
    for (let k = this.at(time - seconds).f; k <= f; k++) place(this.frame(k));
    place(this.transforms(time));
    return found;
  }
}
