// Poses of bodies in rows of numbers: seven a body (position, quaternion w x y z), or twelve (a matrix 3 x 4 by rows).

export function setMatrix(matrix, row, body, width) {
  const k = width * body;
  if (width === 12) return matrix.set(...row.subarray(k, k + 12), 0, 0, 0, 1);
  const place = new THREE.Vector3(row[k], row[k + 1], row[k + 2]);
  return matrix.compose(place, new THREE.Quaternion(row[k + 4], row[k + 5], row[k + 6], row[k + 3]), new THREE.Vector3(1, 1, 1));
}

// Between two rows: positions and matrices straight, rotations the short way.
export function between(out, a, b, s, width) {
  for (let k = 0; k < out.length; k++) out[k] = a[k] + s * (b[k] - a[k]);
  if (width !== 7) return out;
  for (let k = 3; k < out.length; k += 7) {
    let same = 0;
    for (let i = k; i < k + 4; i++) same += a[i] * b[i];
    const sign = same < 0 ? -1 : 1;
    let square = 0;
    for (let i = k; i < k + 4; i++) {
      out[i] = a[i] + s * (sign * b[i] - a[i]);
      square += out[i] ** 2;
    }
    const length = Math.sqrt(square) || 1;
    for (let i = k; i < k + 4; i++) out[i] /= length;
  }
  return out;
}
