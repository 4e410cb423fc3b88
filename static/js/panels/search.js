/** The search box: objects to select and, set apart below them, items to create; by name, with arrows and Enter. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
/** @import { Found } from "../state/search.js" */
import { append, element, icon, setAttribute, setText } from "../dom/dom.js";
import { text } from "../lib/text.js";
import { firstChoice, search } from "../state/search.js";

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 */
export function mountSearch(root, dispatch) {
  const { input, list, none, popup } = partsOf(root);

  /** @type {View | null} */
  let view = null;
  /** @type {Ui["lang"]} */
  let lang = "en";
  /** @type {Option[]} */
  let rows = [];
  let active = -1;

  const close = () => {
    popup.hidden = true;
    setAttribute(input, "aria-expanded", "false");
    setAttribute(input, "aria-activedescendant", null);
  };
  const choose = (/** @type {number} */ index) => {
    const one = rows[index];
    if (!one) return;
    input.value = "";
    close();
    one.choose();
  };
  const mark = (/** @type {number} */ index) => {
    active = index;
    rows.forEach(({ row }, at) => setAttribute(row, "aria-selected", String(at === active)));
    setAttribute(input, "aria-activedescendant", rows[active]?.row.id ?? null);
    rows[active]?.row.scrollIntoView({ block: "nearest" });
  };
  const show = () => {
    if (!input.value.trim() || !view) return close();
    const found = search(view, lang, input.value);
    const existing = found.objects.map((object, at) => existingOption(object, at, dispatch));
    const creatable = found.items.map((item, at) => creatableOption(item, existing.length + at, dispatch));
    rows = [...existing, ...creatable];
    // mousedown, not click: the input's blur would close the list first.
    rows.forEach(({ row }, index) => row.addEventListener("mousedown", (event) => {
      event.preventDefault();
      choose(index);
    }));
    list.replaceChildren();
    append(list, [group(text(lang, "search_existing"), existing), group(text(lang, "search_create"), creatable)]);
    list.hidden = rows.length === 0;
    none.hidden = found.objects.length > 0;
    setText(none, text(lang, rows.length ? "search_only_create" : "search_none"));
    popup.hidden = false;
    setAttribute(input, "aria-expanded", String(rows.length > 0));
    mark(firstChoice(found));
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
      mark(Math.max(0, Math.min(rows.length - 1, active + (event.key === "ArrowDown" ? 1 : -1))));
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
      setAttribute(list, "aria-label", text(lang, "search_label"));
    },
    focus() {
      input.focus();
      input.select();
    },
  };
}

/** @param {HTMLElement} root */
function partsOf(root) {
  const input = element("input", {
    type: "text", id: "search", role: "combobox", "aria-expanded": "false", "aria-controls": "search-list",
    "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false", "data-testid": "search",
  });
  const list = element("div", { id: "search-list", role: "listbox" });
  const none = element("p", { class: "none", role: "status" });
  const popup = element("div", { class: "search-list" }, [list, none]);
  popup.hidden = true;
  append(root, [element("div", { class: "search-box" }, [icon("search"), input, element("kbd", { "aria-hidden": "true" }, "/")]), popup]);
  return { input, list, none, popup };
}

/**
 * A row of the list and what choosing it does.
 * @typedef {{row: HTMLElement, choose: () => void}} Option
 */

/**
 * @param {Found["objects"][number]} object
 * @param {number} index among all rows
 * @param {Dispatch} dispatch
 * @returns {Option}
 */
function existingOption({ resource, key, name, note }, index, dispatch) {
  const row = optionRow(index, [element("span", {}, name), note ? element("small", {}, note) : null]);
  return { row, choose: () => dispatch({ type: "select", resource, key, focus: true }) };
}

/**
 * @param {Found["items"][number]} item
 * @param {number} index among all rows
 * @param {Dispatch} dispatch
 * @returns {Option}
 */
function creatableOption({ id, label }, index, dispatch) {
  return {
    row: optionRow(index, [icon("plus"), element("span", {}, label)]),
    choose: () => dispatch({ type: "create", item: id }),
  };
}

/**
 * @param {number} index
 * @param {(Element | null)[]} children
 */
function optionRow(index, children) {
  return element("div", { role: "option", id: `found-${index}` }, children);
}

/**
 * @param {string} name
 * @param {readonly Option[]} options
 */
function group(name, options) {
  return options.length > 0 && element("div", { role: "group", "aria-label": name }, [
    element("h3", { "aria-hidden": "true" }, name), ...options.map(({ row }) => row),
  ]);
}
