/** Where the parts of a class stand. */

/**
 * Have exactly these stand in a place, in this order; what stands there already is not moved, and keeps the keyboard.
 * @param {HTMLElement} root
 * @param {readonly HTMLElement[]} parts
 */
export function placeIn(root, parts) {
  for (const old of [...root.children]) if (!parts.includes(/** @type {HTMLElement} */ (old))) old.remove();
  parts.forEach((part, at) => {
    if (root.children[at] !== part) root.insertBefore(part, root.children[at] ?? null);
  });
}

/**
 * Keys of whoever leads, while what they do stands on the page and nobody writes or moves about in something else.
 * @param {HTMLElement} root
 * @param {Record<string, () => void>} keys
 */
export function onKeys(root, keys) {
  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (!root.isConnected || root.offsetParent === null || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (target !== document.body && (!root.contains(target) || target.closest("input, textarea, select"))) return;
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
