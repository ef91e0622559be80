"use strict";
// The scene: poses at a time, a camera, and drawing back to front.

const PALETTE = [[78, 140, 205], [226, 139, 67], [94, 170, 116], [190, 103, 160], [214, 178, 74], [112, 178, 190]];
const STONE = [150, 150, 145]; // what belongs to the world
const VIEW = Math.tan((17 * Math.PI) / 180); // half the height of the picture at distance 1

class Scene {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.data = data;
    const still = { p: [0, 0, 0], q: [1, 0, 0, 0] };
    const moving = data.bodies.length;
    this.frames = data.poses.map((row) => [
      ...data.bodies.map((_, i) => ({ p: row.slice(7 * i, 7 * i + 3), q: row.slice(7 * i + 3, 7 * i + 7) })), still]);
    this.leaves = data.bodies.map((_, i) => i).filter((i) => !data.bodies.some((b) => b.parent === i)).slice(0, 8);
    this.measure();
    const least = 0.012 * this.extent;
    const makers = {
      box: (solid) => boxMesh(solid, least, moving > 80 ? 1 : 6),
      sphere: (solid) => sphereMesh(solid, moving > 30 ? 10 : 24),
      mesh: givenMesh,
    };
    const all = [...data.bodies, { name: "world", solids: data.scenery }]; // the world is drawn last, and stands still
    this.names = all.map((body) => body.name);
    this.meshes = all.map((body) => body.solids.map((solid) => ({ ...makers[solid.kind](solid), color: solid.color })));
    this.colours = all.map((_, i) => (i < moving ? bodyColour(i, moving) : STONE));
    this.drawn = [];
    this.reset();
  }

  // Where the bodies go in the course of the run: the points that the camera must see.
  measure() {
    const { bodies } = this.data;
    const step = Math.max(1, Math.floor(this.frames.length / 60));
    this.points = [];
    this.frames.forEach((poses, f) => {
      if (f % step && f !== this.frames.length - 1) return;
      bodies.forEach((body, i) => {
        for (const solid of body.solids) this.points.push(...reach(solid).map((x) => place(poses[i], x)));
      });
    });
    for (const solid of this.data.scenery) this.points.push(...reach(solid));
    for (const body of bodies) if (body.parent < 0 && body.hinge) this.points.push(body.hinge);
    const size = norm(sub(...bounds(this.points)));
    const [ground] = this.data.grounds;
    if (ground.body < 0) {
      const near = this.points.filter((x) => above(ground, x) > 0 && above(ground, x) < 0.5 * size);
      for (const x of near) this.points.push(onto(ground, x)); // their shadows
    }
    const [high, low] = bounds(this.points);
    this.middle = times(add(low, high), 0.5);
    this.extent = Math.max(size, 1e-6);
  }

  reset() {
    this.view = { target: this.middle, azimuth: this.broadside() - 0.45, elevation: 0.26, distance: 1, zoomed: false };
  }

  // The direction along which the run is thinnest, seen from above.
  broadside() {
    let [xx, xy, yy] = [0, 0, 0];
    for (const point of this.points) {
      const [x, y] = sub(point, this.middle);
      [xx, xy, yy] = [xx + x * x, xy + x * y, yy + y * y];
    }
    const spread = 0.5 * Math.atan2(2 * xy, xx - yy);
    return spread - Math.PI / 2;
  }

  // Axes of the camera; its distance fits the run into the picture until the user zooms.
  camera(width, height) {
    const { azimuth, elevation, target } = this.view;
    const away = [Math.cos(elevation) * Math.cos(azimuth), Math.cos(elevation) * Math.sin(azimuth), Math.sin(elevation)];
    const right = [-Math.sin(azimuth), Math.cos(azimuth), 0];
    const up = cross(away, right);
    if (!this.view.zoomed) {
      const tanX = (VIEW * width) / height;
      let need = 0;
      for (const point of this.points) {
        const x = sub(point, target);
        const side = Math.max(Math.abs(dot(x, right)) / tanX, Math.abs(dot(x, up)) / VIEW);
        need = Math.max(need, 1.12 * side + dot(x, away));
      }
      this.view.distance = Math.max(need, 1e-3 * this.extent);
    }
    const { distance } = this.view;
    const eye = add(target, times(away, distance));
    return { eye, distance, away, right, up, scale: height / (2 * VIEW), width, height };
  }

  posesAt(time) {
    const { t } = this.data;
    let f = 0;
    let last = t.length - 1;
    while (last - f > 1) {
      const half = (f + last) >> 1;
      if (t[half] <= time) f = half;
      else last = half;
    }
    const s = last > f ? Math.min(1, Math.max(0, (time - t[f]) / (t[last] - t[f]))) : 0;
    return { frame: f, poses: this.frames[f].map((pose, i) => between(pose, this.frames[last][i], s)) };
  }

  draw(time) {
    const { context, width, height } = fitted(this.canvas);
    context.clearRect(0, 0, width, height);
    const camera = this.camera(width, height);
    const { frame, poses } = this.posesAt(time);
    const colours = readColours();
    const pen = { context, camera, colours };
    const [ground, ...others] = this.data.grounds.map((g) => placedGround(g, poses));
    const faces = this.faces(camera, poses).sort((a, b) => b.depth - a.depth);
    const eyeSide = above(ground, camera.eye) >= 0;
    const hidden = faces.filter((face) => above(ground, face.middle) >= 0 !== eyeSide);
    const open = faces.filter((face) => above(ground, face.middle) >= 0 === eyeSide);
    hidden.forEach((face) => fillFace(pen, face));
    this.spacing = roundStep(this.extent / 12);
    for (const g of [ground, ...others]) drawGrid(pen, g, this.middle, this.extent, this.spacing);
    if (eyeSide) drawShadow(pen, ground, open);
    this.drawBones(pen, poses);
    this.drawSprings(pen, poses);
    this.drawTrails(pen, frame, poses);
    open.forEach((face) => fillFace(pen, face));
    this.drawJoints(pen, poses);
    this.drawn = hidden.concat(open);
  }

  faces(camera, poses) {
    const light = unit(add(add(times(camera.away, 0.75), times(camera.right, -0.5)), [0, 0, 0.75]));
    const found = [];
    const { colours } = this;
    this.meshes.forEach((meshes, body) => {
      for (const mesh of meshes) {
        const world = mesh.vertices.map((x) => place(poses[body], x));
        for (const { corners, tint } of mesh.faces) {
          const points = corners.map((k) => world[k]);
          const normal = unit(cross(sub(points[1], points[0]), sub(points[2], points[0])));
          const middle = mean(points);
          const sight = sub(camera.eye, middle);
          const seen = dot(normal, sight) > 0;
          const bright = 0.5 + 0.56 * Math.max(0, dot(normal, light));
          const rgb = (mesh.color || colours[body]).map((c) => Math.min(255, Math.round((tint ? 0.5 * c + 118 : c) * bright)));
          found.push({ body, points, normal, middle, seen, depth: dot(sight, sight), colour: `rgb(${rgb})` });
        }
      }
    });
    return found;
  }

  // Thin lines from a body's own joint to the joints that it carries.
  drawBones(pen, poses) {
    pen.context.strokeStyle = pen.colours["--soft"];
    pen.context.lineWidth = 1.5;
    for (const body of this.data.bodies) {
      if (body.parent < 0 || !body.hinge) continue;
      strokeSegment(pen, poses[body.parent].p, place(poses[body.parent], body.hinge));
    }
  }

  drawSprings(pen, poses) {
    pen.context.strokeStyle = pen.colours["--soft"];
    pen.context.lineWidth = 1;
    for (const { bodies, points } of this.data.springs) {
      const [a, b] = bodies.map((body, end) => (body < 0 ? points[end] : place(poses[body], points[end])));
      strokeSegment(pen, a, b);
    }
  }

  // The recent path of the last bodies of every branch.
  drawTrails(pen, frame, poses) {
    const { bodies } = this.data;
    const length = Math.min(frame, 150);
    pen.context.lineWidth = 1.6;
    for (const i of this.leaves) {
      pen.context.strokeStyle = `rgb(${this.colours[i]})`;
      let before = place(poses[i], bodies[i].com);
      for (let k = 0; k <= length; k++) {
        const next = place(this.frames[frame - k][i], bodies[i].com);
        pen.context.globalAlpha = 0.8 * (1 - k / (length + 1));
        strokeSegment(pen, before, next);
        before = next;
      }
    }
    pen.context.globalAlpha = 1;
  }

  drawJoints(pen, poses) {
    const { bodies } = this.data;
    const points = bodies.filter((b) => b.hinge).map((b) => (b.parent < 0 ? b.hinge : place(poses[b.parent], b.hinge)));
    for (const pin of this.data.pins) points.push(pin.body < 0 ? pin.point : place(poses[pin.body], pin.point));
    if (points.length > 60) return; // they would hide the bodies
    for (const x of points) {
      const at = project(pen.camera, x);
      if (!at) continue;
      pen.context.beginPath();
      pen.context.arc(at[0], at[1], 3.2, 0, 2 * Math.PI);
      pen.context.fillStyle = pen.colours["--dot"];
      pen.context.strokeStyle = pen.colours["--sky"];
      pen.context.lineWidth = 1.2;
      pen.context.fill();
      pen.context.stroke();
    }
  }

  // The name of the body under a point of the picture.
  nameAt(x, y) {
    for (let k = this.drawn.length - 1; k >= 0; k--) {
      const { outline, body } = this.drawn[k];
      if (outline && inside(outline, x, y)) return this.names[body];
    }
    return null;
  }
}

