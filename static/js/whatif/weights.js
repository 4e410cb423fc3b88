/**
 * A slider for the weight of each plugin that scores, and beside it, of six weights, how many of the newest decisions each
 * would have moved if it alone were changed. A table of numbers that is drawn as heat: who does not see it reads it.
 */

/** @import { Lang, WeightsAlone } from "../lib/types.d.ts" */
/** @import { Wanted } from "./model.js" */
/** @import { Asks } from "./panel.js" */
import { breakable, element, keepFocus } from "../dom/dom.js";
import { number, text } from "../lib/text.js";
import { LAST } from "./last.js";
import { WEIGHT_STEPS, aloneOf } from "./model.js";

/**
 * @typedef {object} Row
 * @property {HTMLInputElement} track
 * @property {HTMLElement[]} cells
 */

/**
 * @param {Asks} asks
 */
export function mountWeights(asks) {
  const root = element("div", { class: "wi-weights", role: "table" });
  /** @type {Map<string, Row>} */
  let rows = new Map();
  const caption = element("span", { class: "wi-alone", "data-testid": "whatif-alone" });
  /** @type {WeightsAlone | null} */
  let told = null;
  let refused = "";
  let turn = 0;
  /** @type {Lang} */
  let lang = "en";

  /** What stands in the cells, and which of them is where its slider stands. */
  function tell() {
    caption.textContent = told ? text(lang, "whatif.alone", { n: number(lang, told.decided) }) : refused || text(lang, "whatif.alone_asking");
    caption.classList.toggle("wi-bad", refused !== "");
    for (const [plugin, { track, cells }] of rows) {
      const found = told ? aloneOf(told, plugin) : [];
      cells.forEach((cell, weight) => {
        const one = found[weight];
        cell.textContent = one ? number(lang, one.elsewhere) : "";
        cell.title = one ? text(lang, "whatif.last_told", { k: number(lang, one.elsewhere), n: number(lang, one.decided) }) : "";
        cell.dataset["heat"] = String(one?.heat ?? 0);
        cell.classList.toggle("here", track.value === String(weight));
      });
    }
  }

  return {
    element: root,
    /** Ask again: decisions have been made since. */
    async ask() {
      const mine = (turn += 1);
      const { alone, refusal } = await asks.alone(LAST);
      if (mine !== turn) return;
      [told, refused] = [alone ?? null, alone ? "" : (refusal?.message ?? "")];
      tell();
    },
    /**
     * @param {object} scope
     * @param {readonly {name: string, weight: number}[]} scope.plugins
     * @param {() => Wanted} scope.wanted
     * @param {Lang} scope.lang
     * @param {(wanted: Wanted) => void} scope.change
     */
    draw({ plugins, wanted, lang: spoken, change }) {
      lang = spoken;
      root.setAttribute("aria-label", text(lang, "whatif.weights"));
      rows = new Map();
      const lines = plugins.filter(({ weight }) => weight > 0).map((plugin) => {
        const { name, weight: ran } = plugin;
        const { track, told: value } = slider(plugin, wanted().weights[name] ?? ran, lang, (weight) => {
          change({ ...wanted(), weights: { ...wanted().weights, [name]: weight } });
          tell();
        });
        const cells = WEIGHT_STEPS.map(() => element("span", { class: "wi-cell", role: "cell", "data-testid": `alone-${name}` }));
        rows.set(name, { track, cells });
        return element("div", { class: "wi-weight", role: "row" }, [
          element("span", { class: "wi-plugin", role: "rowheader" }, breakable(name)),
          element("span", { class: "wi-slider", role: "cell" }, [track, value]),
          ...cells,
        ]);
      });
      const head = element("div", { class: "wi-weight wi-weight-head", role: "row" }, [
        element("span", { class: "sr-only", role: "columnheader" }, text(lang, "whatif.col_plugin")),
        element("span", { class: "sr-only", role: "columnheader" }, text(lang, "whatif.col_weight")),
        ...WEIGHT_STEPS.map((weight) => element("span", { class: "wi-times", role: "columnheader" }, `× ${weight}`)),
      ]);
      keepFocus(root, () => root.replaceChildren(caption, head, ...lines));
      tell();
    },
  };
}

/**
 * @param {{name: string, weight: number}} plugin
 * @param {number} now
 * @param {Lang} lang
 * @param {(weight: number) => void} moved
 */
function slider({ name, weight }, now, lang, moved) {
  const told = element("output");
  const track = element("input", {
    type: "range", min: "0", max: String(Math.max(WEIGHT_STEPS.length - 1, weight)), step: "1", value: String(now),
    "aria-label": text(lang, "whatif.weight", { plugin: name }), "data-testid": `weight-${name}`,
  });
  const tell = () => {
    const other = track.value !== String(weight);
    told.textContent = other ? text(lang, "whatif.from", { now: track.value, before: weight }) : `× ${track.value}`;
    told.classList.toggle("other", other);
  };
  track.addEventListener("input", () => {
    tell();
    moved(Number(track.value));
  });
  tell();
  return { track, told };
}
