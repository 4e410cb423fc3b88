/** The palette: what a click creates, the search box above it, the command line below. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
/** @import { Item } from "../lib/items.js" */
/** @import { Tool } from "./palette-tools.js" */
import { append, element, icon, setAttribute, setText } from "../dom/dom.js";
import { roving } from "../dom/roving.js";
import { ownerGroup, ownerLook } from "../lib/hues.js";
import { DRAGGED, DRAGGED_NODE, fullName, ITEMS } from "../lib/items.js";
import { text } from "../lib/text.js";
import { ownerlessNumbers } from "../state/groups.js";
import { refusedItem } from "../state/roles.js";
import { objectsOf } from "../state/selectors.js";
import { commandLine } from "./command-line.js";
import { TOOLS } from "./palette-tools.js";
import { mountSearch } from "./search.js";
import { undoButtons } from "./undo.js";

const GROUPS = /** @type {const} */ (["nodes", "pods", "workloads", "storage", "policies"]);

/** How often at most the palette looks which hues its pods have got, real milliseconds. */
const HUES_EVERY_MS = 1_000;

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 */
export function mount(root, dispatch) {
  const searchRoot = element("div", { class: "search" });
  const scroller = element("div", { class: "palette-items", role: "toolbar", "aria-orientation": "vertical" });
  const stops = roving(scroller, ".palette-more");
  const command = commandLine(dispatch);
  const undo = undoButtons(dispatch);
  const keys = element("button", { class: "keys-button", type: "button", "aria-keyshortcuts": "?", "data-testid": "keys-open" },
    element("kbd", { "aria-hidden": "true" }, "?"));
  keys.addEventListener("click", () => dispatch({ type: "showKeys" }));
  const foot = element("div", { class: "palette-foot", role: "toolbar" }, [...undo.elements, keys]);
  const footStops = roving(foot);
  append(root, [searchRoot, scroller, foot, command.element]);

  const search = mountSearch(searchRoot, dispatch);
  /** @type {Newest} */
  const newest = { view: null, ui: null };
  /** @type {Cell[]} */
  let cells = [];
  let shownLang = "";
  const hues = swatchHues();

  /** @param {Ui["lang"]} lang */
  const build = (lang) => {
    const groups = [...GROUPS, /** @type {const} */ ("faults"), /** @type {const} */ ("files")].map((group) => ({
      group,
      cells: [
        ...ITEMS.filter((item) => item.group === group).map((item) => itemCell(item, dispatch)),
        ...TOOLS.filter((tool) => tool.group === group).map((tool) => toolCell(tool, newest, dispatch)),
      ],
    }));
    cells = groups.flatMap((one) => one.cells);
    scroller.replaceChildren(...groups.map(({ group, cells }) =>
      element("section", { class: `palette-group group-${group}` }, [
        element("h2", {}, text(lang, `group_${group}`)),
        element("div", { class: "palette-grid" }, cells.map((cell) => cell.element)),
      ])));
    stops.refresh();
    setAttribute(scroller, "aria-label", text(lang, "palette_items"));
    setAttribute(foot, "aria-label", text(lang, "undo.tools"));
    setAttribute(keys, "aria-label", text(lang, "keys.title"));
    setAttribute(keys, "title", text(lang, "keys.title"));
  };

  return {
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      newest.view = view;
      newest.ui = ui;
      if (shownLang !== ui.lang) {
        shownLang = ui.lang;
        build(ui.lang);
        setAttribute(root, "aria-label", text(ui.lang, "palette"));
      }
      for (const cell of cells) cell.update(view, ui);
      hues(view, cells);
      undo.update(ui);
      footStops.refresh();
      command.update(view, ui);
      search.render(view, ui);
    },
    focusSearch: search.focus,
  };
}

/**
 * What was rendered last: a click means what it means now.
 * @typedef {{view: View | null, ui: Ui | null}} Newest
 */

/**
 * A place of the palette, and how it follows what the session holds.
 * @typedef {{element: HTMLElement, item?: Item, update: (view: View, ui: Ui) => void}} Cell
 */

/**
 * @param {Item} item
 * @param {Dispatch} dispatch
 * @returns {Cell}
 */
