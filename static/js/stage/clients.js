/** The card of clients: who sends requests to which Service, and what the last one came to, in words. */

/** @import { Lang, View } from "../lib/types.d.ts" */
/** @import { ClientRow } from "./clients-model.js" */
import { setText, syncList } from "../dom/dom.js";
import { h, icon } from "../dom/h.js";
import { number, text } from "../lib/text.js";
import { CLIENTS_SHOWN, clientRows } from "./clients-model.js";

/** @param {HTMLElement} element around the cards of the schedulers */
export function mountClients(element) {
  const title = h("h3");
  const list = h("ul");
  const card = h("section", { class: "st-card st-clients", "data-testid": "stage-clients" }, title, list);
  // Nothing is shown, nor read out, before it has its words.
  card.hidden = true;
  element.append(card);

  /**
   * @param {View} view
   * @param {(key: string) => string} say a pod's name as it is said
   * @param {Lang} lang
   */
  function render(view, say, lang) {
    const rows = clientRows(view);
    card.hidden = rows.length === 0;
    if (card.hidden) return;
    const more = rows.length - CLIENTS_SHOWN;
    setText(title, more > 0 ? text(lang, "clients.more", { n: number(lang, rows.length), shown: number(lang, CLIENTS_SHOWN) })
      : text(lang, "clients.title"));
    syncList(list, rows.slice(0, CLIENTS_SHOWN), (row) => row.name, createRow, (item, row) => updateRow(item, row, say, lang));
  }

  /**
   * Where a client and the Service that it asks stand, for a request to start from; null where it is not listed.
   * @param {string} name
   */
  function places(name) {
    const item = list.querySelector(`[data-key="${CSS.escape(name)}"]`);
    const [from, service] = [item?.querySelector("b"), item?.querySelector(".st-client-service")];
    return from && service ? [from, service] : [];
  }

  return { render, places };
}

function createRow() {
  return h("li", {}, h("p", { class: "st-client" }, icon("users", 12), h("b"), h("span", { class: "st-client-ok" })),
    h("p", { class: "st-client-service" }), h("p", { class: "st-client-last" }));
}

/**
 * @param {HTMLElement} item
 * @param {ClientRow} row
 * @param {(key: string) => string} say
 * @param {Lang} lang
 */
function updateRow(item, { name, target, state, message, ok, last }, say, lang) {
  const part = (/** @type {string} */ of) => /** @type {HTMLElement} */ (item.querySelector(of));
  item.title = target;
  setText(part("b"), name);
  setText(part(".st-client-ok"), ok === null ? "" : text(lang, "clients.ok", { n: number(lang, ok) }));
  setText(part(".st-client-service"), `→ ${last?.service ? short(last.service) : target.replace(/^\w+:\/\//, "").replace(/\/$/, "")}`);
  const failed = Boolean(last && last.result !== "ok");
  part(".st-client-last").dataset["failed"] = String(failed);
  setText(part(".st-client-last"), state === "Waiting" ? message : !last ? "" : failed
    ? last.message || last.result : text(lang, "clients.answered", { pod: last.pod ? say(last.pod) : "", node: last.node ?? "" }));
}

/** @param {string} key namespace/name */
function short(key) {
  return key.split("/").pop() ?? key;
}
