/** Says over the nodes that the verdicts on a pod are sealed, and when they open. */

/** @import { Lang, View } from "../lib/types.d.ts" */
import { setText } from "../dom/dom.js";
import { h, icon } from "../dom/h.js";
import { text } from "../lib/text.js";
import { sealedPod } from "../state/classroom.js";

/** @param {HTMLElement} element */
export function mountSeal(element) {
  const said = h("p");
  const bar = h("div", { class: "st-banner st-seal", "data-testid": "stage-sealed" }, icon("lock", 16), said);
  bar.hidden = true;
  element.append(bar);
  return {
    /**
     * @param {View} view
     * @param {Lang} lang
     * @returns {boolean} whether anything is sealed from this person
     */
    render(view, lang) {
      const sealed = sealedPod(view) !== "";
      bar.hidden = !sealed;
      if (sealed) setText(said, text(lang, "stage.sealed"));
      return sealed;
    },
  };
}
