// A hand that takes hold of a body: one of the handles of the model, which does not pull until then.

export function makeGrip(simulation) {
  const { manifest, numbers, poses, twists } = simulation;
  let held = null; // { handle, body, local, target }

  function write(stiffness, damping) {
    const { at } = held.handle;
    numbers(at.point, 3).set(held.local);
    numbers(at.stiffness, 1)[0] = stiffness;
    numbers(at.damping, 1)[0] = damping;
    numbers(at.target, 6).set([...held.target, 0, 0, 0]);
  }

  const grip = {
    get held() { return held !== null; },
    get body() { return held ? held.body : -1; },
    get target() { return held ? held.target : null; },

    // Take hold of a body at a point of the world.
    hold(body, point) {
      const handle = manifest.handles.find((x) => x.body === body);
      if (!handle) return false;
      grip.release();
      const E = poses.subarray(16 * body, 16 * body + 16);
      const d = [0, 1, 2].map((k) => point[k] - E[4 * k + 3]);
      const local = [0, 1, 2].map((k) => E[k] * d[0] + E[4 + k] * d[1] + E[8 + k] * d[2]);
      held = { handle, body, local, target: [...point] };
      grip.apply();
      return true;
    },

    // Where the hand is.
    pull(target) {
      held.target = [...target];
      grip.apply();
    },

    // After the memory was set anew, too.
    apply() { if (held) write(held.handle.stiffness, held.handle.damping); },

    release() {
      if (held) write(0, 0);
      held = null;
    },

    // The point of the body that is held, in the world.
    get point() {
      const E = poses.subarray(16 * held.body, 16 * held.body + 16), x = held.local;
      return [0, 1, 2].map((k) => E[4 * k] * x[0] + E[4 * k + 1] * x[1] + E[4 * k + 2] * x[2] + E[4 * k + 3]);
    },

    // The force on the body, k (y - x) - d x_dot, in the world.
    get force() {
      const E = poses.subarray(16 * held.body, 16 * held.body + 16), phi = twists.subarray(6 * held.body, 6 * held.body + 6);
      const [x, y, z] = held.local, at = grip.point, { stiffness, damping } = held.handle;
      const v = [phi[3] + phi[1] * z - phi[2] * y, phi[4] + phi[2] * x - phi[0] * z, phi[5] + phi[0] * y - phi[1] * x];
      return [0, 1, 2].map((k) => {
        const velocity = E[4 * k] * v[0] + E[4 * k + 1] * v[1] + E[4 * k + 2] * v[2];
        return stiffness * (held.target[k] - at[k]) - damping * velocity;
      });
    },
  };
  return grip;
}
