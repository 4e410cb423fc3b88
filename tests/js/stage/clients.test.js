// Clients on the stage: how their requests go, in words, and which of them travel.
import assert from "node:assert/strict";
import { test } from "node:test";
import { clientRows, sentSince } from "../../../static/js/stage/clients-model.js";
import { requestFlights } from "../../../static/js/stage/flights.js";
import { viewOf } from "./fixtures.js";

const ok = (/** @type {number} */ number) => ({ number, result: "ok", service: "default/web", pod: "default/web-1", node: "n2" });
const lost = (/** @type {number} */ number) => ({ number, result: "timeout", service: "default/web", node: "n3", message: "node n3 does not answer" });
const client = (/** @type {string} */ name, /** @type {object[]} */ newest, more = {}) => /** @type {any} */ ({
  resource: "clients.clustersim.io", metadata: { name }, spec: { target: "http://web:80/" }, status: { state: "Sending", newest, ...more },
});

test("a client tells its newest request and the share of those that were answered", () => {
  const [row, waits] = clientRows(viewOf([client("shop", [lost(4), ok(3), ok(2), ok(1)]), client("waits", [], { state: "Waiting", message: "no node runs" })]));
  assert.deepEqual([row?.name, row?.ok, row?.last?.message], ["shop", 75, "node n3 does not answer"]);
  assert.deepEqual([waits?.ok, waits?.last, waits?.state, waits?.message], [null, null, "Waiting", "no node runs"]);
  assert.deepEqual(clientRows(viewOf([])), []);
});

test("what was sent since the view before travels, the newest three of each client, and nothing when the page opens", () => {
  const before = viewOf([client("shop", [ok(2), ok(1)])]);
  const now = viewOf([client("shop", [lost(7), ok(6), ok(5), ok(4), ok(3), ok(2)])]);
  assert.deepEqual(sentSince(before, now).map(({ client: name, request }) => `${name} ${request.number} ${request.result}`),
    ["shop 7 timeout", "shop 6 ok", "shop 5 ok"]);
  assert.deepEqual(sentSince(null, now), []);
  assert.deepEqual(sentSince(now, now), []);
});

test("a request flies past its Service to the pod's node, and one that failed says so", () => {
  const before = viewOf([client("shop", [ok(1)])]);
  const now = { ...viewOf([client("shop", [lost(3), ok(2), ok(1)])]), clock: /** @type {any} */ ({ rate: 1, paused: false }) };
  const pathOf = (/** @type {string} */ name, /** @type {string} */ node) => [{ x: name.length, y: 0 }, { x: node === "n3" ? 3 : 2, y: 1 }];
  const fly = requestFlights(before, { view: now, ui: /** @type {any} */ ({ reducedMotion: false }) }, pathOf, 1000);
  assert.deepEqual(fly.map(({ failed, kind, path, startMs }) => [failed, kind, path[1]?.x, startMs]),
    [[true, "fly", 3, 1000], [false, "fly", 2, 1120]]);
  const still = requestFlights(before, { view: now, ui: /** @type {any} */ ({ reducedMotion: true }) }, pathOf, 0);
  assert.deepEqual(still.map(({ kind }) => kind), ["trail", "trail"], "where motion is reduced a line tells it");
});
