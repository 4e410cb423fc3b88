// Both languages say the same things, and numbers, times and ages read as they should.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { EN as ARCH_EN } from "../../static/js/lib/text/architecture.en.js";
import { EN as COMPARE_EN } from "../../static/js/lib/text/compare.en.js";
import { EN as CONTROL_EN } from "../../static/js/lib/text/control.en.js";
import { EN as DOCK_EN } from "../../static/js/lib/text/dock.en.js";
import { EN as ELECTION_EN } from "../../static/js/lib/text/election.en.js";
import { EN } from "../../static/js/lib/text/page.en.js";
import { ZH_HANS } from "../../static/js/lib/text/page.zh-hans.js";
import { EN as STAGE_EN } from "../../static/js/lib/text/stage.en.js";
import { ZH_HANS as STAGE_ZH_HANS } from "../../static/js/lib/text/stage.zh-hans.js";
import { EN as WHATIF_EN } from "../../static/js/lib/text/whatif.en.js";
import { EN as WATCHES_EN } from "../../static/js/lib/text/watches.en.js";
import { DECIDED_BY } from "../../static/js/streams/marks.js";
import { age, clockTime, loadTexts, number, text } from "../../static/js/lib/text.js";

const slots = (pattern) => [...pattern.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

const FOLDER = new URL("../../static/js/lib/text/", import.meta.url);
const PAIRS = await Promise.all(readdirSync(FOLDER).filter((name) => name.endsWith(".en.js")).map(async (name) => ({
  name: name.replace(".en.js", ""),
  en: (await import(new URL(name, FOLDER).href)).EN,
  zh: (await import(new URL(name.replace(".en.js", ".zh-hans.js"), FOLDER).href)).ZH_HANS,
})));

test("every text exists in both languages", () => {
  assert.ok(PAIRS.length >= 5);
  for (const { name, en, zh } of PAIRS) assert.deepEqual(Object.keys(en).sort(), Object.keys(zh).sort(), name);
});

test("both languages fill the same blanks", () => {
  const filled = (pattern) => [...new Set(slots(pattern))];
  for (const { en, zh } of PAIRS) for (const key of Object.keys(en)) assert.deepEqual(filled(zh[key]), filled(en[key]), key);
});

for (const [folder, tab, texts] of [["whatif", "What if", WHATIF_EN], ["compare", "Compare", COMPARE_EN]])
  test(`the ${tab} tab says all of its texts, and asks for no other`, () => {
    const root = new URL(`../../static/js/${folder}/`, import.meta.url);
    const asked = readdirSync(root).flatMap((name) =>
      [...readFileSync(new URL(name, root), "utf8").matchAll(new RegExp(`"(${folder}\\.\\w+)"`, "g"))].map(([, key]) => key));
    assert.deepEqual([...new Set(asked)].sort(), Object.keys(texts).sort());
  });

test("the tabs API server and Controllers say all of their texts, and ask for no other", () => {
  const root = new URL("../../static/js/control/", import.meta.url);
  const asked = readdirSync(root).flatMap((name) =>
    [...readFileSync(new URL(name, root), "utf8").matchAll(/"(control\.[\w.]+)"/g)].map(([, key]) => key));
  // Reasons are asked for by what controllers say: tests/js/control/controllers.test.js.
  const known = Object.keys(CONTROL_EN).filter((key) => !/^control\.(because|part)\./.test(key));
  assert.deepEqual([...new Set(asked)].sort(), known.sort());
});

test("the Architecture tab says all of its texts, and asks for no other but those of the tabs beside it", () => {
  const root = new URL("../../static/js/architecture/", import.meta.url);
  const asked = readdirSync(root).flatMap((name) =>
    [...readFileSync(new URL(name, root), "utf8").matchAll(/"((?:arch|control)\.[\w.]+)"/g)].map(([, key]) => key));
  assert.deepEqual([...new Set(asked)].filter((key) => key.startsWith("arch.")).sort(), Object.keys(ARCH_EN).sort());
  assert.deepEqual(asked.filter((key) => key.startsWith("control.") && !(key in CONTROL_EN)), []);
});

test("every text that the dock fetches is there, and none is there for nothing", () => {
  const root = new URL("../../static/js/streams/", import.meta.url);
  const source = readdirSync(root).map((name) => readFileSync(new URL(name, root), "utf8")).join("\n");
  const asked = new Set([...source.matchAll(/"(streams\.[\w.]+)"/g)].map(([, key]) => key));
  // Words asked for by the last part of their key, and parts that are filled in.
  const parts = new Set([...source.matchAll(/fact\(lang, "\w+", "[\w ]+", "(\w+)"/g)].map(([, word]) => `streams.${word}`));
  const filled = new Set([...DECIDED_BY.map((name) => `streams.by.${name}`), ...["queue", "scores", "preemptions", "utilisation",
    "active", "backoff", "unschedulable"].map((name) => `streams.${name}`)]);
  for (const [, head] of source.matchAll(/head: \[([^\]]*)\]/g))
    for (const [, name] of head.matchAll(/"(\w+)"/g)) filled.add(`streams.col.${name}`);
  assert.deepEqual([...new Set([...asked, ...parts, ...filled])].sort(), Object.keys(DOCK_EN).sort());
});

test("the election tab says all of its texts, and asks for no other", () => {
  const root = new URL("../../static/js/election/", import.meta.url);
  const source = readdirSync(root).map((name) => readFileSync(new URL(name, root), "utf8")).join("\n");
  const asked = [...source.matchAll(/"(election\.[\w.]+)"/g)].map(([, key]) => key);
  const legend = source.match(/LEGEND = [^[]*\(\[([^\]]*)\]/)[1].matchAll(/"(\w+)"/g);
  const columns = source.match(/head: \[([^\]]*)\]/)[1].matchAll(/"(\w+)"/g);
  const elector = readFileSync(new URL("../../controllers/leaderelection/elector.py", import.meta.url), "utf8");
  const branches = elector.match(/Branch = Literal\[([^\]]*)\]/)[1].matchAll(/"([\w-]*)"/g);
  const wanted = [
    ...asked, ...[...legend].map(([, name]) => `election.legend.${name}`), ...[...columns].map(([, name]) => `election.col.${name}`),
    ...[...branches].map(([, name]) => `election.branch.${name || "none"}`), ...["leader", "stale", "standby", "down"].map((name) => `election.state.${name}`),
  ];
  assert.deepEqual([...new Set(wanted)].sort(), Object.keys(ELECTION_EN).sort());
});

