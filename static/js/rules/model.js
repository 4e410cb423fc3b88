/** A wrong rule beside the engine: the table of criteria, both worlds as bars, what votes believed. Pure. */

/** @import { Lang } from "../lib/types.d.ts" */
import { formatCpu } from "../lib/quantity.js";
import { said } from "../lib/said.js";
import { counted, listed, number, text } from "../lib/text.js";

/** As the session API tells a rule. @typedef {{id: string, title: {en: string, zh: string}, because: {en: string, zh: string}, kind: string, decides: boolean, findable: boolean}} Rule */
/** @typedef {{key: string, name: string, priority: number, cpu: number, memory: number, protected?: boolean, held?: boolean}} Pod */
/** @typedef {{name: string, cpu: number, memory: number, taints: string[], pods: Pod[]}} Node */
/** @typedef {{node: string, victims: string[], costs: Record<string, number | null>, eliminatedBy: string}} Candidate */
/**
 * @typedef {object} Told what came of a rule
 * @property {string[]} nodes
 * @property {string | null} chosen
 * @property {boolean} nominated
 * @property {string[]} victims
 * @property {string} message
 * @property {Candidate[]} table
 * @property {string[]} asked
 * @property {Record<string, number>} scores
 */
/** `GET …/decisions/<id>/rules`. @typedef {{pod: Pod, nodes: Node[], answers: Record<string, Told>}} Answers */

export const ENGINE = "engine";

/** In the order in which kube-scheduler asks them. */
export const CRITERIA = /** @type {const} */ (["pdbViolations", "highestPriority", "prioritySum", "victimCount", "earliestStart"]);

/** Added to each priority before summing. */
const SHIFT = 2 ** 31;

/**
 * The rules that come to something else than the engine, the one that most votes believed first.
 * @param {Answers} answers
 * @param {readonly Rule[]} rules
 * @param {Readonly<Record<string, number>>} votes rule → votes
 * @returns {Rule[]}
 */
export function apart(answers, rules, votes) {
  const engine = answers.answers[ENGINE];
  if (!engine) return [];
  const differ = rules.filter(({ id }) => {
    const own = answers.answers[id];
    return own && id !== ENGINE && !(same(own.nodes, engine.nodes) && same(own.victims, engine.victims));
  });
  return differ.sort((a, b) => (votes[b.id] ?? 0) - (votes[a.id] ?? 0));
}

/** @param {readonly string[]} a @param {readonly string[]} b */
function same(a, b) {
  return a.length === b.length && [...a].sort().join() === [...b].sort().join();
}

/**
 * @typedef {"win" | "lost" | "struck" | "plain"} Cell
 * @typedef {{node: string, wins: boolean, cells: {text: string, state: Cell}[]}} Row
 * The table of preemption: the winner first, each loser with the cell that decided against it.
 * @param {Told} told
 * @param {Lang} lang
 * @returns {{rows: Row[], asked: number} | null} null: nothing was preempted
 */
export function tableOf(told, lang) {
  if (!told.table.length) return null;
  const rows = told.table.map((one) => {
    const wins = one.node === told.chosen;
    const lostAt = CRITERIA.findIndex((name) => name === one.eliminatedBy);
    return {
      node: one.node, wins, lostAt: lostAt < 0 ? CRITERIA.length : lostAt,
      cells: CRITERIA.map((name, at) => ({ text: costText(one, name, lang), state: cellOf(wins, lostAt, at) })),
    };
  });
  rows.sort((a, b) => Number(b.wins) - Number(a.wins) || b.lostAt - a.lostAt || (a.node < b.node ? -1 : 1));
  return { rows: rows.map(({ node, wins, cells }) => ({ node, wins, cells })), asked: told.asked.length };
}

/**
 * @param {boolean} wins
 * @param {number} lostAt
 * @param {number} at
 * @returns {Cell}
 */
function cellOf(wins, lostAt, at) {
  if (wins) return "win";
  if (at === lostAt) return "lost";
  return lostAt >= 0 && at > lostAt ? "struck" : "plain";
}

/**
 * @param {Candidate} candidate
 * @param {typeof CRITERIA[number]} name
 * @param {Lang} lang
 */
function costText(candidate, name, lang) {
  const cost = candidate.costs[name];
  if (cost === null || cost === undefined) return "–";
  if (name === "prioritySum") {
    const count = candidate.victims.length;
    return `${count === 1 ? "" : `${count}·`}2³¹ + ${number(lang, cost - count * SHIFT)}`;
  }
  if (name === "earliestStart") return new Date(-1000 * cost).toISOString().slice(11, 19);
  return number(lang, cost);
}

