/** The bar that says at which moment the page is held: read only, with the ways to a fork and back to now. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
import { element, icon, setAttribute, setText } from "../dom/dom.js";
import { age, clockTime, counted, number, text } from "../lib/text.js";
import { PAST_SHOWS } from "../state/past.js";
import { sinceOf } from "../state/since.js";

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 */
export function mount(root, dispatch) {
  const title = element("b", { "data-testid": "past-title" });
  const note = element("span", { class: "past-note" });
  const steps = /** @type {const} */ ([["past_back", -1], ["past_on", 1]]).map(([key, by]) => {
    const button = element("button", { class: "past-button", type: "button", "data-testid": key });
    button.addEventListener("click", () => shown && dispatch({ type: "hold", revision: shown + by }));
    return { key, button };
  });
  const plays = /** @type {const} */ ([["play_back", -1], ["play_on", 1]]).map(([key, direction]) => {
    const button = element("button", { class: `past-button ${key}`, type: "button", "data-testid": key }, icon("play"));
    button.addEventListener("click", () => dispatch({ type: "playPast", direction }));
    return { key, button, direction };
  });
  const shows = PAST_SHOWS.map((what) => {
    const button = element("button", { class: "past-button", type: "button", "data-testid": `past-show-${what}` });
    button.addEventListener("click", () => dispatch({ type: "showPast", shows: what }));
    return { what, button };
  });
  const choice = element("span", { class: "past-shows", role: "group" }, shows.map(({ button }) => button));
  const copy = element("button", { class: "past-button", type: "button", "data-testid": "past-copy" }, icon("copy"));
  copy.addEventListener("click", () => dispatch({ type: "copyAddress" }));
  const fork = element("button", { class: "past-button", type: "button", "data-testid": "past-fork" });
  fork.addEventListener("click", () => dispatch({ type: "forkHere" }));
  const back = element("button", { class: "past-button past-now", type: "button", "data-testid": "past-now" });
  back.addEventListener("click", () => dispatch({ type: "release" }));
  root.append(icon("clock"), title, note, choice, element("span", { class: "past-steps", role: "group" }, [
    plays[0]?.button, ...steps.map(({ button }) => button), plays[1]?.button,
  ]), copy, fork, back);
  let shown = 0;

  return {
    /**
     * @param {View} view the moment that is shown
     * @param {View} live
     * @param {Ui} ui
     */
    render(view, live, ui) {
      const { lang, past } = ui;
      root.hidden = !past.revision;
      document.body.classList.toggle("in-past", !root.hidden);
      if (root.hidden) return;
      shown = past.revision;
      setAttribute(root, "aria-label", text(lang, "past"));
      root.setAttribute("aria-busy", String(past.revision !== past.shown));
      const sums = ui.pastShows === "difference" && view !== live ? { ...sinceOf(view, live) } : null;
      setText(title, sums ? counted(lang, "past_since", sums) : text(lang, "past_at", {
        time: clockTime(view.epochMs + view.newestMs), revision: number(lang, past.shown || past.revision),
      }));
      setText(note, sums ? counted(lang, "past_sums", sums)
        : text(lang, "past_note", { age: age(Math.max(0, live.newestMs - view.newestMs)) }));
      setAttribute(note, "title", note.textContent);
      setAttribute(choice, "aria-label", text(lang, "past_shows"));
      choice.hidden = ui.phone;
      for (const { what, button } of shows) {
        setText(button, text(lang, `past_${what}`));
        setAttribute(button, "aria-pressed", String(ui.pastShows === what));
      }
      for (const { key, button } of steps) {
        setText(button, text(lang, key));
        setAttribute(button, "title", text(lang, `${key}_title`));
      }
      for (const { key, button, direction } of plays) {
        setAttribute(button, "aria-label", text(lang, key));
        setAttribute(button, "title", text(lang, key));
        setAttribute(button, "aria-pressed", String(past.playing === direction));
      }
      setAttribute(copy, "aria-label", text(lang, "copy_address"));
      setAttribute(copy, "title", text(lang, "copy_address"));
      setText(fork, text(lang, "fork_here"));
      fork.hidden = live.me?.role !== "teacher" && live.me?.role !== "student";
      setText(back, text(lang, "back_to_now", { revision: number(lang, live.revision) }));
    },
  };
}
