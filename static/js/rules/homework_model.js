/** Homework: a task as its student sees it, what comes of an answer, how far a class is. Pure. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Answers, Bar, Node, Pod, Rule, Told, World } from "./model.js" */
import { formatCpu, formatMemory } from "../lib/quantity.js";
import { said } from "../lib/said.js";
import { counted, number, text } from "../lib/text.js";
import { ENGINE, worldOf } from "./model.js";

/** Answers that one has for each task. */
export const TRIES = 2;
/** The option that no node is right, or that nobody has to go. */
export const NONE = "none";
/** Sets of tasks that belong together. */
export const TOPICS = /** @type {const} */ (["preemption", "scores", "filters"]);

/** `GET …/homework`. @typedef {{id: string, title: string, tasks: number, setUnixMs: number}} Line */
/** As its teacher is told of it. @typedef {Line & {rules: string[], size: {nodes: number, pods: number}, people: number, begun: number, byTask: {rule: string, answered: number, rightAtOnce: number, rightInTheEnd: number, believed: number}[]}} Progress */
/**
 * @typedef {object} Task
 * @property {number} task
 * @property {"node" | "victims"} kind
 * @property {{en: string, zh: string}} question
 * @property {string[]} options
 * @property {Pod} pod
 * @property {Node[]} nodes
 * @property {Record<string, {choice: string[], right: boolean}>} mine
 * @property {boolean} over
 * @property {string} [rule]
 * @property {string} [believed]
 * @property {{answers: Record<string, Told>}} [solution]
 */
/** `GET …/homework/<id>` of a student. @typedef {Line & {tasks: Task[]}} Own */

/** @type {Told} */
const OPEN = { nodes: [], chosen: null, nominated: false, victims: [], message: "", table: [], asked: [], scores: {} };

/**
 * @typedef {object} Shown
 * @property {string} title
 * @property {string} question
 * @property {string} pod what it asks for
 * @property {boolean} several
 * @property {{bar: Bar, facts: string}[]} bars with what each node has free, and what its pods ask for
 * @property {{id: string, label: string, picked: boolean}[]} options picked: in the last answer
 * @property {boolean} over
 * @property {boolean | null} right of the last answer; null: none yet
 * @property {string} said what came of it
 * @property {World[]} worlds once it is over: what the misconception would have done, what the engine does
 */

/**
 * @param {Task} task
 * @param {number} of
 * @param {readonly Rule[]} rules
 * @param {Lang} lang
 * @returns {Shown}
 */
export function shownOf(task, of, rules, lang) {
  const last = task.mine[TRIES] ?? task.mine[1] ?? null;
  const title = (/** @type {string} */ id) => rules.find((rule) => rule.id === id);
  const asked = { id: "", title: { en: "", zh: "" }, because: { en: "", zh: "" }, kind: task.kind, decides: true, findable: false };
  /** @type {Answers} */
  const open = { pod: task.pod, nodes: task.nodes, answers: { "": OPEN } };
  const answers = { ...open, answers: task.solution?.answers ?? {} };
  const ends = [task.rule ?? "", ENGINE].map(title).filter((rule) => rule !== undefined);
  return {
    title: text(lang, "rules.task", { n: number(lang, task.task + 1), of: number(lang, of) }),
    question: said(lang, task.question),
    pod: asksOf(task.pod, lang),
    several: task.kind === "victims",
    bars: (worldOf(open, asked, lang)?.bars ?? []).map((bar, at) => ({ bar, facts: factsOf(task.nodes[at], lang) })),
    options: task.options.map((id) => ({ id, label: labelOf(task, id, lang), picked: Boolean(last?.choice.includes(id)) })),
    over: task.over, right: last?.right ?? null,
    said: saidOf(task, last, title(task.believed ?? ""), lang),
    worlds: task.over ? ends.map((rule) => worldOf(answers, rule, lang)).filter((world) => world !== null) : [],
  };
}

/** @param {{cpu: number, memory: number}} asked */
function amounts({ cpu, memory }) {
  return [`${formatCpu(cpu)} CPU`, memory ? formatMemory(memory) : ""].filter(Boolean).join(", ");
}

/** What the pod in question asks for. @param {Pod} pod @param {Lang} lang */
export function asksOf(pod, lang) {
  return text(lang, "rules.task_pod", { pod: pod.name, asks: amounts(pod), priority: number(lang, pod.priority) });
}

/** What a node has free, and what its pods ask for. @param {Node | undefined} node @param {Lang} lang */
export function factsOf(node, lang) {
  if (!node) return "";
  const left = (/** @type {"cpu" | "memory"} */ what) => Math.max(0, node[what] - node.pods.reduce((sum, pod) => sum + pod[what], 0));
  const free = text(lang, "rules.task_free", { free: amounts({ cpu: left("cpu"), memory: left("memory") }), all: amounts(node) });
  return [free, ...node.pods.map((pod) => `${pod.name}: ${amounts(pod)}`), ...node.taints].join(" · ");
}

/** @param {Task} task @param {string} id @param {Lang} lang */
function labelOf({ kind, nodes }, id, lang) {
  if (id === NONE) return text(lang, kind === "node" ? "rules.none_node" : "rules.none_dies");
  const pod = nodes.flatMap(({ pods }) => pods).find(({ key }) => key === id);
  return pod ? `${pod.name} (${number(lang, pod.priority)})` : id;
}

/**
 * @param {Task} task
 * @param {{right: boolean} | null} last
 * @param {Rule | undefined} believed
 * @param {Lang} lang
 */
function saidOf({ over }, last, believed, lang) {
  if (!last) return "";
  if (last.right) return text(lang, "rules.task_right");
  if (!over) return text(lang, "rules.task_once_more");
  return believed && believed.id !== ENGINE ? text(lang, "rules.task_believed", { rule: said(lang, believed.title) }) : text(lang, "rules.task_wrong");
}

/** @param {Own} own @param {Lang} lang */
export function doneOf(own, lang) {
  return text(lang, "rules.homework_done", { done: number(lang, own.tasks.filter(({ over }) => over).length), of: number(lang, own.tasks.length) });
}

/** Misconceptions that a task can be about: they come to a node, or to victims. @param {readonly Rule[]} rules */
export function taskRules(rules) {
  return rules.filter(({ kind, decides }) => decides && (kind === "node" || kind === "victims"));
}

/**
 * @param {{about: string, title: string, people: string[] | "all", nodes: string, pods: string, seed: string}} form `about`: a topic, or a rule
 */
export function wishOf({ about, title, people, nodes, pods, seed }) {
  const topic = TOPICS.find((one) => one === about);
  return {
    ...(topic ? { topic } : { rule: about }), people, ...(title.trim() ? { title: title.trim() } : {}),
    nodes: Number(nodes), pods: Number(pods), ...(seed.trim() ? { seed: Number(seed) } : {}),
  };
}

/**
 * How far a class is: a row a task.
 * @param {Progress} progress
 * @param {readonly Rule[]} rules
 * @param {Lang} lang
 */
export function progressOf({ people, begun, byTask }, rules, lang) {
  return {
    begun: counted(lang, "rules.begun", { count: begun, people: number(lang, people) }),
    rows: byTask.map(({ rule, answered, rightAtOnce, rightInTheEnd, believed }) => ({
      rule: said(lang, rules.find(({ id }) => id === rule)?.title) || rule,
      cells: [answered, rightAtOnce, rightInTheEnd, believed].map((one) => number(lang, one)),
    })),
  };
}
