/** What this browser remembers between visits: sessions it opened, theme, language, the dock's height, looks. Nothing here is secret. */

/** @import { Lang, Role, Theme } from "../lib/types.d.ts" */

/** Sessions remembered; the oldest falls off. */
export const RECENT_MAX = 8;
const RECENT_KEY = "clustersim.recent";
const LOOKS_KEY = "clustersim.looks";
const DOCK_KEY = "clustersim.dock";
const PREFERENCE_SECONDS = 365 * 24 * 3600;

/** @typedef {{code: string, title: string, role: Role, revision: number, atMs: number}} RecentSession */

/** @returns {RecentSession[]} newest first; empty where the browser forbids storage */
export function recentSessions() {
  try {
    const list = JSON.parse(localStorage.getItem(RECENT_KEY) ?? "[]");
    return Array.isArray(list) ? list.filter((entry) => typeof entry?.code === "string") : [];
  } catch {
    return [];
  }
}

/** @param {RecentSession} session */
export function rememberSession(session) {
  const others = recentSessions().filter((entry) => entry.code !== session.code);
  write([session, ...others].slice(0, RECENT_MAX));
}

/** @param {string} code */
export function forgetSession(code) {
  write(recentSessions().filter((entry) => entry.code !== code));
}

/** @param {RecentSession[]} list */
function write(list) {
  store(RECENT_KEY, JSON.stringify(list));
}

/** @returns {number | null} the height that somebody gave the dock, in CSS pixels */
export function dockHeight() {
  try {
    return Number(localStorage.getItem(DOCK_KEY)) || null;
  } catch {
    return null;
  }
}

/** @returns {boolean} whether this browser tells others what is selected in it */
export function sharesLooks() {
  try {
    return localStorage.getItem(LOOKS_KEY) !== "off";
  } catch {
    return true;
  }
}

/** @param {boolean} on */
export function rememberLooks(on) {
  store(LOOKS_KEY, on ? "" : "off");
}

/** @param {number | null} height */
export function rememberDockHeight(height) {
  store(DOCK_KEY, height === null ? "" : String(Math.round(height)));
}

/**
 * @param {string} key
 * @param {string} value
 */
function store(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Private windows refuse storage; the page works without what it would remember.
  }
}

/** @param {Theme} theme */
export function rememberTheme(theme) {
  document.cookie = `clustersim_theme=${theme}; path=/; max-age=${PREFERENCE_SECONDS}; samesite=lax`;
}

/** @param {Lang} lang */
export function rememberLanguage(lang) {
  document.cookie = `django_language=${lang}; path=/; max-age=${PREFERENCE_SECONDS}; samesite=lax`;
}

/**
 * Whether this tab may reload for a release: once each, so that a stale copy between us and the server cannot make it
 * reload for ever.
 * @param {string} release
 */
export function mayReloadFor(release) {
  try {
    if (sessionStorage.getItem("clustersim.release") === release) return false;
    sessionStorage.setItem("clustersim.release", release);
    return true;
  } catch {
    return false;
  }
}
