// A camera that goes round what it looks at: drag turns, shift or right drag shifts, wheel and pinch zoom.

const FIELD = 34; // degrees, of the height of the picture
const HIGHEST = 1.54; // radians above the horizon
const CLEARANCE = 0.02; // of its distance, that the camera stays above floors

export class Orbit {
  constructor(canvas, onChange) {
    this.camera = new THREE.PerspectiveCamera(FIELD, 1, 0.01, 1000);
    this.camera.up.set(0, 0, 1);
    this.target = new THREE.Vector3();
    this.offset = new THREE.Vector3(); // how far what it looks at has gone
    this.floors = []; // planes, each a point and a normal, that the camera stays above
    Object.assign(this, { azimuth: -1, elevation: 0.26, distance: 3, zoomed: false, enabled: true, onChange });
    this.pointers = new Map();
    canvas.addEventListener("pointerdown", (event) => this.down(canvas, event));
    canvas.addEventListener("pointermove", (event) => this.move(canvas, event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  get dragging() {
    return this.pointers.size > 0;
  }

  axes() {
    const [c, s] = [Math.cos(this.elevation), Math.sin(this.elevation)];
    const away = new THREE.Vector3(c * Math.cos(this.azimuth), c * Math.sin(this.azimuth), s);
    const right = new THREE.Vector3(-Math.sin(this.azimuth), Math.cos(this.azimuth), 0);
    return { away, right, up: new THREE.Vector3().crossVectors(away, right) };
  }

  apply() {
    const middle = this.target.clone().add(this.offset);
    for (const floor of this.floors) this.stayAbove(floor, middle);
    this.camera.position.copy(middle).addScaledVector(this.axes().away, this.distance);
    this.camera.lookAt(middle);
    this.camera.near = this.distance / 200;
    this.camera.far = this.distance * 60;
    this.camera.updateProjectionMatrix();
  }

  // Turns the view up until the camera is over a plane, at the distance that it has from the middle.
  stayAbove({ point, normal }, middle) {
    const { away } = this.axes();
    const height = normal.dot(middle) - normal.dot(point);
    const least = (CLEARANCE * this.distance - height) / this.distance; // of away, along the normal
    if (normal.dot(away) >= least) return;
    const along = Math.min(Math.sin(HIGHEST), least);
    const beside = away.clone().addScaledVector(normal, -normal.dot(away));
    if (beside.length() < 1e-9) beside.set(Math.cos(this.azimuth), Math.sin(this.azimuth), 0);
    away.copy(normal).multiplyScalar(along).addScaledVector(beside.normalize(), Math.sqrt(1 - along * along));
    this.azimuth = Math.atan2(away.y, away.x);
    this.elevation = Math.min(HIGHEST, Math.asin(Math.min(1, away.z)));
  }

  // Looks at all of some points from where it is, `zoom` times as near.
  fit(points, zoom = 1, keepTarget = false) {
    if (!points.length) return;
    const { away, right, up } = this.axes();
    const ends = [right, up, away].map((axis) => {
      let [low, high] = [Infinity, -Infinity];
      for (const x of points) {
        const along = x.dot(axis);
        low = Math.min(low, along);
        high = Math.max(high, along);
      }
      return [low, high];
    });
    if (!keepTarget) {
      this.target.set(0, 0, 0);
      [right, up, away].forEach((axis, k) => this.target.addScaledVector(axis, 0.5 * (ends[k][0] + ends[k][1])));
    }
    const tall = Math.tan((FIELD * Math.PI) / 360);
    const wide = tall * this.camera.aspect;
    let need = 0;
    const x = new THREE.Vector3();
    for (const point of points) {
      x.subVectors(point, this.target);
      const side = Math.max(Math.abs(x.dot(right)) / wide, Math.abs(x.dot(up)) / tall);
      need = Math.max(need, 1.1 * side + x.dot(away));
    }
    this.distance = need / zoom;
  }

  down(canvas, event) {
    if (!this.enabled) return;
    canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
  }

  move(canvas, event) {
    const before = this.pointers.get(event.pointerId);
    if (!before || !this.enabled) return;
    const [dx, dy] = [event.clientX - before[0], event.clientY - before[1]];
    if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
      const gap = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
      this.zoom(gap(before) / Math.max(1, gap([event.clientX, event.clientY])));
    } else if (event.shiftKey || event.buttons === 2 || event.buttons === 4) {
      const { right, up } = this.axes();
      const step = (2 * this.distance * Math.tan((FIELD * Math.PI) / 360)) / canvas.clientHeight;
      this.target.addScaledVector(right, -dx * step).addScaledVector(up, dy * step);
    } else {
      this.azimuth -= 0.008 * dx;
      this.elevation = Math.min(HIGHEST, Math.max(-HIGHEST, this.elevation + 0.006 * dy));
    }
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    this.zoomed = true;
    this.onChange();
  }

  wheel(event) {
    event.preventDefault();
    this.zoom(Math.exp(0.0012 * event.deltaY * (event.deltaMode ? 30 : 1)));
  }

  zoom(factor) {
    this.distance *= factor;
    this.zoomed = true;
    this.onChange();
  }
}
