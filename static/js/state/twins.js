/** Seats of one name: perhaps one person who took a second one. Pure. */

/** @import { Person } from "../lib/types.d.ts" */

/**
 * Who has a name before somebody had it; undefined where nobody does.
 * @param {Person} person
 * @param {readonly Person[]} students in order of their seats
 */
export function twinOf(person, students) {
  const named = (/** @type {Person} */ { name }) => name.normalize("NFKC").toLowerCase();
  const first = students.find((one) => named(one) === named(person));
  return first?.id === person.id ? undefined : first;
}
