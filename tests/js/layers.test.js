// The arrows of the browser house: entries → act → forms | net, entries → panels | stage | decision | whatif, panels → the dock's own
// rooms (compare, election → streams, architecture → control …), all of them → state → lib, with dom below those that make elements. Nothing imports sideways or upwards, and nothing but stage/ and decision/ draws.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../../static/js/", import.meta.url);
const MAY = {
  "": ["", "act", "class", "forms", "panels", "stage", "decision", "whatif", "presenting", "room", "net", "dom", "state", "lib"],
  act: ["act", "forms", "rules", "net", "state", "lib"],
  rules: ["rules", "dom", "state", "lib"],
  forms: ["forms", "dom", "state", "lib"],
  class: ["class", "dom", "state", "lib"],
  panels: ["panels", "streams", "election", "watches", "control", "architecture", "compare", "dom", "state", "lib"],
  compare: ["compare", "dom", "state", "lib"],
  streams: ["streams", "dom", "state", "lib"],
  watches: ["watches", "streams", "dom", "state", "lib"],
  election: ["election", "streams", "dom", "state", "lib"],
  control: ["control", "dom", "state", "lib"],
  architecture: ["architecture", "control", "dom", "state", "lib"],
  stage: ["stage", "dom", "state", "lib"],
  decision: ["decision", "dom", "state", "lib"],
  presenting: ["presenting", "dom", "state", "lib"],
  room: ["room", "dom", "state", "lib"],
  whatif: ["whatif", "dom", "state", "lib"],
  net: ["net", "state", "lib"],
  // Stands in for a server, in a file that has none.
  recording: ["recording", "lib"],
  dom: ["dom", "lib"],
  state: ["state", "lib"],
  lib: ["lib"],
};

const sources = readdirSync(ROOT, { recursive: true })
  .filter((name) => name.endsWith(".js"))
  .map((name) => ({ name, folder: name.includes("/") ? name.split("/")[0] : "", code: readFileSync(new URL(name, ROOT), "utf8") }));

function withoutComments(code) {
  return code.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

test("every module stands in a folder of the map", () => {
  assert.ok(sources.length > 20);
  for (const { name, folder } of sources) assert.ok(folder in MAY, `${name}: no room called ${folder}`);
});

for (const { name, folder, code } of sources) {
  test(`${name} imports only what its folder may`, () => {
    for (const [, target] of withoutComments(code).matchAll(/(?:^|[\s;}])(?:from|import)\s*\(?\s*"([^"\n]+)"/g)) {
      assert.match(target, /^\.{1,2}\//, "no bare imports: nothing from npm ships");
      const path = new URL(target, new URL(name, ROOT)).pathname.slice(ROOT.pathname.length);
      const other = path.includes("/") ? path.split("/")[0] : "";
      assert.ok(MAY[folder].includes(other), `${name} may not import ${path}`);
    }
  });
}

const RULES = [
  [/getContext\s*\(/, ["stage", "streams"], "only stage/ paints on canvas, and streams/ a picture to take along"],
  [/\bPlotly\./, ["decision"], "only decision/ draws charts"],
  [/\bfetch\s*\(|new WebSocket/, ["net"], "only net/ talks to the server"],
  [/\bdocument\b|\bwindow\b/, Object.keys(MAY).filter((room) => room !== "state" && room !== "lib"), "state/ and lib/ run without a page"],
  [/innerHTML|outerHTML|insertAdjacentHTML|document\.write/, [], "text enters by textContent"],
  [/\beval\s*\(|new Function\b/, [], "the page's policy forbids it"],
];

for (const [pattern, folders, why] of RULES)
  test(why, () => {
    for (const { name, folder, code } of sources)
      if (!folders.includes(folder)) assert.doesNotMatch(withoutComments(code), pattern, `${name}: ${why}`);
  });

// To a browser writing is changing, whatever stands there already: a third of a busy page's time went into styling all of it anew.
test("the frame writes what the whole page is styled by only where it differs", () => {
  const main = withoutComments(sources.find(({ name }) => name === "main.js")?.code ?? "");
  assert.match(main, /setAttribute\(document\.documentElement, "data-theme"/);
  assert.doesNotMatch(main, /document\.documentElement\.(lang|className|dataset\[[^\]]+\]) = /);
});
