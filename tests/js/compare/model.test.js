// What Compare asks for and what it makes of the answer.
import assert from "node:assert/strict";
import { test } from "node:test";

import { hues, nodesChart, waitsChart } from "../../../static/js/compare/charts.js";
import { AS_IT_IS, NODES_MAX, askOf, changesOf, movedOf, nodesOf, pluginsOf, sumsOf, tableOf, waitsOf, whyOf } from "../../../static/js/compare/model.js";
import { csvOf } from "../../../static/js/lib/csv.js";

const PLUGINS = [{ name: "Fit", weight: 1 }, { name: "Spread", weight: 2 }, { name: "NodeName", weight: 0 }];
const words = (key, values = {}) => `${key} ${JSON.stringify(values)}`;
const sums = (change = {}) => ({
  pods: 4, placed: 3, evicted: 1, spread: { skew: 2, group: "web", over: "zones" },
  room: { size: { cpu: 500, memory: 0 }, fits: 5, cpuFree: 3000, stranded: 0.2 },
  waited: { half: 1, longest: 3 }, simTime: 9, atRest: true, ...change,
});
const at = (node, waited = node ? 0 : null) => ({ node, waited, evicted: false });
const row = (pod, a, b, why = null, points = [null, null]) => ({ pod: `default/${pod}`, uid: pod, a, b, points, why });
const answer = (change = {}) => ({
  revision: 7, seed: 3, pods: 3, elsewhere: 2, sums: [sums(), sums()], nodes: [], optimum: null,
  rows: [
    row("one", at("n1"), at("n1", 2)),
    row("two", at("n1", 0), at("n2", 0), { kind: "score", plugin: "Fit", by: 7 }, [10, 17]),
    row("three", at(null), at("n2", 5), { kind: "none", side: "a", message: "0/2 nodes" }),
  ],
  ...change,
});

test("plugins are those of all profiles, each once, with the weight of the first", () => {
  const profiles = [
    { plugins: [{ name: "Fit", weight: 3, points: ["filter", "score"] }, { name: "NodeName", weight: 0, points: ["filter"] }] },
    { plugins: [{ name: "Fit", weight: 9, points: ["score"] }, { name: "Spread", weight: 0, points: ["score"] }] },
  ];
  const config = { metadata: { name: "default" }, status: { profiles } };
  const view = { objects: new Map([["schedulerconfigs.clustersim.io", new Map([["default", config]])]]) };
  assert.deepEqual(pluginsOf(view), [{ name: "Fit", weight: 3 }, { name: "NodeName", weight: 0 }, { name: "Spread", weight: 1 }]);
  assert.deepEqual(pluginsOf({ objects: new Map() }), []);
});

test("a side asks for what was chosen, and for nothing that was not", () => {
  const side = { ...AS_IT_IS, weights: { Fit: 5, Spread: 2 }, without: "NodeName", yaml: "kind: X" };
  assert.deepEqual(changesOf(side, PLUGINS), []);
  assert.deepEqual(changesOf({ ...side, kind: "weights" }, PLUGINS), [{ weight: { plugin: "Fit", weight: 5 } }, { disable: "NodeName" }]);
  assert.deepEqual(changesOf({ ...side, kind: "weights", without: "Fit" }, PLUGINS), [{ disable: "Fit" }]);
  assert.deepEqual(changesOf({ ...side, kind: "weights", without: "", weights: { Gone: 4 } }, PLUGINS), []);
  assert.deepEqual(changesOf({ ...side, kind: "yaml" }, PLUGINS), [{ scheduler: "kind: X" }]);
  assert.deepEqual(changesOf({ ...side, kind: "yaml", yaml: " \n" }, PLUGINS), []);
  assert.deepEqual(changesOf({ ...side, kind: "era:framework-1.18" }, PLUGINS), [{ scheduler: { era: "framework-1.18" } }]);
});

test("the optimum is asked for where the cluster is as it stands", () => {
  assert.deepEqual(askOf(AS_IT_IS, AS_IT_IS, "anew", PLUGINS), { a: [], b: [], input: "anew", optimum: true });
  assert.deepEqual(askOf(AS_IT_IS, AS_IT_IS, "40", PLUGINS), { a: [], b: [], input: { last: 40 }, optimum: false });
});

