/** Requests about lessons outside a session, and how far this browser has come with each. */

/** @import { LessonLine, Progress } from "../class/home/model.js" */
import { request } from "./rest.js";

const KEY = "clustersim.lessons";
/** Milliseconds that opening one may take: its first scene is set. */
const OPEN_TIMEOUT_MS = 60_000;

/**
 * @param {import("../lib/types.d.ts").Lang} lang
 * @returns {Promise<LessonLine[]>}
 */
export function listLessons(lang) {
  return request("GET", `/api/lessons?lang=${lang === "zh-hans" ? "zh" : "en"}`);
}

/**
 * @param {{lesson: string, alone: boolean, minimum?: boolean, ticket?: boolean, passPhrase?: string}} wish
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

/** @param {Record<string, Progress>} progress */
function store(progress) {
  try {
    localStorage.setItem(KEY, JSON.stringify(progress));
  } catch {
    // Private windows refuse storage; each visit begins anew.
  }
}
