/** Where others look: small coloured discs on the nodes and on the rows of waiting pods. Nobody is named on a wall. */

/** @import { Person, Ui, View } from "../lib/types.d.ts" */
/** @import { Layout } from "./levels.js" */
import { syncList } from "../dom/dom.js";
import { face } from "../dom/face.js";
import { h } from "../dom/h.js";
import { isWall, marksOn } from "../state/looks.js";
import { MARGIN } from "./field.js";

/** Discs at one place; more of them become a number. */
const FACES_MAX = 3;

/**
 * @param {HTMLElement} spacer the marks on nodes lie in it, and are scrolled with them
 * @param {HTMLElement} lanes
 */
export function mountLooks(spacer, lanes) {
  const layer = h("div", { class: "st-looks", "aria-hidden": "true" });
  spacer.append(layer);
  let before = "";
  return {
    /**
     * @param {View} view
     * @param {Ui} ui
     * @param {Layout} layout
     */
    render(view, ui, layout) {
      const { nodes, pods } = marksOn(view);
      const wall = isWall(view, ui);
      if (!nodes.size && !pods.size && !before) return;
      before = nodes.size || pods.size ? "some" : "";
      const there = [...nodes].filter(([name]) => layout.byName.has(name));
      syncList(layer, there, ([name]) => name, () => h("span", { class: "st-look" }), (mark, [name, people]) => {
        const box = layout.byName.get(name);
        if (!box) return;
        mark.style.left = `${Math.round(box.x + box.w + MARGIN)}px`;
        mark.style.top = `${Math.round(box.y + MARGIN)}px`;
        draw(mark, people, wall);
      });
      for (const row of lanes.querySelectorAll("[data-pod]")) markRow(row, pods.get(row.getAttribute("data-pod") ?? "") ?? [], wall);
    },
  };
}

/**
 * @param {Element} row
 * @param {readonly Person[]} people
 * @param {boolean} wall
 */
function markRow(row, people, wall) {
  const known = /** @type {HTMLElement | null} */ (row.querySelector(".st-look"));
  if (people.length === 0) return known?.remove();
  const mark = known ?? h("span", { class: "st-look", "aria-hidden": "true" });
  if (!known) row.append(mark);
  return draw(mark, people, wall);
}

/**
 * @param {HTMLElement} mark
 * @param {readonly Person[]} people
 * @param {boolean} wall
 */
function draw(mark, people, wall) {
  const look = `${wall} ${people.map(({ id, name, color }) => `${id} ${name} ${color}`).join()}`;
  if (mark.dataset["look"] === look) return;
  mark.dataset["look"] = look;
  const shown = people.slice(0, FACES_MAX);
  mark.replaceChildren(...shown.map((person) => {
    const disc = face(person, "small");
    if (wall) {
      disc.textContent = "";
      disc.removeAttribute("title");
    }
    return disc;
  }), people.length > shown.length ? `+${people.length - shown.length}` : "");
}