// The palette in turn; for many bodies, one passage through it from the first to the last.
function bodyColour(i, many) {
  if (many <= 12) return PALETTE[i % PALETTE.length];
  const x = (i / (many - 1)) * (PALETTE.length - 1);
  const k = Math.min(PALETTE.length - 2, Math.floor(x));
  return add(times(PALETTE[k], 1 - x + k), times(PALETTE[k + 1], x - k)).map(Math.round);
}

// Corners of a box, or of the box around a ball or a mesh.
function reach(solid) {
  if (solid.kind === "mesh") {
    const ends = bounds(solid.vertices);
    return [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => [0, 1, 2].map((k) => ends[(bits >> k) & 1][k]));
  }
  const half = solid.kind === "box" ? solid.size.map((s) => s / 2) : [solid.radius, solid.radius, solid.radius];
  const axes = solid.axes || [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  return [0, 1, 2, 3, 4, 5, 6, 7].map((bits) =>
    axes.reduce((sum, axis, k) => add(sum, times(axis, (bits >> k) & 1 ? half[k] : -half[k])), solid.center));
}

// The highest and the lowest corner of the box around points.
function bounds(points) {
  return [Math.max, Math.min].map((pick) => points.reduce((m, x) => [0, 1, 2].map((k) => pick(m[k], x[k]))));
}

function placedGround(ground, poses) {
  if (ground.body < 0) return ground;
  return { point: place(poses[ground.body], ground.point), normal: turn(poses[ground.body].q, ground.normal) };
}
