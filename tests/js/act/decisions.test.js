import assert from "node:assert/strict";
import { test } from "node:test";
import { DecisionLoader } from "../../../static/js/act/decisions.js";
import { cycle, pod, scheduler, trace, viewOf } from "../stage/fixtures.js";

/** @import { SessionApi } from "../../../static/js/net/rest.js" */

/** A server that answers nothing: what the page shows is what it has. */
const silent = /** @type {SessionApi} */ (/** @type {unknown} */ ({ decisions: () => new Promise(() => {}) }));

test("the verdicts of a large cluster's cycle are shown when they arrive, after the news of its point", () => {
  const { trace: _trace, ...bare } = cycle({ point: "Score", era: "algorithm-provider", scoreMax: 10 });
  const view = viewOf([pod("web-1"), scheduler({ cycle: bare })]);
  const loader = new DecisionLoader(silent, () => {});
  const early = { ...view, hand: { id: bare.traceId, point: "Filter", trace: { feasible: ["n1", "n3", "n4"] } } };
  loader.follow(early, "default/web-1");
  assert.equal(loader.state.traces[0]?.coming, true);
  assert.equal(loader.state.traces[0]?.result.scores, undefined);
  loader.follow({ ...view, hand: { id: bare.traceId, point: "Score", trace: trace() } }, "default/web-1");
  const shown = loader.state.traces[0];
  assert.deepEqual(shown?.result.scores?.total, [391, 391, 350]);
  assert.equal(shown?.coming, false);
  assert.deepEqual([shown?.era, shown?.scoreMax], ["algorithm-provider", 10], "an era's own scale holds mid-cycle too");
  clearTimeout(loader.timer);
});

test("a cycle without an id, as a sealed one is told, waits for no news of its verdicts", () => {
  const { traceId: _traceId, ...sealed } = cycle({ point: "PreFilter" });
  const loader = new DecisionLoader(silent, () => {});
  loader.follow(viewOf([pod("web-1"), scheduler({ cycle: sealed })]), "default/web-1");
  assert.equal(loader.state.traces[0]?.coming, false);
  clearTimeout(loader.timer);
});

test("a cycle in hand about another pod, or about none that is followed, is no news", () => {
  let told = 0;
  const loader = new DecisionLoader(silent, () => (told += 1));
  const view = viewOf([pod("web-1"), pod("web-2"), scheduler({ cycle: cycle({ point: "Score", trace: trace() }) })]);
  for (const followed of ["", "default/web-2", "default/web-1"]) {
    loader.follow(view, followed);
    const once = told;
    loader.follow({ ...view }, followed);
    assert.equal(told, once, `following "${followed}", each picture would ask for the next`);
  }
  assert.equal(loader.state.traces[0]?.point, "Score");
  clearTimeout(loader.timer);
});

test("cycles that have just ended stay shown until what was asked after their end is answered", async () => {
  const answers = /** @type {((traces: object[]) => void)[]} */ ([]);
  const api = /** @type {SessionApi} */ (/** @type {unknown} */ ({
    decisions: () => new Promise((resolve) => answers.push(resolve)),
  }));
  const loader = new DecisionLoader(api, () => {});
  const ids = () => loader.state.traces.map((one) => one.id);
  /** @param {string} traceId */
  const under = (traceId) => viewOf([pod("web-1"), scheduler({ cycle: cycle({ traceId, point: "Score", trace: trace() }) })]);
  const first = { ...trace(), id: "1", attempt: 1, revision: 1 };

  loader.follow(under("2"), "default/web-1");
  const asked = loader.ask();
  loader.follow(under("3"), "default/web-1");
  loader.follow(viewOf([pod("web-1"), scheduler()]), "default/web-1");
  assert.deepEqual(ids(), ["3", "2"], "there is no other yet");
  answers[0]?.([first]);
  await asked;
  assert.deepEqual(ids(), ["3", "2", "1"], "the question was put while the second ran");

  const later = loader.ask();
  answers[1]?.([{ ...trace(), id: "3", attempt: 3 }, { ...trace(), id: "2", attempt: 2 }, first]);
  await later;
  assert.deepEqual(ids(), ["3", "2", "1"]);
  assert.deepEqual(loader.state.traces.map((one) => one.point), [undefined, undefined, undefined], "as they were told at their end");

  const last = loader.ask();
  answers[2]?.([first]);
  await last;
  assert.deepEqual(ids(), ["1"], "what is kept no longer is gone");
  clearTimeout(loader.timer);
});

test("a pod that is gone is not asked about: what was heard of it stays, and nothing is waited for", async () => {
  let asked = 0;
  const api = /** @type {SessionApi} */ (/** @type {unknown} */ ({ decisions: async () => ((asked += 1), [{ ...trace(), id: "1" }]) }));
  const loader = new DecisionLoader(api, () => {});
  loader.follow({ ...viewOf([]), ready: false }, "default/web-1");
  assert.deepEqual([loader.timer, loader.state.loading], [undefined, true], "it may be there once the list has come");
  loader.follow(viewOf([pod("web-1"), scheduler()]), "default/web-1");
  assert.equal(loader.state.loading, true);
  clearTimeout(loader.timer);
  await loader.ask();
  loader.follow(viewOf([scheduler()]), "default/web-1");
  assert.deepEqual([asked, loader.state.loading, loader.state.traces.map(({ id }) => id)], [1, false, ["1"]]);
  const fresh = new DecisionLoader(api, () => {});
  fresh.follow(viewOf([scheduler()]), "default/gone");
  assert.deepEqual([fresh.timer, fresh.state.loading], [undefined, false]);
});
