/** Objects as YAML text for the editor, and the line on which a field path stands. Reading YAML is the server's job. */

/** Words that YAML would read as something else than text. */
const RESERVED = /^(?:true|false|yes|no|y|n|on|off|null|~|\.inf|\.nan|[-+]?[\d.][\da-f._xo+-]*|\d{4}-\d\d-\d\d.*)$/i;
/** Characters that a block must not hold: control characters, and those that YAML takes for a line break or a mark. */
const UNSAFE = /[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]/;
/** Those of them that JSON writes as they are. */
const UNSAFE_IN_JSON = /[\x7f-\x9f\u2028\u2029\ufeff]/g;
const PLAIN = /^[A-Za-z0-9_/.$(][A-Za-z0-9_/.$()=+@^:, -]*$/;

/**
 * @param {unknown} value
 * @returns {string} YAML text that ends in a line break
 */
export function toYaml(value) {
  return `${lines(value, "").join("\n")}\n`;
}

/**
 * @param {unknown} value
 * @param {string} indent
 * @returns {string[]}
 */
function lines(value, indent) {
  if (Array.isArray(value)) {
    if (value.length === 0) return [`${indent}[]`];
    return value.flatMap((item) => {
      const [first = "", ...rest] = lines(item, `${indent}  `);
      return [`${indent}- ${first.trimStart()}`, ...rest];
    });
  }
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    if (entries.length === 0) return [`${indent}{}`];
    return entries.flatMap(([key, item]) => entry(key, item, indent));
  }
  return [indent + scalar(value)];
}

/**
 * @param {string} key
 * @param {unknown} value
 * @param {string} indent
 * @returns {string[]}
 */
function entry(key, value, indent) {
  const head = `${indent}${scalar(key)}:`;
  if (typeof value === "string" && value.includes("\n") && blockable(value)) {
    const keep = value.endsWith("\n") ? "|" : "|-";
    const body = value.replace(/\n$/, "").split("\n");
    return [`${head} ${keep}`, ...body.map((line) => (line ? `${indent}  ${line}` : ""))];
  }
  if (value === null || typeof value !== "object") return [`${head} ${scalar(value)}`];
  const empty = Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
  if (empty) return [`${head} ${Array.isArray(value) ? "[]" : "{}"}`];
  // Lists stand at the key's own depth, as kubectl writes them.
  return [head, ...lines(value, Array.isArray(value) ? indent : `${indent}  `)];
}

/**
 * Whether a block says the same text: it takes the depth of its first line and drops what is blank at its end.
 * @param {string} text of several lines
 */
function blockable(text) {
  return !UNSAFE.test(text) && /^\S/.test(text) && !/\n\s*$/.test(text.replace(/\n$/, ""));
}

/** @param {unknown} value */
function scalar(value) {
  if (typeof value !== "string") return String(value);
  if (PLAIN.test(value) && !RESERVED.test(value) && !/: |:$| $/.test(value)) return value;
  return JSON.stringify(value)
    .replace(UNSAFE_IN_JSON, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * The 0-based line of a field path such as `spec.containers[0].image` in block-style YAML; the deepest part that is
 * there when the field itself is not. -1 when not even its first part is found.
 * @param {string} yaml
 * @param {string} path
 */
export function lineOfPath(yaml, path) {
  const parts = path.replace(/\[(\w+)\]/g, ".$1").split(".").filter(Boolean);
  const rows = yaml.split("\n");
  let from = 0;
  let to = rows.length;
  let found = -1;
  for (const part of parts) {
    const at = /^\d+$/.test(part) ? itemLine(rows, from, to, Number(part)) : keyLine(rows, from, to, part);
    if (at < 0) break;
    found = at;
    const isItem = /^\d+$/.test(part);
    to = blockEnd(rows, at, to, isItem);
    from = isItem ? at : at + 1;
  }
  return found;
}

/**
 * The 0-based line of a field of one of the objects that a text of several documents holds; -1 where it is not found, or
 * where the documents are others than the objects (a List holds many).
 * @param {string} yaml
 * @param {number} count of objects
 * @param {number} index of the object
 * @param {string} path
 */
export function lineInDocument(yaml, count, index, path) {
  const rows = yaml.split("\n");
  /** @type {{from: number, to: number}[]} */
  const documents = [];
  let from = 0;
  for (let at = 0; at <= rows.length; at += 1) {
    if (at < rows.length && !/^---(\s|$)/.test(rows[at] ?? "")) continue;
    if (rows.slice(from, at).some((row) => row.trim() && !row.trim().startsWith("#"))) documents.push({ from, to: at });
    from = at + 1;
  }
  const one = documents[index];
  if (!one || documents.length !== count) return -1;
  const found = lineOfPath(rows.slice(one.from, one.to).join("\n"), path);
  return found < 0 ? -1 : one.from + found;
}

/** @param {string} row */
function depth(row) {
  return row.length - row.replace(/^[ -]*/, "").length;
}

/**
 * @param {string[]} rows
 * @param {number} from
 * @param {number} to
 * @param {string} key
 */
function keyLine(rows, from, to, key) {
  let shallowest = Infinity;
  for (let at = from; at < to; at += 1) {
    const row = rows[at] ?? "";
    if (row.trim() && !row.trim().startsWith("#")) shallowest = Math.min(shallowest, depth(row));
  }
  for (let at = from; at < to; at += 1) {
    const row = rows[at] ?? "";
    const text = row.slice(depth(row));
    if (depth(row) === shallowest && (text.startsWith(`${key}:`) || text.startsWith(`"${key}":`))) return at;
  }
  return -1;
}

/**
 * @param {string[]} rows
 * @param {number} from
 * @param {number} to
 * @param {number} index
 */
function itemLine(rows, from, to, index) {
  let seen = -1;
  let dash = -1;
  for (let at = from; at < to; at += 1) {
    const match = /^( *)- /.exec(rows[at] ?? "");
    if (!match) continue;
    const column = match[1]?.length ?? 0;
    if (dash < 0) dash = column;
    if (column === dash) seen += 1;
    if (column === dash && seen === index) return at;
  }
  return -1;
}

/**
 * The line after the block that starts at `at`.
 * @param {string[]} rows
 * @param {number} at
 * @param {number} limit
 * @param {boolean} isItem
 */
function blockEnd(rows, at, limit, isItem) {
  const row = rows[at] ?? "";
  const own = isItem ? row.search(/-/) : depth(row);
  for (let next = at + 1; next < limit; next += 1) {
    const text = rows[next] ?? "";
    if (!text.trim()) continue;
    const column = text.search(/\S/);
    const sameList = !isItem && column === depth(row) && text.trimStart().startsWith("- ") && !row.includes("- ");
    if (column <= own && !sameList) return next;
  }
  return limit;
}
