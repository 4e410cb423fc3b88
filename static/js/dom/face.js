/** A person as a coloured disc with initials, the same wherever somebody is named. */

/** @import { Person } from "../lib/types.d.ts" */
import { faceOf, initials } from "../lib/faces.js";
import { element } from "./dom.js";

/**
 * @param {Pick<Person, "name" | "color">} person
 * @param {string} [kind] further classes
 */
export function face(person, kind = "") {
  const { hue, ring } = faceOf(person);
  const look = ["face", `hue-${hue}`, ring ? "ring" : "", kind].filter(Boolean).join(" ");
  return element("span", { class: look, "aria-hidden": "true", title: person.name }, initials(person.name));
}

/**
 * A name with the face of whom it belongs to before it, and its namespace.
 * @param {Person | null} person
 * @param {string | undefined} namespace
 * @param {string} name
 * @returns {(Node | string)[]}
 */
export function namedOf(person, namespace, name) {
  return person
    ? [face(person, "small"), element("small", { class: "whose" }, `${namespace}/`), name]
    : [name];
}
