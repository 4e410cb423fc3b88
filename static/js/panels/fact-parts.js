/** What rows of the Summary tab are made of. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
import { element } from "../dom/dom.js";

/** Rows of a list of owned objects; a Deployment of a thousand names its first ones. */
export const LINKS_MAX = 60;

/**
 * @typedef {Node | string} Content
 * @typedef {[label: string, value: Content | readonly Content[]]} Fact
 * @typedef {{view: View, ui: Ui, dispatch: Dispatch, t: (key: string, values?: Record<string, string | number>) => string}} Scope
 */

/** @param {Record<string, string> | undefined} entries */
export function pairs(entries) {
  return Object.entries(entries ?? {}).map(([key, value]) =>
    element("div", { class: "line" }, element("code", {}, value ? `${key}=${value}` : key)));
}

/**
 * A button that selects another object.
 * @param {Pick<Scope, "dispatch">} scope
 * @param {string} resource
 * @param {string} key
 * @param {string} label
 */
export function link({ dispatch }, resource, key, label) {
  const button = element("button", { class: "link", type: "button" }, label);
  button.addEventListener("click", () => dispatch({ type: "select", resource, key }));
  return button;
}
