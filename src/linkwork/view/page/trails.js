// The recent ways of bodies, thinner the older they are.

import { linear } from "./shades.js";
import { Tube } from "./tube.js";

const POINTS = 80;

export class Trails {
  constructor(description, size) {
    this.group = new THREE.Group();
    this.radius = 0.006 * size;
    this.all = description.trails.map((body) => {
      const { com, color } = description.bodies[body];
      const material = new THREE.MeshStandardMaterial({ color: linear(color), transparent: true, opacity: 0.5, depthWrite: false });
      const tube = new Tube(POINTS, material, 5);
      this.group.add(tube.mesh);
      return { body, com: new THREE.Vector3(...com), tube };
    });
  }

  // ways: for every trail its points, the newest last.
  update(ways) {
    this.all.forEach(({ tube }, k) => {
      tube.mesh.visible = ways[k].length > 1;
      if (!tube.mesh.visible) return;
      const way = ways[k].slice(-POINTS);
      const points = Array.from({ length: POINTS }, (_, i) => way[Math.max(0, i - POINTS + way.length)]);
      tube.update(points, (i) => this.radius * (i / POINTS) ** 0.7);
    });
  }
}
