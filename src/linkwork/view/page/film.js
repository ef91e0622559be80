// A recording: what everything is at a time.

import { numbersOf } from "./unpack.js";

export class Film {
  constructor(recording, bodies) {
    this.t = numbersOf(recording.t);
    this.poses = numbersOf(recording.poses);
    this.bodies = bodies;
    this.curves = [...recording.energy, ...recording.curves].map((curve) => ({ ...curve, values: numbersOf(curve.values) }));
    this.energy = this.curves.slice(0, recording.energy.length);
    this.others = this.curves.slice(recording.energy.length);
    this.levels = recording.levels.map(numbersOf);
    this.lines = recording.lines.map((line) => line && { numbers: numbersOf(line), size: 3 * line.shape[1] });
    const { contacts } = recording;
    this.contacts = contacts && { start: numbersOf(contacts.start), points: numbersOf(contacts.points), forces: numbersOf(contacts.forces) };
    this.now = new Float32Array(7 * bodies);
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
    return this.poses.subarray(7 * this.bodies * f, 7 * this.bodies * (f + 1));
  }

  // Poses between frames: positions straight, rotations the short way.
  transforms(time) {
    const { f, s } = this.at(time);
    const a = this.frame(f);
    if (s === 0) return a;
    const b = this.frame(f + 1);
    const { now } = this;
    for (let k = 0; k < now.length; k += 7) {
      for (let i = 0; i < 3; i++) now[k + i] = a[k + i] + s * (b[k + i] - a[k + i]);
      let same = 0;
      for (let i = 3; i < 7; i++) same += a[k + i] * b[k + i];
      const sign = same < 0 ? -1 : 1;
      let square = 0;
      for (let i = 3; i < 7; i++) {
        now[k + i] = a[k + i] + s * (sign * b[k + i] - a[k + i]);
        square += now[k + i] ** 2;
      }
      const length = Math.sqrt(square) || 1;
      for (let i = 3; i < 7; i++) now[k + i] /= length;
    }
    return now;
  }

  value(values, time) {
    const { f, s } = this.at(time);
    return s === 0 ? values[f] : values[f] + s * (values[f + 1] - values[f]);
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
    const [p, q] = [new THREE.Vector3(), new THREE.Quaternion()];
    const place = (row) => {
      const k = 7 * body;
      q.set(row[k + 4], row[k + 5], row[k + 6], row[k + 3]);
      found.push(p.clone().copy(point).applyQuaternion(q).add(new THREE.Vector3(row[k], row[k + 1], row[k + 2])));
    };
    const { f } = this.at(time);
    for (let k = this.at(time - seconds).f; k <= f; k++) place(this.frame(k));
    place(this.transforms(time));
    return found;
  }
}
