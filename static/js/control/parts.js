/** Pieces that the tabs API server, Controllers and Architecture share. */

/** @import { Dispatch, Lang, Person, View } from "../lib/types.d.ts" */
import { element } from "../dom/dom.js";
import { text } from "../lib/text.js";
import { objectAt } from "../state/selectors.js";

/**
 * Who did something: a person with their colour and initials, or a component by its name.
 * @param {string} actor as in the log: `user:<slug>`, `kube-scheduler-0`, `session`; "" is nobody known
 * @param {View} view
 * @param {Lang} lang
 */
export function actorChip(actor, view, lang) {
  const slug = actor.startsWith("user:") ? actor.slice("user:".length) : "";
  const person = slug ? personOf(slug, view) : null;
  if (!person) return element("span", { class: "ct-actor" }, actorName(actor, view, lang));
  return element("span", { class: "ct-actor" },
    element("span", { class: "ct-face", "data-color": person.color, "aria-hidden": "true" }, initials(person.name)), person.name);
}

/**
 * @param {string} actor
 * @param {View} view
 * @param {Lang} lang
 */
export function actorName(actor, view, lang) {
  if (actor === "" || actor === "user:") return text(lang, "control.nobody");
  if (!actor.startsWith("user:")) return actor;
  const slug = actor.slice("user:".length);
  return personOf(slug, view)?.name ?? slug;
}

/**
 * @param {string} slug
 * @param {View} view
 * @returns {Person | null}
 */
function personOf(slug, view) {
  return view.people.find((one) => one.slug === slug) ?? null;
}

/** @param {string} name */
function initials(name) {
  const words = name.split(/\s+/).filter(Boolean);
  return (words.length > 1 ? `${words[0]?.[0] ?? ""}${words[1]?.[0] ?? ""}` : name.slice(0, 2)).toUpperCase();
}

/**
 * The name of an object: a button that selects it where the page has it, else text.
 * @param {string} told
 * @param {string} resource
 * @param {string} key
 * @param {View} view
 * @param {Dispatch} dispatch
 */
export function objectLink(told, resource, key, view, dispatch) {
  if (!resource || !objectAt(view, resource, key)) return element("b", {}, told);
  return element("button", {
    class: "link", type: "button", onclick: () => dispatch({ type: "select", resource, key }),
  }, told);
}

/**
 * Two or three buttons of which one is down.
 * @param {readonly {value: string, word: string}[]} choices
 * @param {string} chosen
 * @param {string} label
 * @param {(value: string) => void} choose
 * @param {string} testid
 */
export function choice(choices, chosen, label, choose, testid) {
  return element("span", { class: "segmented", role: "group", "aria-label": label }, choices.map(({ value, word }) => element("button", {
    type: "button", "aria-pressed": String(value === chosen), "data-testid": `${testid}-${value}`, onclick: () => choose(value),
  }, word)));
}

/**
 * A table with a head.
 * @param {readonly string[]} head
 * @param {readonly (readonly (Node | string)[])[]} rows
 * @param {string} [caption] read out only
 */
export function table(head, rows, caption = "") {
  return element("table", { class: "ct-table" },
    caption ? element("caption", { class: "sr-only" }, caption) : null,
    element("thead", {}, element("tr", {}, head.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell) => element("td", {}, cell))))));
}
