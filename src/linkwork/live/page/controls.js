// Sliders and switches: numbers in memory that are base * value, or zero where a switch is off; see live/controls.py.

export function makeControls(simulation) {
  const list = simulation.manifest.controls.map((control) => ({
    ...control,
    first: control.value,
    numbers: control.places.map(({ at, base }) => {
      const memory = simulation.numbers(at, base.length);
      return { memory, base, initial: memory.slice() };
    }),
  }));

  function write({ value, first, numbers }) {
    for (const { memory, base, initial } of numbers) {
      if (value === first) memory.set(initial); // the same bits as at the start
      else base.forEach((x, k) => { memory[k] = x * value; });
    }
  }

  // Switches that are off come last: a slider does not turn on what they turned off.
  function apply() {
    for (const control of list) if (control.kind === "switch") write({ ...control, value: true, first: true });
    for (const control of list) if (control.kind === "slider") write(control);
    for (const control of list) if (control.kind === "switch" && !control.value) control.numbers.forEach((x) => x.memory.fill(0));
  }

  return {
    list,
    apply,
    set(label, value) {
      const control = list.find((x) => x.label === label);
      if (!control) throw new Error(`there is no control ${label}`);
      control.value = control.kind === "slider" ? Math.min(control.high, Math.max(control.low, value)) : Boolean(value);
      apply();
    },
    restore() {
      for (const control of list) control.value = control.first;
      apply();
    },
  };
}
