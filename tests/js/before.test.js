// What a teacher settles before a lesson: kept for one session, and without harm where a browser keeps nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { askForCheck, awaitsCheck, checked, countHands, countsHands } from "../../static/js/state/before.js";

/** @param {object} storage */
const withStorage = (storage) => Object.defineProperty(globalThis, "sessionStorage", { value: storage, configurable: true });

test("the check waits for the session that was opened, once, however its code is written", () => {
  const kept = new Map();
  withStorage({ getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value), removeItem: (name) => kept.delete(name) });
  assert.equal(awaitsCheck("K7Q-M2X"), false);
  askForCheck("K7Q-M2X");
  assert.deepEqual(["K7QM2X", "k7q-m2x", "AAA-AAA"].map(awaitsCheck), [true, true, false]);
  checked();
  assert.equal(awaitsCheck("K7Q-M2X"), false);
});

test("hands are counted in the session where the teacher said so", () => {
  const kept = new Map();
  withStorage({ getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value), removeItem: (name) => kept.delete(name) });
  countHands("K7Q-M2X", true);
  assert.deepEqual(["K7QM2X", "AAA-AAA"].map(countsHands), [true, false]);
  countHands("K7Q-M2X", false);
  assert.equal(countsHands("K7QM2X"), false);
});

test("where nothing may be kept nothing breaks", () => {
  const refuse = () => {
    throw new Error("SecurityError");
  };
  withStorage({ getItem: refuse, setItem: refuse, removeItem: refuse });
  askForCheck("K7Q-M2X");
  countHands("K7Q-M2X", true);
  assert.deepEqual([awaitsCheck("K7Q-M2X"), countsHands("K7Q-M2X")], [false, false]);
});
