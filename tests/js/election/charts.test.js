// The Gantt as it is handed to Plotly: what stands where, and that names of people are no tags.
import assert from "node:assert/strict";
import { test } from "node:test";

import { electionChart } from "../../../static/js/election/charts.js";
import { withRoom } from "../../../static/js/election/places.js";
import { storyOf } from "../../../static/js/election/model.js";
import { electionTable, timings } from "../../../static/js/election/words.js";
import { loadTexts } from "../../../static/js/lib/text.js";
import { applyMessage, emptyView } from "../../../static/js/state/view.js";

await Promise.all([loadTexts("en", "stage"), loadTexts("en", "election")]);
const [S0, S1] = ["kube-scheduler-0", "kube-scheduler-1"];
const colours = { plugin: ["#000001", "#000002", "#000003"], ver: "#d55e00", verbg: "#fdebdd", line: "#dce1e9", line2: "#b4bdca", font: "sans" };
const SCENE = { colours, lang: "en", epochMs: 0, fromMs: 0, toMs: 60_000, size: 12, gaps: [], width: 1200 };
const STORY = storyOf({
  told: [
    { identity: S0, component: "kube-scheduler", beliefs: [{ fromMs: 0, toMs: 40_000 }], faults: [], refusals: [{ atMs: 35_000, message: "pod <b>p</b> is already assigned" }],
      tries: [{ atMs: 38_000, branch: "get-failed", leading: true, conflict: false, holder: S0, seenMs: 20_000, expiresMs: 35_000 }] },
    { identity: S1, component: "kube-scheduler", beliefs: [{ fromMs: 30_000, toMs: null }], faults: [], refusals: [],
      tries: [{ atMs: 30_000, branch: "acquire-expired", leading: false, conflict: false, holder: S0, seenMs: 14_000, expiresMs: 29_000 }] },
  ],
  renewals: [{ revision: 3, t: 12_000, who: S0 }, { revision: 9, t: 30_000, who: S1 }],
  writes: [{ revision: 10, t: 36_000, who: S1 }],
}, 60_000);

test("rows, marks and the window with two leaders stand at their times", () => {
  const { data, layout } = electionChart(SCENE, STORY);
  assert.deepEqual(layout.yaxis.ticktext.map((one) => /<b>(.*?)<\/b>/.exec(one)[1]), ["Lease object", S0, S1, "Writes"]);
  const [area] = data.filter((one) => one.fillpattern);
  assert.deepEqual([area.x[0], area.x[1]], [30_000, 40_000]);
  const marks = (symbol) => data.filter((one) => one.marker?.symbol === symbol).flatMap((one) => one.x);
  assert.deepEqual(marks("line-ns-open"), [12_000, 30_000]);
  assert.deepEqual(marks("triangle-down"), [29_000]);
  assert.deepEqual(marks("x-thin-open"), [35_000], "a refused write");
  assert.deepEqual(marks("diamond").filter((t) => t === 36_000), [36_000], "the second replica's accepted writes are diamonds");
  assert.deepEqual(data.filter((one) => one.text?.[0] === "⊘").flatMap((one) => one.x), [38_000]);
  const words = data.flatMap((one) => (one.textposition ? one.text : [])).join("\n");
  for (const said of ["two leaders for 10 s", "holderIdentity kube-scheduler-1", "over at 00:00:29.0", "leads no more"]) assert.ok(words.includes(said), said);
});

test("words that would not fit stand elsewhere or not at all: bold ones are wider, a new fault is told before it", () => {
  const told = [{ identity: S0, component: "kube-scheduler", beliefs: [{ fromMs: 0, toMs: null }], refusals: [], tries: [],
    faults: [{ kind: "rate", rate: 0.5, fromMs: 58_000, toMs: null }] }];
  const story = storyOf({ told, renewals: [{ revision: 3, t: 0, who: S0 }], writes: [] }, 60_000);
  const words = (/** @type {object} */ scene) => electionChart({ ...SCENE, ...scene }, story).data
    .flatMap((one) => (one.textposition ? one.text.map((/** @type {string} */ said, /** @type {number} */ at) => [said, one.textposition[at]]) : []));
  const fault = words({}).find(([said]) => said.includes("fault"));
  assert.equal(fault?.[1], "middle left");
  // 31 bold letters of 12 pixels want 238; a bar of 225 has no room for them.
  assert.ok(!words({ width: 410 }).some(([said]) => said.includes("holderIdentity")));
  assert.ok(words({ width: 600 }).some(([said]) => said.includes("holderIdentity")));
});

test("how a lead ended is told beside its bar, or below it where another mark follows at once", () => {
  const ends = (/** @type {number | null} */ readMs) => {
    const told = [
      { identity: S0, component: "kube-scheduler", beliefs: [{ fromMs: 0, toMs: 20_000 }], faults: [], refusals: [],
        tries: [{ atMs: 20_000, branch: "deadline", leading: false, conflict: false, holder: S0, seenMs: 0, expiresMs: 15_000 },
          ...(readMs === null ? [] : [{ atMs: readMs, branch: "held", leading: false, conflict: false, holder: S1, seenMs: readMs, expiresMs: readMs + 15_000 }])] },
      { identity: S1, component: "kube-scheduler", beliefs: [{ fromMs: 18_000, toMs: null }], faults: [], refusals: [], tries: [] },
    ];
    const renewals = [{ revision: 3, t: 0, who: S0 }, { revision: 9, t: 18_000, who: S1 }];
    const story = storyOf({ told, renewals, writes: [] }, 60_000);
    if (readMs !== null) assert.ok(story.rows[0].reads.length + story.rows[0].sights.length > 0, "there is a mark");
    const [labels] = electionChart(SCENE, story).data.filter((one) => one.textposition);
    return labels.y[labels.text.findIndex((said) => said.includes("gives up"))];
  };
  const beside = ends(null);
  assert.equal(ends(59_000), beside);
  assert.ok(ends(21_500) > beside, "lower");
});