/**
 * @typedef {{name: string, priority: string, share: number, victim: boolean, guarded: boolean}} Part
 * @typedef {{name: string, chosen: boolean, parts: Part[], free: number}} Bar `share`, `free`: of the widest node's cpu
 * @typedef {{id: string, title: string, bars: Bar[], waits: string, dies: string, why: string}} World
 * @param {Answers} answers
 * @param {Rule} rule
 * @param {Lang} lang
 * @returns {World | null} null: the rule says nothing here
 */
export function worldOf(answers, rule, lang) {
  const told = answers.answers[rule.id];
  if (!told) return null;
  const widest = Math.max(1, ...answers.nodes.map(({ cpu }) => cpu));
  const victims = new Set(told.victims);
  const dying = answers.nodes.flatMap(({ pods }) => pods.filter(({ key }) => victims.has(key)));
  return {
    id: rule.id,
    title: rule.id === ENGINE ? text(lang, "rules.engines_world") : text(lang, "rules.world", { rule: said(lang, rule.title) }),
    bars: answers.nodes.map((node) => {
      const parts = node.pods.map((pod) => ({
        name: pod.name, priority: number(lang, pod.priority), share: pod.cpu / widest, victim: victims.has(pod.key),
        guarded: Boolean(pod.protected),
      }));
      const used = node.pods.reduce((sum, { cpu }) => sum + cpu, 0);
      return { name: node.name, chosen: node.name === told.chosen, parts, free: Math.max(0, node.cpu - used) / widest };
    }),
    waits: waitsFor(answers.pod.name, told, lang),
    dies: diesOf(dying, told, lang),
    why: said(lang, rule.because),
  };
}

/** @param {string} pod @param {Told} told @param {Lang} lang */
function waitsFor(pod, told, lang) {
  if (!told.chosen) return text(lang, "rules.pending", { pod });
  return text(lang, told.nominated ? "rules.waits_for" : "rules.goes_to", { pod, node: told.chosen });
}

/** @param {readonly Pod[]} dying @param {Told} told @param {Lang} lang */
function diesOf(dying, told, lang) {
  if (dying.length) return counted(lang, "rules.die", { count: dying.length, names: listed(lang, dying.map(({ name, priority }) => `${name} (${number(lang, priority)})`)) });
  if (!told.chosen) return told.message.split("\n")[0] || text(lang, "rules.nowhere");
  const ties = told.nodes.length > 1 ? ` ${text(lang, "rules.ties", { nodes: listed(lang, told.nodes) })}` : "";
  return text(lang, "rules.nobody_dies") + ties;
}

/**
 * Shares of the votes by the rule that they follow: the engine's, then by the first vote; rules that nobody believed left out.
 * @param {readonly Rule[]} rules
 * @param {Readonly<Record<string, number>>} votes rule → votes
 * @param {Readonly<Record<string, number>>} before the same of a first vote; empty: there was but one
 * @param {Lang} lang
 */
export function believedOf(rules, votes, before, lang) {
  const sum = (/** @type {Readonly<Record<string, number>>} */ cast) => Math.max(1, Object.values(cast).reduce((all, one) => all + one, 0));
  const [now, then] = [sum(votes), sum(before)];
  const rows = rules.filter(({ id }) => votes[id] || before[id]).map(({ id, title }) => ({
    id, title: said(lang, title), votes: votes[id] ?? 0, share: (votes[id] ?? 0) / now, before: (before[id] ?? 0) / then, right: id === ENGINE,
  }));
  return rows.sort((a, b) => Number(b.right) - Number(a.right) || b.before - a.before || b.votes - a.votes);
}

/**
 * What stands over the scene.
 * @param {Answers} answers
 * @param {Lang} lang
 */
export function headline(answers, lang) {
  const told = answers.answers[ENGINE];
  if (!told?.chosen) return text(lang, "rules.chose_none", { pod: answers.pod.name });
  if (!told.nominated) return text(lang, "rules.chose", { node: told.chosen });
  const dying = answers.nodes.flatMap(({ pods }) => pods).filter(({ key }) => told.victims.includes(key));
  const highest = Math.max(...dying.map(({ priority }) => priority));
  return counted(lang, "rules.chose_dying", { node: told.chosen, count: dying.length, highest });
}

/** @param {number} cpu millicores */
export const cpuText = (cpu) => formatCpu(cpu);
