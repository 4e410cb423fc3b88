/** What a what-if changes, node by node, as the stage shows it. Pure. */

/** @import { CodeReasons, Trace, Trial, TrialNode, WhatIfAnswer, WhatIfLast } from "../lib/types.d.ts" */

/**
 * One attempt taken again: points before and after wherever there are any, and the nodes whose verdict is another.
 * @param {string} pod `namespace/name`
 * @param {WhatIfAnswer} answer
 * @returns {Trial}
 */
export function trialOfAnswer(pod, { before, after, difference }) {
  const [was, now] = difference.chosen;
  const [then, next] = [totalsOf(before), totalsOf(after)];
  const verdicts = new Map(difference.verdicts.map((one) => [one.node, one]));
  /** @type {Map<string, TrialNode>} */
  const nodes = new Map();
  for (const node of new Set([...then.keys(), ...next.keys(), ...verdicts.keys(), ...[was, now].filter(isThere)])) {
    const turned = turnOf(verdicts.get(node));
    const role = node === now ? (node === was ? "stays" : "would") : node === was ? "had" : "";
    const [old, fresh] = [then.get(node) ?? null, next.get(node) ?? null];
    // Refused before and after: the tile says why as it did.
    if (!turned.verdict && !role && old === null && fresh === null) continue;
    nodes.set(node, { was: old, now: fresh, ...turned, role });
  }
  return { pod, attempt: before.id, last: 0, chosen: [was, now], elsewhere: [0, 0], nodes };
}

/**
 * The newest decisions taken again: how many pods each node got, and would have got. Nodes that got none are told, too.
 * @param {string} pod whose what-if it is
 * @param {WhatIfLast} last
 * @returns {Trial}
 */
export function trialOfLast(pod, { decided, elsewhere, decisions }) {
  /** @type {Map<string, TrialNode>} */
  const nodes = new Map();
  const at = (/** @type {string} */ node) => {
    const known = nodes.get(node) ?? { was: 0, now: 0, verdict: /** @type {const} */ (""), reason: "", role: /** @type {const} */ ("") };
    nodes.set(node, known);
    return known;
  };
  for (const { before, after } of decisions) {
    if (before !== null) at(before).was = (at(before).was ?? 0) + 1;
    if (after !== null) at(after).now = (at(after).now ?? 0) + 1;
  }
  return { pod, attempt: "", last: decided, chosen: [null, null], elsewhere: [elsewhere, decided], nodes };
}

/** @param {string | null} node @returns {node is string} */
function isThere(node) {
  return node !== null;
}

/** @param {Trace} trace @returns {Map<string, number>} */
function totalsOf({ result: { scores } }) {
  return new Map((scores?.nodes ?? []).map((node, row) => [node, scores?.total[row] ?? 0]));
}

/**
 * @param {{before: "fits" | CodeReasons | null, after: "fits" | CodeReasons | null} | undefined} verdicts
 * @returns {Pick<TrialNode, "verdict" | "reason">}
 */
function turnOf(verdicts) {
  if (verdicts && verdicts.after === "fits" && verdicts.before !== "fits") return { verdict: "in", reason: "" };
  if (!verdicts || verdicts.before !== "fits" || !verdicts.after || verdicts.after === "fits") return { verdict: "", reason: "" };
  return { verdict: "out", reason: (verdicts.after.reasons ?? [verdicts.after.code]).join(", ") };
}
