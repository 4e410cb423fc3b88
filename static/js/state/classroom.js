/** Where the class stands, as the log tells it: the poll that is shown, the lesson that runs, what is sealed. Pure. */

/** @import { Me, Slim, View } from "../lib/types.d.ts" */

export const POLLS = "polls.clustersim.io";
export const LESSONS = "lessons.clustersim.io";

/**
 * The poll that stands: the one that is under way, else the newest that was revealed and is not over; null where there is none.
 * @param {View} view
 * @returns {Slim | null}
 */
export function standingPoll(view) {
  return newestIn(view, "open", "closed") ?? newestIn(view, "revealed");
}

/**
 * The newest poll that is in one of these states.
 * @param {View} view
 * @param {...string} states
 */
function newestIn(view, ...states) {
  return [...(view.objects.get(POLLS)?.values() ?? [])].filter((poll) => states.includes(stateOf(poll)))
    .sort((a, b) => openedAt(b) - openedAt(a) || Number(b.metadata.resourceVersion) - Number(a.metadata.resourceVersion))[0] ?? null;
}

/**
 * @param {Slim} poll
 * @returns {string} opening, open, closed, revealed or over
 */
export function stateOf(poll) {
  return String(poll.status?.["state"] ?? "open");
}

/** @param {Slim} poll */
function openedAt(poll) {
  return Number(poll.status?.["openedMs"] ?? 0);
}

/** @param {View} view */
export function standsLesson(view) {
  return (view.objects.get(LESSONS)?.size ?? 0) > 0;
}

/**
 * The word for a role, by its text key: who opened a lesson to learn alone teaches nobody.
 * @param {View} view
 * @param {string} role
 */
export function roleKey(view, role) {
  const alone = role === "teacher" && [...(view.objects.get(LESSONS)?.values() ?? [])].some(({ spec }) => Boolean(spec?.["alone"]));
  return alone ? "role_alone" : `role_${role}`;
}

/** Whether there is anything of a class in the session. @param {View} view */
export function hasClass(view) {
  return standsLesson(view) || standingPoll(view) !== null;
}

/**
 * The pod that the server seals from this person until the reveal, `namespace/name`; "" while none is.
 * @param {View} view
 */
export function sealedPod(view) {
  // It seals before its answers are there.
  const poll = newestIn(view, "opening", "open", "closed");
  if (!poll || poll.status?.["seals"] === false) return "";
  return leads(view.me) && !poll.spec?.["alone"] ? "" : String(poll.spec?.["pod"] ?? "");
}

/**
 * Whether copies open only at a reveal: a poll is not revealed, or a lesson is about to ask about the scene that stands.
 * @param {View} view
 */
export function opensLater(view) {
  const scene = [...(view.objects.get(LESSONS)?.values() ?? [])].some(({ spec }) => spec?.["phase"] === "scene" && spec?.["asks"]);
  return !leads(view.me) && (scene || newestIn(view, "opening", "open", "closed") !== null);
}

/**
 * Whether this person is asked something that is not revealed yet.
 * @param {View} view
 */
export function answers(view) {
  const poll = standingPoll(view);
  return poll !== null && stateOf(poll) !== "revealed" && (!leads(view.me) || Boolean(poll.spec?.["alone"]));
}

/**
 * Whether this person leads the class.
 * @param {Me | null} me
 */
export function leads(me) {
  return me?.role === "teacher" && !me.past;
}
