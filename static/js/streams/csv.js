/** The charts' data as tables, one a chart; the first columns are simulated time and resourceVersion. Pure. */

/** @import { Table } from "../lib/csv.js" */
/** @import { Column, Mark, Sample, Shape } from "./recorder.js" */
import { isBound, preemptionsOf } from "./marks.js";
import { fits } from "./recorder.js";

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
