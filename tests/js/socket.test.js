// The session's socket against a stand-in for the browser's WebSocket: it resumes, answers pings, backs off, gives up.
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { afterEach, beforeEach, mock, test } from "node:test";

/** The browser's WebSocket as far as the page uses it. */
class BrowserSocket extends EventEmitter {
  static OPEN = 1;
  static opened = [];
  sent = [];
  readyState = BrowserSocket.OPEN;
  constructor(address) {
    super();
    this.address = address;
    BrowserSocket.opened.push(this);
  }
  addEventListener(name, listener) {
    this.on(name, listener);
  }
  send(text) {
    this.sent.push(JSON.parse(text));
  }
  close() {
    this.drop(1000);
  }
  drop(code) {
    this.readyState = 3;
    this.emit("close", { code });
  }
  hear(frame) {
    this.emit("message", { data: JSON.stringify(frame) });
  }
}

globalThis.WebSocket = BrowserSocket;
globalThis.location = { protocol: "https:", host: "class.example:8000" };
globalThis.window = Object.assign(new EventTarget(), { setTimeout: (...rest) => setTimeout(...rest) });
globalThis.document = Object.assign(new EventTarget(), { visibilityState: "visible" });
const { openSocket } = await import("../../static/js/net/socket.js");

let heard;
let socket;
let revision;
beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  BrowserSocket.opened = [];
  heard = { frames: [], statuses: [], refused: [] };
  revision = null;
  socket = openSocket("K7Q-M2X", {
    onFrame: (frame) => heard.frames.push(frame),
    onStatus: (status) => heard.statuses.push(status),
    onRefused: (code) => heard.refused.push(code),
    revision: () => revision,
  });
});
afterEach(() => {
  socket.close();
  mock.timers.reset();
});
const latest = () => BrowserSocket.opened.at(-1);

test("it asks for a fresh list on the first hello, over the page's own scheme", () => {
  assert.equal(latest().address, "wss://class.example:8000/ws/sessions/K7Q-M2X");
  latest().hear({ type: "hello" });
  assert.deepEqual(latest().sent, [{ type: "subscribe" }]);
  assert.deepEqual(heard.statuses, ["connecting", "live"]);
});

test("after a break it resumes at the last revision the view has", () => {
  latest().hear({ type: "hello" });
  revision = 4812;
  latest().drop(1006);
  assert.equal(heard.statuses.at(-1), "offline");
  mock.timers.tick(400);
  assert.equal(BrowserSocket.opened.length, 2);
  latest().hear({ type: "hello" });
  assert.deepEqual(latest().sent, [{ type: "subscribe", revision: 4812 }]);
});

test("a ping is answered at once with its id and reaches nobody else", () => {
  latest().hear({ type: "ping", id: 7 });
  assert.deepEqual(latest().sent, [{ type: "pong", id: 7 }]);
  assert.deepEqual(heard.frames, []);
});

test("tries come less and less often, and a success starts the count again", () => {
  for (const most of [400, 800, 1600, 3200, 6400, 8000, 8000]) {
    const before = BrowserSocket.opened.length;
    latest().drop(1006);
    mock.timers.tick(most / 2 - 1);
    assert.equal(BrowserSocket.opened.length, before, `not before ${most / 2} ms`);
    mock.timers.tick(most / 2 + 1);
    assert.equal(BrowserSocket.opened.length, before + 1, `within ${most} ms`);
  }
  latest().hear({ type: "hello" });
  const before = BrowserSocket.opened.length;
  latest().drop(1006);
  mock.timers.tick(400);
  assert.equal(BrowserSocket.opened.length, before + 1);
});

for (const code of [4401, 4403, 4404])
  test(`closed with ${code} it tells and does not come back`, () => {
    latest().drop(code);
    mock.timers.tick(60_000);
    assert.deepEqual(heard.refused, [code]);
    assert.equal(BrowserSocket.opened.length, 1);
  });

test("silence for longer than the server ever keeps counts as a broken line", () => {
  latest().hear({ type: "hello" });
  mock.timers.tick(34_999);
  assert.equal(latest().readyState, BrowserSocket.OPEN);
  mock.timers.tick(1);
  assert.equal(heard.statuses.at(-1), "offline");
});

test("when the place was compacted the page subscribes again on the same line", () => {
  latest().hear({ type: "hello" });
  latest().hear({ type: "gone" });
  socket.resubscribe();
  assert.deepEqual(latest().sent, [{ type: "subscribe" }, { type: "subscribe" }]);
});

test("a server that is silent to the farewell too is lost at once, and what it says late is not heard", () => {
  latest().hear({ type: "hello" });
  const silent = latest();
  silent.close = () => {};
  mock.timers.tick(35_000);
  assert.equal(heard.statuses.at(-1), "offline");
  mock.timers.tick(400);
  assert.equal(BrowserSocket.opened.length, 2);
  silent.hear({ type: "list" });
  silent.drop(1006);
  assert.deepEqual(heard.frames.map(({ type }) => type), ["hello"]);
  mock.timers.tick(30_000);
  assert.equal(BrowserSocket.opened.length, 2, "one line at a time");
});

test("who has been told that there is no connection hears of one only when there is", () => {
  latest().hear({ type: "hello" });
  latest().drop(1006);
  mock.timers.tick(400);
  latest().drop(1006);
  mock.timers.tick(800);
  assert.deepEqual(heard.statuses.slice(2), ["offline", "offline"]);
  latest().hear({ type: "hello" });
  assert.equal(heard.statuses.at(-1), "live");
});

test("when the network is back it is tried at once", () => {
  latest().hear({ type: "hello" });
  for (const wait of [400, 800, 1600, 3200]) {
    latest().drop(1006);
    mock.timers.tick(wait);
  }
  latest().drop(1006);
  const before = BrowserSocket.opened.length;
  window.dispatchEvent(new Event("online"));
  mock.timers.tick(400);
  assert.equal(BrowserSocket.opened.length, before + 1);
});

/** @param {"hidden" | "visible"} state */
function seen(state) {
  document.visibilityState = state;
  document.dispatchEvent(new Event("visibilitychange"));
}

test("who unlocks a phone waits neither for the next try nor for a line that died in the pocket", () => {
  latest().hear({ type: "hello" });
  for (const wait of [400, 800, 1600, 3200]) {
    latest().drop(1006);
    mock.timers.tick(wait);
  }
  latest().drop(1006);
  let before = BrowserSocket.opened.length;
  seen("hidden");
  mock.timers.tick(400);
  assert.equal(BrowserSocket.opened.length, before, "in the pocket it is not tried more often");
  seen("visible");
  mock.timers.tick(400);
  assert.equal(BrowserSocket.opened.length, before + 1);
  latest().hear({ type: "hello" });

  seen("hidden");
  mock.timers.tick(12_000);
  seen("visible");
  mock.timers.tick(400);
  before = BrowserSocket.opened.length;
  assert.equal(heard.statuses.at(-1), "live", "a line that was heard of at the last ping stands");
  seen("hidden");
  mock.timers.tick(16_000);
  seen("visible");
  assert.equal(heard.statuses.at(-1), "offline");
  mock.timers.tick(400);
  assert.equal(BrowserSocket.opened.length, before + 1);
});
