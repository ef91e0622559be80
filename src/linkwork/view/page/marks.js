// What is drawn beside the solids: axes and limits of joints, loops, frames, ways of joints, forces of contacts.

import { instances } from "./batches.js";
import { linear } from "./shades.js";
import { Tube } from "./tube.js";

const AXES = [[0.85, 0.25, 0.22], [0.3, 0.65, 0.3], [0.25, 0.45, 0.85]];
const PIN = [0.22, 0.24, 0.28];
const Z = () => new THREE.Vector3(0, 0, 1);
const plain = (rgb, more = {}) => new THREE.MeshStandardMaterial({ roughness: 0.5, color: linear(rgb), ...more });

export class Marks {
  constructor(description, matrices, size) {
    this.description = description;
    this.matrices = matrices;
    this.size = size;
    this.layers = {};
    for (const [name, make] of Object.entries({
      joints: () => this.pins(), limits: () => this.limits(), frames: () => this.triads(), guides: () => this.guides(), contacts: () => this.arrows(),
    })) {
      this.layers[name] = { moving: [], group: new THREE.Group() };
      make();
    }
  }

  matrixOf(body) {
    return this.matrices[body < 0 ? this.matrices.length - 1 : body];
  }

  // Something that goes with a body, at a pose in its axes.
  attach(layer, object, body, local) {
    object.matrixAutoUpdate = false;
    this.layers[layer].group.add(object);
    this.layers[layer].moving.push({ object, body, local });
  }

  // Many of one form, each with its body and place.
  attachMany(layer, geometry, material, places) {
    if (!places.length) return;
    const mesh = instances(geometry, material, places.length);
    mesh.castShadow = true;
    this.layers[layer].group.add(mesh);
    this.layers[layer].moving.push({ mesh, places });
  }

  pins() {
    const { joints, loops } = this.description;
    const [turns, slides] = [[], []];
    for (const { body, axes, thick } of joints) {
      const pin = Math.min(thick || Infinity, 0.02 * this.size);
      for (const { kind, axis } of axes) {
        const turn = new THREE.Quaternion().setFromUnitVectors(Z(), new THREE.Vector3(...axis));
        const stretch = kind === "turn" ? [0.6, 0.6, 2.8] : [0.35, 0.35, 7];
        const local = new THREE.Matrix4().compose(new THREE.Vector3(), turn, new THREE.Vector3(...stretch).multiplyScalar(pin));
        (kind === "turn" ? turns : slides).push({ body, local });
      }
    }
    const stand = ([x, y, z], thick) => ({
      body: -1, local: new THREE.Matrix4().makeTranslation(x, y, z).scale(new THREE.Vector3(1, 1, 1).multiplyScalar(Math.min(thick, 0.02 * this.size))) });
    const mounts = joints.filter(({ parent, thick }) => parent < 0 && thick).map(({ at, thick }) => stand(at, thick));
    for (const { bodies, points } of loops) {
      const end = bodies.indexOf(-1);
      if (end >= 0 && mounts.length) mounts.push(stand(points[end], joints[0].thick || Infinity));
    }
    const mount = new THREE.ConeGeometry(2.2, 3.4, 4).rotateX(Math.PI / 2).rotateZ(Math.PI / 4).translate(0, 0, -1.9);
    this.attachMany("joints", mount, plain([0.5, 0.52, 0.55], { flatShading: true }), mounts);
    const rod = new THREE.CylinderGeometry(1, 1, 1, 14).rotateX(Math.PI / 2);
    this.attachMany("joints", rod, plain(PIN), turns);
    this.attachMany("joints", rod, plain([0.2, 0.5, 0.75]), slides);
    const balls = loops.map(({ bodies, points }) => ({
      body: bodies[0], local: new THREE.Matrix4().makeTranslation(...points[0]).scale(new THREE.Vector3(1, 1, 1).multiplyScalar(0.016 * this.size)) }));
    this.attachMany("joints", new THREE.SphereGeometry(1, 16, 12), plain([0.8, 0.3, 0.25]), balls);
  }

