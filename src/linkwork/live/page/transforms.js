// Poses as a renderer takes them: position and unit quaternion (w, x, y, z), seven numbers a body.

export function transformsOf(poses) {
  const count = poses.length / 16, out = new Float64Array(7 * count);
  for (let i = 0; i < count; i++) {
    const E = poses.subarray(16 * i, 16 * i + 16);
    out.set([E[3], E[7], E[11], ...quaternionOf(E)], 7 * i);
  }
  return out;
}

// Of a rotation, by its largest component: none is divided by a small number.
function quaternionOf(E) {
  const [a, b, c] = [E[0], E[5], E[10]];
  const squares = [1 + a + b + c, 1 + a - b - c, 1 - a + b - c, 1 - a - b + c];
  const largest = squares.indexOf(Math.max(...squares)), s = Math.sqrt(squares[largest]), k = 0.5 / s;
  const [x, y, z] = [E[9] - E[6], E[2] - E[8], E[4] - E[1]], [xy, xz, yz] = [E[1] + E[4], E[2] + E[8], E[6] + E[9]];
  return [
    [0.5 * s, k * x, k * y, k * z],
    [k * x, 0.5 * s, k * xy, k * xz],
    [k * y, k * xy, 0.5 * s, k * yz],
    [k * z, k * xz, k * yz, 0.5 * s],
  ][largest];
}
