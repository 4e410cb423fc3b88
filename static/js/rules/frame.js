/** The dialog that rules, rounds by hand and homework stand in: it speaks the page's language, also when that is changed meanwhile. */

/** @import { Child } from "../dom/dom.js" */
/** @import { Lang } from "../lib/types.d.ts" */
import { element, icon, returnFocus, setAttribute } from "../dom/dom.js";
import { LANGUAGES, langOf } from "../lib/languages.js";
import { text } from "../lib/text.js";

/** @typedef {(lang: Lang) => void} Speak turns the page to a language */

/**
 * @param {object} given
 * @param {string} given.name ends the dialog's class and its title's id
 * @param {string} given.testId
 * @param {Speak} given.speak
 * @param {(lang: Lang) => {head: readonly Child[], body: readonly Child[]}} given.build what stands in it, anew for each language
 * @param {(() => void) | null} [given.closed] null: whoever looks cannot close it
 */
export function openFrame({ name, testId, speak, build, closed }) {
  const before = document.activeElement;
  const dialog = element("dialog", { class: name ? `rw ${name}` : "rw", "aria-labelledby": "rw-title", "data-testid": testId });
  const fill = () => {
    const lang = langOf(document.documentElement.lang);
    const { head, body } = build(lang);
    const close = element("button", { class: "ghost", type: "button", "aria-label": text(lang, "close"), onclick: () => dialog.close() }, icon("close"));
    dialog.replaceChildren(element("header", {}, [...head, languages(lang, speak), closed === null ? null : close]), ...body.filter((one) => one instanceof Node));
  };
  const listens = new MutationObserver(() => {
    const within = dialog.contains(document.activeElement) ? document.activeElement?.getAttribute("lang") : null;
    fill();
    // Whoever turned the language here stays on the button that does.
    if (within) /** @type {HTMLElement | null} */ (dialog.querySelector(`.languages [lang="${within}"]`))?.focus();
  });
  listens.observe(document.documentElement, { attributes: true, attributeFilter: ["lang"] });
  dialog.addEventListener("close", () => {
    listens.disconnect();
    dialog.remove();
    returnFocus(before);
    closed?.();
  });
  fill();
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, fill };
}

/** @param {Lang} now @param {Speak} speak */
function languages(now, speak) {
  return element("div", { class: "segmented languages", role: "group", "aria-label": text(now, "language") }, LANGUAGES.map(({ lang, tag, name, short }) => {
    const button = element("button", { type: "button", lang: tag, "aria-label": name, onclick: () => speak(lang) }, short);
    setAttribute(button, "aria-pressed", String(lang === now));
    return button;
  }));
}
