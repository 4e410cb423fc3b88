/** The dock: Events, the log of changes as they came with their authors, the scheduler that runs, the formal model. */

/** @import { Dispatch, LogRow, Ui, View } from "../lib/types.d.ts" */
import { arrowKeys, element, icon, setAttribute, setText, syncList } from "../dom/dom.js";
import { clockTime, number, text } from "../lib/text.js";
import { newestEvents } from "../state/events.js";
import { objectsOf } from "../state/selectors.js";
import { keyOf } from "../state/view.js";
import { dockHandle } from "./dock-handle.js";
import { eventRows } from "./events.js";
import { renderModel } from "./model.js";
import { schedulerPanel, schedulerSource } from "./scheduler.js";

const TABS = /** @type {const} */ (["events", "log", "scheduler", "model"]);
/** Kinds whose rows tell only that the machinery breathes: renewals, clock and queue status. */
const QUIET = new Set([
  "leases.coordination.k8s.io", "clocks.clustersim.io", "queues.clustersim.io", "replicas.clustersim.io", "events",
]);
/** Log rows drawn, newest first. */
const LOG_ROWS_MAX = 150;
const SIGNS = { ADDED: "●", MODIFIED: "◆", DELETED: "✕" };

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 */
export function mount(root, dispatch) {
  const tabs = element("div", { class: "tabs", role: "tablist" });
  const warnings = element("label", { class: "dock-filter" });
  const onlyWarnings = element("input", { type: "checkbox" });
  const warningsText = element("span");
  warnings.append(onlyWarnings, warningsText);
  const replay = element("span", { class: "chip accent", "data-testid": "replay-progress" });
  const fold = element("button", { class: "ghost", type: "button" }, icon("chevron-down"));
  const list = element("div", { class: "event-list", role: "tabpanel", tabindex: "0" });
  const { handle, show: showHandle } = dockHandle(root, dispatch);
  root.append(handle, element("div", { class: "dock-head" }, [tabs, replay, warnings, fold]), list);

  /** @type {typeof TABS[number]} */
  let tab = "events";
  const buttons = TABS.map((name) => {
    const button = element("button", { type: "button", role: "tab", "data-testid": `dock-${name}` });
    button.addEventListener("click", () => {
      tab = name;
      shown = null;
      list.replaceChildren();
      root.classList.remove("folded");
      dispatch({ type: "tab", tab: `dock-${name}` });
    });
    return button;
  });
  tabs.append(...buttons);
  arrowKeys(tabs);
  /** @type {unknown} */
  let shown = null;
  let shownLang = "";
  onlyWarnings.addEventListener("change", () => {
    shown = null;
    dispatch({ type: "tab", tab: `dock-${tab}` });
  });
  fold.addEventListener("click", () => {
    root.classList.toggle("folded");
    root.parentElement?.classList.toggle("dock-folded", root.classList.contains("folded"));
    dispatch({ type: "tab", tab: `dock-${tab}` });
  });

  return {
    /** The tab that is open; "" while the dock is folded. */
    get tab() {
      return root.classList.contains("folded") ? "" : tab;
    },
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      const folded = root.classList.contains("folded");
      setAttribute(root, "aria-label", text(ui.lang, "dock"));
      TABS.forEach((name, index) => {
        const button = /** @type {HTMLElement} */ (buttons[index]);
        setText(button, text(ui.lang, `tab_${name}`));
        setAttribute(button, "aria-selected", String(name === tab && !folded));
        setAttribute(button, "tabindex", name === tab ? "0" : "-1");
      });
      const running = replayUnderWay(view);
      replay.hidden = !running;
      if (running) setText(replay, text(ui.lang, "openb_progress", {
        done: number(ui.lang, running.done), total: number(ui.lang, running.total),
      }));
      setText(warningsText, text(ui.lang, "filter_warnings"));
      warnings.hidden = tab !== "events" || folded;
      const foldLabel = text(ui.lang, folded ? "dock_unfold" : "dock_fold");
      showHandle(ui.dockHeight, text(ui.lang, "dock_resize"));
      setAttribute(fold, "aria-label", foldLabel);
      setAttribute(fold, "title", foldLabel);
      setAttribute(fold, "aria-expanded", String(!folded));
      const source = tab === "events" ? view.objects.get("events")
        : tab === "log" ? view.rows : tab === "model" ? ui.model : schedulerSource(view);
      if (folded || (shown === source && shownLang === ui.lang && source !== undefined)) return;
      shown = source;
      shownLang = ui.lang;
      if (tab === "events") {
        const all = newestEvents(view);
        const wanted = onlyWarnings.checked ? all.filter((event) => event.type === "Warning") : all;
        eventRows(list, wanted, view, ui, dispatch, true);
      } else if (tab === "log") logRows(list, view, ui, dispatch);
      else if (tab === "model") renderModel(list, ui, dispatch);
      else schedulerPanel(list, view, ui, dispatch);
    },
  };
}

/**
 * The recorded trace that is being replayed: arrivals and departures so far, and all of them.
 * @param {View} view
 * @returns {{done: number, total: number} | null}
 */
function replayUnderWay(view) {
  for (const { status } of objectsOf(view, "replays.clustersim.io").values())
    if (status && !status["done"])
      return { done: Number(status["created"]) + Number(status["deleted"]), total: Number(status["total"]) };
  return null;
}

/**
 * @param {Element} list
 * @param {View} view
 * @param {Ui} ui
 * @param {Dispatch} dispatch
 */
function logRows(list, view, ui, dispatch) {
  const rows = view.rows.filter((row) => !QUIET.has(row.resource)).slice(-LOG_ROWS_MAX).reverse();
  if (rows.length === 0) {
    list.replaceChildren(element("p", { class: "none" }, text(ui.lang, "log_none")));
    return;
  }
  if (list.firstElementChild?.matches(".none")) list.replaceChildren();
  syncList(list, rows, (row) => String(row.revision), (row) => logRow(row, view, ui, dispatch));
}

/**
 * @param {LogRow} row
 * @param {View} view
 * @param {Ui} ui
 * @param {Dispatch} dispatch
 */
function logRow(row, view, ui, dispatch) {
  const name = element("button", { class: "link", type: "button" }, row.object.metadata.name);
  name.addEventListener("click", () => dispatch({ type: "select", resource: row.resource, key: keyOf(row.object) }));
  const slug = row.actor.startsWith("user:") ? row.actor.slice(5) : "";
  const person = slug ? view.people.find((candidate) => candidate.slug === slug) : undefined;
  return element("div", { class: `log-row verb-${row.verb.toLowerCase()}` }, [
    element("time", {}, clockTime(view.epochMs + row.simTimeMs, true)),
    element("span", { class: "revision" }, number(ui.lang, row.revision)),
    element("span", { class: "sign", title: text(ui.lang, `verb_${row.verb}`) }, SIGNS[row.verb]),
    element("span", {}, row.resource.split(".")[0]),
    name,
    element("span", { class: slug ? "actor person" : "actor" }, person?.name ?? (slug || row.actor)),
  ]);
}
