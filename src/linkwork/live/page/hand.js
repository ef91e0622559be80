// The mouse as a hand: a body that is pressed upon is held, and an arrow shows the force that pulls it.

import { Arrow } from "./arrow.js";
import { byId } from "./dom.js";

const NEAR = 18; // pixels: so far beside a thin body one still takes hold of it

export class Hand {
  // onChange is called when something was taken hold of, pulled or let go.
  constructor(scene, grip, onChange) {
    Object.assign(this, { scene, grip, onChange, pointer: null, plane: new THREE.Plane(), arrow: new Arrow(scene.size) });
    scene.world.add(this.arrow.group);
    const { container } = scene; // before the camera hears of it
    container.addEventListener("pointerdown", (event) => this.down(event), true);
    container.addEventListener("pointermove", (event) => this.move(event), true);
    for (const name of ["pointerup", "pointercancel"]) container.addEventListener(name, (event) => this.up(event), true);
  }

  down(event) {
    if (event.target !== this.scene.canvas || event.button !== 0 || event.shiftKey || this.pointer !== null) return;
    const found = this.scene.pick(event.clientX, event.clientY) || this.beside(event.clientX, event.clientY);
    if (!found || found.body < 0 || !this.grip.hold(found.body, found.point.toArray())) return;
    event.stopPropagation();
    this.scene.canvas.setPointerCapture(event.pointerId);
    this.pointer = event.pointerId;
    this.plane.setFromNormalAndCoplanarPoint(this.scene.orbit.axes().away, found.point);
    byId("hover").hidden = true;
    this.onChange();
  }

  move(event) {
    if (event.pointerId !== this.pointer) return;
    event.stopPropagation();
    const at = this.ray(event.clientX, event.clientY).intersectPlane(this.plane, new THREE.Vector3());
    if (at) this.grip.pull(at.toArray());
    this.onChange();
  }

  up(event) {
    if (event.pointerId !== this.pointer) return;
    event.stopPropagation();
    this.pointer = null;
    this.grip.release();
    this.onChange();
  }

  ray(clientX, clientY) {
    const { scene } = this;
    const box = scene.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2);
    scene.picker.setFromCamera(at, scene.orbit.camera);
    return scene.picker.ray;
  }

  // The body whose centre of mass is nearest on the screen, if it is near.
  beside(clientX, clientY) {
    const { scene } = this;
    const box = scene.canvas.getBoundingClientRect();
    let best = null;
    scene.description.bodies.forEach(({ com, name }, body) => {
      const point = new THREE.Vector3(...com).applyMatrix4(scene.matrices[body]);
      const seen = point.clone().project(scene.orbit.camera);
      const dx = box.left + ((seen.x + 1) / 2) * box.width - clientX;
      const dy = box.top + ((1 - seen.y) / 2) * box.height - clientY;
      const far = Math.hypot(dx, dy);
      if (far < NEAR && (!best || far < best.far)) best = { body, name, point, far };
    });
    return best;
  }

  // Draws the force; called after bodies were posed.
  place() {
    const { grip, arrow } = this;
    const label = byId("force");
    label.hidden = !grip.held;
    if (grip.held) {
      const size = Math.hypot(...grip.force);
      label.textContent = `${this.scene.description.bodies[grip.body].name}: ${size < 10 ? size.toFixed(2) : size.toFixed(0)} N`;
    }
    arrow.place(grip.held ? grip.point : null, grip.target);
  }
}
