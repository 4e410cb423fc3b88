/** Arrows at the edges of the field: the winner, the tie or the node to be freed where it lies outside the part that is seen. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Scene } from "./cycle.js" */
/** @import { Layout } from "./levels.js" */
import { setText } from "../dom/dom.js";
import { h, icon } from "../dom/h.js";
import { number, text } from "../lib/text.js";

/** As much of a tile as is enough to be found. */
const SEEN_PX = 24;

/**
 * The nodes that a cycle has come to so far: one, the nodes of a tie, or none.
 * @param {Scene | null} scene
 * @returns {readonly string[]}
 */
export function endsOf(scene) {
  if (!scene) return [];
  if (scene.chosen) return [scene.chosen];
  if (scene.tie) return scene.tie.nodes;
  return [...scene.nodes].flatMap(([name, node]) => (node.role === "chosen" ? [name] : []));
}

/**
 * Which of some nodes lie above and below the part that is seen, the nearest first.
 * @param {Layout} layout
 * @param {readonly string[]} names
 * @param {number} top of the part that is seen
 * @param {number} height of it
 * @returns {{above: string[], below: string[]}}
 */
export function beyond(layout, names, top, height) {
  const boxes = names.flatMap((name) => layout.byName.get(name) ?? []).sort((a, b) => a.y - b.y);
  return {
    above: boxes.filter((box) => box.y + box.h < top + SEEN_PX).map((box) => box.name).reverse(),
    below: boxes.filter((box) => box.y > top + height - SEEN_PX).map((box) => box.name),
  };
}

/** @type {{above: string[], below: string[]}} */
const NONE = { above: [], below: [] };

/**
 * @param {HTMLElement} element around the scroller
 * @param {HTMLElement} scroller
 * @param {(node: string) => void} reveal
 */
export function mountEdges(element, scroller, reveal) {
  const sides = /** @type {const} */ (["above", "below"]);
  const buttons = sides.map((side) => {
    const words = h("span");
    const button = h("button", { type: "button", class: `st-edge st-edge-${side}`, "data-testid": `edge-${side}`,
      onclick: () => reveal(button.dataset["node"] ?? "") }, icon("chevron-down", 13), words);
    button.hidden = true;
    return { side, button, words };
  });
  element.append(...buttons.map(({ button }) => button));
  /** @type {{scene: Scene | null, layout: Layout, lang: Lang} | null} */
  let last = null;
  scroller.addEventListener("scroll", () => show(), { passive: true });

  function show() {
    if (!last) return;
    const { scene, layout, lang } = last;
    const ends = endsOf(scene);
    // Where the scroller stands is asked of the browser, which lays the page out for the answer: only where it matters.
    const found = ends.length > 0 ? beyond(layout, ends, scroller.scrollTop, scroller.clientHeight) : NONE;
    for (const { side, button, words } of buttons) {
      const [node, ...more] = found[side];
      button.hidden = node === undefined;
      if (node === undefined) continue;
      button.dataset["node"] = node;
      setText(words, more.length > 0 ? text(lang, "edge.more", { node, n: number(lang, more.length) }) : node);
    }
  }

  /** @param {NonNullable<typeof last>} input */
  function render(input) {
    last = input;
    show();
  }
  return { render };
}
