// Simulated time that keeps up with the clock on the wall, as far as the processor allows.

const LONGEST = 0.1; // s: a page that was hidden does not catch up
const MEASURED = 0.9; // of the last speeds, in the mean that is shown

export function makeClock(simulation, now = () => performance.now()) {
  const { dt } = simulation.manifest;
  let owed = 0; // s, of simulated time
  let pace = 1; // simulated seconds in a second, as asked for
  let factor = null; // and as it is
  let perStep = null; // ms

  return {
    get pace() { return pace; },
    set pace(value) { pace = value; },
    get factor() { return factor; },
    get perStep() { return perStep; },

    // Step for so long on the wall (s), in no more than a budget of time (ms); how many steps were taken.
    advance(seconds, budget = 24) {
      const wall = Math.min(seconds, LONGEST);
      owed += wall * pace;
      const wanted = Math.floor(owed / dt + 1e-9);
      if (!wanted) return 0;
      const begin = now(), end = begin + budget;
      let done = 0, chunk = perStep ? Math.max(1, Math.floor(budget / 4 / perStep)) : 1;
      while (done < wanted && (done === 0 || now() < end)) {
        const count = Math.min(chunk, wanted - done);
        simulation.go(count);
        done += count;
        chunk *= 2;
        if (perStep) chunk = Math.max(1, Math.min(chunk, Math.floor(budget / 2 / perStep)));
      }
      simulation.look();
      const spent = now() - begin, each = spent / done;
      perStep = perStep === null ? each : MEASURED * perStep + (1 - MEASURED) * each;
      owed = done < wanted ? 0 : owed - done * dt;
      const reached = done < wanted ? (done * dt) / wall : pace;
      factor = factor === null ? reached : MEASURED * factor + (1 - MEASURED) * reached;
      return done;
    },

    reset() { owed = 0; },
  };
}
