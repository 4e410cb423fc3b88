/** The button that takes back what this person did last, and says what that was. */

/** @import { Dispatch, Ui } from "../lib/types.d.ts" */
import { element, icon, setAttribute, setText } from "../dom/dom.js";
import { text } from "../lib/text.js";

/** @param {Dispatch} dispatch */
export function undoButton(dispatch) {
  const label = element("span", { class: "label" });
  const button = element("button", {
    class: "undo-button", type: "button", "data-testid": "undo", "aria-keyshortcuts": "Control+Z",
  }, [icon("undo"), label]);
  button.addEventListener("click", () => dispatch({ type: "undo" }));
  return {
    element: button,
    /** @param {Ui} ui */
    update({ lang, undo }) {
      const what = undo ? text(lang, `undo.next_${undo.did}`, { kind: undo.kind, name: undo.name, count: undo.count })
        : text(lang, "undo.nothing");
      setText(label, undo ? what : text(lang, "undo.undo"));
      setAttribute(button, "aria-disabled", undo ? null : "true");
      setAttribute(button, "aria-label", undo ? what : text(lang, "undo.undo"));
      setAttribute(button, "title", undo ? `${what} (Ctrl+Z)` : what);
    },
  };
}
