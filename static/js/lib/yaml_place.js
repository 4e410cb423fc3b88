/** Where in a YAML document one is typing: the path of the field, what stands beside it, of which kind it is. Pure. */

/**
 * @typedef {object} Place
 * @property {string} apiVersion "" where the document does not say
 * @property {string} kind
 * @property {readonly string[]} path of what holds the field; "[]" stands for an item of a list
 * @property {string} typed of the field's name
 * @property {number} from where that begins in the text
 * @property {ReadonlySet<string>} taken names of the fields beside it
 */

/**
 * What holds what: a key by its column, the dash of an item just behind it, so that a list may stand at its key's own depth.
 * @typedef {{at: number, name: string}} Holder
 */

const LINE = /^( *)((?:- +)*)(?:"?([^\s"#:{}[\],][^":]*?)"?:(?: +(.*)|)$)?/;

/**
 * @param {string} text
 * @param {number} caret
 * @returns {Place | null} null where no name of a field is being typed: in a value, a comment, JSON
 */
export function placeAt(text, caret) {
  const lineStart = text.lastIndexOf("\n", caret - 1) + 1;
  const before = text.slice(lineStart, caret);
  const after = text.slice(caret).split("\n", 1)[0] ?? "";
  const match = /^( *)((?:- +)*)([\w./-]*)$/.exec(before);
  if (!match || after.trim()) return null;
  const { rows, index } = documentAround(text, lineStart);
  if (/^\s*[{[]/.test(rows.join("\n"))) return null;
  const [, spaces = "", dashes = "", typed = ""] = match;
  const reading = new Reading();
  rows.slice(0, index).forEach((row) => reading.row(row));
  if (reading.inBlock(spaces.length)) return null;
  const holder = reading.hold(spaces.length, dashes, spaces.length + dashes.length);
  const path = reading.path();
  rows.slice(index + 1).forEach((row) => reading.row(row));
  return {
    apiVersion: reading.said.get("apiVersion") ?? "", kind: reading.said.get("kind") ?? "", path, typed,
    from: caret - typed.length, taken: new Set(reading.names.get(holder) ?? []),
  };
}

/**
 * The lines of the document that a line stands in, and which of them it is.
 * @param {string} text
 * @param {number} lineStart
 */
function documentAround(text, lineStart) {
  const rows = text.split("\n");
  const line = text.slice(0, lineStart).split("\n").length - 1;
  const first = rows.findLastIndex((row, at) => at < line && /^---(\s|$)/.test(row)) + 1;
  const next = rows.findIndex((row, at) => at > line && /^---(\s|$)/.test(row));
  return { rows: rows.slice(first, next < 0 ? rows.length : next), index: line - first };
}

/** Reads a document line by line and knows at each what holds it. */
class Reading {
  constructor() {
    /** @type {Holder} */
    this.root = { at: -1, name: "" };
    /** @type {Holder[]} */
    this.holders = [this.root];
    /** @type {Map<Holder, string[]>} names of the fields that something holds */
    this.names = new Map();
    /** @type {Map<string, string>} plain values at the top */
    this.said = new Map();
    /** The column that a block of text lies right of; -1: none is open. */
    this.block = -1;
  }

  /** @param {string} text a line */
  row(text) {
    if (!text.trim() || /^\s*#/.test(text)) return;
    const [, spaces = "", dashes = "", key, value = ""] = LINE.exec(text) ?? [];
    if (this.inBlock(spaces.length)) return;
    this.block = -1;
    const column = spaces.length + dashes.length;
    const holder = this.hold(spaces.length, dashes, column);
    if (key === undefined) return;
    this.names.set(holder, [...(this.names.get(holder) ?? []), key]);
    if (holder === this.root) this.said.set(key, value.replace(/\s+#.*$|["']/g, "").trim());
    if (/^[|>]/.test(value)) this.block = column;
    this.holders.push({ at: 2 * column, name: key });
  }

  /** @param {number} column */
  inBlock(column) {
    return this.block >= 0 && column > this.block;
  }

  /**
   * Let go of what does not hold a line that begins like this; answers with what does.
   * @param {number} first its first column
   * @param {string} dashes
   * @param {number} column of its key
   */
  hold(first, dashes, column) {
    for (const { index } of dashes.matchAll(/-/g)) {
      this.letGo(2 * (first + index) + 1);
      this.holders.push({ at: 2 * (first + index) + 1, name: "[]" });
    }
    this.letGo(2 * column);
    return this.holders.at(-1) ?? this.root;
  }

  /** @param {number} at */
  letGo(at) {
    while ((this.holders.at(-1)?.at ?? -1) >= at) this.holders.pop();
  }

  path() {
    return this.holders.slice(1).map(({ name }) => name);
  }
}
