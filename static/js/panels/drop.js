/** A file of manifests let go anywhere on the page is read into the dialog that applies it; nothing is sent before that. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
import { element, setText } from "../dom/dom.js";
import { text } from "../lib/text.js";
import { refusedWrite } from "../state/roles.js";

/** @param {Dispatch} dispatch */
export function mountDrop(dispatch) {
  const words = element("p", {});
  const veil = element("div", { class: "drop-veil", "aria-hidden": "true", "data-testid": "drop-veil" }, words);
  veil.hidden = true;
  document.body.append(veil);
  let refused = "";
  const carriesFile = (/** @type {DragEvent} */ event) =>
    Boolean(event.dataTransfer?.types.includes("Files")) && !document.querySelector("dialog[open]");

  document.addEventListener("dragover", (event) => {
    if (!carriesFile(event)) return;
    // Else the browser would leave the session and show the file.
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = refused ? "none" : "copy";
    veil.hidden = false;
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) veil.hidden = true;
  });
  document.addEventListener("drop", async (event) => {
    veil.hidden = true;
    if (!carriesFile(event)) return;
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])];
    if (refused || files.length === 0) return;
    const texts = await Promise.all(files.map((file) => file.text()));
    dispatch({ type: "openImport", kind: "yaml", text: joined(texts) });
  });

  return {
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      const reason = refusedWrite(view.me, view.me?.namespace ?? "");
      refused = reason ? text(ui.lang, reason, { namespace: view.me?.namespace ?? "" }) : "";
      setText(words, refused || text(ui.lang, "drop.file"));
    },
  };
}

/**
 * Several files as one text: documents of YAML; one alone as it is.
 * @param {readonly string[]} texts
 */
export function joined(texts) {
  return texts.length === 1 ? texts[0] ?? "" : texts.map((one) => one.trimEnd()).join("\n---\n");
}
