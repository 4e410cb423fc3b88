/** Who did something and whose a pod is, as every screen says it. Pure. */

/** @import { Person, Ui, View } from "../lib/types.d.ts" */
import { initials } from "../lib/faces.js";
import { remembered } from "./selectors.js";

/** What an actor of the log begins with when it is a person's. */
const PERSON = "user:";
/** Second key of answers that depend on one list alone. */
const ALONE = {};

const bySlug = remembered((/** @type {readonly Person[]} */ people, /** @type {object} */ _none) =>
  new Map(people.map((person) => [person.slug, person])));

const byNamespace = remembered((/** @type {readonly Person[]} */ people, /** @type {object} */ _none) =>
  new Map(people.filter(({ role }) => role === "student").map((person) => [person.namespace, person])));

/**
 * @param {View} view
 * @param {string} slug
 * @returns {Person | null}
 */
export function personNamed(view, slug) {
  return bySlug(view.people, ALONE).get(slug) ?? null;
}

/**
 * The person who is an actor of the log.
 * @param {View} view
 * @param {string} actor
 * @returns {Person | null} null for a component, and for somebody who is not known here
 */
export function actorOf(view, actor) {
  return actor.startsWith(PERSON) ? personNamed(view, actor.slice(PERSON.length)) : null;
}

/**
 * The student whose namespace it is, whoever or whatever made what lies there.
 * @param {View} view
 * @param {string | undefined} namespace
 * @returns {Person | null}
 */
export function whose(view, namespace) {
  return byNamespace(view.people, ALONE).get(namespace ?? "") ?? null;
}

/**
 * The name of something in a namespace as it is said: a student's with their initials and the namespace, so that thirty
 * pods called web-1 are told apart; anything else by its name.
 * @param {View} view
 * @param {string | undefined} namespace
 * @param {string} name
 */
export function saidName(view, namespace, name) {
  const person = whose(view, namespace);
  // On a wall that tells no names, neither does a namespace.
  if (person?.nameless) return `${person.name} ${name}`;
  return person ? `${initials(person.name)} ${name} · ${namespace}` : name;
}

/**
 * The same of a key, `namespace/name` or `name`.
 * @param {View} view
 * @param {string} key
 */
export function saidKey(view, key) {
  const at = key.indexOf("/");
  return at < 0 ? key : saidName(view, key.slice(0, at), key.slice(at + 1));
}

/**
 * The same with the namespace of whatever is nobody's, where pods of several stand in one table; `default` goes without saying.
 * @param {View} view
 * @param {string} key
 */
export function fullKey(view, key) {
  const [namespace = "", name = ""] = key.split("/");
  return whose(view, namespace) || namespace === "default" ? saidName(view, namespace, name) : key;
}

/**
 * Who looks into somebody's own copy: a class's teacher, without a hand in it.
 * @param {View} view
 * @param {Ui} ui
 * @returns {string[]} their names; none where it is not one's own copy
 */
export function onlookers({ me, people }, { parent }) {
  if (!parent || me?.role !== "teacher") return [];
  return people.filter(({ role, online }) => role === "viewer" && online).map(({ name }) => name);
}
