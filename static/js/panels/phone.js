/** The phone: one column, tabs Now, My pods, Create; no stage and no charts. */

/** @import { Dispatch, PodSlim, Ui, View } from "../lib/types.d.ts" */
import { append, arrowKeys, element, icon, setAttribute, setText, syncList } from "../dom/dom.js";
import { ITEMS } from "../lib/items.js";
import { kindNamed } from "../lib/kinds.js";
import { number, text } from "../lib/text.js";
import { newestEvents } from "../state/events.js";
import { refusedWrite } from "../state/roles.js";
import { cycleInHand, leader, nodes, objectsOf, podState } from "../state/selectors.js";
import { keyOf } from "../state/view.js";
import { eventRows } from "./events.js";
import { requestsText } from "./facts.js";

const TABS = /** @type {const} */ (["now", "pods", "create"]);
/** Decisions listed under Now. */
const NOW_EVENTS_MAX = 12;

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 */
export function mount(root, dispatch) {
  const tabs = element("div", { class: "phone-tabs", role: "tablist" });
  const now = element("div", { class: "phone-page" });
  const pods = element("div", { class: "phone-page" });
  const create = element("div", { class: "phone-page" });
  const pages = { now, pods, create };
  const action = element("button", { class: "primary wide", type: "button" });
  root.append(tabs, now, pods, create, element("div", { class: "phone-action" }, action));
  /** @type {typeof TABS[number]} */
  let tab = "now";
  const buttons = TABS.map((name) => {
    const button = element("button", { type: "button", role: "tab", "data-testid": `phone-tab-${name}` });
    button.addEventListener("click", () => {
      tab = name;
      dispatch({ type: "tab", tab: `phone-${name}` });
    });
    return button;
  });
  tabs.append(...buttons);
  arrowKeys(tabs);
  action.addEventListener("click", () => {
    tab = "create";
    dispatch({ type: "tab", tab: "phone-create" });
  });

  const hand = element("div", { class: "phone-card" });
  const counts = element("ul", { class: "phone-counts" });
  const heading = element("h2");
  const decisions = element("div", { class: "event-list" });
  append(now, [hand, counts, heading, decisions]);
  const list = element("ul", { class: "phone-pods" });
  const none = element("p", { class: "none" });
  append(pods, [none, list]);
  let createLang = "";

  return {
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      const t = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values = {}) =>
        text(ui.lang, key, values);
      TABS.forEach((name, index) => {
        const button = /** @type {HTMLElement} */ (buttons[index]);
        setText(button, t(`phone_${name}`));
        setAttribute(button, "aria-selected", String(name === tab));
        setAttribute(button, "tabindex", name === tab ? "0" : "-1");
        pages[name].hidden = name !== tab;
      });
      const refused = refusedWrite(view.me, view.me?.namespace ?? "");
      action.hidden = tab === "create" || Boolean(refused);
      setText(action, t("phone_first"));
      if (tab === "now") renderNow(view, ui, t);
      if (tab === "pods") renderPods(view, ui, t);
      if (tab === "create" && createLang !== ui.lang + refused) {
        createLang = ui.lang + refused;
        renderCreate(ui, t, refused ? t(refused) : "");
      }
    },
  };

  /**
   * @param {View} view
   * @param {Ui} ui
   * @param {(key: string, values?: Record<string, string | number>) => string} t
   */
  function renderNow(view, ui, t) {
    const cycle = cycleInHand(view)?.cycle;
    const lines = cycle
      ? [t("phone_in_hand"), cycle.pod.split("/")[1] ?? cycle.pod, t("held_at", { point: cycle.point })]
      : ["", t("phone_no_cycle"), ""];
    const key = lines.join("|");
    if (hand.dataset["key"] !== key) {
      hand.dataset["key"] = key;
      hand.replaceChildren(...lines.filter(Boolean).map((line, index) =>
        element(index === (cycle ? 1 : 0) ? "b" : "span", {}, line)));
    }
    const all = nodes(view);
    const podList = /** @type {PodSlim[]} */ ([...objectsOf(view, "pods").values()]);
    const leading = leader(view, "kube-scheduler");
    const rows = [
      t("phone_nodes", { ready: all.filter((node) => node.ready).length, total: all.length }),
      t("phone_running", { count: number(ui.lang, podList.filter((pod) => pod.status?.phase === "Running").length) }),
      t("phone_waiting", { count: number(ui.lang, podList.filter((pod) => !pod.spec?.nodeName).length) }),
      leading ? t("phone_leader", { replica: leading.metadata.name }) : t("phone_no_leader"),
    ];
    syncList(counts, rows.map((line, index) => ({ line, index })), (row) => String(row.index),
      () => element("li"), (row, { line }) => setText(row, line));
    setText(heading, t("phone_just"));
    const told = newestEvents(view).filter((event) => event.reason === "Scheduled" || event.reason === "FailedScheduling");
    eventRows(decisions, told.slice(0, NOW_EVENTS_MAX), view, ui, dispatch, true);
  }

  /**
   * @param {View} view
   * @param {Ui} ui
   * @param {(key: string, values?: Record<string, string | number>) => string} t
   */
  function renderPods(view, ui, t) {
    const own = view.me?.namespace ?? "";
    const mine = /** @type {PodSlim[]} */ ([...objectsOf(view, "pods").values()])
      .filter((pod) => pod.metadata.namespace === own);
    setText(none, mine.length ? "" : t("phone_none"));
    none.hidden = mine.length > 0;
    syncList(list, mine, keyOf, (pod) => {
      const remove = element("button", {
        class: "button", type: "button", "aria-label": t("delete_named", { name: pod.metadata.name }),
      }, icon("trash"));
      remove.addEventListener("click", () => dispatch({ type: "delete", resource: "pods", key: keyOf(pod) }));
      return element("li", { class: "phone-card" }, [
        element("div", {}, [element("b", {}, pod.metadata.name), element("span", { class: "chip" })]),
        element("span", { class: "hint" }), remove,
      ]);
    }, (row, pod) => {
      const node = pod.spec?.nodeName;
      setText(/** @type {Element} */ (row.querySelector(".chip")), t(`state_${podState(pod)}`) + (node ? ` · ${node}` : ""));
      setText(/** @type {Element} */ (row.querySelector(".hint")), requestsText(pod, t));
    });
  }

  /**
   * @param {Ui} ui
   * @param {(key: string, values?: Record<string, string | number>) => string} t
   * @param {string} reason
   */
  function renderCreate(ui, t, reason) {
    const items = ITEMS.filter((item) => kindNamed(item.kind).namespaced);
    create.replaceChildren(...(reason ? [element("p", { class: "none" }, reason)] : []), ...items.map((item) => {
      const button = element("button", {
        class: "phone-item", type: "button", "aria-disabled": reason ? "true" : undefined,
        "data-testid": `phone-${item.id}`,
      }, [
        item.hue ? element("span", { class: `swatch hue-${item.hue}${item.filled ? " filled" : ""}` }) : icon(item.icon),
        element("b", {}, item.kind === "Pod" ? `Pod · ${t(item.label)}` : t(item.label)),
        item.note ? element("small", {}, item.note) : null,
      ]);
      button.addEventListener("click", () => dispatch({ type: "create", item: item.id }));
      return button;
    }));
  }
}
