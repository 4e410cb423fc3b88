// A picture is asked for while there is something to paint, and by nobody else: the browser's frames are played by hand.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { makeFrames } from "../../static/js/dom/frames.js";
import { makeRate } from "../../static/js/probe.js";

/** @type {((timeMs: number) => void)[]} */
let asked = [];
/** @type {{run: () => void, ms: number}[]} */
let timers = [];
const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };

beforeEach(() => {
  [asked, timers] = [[], []];
  Object.assign(globalThis, {
    requestAnimationFrame: (/** @type {(timeMs: number) => void} */ run) => asked.push(run),
    cancelAnimationFrame: () => void (asked = []),
  });
});

/** Show one picture, if one was asked for. @param {number} timeMs */
const show = (timeMs) => asked.shift()?.(timeMs);

/** @param {() => void} run */
function withTimers(run) {
  globalThis.setTimeout = /** @type {any} */ ((/** @type {() => void} */ act, /** @type {number} */ ms) => timers.push({ run: act, ms }));
  globalThis.clearTimeout = /** @type {any} */ ((/** @type {number | undefined} */ id) => id && timers.splice(id - 1, 1));
  try {
    run();
  } finally {
    Object.assign(globalThis, real);
  }
}

test("while anything moves a picture follows the other; then none is asked for until something wakes it", () => withTimers(() => {
  const rests = [0, 0, Infinity, Infinity];
  /** @type {number[]} */
  const painted = [];
  const frames = makeFrames((timeMs) => {
    painted.push(timeMs);
    return rests.shift() ?? Infinity;
  });
  for (const timeMs of [16, 33, 50, 66]) show(timeMs);
  assert.deepEqual([painted, asked.length, timers.length], [[16, 33, 50], 0, 0]);
  frames.wake();
  frames.wake();
  assert.equal(asked.length, 1, "however often it is woken");
  show(500);
  assert.deepEqual([painted.at(-1), asked.length], [500, 0]);
}));

test("what is to change by itself wakes it at its time; what wakes it earlier takes the timer's place", () => withTimers(() => {
  let count = 0;
  const frames = makeFrames(() => ((count += 1), 80));
  show(0);
  assert.deepEqual([asked.length, timers.map(({ ms }) => ms)], [0, [80]]);
  frames.wake();
  assert.deepEqual([asked.length, timers.length], [1, 0]);
  show(20);
  timers[0]?.run();
  show(100);
  assert.equal(count, 3);
}));

test("what is woken by its own picture is shown again at once, and after its end nothing is", () => withTimers(() => {
  let count = 0;
  const frames = makeFrames(() => {
    count += 1;
    if (count === 1) frames.wake();
    return 80;
  });
  show(0);
  assert.deepEqual([asked.length, timers.length], [1, 0]);
  show(16);
  frames.stop();
  frames.wake();
  assert.deepEqual([asked.length, count], [0, 2]);
}));

test("the frame rate is what the browser gives in a second, and nothing is asked of it after that", () => {
  const now = { ms: 0 };
  const real = performance.now;
  performance.now = () => now.ms;
  try {
    const rate = makeRate();
    const second = (/** @type {number} */ stepMs) => {
      rate.count();
      rate.count();
      while (asked.length) {
        assert.equal(asked.length, 1, "counted once, however often that is asked");
        now.ms += stepMs;
        show(now.ms);
      }
      return rate.fps();
    };
    assert.equal(rate.fps(), 0);
    assert.equal(second(20), 50);
    assert.equal(second(40), 25);
    now.ms += 60_000;
    assert.deepEqual([rate.fps(), rate.countedMs(), asked.length], [25, 1_000, 0], "of a page at rest, as it last was");
  } finally {
    performance.now = real;
  }
});
