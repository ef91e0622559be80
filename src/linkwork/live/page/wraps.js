// Muscles and cables around obstacles: their lines in the world, from the poses of the bodies. As view/paths.py draws them.

const PIECES_OF_ARC = 10;

// The points of a path, numbers in one row. segments: [{ from: [body, x], to: [body, x], wrap }], see live/save.py.
export function lineOf(segments, poses) {
  const line = [];
  let last = null;
  for (const { from, to, wrap } of segments) {
    const x = toWorld(poses, ...from), y = toWorld(poses, ...to);
    line.push(...x);
    if (wrap) {
      const { body, R, p } = wrap;
      const a = fromFrame(R, p, toBody(poses, body, x)), b = fromFrame(R, p, toBody(poses, body, y));
      for (const z of arcOf(wrap, a, b)) line.push(...toWorld(poses, body, inFrame(R, p, z)));
    }
    last = y;
  }
  return [...line, ...last];
}

function toWorld(poses, body, x) {
  if (body < 0) return x;
  const E = poses.subarray(16 * body, 16 * body + 16);
  return [0, 4, 8].map((k) => E[k] * x[0] + E[k + 1] * x[1] + E[k + 2] * x[2] + E[k + 3]);
}

function toBody(poses, body, x) {
  if (body < 0) return x;
  const E = poses.subarray(16 * body, 16 * body + 16), d = [x[0] - E[3], x[1] - E[7], x[2] - E[11]];
  return [0, 1, 2].map((k) => E[k] * d[0] + E[4 + k] * d[1] + E[8 + k] * d[2]);
}

function fromFrame(R, p, x) {
  const d = x.map((value, k) => value - p[k]);
  return [0, 1, 2].map((k) => R[k] * d[0] + R[3 + k] * d[1] + R[6 + k] * d[2]);
}

function inFrame(R, p, x) {
  return [0, 1, 2].map((k) => R[3 * k] * x[0] + R[3 * k + 1] * x[1] + R[3 * k + 2] * x[2] + p[k]);
}

// Points of the way from a to b that lie on the obstacle, or beside it; all in its frame.
function arcOf({ kind, radius, turn, begin }, a, b) {
  return (kind === "sphere" ? aroundSphere(radius, a, b) : aroundCylinder(radius, turn, begin, a, b)) || straightWay(a, b);
}

function aroundSphere(r, a, b) {
  const size = Math.hypot(...a), e = a.map((x) => x / size), along = dotOf(b, e);
  const rest = b.map((x, k) => x - along * e[k]), aside = Math.hypot(...rest);
  const { arc } = wayAround(dotOf(a, a), dotOf(b, b), Math.atan2(aside, along), r);
  if (!(arc > 0 && aside > 0)) return null;
  return turnsOf(size, r, arc).map((t) => e.map((x, k) => r * (Math.cos(t) * x + (Math.sin(t) * rest[k]) / aside)));
}

function aroundCylinder(r, turn, begin, a, b) {
  const turned = Math.atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]);
  let sense = turn || (turned >= 0 ? 1 : -1);
  let along = sense * turned;
  if (turn && along < begin) along += 2 * Math.PI;
  const near = a[0] * a[0] + a[1] * a[1];
  const { arc, length } = wayAround(near, b[0] * b[0] + b[1] * b[1], Math.abs(along), r);
  if (!(arc > 0)) return null;
  if (along < 0) sense = -sense;
  const turns = turnsOf(Math.sqrt(near), r, arc), first = Math.atan2(a[1], a[0]);
  return turns.map((t) => {
    const phi = first + sense * t, gone = tangentTo(near, r) + r * (t - turns[0]);
    return [r * Math.cos(phi), r * Math.sin(phi), a[2] + ((b[2] - a[2]) * gone) / length];
  });
}

// Around a circle between points of squared distances, an angle apart; the arc is negative where the straight line passes by.
function wayAround(a2, b2, angle, r) {
  const [s, t] = [tangentTo(a2, r), tangentTo(b2, r)], arc = angle - Math.atan2(s, r) - Math.atan2(t, r);
  return { arc, length: s + t + r * arc };
}

function tangentTo(x2, r) {
  return Math.sqrt(Math.max(x2 - r * r, 0));
}

function turnsOf(distance, r, arc) {
  const first = Math.atan2(tangentTo(distance * distance, r), r);
  return Array.from({ length: PIECES_OF_ARC + 1 }, (_, k) => first + (arc * k) / PIECES_OF_ARC);
}

function straightWay(a, b) {
  return Array.from({ length: PIECES_OF_ARC + 1 }, (_, k) => a.map((x, i) => x + ((b[i] - x) * (k + 1)) / (PIECES_OF_ARC + 2)));
}

function dotOf(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