test("what people wrote is no tag, and what lies before the stretch is not drawn", () => {
  const { data } = electionChart({ ...SCENE, fromMs: 34_000 }, STORY);
  const hovers = data.flatMap((one) => one.hovertext ?? []);
  assert.ok(hovers.some((one) => one.includes("pod &lt;b&gt;p&lt;/b&gt; is already assigned")));
  assert.ok(data.flatMap((one) => one.x ?? []).filter((t) => t !== null).every((t) => t >= 34_000));
});

test("the table tells the same in words; renewals stand in the file alone", () => {
  const how = { lang: "en", fromMs: 0, time: String };
  const told = electionTable(STORY, { ...how, renewals: false }).rows.map((row) => row.join(" | "));
  assert.ok(told.some((row) => row.includes("two leaders for 10 s") && row.includes("it was over at 29000")), told.join("\n"));
  assert.ok(told.some((row) => row.includes("a write was refused with 409 | pod <b>p</b> is already assigned")));
  assert.ok(!told.some((row) => row.includes("renewed the lease")));
  assert.equal(electionTable(STORY, { ...how, renewals: true }).rows.filter((row) => String(row[2]).includes("renewed the lease")).length, 2);
});

test("the settings of an election are its flags, else upstream's defaults", () => {
  const flags = { resource: "flags.clustersim.io", metadata: { name: "flags" }, spec: { "kube-scheduler": { "leader-elect-lease-duration": "1m30s", "leader-elect-retry-period": "500ms" } } };
  const view = applyMessage(emptyView(), { type: "list", revision: 1, objects: [flags], last: true });
  assert.deepEqual(timings(view, "kube-scheduler"), { lease: 90, deadline: 10, retry: 0.5 });
  assert.deepEqual(timings(view, "kube-controller-manager"), { lease: 15, deadline: 10, retry: 2 });
});

test("who comes from outside has a row, by as much of its name as there is room for", () => {
  const renewals = [{ revision: 3, t: 12_000, who: "vm_69f4c388-55e8-4cf8-873a-e3ea955962ac", lock: "kube-scheduler" }];
  const told = [{ identity: S0, component: "kube-scheduler", beliefs: [], faults: [], refusals: [], tries: [] }];
  const { layout } = electionChart(SCENE, storyOf({ told, renewals, writes: [] }, 60_000));
  assert.match(layout.yaxis.ticktext[2], /^<b>vm_69f4c388-55e8-4cf8…<\/b><br><span [^>]*>from outside</);
});

test("no word ends beyond the chart or stands across another; faults that begin together are told together", () => {
  const chart = { fromMs: 0, toMs: 60_000, perMs: 0.01, size: 10 };
  const label = (t, said, at, y = 0) => ({ t, y, said, colour: "", at });
  const kept = (...labels) => withRoom(labels, chart).map(({ said, at }) => `${said} ${at}`);
  assert.deepEqual(kept(label(30_000, "middle", "center")), ["middle center"]);
  assert.deepEqual(kept(label(59_900, "two leaders for 0.1 s", "center")), ["two leaders for 0.1 s left"]);
  assert.deepEqual(kept(label(500, "over at 10:00", "left")), ["over at 10:00 right"]);
  assert.deepEqual(kept(label(30_000, "first of two", "right"), label(29_900, "second of two", "right")), ["first of two right", "second of two left"]);
  assert.deepEqual(kept(label(30_000, "first", "right"), label(30_000, "second", "right"), label(30_000, "third", "right")), ["first right", "second left"]);
  assert.deepEqual(kept(label(30_000, "a row", "right"), label(30_000, "another", "right", 1)), ["a row right", "another right"]);
  const onBar = (/** @type {number} */ t) => withRoom([{ ...label(t, "gives up", "right"), colour: "dark", turned: "light" }], chart).map(({ at, colour }) => [at, colour])[0];
  assert.deepEqual([onBar(30_000), onBar(59_900)], [["right", "dark"], ["left", "light"]], "on the bar that ended it has that bar's ink");
  const told = [{ identity: S0, component: "kube-scheduler", beliefs: [{ fromMs: 0, toMs: null }], refusals: [], tries: [],
    faults: [{ kind: "rate", rate: 0.5, fromMs: 20_000, toMs: null }, { kind: "partition", rate: null, fromMs: 20_000, toMs: null }] }];
  const { data } = electionChart(SCENE, storyOf({ told, renewals: [], writes: [] }, 60_000));
  assert.ok(data.flatMap((one) => (one.textposition ? one.text : [])).some((said) => said.includes("fault: Clock too slow or fast, Partition")));
});