function itemCell(item, dispatch) {
  const label = element("span", { class: "label" });
  const button = element("button", { class: "palette-item", type: "button", "data-testid": `palette-${item.id}` }, [
    item.hue ? swatch(item) : icon(item.icon), label, item.note ? " " : null,
    item.note ? element("small", {}, item.note) : null,
  ]);
  const more = element("button", { class: "palette-more", type: "button", "data-testid": `palette-${item.id}-form` },
    icon("more"));
  const open = () => dispatch({ type: "openForm", item: item.id });
  button.addEventListener("click", (event) => {
    if (event.shiftKey) open();
    else dispatch({ type: "create", item: item.id });
  });
  button.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    open();
  });
  more.addEventListener("click", open);
  // The zone can be chosen in the form too, for whoever drags nothing.
  button.draggable = true;
  button.addEventListener("dragstart", (event) => {
    event.dataTransfer?.setData(DRAGGED, item.id);
    if (item.group === "nodes") event.dataTransfer?.setData(DRAGGED_NODE, item.id);
    if (event.dataTransfer) event.dataTransfer.effectAllowed = "copy";
  });
  return {
    item,
    element: element("div", { class: "palette-cell" }, [button, more]),
    update(view, { lang }) {
      const shown = text(lang, item.label);
      const full = fullName(item, lang);
      setText(label, shown);
      setAttribute(button, "data-short", item.note || abbreviated(item.id, shown));
      const refused = refusedItem(view, item);
      const reason = refused ? text(lang, refused.key, refused.values) : "";
      setAttribute(button, "aria-disabled", reason ? "true" : null);
      setAttribute(button, "title", reason || text(lang, "create_title", { item: full }));
      // What is written on it is part of its name, so that it can be asked for by voice.
      setAttribute(button, "aria-label", text(lang, "create_title", { item: `${full} ${item.note ?? ""}`.trim() }));
      setAttribute(more, "aria-label", text(lang, "edit_first", { item: full }));
      setAttribute(more, "title", text(lang, "edit_first", { item: full }));
    },
  };
}

/**
 * @param {Tool} tool
 * @param {Newest} newest
 * @param {Dispatch} dispatch
 * @returns {Cell}
 */
function toolCell(tool, newest, dispatch) {
  const label = element("span", { class: "label" });
  const button = element("button", { class: "palette-item", type: "button", "data-testid": `palette-${tool.id}` }, [
    icon(tool.icon), label,
  ]);
  button.addEventListener("click", () => {
    const { view, ui } = newest;
    if (view && ui && !tool.reason(view, ui)) tool.run(view, ui, dispatch);
  });
  return {
    element: element("div", { class: "palette-cell" }, button),
    update(view, ui) {
      const shown = tool.label(view, ui);
      setText(label, shown);
      setAttribute(button, "data-short", abbreviated(tool.id, shown));
      // Where the palette is narrow its words are not drawn, and so name nothing.
      setAttribute(button, "aria-label", shown);
      const reason = tool.reason(view, ui);
      setAttribute(button, "aria-disabled", reason ? "true" : null);
      setAttribute(button, "title", reason || shown);
    },
  };
}

/** @param {Item} item */
function swatch(item) {
  return element("span", { class: `swatch hue-${item.hue}${item.filled ? " filled" : ""}`, "aria-hidden": "true" });
}

/**
 * The squares of pods take the hue that the server has given to what a click makes, as soon as there is one.
 * @returns {(view: View, cells: readonly Cell[]) => void}
 */
function swatchHues() {
  let lookedMs = -Infinity;
  /** @type {unknown[]} */
  let looked = [];
  return (view, cells) => {
    const now = performance.now();
    const pods = objectsOf(view, "pods");
    if (looked[1] === cells && (looked[0] === pods || now - lookedMs < HUES_EVERY_MS)) return;
    [looked, lookedMs] = [[pods, cells], now];
    const numbers = ownerlessNumbers(view);
    for (const { item, element: place } of cells) {
      if (!item?.hue) continue;
      const number = numbers.get(ownerGroup({ metadata: { name: `${item.stem}1` } }).key);
      const hue = number === undefined ? item.hue : ownerLook(number, "").hue + 1;
      setAttribute(/** @type {Element} */ (place.querySelector(".swatch")), "class", `swatch hue-${hue}${item.filled ? " filled" : ""}`);
    }
  };
}

/** What stands under an icon where the palette is narrow: kubectl's short names, where a kind has one. */
/** @type {Readonly<Record<string, string>>} */
const SHORT = {
  deployment: "deploy", replicaset: "rs", service: "svc", namespace: "ns", priorityclass: "pc",
  persistentvolumeclaim: "pvc", persistentvolume: "pv", "pod-besteffort": "none", "pod-high-priority": "high", recover: "heal",
};
const SHORT_MAX = 6;

/**
 * @param {string} id
 * @param {string} shown
 */
function abbreviated(id, shown) {
  return SHORT[id] ?? [...shown].slice(0, SHORT_MAX).join("");
}
