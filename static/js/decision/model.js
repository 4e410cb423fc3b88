/**
 * A decision's trace as the panel shows it: rows of nodes, the summary, the sentence taken apart, why the runner-up
 * lost. Pure: everything here is read out of the trace, nothing is scheduled again.
 */

/** @import { PluginLook } from "../lib/hues.js" */
/** @import { Trace, TraceResult } from "../lib/types.d.ts" */
import { compareNames } from "../state/selectors.js";
import { pluginLook } from "../lib/hues.js";
import { POINTS, SCORE_MAX, TODAY, aloneAs, bestOf, placeOf, reasonOf, weightOf } from "../lib/trace.js";
import { fitReasons } from "../lib/sentences.js";

/**
 * @typedef {object} NodeRow
 * @property {string} node
 * @property {boolean} feasible
 * @property {boolean} best in the set of highest total
 * @property {boolean} chosen
 * @property {string} plugin that rejected
 * @property {string} reason
 * @property {boolean} tried false where nobody looked: the nominated node had passed, or another one's answer was an Error
 * @property {boolean} notRun it was the latter
 * @property {number | null} total points; null where nothing was scored
 * @property {readonly {raw: number, normalized: number, weighted: number}[]} cells parallel to `plugins`
 */

/**
 * @typedef {object} Decision
 * @property {readonly NodeRow[]} rows in natural order of name
 * @property {readonly {name: string, weight: number, look: PluginLook}[]} plugins that scored, in running order
 * @property {readonly string[]} skipped plugins whose PreScore returned Skip
 * @property {number} scoreMax what the best node gets from one plugin, before its weight
 * @property {number} pointsMax
 * @property {number} nodes how many the cycle saw
 * @property {number} feasible
 * @property {readonly string[]} best
 * @property {number | null} bestTotal
 * @property {string} chosen "" when nothing was
 * @property {"nominated" | "turn" | "only"} alone why it has no points, where there are none
 * @property {TraceResult["lot"] | null} lot
 */

/**
 * @param {TraceResult} result
 * @param {number} [scoreMax] what the best node gets from one plugin, before its weight
 * @param {Readonly<Record<string, number>>} [hues] numbers of plugins
 * @param {string} [era]
 * @returns {Decision}
 */
export function decisionOf(result, scoreMax = SCORE_MAX, hues = {}, era = TODAY) {
  const scores = result.scores;
  const feasible = new Set(result.feasible ?? []);
  const best = new Set(bestOf(result));
  const names = [...new Set([...feasible, ...Object.keys(result.firstFail ?? {}), ...Object.keys(result.filters ?? {}),
    ...(scores?.nodes ?? []), ...(result.notRun ?? [])])].sort(compareNames);
  const notRun = new Set(result.notRun ?? []);
  const plugins = Object.keys(scores?.plugins ?? {}).map((name) => ({
    name, weight: scores ? weightOf(scores, name, {}) : 1, look: pluginLook(name, hues),
  }));
  const rowIndex = new Map((scores?.nodes ?? []).map((name, index) => [name, index]));
  const reason = reasonOf(result);
  const rows = names.map((node) => {
    const at = rowIndex.get(node);
    const fail = feasible.has(node) ? { plugin: "", reason: "" } : reason(node);
    return {
      node, feasible: feasible.has(node), best: best.has(node), chosen: result.chosen === node, ...fail,
      tried: !notRun.has(node) && (feasible.has(node) || !result.usedNominatedNode || fail.reason !== ""),
      notRun: notRun.has(node),
      total: at === undefined ? null : scores?.total[at] ?? null,
      cells: at === undefined ? [] : plugins.map(({ name }) => {
        const column = scores?.plugins[name];
        return {
          raw: column?.raw[at] ?? 0, normalized: column?.normalized[at] ?? 0, weighted: column?.weighted[at] ?? 0,
        };
      }),
    };
  });
  return {
    rows,
    plugins,
    skipped: scores?.skip ?? [],
    scoreMax,
    pointsMax: plugins.reduce((sum, plugin) => sum + scoreMax * plugin.weight, 0),
    nodes: names.length || fitReasons(result.fitError ?? "").nodes,
    feasible: feasible.size,
    best: [...best].sort(compareNames),
    bestTotal: scores && scores.total.length > 0 ? Math.max(...scores.total) : null,
    chosen: result.chosen ?? "",
    alone: aloneAs(result, era),
    lot: result.lot ?? null,
  };
}

/**
 * What has become of the chosen node: nothing chosen yet, the pod only assumed there, bound, or the node given up because
 * Reserve, Permit or the binding said no.
 * @param {Pick<Trace, "result" | "undone" | "point" | "era">} trace
 * @returns {"none" | "assumed" | "bound" | "givenUp"}
 */
