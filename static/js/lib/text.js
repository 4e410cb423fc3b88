/** Sentences of the page in its languages. Field terms (Pod, Node, taint, lease) stay English in every language. */

/** @import { Lang } from "./types.d.ts" */

/** Texts by part and language: a page fetches those that it shows, in the language that it is in. */
const FILES = {
  page: { en: () => import("./text/page.en.js"), "zh-hans": () => import("./text/page.zh-hans.js") },
  past: { en: () => import("./text/past.en.js"), "zh-hans": () => import("./text/past.zh-hans.js") },
  stage: { en: () => import("./text/stage.en.js"), "zh-hans": () => import("./text/stage.zh-hans.js") },
  whatif: { en: () => import("./text/whatif.en.js"), "zh-hans": () => import("./text/whatif.zh-hans.js") },
  election: { en: () => import("./text/election.en.js"), "zh-hans": () => import("./text/election.zh-hans.js") },
  watches: { en: () => import("./text/watches.en.js"), "zh-hans": () => import("./text/watches.zh-hans.js") },
  architecture: { en: () => import("./text/architecture.en.js"), "zh-hans": () => import("./text/architecture.zh-hans.js") },
  control: { en: () => import("./text/control.en.js"), "zh-hans": () => import("./text/control.zh-hans.js") },
  make: { en: () => import("./text/make.en.js"), "zh-hans": () => import("./text/make.zh-hans.js") },
  compare: { en: () => import("./text/compare.en.js"), "zh-hans": () => import("./text/compare.zh-hans.js") },
  presenting: { en: () => import("./text/presenting.en.js"), "zh-hans": () => import("./text/presenting.zh-hans.js") },
  room: { en: () => import("./text/room.en.js"), "zh-hans": () => import("./text/room.zh-hans.js") },
  vote: { en: () => import("./text/vote.en.js"), "zh-hans": () => import("./text/vote.zh-hans.js") },
  lesson: { en: () => import("./text/lesson.en.js"), "zh-hans": () => import("./text/lesson.zh-hans.js") },
  class: { en: () => import("./text/class.en.js"), "zh-hans": () => import("./text/class.zh-hans.js") },
  rules: { en: () => import("./text/rules.en.js"), "zh-hans": () => import("./text/rules.zh-hans.js") },
  dock: { en: () => import("./text/dock.en.js"), "zh-hans": () => import("./text/dock.zh-hans.js") },
};

/**
 * @typedef {keyof typeof FILES} Part page: everything but the stage and the Decision panel, the What if tab, what the dock
 *   fetches, what only a desk has (make), what a vote says (vote), a lesson's step (lesson), what leading a class does (class)
 *   and what scenes of wrong rules and rounds by hand say (rules)
 */

/** @type {Record<Lang, Record<string, string>>} */
const TEXTS = { en: {}, "zh-hans": {} };
/** @type {Set<Part>} */
const spoken = new Set();

/**
 * Learn a language: the texts of every part asked for so far, and of one more.
 * @param {Lang} lang
 * @param {Part} [part]
 */
export async function loadTexts(lang, part) {
  if (part) spoken.add(part);
  for (const module of await Promise.all([...spoken].map((one) => FILES[one][lang]())))
    Object.assign(TEXTS[lang], ...Object.values(module));
}

/**
 * The text of a key, with `{name}` replaced from values and `{name|node|nodes}` by the word for one or for any other
 * number; the key where nothing was learnt for it.
 * @param {Lang} lang
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function text(lang, key, values) {
  const pattern = TEXTS[lang][key] ?? key;
  if (!values) return pattern;
  return pattern
    .replace(/\{(\w+)\|([^|}]*)\|([^|}]*)\}/g, (_, name, one, many) => (String(values[name]) === "1" ? one : many))
    .replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/**
 * Names one after another, as this language lists them.
 * @param {Lang} lang
 * @param {readonly string[]} names
 */
export function listed(lang, names) {
  return names.join(lang === "zh-hans" ? "、" : ", ");
}

/** @type {Record<Lang, string>} */
const LOCALES = { en: "en", "zh-hans": "zh-Hans-CN" };

/** @type {Map<string, Intl.NumberFormat>} */
const NUMBERS = new Map();

/**
 * A number as this language writes it: 4,812.
 * @param {Lang} lang
 * @param {number} value
 * @param {number} [digits] at most this many decimals
 */
export function number(lang, value, digits = 0) {
  const key = `${lang} ${digits}`;
  let format = NUMBERS.get(key);
  if (!format) NUMBERS.set(key, (format = new Intl.NumberFormat(LOCALES[lang], { maximumFractionDigits: digits })));
  return format.format(value);
}

/**
 * A text whose blanks are filled with names and numbers, these as this language writes them.
 * @param {Lang} lang
 * @param {string} key
 * @param {Record<string, string | number>} values
 */
export function counted(lang, key, values) {
  return text(lang, key, Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === "number" ? number(lang, value) : value]),
  ));
}

/**
 * Simulated time as it stands on a wall: 10:42:21.300 in UTC.
 * @param {number} unixMs
 * @param {boolean} [milliseconds]
 */
export function clockTime(unixMs, milliseconds = false) {
  const iso = new Date(unixMs).toISOString();
  return milliseconds ? iso.slice(11, 23) : iso.slice(11, 19);
}

/**
 * A span as kubectl writes ages: 12s, 3m5s, 2h10m, 4d.
 * @param {number} ms
 */
export function age(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 ? `${minutes}m${seconds % 60}s` : `${minutes}m`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 ? `${hours}h${minutes % 60}m` : `${hours}h`;
  if (hours < 48) return `${hours}h`;
  return `${Math.floor(hours / 24)}d`;
}
