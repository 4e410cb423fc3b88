/** At what others look: by object, and by the node that it is on. Pure. */

/** @import { Person, PodSlim, Selection, Ui, View } from "../lib/types.d.ts" */
import { objectAt, remembered } from "./selectors.js";

/** @typedef {ReadonlyMap<string, readonly Person[]>} Lookers people by `resource key` */

const lookersOf = remembered((/** @type {View["looks"]} */ looks, /** @type {View["people"]} */ people) => {
  const known = new Map(people.map((person) => [person.id, person]));
  /** @type {Map<string, Person[]>} */
  const found = new Map();
  for (const { id, resource, key } of looks.looks) {
    const person = known.get(id);
    if (!person) continue;
    const there = found.get(`${resource} ${key}`);
    if (there) there.push(person);
    else found.set(`${resource} ${key}`, [person]);
  }
  return found;
});

/**
 * The others who look at an object.
 * @param {View} view
 * @param {string} resource
 * @param {string} key
 * @returns {readonly Person[]}
 */
export function lookersAt(view, resource, key) {
  const all = lookersOf(view.looks, view.people).get(`${resource} ${key}`) ?? [];
  return all.filter(({ id }) => id !== view.me?.id);
}

/**
 * What a person looks at, when that is told.
 * @param {View} view
 * @param {Person} person
 * @returns {Selection | null}
 */
export function lookOf(view, person) {
  return view.looks.looks.find(({ id }) => id === person.id) ?? null;
}

/**
 * Where the marks of others stand on the stage: on the node that they look at or that their pod is on, else on the pod.
 * @param {View} view
 * @returns {{nodes: ReadonlyMap<string, Person[]>, pods: ReadonlyMap<string, Person[]>}}
 */
export function marksOn(view) {
  /** @type {Map<string, Person[]>} */
  const nodes = new Map();
  /** @type {Map<string, Person[]>} */
  const pods = new Map();
  for (const [place, people] of lookersOf(view.looks, view.people)) {
    const at = place.indexOf(" ");
    const [resource, key] = [place.slice(0, at), place.slice(at + 1)];
    const others = people.filter(({ id }) => id !== view.me?.id);
    const pod = resource === "pods" ? /** @type {PodSlim | null} */ (objectAt(view, resource, key)) : null;
    const node = resource === "nodes" ? key : pod?.spec?.nodeName ?? "";
    const marks = node ? nodes : pod ? pods : null;
    const name = node || key;
    if (marks && others.length) marks.set(name, [...(marks.get(name) ?? []), ...others]);
  }
  return { nodes, pods };
}

/**
 * Whether marks are bare, without initials: on a wall nobody is named.
 * @param {View} view
 * @param {Pick<Ui, "theme">} ui
 */
export function isWall(view, ui) {
  return view.me?.role === "viewer" || ui.theme === "projector";
}

/**
 * Whether people are told at what others look: as it was just asked for, until the session tells of it.
 * @param {Pick<View, "looks">} view
 * @param {Pick<Ui, "looksAsked">} ui
 */
export function looksOn({ looks }, { looksAsked: asked }) {
  return asked && (asked.told === null || asked.told === looks) ? asked.on : looks.on;
}
