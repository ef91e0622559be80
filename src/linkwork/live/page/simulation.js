// A model that is stepped by WebAssembly: numbers in memory, and calls of two programs.

// wasm, image: bytes. manifest: where everything is, see live/program.py.
export async function makeSimulation(wasm, image, manifest) {
  const m = manifest;
  const memory = new WebAssembly.Memory({ initial: m.memory.pages });
  const table = new WebAssembly.Table({ initial: m.table, element: "anyfunc" });
  const stack = new WebAssembly.Global({ value: "i32", mutable: true }, m.memory.stack);
  const env = { __linear_memory: memory, __indirect_function_table: table, __stack_pointer: stack };
  for (const name of m.imports) {
    if (typeof Math[name] !== "function") throw new Error(`the module needs ${name}, which this browser has not`);
    env[name] = Math[name];
  }
  const { instance } = await WebAssembly.instantiate(wasm, { env });
  const bytes = new Uint8Array(memory.buffer);
  const view = new DataView(memory.buffer);
  const numbers = (at, count) => new Float64Array(memory.buffer, at, count);
  const repeat = instance.exports.repeat;

  function run(program, times) {
    view.setBigInt64(program.count, BigInt(times), true);
    repeat(program.entries, 1n, program.bases);
  }

  const simulation = {
    manifest: m,
    numbers,
    poses: numbers(m.poses, 16 * m.bodies.length), // of all bodies, matrices row by row
    twists: numbers(m.twists, 6 * m.bodies.length), // angular and linear velocity, in body axes
    get time() { return view.getFloat64(m.at.t, true); },
    state(name) { return numbers(...m.state[name]); },

    // Go on by some steps; poses and twists are those of before until one looks.
    go(count) { if (count > 0) run(m.step, count * m.passes); },

    // Go on by some steps, and look.
    step(count = 1) {
      simulation.go(count);
      simulation.look();
    },

    // Poses and twists of the present state.
    look() { if (m.kinematics) run(m.kinematics, 1); },

    // Whether all velocities are numbers.
    get finite() { return numbers(...(m.state.v || m.state.twists)).every(Number.isFinite); },

    // Back to the start, bit by bit; `keep` is called to set what shall not go back.
    reset(keep = () => {}) {
      bytes.fill(0);
      bytes.set(image, m.memory.start);
      keep();
      simulation.look();
    },
  };
  simulation.reset();
  return simulation;
}