  limits() {
    for (const { body, parent, at, axes, limits } of this.description.joints) {
      if (!limits) continue;
      const [x, y, z, qw, qx, qy, qz] = at;
      const turn = new THREE.Quaternion(qx, qy, qz, qw).multiply(new THREE.Quaternion().setFromUnitVectors(Z(), new THREE.Vector3(...axes[0].axis)));
      const local = new THREE.Matrix4().compose(new THREE.Vector3(x, y, z), turn, new THREE.Vector3(1, 1, 1));
      const span = Math.min(2 * Math.PI, limits[1] - limits[0]);
      const turns = axes[0].kind === "turn";
      const form = turns
        ? new THREE.RingGeometry(0.035 * this.size, 0.06 * this.size, 40, 1, limits[0], span)
        : new THREE.BoxGeometry(0.006 * this.size, 0.006 * this.size, limits[1] - limits[0]).translate(0, 0, 0.5 * (limits[0] + limits[1]));
      const material = plain([0.93, 0.68, 0.2], { transparent: true, opacity: 0.6, side: THREE.DoubleSide, depthWrite: false });
      this.attach("limits", new THREE.Mesh(form, material), parent, local);
      if (!turns) continue;
      const needle = new THREE.Mesh(new THREE.BoxGeometry(0.06 * this.size, 0.005 * this.size, 0.005 * this.size).translate(0.03 * this.size, 0, 0), plain(PIN));
      const own = new THREE.Quaternion().setFromUnitVectors(Z(), new THREE.Vector3(...axes[0].axis));
      this.attach("limits", needle, body, new THREE.Matrix4().makeRotationFromQuaternion(own));
    }
  }

  triads() {
    const rod = new THREE.CylinderGeometry(1, 1, 1, 8).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    const places = [[], [], []];
    const still = new THREE.Quaternion();
    const all = this.description.frames.map(({ body, pose }) => ({ body, pose, long: 0.05 }))
      .concat(this.description.bodies.map((_, body) => ({ body, pose: [0, 0, 0, 1, 0, 0, 0], long: 0.08 })));
    for (const { body, pose, long } of all) {
      const [x, y, z, qw, qx, qy, qz] = pose;
      [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((axis, k) => {
        still.setFromUnitVectors(Z(), new THREE.Vector3(...axis)).premultiply(new THREE.Quaternion(qx, qy, qz, qw));
        const stretch = new THREE.Vector3(0.004, 0.004, long).multiplyScalar(this.size);
        places[k].push({ body, local: new THREE.Matrix4().compose(new THREE.Vector3(x, y, z), still, stretch) });
      });
    }
    places.forEach((list, k) => this.attachMany("frames", rod, plain(AXES[k]), list));
  }

  guides() {
    for (const { body, points } of this.description.guides) {
      const tube = new Tube(points.length, plain([0.55, 0.57, 0.6]), 6);
      tube.update(points.map((x) => new THREE.Vector3(...x)), () => 0.003 * this.size);
      this.attach("guides", tube.mesh, body, new THREE.Matrix4());
    }
  }

  arrows() {
    const shaft = new THREE.CylinderGeometry(1, 1, 0.8, 8).rotateX(Math.PI / 2).translate(0, 0, 0.4);
    const tip = new THREE.ConeGeometry(2.6, 0.22, 12).rotateX(Math.PI / 2).translate(0, 0, 0.89);
    this.arrow = [shaft, tip].map((form) => instances(form, plain([0.95, 0.75, 0.1]), 512));
    this.touches = instances(new THREE.SphereGeometry(1, 10, 8), plain([0.95, 0.45, 0.1]), 512);
    for (const mesh of [...this.arrow, this.touches]) {
      mesh.count = 0;
      this.layers.contacts.group.add(mesh);
    }
  }

  // Points and forces, three numbers each; `full` newtons are drawn at full length.
  setContacts(points, forces, full) {
    const count = Math.min(512, points.length / 3);
    const [from, way, turn, at, scale] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Quaternion(), new THREE.Matrix4(), new THREE.Vector3()];
    for (let k = 0; k < count; k++) {
      from.fromArray(points, 3 * k);
      const strength = way.fromArray(forces, 3 * k).length();
      if (strength > 0) turn.setFromUnitVectors(Z(), way.divideScalar(strength));
      const long = this.size * Math.max(0.004, 0.16 * Math.min(1, strength / full));
      for (const mesh of this.arrow) mesh.setMatrixAt(k, at.compose(from, turn, scale.set(0.0045 * this.size, 0.0045 * this.size, long)));
      this.touches.setMatrixAt(k, at.compose(from, turn, scale.setScalar(0.008 * this.size)));
    }
    for (const mesh of [...this.arrow, this.touches]) {
      mesh.count = count;
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  place() {
    const at = new THREE.Matrix4();
    for (const { group, moving } of Object.values(this.layers)) {
      if (!group.visible) continue;
      for (const { object, body, local, mesh, places } of moving) {
        if (object) {
          object.matrix.multiplyMatrices(this.matrixOf(body), local);
          object.matrixWorldNeedsUpdate = true;
          continue;
        }
        places.forEach((place, k) => mesh.setMatrixAt(k, at.multiplyMatrices(this.matrixOf(place.body), place.local)));
        mesh.instanceMatrix.needsUpdate = true;
      }
    }
  }
}
