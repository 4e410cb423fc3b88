/** Opens a cluster as a session, and then leads there. */

import { element, setText } from "../dom/dom.js";

/** @typedef {(key: string, values?: Record<string, string>) => string} Translate */

/**
 * By a link, which no browser takes for a window that nobody asked for.
 * @param {Translate} t
 * @param {string} words
 * @param {string} testId
 * @param {() => Promise<{code: string, url: string}>} open
 * @param {(work: () => Promise<unknown>) => Promise<void>} attempt
 */
export function player(t, words, testId, open, attempt) {
  const place = element("p", { class: "rw-play" });
  const button = element("button", { class: "button", type: "button", "data-testid": testId }, t(words));
  button.addEventListener("click", () => {
    button.disabled = true;
    setText(button, t("rules.coming_up"));
    void attempt(async () => {
      const { code, url } = await open();
      const link = element("a", { class: "link", href: url, target: "_blank", rel: "noopener", "data-testid": `${testId}-link` }, t("rules.go_to", { code }));
      place.replaceChildren(link);
      link.focus();
    }).finally(() => {
      button.disabled = false;
      setText(button, t(words));
    });
  });
  place.append(button);
  return place;
}
