/** Calls that come in bursts, made at a bearable rate: the newest always counts in the end. */

/**
 * A function that calls on, at once where it was quiet, and at most every so many milliseconds; of calls that come between,
 * the last is made when its time has come. Nothing runs while nobody calls.
 * @template {unknown[]} A
 * @param {number} everyMs
 * @param {(...values: A) => void} run
 * @returns {(...values: A) => void}
 */
export function paced(everyMs, run) {
  /** @type {A | null} */
  let waiting = null;
  let resting = false;
  const rest = () => {
    resting = true;
    setTimeout(() => {
      resting = false;
      if (!waiting) return;
      const values = waiting;
      waiting = null;
      rest();
      run(...values);
    }, everyMs);
  };
  return (...values) => {
    if (resting) {
      waiting = values;
      return;
    }
    rest();
    run(...values);
  };
}

/** Real milliseconds between moves of what counts on by itself: the clock and the countdowns. Nobody reads faster. */
export const TICK_MS = 80;

/**
 * Milliseconds until what waits for a gap is let through again, as `atMostEvery` counts them.
 * @param {number} timeMs
 * @param {number} gapMs
 */
export function untilNext(timeMs, gapMs) {
  return gapMs - (timeMs % gapMs);
}

/**
 * Whether it is time again, for what is asked in every frame. All that wait for the same gap are let through in the same
 * frame, so that the page is laid out once for them.
 * @param {number} gapMs
 * @returns {(timeMs: number) => boolean} true once in each gap, at the first time it is asked
 */
export function atMostEvery(gapMs) {
  let last = -1;
  return (timeMs) => {
    const gap = Math.floor(timeMs / gapMs);
    if (gap === last) return false;
    last = gap;
    return true;
  };
}
