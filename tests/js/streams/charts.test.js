// What the charts of Streams are told to draw.
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { loadTexts } from "../../../static/js/lib/text.js";
import { growScores, heatChart, queueChart } from "../../../static/js/streams/charts.js";
import { ownersOf } from "../../../static/js/streams/marks.js";

before(() => loadTexts("en", "dock"));

const COLOURS = new Proxy({ heat: ["#1", "#2", "#3", "#4", "#5", "#6"], font: "sans" }, { get: (target, name) => target[name] ?? "#000" });
const names = Array.from({ length: 30 }, (_, index) => `n${index + 1}`);
const column = { t: 1_000, revision: 1, names, share: new Float32Array(30), cpu: [], memory: [], pods: [], gpu: [] };
const scene = { colours: COLOURS, lang: "en", epochMs: 0, fromMs: 0, toMs: 2_000, gaps: [], size: 12, shape: {} };

test("names of nodes stand under each other with room to be read: in a low chart not each has one", () => {
  const shown = (height) => heatChart({ ...scene, height }, [column], names.map((name) => `${name}!`)).layout;
  assert.equal(shown(900).yaxis.tickvals.length, 30);
  const low = shown(180);
  assert.ok(low.yaxis.tickvals.length <= 10, `${low.yaxis.tickvals.length}`);
  assert.deepEqual(low.yaxis.ticktext, low.yaxis.tickvals.map((row) => names[row]));
  assert.deepEqual(low.yaxis2.ticktext, low.yaxis2.tickvals.map((row) => `${names[row]}!`));
});

test("two owners of one hue are told apart by their dots and by their keys", () => {
  const mark = { result: "scheduled", node: "n1", points: 300, best: 1, said: "p", revision: 1, simTimeMs: 1, hue: 0, label: "api", ring: false };
  const marks = [mark, { ...mark, label: "web", ring: true }];
  const { update } = growScores(scene, marks);
  assert.equal(update["marker.color"][0][0], update["marker.color"][0][1]);
  assert.deepEqual(update["marker.symbol"][0], ["circle", "circle-dot"]);
  assert.deepEqual(ownersOf(marks).map(({ ring }) => ring), [false, true]);
});

test("pods in the queue are counted in whole ones, however few they are", () => {
  const coloured = new Proxy({}, { get: (_, name) => (name === "owner" ? Array(7).fill("#000000") : name === "font" ? "sans" : "#000000") });
  const { yaxis } = queueChart({ ...scene, colours: coloured }, []).layout;
  const [least, most] = yaxis.autorangeoptions.include;
  assert.ok((most - least) / (yaxis.nticks - 1) >= 1, "a mark for each pod at least");
});
