/**
 * Short notices at the foot of the palette: what was done, or why not. They leave by themselves, but not from under a
 * pointer or the keyboard. What can be acted on, and what was refused, leaves when its time is over and the person goes
 * on: nobody is too slow for it.
 */

/** @typedef {{label: string, run: () => void, stayMs?: number}} NoticeAction what can be done about it, while it is there */
/** @typedef {"done" | "note" | "bad"} Tone done: something changed; note: nothing did, and why; bad: refused */

import { element, icon } from "../dom/dom.js";

/** Milliseconds a notice stays; one with an error, or with something to do about it, can also be closed. */
const NOTICE_MS = 3_500;
const ERROR_MS = 12_000;
/** Notices shown at once; older ones leave. */
const NOTICES_MAX = 3;
const ICONS = { done: "check", note: "info", bad: "warn" };

/** @param {HTMLElement} root */
export function mount(root) {
  /**
   * @param {string} message
   * @param {Tone} tone
   * @param {string} closeLabel
   * @param {NoticeAction} [action] a button beside the words
   */
  const show = (message, tone, closeLabel, action) => {
    const bad = tone === "bad";
    const close = element("button", { class: "ghost", type: "button", "aria-label": closeLabel }, icon("close"));
    const toast = element("div", { class: `toast ${tone}`, role: bad ? "alert" : "status" }, [
      icon(ICONS[tone]), element("span", {}, message), action ? button(action) : null, close,
    ]);
    const gone = new AbortController();
    const leave = () => {
      gone.abort();
      toast.remove();
    };
    toast.querySelector(".toast-action")?.addEventListener("click", leave);
    close.addEventListener("click", leave);
    const waits = bad || (action && !action.stayMs);
    window.setTimeout(() => {
      const leaves = () => void (toast.matches(":hover, :focus-within") || leave());
      if (!waits) leaves();
      const where = waits ? document : toast;
      for (const sign of waits ? ["pointerdown", "keydown"] : ["pointerleave", "focusout"])
        where.addEventListener(sign, leaves, { capture: true, signal: gone.signal });
    }, action?.stayMs ?? (waits ? ERROR_MS : NOTICE_MS));
    root.append(toast);
    while (root.children.length > NOTICES_MAX) root.firstElementChild?.remove();
  };
  return { show };
}

/** @param {NoticeAction} action */
function button({ label, run }) {
  return element("button", { class: "link toast-action", type: "button", "data-testid": "toast-action", onclick: run }, label);
}
