// The scene of a wrong rule: what decided in the table, who dies in each world, whom the votes followed, in words.
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { loadTexts } from "../../../static/js/lib/text.js";
import { apart, believedOf, headline, tableOf, worldOf } from "../../../static/js/rules/model.js";

const pod = (name, priority, cpu, more = {}) => ({ key: `default/${name}`, name, priority, cpu, memory: 0, ...more });
const told = (more = {}) => ({ nodes: [], chosen: null, nominated: false, victims: [], message: "", table: [], asked: [], scores: {}, ...more });
const SHIFT = 2 ** 31;
const costs = (pdb, highest, sum, count) => ({ pdbViolations: pdb, highestPriority: highest, prioritySum: sum + count * SHIFT, victimCount: count, earliestStart: -60 });
const ANSWERS = {
  pod: pod("vip", 10_000, 2000),
  nodes: [
    { name: "n1", cpu: 4000, memory: 0, taints: [], pods: [pod("db-1", 20_000, 2000), pod("api", 500, 2000)] },
    { name: "n2", cpu: 4000, memory: 0, taints: [], pods: [pod("db-2", 20_000, 2000), pod("web", 100, 1000), pod("a", 0, 500)] },
    { name: "n3", cpu: 4000, memory: 0, taints: [], pods: [pod("cart", 0, 2000, { protected: true })] },
  ],
  answers: {
    engine: told({
      nodes: ["n2"], chosen: "n2", nominated: true, victims: ["default/web", "default/a"], asked: ["pdbViolations", "highestPriority"],
      table: [
        { node: "n1", victims: ["default/api"], costs: costs(0, 500, 500, 1), eliminatedBy: "highestPriority" },
        { node: "n2", victims: ["default/web", "default/a"], costs: costs(0, 100, 100, 2), eliminatedBy: "" },
        { node: "n3", victims: ["default/cart"], costs: costs(1, 0, 0, 1), eliminatedBy: "pdbViolations" },
      ],
    }),
    "fewest-victims": told({ nodes: ["n1"], chosen: "n1", nominated: true, victims: ["default/api"] }),
    "pdb-forbids": told({ nodes: ["n2"], chosen: "n2", nominated: true, victims: ["default/a", "default/web"] }),
    "formula-is-code": told({ nodes: ["n1", "n3"], chosen: "n1" }),
    "always-preempts": told({ message: "0/3 nodes are available: 3 Insufficient cpu." }),
  },
};
const rule = (id, en) => ({ id, title: { en, zh: `${en}（中）` }, because: { en: `because ${en}`, zh: "因为" }, kind: "node", decides: true });
const RULES = [rule("engine", "what it does"), rule("fewest-victims", "fewest victims"), rule("pdb-forbids", "a PDB forbids it"), rule("formula-is-code", "formula"), rule("locks", "locks")];

before(() => Promise.all([loadTexts("en", "rules"), loadTexts("zh-hans", "rules")]));

test("rules that come to the engine's own answer are left out, the one that most believed is first", () => {
  assert.deepEqual(apart(ANSWERS, RULES, {}).map(({ id }) => id), ["fewest-victims", "formula-is-code"]);
  assert.deepEqual(apart(ANSWERS, RULES, { "formula-is-code": 3 }).map(({ id }) => id), ["formula-is-code", "fewest-victims"]);
  assert.deepEqual(apart({ ...ANSWERS, answers: {} }, RULES, {}), []);
});

test("the winner stands first, and each loser shows the cell that decided and strikes what was not asked after it", () => {
  const table = tableOf(ANSWERS.answers.engine, "en");
  assert.deepEqual(table.rows.map(({ node }) => node), ["n2", "n1", "n3"]);
  assert.equal(table.asked, 2);
  const [n2, n1, n3] = table.rows.map(({ cells }) => cells);
  assert.deepEqual(n2.map(({ state }) => state), ["win", "win", "win", "win", "win"]);
  assert.deepEqual(n1.map(({ state }) => state), ["plain", "lost", "struck", "struck", "struck"]);
  assert.deepEqual(n3.map(({ state }) => state), ["lost", "struck", "struck", "struck", "struck"]);
  assert.deepEqual(n2.map(({ text }) => text), ["0", "100", "2·2³¹ + 100", "2", "00:01:00"]);
  assert.equal(n1[2].text, "2³¹ + 500");
  assert.equal(tableOf(ANSWERS.answers["fewest-victims"], "en"), null);
});

test("a candidate whose victims have not started has no earliest start", () => {
  const table = [{ node: "n1", victims: ["default/api"], costs: { ...costs(0, 0, 0, 1), earliestStart: null }, eliminatedBy: "" }];
  assert.equal(tableOf(told({ chosen: "n1", table }), "en").rows[0].cells[4].text, "–");
});

test("a world tells what it costs, in both languages", () => {
  const world = worldOf(ANSWERS, RULES[1], "en");
  assert.equal(world.title, "World under “fewest victims”");
  assert.equal(world.dies, "1 pod dies: api (500).");
  assert.equal(world.waits, "vip waits for n1");
  assert.deepEqual(world.bars[0].parts.map(({ name, victim, share }) => [name, victim, share]), [["db-1", false, 0.5], ["api", true, 0.5]]);
  assert.deepEqual(world.bars.map(({ chosen }) => chosen), [true, false, false]);
  assert.deepEqual([world.bars[2].free, world.bars[2].parts[0].guarded], [0.5, true]);
  assert.equal(worldOf(ANSWERS, RULES[0], "en").dies, "2 pods die: web (100), a (0).");
  assert.match(worldOf(ANSWERS, RULES[1], "zh-hans").title, /fewest victims（中）.*世界/);
  assert.equal(worldOf(ANSWERS, RULES[4], "en"), null);
});

test("a rule that ties says so, and one that finds no node says why", () => {
  assert.equal(worldOf(ANSWERS, RULES[3], "en").dies, "Nobody dies. Equally good: n1, n3.");
  assert.equal(worldOf(ANSWERS, RULES[3], "en").waits, "vip goes to n1");
  const none = worldOf(ANSWERS, rule("always-preempts", "x"), "en");
  assert.deepEqual([none.waits, none.dies], ["vip stays pending", "0/3 nodes are available: 3 Insufficient cpu."]);
});

test("what the votes believed: the engine's rule first, then by votes, nobody's left out", () => {
  const rows = believedOf(RULES, { "fewest-victims": 1, engine: 1, "pdb-forbids": 2 }, {}, "en");
  assert.deepEqual(rows.map(({ id, share, right }) => [id, share, right]), [["engine", 0.25, true], ["pdb-forbids", 0.5, false], ["fewest-victims", 0.25, false]]);
  assert.deepEqual(believedOf(RULES, {}, {}, "en"), []);
  // After two votes the first one orders them, and a rule that was given up is still told of.
  const twice = believedOf(RULES, { engine: 3, "pdb-forbids": 1 }, { "fewest-victims": 3, "pdb-forbids": 1 }, "en");
  assert.deepEqual(twice.map(({ id, before, share }) => [id, before, share]), [["engine", 0, 0.75], ["fewest-victims", 0.75, 0], ["pdb-forbids", 0.25, 0.25]]);
});

test("the headline is the engine's", () => {
  assert.equal(headline(ANSWERS, "en"), "It chose n2: 2 pods die, none above 100");
  assert.equal(headline({ ...ANSWERS, answers: { engine: told({ nodes: ["n1"], chosen: "n1" }) } }, "en"), "It chose n1");
  assert.equal(headline({ ...ANSWERS, answers: { engine: told() } }, "en"), "vip stays pending");
});
