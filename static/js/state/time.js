/**
 * What time it is in a session: the function of controllers/log/sessiontime.py, told again for the browser.
 * tests/golden/time/cases.json holds both.
 * @typedef {import("../lib/types.d.ts").Clock} Clock
 */

/** How far time is carried on beyond the last news: simulated milliseconds, times the rate where that is above 1. */
const CARRY_MS = 3000;

/**
 * The time that a page shows next: it never goes back because the browser's clock is set back, and where time stands it is what the
 * owner has told, however far the page had carried it on.
 * @param {number} shownMs what it showed before
 * @param {Parameters<typeof sessionTimeMs>[0]} clock
 * @param {number} newestMs
 * @param {number} unixMs
 */
export function nextTimeMs(shownMs, clock, newestMs, unixMs) {
  const told = sessionTimeMs(clock, newestMs, unixMs);
  return clock?.paused ? told : Math.max(shownMs, told);
}

/**
 * Simulated milliseconds since the session began.
 * @param {Pick<Clock, "paused" | "rate" | "simTimeMs" | "anchorUnixMs"> & {carryRate?: number} | null} clock as its
 *   owner has told it; null before an owner has taken the session
 * @param {number} newestMs simulated time of the newest row of the log
 * @param {number} unixMs the real moment, on the server's clock
 */
export function sessionTimeMs(clock, newestMs, unixMs) {
  if (!clock) return newestMs;
  if (clock.paused) return Math.max(newestMs, clock.simTimeMs);
  const since = Math.max(0, unixMs - clock.anchorUnixMs);
  const carried = clock.simTimeMs + Math.floor(since * (clock.carryRate ?? clock.rate));
  const limit = Math.max(newestMs, clock.simTimeMs) + Math.floor(CARRY_MS * Math.max(1, clock.rate));
  return Math.max(newestMs, Math.min(carried, limit));
}
