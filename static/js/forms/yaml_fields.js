/** Names of fields beside the caret of a YAML editor: as one types, or by Ctrl+Space; Tab takes one over. */

/** @import { FieldTold, Schema } from "../lib/openapi.js" */
/** @import { Translate } from "./dialog.js" */
import { append, element, setAttribute, setText } from "../dom/dom.js";
import { fieldsAt, fitting } from "../lib/openapi.js";
import { placeAt } from "../lib/yaml_place.js";

/** Fields that are shown; one letter more narrows them. */
const SHOWN_MAX = 12;

/** @typedef {(apiVersion: string) => Promise<Readonly<Record<string, Schema>> | null>} Schemas by group and version */

let mounted = 0;

/**
 * @param {HTMLTextAreaElement} area
 * @param {Schemas} schemas
 * @param {Translate} t
 * @returns {HTMLElement} the list, to be put into what the area lies in
 */
export function fieldNames(area, schemas, t) {
  mounted += 1;
  const id = `yaml-fields-${mounted}`;
  const list = element("div", { class: "yaml-fields", id, role: "listbox", "aria-label": t("yaml_fields"), "data-testid": "yaml-fields" });
  const count = element("p", { class: "sr-only", role: "status" });
  const root = element("div", {}, [list, count]);
  list.hidden = true;
  setAttribute(area, "aria-autocomplete", "list");
  setAttribute(area, "aria-controls", id);
  /** @type {readonly FieldTold[]} */
  let shown = [];
  let active = -1;
  let from = 0;
  let asked = 0;

  const close = () => {
    asked += 1;
    list.hidden = true;
    shown = [];
    setText(count, "");
    setAttribute(area, "aria-activedescendant", null);
  };
  const mark = (/** @type {number} */ index) => {
    active = index;
    [...list.children].forEach((row, at) => setAttribute(row, "aria-selected", String(at === index)));
    setAttribute(area, "aria-activedescendant", list.children[index]?.id ?? null);
    list.children[index]?.scrollIntoView({ block: "nearest" });
  };
  const take = (/** @type {FieldTold} */ field) => {
    const deeper = field.type === "object" || field.type.startsWith("map[");
    area.setRangeText(`${field.name}:${deeper || field.type.startsWith("[]") ? "" : " "}`, from, area.selectionStart, "end");
    close();
    area.dispatchEvent(new Event("input"));
    close();
  };

  const open = async (/** @type {boolean} */ wanted) => {
    const turn = (asked += 1);
    const place = area.readOnly ? null : placeAt(area.value, area.selectionStart);
    if (!place || (!wanted && !place.typed)) return close();
    const told = place.apiVersion ? await schemas(place.apiVersion) : null;
    if (turn !== asked) return;
    shown = fitting(fieldsAt(told, place.apiVersion, place.kind, place.path), place.typed, place.taken).slice(0, SHOWN_MAX);
    if (shown.length === 0) return close();
    from = place.from;
    list.replaceChildren();
    append(list, shown.map((field, index) => row(field, `${id}-${index}`, () => take(field))));
    setText(count, t("yaml_fields_count", { count: shown.length }));
    list.hidden = false;
    put(list, area);
    mark(-1);
  };

  area.addEventListener("input", () => void open(false));
  for (const name of ["blur", "scroll", "click"]) area.addEventListener(name, close);
  area.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      void open(true);
      return;
    }
    if (list.hidden) return;
    const chosen = shown[active < 0 && event.key === "Tab" ? 0 : active];
    if (event.key === "ArrowDown" || event.key === "ArrowUp")
      mark(Math.max(0, Math.min(shown.length - 1, active + (event.key === "ArrowDown" ? 1 : -1))));
    else if (event.key === "Escape") close();
    else if ((event.key === "Tab" && !event.shiftKey || event.key === "Enter") && chosen) take(chosen);
    else {
      if (event.key.startsWith("Arrow") || event.key === "Enter") close();
      return;
    }
    // Neither the dialog nor the editor hears what the list has answered.
    event.preventDefault();
    event.stopImmediatePropagation();
  });
  return root;
}

/**
 * @param {FieldTold} field
 * @param {string} id
 * @param {() => void} choose
 */
function row({ name, type, about, required }, id, choose) {
  const made = element("div", { role: "option", id, title: about }, [
    element("span", { class: required ? "required" : undefined }, name), element("small", {}, type),
  ]);
  // mousedown, not click: the area's blur would close the list first.
  made.addEventListener("mousedown", (event) => {
    event.preventDefault();
    choose();
  });
  return made;
}

/**
 * Below the line of the caret, at its column; the editor's letters are all of one width.
 * @param {HTMLElement} list
 * @param {HTMLTextAreaElement} area
 */
function put(list, area) {
  const before = area.value.slice(0, area.selectionStart).split("\n");
  const style = getComputedStyle(area);
  const line = parseFloat(style.lineHeight);
  const top = area.offsetTop + parseFloat(style.paddingTop) + before.length * line - area.scrollTop;
  const column = /^ */.exec(before.at(-1) ?? "")?.[0].length ?? 0;
  list.style.top = `${top}px`;
  list.style.left = `calc(${area.offsetLeft + parseFloat(style.paddingLeft) - area.scrollLeft}px + ${column}ch)`;
}
