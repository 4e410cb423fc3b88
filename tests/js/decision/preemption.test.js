import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf, pointName } from "../../../static/js/lib/trace.js";
import { accountOf, candidateRows, decidedBy, nominatedOf, readCost } from "../../../static/js/decision/preemption-model.js";
import { cycle } from "../stage/fixtures.js";

/** @import { Account, TraceResult } from "../../../static/js/lib/types.d.ts" */

const SHIFT = 2 ** 31;

/**
 * @param {string} node
 * @param {readonly (number | null)[]} costs
 * @param {string} eliminatedBy
 * @returns {Account["candidates"][number]}
 */
function candidate(node, costs, eliminatedBy) {
  const [pdbViolations, highestPriority, prioritySum, victimCount, earliestStart] = /** @type {number[]} */ (costs);
  return {
    node, eliminatedBy,
    costs: /** @type {Record<string, number>} */ ({ pdbViolations, highestPriority, prioritySum, victimCount, earliestStart }),
    fates: [{
      pod: `default/${node}-1`, uid: "u", priority: 100, startTime: "2026-01-01T10:39:47Z", breaksBudget: false,
      fate: "victim", plugin: "NodeResourcesFit", reasons: ["Insufficient cpu"],
    }],
  };
}

/** @returns {Account} */
const account = () => ({
  eligible: true, whyNot: "", asked: ["pdbViolations", "highestPriority", "prioritySum"], draw: null,
  candidates: [
    candidate("n1", [1, 100, 3 * SHIFT, 3, -100], "pdbViolations"),
    candidate("n10", [0, 100, 2 * SHIFT + 150, 2, -200], "prioritySum"),
    candidate("n7", [0, 100, 2 * SHIFT + 100, 2, null], ""),
    candidate("n5", [0, 500, SHIFT + 500, 1, -300], "highestPriority"),
  ],
  steps: [{ step: "triggered" }],
});

/** @returns {TraceResult} */
const result = () => ({
  preemption: {
    nominatedNode: "n7",
    candidates: Object.fromEntries(["n1", "n10", "n7", "n5"].map((node) => [node, { victims: [`default/${node}-1`], numPDBViolations: 0 }])),
  },
});

test("candidates stand with the nominated one first, then those that stayed longest", () => {
  const rows = candidateRows(result(), account());
  assert.deepEqual(rows.map((row) => [row.node, row.out]),
    [["n7", ""], ["n10", "prioritySum"], ["n5", "highestPriority"], ["n1", "pdbViolations"]]);
});

test("a row is struck from the criterion on that turned it away, and the last one asked decided", () => {
  const [n7, n10, n5] = candidateRows(result(), account());
  assert.deepEqual(n7?.costs.map((cost) => cost.state), ["kept", "kept", "decided", "kept", "kept"]);
  assert.deepEqual(n10?.costs.map((cost) => cost.state), ["kept", "kept", "out", "after", "after"]);
  assert.deepEqual(n5?.costs.map((cost) => cost.state), ["kept", "out", "after", "after", "after"]);
});

test("costs are read as what they are made of", () => {
  const [n7, n10] = candidateRows(result(), account());
  assert.deepEqual(n10?.costs.map((cost) => readCost(cost, 2)), [
    { kind: "number", value: 0 }, { kind: "number", value: 100 }, { kind: "sum", times: 2, rest: 150 },
    { kind: "number", value: 2 }, { kind: "time", unixMs: 200_000 },
  ]);
  assert.deepEqual(readCost(/** @type {any} */ (n7?.costs[4]), 2), { kind: "none" });
});

test("what decided is told of the node that stayed longest beside the chosen one", () => {
  const decided = decidedBy(candidateRows(result(), account()));
  assert.deepEqual([decided?.winner.node, decided?.loser?.node, decided?.by], ["n7", "n10", "prioritySum"]);
  const one = { preemption: { nominatedNode: "n7", candidates: { n7: { victims: ["default/x"], numPDBViolations: 0 } } } };
  assert.equal(decidedBy(candidateRows(one, null))?.loser, null);
  assert.equal(decidedBy(candidateRows({ preemption: { candidates: {} } }, null)), null);
});

test("a node that an equal one beat by lot stands before those that a criterion turned away", () => {
  const told = account();
  told.candidates[0] = { .../** @type {Account["candidates"][number]} */ (told.candidates[0]), eliminatedBy: "lot" };
  const decided = decidedBy(candidateRows(result(), told));
  assert.deepEqual([decided?.loser?.node, decided?.by], ["n1", "lot"]);
});

test("without an account the candidates are shown all the same", () => {
  const rows = candidateRows(result(), null);
  assert.equal(rows.length, 4);
  assert.deepEqual(rows[0]?.costs, []);
});

test("the account is found beside the result, and in the status of the cycle in hand within it", () => {
  const told = account();
  const nominated = [{ node: "a", pods: ["default/x"], with: { code: "Unschedulable" }, without: { code: "Success" } }];
  const explanation = { preemption: told, nominated };
  assert.equal(accountOf({ result: {}, explanation }), told);
  assert.equal(accountOf({ result: { explanation } }), told);
  assert.equal(accountOf({ result: {} }), null);
  assert.equal(nominatedOf({ result: { explanation } }), nominated);
  assert.deepEqual(nominatedOf({ result: {} }), []);
});

test("an era's points are shown by its names and stand where today's stand", () => {
  const era = "framework-1.18";
  assert.equal(pointName("PreScore", era), "PostFilter");
  assert.equal(pointName("PostFilter", era), "Preemption");
  assert.equal(pointName("PreScore", "v1.34"), "PreScore");
  assert.equal(placeOf(cycle({ point: /** @type {any} */ ("Preemption"), era })), "PostFilter");
  assert.equal(placeOf(cycle({ point: "PostFilter", era })), "PreScore");
  assert.equal(placeOf(cycle({ point: "PostFilter" })), "PostFilter");
});
