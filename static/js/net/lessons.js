/** Requests about lessons outside a session, and how far this browser has come with each. */

/** @import { LessonLine, Progress } from "../class/home/model.js" */
import { request } from "./rest.js";

const KEY = "clustersim.lessons";
/** Milliseconds that opening one may take: its first scene is set. */
const OPEN_TIMEOUT_MS = 60_000;

/** @returns {Promise<LessonLine[]>} with their words in every language */
export function listLessons() {
  return request("GET", "/api/lessons");
}

/**
 * @param {{lesson: string, alone: boolean, minimum?: boolean, ticket?: boolean, again?: string, passPhrase?: string}} wish
 * @returns {Promise<{code: string}>}
 */
export function openLesson(wish) {
  return request("POST", "/api/sessions", wish, { timeoutMs: OPEN_TIMEOUT_MS });
}

/** @returns {Record<string, Progress>} by lesson; empty where the browser forbids storage */
export function lessonProgress() {
  try {
    const told = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return told && typeof told === "object" ? told : {};
  } catch {
    return {};
  }
}

/**
 * @param {string} lesson
 * @param {Progress} progress
 */
export function rememberProgress(lesson, progress) {
  store({ ...lessonProgress(), [lesson]: progress });
}

/** @param {string} lesson */
export function forgetProgress(lesson) {
  const { [lesson]: _gone, ...others } = lessonProgress();
  store(others);
}

const CLASS = "clustersim.class";

/** @returns {string} the lesson that a class had last in this browser; "" where there is none */
export function lastClass() {
  try {
    return localStorage.getItem(CLASS) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} lesson */
export function rememberClass(lesson) {
  try {
    localStorage.setItem(CLASS, lesson);
  } catch {
    // Private windows refuse storage: the teacher chooses.
  }
}

/** @param {Record<string, Progress>} progress */
function store(progress) {
  try {
    localStorage.setItem(KEY, JSON.stringify(progress));
  } catch {
    // Private windows refuse storage; each visit begins anew.
  }
}

/**
 * What a package comes to: `POST /api/lessons/check`.
 * @typedef {{id: string, title: string, question: string | null, options: string[], scene?: unknown, ask?: unknown, hint?: unknown,
 *   reveal?: unknown, so?: unknown}} Part
 * @typedef {{problems: {step: string, field: string, expected: string, found: string, said?: import("../lib/types.d.ts").NamedSentence}[], played: boolean, preview: null | {parts: Part[]}}} Checked
 */

/**
 * @param {Record<string, string | boolean>} files
 * @param {string} lang
 * @returns {Promise<Checked>}
 */
export function checkLesson(files, lang) {
  return request("POST", `/api/lessons/check?lang=${lang}`, files, { timeoutMs: OPEN_TIMEOUT_MS });
}

const DRAFT = "clustersim.draft";

/** @returns {Record<string, string>} what was written last in this browser, by field */
export function keptDraft() {
  try {
    const told = JSON.parse(localStorage.getItem(DRAFT) ?? "{}");
    return told && typeof told === "object" ? told : {};
  } catch {
    return {};
  }
}

/** @param {Record<string, string>} draft */
export function keepDraft(draft) {
  try {
    localStorage.setItem(DRAFT, JSON.stringify(draft));
  } catch {
    // Private windows refuse storage: what is written stays until the page is left.
  }
}
