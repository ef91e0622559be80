// Muscles, cables, springs and strands: what runs through points of bodies.

import { instances } from "./batches.js";
import { ramp, linear } from "./shades.js";
import { Tube, resampled } from "./tube.js";

const RINGS = 28; // of a muscle
const WIRE = [0.5, 0.53, 0.58];
const STRESS = 3e5; // N/m^2 of muscle
const TURNS = 9; // of a coil
const PER_TURN = 12; // points

export class Ropes {
  constructor(description, matrices, size) {
    this.paths = description.paths;
    this.matrices = matrices;
    this.group = new THREE.Group();
    this.lines = new Map(); // of paths that somebody else lays
    this.tubes = new Map();
    this.coils = new Map();
    this.strands = [];
    const metal = new THREE.MeshStandardMaterial({ roughness: 0.45, metalness: 0.3, color: linear(WIRE) });
    this.wide = { spring: 0.018 * size, strand: 0.0028 * size };
    this.paths.forEach((path, k) => {
      if (path.kind === "spring") this.coils.set(k, this.shaded(new Tube(TURNS * PER_TURN + 1, metal, 6)));
      else if (path.kind === "strand") this.strands.push(k);
      else this.tubes.set(k, this.tube(path, size));
    });
    const rod = new THREE.CylinderGeometry(1, 1, 1, 6).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    this.rods = instances(rod, metal, this.strands.length);
    this.rods.castShadow = true;
    if (this.strands.length) this.group.add(this.rods);
  }

  shaded(tube) {
    tube.mesh.castShadow = true;
    this.group.add(tube.mesh);
    return tube;
  }

  tube(path, size) {
    const material = new THREE.MeshStandardMaterial({ roughness: 0.5, color: ramp(path.kind, 0.3) });
    const belly = 0.55 * Math.sqrt((path.strength || 0) / STRESS / Math.PI);
    const radius = path.kind === "muscle" ? Math.min(0.028 * size, Math.max(0.008 * size, belly)) : 0.004 * size;
    const tube = this.shaded(new Tube(RINGS, material));
    return { tube, radius, material, muscle: path.kind === "muscle" };
  }

  // Where a path runs, if not straight from point to point: numbers of its points, or null.
  lay(k, numbers) {
    this.lines.set(k, numbers);
  }

  level(k, value) {
    const found = this.tubes.get(k);
    if (found) found.material.color.copy(ramp(this.paths[k].kind, value));
  }

  points(k) {
    const given = this.lines.get(k);
    if (given) return Array.from({ length: given.length / 3 }, (_, i) => new THREE.Vector3().fromArray(given, 3 * i));
    return this.paths[k].points.map(([body, x]) => new THREE.Vector3(...x).applyMatrix4(this.matrixOf(body)));
  }

  matrixOf(body) {
    return this.matrices[body < 0 ? this.matrices.length - 1 : body];
  }

  place() {
    for (const [k, { tube, radius, muscle }] of this.tubes) {
      const belly = (i) => radius * (0.32 + 0.68 * Math.sin((Math.PI * i) / (RINGS - 1)) ** 1.5);
      tube.update(resampled(this.points(k), RINGS), muscle ? belly : () => radius);
    }
    const { spring, strand } = this.wide;
    for (const [k, tube] of this.coils) tube.update(coil(...this.points(k), spring), () => 0.2 * spring);
    const z = new THREE.Vector3(0, 0, 1);
    const [way, turn, at, scale] = [new THREE.Vector3(), new THREE.Quaternion(), new THREE.Matrix4(), new THREE.Vector3()];
    this.strands.forEach((k, i) => {
      const [a, b] = this.points(k);
      const length = way.subVectors(b, a).length();
      turn.setFromUnitVectors(z, length > 0 ? way.divideScalar(length) : z);
      this.rods.setMatrixAt(i, at.compose(a, turn, scale.set(strand, strand, Math.max(length, 1e-6))));
    });
    this.rods.instanceMatrix.needsUpdate = true;
  }
}

// Points of a helix from a to b, with straight ends.
function coil(a, b, wide) {
  const way = b.clone().sub(a), z = way.clone().normalize();
  const x = new THREE.Vector3(...(Math.abs(z.x) < 0.6 ? [1, 0, 0] : [0, 1, 0])).cross(z).normalize(), y = z.clone().cross(x);
  return Array.from({ length: TURNS * PER_TURN + 1 }, (_, k) => {
    const s = k / (TURNS * PER_TURN), inside = Math.min(1, Math.max(0, (s - 0.08) / 0.84));
    const r = wide * Math.min(1, 14 * Math.min(inside, 1 - inside)), angle = 2 * Math.PI * TURNS * inside;
    return a.clone().addScaledVector(way, s).addScaledVector(x, r * Math.cos(angle)).addScaledVector(y, r * Math.sin(angle));
  });
}
