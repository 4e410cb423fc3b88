/** What the palette's items share: form fields, and reading what is typed into them. Pure. */

/** @import { Field } from "./items.js" */

/**
 * @param {string} name
 * @param {string} path
 * @param {Field["type"]} [type]
 * @param {Partial<Field>} [more]
 * @returns {Field}
 */
export function field(name, path, type = "text", more = {}) {
  return { name, label: `field_${name}`, path, type, ...more };
}

/**
 * `a=b, c=d` as an object; entries without a value get "".
 * @param {string | undefined} text
 * @returns {Record<string, string>}
 */
export function readPairs(text) {
  const entries = (text ?? "").split(/[,\n]/).map((part) => part.trim()).filter(Boolean);
  return Object.fromEntries(entries.map((part) => {
    const at = part.indexOf("=");
    return at < 0 ? [part, ""] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
  }));
}

/**
 * Only the entries with something in them: an empty field of the form stands for "not said".
 * @param {Record<string, string | undefined>} entries
 * @returns {Record<string, string>}
 */
export function given(entries) {
  return /** @type {Record<string, string>} */ (
    Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined && value !== ""))
  );
}

/**
 * `key=value:Effect` entries as taints; the effect is NoSchedule unless said.
 * @param {string | undefined} text
 * @returns {{key: string, value?: string, effect: string}[]}
 */
export function readTaints(text) {
  return (text ?? "").split(/[,\n]/).map((part) => part.trim()).filter(Boolean).map((part) => {
    const [pair = "", effect = "NoSchedule"] = part.split(":");
    const [key = "", value] = pair.split("=");
    return value === undefined ? { key, effect } : { key, value, effect };
  });
}
