/** The column beside the stage: it takes the inspector's place while a question stands, and gives it back by one key. */

/** @import { Dispatch, Ui } from "../lib/types.d.ts" */
import { element, setAttribute, setText } from "../dom/dom.js";
import { text } from "../lib/text.js";

/** Keys that are the ballot's while nobody types. */
const FOLD = "]";

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
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !stands || document.querySelector("dialog[open]")) return;
    if (event.key === FOLD) return fold(!folded);
    if (folded || !root.contains(ballot.element)) return;
    const option = ballot.ballot?.options.find(({ key }) => key !== "" && key === event.key);
    if (option && !ballot.ballot?.locked) {
      const input = /** @type {HTMLInputElement | null} */ (ballot.element.querySelector(`input[value="${CSS.escape(option.id)}"]`));
      input?.focus();
      input?.click();
    } else if (event.key === "Enter" && target === document.body) ballot.element.requestSubmit();
    else if (event.key.toLowerCase() === "b") ballot.focusReason();
  });

  return {
    /**
     * @param {HTMLElement | null} part what stands in the column; null: nothing
     * @param {Ui} ui
     */
    render(part, ui) {
      stands = part !== null;
      if (!part) folded = false;
      root.hidden = !part || folded;
      back.hidden = !part || !folded;
      setAttribute(root, "aria-label", text(ui.lang, "vote.tab"));
      setText(/** @type {Element} */ (back.firstElementChild), text(ui.lang, "vote.back"));
      if (part && part.parentElement !== root) root.replaceChildren(part);
      document.body.classList.toggle("has-ask", !root.hidden);
    },
  };
}
