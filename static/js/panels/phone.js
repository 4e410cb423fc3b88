/** The phone: one column, tabs Now, My pods, Create, and while there is a class its own; no stage and no charts. */

/** @import { Dispatch, PodSlim, Ui, View } from "../lib/types.d.ts" */
/** @import { Item } from "../lib/items.js" */
import { append, arrowKeys, element, icon, keepFocus, setAttribute, setText, syncList } from "../dom/dom.js";
import { amountOf, ITEMS } from "../lib/items.js";
import { kindNamed } from "../lib/kinds.js";
import { text } from "../lib/text.js";
import { newestPods, storyOf } from "../state/now.js";
import { refusedItem, refusedWrite } from "../state/roles.js";
import { podState } from "../state/selectors.js";
import { keyOf } from "../state/view.js";
import { requestsText } from "./facts.js";
import { nowPage, storyLines } from "./phone-now.js";
import { mountTold } from "./phone-told.js";

/** @typedef {(key: string, values?: Record<string, string | number>) => string} T a sentence in the page's language */

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 */
export function mount(root, dispatch) {
  const tabs = element("div", { class: "phone-tabs", role: "tablist" });
  /** @type {Map<string, Page>} */
  const pages = new Map([["now", nowPage(dispatch)], ["pods", podsPage(dispatch)], ["create", createPage(dispatch)]]);
  const told = mountTold(dispatch);
  const action = element("button", { class: "primary wide", type: "button" });
  const foot = element("div", { class: "phone-action" }, action);
  append(root, [tabs, told.element, ...[...pages.values()].map((page) => page.element), foot]);
  let tab = "now";
  /** The page of a class, while it has one. */
  let guest = "";
  /** @param {string} next */
  const open = (next) => {
    tab = next;
    dispatch({ type: "tab", tab: `phone-${next}` });
  };
  /** @param {string} name */
  const tabButton = (name) => element("button", {
    type: "button", role: "tab", "data-testid": `phone-tab-${name}`, onclick: () => open(name),
  });
  const buttons = new Map([...pages.keys()].map((name) => [name, tabButton(name)]));
  append(tabs, [...buttons.values()]);
  arrowKeys(tabs);
  action.addEventListener("click", () => open("create"));

  return {
    /**
     * A page of the class: it stands first and opens by itself; null takes it away.
     * @param {string} name its words are `phone_<name>`
     * @param {Page | null} page
     */
    offer(name, page) {
      pages.get(guest)?.element.remove();
      buttons.get(guest)?.remove();
      pages.delete(guest);
      buttons.delete(guest);
      if (tab === guest) tab = "now";
      guest = page ? name : "";
      if (!page) return;
      pages.set(name, page);
      const button = tabButton(name);
      buttons.set(name, button);
      tabs.prepend(button);
      foot.before(page.element);
      open(name);
    },
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      /** @type {T} */
      const t = (key, values = {}) => text(ui.lang, key, values);
      for (const [name, button] of buttons) {
        setText(button, t(`phone_${name}`));
        setAttribute(button, "aria-selected", String(name === tab));
        setAttribute(button, "tabindex", name === tab ? "0" : "-1");
        /** @type {Page} */ (pages.get(name)).element.hidden = name !== tab;
      }
      told.render(view, ui, t);
      action.hidden = tab === "create" || tab === guest || Boolean(refusedWrite(view.me, view.me?.namespace ?? ""));
      setText(action, t("phone_first"));
      pages.get(tab)?.render(view, ui, t);
    },
  };
}

/**
 * What one of the tabs opens; it is rendered while it is open.
 * @typedef {{element: HTMLElement, render: (view: View, ui: Ui, t: T) => void}} Page
 */

/**
 * The pods of one's own namespace.
 * @param {Dispatch} dispatch
 * @returns {Page}
 */
