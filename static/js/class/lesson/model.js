/** A lesson's step as the page shows it: the strip of steps, the bar of phases, the prose of the moment, what can be done. Pure. */

/** @import { Block, ClassState, Lesson, Phase } from "../../lib/class.d.ts" */
/** @import { View } from "../../lib/types.d.ts" */
/** @import { Deed } from "../remote/model.js" */
import { objectsOf } from "../../state/selectors.js";

/**
 * @typedef {"done" | "current" | "ahead"} Reach
 *
 * @typedef {object} Step
 * @property {{id: string, n: number, title: string, minutes: number, minimum: boolean, reach: Reach}[]} steps
 * @property {{phase: Phase, reach: Reach}[]} phases
 * @property {readonly Block[]} prose the scene; from the reveal on what was revealed
 * @property {readonly Block[]} hint
 * @property {readonly Block[]} so
 * @property {{state: "running" | "reached" | "missed", seconds: number, makeItSo: boolean} | null} wait
 * @property {{done: number, of: number} | null} playing how far the scene is set
 * @property {string} failed why it could not be
 */

/** @type {readonly Block[]} */
const NOTHING = [];

/** PodDisruptionBudgets told beside a pod; a scene has hardly ever more than one. */
const GUARDS_MAX = 3;

/**
 * The budgets that pods of a namespace stand under, and how many disruptions each allows now.
 * @param {View} view
 * @param {string} namespace
 */
export function guardsOf(view, namespace) {
  return [...objectsOf(view, "poddisruptionbudgets.policy").values()].filter(({ metadata }) => metadata.namespace === namespace).slice(0, GUARDS_MAX)
    .map(({ metadata, status }) => ({ name: metadata.name, allowed: Number(status?.["disruptionsAllowed"] ?? 0) }));
}

/**
 * The strip of a lesson, also of one that is over.
 * @param {Lesson} lesson
 * @returns {Step["steps"]}
 */
export function stepsOf(lesson) {
  return lesson.steps.map((one, index) => ({
    id: one.id, n: index + 1, title: one.title, minutes: one.minutes, minimum: one.minimum,
    reach: one.current ? "current" : one.done ? "done" : "ahead",
  }));
}

/**
 * @param {Lesson} lesson
 * @returns {Step | null} null: the lesson is over
 */
export function stepOf(lesson) {
  const { step, wait } = lesson;
  if (!step) return null;
  const at = step.phases.indexOf(step.phase);
  const revealed = Boolean(step.reveal?.length) && (step.phase === "reveal" || step.phase === "so");
  return {
    steps: stepsOf(lesson),
    phases: step.phases.map((phase, index) => ({ phase, reach: index < at ? "done" : index === at ? "current" : "ahead" })),
    prose: revealed ? (step.reveal ?? NOTHING) : [...(step.scene ?? NOTHING), ...(step.phase === "ask" ? (step.ask ?? NOTHING) : NOTHING)],
    hint: !revealed && step.hint?.length ? step.hint : NOTHING,
    so: step.phase === "so" || (revealed && !step.phases.includes("so")) ? (step.so ?? NOTHING) : NOTHING,
    wait: wait && step.phase === "wait" ? {
      state: wait.state === "reached" ? "reached" : wait.state === "running" || wait.state === "" ? "running" : "missed",
      seconds: wait.seconds ?? 0, makeItSo: wait.makeItSo,
    } : null,
    playing: step.phase === "scene" && lesson.script?.state === "playing" ? { done: lesson.script.done, of: lesson.script.of } : null,
    failed: lesson.script?.state === "failed" ? lesson.script.message : "",
  };
}

/**
 * What was to be written down, step by step, once a lesson is over.
 * @param {Lesson} lesson
 * @returns {{id: string, title: string, so: readonly Block[]}[]} empty before its end
 */
export function endsOf(lesson) {
  if (lesson.step) return [];
  return lesson.steps.flatMap(({ id, title, so }) => (so?.length ? [{ id, title, so }] : []));
}

/**
 * Where a lesson stands, in words: its step of how many, or that another lesson's exit ticket is asked again.
 * @param {Lesson} lesson
 * @returns {import("../poll/model.js").Line}
 */
export function whereOf({ step, of, again }) {
  if (!step) return { key: "lesson.over" };
  const { minutes } = step;
  if (again?.step === step.id) return { key: "lesson.again", values: { title: again.title, minutes } };
  return { key: "lesson.where", values: { n: step.index + 1, of, minutes } };
}

/**
 * Whether somebody goes on by themselves: who learns alone, and a student of a class that has come to its end, to the exit ticket.
 * @param {Lesson} lesson
 * @param {View["me"]} me
 */
export function goesOn({ alone, step, hasTicket, ticket }, me) {
  return Boolean(alone || (step === null && hasTicket && !ticket && me?.role === "student" && !me.past));
}

/**
 * What a learner alone may do next; null while the answer or its reason is missing.
 * @param {ClassState} state
 * @returns {{main: Deed | null, missing: string}} `missing`: the key of what is to be done first
 */
export function aloneNext({ lesson, poll, kept }) {
  if (!lesson) return { main: null, missing: "" };
  if (!lesson.step) {
    const main = lesson.hasTicket && !lesson.ticket ? { id: "ticket", label: { key: "lesson.ticket" }, hint: null } : null;
    return { main, missing: "lesson.over" };
  }
  const asks = lesson.step.phase === "ask" && poll && poll.state !== "revealed";
  if (asks && kept?.state !== "sent") return { main: null, missing: "lesson.vote_first" };
  if (asks && poll.because?.length && !kept?.because) return { main: null, missing: "lesson.why_first" };
  if (!lesson.next || lesson.script?.state === "playing") return { main: null, missing: "" };
  return { main: { id: lesson.next.do, label: { key: "lead.named", values: { label: lesson.next.label } }, hint: null }, missing: "" };
}

/**
 * What else whoever leads may do: put first where it helps most.
 * @param {Lesson} lesson
 * @returns {Deed[]}
 */
export function otherDeeds(lesson) {
  const { step, wait } = lesson;
  if (!step) return [];
  /** @param {string} id @returns {Deed} */
  const deed = (id) => ({ id, label: { key: `lead.${id}` }, hint: { key: `lead.${id}_hint` } });
  return [
    ...(step.phase === "wait" && wait?.makeItSo ? [deed("makeItSo")] : []),
    ...(step.phase === "ask" && step.hasHint && !step.hint?.length ? [deed("hint")] : []),
    deed("restart"),
    ...(step.phase === "so" || step.phase === "reveal" ? [] : [deed("skip")]),
  ];
}

/**
 * The minutes that are left against those that are planned for what is ahead.
 * @param {Lesson} lesson
 */
export function minutesOf({ minutesLeft }) {
  return Math.max(0, Math.round(minutesLeft));
}
