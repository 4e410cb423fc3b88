/** Pieces that the tabs API server, Controllers and Architecture share. */

/** @import { Dispatch, Lang, View } from "../lib/types.d.ts" */
import { element } from "../dom/dom.js";
import { face } from "../dom/face.js";
import { text } from "../lib/text.js";
import { actorOf } from "../state/people.js";
import { objectAt } from "../state/selectors.js";

/**
 * Who did something: a person with their face, or a component by its name.
 * @param {string} actor as in the log: `user:<slug>`, `kube-scheduler-0`, `session`; "" is nobody known
 * @param {View} view
 * @param {Lang} lang
 */
export function actorChip(actor, view, lang) {
  const person = actorOf(view, actor);
  return element("span", { class: "ct-actor" }, person ? face(person, "small") : null, actorName(actor, view, lang));
}

/**
 * @param {string} actor
 * @param {View} view
 * @param {Lang} lang
 */
export function actorName(actor, view, lang) {
  if (actor === "" || actor === "user:") return text(lang, "control.nobody");
  return actorOf(view, actor)?.name ?? actor.replace(/^user:/, "");
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
