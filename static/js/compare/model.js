/** What a comparison asks for and what its answer says. Pure. */

/** @import { Compared, CompareAsk, CompareRow, CompareSums, View } from "../lib/types.d.ts" */
/** @import { Table } from "../lib/csv.js" */
import { objectAt, objectsOf } from "../state/selectors.js";

/**
 * What a person has chosen for one side.
 * @typedef {object} Side
 * @property {string} kind `now`, `weights`, `yaml`, or `era:<name>`
 * @property {Readonly<Record<string, number>>} weights by plugin, those that were moved
 * @property {string} without a plugin that is left out
 * @property {string} yaml
 */

/** @type {Side} */
export const AS_IT_IS = { kind: "now", weights: {}, without: "", yaml: "" };

/** The other side begins where something can be moved: two that are the same have nothing to tell. @type {Side} */
export const MOVED = { ...AS_IT_IS, kind: "weights" };

/** What may come: pods that wait, all pods anew, the last arrivals. */
export const INPUTS = /** @type {const} */ (["now", "anew", "20", "40", "100"]);

/**
 * What is compared while nobody has chosen: the pods that wait, or all of them where none does.
 * @param {View} view
 * @returns {typeof INPUTS[number]}
 */
export function inputOf(view) {
  for (const pod of objectsOf(view, "pods").values())
    if (!pod.spec?.["nodeName"] && !pod.metadata.deletionTimestamp) return "now";
  return "anew";
}

/** Nodes in the chart; of more those that differ most. */
export const NODES_MAX = 40;

/**
 * The plugins of the profiles that run, each once with the weight of the first profile that has it; 0: it does not score.
 * @param {View} view
 * @returns {{name: string, weight: number}[]}
 */
export function pluginsOf(view) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const { plugins } of objectAt(view, "schedulerconfigs.clustersim.io", "default")?.status?.["profiles"] ?? [])
    for (const { name, weight, points } of plugins)
      if (!found.has(name)) found.set(name, points.includes("score") ? (weight || 1) : 0);
  return [...found].map(([name, weight]) => ({ name, weight }));
}

/**
 * @param {Side} side
 * @param {readonly {name: string, weight: number}[]} plugins
 * @returns {Record<string, unknown>[]}
 */
export function changesOf(side, plugins) {
  if (side.kind.startsWith("era:")) return [{ scheduler: { era: side.kind.slice("era:".length) } }];
  if (side.kind === "yaml") return side.yaml.trim() ? [{ scheduler: side.yaml }] : [];
  if (side.kind !== "weights") return [];
  /** @type {Record<string, unknown>[]} */
  const changes = plugins.flatMap(({ name, weight }) => {
    const now = side.weights[name];
    return now === undefined || now === weight || name === side.without ? [] : [{ weight: { plugin: name, weight: now } }];
  });
  return side.without ? [...changes, { disable: side.without }] : changes;
}

/**
 * @param {Side} a
 * @param {Side} b
 * @param {string} input one of INPUTS
 * @param {readonly {name: string, weight: number}[]} plugins
 * @returns {CompareAsk}
 */
export function askOf(a, b, input, plugins) {
  const last = Number(input);
  return {
    a: changesOf(a, plugins), b: changesOf(b, plugins), input: last ? { last } : input, optimum: !last,
  };
}

/**
 * A number of both sides. `better`: the side that is better off, "" where they are alike or nobody can say.
 * @typedef {object} Sum
 * @property {"placed" | "evicted" | "spread" | "fits" | "stranded" | "half"} name
 * @property {[number | null, number | null]} values
 * @property {"" | "a" | "b"} better
 * @property {string} about the group that is spread worst
 */

/** @type {readonly [Sum["name"], (sums: CompareSums) => number | null, 1 | -1][]} each with whether more is better */
const SUMS = [
  ["placed", (sums) => sums.placed, 1],
  ["evicted", (sums) => sums.evicted, -1],
  ["spread", (sums) => sums.spread?.skew ?? null, -1],
  ["fits", (sums) => sums.room.fits, 1],
  ["stranded", (sums) => sums.room.stranded, -1],
  ["half", (sums) => sums.waited.half, -1],
];

