/** Lists of buttons of which one is chosen: arrows go along, Home and End to its ends; one tab stop for all of them. */

/** @param {HTMLElement} list */
export function listKeys(list) {
  list.addEventListener("keydown", (event) => {
    const buttons = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("button")]);
    const at = buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    const button = next === undefined || at < 0 ? undefined : buttons[Math.max(0, Math.min(buttons.length - 1, next))];
    if (!button) return;
    event.preventDefault();
    button.focus();
    button.click();
  });
  list.addEventListener("focusin", () => rove(list, /** @type {HTMLElement} */ (document.activeElement)));
}

/**
 * Let one button of the list be its tab stop: the one that has the keyboard, else the chosen one, else the first.
 * @param {HTMLElement} list
 * @param {HTMLElement | null} [held]
 */
export function rove(list, held = null) {
  const buttons = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("button")]);
  const stop = (held && buttons.includes(held) ? held : null) ?? buttons.find((one) => one.getAttribute("aria-current") === "true") ?? buttons[0];
  for (const one of buttons) one.tabIndex = one === stop ? 0 : -1;
}
