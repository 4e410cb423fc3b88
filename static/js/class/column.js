/** The column beside the stage: it takes the inspector's place while a question stands, and gives it back by one key. */

/** @import { Dispatch, Ui } from "../lib/types.d.ts" */
import { element, setAttribute, setText } from "../dom/dom.js";
import { text } from "../lib/text.js";
import { placeIn } from "./place.js";

/** Keys that fold the class's column away for the inspector, and its scene for the palette. */
const FOLD = "]";
const PALETTE = "[";

/**
 * @param {object} world
 * @param {ReturnType<typeof import("./poll/ballot.js").mountBallot>} world.ballot
 * @param {Dispatch} world.dispatch
 */
export function mountColumn({ ballot, dispatch }) {
  const root = element("aside", { class: "class-ask", id: "class-ask", "data-testid": "class-ask" });
  root.hidden = true;
  const back = element("button", { class: "button class-back", type: "button", "data-testid": "class-back", onclick: () => fold(false) }, [
    element("span"), element("kbd", {}, FOLD),
  ]);
  back.hidden = true;
  document.getElementById("inspector")?.after(root, back);
  const more = element("button", { class: "button class-more", type: "button", "data-testid": "class-decision", onclick: () => fold(true) }, [
    element("span"), element("kbd", {}, FOLD),
  ]);
  let folded = false;
  let stands = false;

  /** @param {boolean} to */
  function fold(to) {
    folded = to;
    dispatch({ type: "tab", tab: "class" });
    if (!to) /** @type {HTMLElement | null} */ (root.querySelector("input:checked, input, button"))?.focus();
  }

  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const typing = target.closest("input:not([type=radio], [type=checkbox]), textarea, select, dialog, [contenteditable]");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === PALETTE) return void document.body.classList.toggle("palette-open");
    if (!stands) return;
    if (event.key === FOLD) return fold(!folded);
    if (!folded && root.contains(ballot.element)) onBallotKey(ballot, event.key, target);
  });

  return {
    /**
     * @param {readonly HTMLElement[]} parts what stands in the column; empty: there is none
     * @param {Ui} ui
     * @param {{key: string, values?: Record<string, string>} | null} behind what is to be read behind it; null: nothing
     */
    render(parts, ui, behind) {
      stands = parts.length > 0;
      if (!stands) folded = false;
      root.hidden = !stands || folded;
      back.hidden = !stands || !folded;
      setAttribute(root, "aria-label", text(ui.lang, "vote.tab"));
      setText(/** @type {Element} */ (back.firstElementChild), text(ui.lang, "vote.back"));
      if (behind) setText(/** @type {Element} */ (more.firstElementChild), text(ui.lang, behind.key, behind.values));
      placeIn(root, behind && stands ? [more, ...parts] : parts);
      document.body.classList.toggle("has-ask", !root.hidden);
    },
  };
}

/**
 * @param {ReturnType<typeof import("./poll/ballot.js").mountBallot>} ballot
 * @param {string} pressed
 * @param {HTMLElement} target
 */
function onBallotKey(ballot, pressed, target) {
  const option = ballot.ballot?.options.find(({ key }) => key !== "" && key === pressed);
  if (option && !ballot.ballot?.locked) {
    const input = /** @type {HTMLInputElement | null} */ (ballot.element.querySelector(`input[value="${CSS.escape(option.id)}"]`));
    input?.focus();
    input?.click();
  } else if (pressed === "Enter" && target === document.body) ballot.element.requestSubmit();
  else if (pressed.toLowerCase() === "b") ballot.focusReason();
}
