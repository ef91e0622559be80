// Geometries: of unit size where a stretch does not spoil them, so that equal forms are drawn together.

import { numbersOf } from "./unpack.js";

const CREASE = Math.cos((38 * Math.PI) / 180); // edges sharper than this stay edges

// The form of a shape: a key for what can share a geometry, how to make that, the stretch that
// gives the shape, and half of the box around the geometry.
export function formOf(shape, meshes, fine) {
  const around = fine ? 32 : 14;
  switch (shape.kind) {
    case "box":
      return { key: "box", make: () => new THREE.BoxGeometry(1, 1, 1), stretch: shape.size, half: [0.5, 0.5, 0.5] };
    case "sphere":
      return ball([shape.radius, shape.radius, shape.radius], around);
    case "ellipsoid":
      return ball(shape.radii, around);
    case "cylinder":
      return {
        key: "cylinder",
        make: () => new THREE.CylinderGeometry(1, 1, 1, around).rotateX(Math.PI / 2),
        stretch: [shape.radius, shape.radius, shape.length],
        half: [1, 1, 0.5],
      };
    case "capsule": {
      const ratio = +(shape.length / shape.radius).toFixed(3);
      return {
        key: `capsule ${ratio}`,
        make: () => new THREE.CapsuleGeometry(1, ratio, around / 4, around).rotateX(Math.PI / 2),
        stretch: [shape.radius, shape.radius, shape.radius],
        half: [1, 1, 1 + 0.5 * ratio],
      };
    }
    case "torus": {
      const ratio = +(shape.tube / shape.ring).toFixed(3);
      return {
        key: `torus ${ratio}`,
        make: () => new THREE.TorusGeometry(1, ratio, around / 2, 2 * around),
        stretch: [shape.ring, shape.ring, shape.ring],
        half: [1 + ratio, 1 + ratio, ratio],
      };
    }
    default: {
      const { low, size } = meshes[shape.mesh];
      const middle = low.map((x, k) => x + 0.5 * size[k]);
      return {
        key: `mesh ${shape.mesh}`,
        make: () => meshGeometry(meshes[shape.mesh]),
        stretch: [1, 1, 1],
        middle,
        half: size.map((x) => 0.5 * x),
      };
    }
  }
}

function ball(radii, around) {
  return { key: "ball", make: () => new THREE.SphereGeometry(1, around, around * 0.75), stretch: radii, half: [0.8, 0.8, 0.8] };
}

function meshGeometry({ low, size, vertices, faces }) {
  const steps = numbersOf(vertices);
  const corners = numbersOf(faces);
  const points = new Float32Array(steps.length);
  for (let k = 0; k < steps.length; k++) points[k] = low[k % 3] + (size[k % 3] * steps[k]) / 65535;
  return creased(points, corners);
}

// Triangles with normals that are smooth over the surface and break at its edges.
export function creased(points, faces) {
  const count = faces.length / 3;
  const normals = new Float32Array(3 * count);
  const [a, b, c] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
  const areas = new Float32Array(count);
  const around = new Map();
  for (let f = 0; f < count; f++) {
    [a, b, c].forEach((x, k) => x.fromArray(points, 3 * faces[3 * f + k]));
    b.sub(a).cross(c.sub(a));
    areas[f] = b.length();
    b.normalize().toArray(normals, 3 * f);
    for (let k = 0; k < 3; k++) {
      const v = faces[3 * f + k];
      if (!around.has(v)) around.set(v, []);
      around.get(v).push(f);
    }
  }
  const position = new Float32Array(9 * count);
  const normal = new Float32Array(9 * count);
  for (let f = 0; f < count; f++) {
    a.fromArray(normals, 3 * f);
    for (let k = 0; k < 3; k++) {
      const v = faces[3 * f + k];
      c.set(0, 0, 0);
      for (const g of around.get(v)) {
        b.fromArray(normals, 3 * g);
        const alike = a.dot(b); // triangles of careless meshes may face inward
        if (Math.abs(alike) > CREASE) c.addScaledVector(b, Math.sign(alike) * areas[g]);
      }
      if (c.lengthSq() === 0) c.copy(a);
      c.normalize().toArray(normal, 9 * f + 3 * k);
      for (let i = 0; i < 3; i++) position[9 * f + 3 * k + i] = points[3 * v + i];
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(position, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(normal, 3));
  return geometry;
}
