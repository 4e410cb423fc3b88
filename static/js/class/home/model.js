/** A lesson's card on Home: its words, its rows, how far this browser has come with it. Pure. */

/** @import { Said } from "../../lib/class.d.ts" */
/** @import { Lang } from "../../lib/types.d.ts" */
import { said } from "../../lib/said.js";

/**
 * `GET /api/lessons`, one of them.
 * @typedef {object} LessonLine
 * @property {string} id
 * @property {Said} title
 * @property {Said} [idea]
 * @property {number} [number]
 * @property {number} minutes
 * @property {number} minimumMinutes
 * @property {number} steps
 * @property {number} minimumSteps
 * @property {number | null} [document] of the seeds
 * @property {string[]} languages
 * @property {boolean} [hasTicket] an exit ticket
 * @property {Art | null} [art]
 *
 * @typedef {{label?: string, parts: ({width: number, hue: string} | number)[], total?: number}} ArtRow
 * @typedef {{kind: string, rows?: ArtRow[], columns?: number, frame?: number[], data?: Record<string, any>}} Art
 *
 * How far this browser has come: the session that it learns in.
 * @typedef {{code: string, step: number, of: number, done: boolean, atMs: number}} Progress
 *
 * @typedef {object} Card
 * @property {string} id
 * @property {string} title
 * @property {string} idea
 * @property {{minutes: number, steps: number}} whole
 * @property {{minutes: number, steps: number}} short
 * @property {number | null} document
 * @property {{name: string, now: boolean}[]} languages `now`: what one would get
 * @property {Progress | null} progress
 * @property {("done" | "current" | "ahead")[]} segments one a step, while it is under way
 * @property {Art | null} art
 */

const NAMES = /** @type {const} */ ({ en: "EN", zh: "中文" });

/**
 * @param {readonly LessonLine[]} lessons
 * @param {Readonly<Record<string, Progress>>} progress by lesson
 * @param {Lang} lang
 * @returns {Card[]}
 */
export function cardsOf(lessons, progress, lang) {
  const mine = lang === "zh-hans" ? "zh" : "en";
  return [...lessons].sort((a, b) => (a.number ?? Infinity) - (b.number ?? Infinity) || (a.id < b.id ? -1 : 1)).map((lesson) => {
    const own = progress[lesson.id] ?? null;
    const got = lesson.languages.includes(mine) ? mine : lesson.languages[0];
    return {
      id: lesson.id,
      title: said(lang, lesson.title),
      idea: said(lang, lesson.idea),
      whole: { minutes: lesson.minutes, steps: lesson.steps },
      short: { minutes: lesson.minimumMinutes, steps: lesson.minimumSteps },
      document: lesson.document ?? null,
      languages: lesson.languages.map((one) => ({ name: NAMES[/** @type {keyof typeof NAMES} */ (one)] ?? one, now: one === got })),
      progress: own,
      segments: own && !own.done
        ? Array.from({ length: own.of }, (_, at) => (at + 1 < own.step ? "done" : at + 1 === own.step ? "current" : "ahead")) : [],
      art: lesson.art ?? null,
    };
  });
}

/**
 * The one card whose way on is the page's primary button: what was learnt last and is not done; "" where there is none.
 * @param {readonly Card[]} cards
 */
export function primaryOf(cards) {
  const under = cards.filter(({ progress }) => progress && !progress.done);
  return under.sort((a, b) => (b.progress?.atMs ?? 0) - (a.progress?.atMs ?? 0))[0]?.id ?? "";
}

/**
 * How many columns a picture of bars shows: its own, and those beyond them that something asks for.
 * @param {number} columns
 * @param {readonly number[]} [frame]
 */
export function across(columns, frame) {
  return Math.max(columns, frame?.[1] ?? 0);
}
