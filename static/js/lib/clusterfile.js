/** Files that people bring: is one a real cluster, as kubectl tells it, with a pod that waits there? Pure. */

/** Kinds of lists and what their items are, where these do not say it. */
const ITEMS = /** @type {Record<string, string>} */ ({ PodList: "Pod", NodeList: "Node" });

/**
 * Whether a text holds nodes and a pod that waits for one, written by an API server: its objects have uids. A file that a
 * person has written is applied instead.
 * @param {string} text
 */
export function isCluster(text) {
  if (!/^\s*\{/.test(text)) return false;
  /** @type {any} */
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    return false;
  }
  if (!Array.isArray(file.items)) return false;
  const of = (/** @type {any} */ item) => item?.kind ?? ITEMS[file.kind];
  const served = file.items.filter((/** @type {any} */ item) => item?.metadata?.uid);
  return served.some((/** @type {any} */ item) => of(item) === "Node") && served.some((/** @type {any} */ item) => of(item) === "Pod" && waits(item));
}

/** @param {any} pod */
function waits({ metadata, spec, status }) {
  return !spec?.nodeName && !metadata.deletionTimestamp && !["Succeeded", "Failed"].includes(status?.phase);
}
