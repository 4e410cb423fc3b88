/** Elections in words: keys of the texts, and tables for those who do not see the chart. Pure. */

/** @import { Lang, View } from "../lib/types.d.ts" */
/** @import { Row as TableRow, Table } from "../lib/csv.js" */
/** @import { Row, Span, Story } from "./model.js" */
import { number, text } from "../lib/text.js";
import { objectAt } from "../state/selectors.js";
import { whyOf } from "./model.js";

/** @type {Readonly<Record<string, number>>} */
const UNITS = { h: 3_600, m: 60, s: 1, ms: 0.001 };

/**
 * How a component elects, in seconds: its flags, else upstream's defaults.
 * @param {View} view
 * @param {string} component
 */
export function timings(view, component) {
  const flags = objectAt(view, "flags.clustersim.io", "flags")?.["spec"]?.[component] ?? {};
  const seconds = (/** @type {string} */ name, /** @type {number} */ usual) => {
    const parts = [...String(flags[name] ?? "").matchAll(/([\d.]+)(ms|h|m|s)/g)];
    return parts.length ? parts.reduce((sum, [, value, unit]) => sum + Number(value) * (UNITS[unit ?? "s"] ?? 1), 0) : usual;
  };
  return {
    lease: seconds("leader-elect-lease-duration", 15), deadline: seconds("leader-elect-renew-deadline", 10),
    retry: seconds("leader-elect-retry-period", 2),
  };
}

/** How much later than it began a fault may be told, simulated milliseconds. */
const TOLD_LATE_MS = 5_000;

/**
 * How a time of believed leadership ended.
 * @param {Row} row
 * @param {Span} belief
 */
export function endOf(row, belief) {
  const near = (/** @type {number | null} */ t) => t !== null && Math.abs(t - belief.toMs) <= 50;
  if (row.gaveUp.some((one) => one.branch === "release" && near(one.atMs))) return "election.ends.release";
  if (row.gaveUp.some((one) => one.branch === "deadline" && near(one.atMs))) return "election.ends.deadline";
  return row.faults.some((one) => one.kind === "crash" && one.fromMs !== null && Math.abs(one.fromMs - belief.toMs) <= TOLD_LATE_MS) ? "election.ends.crash" : "election.ends.other";
}

/**
 * What a try came to.
 * @param {Lang} lang
 * @param {string} branch
 */
export const branchWords = (lang, branch) => text(lang, `election.branch.${branch || "none"}`);

/**
 * @param {Lang} lang
 * @param {Story} story
 * @param {Parameters<typeof whyOf>[1]} moment
 * @param {(t: number) => string} time
 */
export function whyWords(lang, story, moment, time) {
  const { key, values } = whyOf(story, moment);
  return text(lang, key, {
    ...values, seconds: number(lang, Number(values["seconds"]), 1), rate: number(lang, Number(values["rate"]), 2),
    seen: time(Number(values["seenMs"])), expires: time(Number(values["expiresMs"])),
  });
}

/**
 * All that the chart shows, in order of time; renewals only where they are asked for, since they say the least.
 * @param {Story} story
 * @param {{lang: Lang, fromMs: number, time: (t: number) => string, renewals: boolean}} how
 * @returns {Table}
 */
export function electionTable(story, { lang, fromMs, time, renewals }) {
  /** @type {{t: number, cells: [string, string, string]}[]} */
  const found = [];
  const add = (/** @type {number} */ t, /** @type {string} */ who, /** @type {string} */ what, /** @type {string} */ detail = "") => {
    if (t >= fromMs) found.push({ t, cells: [who, what, detail] });
  };
  const say = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values = {}) => text(lang, key, values);
  for (const row of story.rows) {
    const who = row.identity;
    for (const one of row.beliefs) {
      add(one.fromMs, who, say("election.believes"));
      if (!one.open) add(one.toMs, who, say(endOf(row, one)));
    }
    for (const one of row.lost) add(one.atMs, who, say("election.lost", { who }), branchWords(lang, one.branch));
    for (const one of row.refused) add(one.atMs, who, say("election.refusedLease", { who }), branchWords(lang, one.branch));
    for (const one of row.reads) add(one.t, who, say("election.reads", { who, holder: one.holder }));
    for (const one of row.sights) if (one.expiresMs <= story.toMs) add(one.expiresMs, who, say("election.expires", { who, holder: one.holder }), branchWords(lang, one.branch));
    if (renewals) for (const one of row.renewals) add(one.t, who, say("election.renewed", { who }), `rv ${one.revision}`);
    for (const one of row.faults) add(one.fromMs ?? 0, who, say("election.fault", { kind: one.kind }));
  }
  for (const one of story.windows) add(one.fromMs, one.who.join(", "), say("election.twoLed", { seconds: number(lang, (one.toMs - one.fromMs) / 1000, 1) }), whyWords(lang, story, one, time));
  for (const one of story.gaps) add(one.fromMs, one.after || "–", say("election.gap", { seconds: number(lang, (one.toMs - one.fromMs) / 1000, 1) }), whyWords(lang, story, one, time));
  for (const one of story.writes)
    if (one.message !== null) add(one.t, one.who, say("election.refused"), one.message);
    else if (renewals) add(one.t, one.who, say("election.accepted"));
  /** @type {TableRow[]} */
  const rows = found.sort((a, b) => a.t - b.t).map(({ t, cells }) => [time(t), ...cells]);
  return { head: ["simulatedTime", "replica", "what", "detail"], rows };
}
