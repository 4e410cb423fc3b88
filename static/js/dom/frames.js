/** Pictures that are painted while there is something to paint: a page on which nothing moves asks for no frame. */

/**
 * Call `paint` before the browser's next picture, and again as long as it asks for it.
 * @param {(timeMs: number) => number} paint answers after how many milliseconds it wants to be called again: 0 before the
 *   next picture, Infinity not until it is woken
 * @returns {{wake: () => void, stop: () => void}} `wake`: something has changed; `stop`: for good
 */
export function makeFrames(paint) {
  let frame = 0;
  let stopped = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function wake() {
    clearTimeout(timer);
    if (!frame && !stopped) frame = requestAnimationFrame(loop);
  }

  /** @param {number} timeMs */
  function loop(timeMs) {
    frame = 0;
    const restMs = paint(timeMs);
    if (restMs <= 0) wake();
    // What was painted may itself have woken it.
    else if (!frame && restMs < Infinity) timer = setTimeout(wake, restMs);
  }

  wake();
  return {
    wake,
    stop() {
      stopped = true;
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    },
  };
}
