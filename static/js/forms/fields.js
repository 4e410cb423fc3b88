/** Labelled inputs of a form, with the server's error beside the field it is about. */

/** @import { Field, Values } from "../lib/items.js" */
/** @import { Translate } from "./dialog.js" */
import { append, element, setAttribute, setText } from "../dom/dom.js";
import { fieldOfPath } from "../lib/items.js";

/**
 * @param {readonly Field[]} fields
 * @param {Values} values
 * @param {Translate} t
 */
export function createFields(fields, values, t) {
  const root = element("div", { class: "fields" });
  /** @type {Map<string, {input: HTMLInputElement | HTMLSelectElement, error: HTMLElement}>} */
  const parts = new Map();
  for (const field of fields) {
    const id = `field-${field.name}`;
    const value = values[field.name] ?? "";
    const input = field.type === "select"
      ? element("select", { class: "input", id, name: field.name },
        (field.options ?? []).map((option) => element("option", { value: option }, option)))
      : element("input", {
        class: "input", id, name: field.name, type: field.type === "number" ? "number" : "text",
        inputmode: field.type === "number" ? "numeric" : undefined, autocomplete: "off", spellcheck: "false",
        placeholder: field.type === "pairs"
          ? t(/taints|tolerations/.test(field.name) ? "hint_taints" : "hint_pairs") : undefined,
      });
    input.value = value;
    const error = element("p", { class: "field-error", id: `${id}-error` });
    setAttribute(input, "aria-describedby", `${id}-error`);
    parts.set(field.name, { input, error });
    append(root, element("div", { class: `form-field type-${field.type}` }, [
      element("label", { for: id }, t(field.label)),
      input, error,
    ]));
  }
  return {
    element: root,
    /** @returns {Values} */
    read() {
      return Object.fromEntries([...parts].map(([name, { input }]) => [name, input.value.trim()]));
    },
    focus() {
      const first = parts.values().next().value?.input;
      first?.focus();
      if (first instanceof HTMLInputElement) first.select();
    },
    clear() {
      for (const { input, error } of parts.values()) {
        setText(error, "");
        setAttribute(input, "aria-invalid", null);
      }
    },
    /**
     * Put each cause beside its field; what belongs to none comes back.
     * @param {readonly {field: string, message: string}[]} causes
     * @returns {readonly {field: string, message: string}[]}
     */
    showProblems(causes) {
      const rest = [];
      let first = true;
      for (const cause of causes) {
        const field = fieldOfPath(fields, cause.field);
        const part = field && parts.get(field.name);
        if (!part) {
          rest.push(cause);
          continue;
        }
        setText(part.error, cause.message);
        setAttribute(part.input, "aria-invalid", "true");
        if (first) part.input.focus();
        first = false;
      }
      return rest;
    },
  };
}
