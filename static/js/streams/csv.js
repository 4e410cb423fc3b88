/** The charts' data as CSV, one table a chart; the first columns are simulated time and resourceVersion. Pure. */

/** @import { Column, Mark, Sample, Shape } from "./recorder.js" */
import { isBound, preemptionsOf } from "./marks.js";
import { fits } from "./recorder.js";

/** @typedef {readonly (string | number | null | undefined)[]} Row */
/** @typedef {{head: string[], rows: Row[]}} Table */

/**
 * RFC 4180. A text that a spreadsheet would take for a formula is given an apostrophe: names come from people.
 * @param {Table} table
 */
export function csvOf({ head, rows }) {
  return [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** @param {string | number | null | undefined} value */
function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(Math.round(value * 1000) / 1000);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/**
 * @param {readonly Sample[]} samples
 * @param {(t: number) => string} time
 * @returns {Table}
 */
export function queueTable(samples, time) {
  return {
    head: ["simulatedTime", "resourceVersion", "active", "backoff", "unschedulable", "halfWaitLongerSeconds", "oneIn20WaitsLongerSeconds"],
    rows: samples.filter((one) => one.active !== null)
      .map((one) => [time(one.t), one.revision, one.active, one.backoff, one.unschedulable, one.half, one.twentieth]),
  };
}

/**
 * @param {readonly Mark[]} marks
 * @param {(t: number) => string} time
 * @returns {Table}
 */
export function scoresTable(marks, time) {
  return {
    head: ["simulatedTime", "resourceVersion", "pod", "attempt", "node", "points", "feasibleNodes", "nodesWithThesePoints"],
    rows: marks.filter(isBound).map((one) =>
      [time(one.simTimeMs), one.revision, one.pod, one.attempt, one.node, one.points, one.feasible, one.best ?? 1]),
  };
}

/**
 * @param {readonly Mark[]} marks
 * @param {(t: number) => string} time
 * @returns {Table}
 */
export function preemptionsTable(marks, time) {
  return {
    head: ["simulatedTime", "resourceVersion", "pod", "node", "criterion", "candidates", "victims"],
    rows: preemptionsOf(marks).map((one) => [
      time(one.simTimeMs), one.revision, one.pod, one.preemption?.node, one.preemption?.criterion,
      one.preemption?.candidates, one.preemption?.victims.join(" "),
    ]),
  };
}

/**
 * @param {readonly Column[]} columns
 * @param {Shape} shape
 * @param {(t: number) => string} time
 * @returns {Table}
 */
export function utilisationTable(columns, shape, time) {
  return {
    head: ["simulatedTime", "resourceVersion", "node", "cpuAllocatedPercent", "moreOfTheShapeFit"],
    rows: columns.flatMap((column) => {
      const more = fits(column, shape);
      return column.names.map((name, index) =>
        [time(column.t), column.revision, name, (column.share[index] ?? 0) * 100, more[index]]);
    }),
  };
}