export function fateOf(trace) {
  if (!trace.result.chosen) return "none";
  if (trace.undone) return "givenUp";
  const at = POINTS.indexOf(placeOf(trace));
  return at >= POINTS.indexOf("Bind") ? "bound" : "assumed";
}

/**
 * Everything of a trace that the panel shows and that may change under the same id: a cycle goes on, a wait at Permit
 * ends with a no, calls to the API come back.
 * @param {Trace} trace
 */
export function versionOf(trace) {
  const { result, explanation = result.explanation } = trace;
  return [trace.id, trace.point, trace.detail, result.result, result.chosen, result.fitError, result.scores?.nodes.length,
    result.feasible?.length, explanation?.preemption?.steps.length, explanation?.extenders?.length, explanation?.cycleState?.length, trace.undoneBy,
    trace.coming];
}

/**
 * Feasible nodes best first; among equals the chosen one, then by name.
 * @param {Decision} decision
 */
export function ranking(decision) {
  return decision.rows.filter((row) => row.total !== null).sort((a, b) =>
    (b.total ?? 0) - (a.total ?? 0) || Number(b.chosen) - Number(a.chosen) || compareNames(a.node, b.node));
}

/**
 * All nodes with the best first and the refused last, for a table of more than one page.
 * @param {Decision} decision
 * @returns {readonly NodeRow[]}
 */
export function byRank(decision) {
  return [...ranking(decision), ...decision.rows.filter((row) => row.total === null)];
}

/**
 * The first node that is not in the best set, against the chosen one (or the first of the best): who lost by how much,
 * and what each plugin contributed to that.
 * @param {Decision} decision
 * @returns {{winner: NodeRow, loser: NodeRow, by: number, differences: {plugin: string, winner: number, loser: number,
 *   difference: number}[], equal: number} | null}
 */
export function runnerUp(decision) {
  const ranked = ranking(decision);
  const winner = ranked.find((row) => row.chosen) ?? ranked[0];
  const loser = ranked.find((row) => !row.best);
  if (!winner || !loser || !winner.best) return null;
  const all = decision.plugins.map((plugin, index) => {
    const a = winner.cells[index]?.weighted ?? 0;
    const b = loser.cells[index]?.weighted ?? 0;
    return { plugin: plugin.name, winner: a, loser: b, difference: b - a };
  });
  const differences = all.filter((one) => one.difference !== 0)
    .sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference));
  return {
    winner, loser, by: (winner.total ?? 0) - (loser.total ?? 0), differences, equal: all.length - differences.length,
  };
}

/**
 * @typedef {object} SentencePart
 * @property {number} count
 * @property {string} reason
 * @property {string} plugin
 * @property {readonly string[]} nodes
 */

/**
 * The FitError's counted reasons with the plugin and the nodes behind each: first those of the filters, then those of
 * the preemption's own sentence.
 * @param {TraceResult} result
 * @returns {SentencePart[]}
 */
export function sentenceParts(result) {
  const message = result.fitError ?? "";
  const filters = partsOf(fitReasons(message).reasons, result.firstFail ?? {}, "");
  const tail = /preemption: (0\/\d+ nodes are available: .*)$/s.exec(message);
  if (!tail) return filters;
  const statuses = { ...notHelpful(result), ...(result.preemption?.nodeStatus ?? {}) };
  return [...filters, ...partsOf(fitReasons(tail[1] ?? "").reasons, statuses, "DefaultPreemption")];
}

/**
 * @param {readonly {count: number, reason: string}[]} reasons
 * @param {Readonly<Record<string, {plugin?: string, reasons?: string[]}>>} statuses by node
 * @param {string} plugin of all of them; "" takes each status's own
 * @returns {SentencePart[]}
 */
function partsOf(reasons, statuses, plugin) {
  return reasons.map(({ count, reason }) => {
    const behind = Object.entries(statuses).filter(([, status]) => (status.reasons ?? []).includes(reason));
    return {
      count, reason, plugin: plugin || behind[0]?.[1].plugin || "",
      nodes: behind.map(([node]) => node).sort(compareNames),
    };
  });
}

/**
 * Nodes that preemption did not try, under the words it counts them with.
 * @param {TraceResult} result
 * @returns {Record<string, {reasons: string[]}>}
 */
function notHelpful(result) {
  const untried = Object.entries(result.firstFail ?? {})
    .filter(([, status]) => status.code === "UnschedulableAndUnresolvable");
  return Object.fromEntries(untried.map(([node]) =>
    [node, { reasons: ["Preemption is not helpful for scheduling"] }]));
}

/**
 * The trace to show: the wanted one, else the newest.
 * @param {readonly Trace[]} traces newest first
 * @param {string} id
 */
export function traceOf(traces, id) {
  return traces.find((trace) => trace.id === id) ?? traces[0] ?? null;
}