test("each number knows which side is better off", () => {
  const other = sums({
    placed: 4, evicted: 3, spread: { skew: 2, group: "db", over: "zones" }, waited: { half: null, longest: 3 },
    room: { size: { cpu: 500, memory: 0 }, fits: 4, cpuFree: 3000, stranded: 0.1 },
  });
  const found = Object.fromEntries(sumsOf(answer({ sums: [sums(), other] })).map((sum) => [sum.name, sum]));
  assert.deepEqual(Object.fromEntries(Object.entries(found).map(([name, { better }]) => [name, better])),
    { placed: "b", evicted: "a", spread: "", fits: "a", stranded: "b", half: "" });
  assert.deepEqual(found.placed.values, [3, 4]);
  assert.equal(found.spread.about, "web → db");
  assert.deepEqual(sumsOf(answer({ sums: [sums({ spread: null }), sums({ spread: null })] })).find((sum) => sum.name === "spread").values, [null, null]);
});

test("who went elsewhere, and why in words", () => {
  assert.deepEqual(movedOf(answer()).map(({ uid }) => uid), ["two", "three"]);
  const [one, two, three] = answer().rows;
  assert.equal(whyOf(one, words), "");
  assert.equal(whyOf(two, words), 'compare.why_score {"plugin":"Fit","by":7,"before":"n1","after":"n2"}');
  assert.equal(whyOf(three, words), 'compare.why_none {"side":"A","message":"0/2 nodes"}');
  const silent = { ...three, why: { kind: "none", side: "b", message: "" } };
  assert.match(whyOf(silent, words), /no_words/);
  const refused = { ...two, why: { kind: "refused", side: "b", node: "n1", plugin: "Fit", reasons: ["Insufficient cpu"] } };
  assert.equal(whyOf(refused, words), 'compare.why_refused {"side":"B","node":"n1","reasons":"Insufficient cpu"}');
  assert.match(whyOf({ ...refused, why: { ...refused.why, reasons: [] } }, words), /"reasons":"Fit"/);
  assert.equal(whyOf({ ...two, why: { kind: "lot" } }, words), "compare.why_lot {}");
  assert.equal(whyOf({ ...two, why: { kind: "unseen" } }, words), "compare.why_unseen {}");
});

test("of many nodes those that differ most are drawn, by name", () => {
  const nodes = Array.from({ length: NODES_MAX + 2 }, (_, index) => ({
    node: `n${String(index).padStart(3, "0")}`, zone: "", cpu: 1, pods: [index, index < 2 ? index : index + 1], used: [0, 0],
  }));
  const shown = nodesOf(answer({ nodes })).map(({ node }) => node);
  assert.equal(shown.length, NODES_MAX);
  assert.deepEqual(shown, nodes.slice(2).map(({ node }) => node));
  const named = ["n10", "n2"].map((node) => ({ ...nodes[0], node }));
  assert.deepEqual(nodesOf(answer({ nodes: named })).map(({ node }) => node), ["n2", "n10"]);
});

test("the steps of waiting count each pod once, when it had a node", () => {
  assert.deepEqual(waitsOf(answer(), "a"), { seconds: [0], pods: [2] });
  assert.deepEqual(waitsOf(answer(), "b"), { seconds: [0, 2, 5], pods: [1, 2, 3] });
});

test("the file has a row for every pod, with the reason", () => {
  const table = tableOf(answer(), words);
  assert.equal(table.rows.length, 3);
  assert.ok(table.rows.every((cells) => cells.length === table.head.length));
  assert.deepEqual(table.rows[1].slice(0, 4), ["default/two", "n1", "n2", 1]);
  assert.match(csvOf(table), /^pod,nodeA,nodeB.*\r\ndefault\/one,n1,n1,0,0,2,0,0,,,\r\n/);
});

test("both charts show a and b, names as text", () => {
  const colours = { owner: ["1", "2", "3", "4", "grey"], acc: "blue", line: "l", t1: "t", t2: "t", surf: "s", line2: "l", font: "f" };
  const scene = { colours, lang: "en", size: 12 };
  assert.deepEqual(hues(scene), ["grey", "blue"]);
  const nodes = [{ node: "<b>", zone: "", cpu: 1, pods: [1, 4], used: [0, 0] }];
  const bars = nodesChart(answer({ nodes }), scene).data;
  assert.deepEqual(bars.map(({ name, x, y }) => [name, x, y]), [["A", ["&lt;b&gt;"], [1]], ["B", ["&lt;b&gt;"], [4]]]);
  const lines = waitsChart(answer(), scene).data;
  assert.deepEqual(lines[1].x, [0, 2, 5, 5.25]);
  assert.deepEqual(lines[0].y, [2, 2]);
});
