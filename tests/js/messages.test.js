// No message of any text file is missing where the page asks for one, none is there for nothing, and one is told in the singular.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../../static/js/", import.meta.url);
const TEXTS = new URL("lib/text/", ROOT);

/** @type {Map<string, string>} key → English */
const messages = new Map();
for (const name of readdirSync(TEXTS).filter((one) => one.endsWith(".en.js")))
  for (const [key, message] of Object.entries((await import(new URL(name, TEXTS).href)).EN)) {
    assert.ok(!messages.has(key), `${key} stands in two text files`);
    messages.set(key, String(message));
  }

/** Their words come with their page, from the server. */
const HOME = new Set(["home.js", "lessons.js", "write.js"]);

/** What the page's modules say in quotes, without what stands in comments. */
const sources = readdirSync(ROOT, { recursive: true }).map(String)
  .filter((name) => name.endsWith(".js") && !name.startsWith("lib/text/"))
  .map((name) => ({ name, code: readFileSync(new URL(name, ROOT), "utf8").replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "") }));

const literals = new Set();
/** @type {{name: string, pattern: RegExp}[]} keys that are put together, each as a pattern of what it may become */
const built = [];
for (const { name, code } of sources) {
  for (const [, text] of code.matchAll(/"((?:[^"\\\n]|\\.)*)"/g)) literals.add(text);
  for (const [text] of code.matchAll(/`[^`\n]*\$\{[^`\n]*`/g)) {
    const parts = text.slice(1, -1).split(/\$\{(?:[^{}]|\{[^}]*\})*\}/);
    const keyLike = /^[a-z][\w-]*[._]/i.test(parts[0] ?? "") || (parts[0] === "" && parts.some((part) => /^(?:\.\w+\.|_\w+)$/.test(part)));
    if (!keyLike) continue;
    const whole = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[\\w.-]+");
    built.push({ name, pattern: new RegExp(`^${whole}$`) });
  }
}

test("no message is there for nothing", () => {
  // What a controller says of its reconcile is translated as it stands: tests/js/control/controllers.test.js.
  const unused = [...messages.keys()].filter((key) => !/^control\.(because|part)\./.test(key)).filter((key) => !literals.has(key) && !built.some(({ pattern }) => pattern.test(key)));
  assert.deepEqual(unused, []);
});

test("every message that is asked for is there", () => {
  const missing = [];
  const asks = /(?:\b(?:text|counted)\([\w.?]*[lL]ang(?: \?\? "en")?, |\bt\()"([\w.-]+)"(?=[,)])/g;
  for (const { name, code } of sources)
    if (!HOME.has(name)) for (const [, key] of code.matchAll(asks)) if (!messages.has(String(key))) missing.push(`${name}: ${key}`);
  // What looks like a message by its first word is one, wherever it is asked for.
  const families = new Set([...messages.keys()].filter((key) => key.includes(".")).map((key) => key.split(".")[0]));
  for (const text of literals)
    if (/^[a-z]+\.[a-z][\w.]*$/i.test(text) && families.has(text.split(".")[0]) && !text.endsWith(".io") && !messages.has(text)) missing.push(text);
  assert.deepEqual(missing, []);
});

test("a number that may be one is followed by words for one and for many", () => {
  const things = "objects|pods|nodes|keys|bytes|controllers|workers|rows|points(?! at)|cores|ways|changes|decisions|budgets|steps|plugins"
    + "|events|people|attempts|votes|claims|seconds|fields|replicas|filters|victims";
  const plural = new RegExp(`\\{\\w+\\} (?:${things})\\b`);
  // state/consequence.js asks for `…_many` where there are more than one.
  const always = [...messages].filter(([key, message]) => plural.test(message) && !key.endsWith("_many"))
    .map(([key, message]) => `${key}: ${message}`);
  assert.deepEqual(always, []);
});
