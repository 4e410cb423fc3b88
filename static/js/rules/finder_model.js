/** What the finder found, as it is shown; and what a refusal says. Pure. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Answers, Rule, World } from "./model.js" */
import { counted, number, text } from "../lib/text.js";
import { asksOf, factsOf } from "./homework_model.js";
import { ENGINE, worldOf } from "./model.js";

/** Seconds that a search takes at most, as the server says (docs/limits.md, `rules.SEARCH_SECONDS`). */
export const SEARCH_SECONDS = 8;

/** `POST …/rules/<rule>/find`. @typedef {{rule: string, seed: number, found: (Answers & {looked: number, size: {nodes: number, pods: number}}) | null}} Answer */

/** The rules that a cluster can be looked for against. @param {readonly Rule[]} rules */
export const findable = (rules) => rules.filter((rule) => rule.findable);

/**
 * @param {Answer} answer
 * @param {readonly Rule[]} rules
 * @param {Lang} lang
 * @returns {{size: string, looked: string, pod: string, facts: string[], worlds: World[]} | null} what each node has, the
 *   rule's world and then the engine's; null: nothing was found
 */
export function foundOf({ rule, found }, rules, lang) {
  const believed = rules.find(({ id }) => id === rule);
  const engine = rules.find(({ id }) => id === ENGINE);
  if (!found || !believed || !engine) return null;
  return {
    size: [counted(lang, "rules.find_nodes", { count: found.size.nodes }), counted(lang, "rules.find_pods", { count: found.size.pods })].join(text(lang, "rules.find_and")),
    looked: counted(lang, "rules.find_looked", { count: found.looked }),
    pod: asksOf(found.pod, lang),
    facts: found.nodes.map((node) => `${node.name} · ${factsOf(node, lang)}`),
    worlds: [believed, engine].map((one) => worldOf(found, one, lang)).filter((world) => world !== null),
  };
}

/**
 * What a refused search, or a session that did not open, says and advises.
 * @param {Error & {status?: {code?: number, details?: {retryAfterSeconds?: number}}}} refusal
 * @param {Lang} lang
 */
export function refusalText({ message, status }, lang) {
  const seconds = number(lang, status?.details?.retryAfterSeconds ?? 5);
  switch (status?.code) {
    case 0: return text(lang, "unreachable");
    case 409: return text(lang, "rules.find_none");
    case 429: return text(lang, "rules.find_often", { seconds });
    case 503: return text(lang, "rules.find_later", { seconds });
    default: return message;
  }
}
