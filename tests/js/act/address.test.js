// The address in step with the page: what somebody did is a step back, what follows from going back is none.
import assert from "node:assert/strict";
import { test } from "node:test";

const told = [];
let popped = () => {};
globalThis.window = { addEventListener: (_kind, listener) => (popped = listener) };
globalThis.location = { pathname: "/s/K7Q", search: "" };
globalThis.history = Object.fromEntries(["pushState", "replaceState"].map((name) => [name, (_state, _title, to) => told.push([name, to])]));
const { AddressBar } = await import("../../../static/js/act/address.js");

const at = (more = {}) => ({ rv: 0, pod: "default/web", node: "", attempt: 0, tab: "", dock: "", ...more });

test("what is selected, opened and held are steps; a moment after a moment is not", () => {
  const bar = new AddressBar(() => {});
  told.length = 0;
  bar.follow(at());
  assert.deepEqual(told, [], "not before the page shows what its address says");
  bar.ready = true;
  for (const address of [at(), at(), at({ tab: "yaml" }), at({ tab: "yaml", rv: 7 }), at({ tab: "yaml", rv: 8 }),
    at({ tab: "yaml", rv: 8, dock: "streams" })]) bar.follow(address);
  assert.deepEqual(told, [
    ["pushState", "/s/K7Q?pod=default/web"], ["pushState", "/s/K7Q?pod=default/web&tab=yaml"],
    ["pushState", "/s/K7Q?rv=7&pod=default/web&tab=yaml"], ["replaceState", "/s/K7Q?rv=8&pod=default/web&tab=yaml"],
    ["pushState", "/s/K7Q?rv=8&pod=default/web&tab=yaml&dock=streams"],
  ]);
});

test("a page on its way to what somebody went back to leaves the way forward as it is", () => {
  const opened = [];
  const bar = new AddressBar((address) => opened.push(address.tab));
  bar.ready = true;
  bar.follow(at({ tab: "yaml" }));
  told.length = 0;
  location.search = "?pod=default/web&attempt=2";
  popped();
  assert.deepEqual(opened, [""]);
  bar.follow(at({ tab: "yaml" }));
  bar.follow(at());
  bar.follow(at({ attempt: 2 }));
  assert.deepEqual(told.map(([how]) => how), ["replaceState", "replaceState", "replaceState"], "attempts come later than the pod");
  bar.follow(at({ attempt: 1 }));
  assert.deepEqual(told.at(-1), ["pushState", "/s/K7Q?pod=default/web&attempt=1"], "it is there: what comes now somebody did");
});

test("an address that says the same in other words is put into the page's own, and is no step to go back to", () => {
  location.search = "?pod=default/web&tab=decision";
  const bar = new AddressBar(() => {});
  told.length = 0;
  bar.ready = true;
  bar.follow(at());
  bar.follow(at({ tab: "yaml" }));
  assert.deepEqual(told, [["replaceState", "/s/K7Q?pod=default/web"], ["pushState", "/s/K7Q?pod=default/web&tab=yaml"]]);
});
