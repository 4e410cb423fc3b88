/** A polite live region: who leads, where time is held, that one is stopped, and on a phone what was decided and handed out. */

/** @import { Ui, View } from "../lib/types.d.ts" */
import { setText } from "../dom/dom.js";
import { text } from "../lib/text.js";
import { stopped } from "../state/presenting.js";
import { leader } from "../state/selectors.js";

/** Milliseconds between two sentences; what happened in between is summed up. */
const SENTENCE_EVERY_MS = 1_500;

/** @param {HTMLElement} root */
export function mount(root) {
  let seen = 0;
  let saidAtMs = 0;
  let leading = "";
  let held = "";
  let reason = "";
  /** @type {number | null} null: nothing was told yet */
  let handed = null;
  /** What hangs on the wall, or whereto one goes back from it. */
  let hung = "";
  /** @type {string[]} */
  let waiting = [];
  /** What is about this person: it is said whole, whatever else happens. @type {string[]} */
  let own = [];
  return {
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      if (!view.ready) return;
      if (seen === 0) seen = view.revision;
      for (const row of view.rows) {
        // With a stage on the page, the stage itself says what was decided.
        if (row.revision <= seen || !ui.phone) continue;
        const sentence = sentenceOf(row, ui);
        if (sentence) waiting.push(sentence);
      }
      seen = view.revision;
      const now = leader(view, "kube-scheduler")?.metadata.name ?? "";
      if (now && now !== leading && leading) waiting.push(text(ui.lang, "said_leader", { replica: now }));
      leading = now || leading;
      const stop = view.clock?.held;
      const point = stop ? `${stop.pod} ${stop.point}` : "";
      if (stop && point !== held) waiting.push(text(ui.lang, "said_held", { point: stop.point, pod: stop.pod }));
      held = point;
      const why = stopped(view);
      if (why !== reason) own.push(why ? text(ui.lang, "stopped_said", { what: text(ui.lang, `stopped_${why}`), note: text(ui.lang, `stopped_${why}_note`) }) : text(ui.lang, "stopped_over"));
      reason = why;
      // A desk shows a notice of it, which is heard by itself.
      if (handed !== null && view.handed > handed && ui.phone && view.me?.role === "student") own.push(text(ui.lang, "handed"));
      if (view.me) handed = view.handed;
      const wall = view.home || view.onWall || (view.yours ? "yours" : "");
      if (wall && wall !== hung && ui.phone) own.push(text(ui.lang, view.home ? "walled_over" : view.yours ? "walled_yours" : "walled"));
      hung = wall;
      if (waiting.length + own.length === 0 || performance.now() - saidAtMs < SENTENCE_EVERY_MS) return;
      saidAtMs = performance.now();
      const last = waiting[waiting.length - 1] ?? "";
      const more = waiting.length > 1 ? `; ${text(ui.lang, "said_more", { count: waiting.length - 1 })}` : "";
      setText(root, [...own, last + more].filter(Boolean).join(" "));
      waiting = [];
      own = [];
    },
  };
}

/**
 * @param {View["rows"][number]} row
 * @param {Ui} ui
 */
function sentenceOf(row, ui) {
  if (row.resource !== "events" || row.verb === "DELETED") return "";
  const { reason, message, note, involvedObject } = row.object;
  const pod = involvedObject?.name ?? "";
  const said = String(message ?? note ?? "");
  if (reason === "Scheduled") {
    const node = / to (\S+)$/.exec(said)?.[1] ?? "";
    return text(ui.lang, "said_bound", { pod, node });
  }
  return reason === "FailedScheduling" ? text(ui.lang, "said_failed", { pod, message: said }) : "";
}
