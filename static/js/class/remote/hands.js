/** Hands that were counted, where phones do not reach the server: a number an answer. */

/** @import { Poll } from "../../lib/class.d.ts" */
/** @import { Ui } from "../../lib/types.d.ts" */
import { element, setAttribute, setText, syncList } from "../../dom/dom.js";
import { said } from "../../lib/said.js";
import { text } from "../../lib/text.js";

const HANDS_MAX = 1000;

/**
 * @param {(id: string, counts?: Record<string, number>) => void} act
 * @param {() => boolean} counting whether a class without phones is counted: the fields are open at once
 */
export function handCount(act, counting) {
  const title = element("summary", { "data-testid": "lead-hands" });
  const list = element("div", { class: "lead-hands" });
  const send = element("button", { class: "button", type: "submit", "data-testid": "lead-hands-send" });
  const form = element("form", {}, [list, send]);
  const root = element("details", {}, [title, form]);
  let opened = "";
  // What has just been opened is seen: it stands below what is told.
  root.addEventListener("toggle", () => {
    if (/** @type {HTMLDetailsElement} */ (root).open && !counting()) root.scrollIntoView({ block: "start" });
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const fields = /** @type {HTMLInputElement[]} */ ([...list.querySelectorAll("input")]);
    act("hands", Object.fromEntries(fields.map(({ name, value }) => [name, Math.max(0, Math.min(HANDS_MAX, Math.round(Number(value) || 0)))])));
  });
  return {
    element: root,
    /**
     * @param {Poll | null} poll null while none counts votes
     * @param {Ui} ui
     */
    render(poll, ui) {
      root.hidden = !poll;
      if (!poll) return;
      const round = `${poll.id} ${poll.round}`;
      if (opened !== round && counting()) /** @type {HTMLDetailsElement} */ (root).open = true;
      opened = round;
      setText(title, text(ui.lang, "lead.hands"));
      setText(send, text(ui.lang, "lead.hands_send"));
      syncList(list, poll.options, ({ id }) => `${poll.id} ${poll.round} ${id}`, ({ id }) => element("label", {}, [
        element("span"), element("input", { class: "input", type: "number", name: id, min: "0", max: String(HANDS_MAX), value: "0", inputmode: "numeric" }),
      ]), (row, { label }) => {
        const words = said(ui.lang, label);
        setText(/** @type {Element} */ (row.firstElementChild), words);
        setAttribute(/** @type {Element} */ (row.lastElementChild), "aria-label", words);
      });
    },
  };
}