function podsPage(dispatch) {
  const list = element("ul", { class: "phone-pods" });
  const none = element("p", { class: "none" });
  return {
    element: element("div", { class: "phone-page" }, [none, list]),
    render(view, ui, t) {
      const mine = newestPods(view, view.me?.namespace ?? "");
      setText(none, mine.length ? "" : t("phone_none"));
      none.hidden = mine.length > 0;
      syncList(list, mine, keyOf, (pod) => podRow(pod, dispatch), (row, pod) => {
        const node = pod.spec?.nodeName;
        const state = t(`state_${podState(pod)}`) + (node ? ` · ${node}` : "");
        setText(/** @type {Element} */ (row.querySelector(".chip")), state);
        setText(/** @type {Element} */ (row.querySelector(".hint")), requestsText(pod, t));
        setAttribute(/** @type {Element} */ (row.querySelector("button")), "aria-label",
          t("delete_named", { name: pod.metadata.name }));
        storyLines(/** @type {Element} */ (row.querySelector("ol")), storyOf(view, pod, ui.lang), view, ui, t);
      });
    },
  };
}

/**
 * @param {PodSlim} pod
 * @param {Dispatch} dispatch
 */
function podRow(pod, dispatch) {
  const remove = element("button", { class: "button", type: "button" }, icon("trash"));
  remove.addEventListener("click", () => dispatch({ type: "delete", resource: "pods", key: keyOf(pod) }));
  return element("li", { class: "phone-card" }, [
    element("div", {}, [element("b", {}, pod.metadata.name), element("span", { class: "chip" })]),
    element("span", { class: "hint" }), remove, element("ol", { class: "phone-story" }),
  ]);
}

/**
 * What one may create; told anew when the language or the permission changes.
 * @param {Dispatch} dispatch
 * @returns {Page}
 */
function createPage(dispatch) {
  const page = element("div", { class: "phone-page" });
  const items = ITEMS.filter((item) => kindNamed(item.kind).namespaced);
  let shown = "";
  return {
    element: page,
    render(view, ui, t) {
      const refused = refusedWrite(view.me, view.me?.namespace ?? "");
      /** @type {[Item, string][]} */
      const offered = items.map((item) => {
        const not = refusedItem(view, item);
        return [item, not ? t(not.key, not.values) : ""];
      });
      const look = [ui.lang, refused, ...offered.map(([, not]) => not)].join("|");
      if (shown === look) return;
      shown = look;
      keepFocus(page, () => page.replaceChildren(...[
        // What a class does together, also from a phone.
        element("div", { class: "phone-work" }, [
          workButton("by-hand", "users", t, () => dispatch({ type: "openByHand" })),
          workButton("homework", "file", t, () => dispatch({ type: "openHomework", id: "" })),
        ]),
        refused && element("p", { class: "none" }, t(refused)),
        ...offered.map(([item, not]) => createButton(item, t, not, refused ? "" : not, dispatch)),
      ].filter((one) => one instanceof Node)));
    },
  };
}

/**
 * @param {"by-hand" | "homework"} id
 * @param {string} sign its icon
 * @param {T} t
 * @param {() => void} open
 */
function workButton(id, sign, t, open) {
  return element("button", { class: "phone-item", type: "button", "data-testid": `phone-${id}`, onclick: open }, [
    icon(sign), element("b", {}, t(id === "homework" ? "phone_homework" : "phone_by_hand")),
  ]);
}

/**
 * @param {Item} item
 * @param {T} t
 * @param {string} refused why it cannot be made; "" where it can
 * @param {string} told of that what is not said above all of them
 * @param {Dispatch} dispatch
 */
function createButton(item, t, refused, told, dispatch) {
  const button = element("button", {
    class: "phone-item", type: "button", "aria-disabled": refused ? "true" : undefined, title: refused || undefined,
    "data-testid": `phone-${item.id}`,
  }, [
    item.hue ? element("span", { class: `swatch hue-${item.hue}${item.filled ? " filled" : ""}` }) : icon(item.icon),
    element("b", {}, item.kind === "Pod" ? `Pod · ${t(item.label)}` : t(item.label)),
    element("small", {}, told || amountOf(item)),
  ]);
  button.addEventListener("click", () => dispatch({ type: "create", item: item.id }));
  return button;
}
