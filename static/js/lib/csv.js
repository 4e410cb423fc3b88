/** Tables as CSV. */

/** @typedef {readonly (string | number | null | undefined)[]} Row */
/** @typedef {{head: string[], rows: Row[]}} Table */

/**
 * RFC 4180. A text that a spreadsheet would take for a formula is given an apostrophe: names come from people.
 * @param {Table} table
 */
export function csvOf({ head, rows }) {
  return [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** @param {string | number | null | undefined} value */
function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(Math.round(value * 1000) / 1000);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}
