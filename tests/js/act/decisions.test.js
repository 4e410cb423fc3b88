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
