/**
 * A moment's address: `/s/<code>?rv=&pod=<ns>/<name>&attempt=&node=&tab=&dock=`. What is absent is now, nothing, the newest
 * and the tabs that open by themselves.
 */

/**
 * @typedef {object} Address
 * @property {number} rv 0: now
 * @property {string} pod `namespace/name`
 * @property {string} node
 * @property {number} attempt 0: the newest
 * @property {string} tab of the inspector, or `dock-<name>` of the dock where nothing is selected
 * @property {string} dock the name of the dock's tab beside what is selected
 */

const NUMBER = /^[1-9]\d{0,15}$/;
const TAB = /^[a-z-]{1,30}$/;
const NAME_MAX = 320;

/**
 * What an address says; what it says wrong is left out.
 * @param {string} search with or without its question mark
 * @returns {Address}
 */
export function readAddress(search) {
  const query = new URLSearchParams(search);
  const number = (/** @type {string} */ name) => (NUMBER.test(query.get(name) ?? "") ? Number(query.get(name)) : 0);
  const name = (/** @type {string} */ field) => (query.get(field) ?? "").slice(0, NAME_MAX);
  const tab = query.get("tab") ?? "";
  const pod = /^[^/]+\/[^/]+$/.test(name("pod")) ? name("pod") : "";
  return {
    rv: number("rv"), pod, node: pod ? "" : name("node"), attempt: pod ? number("attempt") : 0,
    tab: TAB.test(tab) ? tab : "", dock: TAB.test(query.get("dock") ?? "") ? query.get("dock") ?? "" : "",
  };
}

/**
 * The query of an address, with its question mark; empty for now with nothing selected.
 * @param {Address} address
 */
export function writeAddress({ rv, pod, node, attempt, tab, dock }) {
  const parts = [
    rv ? `rv=${rv}` : "",
    pod ? `pod=${pod.split("/").map(encodeURIComponent).join("/")}` : "",
    pod && attempt ? `attempt=${attempt}` : "",
    node ? `node=${encodeURIComponent(node)}` : "",
    tab ? `tab=${encodeURIComponent(tab)}` : "",
    dock ? `dock=${encodeURIComponent(dock)}` : "",
  ].filter(Boolean);
  return parts.length ? `?${parts.join("&")}` : "";
}
