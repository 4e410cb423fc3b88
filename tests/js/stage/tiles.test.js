// What stands on a tile is read: also once its attempt is over, and never twice in the same words.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";

import { loadTexts } from "../../../static/js/lib/text.js";
import { OVER_DIM } from "../../../static/js/stage/cycle.js";
import { VEIL } from "../../../static/js/stage/lit.js";
import { OVER_ALPHA, preemptionLines, wordsAlpha } from "../../../static/js/stage/tile-parts.js";
import { drawSmallTile } from "../../../static/js/stage/tiles.js";
import { whyNot } from "../../../static/js/stage/victims.js";

before(() => loadTexts("en", "stage"));

const SHEET = readFileSync(new URL("../../../static/css/tokens.css", import.meta.url), "utf8");
const THEMES = SHEET.split(/(?=:root)/).filter((part) => part.includes("--stage:"));
/** @param {string} theme @param {string} token @returns {number[]} */
function colour(theme, token) {
  const hex = new RegExp(`--${token}: #([0-9a-f]+);`).exec(theme)?.[1] ?? "";
  const six = hex.length === 3 ? [...hex].map((one) => one + one).join("") : hex;
  return [0, 2, 4].map((at) => parseInt(six.slice(at, at + 2), 16));
}
/** Relative luminance as WCAG defines it. @param {readonly number[]} rgb */
function luminance(rgb) {
  const [r = 0, g = 0, b = 0] = rgb.map((value) => value / 255).map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
/** @param {string} theme @param {string} ink @param {string} ground @param {number} alpha */
function contrast(theme, ink, ground, alpha) {
  const below = colour(theme, ground);
  const seen = colour(theme, ink).map((value, index) => value * alpha + (below[index] ?? 0) * (1 - alpha));
  const [a, b] = [luminance(seen), luminance(below)].sort((one, other) => other - one);
  return ((a ?? 0) + 0.05) / ((b ?? 0) + 0.05);
}

test("words of an attempt that is over have the contrast that reading wants, in every theme", () => {
  assert.ok(THEMES.length >= 2, "light and dark");
  for (const theme of THEMES) {
    for (const ink of ["t1", "t2"]) assert.ok(contrast(theme, ink, "stage", wordsAlpha(OVER_DIM)) >= 4.5, `${ink} of a reason`);
    for (const ink of ["t1", "t2", "ambt"]) assert.ok(contrast(theme, ink, "surf", OVER_ALPHA) >= 4.5, `${ink} of a score`);
  }
});

test("a footer's words come with its ground and are whole when it is", () => {
  assert.equal(wordsAlpha(0), 0);
  assert.equal(wordsAlpha(1), 1);
});

test("why a node cannot be freed is not said twice in the same words", () => {
  const why = new Map([["n1", "No preemption victims found for incoming pod"], ["n2", "Insufficient cpu"]]);
  const of = (/** @type {string} */ name) => whyNot({ why }, name, "Insufficient cpu", "en");
  assert.deepEqual(of("n1"), { reason: "No preemption victims found for incoming pod", more: "Insufficient cpu" });
  assert.deepEqual(of("n2"), { reason: "Insufficient cpu", more: "even without every lesser pod" });
  assert.deepEqual(of("n3"), { reason: "Insufficient cpu", more: "" });
});

test("what evicting costs is read whole on a tall tile, in a second line", () => {
  const written = [];
  const context = new Proxy({}, { get: (_, key) => (key === "measureText" ? (words) => ({ width: 6 * words.length }) : key === "fillText" ? (words) => written.push(words) : () => {}), set: () => true });
  const pen = { context, colours: new Proxy({}, { get: () => "#000" }), lang: "en", dpr: 1, nowMs: 0, say: (key) => key };
  const scene = { role: "candidate", lot: null, criterion: 0, victims: 1, violations: 1 };
  const tell = (h) => {
    written.length = 0;
    preemptionLines(pen, { x: 0, y: 0, w: 190, h }, scene, "to free 2 cpu");
    return written.join(" ");
  };
  assert.match(tell(150), /breaks 1 PDB to free 2 cpu/);
  assert.doesNotMatch(tell(88), /to free 2 cpu/, "a low one has one line");
});

test("nodes that stand back behind others keep a name that can be read", () => {
  for (const theme of THEMES) assert.ok(contrast(theme, "t1", "stage", 1 - VEIL) >= 4.5);
});

test("a tall small tile has the bars of all resources where its pods and what is said of it leave room", (t) => {
  const before = globalThis.document;
  globalThis.document = /** @type {any} */ ({ createElement: () => ({ getContext: () => null }) });
  t.after(() => (globalThis.document = before));
  /** @type {string[]} */
  const written = [];
  const context = new Proxy({}, { get: (_, key) => (key === "measureText" ? (words) => ({ width: 6 * words.length }) : key === "fillText" ? (words) => written.push(words) : () => {}), set: () => true });
  const pen = { context, colours: new Proxy({}, { get: (_, key) => (key === "owner" ? [] : "#000") }), lang: "en", dpr: 1, nowMs: 0, say: (key) => key };
  const glyph = { key: "p", look: "running", hue: 0, own: false };
  const tell = (h, pods, scene = null) => {
    written.length = 0;
    const node = {
      name: "gpu-1", ready: true, unschedulable: false, trouble: null, difference: null, taints: [], cpuUsed: 500, cpuMilli: 8000, memoryUsed: 0, memoryBytes: 2 ** 35,
      usage: null, extended: [{ name: "gpu", resource: "nvidia.com/gpu", used: 1, max: 2 }], glyphs: Array(pods).fill(glyph),
    };
    drawSmallTile(pen, { name: "gpu-1", x: 0, y: 0, w: 105, h }, node, { scene, cycle: null, selected: false, focused: false, hovered: false, selectedPod: "", trial: null, trialLast: 0 });
    return written.join(" ");
  };
  const refused = { feasible: false, role: "", dim: 1, reason: "Insufficient nvidia.com/gpu", details: [], segments: [] };
  assert.match(tell(110, 2), /cpu mem gpu/);
  assert.match(tell(110, 2, refused), /Insufficient cpu mem gpu/, "beside the reason, too");
  const lacking = { ...refused, details: [{ resource: "nvidia.com/gpu", kind: "resource", requested: 1, used: 1, capacity: 1 }] };
  assert.match(tell(98, 2, lacking), /Insufficient (cpu |mem )?gpu$/, "what is lacking first");
  assert.doesNotMatch(tell(110, 28), /gpu /, "four rows of pods take their place");
  assert.doesNotMatch(tell(74, 2), /cpu/, "a low one has one bar");
});
