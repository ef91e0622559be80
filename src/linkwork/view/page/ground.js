// The ground: planes with a fine grid that end in the haze, and light that casts soft shadows on them.

import { cssColour } from "./shades.js";

const CELL = 256; // pixels of the picture of one cell
const FLOOR_SLOPE = 0.5; // cosine: planes less steep than 60 degrees are floors, others walls

export class Ground {
  // planes: of the description; floor: height of a floor where there are none; size: of the scene.
  constructor(planes, floor, size, middle) {
    this.group = new THREE.Group();
    this.moving = [];
    this.floors = []; // the planes that bodies stand on: a camera below them would see nothing
    this.spacing = roundStep(size / 8);
    const wide = 40 * size;
    this.texture = new THREE.CanvasTexture(gridPicture());
    this.texture.wrapS = this.texture.wrapT = THREE.RepeatWrapping;
    this.texture.encoding = THREE.sRGBEncoding;
    this.texture.anisotropy = 8;
    this.texture.repeat.setScalar((2 * wide) / this.spacing);
    this.material = new THREE.MeshBasicMaterial({ map: this.texture, side: THREE.DoubleSide });
    this.shade = new THREE.ShadowMaterial({ opacity: 0.26, polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -1 });
    const all = planes.length ? planes : [{ body: -1, point: [0, 0, floor], normal: [0, 0, 1] }];
    for (const { body, point, normal } of all) {
      const form = new THREE.PlaneGeometry(2 * wide, 2 * wide);
      const mesh = new THREE.Mesh(form, this.material);
      const shadow = new THREE.Mesh(form, this.shade);
      shadow.receiveShadow = true;
      mesh.add(shadow);
      const n = new THREE.Vector3(...normal);
      const at = new THREE.Vector3(...point);
      if (body < 0 && n.z > FLOOR_SLOPE) this.floors.push({ point: at.clone(), normal: n });
      if (body < 0) { // in the middle of things, in whole cells
        const near = middle.clone().sub(at);
        at.add(near.addScaledVector(n, -near.dot(n)).divideScalar(this.spacing).round().multiplyScalar(this.spacing));
      }
      const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), n);
      mesh.matrixAutoUpdate = false;
      mesh.matrix.compose(at, turn, new THREE.Vector3(1, 1, 1));
      this.group.add(mesh);
      if (body >= 0) this.moving.push({ mesh, body, local: mesh.matrix.clone() });
    }
  }

  place(matrices) {
    for (const { mesh, body, local } of this.moving) {
      mesh.matrix.multiplyMatrices(matrices[body], local);
      mesh.matrixWorldNeedsUpdate = true;
    }
  }

  repaint() {
    this.texture.image = gridPicture();
    this.texture.needsUpdate = true;
  }
}

function gridPicture() {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = CELL;
  const context = canvas.getContext("2d");
  context.fillStyle = cssColour("--ground");
  context.fillRect(0, 0, CELL, CELL);
  context.strokeStyle = cssColour("--line");
  context.lineWidth = 3;
  context.strokeRect(0, 0, CELL, CELL);
  return canvas;
}

// 1, 2 or 5 times a power of ten, not above x.
export function roundStep(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return power * [5, 2, 1].find((k) => k * power <= x * (1 + 1e-9));
}

// Sky, sun and a weak light from the other side; the sun's shadows cover a ball.
export class Light {
  // pixels: of the picture, which decide how fine shadows are.
  constructor(scene, pixels) {
    this.sky = new THREE.HemisphereLight(0xffffff, 0x8a8f98, 0.62);
    this.sun = new THREE.DirectionalLight(0xfff4e6, 0.78);
    this.fill = new THREE.DirectionalLight(0xdfeaff, 0.22);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.setScalar(pixels > 400000 ? 2048 : 1024);
    this.sun.shadow.radius = 5;
    scene.add(this.sky, this.sun, this.sun.target, this.fill);
    this.scene = scene;
  }

  cover(middle, reach, azimuth) {
    const from = new THREE.Vector3(Math.cos(azimuth + 0.9) * 0.75, Math.sin(azimuth + 0.9) * 0.75, 1.35).normalize();
    this.from = from.clone().multiplyScalar(3 * reach);
    this.middle = middle.clone();
    this.move(new THREE.Vector3());
    this.fill.position.set(-from.x, -from.y, 0.4);
    const box = this.sun.shadow.camera;
    Object.assign(box, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.2 * reach, far: 6 * reach });
    box.updateProjectionMatrix();
    this.sun.shadow.bias = -0.003;
  }

  // Goes with what it shines on.
  move(offset) {
    this.sun.target.position.copy(this.middle).add(offset);
    this.sun.position.copy(this.sun.target.position).add(this.from);
    this.sun.target.updateMatrixWorld();
  }

  // The colours of the theme; haze from some distance on.
  repaint(distance) {
    const sky = new THREE.Color(cssColour("--sky")); // as it is: three.js adds both after its conversion to sRGB
    this.scene.background = sky;
    this.scene.fog = new THREE.Fog(sky, 1.6 * distance, 7 * distance);
  }
}
