// The renderer: a scene out of its description, bodies posed by numbers.
//
//   const scene = makeScene(container, description);
//   scene.frame([transforms, ...]);       // look at all that happens: some moments of the motion, or only the start
//   scene.pose(transforms);               // seven numbers a body: position, quaternion (w, x, y, z); or twelve, a matrix
//   scene.render();

import { Arrow } from "./arrow.js";
import { Batches } from "./batches.js";
import { fail } from "./dom.js";
import { Ground, Light } from "./ground.js";
import { Marks } from "./marks.js";
import { Orbit } from "./orbit.js";
import { Ropes } from "./ropes.js";
import { setTheme } from "./shades.js";
import { setMatrix } from "./poses.js";
import { Trails } from "./trails.js";

const FOLLOWED = 6; // a motion over so many sizes of what moves is followed

export function makeScene(container, description) {
  return new Scene(container, description);
}

export class Scene {
  constructor(container, description) {
    this.container = container;
    this.description = description;
    setTheme(description.theme || "auto");
    this.renderer = makeRenderer(container);
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    container.prepend(this.canvas);
    this.world = new THREE.Scene();
    this.matrices = Array.from({ length: description.bodies.length + 1 }, () => new THREE.Matrix4());
    this.batches = new Batches(description, this.matrices);
    this.light = new Light(this.world, container.clientWidth * container.clientHeight * Math.min(2, devicePixelRatio) ** 2);
    this.orbit = new Orbit(this.canvas, () => this.render());
    this.world.add(this.batches.group);
    this.picker = new THREE.Raycaster();
    new ResizeObserver(() => this.resize()).observe(container);
  }

  // Matrices of all bodies, the world's last, from seven numbers each, or from twelve (rows of a matrix 3 x 4).
  setMatrices(transforms, matrices = this.matrices) {
    const bodies = matrices.length - 1;
    for (let i = 0; i < bodies; i++) setMatrix(matrices[i], transforms, i, transforms.length / bodies);
    return matrices;
  }

