/** The cards of components from outside that hold a lock: whose it is, and how long its lease lasts. */

/** @import { Lang, View } from "../lib/types.d.ts" */
import { Outsiders } from "../state/outsiders.js";
import { text } from "../lib/text.js";
import { setText, syncList } from "../dom/dom.js";
import { h, icon, ring, setRing } from "../dom/h.js";

/**
 * @param {HTMLElement} element
 */
export function mountOutsiders(element) {
  element.className = "st-outsiders";
  const outsiders = new Outsiders();

  /**
   * Adds who came, takes away whose lease is over, and moves the countdowns on.
   * @param {View | null} view
   * @param {number} nowMs simulated
   * @param {Lang} lang
   */
  function tick(view, nowMs, lang) {
    syncList(element, view ? outsiders.of(view, nowMs) : [], (one) => `${one.lock} ${one.holder} ${lang}`, (one) =>
      h("section", { class: "st-card st-replica", "data-testid": `outside-${one.lock}`, "data-holder": one.holder },
        h("h3", { class: "st-replica-name", title: one.holder }, icon("crown", 17), h("span", { class: "st-outside-holder", text: one.lock.replace(/^kube-(?=scheduler|controller)/, "") })),
        h("p", { class: "st-replica-line st-outside" }, h("span", { class: "st-outside-holder", title: one.holder, text: one.holder })),
        h("p", { class: "st-replica-line" }, text(lang, "replica.outside")),
        h("p", { class: "st-replica-line st-lease" }, ring(1, 15), h("span"))), (card, one) => {
      const left = Math.max(0, one.seenMs + one.durationMs - nowMs);
      setText(/** @type {HTMLElement} */ (card.querySelector(".st-lease span")), text(lang, "replica.lease", { n: (left / 1000).toFixed(1) }));
      setRing(/** @type {Element} */ (card.querySelector(".st-ring")), left / one.durationMs);
    });
  }

  return { tick };
}
