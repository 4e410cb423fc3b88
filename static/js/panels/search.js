/** The search box: palette items to add and objects to select, by name, with arrows and Enter. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
import { append, element, icon, setAttribute } from "../dom/dom.js";
import { ITEMS } from "../lib/items.js";
import { kindOfResource } from "../lib/kinds.js";
import { text } from "../lib/text.js";

/** Rows the list shows; a longer name narrows it. */
const FOUND_MAX = 12;

/** @typedef {{label: string, note: string, choose: () => void}} Found */

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 */
export function mountSearch(root, dispatch) {
  const input = element("input", {
    type: "text", id: "search", role: "combobox", "aria-expanded": "false", "aria-controls": "search-list",
    "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false", "data-testid": "search",
  });
  const list = element("ul", { id: "search-list", role: "listbox", class: "search-list" });
  list.hidden = true;
  append(root, [element("div", { class: "search-box" }, [icon("search"), input, element("kbd", {}, "/")]), list]);

  /** @type {View | null} */
  let view = null;
  /** @type {Ui["lang"]} */
  let lang = "en";
  /** @type {Found[]} */
  let found = [];
  let active = 0;

  const close = () => {
    list.hidden = true;
    setAttribute(input, "aria-expanded", "false");
    setAttribute(input, "aria-activedescendant", null);
  };
  const choose = (/** @type {number} */ index) => {
    const one = found[index];
    if (!one) return;
    input.value = "";
    close();
    input.blur();
    one.choose();
  };
  const mark = () => {
    [...list.children].forEach((row, index) => setAttribute(row, "aria-selected", String(index === active)));
    setAttribute(input, "aria-activedescendant", found[active] ? `found-${active}` : null);
    list.children[active]?.scrollIntoView({ block: "nearest" });
  };
  const show = () => {
    const query = input.value.trim().toLowerCase();
    if (!query || !view) return close();
    found = find(view, lang, query, dispatch);
    active = 0;
    list.replaceChildren(...found.map((one, index) => {
      const row = element("li", { role: "option", id: `found-${index}` }, [
        element("span", {}, one.label), element("small", {}, one.note),
      ]);
      // mousedown, not click: the input's blur would close the list first.
      row.addEventListener("mousedown", (event) => {
        event.preventDefault();
        choose(index);
      });
      return row;
    }));
    if (found.length === 0) list.replaceChildren(element("li", { class: "none" }, text(lang, "search_none")));
    list.hidden = false;
    setAttribute(input, "aria-expanded", "true");
    mark();
  };
  input.addEventListener("input", show);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      close();
      input.blur();
    } else if (event.key === "Enter") choose(active);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      active = Math.max(0, Math.min(found.length - 1, active + step));
      mark();
    }
  });

  return {
    /**
     * @param {View} newest
     * @param {Ui} ui
     */
    render(newest, ui) {
      view = newest;
      lang = ui.lang;
      setAttribute(input, "placeholder", text(lang, "search"));
      setAttribute(input, "aria-label", text(lang, "search_label"));
    },
    focus() {
      input.focus();
      input.select();
    },
  };
}

/**
 * @param {View} view
 * @param {Ui["lang"]} lang
 * @param {string} query lower case
 * @param {Dispatch} dispatch
 * @returns {Found[]}
 */
function find(view, lang, query, dispatch) {
  /** @type {Found[]} */
  const found = [];
  for (const item of ITEMS) {
    const name = `${item.kind} ${text(lang, item.label)}`;
    if (name.toLowerCase().includes(query) || item.id.includes(query))
      found.push({ label: item.kind === text(lang, item.label) ? item.kind : name, note: text(lang, "search_add"),
        choose: () => dispatch({ type: "create", item: item.id }) });
  }
  /** @type {Found[]} */
  const later = [];
  for (const [resource, objects] of view.objects) {
    const kind = kindOfResource(resource);
    if (!kind || resource === "events") continue;
    for (const [key, object] of objects) {
      const at = object.metadata.name.toLowerCase().indexOf(query);
      if (at < 0) continue;
      const one = {
        label: object.metadata.name,
        note: object.metadata.namespace ? `${kind.kind} · ${object.metadata.namespace}` : kind.kind,
        choose: () => dispatch({ type: "select", resource, key }),
      };
      if (at === 0) found.push(one);
      else later.push(one);
      if (found.length >= FOUND_MAX) return found;
    }
  }
  return [...found, ...later].slice(0, FOUND_MAX);
}
