// The finder: which rules it looks for, what it found in both languages, and what a refusal says.
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { loadTexts } from "../../../static/js/lib/text.js";
import { findable, foundOf, refusalText } from "../../../static/js/rules/finder_model.js";

const GI = 2 ** 30;
const rule = (id, more = {}) => ({ id, title: { en: `Rule ${id}`, zh: `规则 ${id}` }, because: { en: id, zh: id }, kind: "node", decides: true, findable: true, ...more });
const RULES = [rule("engine", { findable: false }), rule("fewest-victims"), rule("stored-expiry", { findable: false })];
const told = (node, victims = []) => ({ nodes: [node], chosen: node, nominated: victims.length > 0, victims, message: "", table: [], asked: [], scores: {} });
const node = (name, pods = []) => ({ name, cpu: 4000, memory: 8 * GI, taints: [], pods });
const pod = (name, priority) => ({ key: `default/${name}`, name, priority, cpu: 2000, memory: 0 });
const FOUND = {
  looked: 1, size: { nodes: 2, pods: 1 }, pod: pod("new", 1000), nodes: [node("n1", [pod("p1", 5)]), node("n2")],
  answers: { engine: told("n1", ["default/p1"]), "fewest-victims": told("n2") },
};

before(() => Promise.all([loadTexts("en", "rules"), loadTexts("zh-hans", "rules")]));

test("only rules that a cluster can be looked for against are offered", () => {
  assert.deepEqual(findable(RULES).map(({ id }) => id), ["fewest-victims"]);
});

test("what was found is told whole: its size, the pod, what nodes have, the rule's world and then the engine's", () => {
  const shown = foundOf({ rule: "fewest-victims", seed: 7, found: FOUND }, RULES, "en");
  assert.deepEqual([shown.size, shown.looked], ["2 nodes, 1 pod there before", "1 cluster was looked at"]);
  assert.match(shown.pod, /^new asks for 2 CPU; priority 1,000$/);
  assert.deepEqual(shown.facts.map((line) => line.split(" ")[0]), ["n1", "n2"]);
  assert.match(shown.facts[0], /free: 2 CPU/);
  assert.deepEqual(shown.worlds.map(({ id, bars }) => [id, bars.find(({ chosen }) => chosen).name]), [["fewest-victims", "n2"], ["engine", "n1"]]);
  assert.equal(foundOf({ rule: "fewest-victims", seed: 7, found: FOUND }, RULES, "zh-hans").size, "2 个节点，已有 1 个 Pod");
});

test("nothing found is nothing to draw", () => {
  assert.equal(foundOf({ rule: "fewest-victims", seed: 7, found: null }, RULES, "en"), null);
});

test("a refusal says when to try again, in the page's language; what only the server knows stays as it said it", () => {
  const refusal = (code, retryAfterSeconds) => Object.assign(new Error("as the server says"), { status: { code, details: { retryAfterSeconds } } });
  assert.match(refusalText(refusal(429, 12), "en"), /in 12 s/);
  assert.match(refusalText(refusal(429, 12), "zh-hans"), /请 12 秒后再试/);
  assert.match(refusalText(refusal(503, 5), "zh-hans"), /服务器正忙/);
  assert.match(refusalText(refusal(409), "en"), /agree on every cluster/);
  assert.doesNotMatch(refusalText(refusal(0), "zh-hans"), /as the server says/);
  assert.equal(refusalText(refusal(422), "en"), "as the server says");
});
