// A tube through points that move.

export class Tube {
  constructor(count, material, around = 10) {
    this.count = count;
    this.around = around;
    const corners = [];
    for (let i = 0; i < count - 1; i++) {
      for (let j = 0; j < around; j++) {
        const [a, b] = [i * around + j, i * around + ((j + 1) % around)];
        corners.push(a, b, a + around, b, b + around, a + around);
      }
    }
    const geometry = new THREE.BufferGeometry();
    for (const name of ["position", "normal"]) geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * count * around), 3));
    geometry.setIndex(corners);
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
  }

  // points: vectors, as many as there are rings; radius: of ring i.
  update(points, radius) {
    const { count, around } = this;
    const { position, normal } = this.mesh.geometry.attributes;
    const [along, side, up, out] = [0, 1, 2, 3].map(() => new THREE.Vector3());
    side.set(0.31, 0.83, 0.47);
    for (let i = 0; i < count; i++) {
      along.subVectors(points[Math.min(i + 1, count - 1)], points[Math.max(i - 1, 0)]);
      if (along.lengthSq() === 0) along.set(0, 0, 1);
      along.normalize();
      side.addScaledVector(along, -side.dot(along));
      if (side.lengthSq() < 1e-12) side.set(along.y, along.z, along.x).cross(along);
      side.normalize();
      up.crossVectors(along, side);
      const r = radius(i);
      for (let j = 0; j < around; j++) {
        const angle = (2 * Math.PI * j) / around;
        out.copy(side).multiplyScalar(Math.cos(angle)).addScaledVector(up, Math.sin(angle));
        const k = i * around + j;
        normal.setXYZ(k, out.x, out.y, out.z);
        out.multiplyScalar(r).add(points[i]);
        position.setXYZ(k, out.x, out.y, out.z);
      }
    }
    position.needsUpdate = normal.needsUpdate = true;
  }
}

// A line as so many points, evenly spaced along it.
export function resampled(points, count) {
  const ends = [0];
  for (let k = 1; k < points.length; k++) ends.push(ends[k - 1] + points[k].distanceTo(points[k - 1]));
  const whole = ends[ends.length - 1] || 1;
  const found = [];
  let k = 1;
  for (let i = 0; i < count; i++) {
    const s = (whole * i) / (count - 1);
    while (k < points.length - 1 && ends[k] < s) k++;
    const step = ends[k] - ends[k - 1];
    found.push(points[k - 1].clone().lerp(points[k], step > 0 ? (s - ends[k - 1]) / step : 0));
  }
  return found;
}
