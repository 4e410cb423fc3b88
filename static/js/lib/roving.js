/** Where an arrow leads within a toolbar, all of which is one stop of Tab. Pure. */

/**
 * Right and Left go along every control, Down and Up along the main ones alone, Home and End to the ends.
 * @param {readonly boolean[]} controls whether each is a main one, in their order
 * @param {number} at the one that has the keyboard
 * @param {string} key as KeyboardEvent.key has it
 * @returns {number} -1 where the key means nothing here, or leads nowhere
 */
export function roam(controls, at, key) {
  const all = controls.map((_, index) => index);
  const main = all.filter((index) => controls[index]);
  switch (key) {
    case "ArrowRight": return all[at + 1] ?? -1;
    case "ArrowLeft": return all[at - 1] ?? -1;
    case "ArrowDown": return main.find((index) => index > at) ?? -1;
    case "ArrowUp": return main.findLast((index) => index < at) ?? -1;
    case "Home": return all[0] ?? -1;
    case "End": return main.at(-1) ?? -1;
    default: return -1;
  }
}
