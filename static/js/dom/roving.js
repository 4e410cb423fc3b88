/** Toolbars: one stop of Tab for all their controls, arrows between them. */

import { roam } from "../lib/roving.js";

/**
 * Make a group of buttons one stop of Tab. Its buttons may come and go: `refresh` is called after they did.
 * @param {HTMLElement} root
 * @param {string} [minor] selector of buttons that only Right and Left reach
 */
export function roving(root, minor = "") {
  const buttons = () => /** @type {HTMLElement[]} */ ([...root.querySelectorAll("button")]).filter((one) => one.checkVisibility());
  /** @param {HTMLElement | undefined} stop */
  const hold = (stop) => {
    for (const one of root.querySelectorAll("button")) one.tabIndex = one === stop ? 0 : -1;
  };
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const all = buttons();
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (at < 0) return;
    const next = all[roam(all.map((one) => !minor || !one.matches(minor)), at, event.key)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  root.addEventListener("focusin", (event) => hold(/** @type {HTMLElement} */ (event.target).closest("button") ?? undefined));
  return {
    refresh() {
      const all = /** @type {HTMLElement[]} */ ([...root.querySelectorAll("button")]).filter((one) => !one.hidden);
      hold(all.find((one) => one.tabIndex === 0 && one.hasAttribute("tabindex")) ?? all[0]);
    },
  };
}
