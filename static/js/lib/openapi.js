/** Fields of a kind as the server's OpenAPI v3 documents tell them. Pure. */

/** @typedef {Record<string, any>} Schema */
/** @typedef {{name: string, type: string, about: string, required: boolean}} FieldTold */

/** @type {readonly FieldTold[]} what every document begins with */
const FIRST = [
  { name: "apiVersion", type: "string", about: "", required: true },
  { name: "kind", type: "string", about: "", required: true },
  { name: "metadata", type: "object", about: "", required: true },
];

/**
 * The fields that may stand at a path of an object; [] where nothing is known of it.
 * @param {Readonly<Record<string, Schema>> | null} schemas by name; null: no document
 * @param {string} apiVersion
 * @param {string} kind
 * @param {readonly string[]} path "[]" stands for an item of a list
 * @returns {FieldTold[]}
 */
export function fieldsAt(schemas, apiVersion, kind, path) {
  const root = schemas && rootOf(schemas, apiVersion, kind);
  if (!root) return path.length ? [] : [...FIRST];
  /** @type {Schema | null} */
  let here = root;
  for (const part of path) here = here && inner(schemas, resolved(schemas, here), part);
  const shape = here && resolved(schemas, here);
  const required = new Set(shape?.["required"] ?? []);
  return Object.entries(shape?.["properties"] ?? {}).map(([name, schema]) => ({
    name, type: typeOf(schemas, schema), about: firstSentence(schema.description ?? ""), required: required.has(name),
  }));
}

/**
 * What fits what has been typed: those that begin with it, required ones first; nothing that stands there already.
 * @param {readonly FieldTold[]} fields
 * @param {string} typed
 * @param {ReadonlySet<string>} taken
 */
export function fitting(fields, typed, taken) {
  const wanted = typed.toLowerCase();
  return fields.filter(({ name }) => name.toLowerCase().startsWith(wanted) && name !== typed && !taken.has(name))
    .sort((a, b) => Number(b.required) - Number(a.required) || (a.name < b.name ? -1 : 1));
}

/**
 * @param {Readonly<Record<string, Schema>>} schemas
 * @param {string} apiVersion
 * @param {string} kind
 */
function rootOf(schemas, apiVersion, kind) {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  return Object.values(schemas).find((schema) =>
    schema["x-kubernetes-group-version-kind"]?.some((/** @type {Record<string, string>} */ one) =>
      one["kind"] === kind && one["version"] === version && (one["group"] ?? "") === group)) ?? null;
}

/**
 * @param {Readonly<Record<string, Schema>>} schemas
 * @param {Schema} shape
 * @param {string} part
 * @returns {Schema | null}
 */
function inner(schemas, shape, part) {
  if (part === "[]") return shape["items"] ?? null;
  const more = shape["additionalProperties"];
  return shape["properties"]?.[part] ?? (more && typeof more === "object" ? more : null);
}

/**
 * A schema with its reference followed.
 * @param {Readonly<Record<string, Schema>>} schemas
 * @param {Schema} schema
 * @returns {Schema}
 */
function resolved(schemas, schema) {
  const pointer = schema["$ref"] ?? schema["allOf"]?.[0]?.$ref;
  return pointer ? schemas[String(pointer).split("/").pop() ?? ""] ?? {} : schema;
}

/**
 * @param {Readonly<Record<string, Schema>>} schemas
 * @param {Schema} schema
 * @returns {string} as kubectl explain writes it
 */
function typeOf(schemas, schema) {
  const shape = resolved(schemas, schema);
  if (shape["type"] === "array") return `[]${typeOf(schemas, shape["items"] ?? {})}`;
  if (shape["type"] === "object" && shape["additionalProperties"]) return `map[string]${typeOf(schemas, shape["additionalProperties"])}`;
  return shape["type"] ?? (shape["format"] || "string");
}

/** @param {string} about */
function firstSentence(about) {
  return /^[\s\S]*?[.](?=\s|$)/.exec(about)?.[0] ?? about;
}
