/** A round by hand: whose pods wait, what room nodes have, and the round beside engine and optimum. Pure. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Bar } from "./model.js" */
import { formatCpu, formatMemory, formatRequests } from "../lib/quantity.js";
import { counted, listed, number, text } from "../lib/text.js";

/** @typedef {{key: string, uid: string, name: string, priority: number, cpu: number, memory: number, queue: string, node: string | null}} HandPod */
/** `GET …/byhand`. @typedef {{round: number, left: number, queues: string[], pods: HandPod[], nodes: NodeRoom[]}} Round */
/** @typedef {{name: string, cpu: number, memory: number, usedCpu: number, usedMemory: number}} NodeRoom */

/**
 * The pods that wait: one's own, or everybody's; the important ones first.
 * @param {Round} round
 * @param {string | null} slug of whoever has a queue of their own; null: who sees all
 */
export function waiting(round, slug) {
  const mine = round.pods.filter(({ node, queue }) => !node && (slug === null || queue === "" || queue === slug));
  return mine.sort((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1));
}

/**
 * How many pods wait, and what to do with them; nobody waits: that the round is over, or whose turn it still is.
 * @param {Round} round
 * @param {number} own of those that one sees
 * @param {Lang} lang
 */
export function leftText(round, own, lang) {
  if (own) return counted(lang, "rules.left", { count: own });
  return round.left ? counted(lang, "rules.left_others", { count: round.left }) : text(lang, "rules.all_placed");
}

/** @param {HandPod} pod */
export const sizeText = (pod) => formatRequests(pod.cpu, pod.memory);

/**
 * A node as a target: what is used, and what would be with the pod in hand.
 * @param {NodeRoom} node
 * @param {HandPod | null} pod
 * @param {Lang} lang
 */
export function target(node, pod, lang) {
  const share = (/** @type {number} */ used, /** @type {number} */ all) => Math.min(1, all ? used / all : 1);
  return {
    name: node.name,
    cpu: share(node.usedCpu, node.cpu), memory: share(node.usedMemory, node.memory),
    cpuThen: share(node.usedCpu + (pod?.cpu ?? 0), node.cpu), memoryThen: share(node.usedMemory + (pod?.memory ?? 0), node.memory),
    free: text(lang, "rules.free", { cpu: formatCpu(Math.max(0, node.cpu - node.usedCpu)), memory: formatMemory(Math.max(0, node.memory - node.usedMemory)) }),
  };
}

/**
 * `GET …/byhand/result`.
 * @typedef {{pods: number, placed: number, evicted: number, room: {stranded: number}, waited: {half: number | null, longest: number | null}}} Sums
 * @typedef {{pod: string, uid: string, hand: string | null, engine: string | null, optimum?: string | null, points: (number | null)[], why: any}} ResultRow
 * @typedef {{sums: {hand: Sums, engine: Sums}, optimum: {placed?: number, proven?: boolean, placement?: Record<string, string>, problem?: string}, rows: ResultRow[], parted: string | null}} Result
 *
 * @param {Result} result
 * @param {Lang} lang
 * @returns {{label: string, hand: string, engine: string, optimum: string}[]}
 */
export function sumsOf({ sums: { hand, engine }, optimum }, lang) {
  const share = (/** @type {number} */ one) => `${Math.round(100 * one)} %`;
  const seconds = (/** @type {number | null} */ one) => (one === null ? "–" : `${number(lang, one, 1)} s`);
  const placed = (/** @type {number} */ one) => `${number(lang, one)} / ${number(lang, hand.pods)}`;
  return [
    { label: text(lang, "rules.sum.placed"), hand: placed(hand.placed), engine: placed(engine.placed), optimum: optimum.placed === undefined ? "–" : placed(optimum.placed) },
    { label: text(lang, "rules.sum.longest"), hand: seconds(hand.waited.longest), engine: seconds(engine.waited.longest), optimum: "–" },
    { label: text(lang, "rules.sum.stranded"), hand: share(hand.room.stranded), engine: share(engine.room.stranded), optimum: "–" },
    { label: text(lang, "rules.sum.evicted"), hand: number(lang, hand.evicted), engine: number(lang, engine.evicted), optimum: "–" },
  ];
}

/**
 * The round in one sentence: what was placed by hand, by the engine, and what could be.
 * @param {Result} result
 * @param {Lang} lang
 */
export function verdictText({ sums: { hand, engine }, optimum }, lang) {
  const best = optimum.placed;
  const values = { hand: hand.placed, engine: engine.placed, of: hand.pods, best: best ?? 0 };
  return counted(lang, best === undefined ? "rules.verdict" : optimum.proven === false ? "rules.verdict_found" : "rules.verdict_best", values);
}

