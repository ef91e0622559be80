// Shapes by the hundred: all of one form are one mesh with many places.

import { formOf } from "./forms.js";
import { STONE, linear } from "./shades.js";

const FINE = 60; // shapes that are drawn with many faces

export class Batches {
  // bodies: of the description; matrices: one for every body and a last one for the world.
  constructor(description, matrices) {
    this.matrices = matrices;
    this.group = new THREE.Group();
    this.all = new Map();
    this.hidden = new Set();
    this.only = null;
    const fine = description.shapes.length <= FINE;
    for (const shape of description.shapes) this.gather(shape, formOf(shape, description.meshes, fine), description.bodies);
    for (const batch of this.all.values()) this.group.add(this.built(batch));
  }

  gather(shape, form, bodies) {
    const opacity = shape.layer === "collision" ? 0.35 : (shape.opacity ?? 1);
    const key = `${form.key} ${shape.layer} ${opacity}`;
    if (!this.all.has(key)) this.all.set(key, { form, layer: shape.layer, opacity, places: [] });
    const plain = shape.body < 0 ? STONE : bodies[shape.body].color;
    const [x, y, z, qw, qx, qy, qz] = shape.pose;
    const local = new THREE.Matrix4().compose(
      new THREE.Vector3(x, y, z), new THREE.Quaternion(qx, qy, qz, qw), new THREE.Vector3(...form.stretch));
    this.all.get(key).places.push({ body: shape.body, name: shape.name, local, color: shape.color || plain, corners: corners(form, local) });
  }

  built(batch) {
    const { form, places, opacity, layer } = batch;
    batch.material = new THREE.MeshStandardMaterial({ roughness: 0.62, metalness: 0.05, side: form.key.startsWith("mesh") ? THREE.DoubleSide : THREE.FrontSide });
    if (opacity < 1) Object.assign(batch.material, { transparent: true, opacity, depthWrite: false });
    batch.mesh = instances(form.make(), batch.material, places.length);
    batch.mesh.castShadow = batch.mesh.receiveShadow = opacity === 1;
    batch.mesh.visible = layer === "visual";
    places.forEach(({ color }, k) => batch.mesh.setColorAt(k, linear(color)));
    batch.mesh.userData.places = places;
    return batch.mesh;
  }

  setLayer(layer, on) {
    for (const batch of this.all.values()) if (batch.layer === layer) batch.mesh.visible = on;
  }

  shown(body) {
    return !this.hidden.has(body) && (this.only === null || this.only.has(body));
  }

  // Moves everything to where the bodies are.
  place() {
    const nothing = new THREE.Matrix4().makeScale(0, 0, 0);
    const at = new THREE.Matrix4();
    for (const { mesh, places } of this.all.values()) {
      if (!mesh.visible) continue;
      places.forEach(({ body, local }, k) => {
        if (this.shown(body)) mesh.setMatrixAt(k, at.multiplyMatrices(this.matrixOf(body), local));
        else mesh.setMatrixAt(k, nothing);
      });
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  matrixOf(body) {
    return this.matrices[body < 0 ? this.matrices.length - 1 : body];
  }

  // Corners of the boxes around all shapes that are shown, as they lie now, in pieces of one body each.
  *points() {
    for (const { mesh, places } of this.all.values()) {
      if (!mesh.visible) continue;
      for (const { body, corners } of places) yield { body, points: corners.map((x) => x.clone().applyMatrix4(this.matrixOf(body))) };
    }
  }

  // Pale copies at other moments; each moment is a list of matrices like ours.
  ghosts(moments) {
    const group = new THREE.Group();
    const at = new THREE.Matrix4();
    for (const { mesh, places, layer, opacity } of this.all.values()) {
      const moving = places.filter(({ body }) => body >= 0);
      if (layer !== "visual" || opacity < 1 || !moving.length) continue;
      moments.forEach((matrices, m) => {
        const strength = 0.12 + (0.3 * m) / Math.max(1, moments.length - 1);
        const material = new THREE.MeshStandardMaterial({ roughness: 0.7, transparent: true, opacity: strength, depthWrite: true });
        const copy = instances(mesh.geometry, material, moving.length);
        moving.forEach(({ body, local, color }, k) => {
          copy.setMatrixAt(k, at.multiplyMatrices(matrices[body], local));
          copy.setColorAt(k, linear(color));
        });
        group.add(copy);
      });
    }
    return group;
  }
}

function corners({ middle = [0, 0, 0], half }, local) {
  return [0, 1, 2, 3, 4, 5, 6, 7].map((bits) =>
    new THREE.Vector3(...middle.map((x, k) => x + ((bits >> k) & 1 ? half[k] : -half[k]))).applyMatrix4(local));
}

export function instances(geometry, material, count) {
  const mesh = new THREE.InstancedMesh(geometry, material, count);
  mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
  mesh.frustumCulled = false;
  return mesh;
}
