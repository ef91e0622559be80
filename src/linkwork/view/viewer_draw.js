"use strict";
// Drawing on a canvas through a camera. A pen is {context, camera, colours}; a ground is {point, normal}.

const COLOURS = ["--ink", "--soft", "--line", "--sky", "--grid", "--shadow", "--dot", "--kinetic", "--potential", "--total"];

// The canvas at the resolution of the screen, measured in CSS pixels.
function fitted(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height };
}

// The colours of the style sheet, which follow light and dark mode.
function readColours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(name).trim()]));
}

// A point in the axes of the camera: right, up, and depth away from the eye.
function seenFrom(camera, x) {
  const r = sub(x, camera.eye);
  return [dot(r, camera.right), dot(r, camera.up), -dot(r, camera.away)];
}

const nearest = (camera) => 1e-3 * camera.distance;

function toPixels(camera, [x, y, depth]) {
  return [camera.width / 2 + (camera.scale * x) / depth, camera.height / 2 - (camera.scale * y) / depth];
}

// Pixels of a point; null behind the eye.
function project(camera, x) {
  const seen = seenFrom(camera, x);
  return seen[2] > nearest(camera) ? toPixels(camera, seen) : null;
}

// A line between two points, cut where it passes behind the eye.
function strokeSegment(pen, from, to) {
  const near = nearest(pen.camera);
  let [a, b] = [seenFrom(pen.camera, from), seenFrom(pen.camera, to)];
  if (a[2] <= near && b[2] <= near) return;
  const cut = (back, front) => add(back, times(sub(front, back), (near * 1.001 - back[2]) / (front[2] - back[2])));
  if (a[2] <= near) a = cut(a, b);
  if (b[2] <= near) b = cut(b, a);
  pen.context.beginPath();
  pen.context.moveTo(...toPixels(pen.camera, a));
  pen.context.lineTo(...toPixels(pen.camera, b));
  pen.context.stroke();
}

// Adds the outline of a polygon to the path; null if a corner is behind the eye.
function tracePolygon(pen, points) {
  const outline = points.map((x) => project(pen.camera, x));
  if (outline.includes(null)) return null;
  outline.forEach(([x, y], k) => (k ? pen.context.lineTo(x, y) : pen.context.moveTo(x, y)));
  pen.context.closePath();
  return outline;
}

function fillFace(pen, face) {
  if (!face.seen) return;
  pen.context.beginPath();
  face.outline = tracePolygon(pen, face.points);
  if (!face.outline) return;
  pen.context.fillStyle = pen.context.strokeStyle = face.colour;
  pen.context.lineWidth = 0.7; // closes the seams between neighbours
  pen.context.fill();
  pen.context.stroke();
}

// Signed height of a point over a ground.
const above = (ground, x) => dot(ground.normal, sub(x, ground.point));
const onto = (ground, x) => sub(x, times(ground.normal, above(ground, x)));

// A round patch of grid below the middle of the scene.
function drawGrid(pen, ground, middle, extent, spacing) {
  const normal = ground.normal;
  const first = unit(cross(Math.abs(normal[0]) > 0.9 ? [0, 1, 0] : cross(normal, [1, 0, 0]), normal));
  const second = cross(normal, first);
  const foot = sub(onto(ground, middle), ground.point);
  const centre = [dot(foot, first), dot(foot, second)].map((x) => Math.round(x / spacing));
  const at = (a, b) => add(ground.point, add(times(first, a * spacing), times(second, b * spacing)));
  const lines = Math.ceil((0.95 * extent) / spacing);
  pen.context.strokeStyle = pen.colours["--grid"];
  for (let k = -lines; k <= lines; k++) {
    const half = Math.sqrt(lines * lines - k * k);
    pen.context.lineWidth = 0.9;
    pen.context.globalAlpha = 0.35 + 0.45 * (half / lines);
    strokeSegment(pen, at(centre[0] + k, centre[1] - half), at(centre[0] + k, centre[1] + half));
    strokeSegment(pen, at(centre[0] - half, centre[1] + k), at(centre[0] + half, centre[1] + k));
  }
  pen.context.globalAlpha = 1;
}

// The shadow under light along the normal: faces turned to the light, all wound alike, filled as one shape.
function drawShadow(pen, ground, faces) {
  pen.context.beginPath();
  for (const face of faces) {
    if (dot(face.normal, ground.normal) > 1e-9) tracePolygon(pen, face.points.map((x) => onto(ground, x)));
  }
  pen.context.fillStyle = pen.colours["--shadow"];
  pen.context.fill();
}

// Whether a pixel lies in a polygon of pixels.
function inside(outline, x, y) {
  let odd = false;
  outline.forEach(([ax, ay], k) => {
    const [bx, by] = outline[(k + 1) % outline.length];
    if (ay > y !== by > y && x < ax + ((bx - ax) * (y - ay)) / (by - ay)) odd = !odd;
  });
  return odd;
}