test("the watches tab says all of its texts, and asks for no other", () => {
  const root = new URL("../../static/js/", import.meta.url);
  const source = readdirSync(new URL("watches/", root)).map((name) => readFileSync(new URL(`watches/${name}`, root), "utf8")).join("\n");
  const asked = [...source.matchAll(/"(watches\.[\w.]+)"/g)].map(([, key]) => key);
  const listed = (text, prefix) => [...text.matchAll(/"(\w+)"/g)].map(([, name]) => `${prefix}.${name}`);
  const states = readFileSync(new URL("state/watches.js", root), "utf8").match(/@returns \{([^}]*)\}/)[1];
  const wanted = [
    ...asked, ...listed(source.match(/LEGEND = [^[]*\(\[([^\]]*)\]/)[1], "watches.legend"), ...listed(states, "watches.state"),
    ...[...source.matchAll(/head: \[([^\]]*)\]/g)].flatMap(([, names]) => listed(names, "watches.col")),
  ];
  assert.deepEqual([...new Set(wanted)].sort(), Object.keys(WATCHES_EN).sort());
});

test("a language is learnt part by part, and a new one knows the parts of the old", async () => {
  const [page, stage] = [Object.keys(EN)[0], Object.keys(STAGE_EN)[0]];
  assert.equal(text("en", page), page, "nothing is known before it is fetched");
  await loadTexts("en", "page");
  assert.equal(text("en", page), EN[page]);
  assert.equal(text("en", stage), stage);
  await loadTexts("en", "stage");
  assert.equal(text("en", stage), STAGE_EN[stage]);
  await loadTexts("zh-hans");
  assert.deepEqual([text("zh-hans", page), text("zh-hans", stage)], [ZH_HANS[page], STAGE_ZH_HANS[stage]]);
});

test("a missing value stays visible as its blank, a missing key as itself", () => {
  assert.equal(text("en", "done_create", { kind: "Pod" }), "Pod {name} created");
  assert.equal(text("zh-hans", "no_such_key"), "no_such_key");
});

test("numbers carry separators and at most the decimals asked for", () => {
  assert.equal(number("en", 4812), "4,812");
  assert.equal(number("en", 2.347, 1), "2.3");
});

test("ages are written as kubectl writes them", () => {
  const cases = [[0, "0s"], [119_000, "119s"], [120_000, "2m"], [185_000, "3m5s"], [11 * 60_000, "11m"],
    [2 * 3_600_000 + 600_000, "2h"], [200 * 60_000, "3h20m"], [9 * 3_600_000, "9h"], [3 * 86_400_000, "3d"]];
  for (const [ms, shown] of cases.filter(([ms]) => ms !== 2 * 3_600_000 + 600_000)) assert.equal(age(ms), shown);
  assert.equal(age(2 * 3_600_000 + 600_000), "130m");
});

test("simulated time stands in UTC, to the millisecond when asked", () => {
  assert.equal(clockTime(Date.UTC(2030, 0, 1, 10, 42, 21, 300), true), "10:42:21.300");
  assert.equal(clockTime(Date.UTC(2030, 0, 1, 10, 42, 21, 300)), "10:42:21");
});

test("one is told in the singular", () => {
  assert.equal(text("en", "decision.counts", { n: 1, f: 1 }), "1 node, 1 feasible");
  assert.equal(text("en", "decision.counts", { n: "1,000", f: 1 }), "1,000 nodes, 1 feasible");
  assert.equal(text("en", "plain.lost", { loser: "n1", winner: "n2", n: 1 }), "n1 lost to n2 by 1 point.");
});
