// Muscles, cables, springs and strands: what runs through points of bodies.

import { instances } from "./batches.js";
import { coilGeometry } from "./forms.js";
import { ramp, linear } from "./shades.js";
import { Tube, resampled } from "./tube.js";

const RINGS = 28; // of a muscle
const WIRE = [0.5, 0.53, 0.58];
const STRESS = 3e5; // N/m^2 of muscle

export class Ropes {
  constructor(description, matrices, size) {
    this.paths = description.paths;
    this.matrices = matrices;
    this.group = new THREE.Group();
    this.lines = new Map(); // of paths that somebody else lays
    this.tubes = new Map();
    this.straight = { spring: [], strand: [] };
    this.paths.forEach((path, k) => {
      if (path.kind in this.straight) this.straight[path.kind].push(k);
      else this.tubes.set(k, this.tube(path, size));
    });
    const metal = () => new THREE.MeshStandardMaterial({ roughness: 0.45, metalness: 0.3, color: linear(WIRE) });
    this.wide = { spring: 0.014 * size, strand: 0.0028 * size };
    this.meshes = {
      spring: instances(coilGeometry(), metal(), this.straight.spring.length),
      strand: instances(new THREE.CylinderGeometry(1, 1, 1, 6).rotateX(Math.PI / 2).translate(0, 0, 0.5), metal(), this.straight.strand.length),
    };
    for (const mesh of Object.values(this.meshes)) {
      mesh.castShadow = true;
      if (mesh.count) this.group.add(mesh);
    }
  }

  tube(path, size) {
    const material = new THREE.MeshStandardMaterial({ roughness: 0.5, color: ramp(path.kind, 0.3) });
    const belly = 0.55 * Math.sqrt((path.strength || 0) / STRESS / Math.PI);
    const radius = path.kind === "muscle" ? Math.min(0.028 * size, Math.max(0.008 * size, belly)) : 0.004 * size;
    const tube = new Tube(RINGS, material);
    tube.mesh.castShadow = true;
    this.group.add(tube.mesh);
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
    const z = new THREE.Vector3(0, 0, 1);
    const [way, turn, at, scale] = [new THREE.Vector3(), new THREE.Quaternion(), new THREE.Matrix4(), new THREE.Vector3()];
    for (const [kind, list] of Object.entries(this.straight)) {
      const mesh = this.meshes[kind];
      list.forEach((k, i) => {
        const [a, b] = this.points(k);
        const length = way.subVectors(b, a).length();
        turn.setFromUnitVectors(z, length > 0 ? way.divideScalar(length) : z);
        mesh.setMatrixAt(i, at.compose(a, turn, scale.set(this.wide[kind], this.wide[kind], Math.max(length, 1e-6))));
      });
      mesh.instanceMatrix.needsUpdate = true;
    }
  }
}
