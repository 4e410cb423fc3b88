/** The steps of a preemption over its scene: the pod in hand, what each step came to, and the way to any of them. */

/** @import { Cycle, Dispatch, Lang } from "../lib/types.d.ts" */
/** @import { Colours } from "../dom/colours.js" */
/** @import { Eviction } from "./eviction.js" */
/** @import { Glyph } from "./model.js" */
import { setText } from "../dom/dom.js";
import { h, icon } from "../dom/h.js";
import { counted, number, text } from "../lib/text.js";
import { FRAMES } from "./eviction.js";
import { glyphElement } from "./glyphs.js";

/**
 * @typedef {object} EvictBarInput
 * @property {Eviction} eviction
 * @property {Cycle} cycle
 * @property {string} name of its pod as it is said
 * @property {Glyph | null} glyph of its pod, while there is one
 * @property {Colours} colours
 * @property {Lang} lang
 */

/**
 * @param {HTMLElement} element
 * @param {Dispatch} dispatch
 * @param {{frame: (frame: number) => void, close: () => void}} on a step that is asked for, and the end of the scene
 */
export function mountEvictBar(element, dispatch, on) {
  let key = "";
  const pod = h("button", { type: "button", class: "st-evict-pod", "data-testid": "evict-pod",
    onclick: () => dispatch({ type: "select", resource: "pods", key, tab: "decision" }) });
  const steps = FRAMES.map((frame, index) => {
    const name = h("span", { class: "st-evict-name" });
    const line = h("span");
    const step = h("button", { type: "button", class: "st-evict-step", "data-testid": `evict-${frame}`, onclick: () => on.frame(index) },
      h("b", {}, `${index + 1} `, name), line);
    return { frame, step, name, line };
  });
  const close = h("button", { type: "button", class: "st-evict-close", "data-testid": "evict-close", onclick: () => on.close() },
    icon("close", 14));
  const bar = h("section", { class: "st-evict", "data-testid": "stage-eviction" }, pod,
    h("div", { class: "st-evict-steps" }, ...steps.map(({ step }) => step)), close);
  bar.hidden = true;
  element.append(bar);
  let look = "";

  /** @param {EvictBarInput | null} input null outside of the scene */
  function render(input) {
    bar.hidden = !input;
    if (!input) return;
    const { eviction, cycle, name: saidAs, glyph, colours, lang } = input;
    key = cycle.pod;
    bar.setAttribute("aria-label", text(lang, "evict.label"));
    const next = `${key} ${saidAs} ${lang} ${glyph?.hue} ${glyph?.priority} ${colours.key}`;
    if (next !== look) {
      look = next;
      pod.title = key;
      pod.replaceChildren(glyphElement({ state: "nominated", hue: glyph?.hue ?? 4, ring: false }, 22, colours),
        h("span", { class: "st-hand-words" }, h("b", { text: saidAs }),
          h("span", { text: text(lang, "hand.priority", { n: number(lang, glyph?.priority ?? 0) }) })));
    }
    steps.forEach(({ frame, step, name, line }, index) => {
      setText(name, text(lang, `evict.${frame}`));
      setText(line, counted(lang, `evict.${frame}.line`, valuesOf(eviction)));
      step.dataset["state"] = index < eviction.frame ? "done" : index === eviction.frame ? "current" : "ahead";
      if (index === eviction.frame) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    });
    for (const name of ["title", "aria-label"]) close.setAttribute(name, text(lang, "evict.close"));
  }
  return { render };
}

/** @param {Eviction} eviction */
function valuesOf({ nodes, candidates, reprieved, criteria, victims }) {
  return { nodes, candidates, reprieved, criteria, victims };
}
