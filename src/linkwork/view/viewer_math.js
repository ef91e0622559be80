"use strict";
// Vectors are [x, y, z] with z up, quaternions [w, x, y, z]; a mesh is vertices, and faces as lists of their indices.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => times(a, 1 / (norm(a) || 1));
const mean = (points) => times(points.reduce(add), 1 / points.length);

// The image of a point under a pose {p, q}.
function place(pose, x) {
  return add(pose.p, turn(pose.q, x));
}

function turn(q, x) {
  const u = [q[1], q[2], q[3]];
  const w = times(cross(u, x), 2);
  return add(add(x, times(w, q[0])), cross(u, w));
}

// The pose between two poses, the short way round.
function between(a, b, s) {
  const sign = a.q.reduce((sum, x, k) => sum + x * b.q[k], 0) < 0 ? -1 : 1;
  const q = a.q.map((x, k) => (1 - s) * x + s * sign * b.q[k]);
  const length = Math.hypot(...q) || 1;
  return { p: add(times(a.p, 1 - s), times(b.p, s)), q: q.map((x) => x / length) };
}

// 1, 2 or 5 times a power of ten, at least x.
function roundStep(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return power * [1, 2, 5, 10].find((k) => k * power >= x * (1 - 1e-9));
}

// A cuboid with its long faces cut into `cuts` pieces at most, so that sorting by depth works for long bodies. Thin ones are
// thickened to be seen, at most to half their length; a point becomes a cube of size `least`.
function boxMesh(solid, least, cuts) {
  const longest = Math.max(...solid.size);
  const thickness = longest > 1e-3 * least ? Math.min(least, 0.5 * longest) : least;
  const size = solid.size.map((s) => Math.max(s, thickness));
  const shortest = Math.min(...size);
  const pieces = size.map((s) => Math.max(1, Math.min(cuts, Math.round(s / (2 * shortest)))));
  const mesh = { vertices: [], faces: [] };
  const corner = (x) => solid.axes.reduce((sum, axis, k) => add(sum, times(axis, (x[k] - 0.5) * size[k])), solid.center);
  for (let k = 0; k < 3; k++) {
    const [i, j] = [(k + 1) % 3, (k + 2) % 3];
    for (const end of [0, 1]) {
      for (let a = 0; a < pieces[i]; a++) {
        for (let b = 0; b < pieces[j]; b++) {
          const square = [[0, 0], [1, 0], [1, 1], [0, 1]].map(([da, db]) => {
            const x = [0, 0, 0];
            x[k] = end;
            x[i] = (a + da) / pieces[i];
            x[j] = (b + db) / pieces[j];
            return corner(x);
          });
          addFace(mesh, end ? square : square.reverse(), 0);
        }
      }
    }
  }
  return mesh;
}

// A ball in gores of two tints, so that its turning shows.
function sphereMesh(solid, around) {
  const mesh = { vertices: [], faces: [] };
  const down = Math.round(around / 2);
  const point = (a, b) => {
    const [lon, lat] = [(2 * Math.PI * a) / around, (Math.PI * b) / down];
    return add(solid.center, times([Math.sin(lat) * Math.cos(lon), Math.sin(lat) * Math.sin(lon), Math.cos(lat)], solid.radius));
  };
  for (let a = 0; a < around; a++) {
    for (let b = 0; b < down; b++) {
      const ring = [point(a, b), point(a, b + 1), point(a + 1, b + 1), point(a + 1, b)];
      const corners = b === 0 ? ring.slice(0, 3) : b === down - 1 ? [ring[0], ring[1], ring[3]] : ring;
      addFace(mesh, corners, Math.floor((6 * a) / around) % 2);
    }
  }
  return mesh;
}

// Corners and faces as they are given.
function givenMesh(solid) {
  return { vertices: solid.vertices, faces: solid.faces.map((corners) => ({ corners, tint: 0 })) };
}

function addFace(mesh, corners, tint) {
  const start = mesh.vertices.length;
  mesh.vertices.push(...corners);
  mesh.faces.push({ corners: corners.map((_, k) => start + k), tint });
}