/**
 * @param {Compared} answer
 * @returns {Sum[]}
 */
export function sumsOf({ sums: [a, b] }) {
  return SUMS.map(([name, read, more]) => {
    const values = /** @type {[number | null, number | null]} */ ([read(a), read(b)]);
    const [first, second] = values;
    const gain = first === null || second === null ? 0 : Math.sign(second - first) * more;
    const about = name === "spread" ? [...new Set([a.spread?.group, b.spread?.group].filter(Boolean))].join(" → ") : "";
    return { name, values, better: gain > 0 ? "b" : gain < 0 ? "a" : "", about };
  });
}

/**
 * The pods that went elsewhere, as they came.
 * @param {Compared} answer
 */
export function movedOf({ rows }) {
  return rows.filter((row) => row.a.node !== row.b.node);
}

/**
 * Why a pod is elsewhere, in words.
 * @param {CompareRow} row
 * @param {(key: string, values?: Record<string, string | number>) => string} words
 */
export function whyOf({ why, a, b }, words) {
  if (!why) return "";
  if (why.kind === "none") return words("compare.why_none", { side: why.side.toUpperCase(), message: why.message || words("compare.no_words") });
  if (why.kind === "refused")
    return words("compare.why_refused", { side: why.side.toUpperCase(), node: why.node, reasons: why.reasons.join(", ") || why.plugin });
  if (why.kind === "score") return words("compare.why_score", { plugin: why.plugin, by: why.by, before: a.node ?? "", after: b.node ?? "" });
  return words(why.kind === "lot" ? "compare.why_lot" : "compare.why_unseen");
}

const BY_NAME = new Intl.Collator("en", { numeric: true });

/**
 * Nodes as chart and table show them: n2 before n10.
 * @param {Compared} answer
 */
export function nodesOf({ nodes }) {
  const named = [...nodes].sort((one, other) => BY_NAME.compare(one.node, other.node));
  if (named.length <= NODES_MAX) return named;
  const moved = (/** @type {Compared["nodes"][number]} */ { pods: [a, b] }) => Math.abs(b - a);
  const kept = new Set([...named].sort((one, other) => moved(other) - moved(one)).slice(0, NODES_MAX));
  return named.filter((one) => kept.has(one));
}

/**
 * How many pods had a node after so many seconds: a step for each moment at which that changed.
 * @param {Compared} answer
 * @param {"a" | "b"} side
 * @returns {{seconds: number[], pods: number[]}}
 */
export function waitsOf({ rows }, side) {
  const waits = rows.flatMap((row) => row[side].waited ?? []).sort((one, other) => one - other);
  /** @type {{seconds: number[], pods: number[]}} */
  const steps = { seconds: [0], pods: [0] };
  waits.forEach((seconds, index) => {
    if (seconds === steps.seconds.at(-1)) steps.pods[steps.pods.length - 1] = index + 1;
    else {
      steps.seconds.push(seconds);
      steps.pods.push(index + 1);
    }
  });
  return steps;
}

/**
 * The answer as a file: a row a pod.
 * @param {Compared} answer
 * @param {(key: string, values?: Record<string, string | number>) => string} words
 * @returns {Table}
 */
export function tableOf(answer, words) {
  return {
    head: ["pod", "nodeA", "nodeB", "elsewhere", "waitedSecondsA", "waitedSecondsB", "evictedA", "evictedB", "pointsNodeA", "pointsNodeB", "why"],
    rows: answer.rows.map((row) => [
      row.pod, row.a.node, row.b.node, row.a.node === row.b.node ? 0 : 1, row.a.waited, row.b.waited,
      Number(row.a.evicted), Number(row.b.evicted), row.points[0], row.points[1], whyOf(row, words),
    ]),
  };
}
