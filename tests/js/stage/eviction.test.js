// A preemption as frames: each tells one thing more, and the end is what the trace says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FRAMES, FRAME_MS, evictionOf, shortPriority } from "../../../static/js/stage/eviction.js";
import { cycle } from "./fixtures.js";

const fate = (/** @type {string} */ pod, /** @type {string} */ what, breaksBudget = false) => ({
  pod, uid: `u-${pod}`, priority: 100, startTime: null, breaksBudget, fate: what, plugin: "", reasons: [],
});
const refused = { code: "Unschedulable", plugin: "NodeResourcesFit", reasons: ["Insufficient cpu"] };
const TOLD = cycle({ point: "PostFilter", trace: /** @type {any} */ ({
  feasible: [], firstFail: { n1: refused, n2: refused, n3: refused, n4: refused },
  preemption: {
    nominatedNode: "n2", victims: ["a/w"],
    candidates: { n1: { victims: ["a/x", "a/y"], numPDBViolations: 1 }, n2: { victims: ["a/w"], numPDBViolations: 0 },
      n3: { victims: ["a/v"], numPDBViolations: 0 } },
    nodeStatus: { n4: { code: "Unschedulable", reasons: ["No preemption victims found for incoming pod"] } },
  },
  explanation: { preemption: {
    eligible: true, whyNot: "", asked: ["pdbViolations", "highestPriority"], draw: null, steps: [],
    candidates: [
      { node: "n1", costs: {}, eliminatedBy: "pdbViolations", fates: [fate("a/x", "victim", true), fate("a/y", "victim")] },
      { node: "n2", costs: {}, eliminatedBy: "", fates: [fate("a/w", "victim"), fate("a/s", "reprieved")] },
      { node: "n3", costs: {}, eliminatedBy: "highestPriority", fates: [fate("a/v", "victim")] },
    ],
  } },
}) });

/** @param {number} elapsedMs @param {object} [more] */
function shown(elapsedMs, more = {}) {
  const one = evictionOf(TOLD, { elapsedMs, budgetMs: Infinity, ...more });
  assert.ok(one);
  return {
    frame: FRAMES[one.frame], moving: one.moving, roles: [...one.byNode].map(([name, { role, criterion }]) => `${name} ${role} ${criterion}`),
    fates: [...one.fates].map(([pod, { fate: what }]) => `${pod} ${what}`),
  };
}

test("first the candidates, then every lesser pod is taken away, then some are given back", () => {
  const first = shown(0);
  assert.equal(first.frame, "candidates");
  assert.deepEqual(first.roles, ["n1 candidate 0", "n2 candidate 0", "n3 candidate 0"]);
  assert.deepEqual(first.fates, []);
  const dry = shown(FRAME_MS);
  assert.equal(dry.frame, "dryRun");
  assert.ok(dry.fates.includes("a/s victim"), "the one that will be given back is away too");
  const back = shown(2 * FRAME_MS);
  assert.equal(back.frame, "reprieve");
  assert.ok(back.fates.includes("a/s reprieved"));
});

test("then the criteria strike one loser after the other, and the last one leaves the node that is freed", () => {
  const one = shown(3 * FRAME_MS);
  assert.deepEqual([one.frame, one.roles], ["choose", ["n1 candidate 1", "n2 candidate 0", "n3 candidate 0"]]);
  const two = shown(3 * FRAME_MS + 500);
  assert.deepEqual(two.roles, ["n1 candidate 1", "n2 chosen 2", "n3 candidate 2"]);
  const end = shown(3 * FRAME_MS + 1000);
  assert.deepEqual([end.frame, end.moving, end.roles], ["evict", false, two.roles]);
});

test("it is squeezed into what the pace leaves, stands at its end without motion, and goes where somebody asks", () => {
  assert.equal(shown(250, { budgetMs: 250 }).frame, "evict");
  assert.equal(shown(Infinity).frame, "evict");
  const asked = shown(Infinity, { frame: 2 });
  assert.deepEqual([asked.frame, asked.moving], ["dryRun", false]);
});

test("sums and upstream's reasons stand beside it; without candidates there is no scene", () => {
  const one = evictionOf(TOLD, { elapsedMs: Infinity, budgetMs: Infinity });
  assert.deepEqual([one?.nodes, one?.candidates, one?.reprieved, one?.criteria, one?.victims, one?.node], [4, 3, 1, 2, 1, "n2"]);
  assert.equal(one?.why.get("n4"), "No preemption victims found for incoming pod");
  assert.equal(one?.fates.get("a/x")?.breaks, true);
  assert.equal(evictionOf(cycle({ point: "PostFilter", trace: { feasible: [] } }), { elapsedMs: 0, budgetMs: 1 }), null);
});

test("an era without an account still names its victims", () => {
  const bare = cycle({ point: "PostFilter", trace: { preemption: { nominatedNode: "n1", candidates: { n1: { victims: ["a/x"], numPDBViolations: 0 } } } } });
  const one = evictionOf(bare, { elapsedMs: Infinity, budgetMs: Infinity });
  assert.deepEqual([one?.byNode.get("n1")?.role, one?.fates.get("a/x")?.fate], ["chosen", "victim"]);
});

test("priorities are short", () => {
  assert.deepEqual([0, 100, 9_999, 20_000, 1_000_000, 2_000_001_000, -10].map(shortPriority),
    ["0", "100", "9999", "20k", "1M", "sys", "-10"]);
});

test("nodes that every criterion finds equal are told to have lost the lot, and none has won before it is drawn", () => {
  const preemption = { ...TOLD.trace?.preemption, ties: ["n2", "n3"] };
  const account = TOLD.trace?.explanation?.preemption;
  assert.ok(account);
  const candidates = account.candidates.map((one) => (one.node === "n3" ? { ...one, eliminatedBy: "lot" } : one));
  const told = cycle({ point: "PostFilter", trace: { ...TOLD.trace, preemption, explanation: { preemption: { ...account, candidates } } } });
  const at = (/** @type {number} */ elapsedMs) => [...(evictionOf(told, { elapsedMs, budgetMs: Infinity })?.byNode ?? [])]
    .map(([name, { role, criterion, lot }]) => `${name} ${role} ${criterion} ${lot}`);
  assert.deepEqual(at(3 * FRAME_MS + 500), ["n1 candidate 1 false", "n2 candidate 0 false", "n3 candidate 0 false"]);
  assert.deepEqual(at(Infinity), ["n1 candidate 1 false", "n2 chosen 0 true", "n3 candidate 0 true"]);
});
