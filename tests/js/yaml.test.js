// YAML that the editor shows: what would be read as something else is quoted, and field paths find their lines.
import assert from "node:assert/strict";
import { test } from "node:test";

import { lineInDocument, lineOfPath, toYaml } from "../../static/js/lib/yaml.js";

const DOCUMENT = {
  apiVersion: "v1",
  metadata: { name: "n9", labels: { "a.b/c": "d" }, annotations: {} },
  spec: {
    containers: [{ name: "a", args: ["x", "y: z"], env: [] }, { name: "b", image: "nginx" }],
    initContainers: [],
    paused: false,
    replicas: 3,
  },
};
const YAML = `apiVersion: v1
metadata:
  name: n9
  labels:
    a.b/c: d
  annotations: {}
spec:
  containers:
  - name: a
    args:
    - x
    - "y: z"
    env: []
  - name: b
    image: nginx
  initContainers: []
  paused: false
  replicas: 3
`;

test("objects, lists and scalars in kubectl's block style", () => assert.equal(toYaml(DOCUMENT), YAML));

test("text that YAML would read as another type is quoted", () => {
  for (const word of ["true", "No", "y", "N", "null", "~", ".inf", ".NaN", "8", "1.5", "0x1f", "1e3", "2030-01-01T00:00:00Z", "", " a", "a: b", "#x", "- a", "*a", "a #b", "é"])
    assert.equal(toYaml({ k: word }), `k: ${JSON.stringify(word)}\n`, word);
  for (const word of ["web", "nginx:1.27", "4Gi", "250m", "a/b", "n-1", "kube scheduler"])
    assert.equal(toYaml({ k: word }), `k: ${word}\n`, word);
});

test("a name that YAML would read as another type is quoted where it is a key too", () =>
  assert.equal(toYaml({ y: "n", web: "y" }), '"y": "n"\nweb: "y"\n'));

test("what a text holds that YAML forbids or takes for a line break is written by its number", () => {
  for (const [character, written] of [["\u0085", "\\u0085"], ["\u2028", "\\u2028"], ["\u007f", "\\u007f"], ["\ufeff", "\\ufeff"], ["\u0007", "\\u0007"]]) {
    assert.equal(toYaml({ k: `a${character}b` }), `k: "a${written}b"\n`);
    assert.equal(toYaml({ k: `a\n${character}b` }), `k: "a\\n${written}b"\n`);
  }
});

test("several lines become a block that keeps its last line break or not", () => {
  assert.equal(toYaml({ k: "a\nb\n" }), "k: |\n  a\n  b\n");
  assert.equal(toYaml({ k: "a\nb" }), "k: |-\n  a\n  b\n");
  for (const text of [" a\nb", "\n", "\na", "a\n\n"]) assert.equal(toYaml({ k: text }), `k: ${JSON.stringify(text)}\n`);
});

const PATHS = [
  ["metadata.name", 2], ["metadata.labels", 3], ["spec.containers[0].args[1]", 11], ["spec.containers[1].image", 14],
  ["spec.containers[1].resources.requests.cpu", 13], ["spec.replicas", 17], ["status.phase", -1],
];
for (const [path, line] of PATHS) test(`${path} stands on line ${line + 1}`, () => assert.equal(lineOfPath(YAML, path), line));

test("a field of one of several documents is found in its own", () => {
  const text = `# made by hand\n---\n${YAML}---\n# nothing\n---\n${YAML}`;
  const second = text.lastIndexOf("---\n");
  const before = text.slice(0, second).split("\n").length;
  assert.equal(lineInDocument(text, 2, 0, "metadata.name"), 2 + 2);
  assert.equal(lineInDocument(text, 2, 1, "metadata.name"), before + 2);
  assert.equal(lineInDocument(text, 2, 1, "status.phase"), -1);
  assert.equal(lineInDocument(text, 5, 1, "metadata.name"), -1, "a List holds more objects than there are documents");
});
