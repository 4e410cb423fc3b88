/** What a node that is not well says on its tile, in order of weight: its state, then what becomes of its pods. Pure. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Trouble } from "../state/eviction.js" */
import { clockTime, number, text } from "../lib/text.js";

/**
 * Minutes and seconds that are left: 4:07.
 * @param {number} ms
 */
export function left(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/**
 * The state in which a node is, as upstream says it.
 * @param {Trouble} trouble
 * @param {number} nowMs simulated
 * @param {Lang} lang
 */
export function troubleHead({ ready, silent, pressure, sinceMs }, nowMs, lang) {
  const since = sinceMs === null ? "" : ` ${left(nowMs - sinceMs)}`;
  if (ready) return `${text(lang, ready === "Unknown" ? "trouble.unknown" : "stage.notReady")}${since}`;
  if (silent) return `${text(lang, "trouble.silent")}${since}`;
  return pressure.length ? text(lang, "trouble.pressure", { conditions: pressure.join(", ") }) : text(lang, "trouble.pushed");
}

/**
 * What becomes of its pods, a phrase each; "" where nothing does.
 * @param {Trouble} trouble
 * @param {number | null} nowMs simulated; null: say the hour instead of what is left until then
 * @param {number} epochMs
 * @param {Lang} lang
 */
export function troubleFate({ ready, leaving, staying, ending }, nowMs, epochMs, lang) {
  const parts = [];
  if (leaving) {
    const { n, atMs } = leaving;
    const due = nowMs !== null && atMs <= nowMs;
    parts.push(due || atMs === 0 ? text(lang, "trouble.leaveNow", { n: number(lang, n) })
      : nowMs === null ? text(lang, "trouble.leaveAt", { n: number(lang, n), time: clockTime(epochMs + atMs) })
        : text(lang, "trouble.leave", { n: number(lang, n), time: left(atMs - nowMs) }));
  }
  if (ending && ready === "Unknown") parts.push(text(lang, "trouble.ending", { n: number(lang, ending) }));
  if (staying && ready) parts.push(text(lang, "trouble.staying", { n: number(lang, staying) }));
  return parts.join("; ");
}
