/** Asks before something is deleted: a name, what goes with it, and a button that says what it does. */

/** @import { Translate } from "./dialog.js" */
/** @import { Refusal } from "./object_form.js" */
import { element, setText } from "../dom/dom.js";
import { openDialog } from "./dialog.js";

/**
 * @param {object} options
 * @param {string} options.kind
 * @param {string} options.name
 * @param {string} options.effect what else happens
 * @param {Translate} options.t
 * @param {() => Promise<Refusal>} options.remove
 */
export function openDelete({ kind, name, effect, t, remove }) {
  const { dialog, body } = openDialog({
    title: t("delete_title", { kind, name }), action: t("delete_named", { name }), cancel: t("keep_named", { name }),
    closeLabel: t("close"), className: "small", testId: "delete-dialog",
    async onSubmit({ error }) {
      const refusal = await remove();
      if (refusal) setText(error, refusal.message);
      return !refusal;
    },
  });
  body.append(element("p", {}, effect));
  // The harmless button has the focus: a key pressed twice deletes nothing.
  /** @type {HTMLElement | null} */ (dialog.querySelector("footer button"))?.focus();
}