  // Looks at the whole of a motion, given by some of its moments; ground, light and lines are made to its size.
  frame(moments) {
    const [moving, still] = [[], []];
    let first = 0;
    moments.forEach((transforms, k) => {
      this.setMatrices(transforms);
      for (const { body, points } of this.batches.points()) {
        if (body >= 0) moving.push(...points);
        else if (k === 0) still.push(points);
      }
      moving.push(...this.strung());
      if (k === 0) first = moving.length;
    });
    this.setMatrices(moments[0]);
    const alone = moving.slice(0, first);
    const ways = this.description.guides.map(({ body, points }) => points.map((x) => this.at(body, x)));
    const scenery = [...still, ...ways].flat();
    const far = first > 0 && span(moving) > FOLLOWED * span(alone) && !(scenery.length && isAsWide(scenery, moving));
    this.follow = this.description.camera?.follow ?? far;
    this.home = this.centre();
    const own = this.description.camera?.still || this.follow ? alone : moving;
    const size = own.length ? span(own) : Infinity;
    this.points = own.concat(...[...still, ...ways].filter((points) => span(points) < 3 * size));
    if (!this.points.length) this.points = [new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 1)];
    this.size = span(this.points);
    this.buildAround(moving.length ? moving : this.points);
    this.resetView();
  }

  // The middle of all bodies as they lie now.
  centre() {
    const sum = new THREE.Vector3();
    const bodies = this.matrices.slice(0, -1);
    for (const matrix of bodies) sum.add(new THREE.Vector3().setFromMatrixPosition(matrix));
    return sum.divideScalar(Math.max(1, bodies.length));
  }

  // The camera and the sun go with the bodies, or stay.
  keepUp() {
    const { offset } = this.orbit;
    offset.set(0, 0, 0);
    if (this.follow) offset.subVectors(this.centre(), this.home);
    this.light.move(offset);
  }

  // A point of a body in the world.
  at(body, point) {
    return new THREE.Vector3(...point).applyMatrix4(this.batches.matrixOf(body));
  }

  // Points of muscles, cables and springs.
  strung() {
    return this.description.paths.flatMap(({ points }) => points.map(([body, x]) => this.at(body, x)));
  }

  buildAround(points) {
    const { description, size } = this;
    const low = points.reduce((least, x) => Math.min(least, x.z), Infinity);
    const floor = low > -1e-3 * size && low < 1.2 * size ? 0 : low - 0.04 * size;
    this.middle = middleOf(this.points);
    this.reach = 0.5 * span(this.points);
    this.ground = new Ground(description.planes, floor, size, this.middle);
    this.orbit.floors = this.ground.floors;
    this.ropes = new Ropes(description, this.matrices, size);
    this.marks = new Marks(description, this.matrices, size);
    this.trails = new Trails(description, size);
    this.layers = { paths: this.ropes.group, trails: this.trails.group };
    for (const [name, { group }] of Object.entries(this.marks.layers)) this.layers[name] = group;
    this.world.add(this.ground.group, ...Object.values(this.layers));
    for (const [name, on] of Object.entries(description.layers)) this.setLayer(name, on);
  }

  resetView() {
    const { azimuth, elevation = 15, zoom = 1, target } = this.description.camera || {};
    const { orbit } = this;
    orbit.azimuth = azimuth === undefined ? broadside(this.points, this.middle) - 0.45 : (azimuth * Math.PI) / 180;
    orbit.elevation = (elevation * Math.PI) / 180;
    if (target) orbit.target.set(...target);
    this.resize(false);
    orbit.fit(this.points, zoom, Boolean(target));
    orbit.zoomed = false;
    this.light.cover(this.middle, 1.1 * this.reach, orbit.azimuth);
    this.repaint();
  }

  // Looks from where it is at what is there now, as near as it fits.
  lookAtNow() {
    const { zoom = 1 } = this.description.camera || {};
    this.resize(false);
    const there = [...this.batches.points()].filter(({ body, points }) => body >= 0 || span(points) < this.size);
    const near = [...there.flatMap(({ points }) => points), ...this.strung()];
    const own = span(near) > 0.45 * this.size ? near.map((x) => x.sub(this.orbit.offset)) : this.points;
    this.orbit.fit(own, zoom);
    this.orbit.zoomed = true;
    this.light.cover(middleOf(own), 0.75 * span(own), this.orbit.azimuth);
    this.repaint();
  }

  repaint() {
    this.light.repaint(Math.max(this.orbit.distance, this.reach));
    this.ground.repaint();
    this.render();
  }

  setLayer(name, on) {
    if (name === "shapes") this.batches.setLayer("visual", on);
    else if (name === "collision") this.batches.setLayer("collision", on);
    else if (this.layers[name]) this.layers[name].visible = on;
    this.place();
  }

  // Hides a body, or shows it again.
  setHidden(body, hidden) {
    if (hidden) this.batches.hidden.add(body);
    else this.batches.hidden.delete(body);
    this.place();
  }

  // Shows some bodies alone; null shows all.
  isolate(bodies) {
    this.batches.only = bodies && new Set(bodies);
    this.place();
  }

  pose(transforms) {
    this.setMatrices(transforms);
    this.keepUp();
    this.place();
  }

  // A hand pulls from a point to another, three numbers each; or it does not.
  pull(hand, from, to) {
    this.hands ||= [];
    if (!this.hands[hand]) {
      this.hands[hand] = new Arrow(this.size);
      this.layers.paths.add(this.hands[hand].group);
    }
    this.hands[hand].place(from, to);
  }

  place() {
    this.batches.place();
    this.ropes?.place();
    this.marks?.place();
    this.ground?.place(this.matrices);
  }

  // Pale copies of the bodies at some moments.
  strobe(moments) {
    if (this.ghosts) this.world.remove(this.ghosts);
    this.ghosts = this.batches.ghosts(moments.map((transforms) => this.setMatrices(transforms, this.matrices.map(() => new THREE.Matrix4()))));
    this.world.add(this.ghosts);
  }

  resize(render = true) {
    const { clientWidth, clientHeight } = this.container;
    if (!clientWidth || !clientHeight) return;
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.orbit.camera.aspect = clientWidth / clientHeight;
    if (this.points && !this.orbit.zoomed) this.orbit.fit(this.points, this.description.camera?.zoom ?? 1, Boolean(this.description.camera?.target));
    if (render) this.render();
  }

  render() {
    if (!this.ground) return;
    this.orbit.apply();
    this.renderer.render(this.world, this.orbit.camera);
  }

  // What lies under a point of the page: { body, name, point }, or null.
  pick(clientX, clientY) {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2);
    this.picker.setFromCamera(at, this.orbit.camera);
    const meshes = this.batches.group.children.filter((mesh) => mesh.visible);
    const [hit] = this.picker.intersectObjects(meshes, false);
    if (!hit) return null;
    const { body } = hit.object.userData.places[hit.instanceId];
    return { body, name: body < 0 ? "world" : this.description.bodies[body].name, point: hit.point.clone() };
  }
}

// What draws; where the browser has no WebGL, one that draws nothing, and a line that says so: all else on the page works.
function makeRenderer(container) {
  try {
    const renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    renderer.outputEncoding = THREE.sRGBEncoding;
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    return renderer;
  } catch (error) {
    fail(container, `${error.message || error} The browser's hardware acceleration may be off; the rest of the page works without it.`);
    const nothing = () => {};
    return { domElement: document.createElement("canvas"), setPixelRatio: nothing, setSize: nothing, render: nothing };
  }
}

function middleOf(points) {
  return new THREE.Box3().setFromPoints(points).getCenter(new THREE.Vector3());
}

// The diameter of a ball around points.
function span(points) {
  const middle = middleOf(points);
  return Math.max(1e-6, 2 * points.reduce((most, x) => Math.max(most, x.distanceTo(middle)), 0));
}

// Whether what stands still is the place of a motion: neither much smaller nor much wider than it.
function isAsWide(still, moving) {
  return span(still) < 3 * span(moving) && span(moving) < 2 * span(still);
}

// The direction along which points are spread least, seen from above.
function broadside(points, middle) {
  let [xx, xy, yy] = [1e-9, 0, 0];
  for (const point of points) {
    const [x, y] = [point.x - middle.x, point.y - middle.y];
    [xx, xy, yy] = [xx + x * x, xy + x * y, yy + y * y];
  }
  return 0.5 * Math.atan2(2 * xy, xx - yy) - Math.PI / 2;
}
