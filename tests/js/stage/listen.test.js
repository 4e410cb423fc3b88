// A listener follows a cycle by its turns, and no faster than it can be heard.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadTexts } from "../../../static/js/lib/text.js";
import { SAID_EVERY_MS, heard, heardLine, makeListener } from "../../../static/js/stage/listen.js";
import { cycle, trace } from "./fixtures.js";

/** @import { DecisionLine } from "../../../static/js/lib/types.d.ts" */

await loadTexts("en", "stage");
await loadTexts("zh-hans");
const name = (/** @type {string} */ key) => key.split("/").pop() ?? key;
const { chosen: _chosen, lot: _lot, best: _best, ...open } = trace();
const line = (/** @type {Partial<DecisionLine>} */ change) => /** @type {DecisionLine} */ ({
  id: "d1", revision: 3, simTimeMs: 0, pod: "default/api-1", uid: "u-api-1", attempt: 1, replica: "s", result: "scheduled", node: "n2", points: 300, ...change,
});

test("a cycle is told turn by turn: taken, filtered, scored, placed, bound", () => {
  const first = cycle({ point: "PreFilter", trace: {} });
  const filter = cycle({ point: "Filter", trace: { ...open, scores: undefined } });
  const score = cycle({ point: "Score", trace: open });
  const reserve = cycle({ point: "Reserve" });
  assert.deepEqual(heard(null, first, "web-1", "en", name), ["web-1 is taken into hand, attempt 1."]);
  assert.deepEqual(heard(first, filter, "web-1", "en", name), ["3 of 4 nodes pass the filters: 1 Insufficient cpu."]);
  assert.deepEqual(heard(filter, score, "web-1", "en", name), ["2 nodes tie with 391 points."]);
  assert.deepEqual(heard(score, reserve, "web-1", "en", name), ["web-1 goes to n3 with 391 points, by lot among 2."]);
  assert.deepEqual(heard(reserve, cycle({ point: "Permit" }), "web-1", "en", name), []);
  assert.deepEqual(heard(reserve, cycle({ point: "Bind" }), "web-1", "en", name), ["web-1 is bound to n3."]);
  for (const said of [heard(null, reserve, "web-1", "zh-hans", name)].flat()) assert.doesNotMatch(said, /live\.|\{/);
});

test("who leads is told while it is news: not to whoever hears at the same time who won", () => {
  const filter = cycle({ point: "Filter", trace: { ...open, scores: undefined } });
  const placed = "web-1 goes to n3 with 391 points, by lot among 2.";
  assert.deepEqual(heard(filter, cycle({ point: "Reserve" }), "web-1", "en", name), [placed]);
  /** @type {string[]} */
  const said = [];
  const listener = makeListener((sentence) => said.push(sentence));
  const follow = (/** @type {ReturnType<typeof cycle>} */ one) => listener.follow(one, [], () => "web-1", "en");
  follow(filter);
  listener.tick(SAID_EVERY_MS, "en");
  follow(cycle({ point: "Score", trace: open }));
  follow(cycle({ point: "Reserve" }));
  listener.tick(2 * SAID_EVERY_MS, "en");
  assert.equal(said.at(-1), placed);
});

test("a refusal is told in kube-scheduler's own words, once, and a preemption with whom it costs", () => {
  const fitError = "0/4 nodes are available: 4 Insufficient cpu.";
  const before = cycle({ point: "Filter", trace: { feasible: [], firstFail: trace().firstFail } });
  const refused = cycle({ point: "PostFilter", trace: { feasible: [], fitError } });
  assert.deepEqual(heard(before, refused, "web-1", "en", name), [`web-1 was not scheduled: ${fitError}`]);
  const room = cycle({ point: "PostFilter", trace: { feasible: [], fitError,
    preemption: { nominatedNode: "n2", candidates: { n2: { victims: ["default/a", "default/b"], numPDBViolations: 0 } } } } });
  assert.deepEqual(heard(refused, room, "web-1", "en", name), ["For web-1 2 pods leave n2: a, b."]);
});

test("a pod for which room was made asks its node alone", () => {
  const [again = ""] = heard(cycle({ point: "PreFilter", trace: {} }), cycle({ point: "Filter", trace: { feasible: ["n2"], firstFail: {} } }), "web-1", "en", name);
  assert.equal(again, "The one node that is asked passes the filters.");
});

test("of many pods that make way the first are named", () => {
  const preemption = { node: "n2", candidates: 1, criterion: "only", victims: ["a/p1", "a/p2", "a/p3", "a/p4"], count: 9 };
  assert.equal(heardLine(line({ preemption }), "api-1", "en", name), "For api-1 9 pods leave n2: p1, p2, p3 ….");
  assert.equal(heardLine(line({ preemption: { ...preemption, victims: [], count: 0 } }), "api-1", "en", name), "api-1 is nominated to n2.");
});

test("what went by too fast is told in a sentence", () => {
  assert.equal(heardLine(line({}), "api-1", "en", name), "api-1 goes to n2 with 300 points.");
  assert.equal(heardLine(line({ best: 3 }), "api-1", "en", name), "api-1 goes to n2 with 300 points, by lot among 3.");
  assert.equal(heardLine(line({ points: undefined }), "api-1", "en", name), "api-1 goes to n2, the only one that fits.");
  assert.equal(heardLine(line({ points: undefined, alone: "nominated" }), "api-1", "en", name), "api-1 goes to n2, its nominated node, which was asked alone.");
  assert.equal(heardLine(line({ points: undefined, alone: "turn" }), "api-1", "en", name), "api-1 goes to n2, the first in turn that fits; no later one was asked.");
  assert.equal(heardLine(line({ result: "unschedulable", node: undefined }), "api-1", "en", name), "api-1 found no node.");
});

test("sentences of a cycle come together, and wait until the last ones were heard", () => {
  /** @type {string[]} */
  const said = [];
  const listener = makeListener((sentence) => said.push(sentence));
  listener.follow(cycle({ point: "PreFilter", trace: {} }), [], name, "en");
  listener.tick(0, "en");
  assert.deepEqual(said, ["web-1 is taken into hand, attempt 1."]);
  listener.follow(cycle({ point: "Filter", trace: { ...open, scores: undefined } }), [], name, "en");
  listener.follow(cycle({ point: "Score", trace: open }), [], name, "en");
  listener.tick(SAID_EVERY_MS - 1, "en");
  assert.equal(said.length, 1);
  listener.tick(SAID_EVERY_MS, "en");
  assert.equal(said[1], "3 of 4 nodes pass the filters: 1 Insufficient cpu. 2 nodes tie with 391 points.");
  listener.tick(9 * SAID_EVERY_MS, "en");
  assert.equal(said.length, 2, "nothing is said twice");
});

test("of many decisions in a moment the newest is told, and how many passed; those of before the page are no news", () => {
  /** @type {string[]} */
  const said = [];
  const listener = makeListener((sentence) => said.push(sentence));
  const decisions = [line({ id: "old" })];
  listener.follow(null, decisions, name, "en");
  listener.tick(0, "en");
  assert.deepEqual(said, []);
  for (const id of ["a", "b", "c"]) listener.follow(null, [...decisions, line({ id, uid: id, pod: `default/${id}` })], name, "en");
  listener.tick(1, "en");
  assert.deepEqual(said, ["c goes to n2 with 300 points. 2 earlier cycles passed."]);
});

test("a decision that was followed point by point is not told again by its line", () => {
  /** @type {string[]} */
  const said = [];
  const listener = makeListener((sentence) => said.push(sentence));
  listener.follow(cycle({ point: "Reserve" }), [], name, "en");
  listener.tick(0, "en");
  listener.follow(null, [line({ uid: "u-web-1", attempt: 1 })], name, "en");
  listener.tick(SAID_EVERY_MS, "en");
  assert.equal(said.length, 1);
});
