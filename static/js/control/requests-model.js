/**
 * The API server's requests as the page tells of them: which way one went, what each step changed, whose write was too late.
 * Pure: no DOM, clock or network.
 */

/** @import { ApiRequest, LogRow, RequestStep } from "../lib/types.d.ts" */
import { KINDS } from "../lib/kinds.js";
import { parseQuantity } from "../lib/quantity.js";

/** The stages of a request, in the order in which a real API server has them. */
export const STAGES = /** @type {const} */ ([
  "authentication", "authorization", "decode", "mutating", "registry", "validating", "quota", "store",
]);

/**
 * @typedef {object} Stage one piece of the way
 * @property {typeof STAGES[number]} name
 * @property {"ok" | "changed" | "refused" | "skipped" | "unreached"} state skipped: this kind of request has none of it
 * @property {number} ms real milliseconds of all its steps
 * @property {RequestStep[]} steps
 */

/**
 * @param {RequestStep} step
 * @returns {typeof STAGES[number]}
 */
function stageOf(step) {
  if (step.step === "registry") return step.plugin === "decode" ? "decode" : "registry";
  return step.step;
}

/**
 * The way of a request: every stage, those that it never came to as well.
 * @param {ApiRequest} request
 * @returns {Stage[]}
 */
export function wayOf(request) {
  const refused = request.steps.find(({ result }) => result === "refused");
  const end = refused ? STAGES.indexOf(stageOf(refused)) : STAGES.length;
  return STAGES.map((name, index) => {
    const steps = request.steps.filter((step) => stageOf(step) === name);
    const state = steps.some(({ result }) => result === "refused") ? "refused"
      : steps.some(({ result }) => result === "changed") ? "changed"
      : steps.length > 0 ? "ok" : index > end ? "unreached" : "skipped";
    return { name, state, steps, ms: steps.reduce((sum, { ms }) => sum + ms, 0) };
  });
}

/**
 * How long all of it took, in real milliseconds.
 * @param {ApiRequest} request
 */
export function durationOf(request) {
  return request.steps.reduce((sum, { ms }) => sum + ms, 0);
}

/**
 * What a request was about: its kind's resource, the object's name, and where it stands among the page's objects.
 * @param {Pick<ApiRequest, "path" | "key">} request
 * @returns {{resource: string, key: string, name: string}} `resource` and `key` are "" where the page knows no such kind
 */
export function objectOf(request) {
  const parts = request.path.split("/").filter(Boolean);
  const core = parts[0] === "api";
  const group = core ? "" : (parts[1] ?? "");
  const rest = parts.slice(core ? 2 : 3);
  const namespaced = rest[0] === "namespaces" && rest.length > 2;
  const namespace = namespaced ? (rest[1] ?? "") : "";
  const [plural = "", named = "", subresource = ""] = namespaced ? rest.slice(2) : rest;
  const name = named || lastOf(request.key, namespace);
  const kind = KINDS.find((one) => one.plural === plural && (one.apiVersion.includes("/") ? one.apiVersion.split("/")[0] : "") === group);
  const told = [name || plural, subresource].filter(Boolean).join("/");
  if (!kind || !name) return { resource: "", key: "", name: told };
  return { resource: kind.resource, key: kind.namespaced ? `${namespace}/${name}` : name, name: told };
}

/**
 * The name in a key of the store; "" where the key is a whole list's.
 * @param {string} key
 * @param {string} namespace
 */
function lastOf(key, namespace) {
  const parts = key.split("/").filter(Boolean);
  return parts.length > (namespace ? 3 : 2) ? (parts.at(-1) ?? "") : "";
}

/**
 * What a step changed, piece by piece: "priority 0", "volume kube-api-access-x7k2p".
 * @param {RequestStep} step
 * @returns {string[]}
 */
export function changesOf(step) {
  return step.result === "changed" ? pieces(step) : [];
}

/**
 * A piece with the sign of what became of it: added, unless it says itself that it was changed (~), is gone (−), or how many more
 * there are.
 * @param {string} piece
 */
