/** The buttons that take back what this person did last, and do it again; each says what that was. */

/** @import { Dispatch, Lang, Ui, UndoState } from "../lib/types.d.ts" */
import { element, icon, setAttribute, setText } from "../dom/dom.js";
import { text } from "../lib/text.js";

const KEYS = { undo: "Control+Z", redo: "Control+Shift+Z" };

/** @param {Dispatch} dispatch */
export function undoButtons(dispatch) {
  const buttons = /** @type {const} */ (["undo", "redo"]).map((way) => {
    const label = element("span", { class: "label" });
    const button = element("button", {
      class: `undo-button ${way}`, type: "button", "data-testid": way, "aria-keyshortcuts": KEYS[way],
    }, [icon("undo"), label]);
    button.addEventListener("click", () => dispatch({ type: way }));
    return { way, button, label };
  });
  return {
    elements: buttons.map(({ button }) => button),
    /** @param {Ui} ui */
    update(ui) {
      for (const { way, button, label } of buttons) {
        const deed = ui[way];
        const what = said(way, deed, ui.lang);
        const name = deed ? what : text(ui.lang, way === "undo" ? "undo.undo" : "redo.redo");
        // There is room for one sentence, and most of the time there is nothing to do again.
        setText(label, way === "undo" ? name : "");
        button.hidden = way === "redo" && !deed;
        setAttribute(button, "aria-disabled", deed ? null : "true");
        setAttribute(button, "aria-label", name);
        setAttribute(button, "title", deed ? `${what} (${KEYS[way].replace("Control", "Ctrl")})` : what);
      }
    },
  };
}

/**
 * @param {"undo" | "redo"} way
 * @param {UndoState} deed
 * @param {Lang} lang
 */
function said(way, deed, lang) {
  if (!deed) return text(lang, way === "undo" ? "undo.nothing" : "redo.nothing");
  return text(lang, way === "undo" ? `undo.next_${deed.did}` : `redo.next_${deed.did}`, { kind: deed.kind, name: deed.name, count: deed.count });
}