/**
 * The placements side by side: nodes as bars with the round's pods; the pod at which they parted is marked.
 * @param {Result} result
 * @param {Round} round
 * @param {Lang} lang
 * @returns {{id: "hand" | "engine" | "optimum", title: string, placed: string, bars: Bar[], waits: string}[]} the optimum only
 *   where there is one
 */
export function sidesOf(result, round, lang) {
  const widest = Math.max(1, ...round.nodes.map(({ cpu }) => cpu));
  const byKey = new Map(round.pods.map((pod) => [pod.key, pod]));
  const placement = result.optimum.placement;
  const where = {
    hand: Object.fromEntries(result.rows.map(({ pod, hand }) => [pod, hand])),
    engine: Object.fromEntries(result.rows.map(({ pod, engine }) => [pod, engine])),
    ...(placement ? { optimum: placement } : {}),
  };
  const titles = { hand: text(lang, "rules.you"), engine: "kube-scheduler", optimum: text(lang, "rules.optimum") };
  return /** @type {("hand" | "engine" | "optimum")[]} */ (Object.keys(where)).map((id) => {
    const nodeOf = /** @type {Record<string, string | null | undefined>} */ (where[id]);
    const placed = round.pods.filter(({ key }) => nodeOf[key]);
    const waits = round.pods.filter(({ key }) => !nodeOf[key]).map(({ name }) => name);
    return {
      id, title: titles[id], placed: text(lang, "rules.placed_of", { placed: number(lang, placed.length), of: number(lang, round.pods.length) }),
      bars: round.nodes.map((node) => {
        const here = placed.filter(({ key }) => nodeOf[key] === node.name);
        // What stood there before the round is room that nobody had.
        const ours = [...byKey.values()].filter((pod) => pod.node === node.name).reduce((sum, { cpu }) => sum + cpu, 0);
        const others = Math.max(0, node.usedCpu - ours);
        const used = others + here.reduce((sum, { cpu }) => sum + cpu, 0);
        return {
          name: node.name, chosen: here.some(({ key }) => key === result.parted), free: Math.max(0, node.cpu - used) / widest,
          parts: [
            ...(others > 0 ? [{ name: text(lang, "rules.others"), priority: "", share: others / widest, victim: false, guarded: false }] : []),
            ...here.map(({ name, cpu }) => ({ name: shortOf(name), priority: formatCpu(cpu), share: cpu / widest, victim: false, guarded: false })),
          ],
        };
      }),
      waits: waits.length ? counted(lang, "rules.waiting_names", { count: waits.length, names: listed(lang, waits.map(shortOf)) }) : "",
    };
  });
}

/** The last part of a name of a round: hand-1-04 is 04 among its like. @param {string} name */
const shortOf = (name) => name.slice(name.lastIndexOf("-") + 1);

/**
 * Where they parted, in one sentence.
 * @param {Result} result
 * @param {Lang} lang
 */
export function partedText({ rows, parted }, lang) {
  const row = rows.find(({ pod }) => pod === parted);
  if (!row) return text(lang, "rules.parted_nowhere");
  const pod = row.pod.slice(row.pod.indexOf("/") + 1);
  const [hand, engine] = [row.hand ?? text(lang, "rules.waits"), row.engine ?? text(lang, "rules.waits")];
  const points = row.points.every((one) => one !== null && one !== undefined)
    ? ` ${counted(lang, "rules.parted_points", { hand: Number(row.points[0]), engine: Number(row.points[1]) })}` : "";
  return text(lang, "rules.parted_at", { pod, hand, engine }) + points;
}

/**
 * What a refused drop says: each filter's reasons with their amounts.
 * @param {{reasons: string[], details?: {kind: string, resource?: string, asked?: number, free?: number}[]}[]} refusals
 * @param {string} pod
 * @param {string} node
 * @param {Lang} lang
 */
export function refusedText(refusals, pod, node, lang) {
  const why = refusals.map(({ reasons, details = [] }) => {
    const amounts = details.filter(({ kind }) => kind === "resource").map(({ resource = "", asked = 0, free = 0 }) =>
      text(lang, "rules.amounts", { resource, asked: amount(resource, asked, lang), free: amount(resource, free, lang) }));
    return [reasons.join(", "), ...amounts].join(" · ");
  });
  return `${text(lang, "rules.refused", { pod, node })} ${why.join("; ")}`;
}

/** @param {string} resource @param {number} value @param {Lang} lang */
function amount(resource, value, lang) {
  if (resource === "cpu") return formatCpu(value);
  return resource === "memory" ? formatMemory(value) : number(lang, value);
}
