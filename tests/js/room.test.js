// The room: who is stuck on what, in which order, and what a filter leaves.
import assert from "node:assert/strict";
import { test } from "node:test";
import { glide } from "../../static/js/dom/glide.js";
import { TILES_MAX, ago, bars, counts, filtered, groups, meaningOf, reasonOf, shown, steady, waitingOf } from "../../static/js/room/model.js";

const HELP = "Preemption is not helpful for scheduling";
const CPU = "Insufficient cpu";
const tile = (seat, state, reason = "", more = {}) => ({
  code: "AAA-AAA", person: String(seat), seat, name: `P${seat}`, state, nominated: [], nodes: [], did: null, since: 0,
  pending: reason ? [{ reason: "", n: 1, pods: ["new"] }, { reason, n: 1, pods: ["vip"] }] : [], ...more,
});
const TILES = [
  tile(2, "idle"), tile(3, "stuck", CPU), tile(4, "stuck", HELP), tile(5, "stuck", HELP), tile(6, "working"), tile(7, "failed"),
];
const ALL = { state: "", reason: "", words: "", order: "reason" };
const seats = (wish) => shown(TILES, { ...ALL, ...wish }).map(({ seat }) => seat);

test("states are counted of all seats, reasons of those who are stuck", () => {
  assert.deepEqual(counts(TILES), { stuck: 3, working: 1, idle: 1, done: 0, failed: 1 });
  assert.deepEqual(groups(TILES), [{ reason: HELP, count: 2 }, { reason: CPU, count: 1 }]);
  assert.equal(reasonOf(TILES[1]), CPU, "a pod that no scheduler has tried is no reason");
  assert.equal(reasonOf(TILES[0]), "");
});

test("by reason the most frequent first, then who works, idles, failed; by seat everybody keeps their place", () => {
  assert.deepEqual(seats({}), [4, 5, 3, 6, 2, 7]);
  assert.deepEqual(seats({ order: "seat" }), [2, 3, 4, 5, 6, 7]);
});

test("filters add to each other", () => {
  assert.deepEqual(seats({ state: "stuck" }), [4, 5, 3]);
  assert.deepEqual(seats({ reason: HELP }), [4, 5]);
  assert.deepEqual(seats({ state: "idle", reason: HELP }), []);
  assert.deepEqual(seats({ words: "#5" }), [5]);
  assert.deepEqual(seats({ words: " INSUFFICIENT " }), [3]);
  assert.deepEqual(seats({ words: "vip", state: "stuck" }), [4, 5, 3]);
});

test("a bar is as wide as its pod's CPU, the highest priority first in hue", () => {
  const pods = [{ name: "db", cpu: 2000, priority: 20_000, leaving: false }, { name: "api", cpu: 8000, priority: 500, leaving: true }];
  assert.deepEqual(bars(tile(1, "working", "", { nodes: [{ name: "n1", cpu: 4000, pods }, { name: "n2", cpu: 0, pods: [pods[1]] }] })), [
    { node: "n1", parts: [{ name: "db", share: 0.5, rank: 0, leaving: false }, { name: "api", share: 1, rank: 1, leaving: true }] },
    { node: "n2", parts: [{ name: "api", share: 0, rank: 1, leaving: true }] },
  ]);
});

test("how long ago is told in tens of seconds, then in minutes", () => {
  assert.deepEqual(ago(0, 47_000), { unit: "seconds", count: 40 });
  assert.deepEqual(ago(0, 119_000), { unit: "seconds", count: 110 });
  assert.deepEqual(ago(0, 250_000), { unit: "minutes", count: 4 });
  assert.deepEqual(ago(5_000, 0), { unit: "now", count: 0 });
  assert.deepEqual(ago(0, 9_000), { unit: "now", count: 0 });
});

test("the pod that waits is drawn in the scale of the nodes; what no node could hold is cut off", () => {
  const nodes = [{ name: "n1", cpu: 4000, pods: [] }, { name: "n2", cpu: 2000, pods: [] }];
  const waits = (waiting) => waitingOf({ waiting, nodes });
  assert.deepEqual(waits({ name: "vip", cpu: 2000, node: "n2" }), { name: "vip", share: 0.5, more: false, nominated: true });
  assert.deepEqual(waits({ name: "vip", cpu: 5000, node: "" }), { name: "vip", share: 1, more: true, nominated: false });
  assert.equal(waits(null), null);
  assert.equal(waitingOf({ waiting: { name: "vip", cpu: 1, node: "" }, nodes: [] }), null);
});

test("who is held keeps their place while the others move", () => {
  const wanted = TILES.filter(({ seat }) => seat !== 7);
  const order = (before, held) => steady(before, wanted, new Set(held)).map(({ seat }) => seat);
  assert.deepEqual(order([6, 5, 4, 3, 2], []), [2, 3, 4, 5, 6]);
  assert.deepEqual(order([6, 5, 4, 3, 2], [5]), [2, 5, 3, 4, 6], "it stays second");
  assert.deepEqual(order([6, 5, 4, 3, 2], [6, 5, 4, 3, 2]), [6, 5, 4, 3, 2]);
  assert.deepEqual(order([7, 6, 5, 3], [7, 6, 5, 3]), [2, 6, 5, 3, 4], "who is gone leaves no gap past the end, who came finds a place");
  assert.deepEqual(order([], [4]), [2, 3, 4, 5, 6], "who was not shown has no place to keep");
});

test("what kube-scheduler says of a preemption is told in plain words, too", () => {
  assert.equal(meaningOf(HELP), "room.means_helpless");
  assert.equal(meaningOf("No preemption victims found for incoming pod"), "room.means_victims");
  assert.equal(meaningOf("not eligible due to preemptionPolicy=Never."), "room.means_never");
  assert.equal(meaningOf(CPU), "");
});

test("of a lecture hall's copies none is shown until somebody says which", () => {
  const hall = Array.from({ length: TILES_MAX + 1 }, (_, index) => tile(index + 2, index % 50 ? "working" : "stuck", index % 50 ? "" : CPU));
  assert.deepEqual(shown(hall, ALL), []);
  assert.deepEqual(shown(hall, { ...ALL, words: "  " }), [], "spaces choose nothing");
  assert.deepEqual(shown(hall, { ...ALL, reason: CPU }).map(({ seat }) => seat), [2, 52, 102, 152]);
  assert.equal(shown(hall.slice(1), ALL).length, TILES_MAX);
  assert.deepEqual([{}, { state: "idle" }, { words: "n1" }].map((wish) => filtered({ ...ALL, ...wish })), [false, true, true]);
});

test("a row glides from where it was, the others stay, and nothing moves where nothing is to", () => {
  globalThis.document = /** @type {any} */ ({ body: { currentCSSZoom: 2 } });
  /** @type {[string, object][]} */
  const moves = [];
  const row = (/** @type {string} */ name, /** @type {number} */ left) => ({
    left, top: 0, isConnected: true,
    getBoundingClientRect() { return { left: this.left, top: this.top }; },
    animate: (/** @type {object[]} */ frames) => moves.push([name, frames[0]]),
  });
  const [stays, moved, gone] = [row("stays", 0), row("moved", 100), row("gone", 200)];
  const parent = /** @type {any} */ ({ children: [stays, moved, gone] });
  const tell = () => Object.assign(moved, { left: 40, top: 20 }) && Object.assign(gone, { isConnected: false });
  glide(parent, false, tell);
  assert.deepEqual(moves, [["moved", { transform: "translate(30px, -10px)" }]]);
  moved.left = 0;
  glide(parent, true, tell);
  assert.equal(moved.left, 40);
  assert.equal(moves.length, 1);
});
