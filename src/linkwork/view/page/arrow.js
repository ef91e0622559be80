// From a point of a body to the hand that pulls it.

import { linear } from "./shades.js";

const PULL = [0.86, 0.25, 0.2];

export class Arrow {
  constructor(size) {
    const material = new THREE.MeshStandardMaterial({ color: linear(PULL), roughness: 0.5, transparent: true, depthTest: false }); // seen through bodies
    this.radius = 0.005 * size;
    this.rod = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5), material);
    this.head = new THREE.Mesh(new THREE.ConeGeometry(2.6 * this.radius, 7 * this.radius, 16).rotateX(Math.PI / 2), material);
    this.end = new THREE.Mesh(new THREE.SphereGeometry(2 * this.radius, 16, 12), material);
    this.group = new THREE.Group();
    for (const mesh of [this.rod, this.head, this.end]) mesh.renderOrder = 1;
    this.group.add(this.rod, this.head, this.end);
    this.group.visible = false;
  }

  // Three numbers each; without a beginning there is no arrow.
  place(from, to) {
    this.group.visible = Boolean(from);
    if (!from) return;
    const a = new THREE.Vector3(...from), b = new THREE.Vector3(...to), way = b.clone().sub(a), length = way.length();
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), length > 0 ? way.divideScalar(length) : new THREE.Vector3(0, 0, 1));
    this.rod.position.copy(a);
    this.rod.quaternion.copy(turn);
    this.rod.scale.set(this.radius, this.radius, Math.max(length, 1e-9));
    this.head.position.copy(b);
    this.head.quaternion.copy(turn);
    this.head.visible = length > 8 * this.radius;
    this.end.position.copy(a);
  }
}
