// Where one is typing in a YAML document, and which fields may stand there.
import assert from "node:assert/strict";
import { test } from "node:test";

import { fieldsAt, fitting } from "../../static/js/lib/openapi.js";
import { placeAt } from "../../static/js/lib/yaml_place.js";

/** The place of the bar in a text. */
const at = (text) => {
  const place = placeAt(text.replace("|", ""), text.indexOf("|"));
  return place && { ...place, taken: [...place.taken].sort(), path: place.path.join(".") };
};
const HEAD = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n";

const PLACES = [
  ["the top", `${HEAD}sp|`, "", "sp", ["apiVersion", "kind", "metadata"]],
  ["a map", `${HEAD}spec:\n  replicas: 3\n  te|\n`, "spec", "te", ["replicas"]],
  ["a line of its own without a letter", `${HEAD}spec:\n  |`, "spec", "", []],
  ["an item of a list that is indented", "spec:\n  containers:\n    - name: a\n      im|\n", "spec.containers.[]", "im", ["name"]],
  ["an item at its key's own depth", "spec:\n  containers:\n  - name: a\n    im|\n  nodeName: x", "spec.containers.[]", "im", ["name"]],
  ["beside a list that ended", "spec:\n  containers:\n  - name: a\n  no|\n", "spec", "no", ["containers"]],
  ["a new item", "spec:\n  containers:\n  - name: a\n  - |", "spec.containers.[]", "", []],
  ["a list in a list's item", "a:\n- b:\n  - c: 1\n    d|", "a.[].b.[]", "d", ["c"]],
  ["fields after the caret count too", "spec:\n  re|\n  selector: {}\nstatus: {}", "spec", "re", ["selector"]],
  ["comments and blank lines", "spec:\n  # why\n\n  a: 1\n  b|", "spec", "b", ["a"]],
  ["quoted keys", "metadata:\n  labels:\n    \"a/b\": x\n    c|", "metadata.labels", "c", ["a/b"]],
];
for (const [what, text, path, typed, taken] of PLACES)
  test(`the place: ${what}`, () => {
    const place = at(text);
    assert.deepEqual([place?.path, place?.typed, place?.taken], [path, typed, taken]);
  });

test("a block of text holds no fields, and they go on behind it", () => {
  const text = "data:\n  a: |\n    spec:\n      x\n  b";
  assert.equal(placeAt(text, text.indexOf("x") + 1), null);
  const place = placeAt(text, text.length);
  assert.deepEqual([place?.path, place?.typed, [...(place?.taken ?? [])]], [["data"], "b", ["a"]]);
});

test("each document of a file has its own kind", () => {
  const place = at("apiVersion: v1\nkind: Pod # one\n---\nkind: \"Service\"\nsp|\napiVersion: v1\n---\nkind: Node\n");
  assert.deepEqual([place?.kind, place?.apiVersion, place?.path], ["Service", "v1", ""]);
});

test("values, comments, the middle of a line and JSON are no places for a field", () => {
  for (const text of ["kind: Po|", "# a|", "ki|nd: Pod", "{\"a\": 1,\n b|}", "- a b|"]) assert.equal(at(text), null, text);
});

const SCHEMAS = {
  Deployment: { type: "object", required: ["spec"], "x-kubernetes-group-version-kind": [{ group: "apps", version: "v1", kind: "Deployment" }],
    properties: { spec: { allOf: [{ $ref: "#/components/schemas/Spec" }], description: "What is wanted. More." }, kind: { type: "string" } } },
  Spec: { type: "object", required: ["selector"], properties: {
    replicas: { type: "integer" }, selector: { $ref: "#/components/schemas/Selector" },
    containers: { type: "array", items: { $ref: "#/components/schemas/Container" } } } },
  Selector: { type: "object", properties: { matchLabels: { type: "object", additionalProperties: { type: "string" } } } },
  Container: { type: "object", properties: { name: { type: "string" }, image: { type: "string" } } },
};
const told = (...path) => fieldsAt(SCHEMAS, "apps/v1", "Deployment", path).map(({ name, type }) => `${name} ${type}`);

test("fields are followed through references, lists and maps, with their types as kubectl explain writes them", () => {
  assert.deepEqual(told(), ["spec object", "kind string"]);
  assert.deepEqual(told("spec"), ["replicas integer", "selector object", "containers []object"]);
  assert.deepEqual(told("spec", "containers", "[]"), ["name string", "image string"]);
  assert.deepEqual(told("spec", "selector"), ["matchLabels map[string]string"]);
  assert.deepEqual([told("spec", "selector", "matchLabels", "app"), told("spec", "nothing", "at", "all")], [[], []]);
  const [spec] = fieldsAt(SCHEMAS, "apps/v1", "Deployment", []);
  assert.deepEqual([spec?.about, spec?.required], ["What is wanted.", true]);
});

test("a document of which nothing is known begins as all do", () => {
  assert.deepEqual(fieldsAt(null, "", "", []).map(({ name }) => name), ["apiVersion", "kind", "metadata"]);
  assert.deepEqual(fieldsAt(SCHEMAS, "v1", "Unicorn", ["spec"]), []);
});

test("what fits begins with what was typed, the required first; what stands there is not offered", () => {
  const fields = fieldsAt(SCHEMAS, "apps/v1", "Deployment", ["spec"]);
  assert.deepEqual(fitting(fields, "", new Set(["replicas"])).map(({ name }) => name), ["selector", "containers"]);
  assert.deepEqual(fitting(fields, "RE", new Set()).map(({ name }) => name), ["replicas"]);
  assert.deepEqual(fitting(fields, "replicas", new Set()), []);
});
