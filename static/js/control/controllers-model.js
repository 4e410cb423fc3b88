/** What controllers are at, as the Controllers tab tells it. Pure: no DOM, clock or network. */

/** @import { Reconciled, ControllerPanel } from "../lib/types.d.ts" */

/**
 * @typedef {object} Difference one thing that a controller compared
 * @property {string} name what was compared, as the controller calls it
 * @property {string} value
 */

/**
 * What was wanted or found, each as one line: names and values.
 * @param {Readonly<Record<string, unknown>>} told
 * @returns {Difference[]}
 */
export function linesOf(told) {
  return Object.entries(told).map(([name, value]) => ({ name, value: valueOf(value) }));
}

/**
 * @param {unknown} value
 * @returns {string}
 */
function valueOf(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.map(valueOf).join(", ");
  const pairs = Object.entries(value).map(([key, inner]) => `${key} ${valueOf(inner)}`);
  return pairs.length === 0 ? "–" : pairs.join(", ");
}

/**
 * The difference between what is asked for and what is there, where both are one number: "+2", "−1", "0"; "" else.
 * @param {Reconciled} one
 */
export function differenceOf({ desired, actual }) {
  const [wanted, found] = [Object.values(desired), Object.values(actual)];
  if (typeof wanted[0] !== "number" || typeof found[0] !== "number" || found.length !== 1) return "";
  const missing = wanted[0] - found[0];
  return missing > 0 ? `+${missing}` : missing < 0 ? `−${-missing}` : "0";
}

/**
 * What a controller is doing, the most pressing thing first.
 * @param {ControllerPanel} panel
 * @returns {"working" | "queued" | "failing" | "retrying" | "idle" | "unused"}
 */
export function stateOf({ queue, workers, last, recent }) {
  if (workers.busy > 0) return "working";
  if (queue.length > 0) return "queued";
  if (queue.waiting.some(({ failures }) => failures > 0)) return last?.error ? "failing" : "retrying";
  return recent.length > 0 ? "idle" : "unused";
}

const PRESSING = ["failing", "working", "queued", "retrying", "idle", "unused"];

/**
 * Those that do something first, the newest work first; the rest in the order of the table.
 * @param {readonly ControllerPanel[]} panels
 * @returns {ControllerPanel[]}
 */
export function inOrder(panels) {
  const rank = (/** @type {ControllerPanel} */ one) => PRESSING.indexOf(stateOf(one));
  return [...panels].sort((a, b) => rank(a) - rank(b) || (b.last?.beganMs ?? -1) - (a.last?.beganMs ?? -1));
}

/**
 * How far a controller's caches are behind: the most that one of them lacks; null where that is not known.
 * @param {ControllerPanel} panel
 */
export function lagOf({ caches }) {
  const lags = Object.values(caches).map(({ lag }) => lag);
  return lags.some((lag) => lag === null) ? null : Math.max(0, .../** @type {number[]} */ (lags));
}

/**
 * Where the object of a reconciliation stands among the page's objects: the first kind of the controller's caches that has one
 * under this key.
 * @param {string} key as the controller's queue has it
 * @param {ControllerPanel} panel
 * @param {(resource: string, key: string) => unknown} find
 * @returns {string} the resource; "" where there is none
 */
export function resourceOf(key, panel, find) {
  const own = Object.keys(panel.caches).sort((a, b) => likeness(b, panel.name) - likeness(a, panel.name));
  return own.find((resource) => find(resource, key)) ?? "";
}

/**
 * How well a resource fits a controller's name: "deployments.apps" and "deployment".
 * @param {string} resource
 * @param {string} name
 */
function likeness(resource, name) {
  const plural = resource.split(".")[0] ?? "";
  const word = name.split("-")[0] ?? "";
  return plural === `${name}s` ? 2 : plural.startsWith(word) ? 1 : 0;
}
