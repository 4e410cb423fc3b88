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
