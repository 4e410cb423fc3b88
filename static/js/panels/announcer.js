/** A polite live region: who leads, where time is held, and on a phone, which has no stage, what was decided. */

/** @import { Ui, View } from "../lib/types.d.ts" */
import { setText } from "../dom/dom.js";
import { text } from "../lib/text.js";
import { leader } from "../state/selectors.js";

/** Milliseconds between two sentences; what happened in between is summed up. */
const SENTENCE_EVERY_MS = 1_500;

/** @param {HTMLElement} root */
export function mount(root) {
  let seen = 0;
  let saidAtMs = 0;
  let leading = "";
  let held = "";
  /** @type {string[]} */
  let waiting = [];
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
      if (waiting.length === 0 || performance.now() - saidAtMs < SENTENCE_EVERY_MS) return;
      saidAtMs = performance.now();
      const last = waiting[waiting.length - 1] ?? "";
      const more = waiting.length > 1 ? `; ${text(ui.lang, "said_more", { count: waiting.length - 1 })}` : "";
      setText(root, last + more);
      waiting = [];
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