export function markedPiece(piece) {
  return /^[~−…] /.test(piece) ? piece : `+ ${piece}`;
}

/**
 * What a step that changed nothing found, piece by piece: who it is and their groups, who lets them.
 * @param {RequestStep} step
 * @returns {string[]}
 */
export function saidBy(step) {
  return step.result === "ok" ? pieces(step) : [];
}

/** @param {RequestStep} step */
function pieces({ message }) {
  return (message ?? "").split(/,\s+/).filter(Boolean);
}

/** Changes of an object that are told after a request of it. */
export const AFTER_MAX = 5;

/** @param {number} code HTTP status */
export function toneOf(code) {
  return code < 400 ? "good" : "bad";
}

/**
 * What a quota lacked, from the sentence of its refusal.
 * @param {string} message "exceeded quota: Q, requested: a=1, used: a=2, limited: a=2"
 * @returns {{quota: string, rows: {resource: string, requested: string, used: string, limited: string, free: number,
 *   usedShare: number, limitShare: number}[]} | null} shares of used + requested, the bar's length
 */
export function quotaOf(message) {
  const found = /exceeded quota: ([^,]+), requested: (.+), used: (.+), limited: (.+)$/.exec(message);
  if (!found) return null;
  const [requested, used, limited] = [found[2], found[3], found[4]].map((list) =>
    new Map((list ?? "").split(",").map((pair) => /** @type {[string, string]} */ (pair.split("=")))));
  const rows = [...(requested ?? [])].map(([resource, wanted]) => {
    const has = used?.get(resource) ?? "0";
    const limit = limited?.get(resource) ?? "0";
    const [a, b, c] = [parseQuantity(wanted), parseQuantity(has), parseQuantity(limit)];
    const whole = Math.max(a + b, c) || 1;
    return { resource, requested: wanted, used: has, limited: limit, free: Math.max(0, c - b), usedShare: b / whole, limitShare: c / whole };
  });
  return { quota: found[1] ?? "", rows };
}

/**
 * @typedef {object} Conflict two writers of one object: who came second was refused
 * @property {ApiRequest} loser
 * @property {{actor: string, verb: string, asked: string, stored: string}} winner `actor` as in the log; asked: what it
 *   was made on, "" where it named none or left no marks
 * @property {ApiRequest | null} again the loser's next try on what it read anew, where there was one
 */

/**
 * The other writer of a request that was refused because it was too late; null where it was not.
 * @param {ApiRequest} loser
 * @param {readonly ApiRequest[]} requests newest first
 * @param {readonly LogRow[]} rows
 * @returns {Conflict | null}
 */
export function conflictOf(loser, requests, rows) {
  if (loser.code !== 409 || !loser.rvAsked || !loser.rvBefore || loser.rvAsked === loser.rvBefore) return null;
  const won = requests.find((one) => one.key === loser.key && one.rvAfter === loser.rvBefore);
  const row = rows.find(({ revision }) => String(revision) === loser.rvBefore);
  const at = requests.indexOf(loser);
  const again = requests.slice(0, Math.max(0, at)).findLast((one) =>
    one.key === loser.key && one.user === loser.user && one.rvAfter !== "" && Number(one.rvAsked) >= Number(loser.rvBefore));
  return {
    loser,
    winner: won ? { actor: `user:${won.user}`, verb: won.verb, asked: won.rvAsked, stored: won.rvAfter }
      : { actor: row?.actor ?? "", verb: row ? "update" : "", asked: "", stored: loser.rvBefore },
    again: again ?? null,
  };
}

/**
 * What the cluster made of a request: the next changes of its object that the log has.
 * @param {ApiRequest} request
 * @param {readonly LogRow[]} rows oldest first
 * @param {number} most
 */
export function afterwards(request, rows, most) {
  const { resource, key } = objectOf(request);
  if (!resource || !request.rvAfter) return [];
  const after = Number(request.rvAfter);
  return rows.filter((row) => row.revision > after && row.resource === resource
    && (row.object.metadata.namespace ? `${row.object.metadata.namespace}/${row.object.metadata.name}` : row.object.metadata.name) === key)
    .slice(0, most);
}
