/** The controls over charts that stream: live or held, how much time is shown, files. */

/** @import { Ui } from "../lib/types.d.ts" */
import { element, icon, setAttribute, setText } from "../dom/dom.js";
import { age, clockTime, number, text } from "../lib/text.js";

/** Minutes that the window may show; the last is everything that is kept. */
const WINDOWS = [1, 4, 15, Infinity];

/**
 * @param {{toggle: () => void, choose: (minutes: number) => void, open: () => void}} asked
 * @param {string} name of the tab
 */
export function controls({ toggle, choose, open }, name) {
  const live = element("span", { class: "chip", "data-testid": `${name}-live` });
  const pause = element("button", { class: "button small", type: "button", "data-testid": `${name}-pause`, onclick: toggle });
  const windows = WINDOWS.map((length) =>
    element("button", { type: "button", "data-minutes": length, onclick: () => choose(length) }));
  const choice = element("div", { class: "segmented", role: "group" }, windows);
  const opener = element("button", {
    class: "button small", type: "button", "aria-expanded": "false", "data-testid": `${name}-export`, onclick: open,
  });
  const note = element("span", { class: "hint", "data-testid": `${name}-note` });
  let drawn = "";

  return {
    root: element("div", { class: "streams-head" }, [live, pause, note, choice, opener]),
    opener,
    /**
     * @param {Ui} ui
     * @param {{held: number | null, minutes: number, epochMs: number, heardMs: number, thinnedTo: number, reads?: boolean}} state
     *   simulated times: `held` at which charts stand, `heardMs` at which something was heard last; points a line was thinned
     *   to, or 0; whether what was before is on its way
     */
    render(ui, { held, minutes, epochMs, heardMs, thinnedTo, reads = false }) {
      const t = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values = {}) => text(ui.lang, key, values);
      const offline = ui.connection !== "live";
      const then = ui.past.shown > 0;
      live.className = `chip ${offline ? "bad" : held === null && !then ? "good" : "accent"}`;
      setText(live, offline ? t("streams.notLive", { time: clockTime(epochMs + heardMs) })
        : then ? t("streams.then", { time: clockTime(epochMs + ui.nowMs) })
        : held === null ? t("streams.live") : t("streams.paused", { ago: age(ui.nowMs - held) }));
      setText(note, reads ? t("streams.reads") : thinnedTo ? t("streams.thinned", { count: number(ui.lang, thinnedTo) }) : "");
      const look = `${ui.lang} ${held === null} ${minutes}`;
      if (look === drawn) return;
      drawn = look;
      pause.replaceChildren(icon(held === null ? "pause" : "play"), t(held === null ? "streams.pause" : "streams.resume"), element("kbd", {}, "P"));
      opener.replaceChildren(t("streams.export"), element("kbd", {}, "E"));
      setAttribute(choice, "aria-label", t("streams.span"));
      windows.forEach((button, index) => {
        const length = WINDOWS[index];
        setText(button, length === Infinity ? t("streams.all") : t("streams.minutes", { n: Number(length) }));
        setAttribute(button, "aria-pressed", String(length === minutes));
      });
    },
  };
}
