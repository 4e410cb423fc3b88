/** The store as etcd would have it: keys in order with revision and bytes, and what lies under one. */

/** @import { Dispatch, Looks, Ui, View } from "../lib/types.d.ts" */
import { element, keepFocus, setAttribute, setText, syncList } from "../dom/dom.js";
import { number, text } from "../lib/text.js";
import { newestMade } from "./fresh.js";
import { Looked } from "./looked.js";
import { listKeys } from "./picking.js";

/** @typedef {{key: string, resourceVersion: string, bytes: number, resource: string, namespace: string, name: string}} StoreKey */
/** @typedef {{prefix: string, revision: number, count: number, keys: StoreKey[]}} StoreAnswer */

/** How often the store is asked at most, in real milliseconds. */
const EVERY_MS = 1_500;
const KEYS_MAX = 300;

/**
 * @param {Looks} looks
 * @param {Dispatch} dispatch
 */
export function keysPanel(looks, dispatch) {
  let prefix = "";
  let chosen = "";
  let made = -1;
  let shown = "";
  /** @type {View | null} */
  let view = null;
  /** @type {Ui["lang"]} */
  let lang = "en";
  const list = new Looked(() => looks.look(`store?limit=${KEYS_MAX}${prefix ? `&prefix=${encodeURIComponent(prefix)}` : ""}`), EVERY_MS, tell);
  const value = new Looked(async () => (chosen ? looks.look(`store?key=${encodeURIComponent(chosen)}`) : null), EVERY_MS, tell);
  const input = element("input", { class: "input mono", type: "search", "data-testid": "store-prefix", spellcheck: "false" });
  const count = element("p", { class: "hint" });
  const rows = element("ul", { class: "ct-list", "data-testid": "store-keys" });
  const detail = element("div", { class: "ct-detail", tabindex: "0", role: "region", "data-testid": "store-value" });
  const root = element("div", { class: "ct-split" }, element("div", { class: "ct-side" }, input, count, rows), detail);
  input.addEventListener("input", () => {
    prefix = input.value.trim();
    list.want();
  });
  listKeys(rows);

  /** @param {string} key */
  function open(key) {
    chosen = key;
    value.value = null;
    shown = "";
    void value.run();
    tell();
  }

  function tell() {
    const answer = /** @type {StoreAnswer | null} */ (list.value);
    if (!view) return;
    setAttribute(input, "aria-label", text(lang, "control.prefix"));
    setAttribute(input, "placeholder", answer?.prefix ?? "/registry");
    setText(count, list.problem || (answer ? text(lang, "control.keys", {
      shown: number(lang, answer.keys.length), count: number(lang, answer.count), rv: String(answer.revision),
    }) : text(lang, "control.loading")));
    syncList(rows, answer?.keys ?? [], ({ key }) => key, ({ key }) => element("li", {}, element("button", {
      type: "button", class: "ct-key", onclick: () => open(key),
    }, element("code"), element("small"))), (row, one) => {
      const button = /** @type {HTMLElement} */ (row.firstElementChild);
      setAttribute(button, "aria-current", one.key === chosen ? "true" : null);
      setText(/** @type {Element} */ (button.firstElementChild), one.key);
      setText(/** @type {Element} */ (button.lastElementChild), text(lang, "control.keyFacts", { rv: one.resourceVersion, bytes: number(lang, one.bytes) }));
    });
    tellValue();
  }

  function tellValue() {
    const one = /** @type {(StoreKey & {value: object}) | null} */ (value.value);
    const sign = [lang, chosen, one?.resourceVersion, value.problem].join("|");
    if (sign === shown) return;
    shown = sign;
    setAttribute(detail, "aria-label", chosen || text(lang, "control.value"));
    keepFocus(detail, () => detail.replaceChildren(...(one ? valueOf(one) : [
      element("p", { class: "hint" }, chosen ? value.problem || text(lang, "control.loading") : text(lang, "control.chooseKey")),
    ])));
  }

  /** @param {StoreKey & {value: object}} one */
  function valueOf(one) {
    return [
      element("header", { class: "ct-head" }, element("h3", {}, element("code", {}, one.key)), element("span", { class: "ct-push" }),
        element("span", { class: "chip accent" }, text(lang, "control.rv", { rv: one.resourceVersion })),
        element("span", { class: "chip" }, text(lang, "control.bytes", { bytes: number(lang, one.bytes) })),
        element("button", { class: "button", type: "button", onclick: () => dispatch({
          type: "select", resource: one.resource, key: one.namespace ? `${one.namespace}/${one.name}` : one.name,
        }) }, text(lang, "control.select"))),
      element("p", { class: "hint" }, text(lang, "control.valueHint")),
      element("pre", { class: "ct-json" }, JSON.stringify(one.value, null, 2)),
    ];
  }

  return {
    root,
    /**
     * @param {View} current
     * @param {Ui} ui
     */
    render(current, ui) {
      const other = ui.lang !== lang || !view;
      view = current;
      lang = ui.lang;
      const newest = newestMade(current);
      if (newest !== made) {
        made = newest;
        list.want();
        if (chosen) value.want();
      }
      if (other) tell();
    },
  };
}
